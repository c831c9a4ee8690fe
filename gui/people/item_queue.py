"""Goes through items: confirm one, skip it, take it back, and on to the next that is to do.

Knows: whose turn it is, what needs a name, what a blind person still owes. Does not know: widgets, judgments.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Slot

from engine.core.formatting import words
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, ReviewState
from gui.people.blind import Blind
from gui.people.naming import WhoButton
from gui.people.progress import Progress
from gui.work.workspace import Workspace


class Desk(Protocol):
    """What shows the judgments of an item."""

    @property
    def run_id(self) -> int:
        """The run of the item; while another run is being listed not the open one."""

    @property
    def item_id(self) -> str:
        """The item; empty where there is none."""

    @property
    def criteria(self) -> Sequence[str]:
        """Those of the item."""

    def labels_in_force(self) -> Mapping[str, Preference]:
        """By criterion, as they are asked for last; those without a label are left out."""

    def choose_criterion(self, criterion: str) -> None:
        """Open a judgment."""

    def finish_writing(self) -> None:
        """Save what is being written."""


class Items(Protocol):
    """The list of items."""

    def go_to_next(self) -> bool:
        """Choose the next item that is to do; False where there is none."""


class ItemQueue(QObject):
    """What Enter, S and T do."""

    def __init__(self, workspace: Workspace, who: WhoButton, blind: Blind, progress: Progress) -> None:
        super().__init__(workspace)
        self._workspace, self._who, self._blind, self._progress = workspace, who, blind, progress
        self.desk: Desk | None = None
        self.items: Items | None = None

    @Slot()
    def confirm(self) -> None:
        """Agree with all labels in force of the item."""
        self._begin(ReviewState.DONE)

    @Slot()
    def skip(self) -> None:
        """Leave the item out for now."""
        self._begin(ReviewState.SKIPPED)

    @Slot()
    def take_back(self) -> None:
        """The item is to do again; labels that were confirmed stay until others are given."""
        place = self._place
        if place is None:
            return
        if self._progress.state(place[1]) is ReviewState.TO_DO:
            self._workspace.note.emit("The item is to do already.")
        else:
            self._progress.mark(place[1], ReviewState.TO_DO)

    @property
    def _place(self) -> tuple[int, str] | None:
        """The run and the item that are shown; None where that run is not the open one: what is said of an
        item is kept for the open run.
        """
        desk, run = self.desk, self._workspace.run
        if desk is None or run is None or desk.run_id != run.id or not desk.item_id:
            return None
        return desk.run_id, desk.item_id

    def _begin(self, state: ReviewState) -> None:
        place = self._place
        if place is not None:
            self._who.then(partial(self._finish, place, state))

    def _finish(self, place: tuple[int, str], state: ReviewState) -> None:
        desk, items = self.desk, self.items
        if desk is None or items is None or self._place != place:
            return
        _, item_id = place
        confirmed: Mapping[str, Preference] = {}
        if state is ReviewState.DONE and self._blind.on:
            # Each label was given by itself; that of another person must not take its place unseen.
            missing = [name for name in desk.criteria if not self._blind.shows(JudgmentKey(item_id, name))]
            if missing:
                self._workspace.note.emit(f"Label it first: {', '.join(map(words, missing))}.")
                desk.choose_criterion(missing[0])
                return
        elif state is ReviewState.DONE:
            desk.finish_writing()
            confirmed = desk.labels_in_force()
        self._progress.mark(item_id, state, confirmed)
        if not items.go_to_next():
            self._workspace.note.emit("No item is left to do by this filter.")
