"""Two lists to choose a slice of the items from: by what they are divided, and which of the slices.

Knows: how slices are offered. Does not know: how items are divided, what is done with those that are chosen.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from engine.core.formatting import clipped, visible
from gui.kit.fields import narrow_box
from gui.kit.foreign_text import set_tip, tip
from gui.kit.layouts import STRETCH, in_row
from gui.work.file_jobs import Chosen, Divided, NotedRequest, divide
from gui.work.lanes import LatestTask, ThreadName
from gui.work.state import BLIND
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.slices import Slice, Slicing

_ALL = "Items: all"


class SliceChoice(QWidget):
    """Follows one dataset. `letters`: how wide each list is at least. `changed` is emitted once the choice is
    known, slices and all.
    """

    changed = Signal()

    def __init__(self, workspace: Workspace, letters: int = 13) -> None:
        super().__init__()
        self._workspace = workspace
        self._by_annotators = self._stale = False
        self.slicing: Slicing | None = None
        self.part: Slice | None = None
        self._dataset: Dataset | None = None
        self._gold: Dataset | None = None
        self._wanted_part: str | None = None  # its key, until the slices are known
        self.by = narrow_box("How the items are divided", letters)
        self.parts = narrow_box("Which slice of the items", letters)
        in_row((self.by, STRETCH), (self.parts, STRETCH), on=self)
        self._dividing = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._dividing.finished.connect(self._take)
        self.by.activated.connect(self._divide)
        self.parts.activated.connect(self._choose)
        workspace.noted.connect(self._follow_notes)
        workspace.author_changed.connect(self._follow_annotators)
        workspace.blind_changed.connect(self._follow_annotators)
        self._fill({}, "")
        self.parts.hide()

    @property
    def ids(self) -> frozenset[str] | None:
        """The items of the chosen slice; None for all."""
        return None if self.part is None else self.part.known

    @property
    def words(self) -> str:
        """The chosen slice for display; empty for all items."""
        if self.slicing is None or self.part is None:
            return ""
        return visible(self.slicing.in_words(self.part))

    @property
    def chosen(self) -> Chosen | None:
        """The slice that alone is to be measured; None for all items."""
        return None if self.part is None else Chosen(self.part, self.words)

    def show_dataset(self, dataset: "Dataset | None", gold: "Dataset | None" = None) -> None:
        """Divide these items from now on; what is chosen stays where it can. `gold`: other human labels."""
        if dataset is self._dataset and gold is self._gold:
            return
        kept = self.part.key if self.part is not None else None
        by = self.by.currentData() or ""
        self._dataset, self._gold = dataset, gold
        self.setEnabled(dataset is not None)
        self._dividing.drop()
        self._set(None, None)  # never the items of another dataset
        if dataset is None:
            self._fill({}, "")
        else:
            self.choose(by, kept)

    def choose(self, by: str, key: str | None = None) -> None:
        """Choose as if by hand: by what, and the slice of this key; the empty text for all items."""
        if self._dataset is not None:
            self._wanted_part = key
            self._start(by)

    def choose_part(self, part: "Slice | None") -> None:
        """One of the slices that there are, or all of them, at once and without a word of it."""
        slices = self.slicing.slices if self.slicing is not None else ()
        self._set(self.slicing, part if part in slices else None)

    @Slot()
    def clear(self) -> None:
        """All items, at once and without a word of it."""
        self.by.setCurrentIndex(0)
        self._set(None, None)
        if self._dividing.busy:
            self.choose("")

    @Slot()
    def _divide(self) -> None:
        assert self._dataset is not None
        self._wanted_part = self.part.key if self.part is not None and self._same_by() else None
        self._start(self.by.currentData() or "")

    def _start(self, by: str) -> None:
        """Divide anew. Who labels blind sees no tag but their own."""
        assert self._dataset is not None
        self._stale = False
        space = self._workspace
        own = space.author if space.state.text(BLIND) == "on" else None
        self._dividing.start(divide(self._dataset, self._gold, by, NotedRequest(space.store_path, own)))

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what annotators tagged meanwhile."""
        super().showEvent(event)
        if self._stale:
            self._again()

    @Slot()
    def _follow_notes(self) -> None:
        """Offer tags as soon as there are any; the slice that is listed does not change under one's hands."""
        self._stale = True
        if self.isVisible() and not self._by_annotators:
            self._again()

    @Slot()
    def _follow_annotators(self) -> None:
        """Whose tags may be seen has changed: what is chosen by them must not stay."""
        self._stale = True
        if self.isVisible() or self._by_annotators:
            self._again()

    def _again(self) -> None:
        self.choose(self.by.currentData() or "", self.part.key if self.part is not None else None)

    def _same_by(self) -> bool:
        return self.slicing is not None and self.slicing.by == self.by.currentData()

    @Slot(object)
    def _take(self, divided: Divided) -> None:
        slicing, self._by_annotators = divided.slicing, divided.by_annotators
        self._fill(divided.titles, slicing.by if slicing else "")
        parts = slicing.slices if slicing else ()
        part = next((found for found in parts if found.key == self._wanted_part), None)
        before = self.slicing, self.part
        self._set(slicing, part)
        if before != (slicing, part):
            self.changed.emit()

    @Slot()
    def _choose(self) -> None:
        place = self.parts.currentData()
        assert self.slicing is not None
        self._set(self.slicing, None if place is None else self.slicing.slices[place])
        self.changed.emit()

    def _set(self, slicing: "Slicing | None", part: "Slice | None") -> None:
        self.slicing, self.part = slicing, part
        self.parts.clear()
        self.parts.addItem("All slices", None)
        for place, found in enumerate(slicing.slices if slicing else ()):
            self.parts.addItem(f"{visible(clipped(found.name))} ({len(found):,})", place)
            self.parts.setItemData(place + 1, tip(found.name), Qt.ItemDataRole.ToolTipRole)
            if found is part:
                self.parts.setCurrentIndex(place + 1)
        set_tip(self.parts, part.name if part is not None else "")
        self.parts.setVisible(slicing is not None)

    def _fill(self, titles: Mapping[str, str], chosen: str) -> None:
        self.by.clear()
        self.by.addItem(_ALL, "")
        for by, title in titles.items():
            self.by.addItem(f"By {visible(clipped(title))}", by)
            self.by.setItemData(self.by.count() - 1, tip(title), Qt.ItemDataRole.ToolTipRole)
        self.by.setCurrentIndex(max(0, self.by.findData(chosen)))
        set_tip(self.by, self.by.currentText() if chosen else "How the items are divided")
