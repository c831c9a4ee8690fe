"""Which items an annotator wants listed by how far they are with them, and by tag.

Knows: states of items, tags of the open run. Does not know: labels, what else is filtered.
"""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from engine.core.formatting import visible
from engine.core.judgments import ReviewState
from engine.core.people import tags_together
from gui.kit.fields import narrow_box
from gui.kit.layouts import STRETCH, in_row
from gui.people.note_line import tags_of
from gui.people.progress import STATE_WORDS, Progress
from gui.work.workspace import Workspace

_STATE = "review/person"
_LONGEST_TAG = 24


class AnnotatorFilter(QWidget):
    """Two lists to choose from; what is chosen is remembered."""

    changed = Signal()

    def __init__(self, workspace: Workspace, progress: Progress, blind_button: QWidget) -> None:
        super().__init__()
        self._workspace = workspace
        self._progress = progress
        self.state = narrow_box("Your progress on the listed items", letters=7)
        self.state.addItem("Done or not", None)
        for state, words in STATE_WORDS.items():
            self.state.addItem(words.capitalize(), state.value)
        self.tag = narrow_box("Tag of the listed items", letters=7)
        in_row((self.state, STRETCH), (self.tag, STRETCH), blind_button, on=self)
        remembered = workspace.state.record(_STATE)
        self.state.setCurrentIndex(max(0, self.state.findData(remembered.get("state"))))
        self._wanted_tag = remembered.get("tag")  # until the run is there that has it
        self.state.activated.connect(self._tell)
        self.tag.activated.connect(self._tell)
        workspace.run_changed.connect(self.show_tags)
        workspace.noted.connect(self.show_tags)
        self._blind = False
        self.show_tags()

    def set_blind(self, blind: bool) -> None:
        """Others' tags tell of their labels: who labels blind does not filter by them."""
        self._blind = blind
        self.tag.setVisible(self.tag.count() > 1 and not blind)

    @property
    def narrows(self) -> bool:
        """True where it leaves anything out."""
        return self.state.currentData() is not None or self._chosen_tag is not None

    @property
    def leaves_out_to_do(self) -> bool:
        """True where it may leave out an item that is to do."""
        return self._chosen_tag is not None or self.state.currentData() not in (None, ReviewState.TO_DO.value)

    @property
    def _chosen_tag(self) -> str | None:
        return None if self._blind else self.tag.currentData()

    @property
    def passing(self) -> frozenset[str] | None:
        """The ids of the items that pass; None for all."""
        run = self._workspace.run
        if run is None or not self.narrows:
            return None
        state, tag, results = self.state.currentData(), self._chosen_tag, run.results
        wanted = None if state is None else ReviewState(state)
        return frozenset(
            item.item_id
            for item in results.judged
            if wanted is None or self._progress.state(item.item_id) is wanted
            if tag is None or tag in tags_together(results.notes_on(item.content_hash))
        )

    @Slot()
    def clear(self) -> None:
        """List all; whoever calls it lists again."""
        self._wanted_tag = None
        self.state.setCurrentIndex(0)
        self.tag.setCurrentIndex(0)
        self._keep()

    @Slot()
    def show_tags(self) -> None:
        """Offer the tags of the open run; hidden where there is none."""
        run = self._workspace.run
        chosen = self._wanted_tag if run and self._wanted_tag else self.tag.currentData()
        tags = tags_of(run.results.all_notes) if run else []
        self.tag.clear()
        self.tag.addItem("Any tag", None)
        for tag in tags:
            short = tag if len(tag) <= _LONGEST_TAG else f"{tag[:_LONGEST_TAG]}…"
            self.tag.addItem(visible(short), tag)
        self.tag.setCurrentIndex(max(0, self.tag.findData(chosen) if chosen is not None else 0))
        self.tag.setVisible(bool(tags) and not self._blind)
        if run is not None:
            self._wanted_tag = None

    @Slot()
    def _tell(self) -> None:
        self._keep()
        self.changed.emit()

    def _keep(self) -> None:
        chosen = {"state": self.state.currentData(), "tag": self.tag.currentData()}
        self._workspace.state.set_record(_STATE, chosen)
