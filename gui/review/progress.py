"""What an annotator has said of the open run, stored or on its way: drafts and progress.

Each draft ends those that its writer saw, and no others: what somebody of the same name writes in another
window takes nothing from this one. A note's draft is of no criterion.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from PySide6.QtCore import QObject, QTimer, Signal

from engine.annotations.records import Annotation, AnyWord, annotations_in, new_draft, new_review, now
from engine.core.formatting import words
from engine.core.items import HumanLabel
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from gui.review.review_jobs import Blind
from gui.workspace.open_run import Opened
from gui.workspace.state import State
from gui.workspace.workspace import Workspace

IN_STATE = "review/drafts"  # where earlier versions kept them, without names of annotators
Say = Callable[[Annotation, int, Sequence[str]], str]
"""Adds an annotation that ends some drafts; its name, empty where that is not possible."""
# From the first letter that no draft holds until one does: with a slow disk it is there within a second.
KEEP_MS = 500


class DelayedSave(QTimer):
    """Asked as often as one likes, what is asked for is done once, soon: also while one types on and on."""

    def __init__(self, do: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent, singleShot=True, interval=KEEP_MS)
        self.timeout.connect(do)

    def ask(self) -> None:
        if not self.isActive():
            self.start()


def note_of(item_id: str) -> JudgmentKey:
    return JudgmentKey(item_id, "")


class Drafts(QObject):
    """Those of the annotator who works, by run and judgment."""

    changed = Signal(str)  # item id: a draft of it was kept, or has ended

    def __init__(self, opened: Opened, say: Say, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._opened, self._say = opened, say
        self._own: list[tuple[int, Annotation]] = []  # of this window, also where the disk did not take them
        self._only_here: list[Annotation] = []  # where it did not
        self._ended: set[str] = set()

    def of(self, run_id: int, key: JudgmentKey) -> str | None:
        draft = self._newest(run_id, key)
        return None if draft is None else draft.text

    def in_words(self, run_id: int, key: JudgmentKey) -> str:
        draft = self._newest(run_id, key)
        if draft is None:
            return ""
        lost = ", not on the disk yet" if any(draft is each for each in self._only_here) else ""
        what, opens = ("an explanation", "E") if key.criterion else ("a note", "N")
        return f"There is a draft of {what}{lost}: {opens} opens it."

    def begun(self, run_id: int, item_id: str) -> Collection[str]:
        """The criteria of an item on which an explanation is begun; "" where its note is."""
        return {draft.criterion for draft in self._standing(run_id) if draft.item_id == item_id}

    def ids(self, run_id: int, key: JudgmentKey) -> tuple[str, ...]:
        """The name of the newest, where it lies on the disk: what is written now ends it."""
        draft = self._newest(run_id, key)
        return (draft.id,) if draft is not None and draft.id else ()

    def keep(self, run_id: int, key: JudgmentKey, text: str) -> None:
        before = self._newest(run_id, key)
        if before is None or before.text != text or not before.id:
            over = self.ids(run_id, key)
            name = self._say(new_draft(*key, self._opened.author, text), run_id, over)
            self.hold(run_id, key, text, name)
            self._only_here += [] if name else [self._own[-1][1]]

    def hold(self, run_id: int, key: JudgmentKey, text: str, name: str = "") -> None:
        """The same of a text that lies on the disk by a name, or on its way to the store."""
        self._end(self._newest(run_id, key))
        draft = replace(new_draft(*key, self._opened.author, text), created=now(), id=name)
        self._own.append((run_id, draft))
        self.changed.emit(key.item_id)

    def drop(self, run_id: int, key: JudgmentKey) -> None:
        over = self.ids(run_id, key)
        self._end(self._newest(run_id, key))
        if over:
            self._say(new_draft(*key, self._opened.author, None), run_id, over)
        self.changed.emit(key.item_id)

    def forget_runs(self, run_ids: Sequence[int]) -> None:
        self._own = [(run_id, draft) for run_id, draft in self._own if run_id not in run_ids]

    def take_over(self, state: State) -> None:
        """Keep what an earlier version kept in the memory of the window, once; it is this annotator's."""
        kept = state.record(IN_STATE)
        for name, text in list(kept.items()):
            if (place := _place(name)) is not None and isinstance(text, str) and text:
                run_id, key = place
                if not self._say(new_draft(*key, self._opened.author, text), run_id, ()):
                    break  # the rest stays where it is
            del kept[name]
            state.set_record(IN_STATE, kept)
            state.save()

    def _end(self, draft: Annotation | None) -> None:
        if draft is not None:
            self._own = [each for each in self._own if each[1] is not draft]
            self._only_here = [each for each in self._only_here if each is not draft]
            self._ended |= {draft.id} if draft.id else set()

    def _newest(self, run_id: int, key: JudgmentKey) -> Annotation | None:
        found = [draft for draft in self._standing(run_id) if draft.key == key]
        return found[-1] if found else None

    def _standing(self, run_id: int) -> list[Annotation]:
        """All of this annotator that have not ended, the newest, those of this window, last."""
        run = self._opened.run
        read = run.drafts if run is not None and run.id == run_id else ()
        of_run = (*read, *(draft for number, draft in self._own if number == run_id))
        author = self._opened.author if of_run else ""  # it is asked for with each item of a list
        return [each for each in of_run if each.author == author and each.id not in self._ended]


