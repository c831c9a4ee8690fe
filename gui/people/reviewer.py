"""The person who reviews: his name, blind or not, how far he is, what he notes; the parts of a page for that.

Knows: these parts and how they go together. Does not know: how items are listed, judgments.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from engine.core.judgments import JudgmentKey
from gui.kit.labels import name
from gui.people.blind import Blind
from gui.people.item_queue import ItemQueue
from gui.people.naming import WhoButton
from gui.people.note_line import NoteLine
from gui.people.progress import Progress
from gui.work.workspace import Workspace


class Reviewer(QObject):
    """One for a page."""

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._place = -1  # of the item among the judged
        self._criteria: Sequence[str] = ()
        self.blind = Blind(workspace, self)
        self.progress = Progress(workspace, self)
        self.who = WhoButton(workspace)
        self.note = NoteLine(workspace, self.who.then)
        self.queue = ItemQueue(workspace, self.who, self.blind, self.progress)
        self.blind_button = QPushButton("Blind")
        self.blind_button.setCheckable(True)
        self.blind_button.setChecked(self.blind.on)
        name(
            self.blind_button,
            "Label blind",
            "Hide what the model, others and the dataset say of a criterion until you have labelled it",
        )
        self.blind_button.toggled.connect(self.blind.switch)
        self.blind.changed.connect(self._show_note)
        workspace.reviewed.connect(self._show_note)

    def hidden_when_blind(self, widget: QWidget) -> QWidget:
        """A place for what tells of labels: it is not there while this person labels blind."""
        place = QWidget()
        inside = QVBoxLayout(place)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(widget)
        place.setHidden(self.blind.on)
        self.blind.changed.connect(lambda: place.setHidden(self.blind.on))
        return place

    def look_at(self, place: int, criteria: Sequence[str]) -> None:
        """Show the note of an item, by its place among the judged ones of the open run."""
        self._place, self._criteria = place, criteria
        self._show_note()

    def _show_note(self) -> None:
        run = self._workspace.run
        if run is not None and 0 <= self._place < len(run.results.judged):
            item = run.results.judged[self._place]
            hides = not all(self.blind.shows(JudgmentKey(item.item_id, name)) for name in self._criteria)
            self.note.show_item(item.content_hash, hides)
