"""A choice of whose labels of a run count, beside the judge's.

Knows: the sources, names of people. Does not know: labels, what is done with them.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from engine.core.formatting import capitalised, clipped, visible
from engine.core.label_sources import LAST, LabelSource, Whose
from gui.kit.fields import narrow_box
from gui.kit.foreign_text import set_tip, tip
from gui.kit.labels import name
from gui.kit.layouts import in_row

_WORDS = {
    Whose.LAST: "Labels in force",
    Whose.SETTLED: "Settled labels",
    Whose.MAJORITY: "Majority of people",
    Whose.JUDGE: "Judge alone",
}


class SourceBox(QWidget):
    """A box with the sources that make sense, and the people."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.box: QComboBox = narrow_box("Whose labels count", 12)
        in_row(self.box, on=self)
        self.box.currentIndexChanged.connect(self._tell)
        self.offer(())

    @property
    def source(self) -> LabelSource:
        """What is chosen."""
        found = self.box.currentData()
        return found if isinstance(found, LabelSource) else LAST

    def offer(self, people: Sequence[str], settled: bool = True) -> None:
        """Offer these people, and `settled` labels where there are any; what is chosen stays where it can."""
        before = self.source
        kinds = [kind for kind in _WORDS if settled or kind is not Whose.SETTLED]
        sources = [LabelSource(kind) for kind in kinds]
        sources += [LabelSource(Whose.PERSON, person) for person in people]
        with QSignalBlocker(self.box):
            self.box.clear()
            for source in sources:
                text = _WORDS.get(source.kind) or clipped(source.person)
                self.box.addItem(visible(text), source)
                more = tip(capitalised(source.in_words))
                self.box.setItemData(self.box.count() - 1, more, Qt.ItemDataRole.ToolTipRole)
            self.choose(before)
        if self.source != before:
            self._tell()

    def choose(self, source: LabelSource) -> None:
        """Choose a source, the usual one where it is not offered."""
        places = [place for place in range(self.box.count()) if self.box.itemData(place) == source]
        self.box.setCurrentIndex(places[0] if places else 0)

    @Slot()
    def _tell(self) -> None:
        words = capitalised(self.source.in_words)
        set_tip(self.box, words)
        name(self.box, f"Whose labels count: {visible(clipped(words))}")
        self.changed.emit()
