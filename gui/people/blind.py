"""Blind labelling: what the model and others said is hidden until a person has given his own label.

The one place that says whether a judgment may be shown. Who shows anything of a judgment (a label, a
probability, an explanation, a doubt, another person's label, the human label) asks `shows`, also for tips and
accessible names.

Knows: who labels, which labels he has given. Does not know: what is shown where.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from gui.work.state import BLIND
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.review.doubt import ReviewRow

HIDDEN = "Hidden until you have given your own label: A, B, G or X."


class Blind(QObject):
    """Whether this person labels blind, and what he may see. The choice is remembered."""

    changed = Signal()  # it was switched, or another person labels

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._on = workspace.state.text(BLIND) == "on"
        self._given: set[JudgmentKey] = set()  # not stored yet
        workspace.author_changed.connect(self._start_anew)
        workspace.reviewed.connect(self._settle)
        workspace.run_changed.connect(self._drop)
        workspace.problem.connect(self._drop)

    @property
    def on(self) -> bool:
        """True while labels are given blind."""
        return self._on

    @Slot(bool)
    def switch(self, on: bool) -> None:
        """Hide or show."""
        if on != self._on:
            self._on = on
            self._workspace.state.set_text(BLIND, "on" if on else "")
            self.changed.emit()
            self._workspace.blind_changed.emit()

    def shows(self, key: JudgmentKey) -> bool:
        """True where the judgment may be shown: not blind, or this person has given his own label."""
        return not self._on or self.own(key) is not None or key in self._given

    def own(self, key: JudgmentKey) -> Preference | None:
        """The label that this person gave or confirmed."""
        run = self._workspace.run
        labels = run.results.reviews.labels.get(self._workspace.author, {}) if run else {}
        return labels.get(key)

    def give(self, key: JudgmentKey) -> None:
        """This person gives his label now: it is on its way to the store."""
        self._given.add(key)

    @Slot()
    def _settle(self) -> None:
        """What was on its way and is stored now is the store's to say."""
        self._given = {key for key in self._given if self.own(key) is None}

    def row(self, row: "ReviewRow") -> "ReviewRow":
        """A row as it may be shown: one that is hidden says nothing but its item and criterion."""
        if self.shows(row.key):
            return row
        return replace(
            row,
            preference=None,
            human=None,
            flipped=None,
            margin=None,
            overridden=False,
            outdated=False,
            doubt=0.0,
            hidden=True,
        )

    @Slot()
    def _drop(self) -> None:
        self._given.clear()

    @Slot()
    def _start_anew(self) -> None:
        self._given.clear()
        self.changed.emit()
