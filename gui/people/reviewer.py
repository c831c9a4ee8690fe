"""The annotator who reviews: their name, blind or not, how far they are, what they note; the parts of a page
for that.

Knows: these parts and how they go together. Does not know: how items are listed, judgments.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.judgments import JudgmentKey
from gui.kit.labels import name
from gui.kit.layouts import as_column
from gui.people.blind import Blind
from gui.people.drafts import Drafts
from gui.people.naming import WhoButton
from gui.people.note_line import NoteLine
from gui.people.progress import Progress
from gui.work.state import BLIND
from gui.work.workspace import Workspace


class Reviewer(QObject):
    """One for a page."""

    blind_changed = Signal()  # it was switched, or another annotator labels
    adjudication_changed = Signal(bool)  # whether this annotator adjudicates

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._index = -1  # of the item among the judged
        self._criteria: Sequence[str] = ()
        self.blind = Blind(workspace, workspace.state.text(BLIND) == "on")
        workspace.author_changed.connect(self._start_anew)
        workspace.reviewed.connect(self._adjudicate)
        workspace.run_changed.connect(self._forget)
        workspace.unsaid.connect(self._forget)
        workspace.taken_back.connect(self.blind.forget_item)
        self.progress = Progress(workspace, self.blind, self)
        self.who = WhoButton(workspace)
        self.drafts = Drafts(workspace, workspace.say, self)
        self.drafts.take_over(workspace.state)
        workspace.runs_deleted.connect(self.drafts.forget_runs)
        self.note = NoteLine(workspace, self.drafts, self.who.then)
        self.blind_button = QPushButton("Blind")
        self.blind_button.setCheckable(True)
        self.blind_button.setChecked(self.blind.on)
        name(
            self.blind_button,
            "Label blind",
            "Hide the labels of the judge, other annotators and the dataset on a criterion until you have"
            " labelled it",
        )
        self.blind_button.toggled.connect(self.switch_blind)
        self.adjudicate_button = QPushButton("Adjudicate")
        self.adjudicate_button.setCheckable(True)
        name(
            self.adjudicate_button,
            "Adjudicate where annotators differ",
            "Compare the annotations side by side and decide the effective label; other"
            " annotators cannot change it",
        )
        self.adjudicate_button.toggled.connect(self._switch_settling)
        for signal in (workspace.run_changed, workspace.reviewed):
            signal.connect(self._offer_to_adjudicate)
        self._offer_to_adjudicate()
        self.blind_changed.connect(self._show_note)

    @Slot(bool)
    def switch_blind(self, on: bool) -> None:
        """Label blind from now on, or no longer; this is remembered."""
        if on != self.blind.on:
            if on:
                self.adjudicate_button.setChecked(False)
            self.blind.on = on
            self._workspace.state.set_text(BLIND, "on" if on else "")
            self.blind_changed.emit()
            self._workspace.blind_changed.emit()

    @property
    def settling(self) -> bool:
        """Whether this annotator adjudicates."""
        return self.adjudicate_button.isChecked()

    @Slot()
    def _offer_to_adjudicate(self) -> None:
        """Where annotators differ."""
        run = self._workspace.run
        differ = run is not None and bool(run.results.reviews.differing)
        if not differ:
            self.adjudicate_button.setChecked(False)
        self.adjudicate_button.setVisible(differ)

    @Slot(bool)
    def _switch_settling(self, on: bool) -> None:
        if on:  # an adjudicator must see the annotations of others
            self.blind_button.setChecked(False)
        self.adjudication_changed.emit(on)

    def hidden_when_blind(self, widget: QWidget) -> QWidget:
        """A room for what tells of labels: it is not there while this annotator labels blind."""
        room = as_column(widget)
        room.setHidden(self.blind.on)
        self.blind_changed.connect(lambda: room.setHidden(self.blind.on))
        return room

    def look_at(self, index: int, criteria: Sequence[str]) -> None:
        """Show the note of an item, by its index among the judged ones of the open run."""
        self._index, self._criteria = index, criteria
        self._show_note()

    @Slot()
    def _start_anew(self) -> None:
        self.blind.forget()
        self.blind_changed.emit()

    @Slot()
    def _adjudicate(self) -> None:
        self.blind.adjudicate()
        self._show_note()

    @Slot()
    def _forget(self) -> None:
        self.blind.forget()

    @Slot()
    def _show_note(self) -> None:
        run = self._workspace.run
        if run is not None and 0 <= self._index < len(run.results.judged):
            item = run.results.judged[self._index]
            hides = not all(self.blind.shows(JudgmentKey(item.item_id, each)) for each in self._criteria)
            self.note.show_item(item, hides)
