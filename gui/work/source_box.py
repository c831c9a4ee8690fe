"""A choice of whose labels of a run count, beside the judge's.

Knows: the sources, names of annotators. Does not know: labels, what is done with them.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from engine.core.formatting import capitalised, clipped, visible
from engine.core.label_sources import LAST, LabelSource, LabelSourceKind
from gui.kit.fields import narrow_box
from gui.kit.foreign_text import set_tip, tip
from gui.kit.labels import name
from gui.kit.layouts import in_row

_WORDS = {
    LabelSourceKind.LAST: "Effective labels",
    LabelSourceKind.ADJUDICATED: "Adjudicated labels",
    LabelSourceKind.MAJORITY: "Majority of annotators",
    LabelSourceKind.JUDGE: "Judge only",
}


class SourceBox(QWidget):
    """A box with the sources that make sense, and the annotators."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.box: QComboBox = narrow_box("Labels used", 12)
        in_row(self.box, on=self)
        self.box.currentIndexChanged.connect(self._tell)
        self.offer(())

    @property
    def source(self) -> LabelSource:
        """What is chosen."""
        found = self.box.currentData()
        return found if isinstance(found, LabelSource) else LAST

    def offer(self, annotators: Sequence[str], adjudicated: bool = True) -> None:
        """Offer these annotators, and `adjudicated` labels where there are any; what is chosen stays where it
        can.
        """
        before = self.source
        kinds = [kind for kind in _WORDS if adjudicated or kind is not LabelSourceKind.ADJUDICATED]
        sources = [LabelSource(kind) for kind in kinds]
        sources += [LabelSource(LabelSourceKind.ANNOTATOR, annotator) for annotator in annotators]
        with QSignalBlocker(self.box):
            self.box.clear()
            for source in sources:
                text = _WORDS.get(source.kind) or clipped(source.annotator)
                self.box.addItem(visible(text), source)
                more = tip(capitalised(source.in_words))
                self.box.setItemData(self.box.count() - 1, more, Qt.ItemDataRole.ToolTipRole)
            self.choose(before)
        if self.source != before:
            self._tell()

    def choose(self, source: LabelSource) -> None:
        """Choose a source, the default one where it is not offered."""
        places = [place for place in range(self.box.count()) if self.box.itemData(place) == source]
        self.box.setCurrentIndex(places[0] if places else 0)

    @Slot()
    def _tell(self) -> None:
        words = capitalised(self.source.in_words)
        set_tip(self.box, words)
        name(self.box, f"Labels used: {visible(clipped(words))}")
        self.changed.emit()
