"""Annotations of a judgment in words: the current ones, earlier ones, one step of an annotator.

Explanations and notes that an annotator began and did not save, saved like all annotations.

Each is an annotation event of its own: it ends the drafts that its writer saw, and no others. So what
somebody of the same name writes in another window takes nothing from this one; it is there when a run is
opened next.

A note's draft is of no criterion; what is read of a run has it wherever the run has its item.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine.annotations.effective import AnnotatorStep, EffectiveAnnotation
from engine.annotations.records import Annotation, Kind, new_draft, now
from engine.core.formatting import capitalised, words
from engine.core.judgments import JudgmentKey, ReviewState
from gui.widgets.label_mark import LABEL_WORDS
from gui.workspace.open_run import Opened

if TYPE_CHECKING:
    from gui.workspace.state import State

IN_STATE = "review/drafts"
"""Where earlier versions kept them: in the memory of the window, without names of annotators."""

Say = Callable[[Annotation, int, Sequence[str]], str]
"""Adds an annotation that ends some drafts; its name, empty where that is not possible."""


KEEP_MS = 500
"""From the first letter that no draft holds until one does: with a slow disk it is there within a second."""


class DelayedSave(QTimer):
    """Asked as often as one likes, what is asked for is done once, soon: also while one types on and on."""

    def __init__(self, do: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent, singleShot=True, interval=KEEP_MS)
        self.timeout.connect(do)

    @Slot()
    def ask(self) -> None:
        """Do it soon."""
        if not self.isActive():
            self.start()


def note_of(item_id: str) -> JudgmentKey:
    """The place of the draft of an item's note."""
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
        """The newest, None where there is none."""
        draft = self._newest(run_id, key)
        return None if draft is None else draft.text

    def in_words(self, run_id: int, key: JudgmentKey) -> str:
        """That there is one, and whether it would be lost with this window; empty where there is none."""
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
        """Keep a draft in the place of the one that was seen."""
        before = self._newest(run_id, key)
        if before is None or before.text != text or not before.id:
            over = self.ids(run_id, key)
            name = self._say(new_draft(*key, self._opened.author, text), run_id, over)
            draft = self._put(run_id, key, text, name)
            self._only_here += [] if name else [draft]

    def hold(self, run_id: int, key: JudgmentKey, text: str) -> None:
        """The same of a text that is on its way to the store, and lies on the disk as an explanation."""
        self._put(run_id, key, text, "")

    def drop(self, run_id: int, key: JudgmentKey) -> None:
        """Forget the draft that was seen, if there is one."""
        over = self.ids(run_id, key)
        self._end(self._newest(run_id, key))
        if over:
            self._say(new_draft(*key, self._opened.author, None), run_id, over)
        self.changed.emit(key.item_id)

    def forget_runs(self, run_ids: Sequence[int]) -> None:
        """Runs were deleted, and their drafts with them."""
        self._own = [(run_id, draft) for run_id, draft in self._own if run_id not in run_ids]

    def take_over(self, state: "State") -> None:
        """Keep what an earlier version kept in the memory of the window, once; it is this annotator's."""
        kept = state.record(IN_STATE)
        for name, text in list(kept.items()):
            place = _place(name)
            if place is not None and isinstance(text, str) and text:
                run_id, key = place
                if not self._say(new_draft(*key, self._opened.author, text), run_id, ()):
                    break  # the rest stays where it is
            del kept[name]
            state.set_record(IN_STATE, kept)
            state.save()

    def _put(self, run_id: int, key: JudgmentKey, text: str, name: str) -> Annotation:
        self._end(self._newest(run_id, key))
        draft = replace(new_draft(*key, self._opened.author, text), created=now(), id=name)
        self._own.append((run_id, draft))
        self.changed.emit(key.item_id)
        return draft

    def _end(self, draft: Annotation | None) -> None:
        if draft is not None:
            self._own = [each for each in self._own if each[1] is not draft]
            self._only_here = [each for each in self._only_here if each is not draft]
            self._ended |= {draft.id} if draft.id else set()

    def _newest(self, run_id: int, key: JudgmentKey) -> Annotation | None:
        found = [draft for draft in self._standing(run_id) if draft.key == key]
        return found[-1] if found else None

    def _standing(self, run_id: int) -> list[Annotation]:
        """All of this annotator that have not ended, those of this window last: each newer than those
        before.
        """
        run = self._opened.run
        read = run.drafts if run is not None and run.id == run_id else ()
        own = [draft for number, draft in self._own if number == run_id]
        all_of_run = (*read, *own)
        author = self._opened.author if all_of_run else ""  # looked up for each item of a list
        return [each for each in all_of_run if each.author == author and each.id not in self._ended]


def _place(name: str) -> tuple[int, JudgmentKey] | None:
    """Which run and judgment an earlier version meant by a name; None for what is none."""
    try:
        values: Any = json.loads(name)
        run_id, criterion, item_id = values
    except (ValueError, TypeError):
        return None
    right = type(run_id) is int and run_id > 0 and isinstance(criterion, str) and isinstance(item_id, str)
    return (run_id, JudgmentKey(item_id, criterion)) if right else None


_STATES = {ReviewState.TO_DO: "reopened", ReviewState.DONE: "done", ReviewState.SKIPPED: "skipped"}


def standing_in_words(standing: EffectiveAnnotation) -> str:
    """`Label both good by Ben, explanation by Ada, 2026-03-01 14:05`, in local time."""
    label = "" if standing.preference is None else f"label {LABEL_WORDS[standing.preference]}"
    by = " and ".join(standing.label_by)
    if label and standing.explanation and (standing.text_by,) == standing.label_by:
        parts = [f"{label} and explanation by {by}"]
    else:
        parts = [f"{label} by {by}"] if label else []
        parts += [f"explanation by {standing.text_by}"] if standing.explanation else []
    text = f"{', '.join(parts)}, {_time(standing.created)}"
    return f"Adjudicated: {text}" if standing.adjudicated else capitalised(text)


def override_in_words(override: Annotation) -> str:
    """`Label both good and explanation by Ada, 2026-03-01 14:05, undone 14:07`, in local time."""
    text = f"{_changed(override)} by {override.author}, {_time(override.created)}"
    undone = f", undone {_time(override.undone)}" if override.undone else ""
    return f"{capitalised(text)}{undone}"


def step_in_words(step: AnnotatorStep) -> str:
    """`label B on safety`, `done, with 5 labels accepted`, `a note`."""
    accepted = [word for word in step.words if word.kind is Kind.CONFIRMATION]
    said = [_word(word) for word in step.words if word.kind is not Kind.CONFIRMATION]
    said += [f"{len(accepted):,} labels accepted"] if len(accepted) > 1 else map(_word, accepted)
    return ", ".join(dict.fromkeys(filter(None, said)))


def _word(word: Annotation) -> str:
    match word.kind:
        case Kind.OVERRIDE:
            return f"{_changed(word)} on {words(word.criterion)}"
        case Kind.CONFIRMATION:
            return f"label {LABEL_WORDS[word.preference]} accepted on {words(word.criterion)}"
        case Kind.STATE:
            return _STATES[word.state or ReviewState.TO_DO]
        case _:
            return "a note"


def _changed(override: Annotation) -> str:
    parts = []
    if override.preference is not None:
        parts.append(f"label {LABEL_WORDS[override.preference]}")
    if override.explanation is not None:
        parts.append("explanation")
    text = " and ".join(parts)
    return f"adjudicated: {text}" if override.settles else text


def _time(time: datetime) -> str:
    return f"{time.astimezone():%Y-%m-%d %H:%M}"
