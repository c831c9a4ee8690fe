"""How far a person is with the items of the open run.

Knows: states of items. Does not know: which items are listed, labels.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal, Slot

from engine.core.items import Preference
from engine.core.judgments import NewReview, ReviewState
from gui.work.workspace import Workspace

STATE_SIGNS = {ReviewState.TO_DO: "", ReviewState.DONE: "✓", ReviewState.SKIPPED: "»"}
STATE_WORDS = {ReviewState.TO_DO: "to do", ReviewState.DONE: "done", ReviewState.SKIPPED: "skipped"}


class Progress(QObject):
    """The states of this person's items: what was asked for counts at once."""

    changed = Signal(str)  # item id; empty for all

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._asked: dict[str, ReviewState] = {}  # not stored yet
        workspace.reviewed.connect(self._follow)
        workspace.author_changed.connect(self._start_anew)
        workspace.run_changed.connect(self._start_anew)
        workspace.problem.connect(self._start_anew)

    def state(self, item_id: str) -> ReviewState:
        """How far this person is with an item."""
        run = self._workspace.run
        if item_id in self._asked or run is None:
            return self._asked.get(item_id, ReviewState.TO_DO)
        return run.results.reviews.state(item_id, self._workspace.author)

    @property
    def counts(self) -> Mapping[ReviewState, int]:
        """How many items of the run are in which state."""
        run = self._workspace.run
        counts = dict.fromkeys(ReviewState, 0)
        if run is not None:
            author = self._workspace.author
            states = {
                item_id: mark.state
                for (item_id, who), mark in run.results.reviews.marks_in_force.items()
                if who == author
            } | self._asked
            for state in states.values():
                counts[state] += 1
            counts[ReviewState.TO_DO] = len(run.results.judged) - sum(
                counts[state] for state in (ReviewState.DONE, ReviewState.SKIPPED)
            )
        return counts

    @property
    def begun(self) -> bool:
        """True where this person is done with an item of the run, or has skipped one."""
        counts = self.counts
        return counts[ReviewState.DONE] + counts[ReviewState.SKIPPED] > 0

    def mark(
        self, item_id: str, state: ReviewState, confirmed: Mapping[str, Preference] | None = None
    ) -> None:
        """Let an item be in a state, with the labels that this person confirms."""
        self._asked[item_id] = state
        self._workspace.review(NewReview(item_id, self._workspace.author, state, confirmed or {}))
        self.changed.emit(item_id)

    def next_to_do(self, listed: Sequence[str], after: int) -> int | None:
        """The place of the next item to do among those that are listed, after a place, else from the top."""
        places = (*range(after + 1, len(listed)), *range(max(0, min(after, len(listed)))))
        return next((place for place in places if self.state(listed[place]) is ReviewState.TO_DO), None)

    def in_words(self, listed: Sequence[str]) -> str:
        """`37 of 99 done, 2 skipped, 12 left by this filter`, of the items that are listed."""
        counts = self.counts
        left = sum(self.state(item_id) is ReviewState.TO_DO for item_id in listed)
        total = sum(counts.values())
        parts = [f"{counts[ReviewState.DONE]:,} of {total:,} done"]
        if counts[ReviewState.SKIPPED]:
            parts.append(f"{counts[ReviewState.SKIPPED]:,} skipped")
        parts.append(f"{left:,} left{' by this filter' if len(listed) < total else ''}")
        return ", ".join(parts)

    @Slot(str)
    def _follow(self, item_id: str) -> None:
        run = self._workspace.run
        if run is not None and self._asked.get(item_id) is run.results.reviews.state(
            item_id, self._workspace.author
        ):
            del self._asked[item_id]
        self.changed.emit(item_id)

    @Slot()
    def _start_anew(self) -> None:
        self._asked.clear()
        self.changed.emit("")
