"""How far an annotator is with the items of the open run, and with those of them that are listed.

Knows: states of items. Does not know: why items are listed, labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from PySide6.QtCore import QObject, Signal, Slot

from engine.annotations.records import AnyWord, annotations_in, new_review
from engine.core.formatting import words
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from gui.review.blind import Blind
from gui.workspace.workspace import Workspace

STATE_SIGNS = {ReviewState.TO_DO: "", ReviewState.DONE: "✓", ReviewState.SKIPPED: "»"}
STATE_WORDS = {ReviewState.TO_DO: "to do", ReviewState.DONE: "done", ReviewState.SKIPPED: "skipped"}


@dataclass
class _StateCount:
    """`states`: of the items that are not to do. `counts`: of all items. `left`: listed ones to do."""

    states: dict[str, ReviewState]
    counts: dict[ReviewState, int]
    left: int


class Progress(QObject):
    """The states of this annotator's items: what was asked for counts at once.

    All are counted for a run, an annotator and a list; then one item at a time, whatever the size of the run.

    `criterion`: the only one that is labelled now. Then an item is done once it has this annotator's label on
    it; None: once it was marked so.
    """

    changed = Signal(str)  # item id; empty for all

    def __init__(self, workspace: Workspace, blind: Blind, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace, self._blind = workspace, blind
        self.criterion: str | None = None
        self._author = workspace.author  # read once: it is asked for with each item
        self._asked: dict[str, ReviewState] = {}  # not stored yet
        self._listed: Sequence[str] = ()
        self._among_listed: frozenset[str] = frozenset()
        self._kept: _StateCount | None = None  # None until it is asked for
        workspace.reviewed.connect(self._follow)
        workspace.author_changed.connect(self._start_anew)
        workspace.run_changed.connect(self._start_anew)
        workspace.unsaid.connect(self._take_back)
        workspace.taken_back.connect(self._forget)

    def state(self, item_id: str) -> ReviewState:
        """How far this annotator is with an item."""
        run = self._workspace.run
        state = self._asked.get(item_id)
        if state is None:
            state = run.results.reviews.state(item_id, self._author) if run is not None else ReviewState.TO_DO
        if self.criterion is None:
            return state
        key = JudgmentKey(item_id, self.criterion)
        if key in self._labels or key in self._blind.given:
            return ReviewState.DONE
        return ReviewState.SKIPPED if state is ReviewState.SKIPPED else ReviewState.TO_DO

    @property
    def _labels(self) -> Mapping[JudgmentKey, Preference]:
        run = self._workspace.run
        return run.results.reviews.labels.get(self._author, {}) if run is not None else {}

    def reopens(self, item_id: str) -> bool:
        """Whether an item can be reopened: a label is taken back, or replaced, and stays until then."""
        state = self.state(item_id)
        return state is ReviewState.SKIPPED or (state is ReviewState.DONE and self.criterion is None)

    def follow_criterion(self, criterion: str | None) -> None:
        """One criterion alone is labelled from now on, or all of them."""
        self.criterion, self._kept = criterion, None

    def follow_list(self, listed: Sequence[str]) -> None:
        """These items are listed, in this order."""
        self._listed, self._among_listed = listed, frozenset(listed)
        self._kept = None

    @property
    def counts(self) -> Mapping[ReviewState, int]:
        """How many items of the run are in which state."""
        return self._tally.counts

    @property
    def _tally(self) -> _StateCount:
        if self._kept is None:
            self._kept = self._count()
        return self._kept

    def _count(self) -> _StateCount:
        run = self._workspace.run
        counts = dict.fromkeys(ReviewState, 0)
        if run is None:
            return _StateCount({}, counts, 0)
        marks = run.results.reviews.effective_marks
        touched = {item_id for item_id, who in marks if who == self._author} | self._asked.keys()
        if self.criterion is not None:
            touched |= {key.item_id for key in (*self._labels, *self._blind.given)}
        found = ((item_id, self.state(item_id)) for item_id in touched)
        states: dict[str, ReviewState] = {
            item_id: state for item_id, state in found if state is not ReviewState.TO_DO
        }
        for state in states.values():
            counts[state] += 1
        counts[ReviewState.TO_DO] = len(run.results.judged) - len(states)
        return _StateCount(states, counts, len(self._among_listed) - len(self._among_listed & states.keys()))

    def _count_again(self, item_id: str) -> None:
        """One item may be in another state than it was counted in."""
        tally = self._kept
        if tally is None:
            return
        before, now = tally.states.pop(item_id, ReviewState.TO_DO), self.state(item_id)
        if now is not ReviewState.TO_DO:
            tally.states[item_id] = now
        tally.counts[before] -= 1
        tally.counts[now] += 1
        if item_id in self._among_listed:
            tally.left += (now is ReviewState.TO_DO) - (before is ReviewState.TO_DO)

    @property
    def begun(self) -> bool:
        """True where this annotator is done with an item of the run, or has skipped one."""
        counts = self.counts
        return counts[ReviewState.DONE] + counts[ReviewState.SKIPPED] > 0

    def mark(
        self,
        item_id: str,
        state: ReviewState | None,
        confirmed: Mapping[str, Preference] | None = None,
        origin: Origin | None = None,
        seed: int | None = None,
    ) -> bool:
        """Let an item be in a state, with the labels that an annotator accepts; `origin`, `seed`: of these.
        No state: it stays in the one that it is in.

        False where that is not said, and nothing changes.
        """
        author, before = self._workspace.author, self._asked.get(item_id)
        said = bool(
            self._workspace.say(new_review(item_id, author, state, confirmed or {}, origin, seed=seed))
        )
        counts = state if said and state else before  # what was said before may still wait for the store
        if counts is not None:
            self._asked[item_id] = counts
        for criterion in (confirmed or {}) if said else ():
            self._blind.give(JudgmentKey(item_id, criterion))
        self.follow_label(item_id)
        return said

    def follow_label(self, item_id: str) -> None:
        """Count an item again: a label of it, which is all that counts of one criterion, may be given now."""
        self._count_again(item_id)
        self.changed.emit(item_id)

    def next_to_do(self, after: int) -> int | None:
        """The place of the next item to do among those that are listed, after a place, else from the top."""
        listed = self._listed
        places = chain(range(after + 1, len(listed)), range(max(0, min(after, len(listed)))))
        return next((place for place in places if self.state(listed[place]) is ReviewState.TO_DO), None)

    @property
    def in_words(self) -> str:
        """`37 of 99 done, 2 skipped, 12 left by this filter`; those that are left are listed ones. Of one
        criterion alone: `37 of 99 done on relevance`.
        """
        counts, left = self.counts, self._tally.left
        total = sum(counts.values())
        on = f" on {words(self.criterion)}" if self.criterion else ""
        parts = [f"{counts[ReviewState.DONE]:,} of {total:,} done{on}"]
        if counts[ReviewState.SKIPPED]:
            parts.append(f"{counts[ReviewState.SKIPPED]:,} skipped")
        parts.append(f"{left:,} left{' by this filter' if len(self._listed) < total else ''}")
        return ", ".join(parts)

    @Slot(str)
    def _follow(self, item_id: str) -> None:
        run = self._workspace.run
        stored = run.results.reviews.state(item_id, self._author) if run is not None else None
        if stored is not None and self._asked.get(item_id) is stored:
            del self._asked[item_id]
        self.follow_label(item_id)

    @Slot(object)
    def _take_back(self, what: AnyWord) -> None:
        """What was asked for will never be stored."""
        if isinstance(what, tuple):
            self._asked.pop(what[0].item_id, None)
        for item_id in {word.item_id for word in annotations_in(what) if word.item_id}:
            self.follow_label(item_id)

    @Slot(str)
    def _forget(self, item_id: str) -> None:
        """What was asked for may be taken back before the store has it."""
        self._asked.pop(item_id, None)
        self.follow_label(item_id)

    @Slot()
    def _start_anew(self) -> None:
        self._asked.clear()
        self._author, self._kept = self._workspace.author, None
        self.changed.emit("")