def _place(name: str) -> tuple[int, JudgmentKey] | None:
    """Which run and judgment an earlier version meant by a name; None for what is none."""
    try:
        run_id, criterion, item_id = json.loads(name)
    except (ValueError, TypeError):
        return None
    right = type(run_id) is int and run_id > 0 and isinstance(criterion, str) and isinstance(item_id, str)
    return (run_id, JudgmentKey(item_id, criterion)) if right else None


STATE_SIGNS = {ReviewState.TO_DO: "", ReviewState.DONE: "✓", ReviewState.SKIPPED: "»"}
STATE_WORDS = {ReviewState.TO_DO: "to do", ReviewState.DONE: "done", ReviewState.SKIPPED: "skipped"}


@dataclass
class _StateCount:
    states: dict[str, ReviewState]  # of the items that are not to do
    counts: dict[ReviewState, int]  # of all items
    left: int  # listed ones to do


class Progress(QObject):
    """The states of this annotator's items: what was asked for counts at once. All are counted once, then one
    item at a time, whatever the size of the run.

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
        for signal in (workspace.author_changed, workspace.run_changed):
            signal.connect(self._start_anew)
        workspace.unsaid.connect(self._take_back)
        workspace.taken_back.connect(self._forget)

    def state(self, item_id: str) -> ReviewState:
        run, state = self._workspace.run, self._asked.get(item_id)
        if state is None:
            state = run.results.reviews.state(item_id, self._author) if run is not None else ReviewState.TO_DO
        if self.criterion is None:
            return state
        key = JudgmentKey(item_id, self.criterion)
        if key in self._labels or key in self._blind.given:
            return ReviewState.DONE
        return ReviewState.SKIPPED if state is ReviewState.SKIPPED else ReviewState.TO_DO

    @property
    def _labels(self) -> Mapping[JudgmentKey, HumanLabel]:
        run = self._workspace.run
        return run.results.reviews.labels.get(self._author, {}) if run is not None else {}

    def reopens(self, item_id: str) -> bool:
        """Whether an item can be reopened: a label is taken back, or replaced, and stays until then."""
        state = self.state(item_id)
        return state is ReviewState.SKIPPED or (state is ReviewState.DONE and self.criterion is None)

    @property
    def by_criterion(self) -> Mapping[str, int]:
        """On how many items this annotator has labelled each criterion."""
        return Counter(key.criterion for key in {**self._labels, **self._blind.given})

    def follow_criterion(self, criterion: str | None) -> None:
        self.criterion, self._kept = criterion, None

    def follow_list(self, listed: Sequence[str]) -> None:
        self._listed, self._among_listed = listed, frozenset(listed)
        self._kept = None

    @property
    def counts(self) -> Mapping[ReviewState, int]:
        return self._tally.counts

    @property
    def _tally(self) -> _StateCount:
        run, counts = self._workspace.run, dict.fromkeys(ReviewState, 0)
        if self._kept is not None:
            return self._kept
        if run is None:
            return _StateCount({}, counts, 0)
        marks = run.results.reviews.effective_marks
        touched = {item_id for item_id, who in marks if who == self._author} | self._asked.keys()
        if self.criterion is not None:
            touched |= {key.item_id for key in (*self._labels, *self._blind.given)}
        states = {item_id: self.state(item_id) for item_id in touched}
        states = {each: state for each, state in states.items() if state is not ReviewState.TO_DO}
        counts |= Counter(states.values())
        counts[ReviewState.TO_DO] = len(run.results.judged) - len(states)
        self._kept = _StateCount(states, counts, len(self._among_listed - states.keys()))
        return self._kept

    @property
    def begun(self) -> bool:
        return bool(self._tally.states)

    def mark(
        self,
        item_id: str,
        state: ReviewState | None,
        confirmed: Mapping[str, HumanLabel] | None = None,
        origin: Origin | None = None,
        seed: int | None = None,
    ) -> bool:
        """Let an item be in a state, None for the one that it is in, with the labels that an annotator
        accepts; `origin`, `seed`: of these. False where that is not said, and nothing changes.
        """
        author, before, given = self._workspace.author, self._asked.get(item_id), confirmed or {}
        said = bool(self._workspace.say(new_review(item_id, author, state, given, origin, seed=seed)))
        if said and state is not None:
            self._asked[item_id] = state
        elif before is not None:  # what was said before may still wait for the store
            self._asked[item_id] = before
        if said:
            self._blind.given |= {JudgmentKey(item_id, each): label for each, label in given.items()}
        self.follow_label(item_id)
        return said

    def follow_label(self, item_id: str) -> None:
        # This item alone: 100,000 are not counted again at each key.
        if (tally := self._kept) is not None:
            before, now = tally.states.pop(item_id, ReviewState.TO_DO), self.state(item_id)
            if now is not ReviewState.TO_DO:
                tally.states[item_id] = now
            tally.counts[before] -= 1
            tally.counts[now] += 1
            if item_id in self._among_listed:
                tally.left += (now is ReviewState.TO_DO) - (before is ReviewState.TO_DO)
        self.changed.emit(item_id)

    def next_to_do(self, after: int) -> int | None:
        """The place of the next item to do among those that are listed, after a place, else from the top."""
        listed = self._listed
        places = chain(range(after + 1, len(listed)), range(max(0, min(after, len(listed)))))
        return next((place for place in places if self.state(listed[place]) is ReviewState.TO_DO), None)

    @property
    def in_words(self) -> str:
        """`37 of 99 done, 2 skipped, 12 left by this filter`; those that are left are listed ones."""
        counts, left = self.counts, self._tally.left
        total, skipped = sum(counts.values()), counts[ReviewState.SKIPPED]
        on = f" on {words(self.criterion)}" if self.criterion else ""
        also = f", {skipped:,} skipped" if skipped else ""
        filtered = " by this filter" if len(self._listed) < total else ""
        return f"{counts[ReviewState.DONE]:,} of {total:,} done{on}{also}, {left:,} left{filtered}"

    def _follow(self, item_id: str) -> None:
        run, asked = self._workspace.run, self._asked.get(item_id)
        if run is not None and asked is run.results.reviews.state(item_id, self._author):
            del self._asked[item_id]
        self.follow_label(item_id)

    def _take_back(self, what: AnyWord) -> None:
        if isinstance(what, tuple):
            self._asked.pop(what[0].item_id, None)
        for item_id in {word.item_id for word in annotations_in(what) if word.item_id}:
            self.follow_label(item_id)

    def _forget(self, item_id: str) -> None:
        # What was asked for may be taken back before the store has it.
        self._asked.pop(item_id, None)
        self.follow_label(item_id)

    def _start_anew(self) -> None:
        self._asked.clear()
        self._author, self._kept = self._workspace.author, None
        self.changed.emit("")
