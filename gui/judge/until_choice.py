"""How long a run goes on: to the end, or until something is clear of the candidates.

Knows: a list, a number. Does not know: how anything becomes clear.
"""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine.core.until import Until
from gui.kit.fields import ComboBox, SpinBox
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, in_row

_USUAL_WIDTH, _LARGEST_WIDTH = 10, 99  # points of a hundred
_END, _SURE, _WIDTH = range(3)


class UntilChoice(QWidget):
    """Offers to be sure which candidate is better only where the dataset names candidates."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._way = ComboBox()
        name(
            self._way,
            "How long to judge",
            "Until something is clear instructions are judged in a random order, and the run stops by itself."
            " What it says then is wrong with 5 % at most, however often it looked.",
        )
        for text, way in (("To the end", _END), ("Until intervals are at most", _WIDTH)):
            self._way.addItem(text, way)
        self._width = SpinBox()
        self._width.setRange(1, _LARGEST_WIDTH)
        self._width.setValue(_USUAL_WIDTH)
        self._width.setSuffix(" points")
        name(
            self._width,
            "Width of the intervals",
            "Of each candidate's win rate, or of how often A wins; 10 points are plus and minus 5.",
        )
        in_row(self._way, self._width, STRETCH, on=self)
        self._way.currentIndexChanged.connect(self._follow_way)
        self._way.currentIndexChanged.connect(self.changed)
        self._width.valueChanged.connect(self.changed)
        self._follow_way()

    @property
    def until(self) -> Until | None:
        """What the run stops at; None for the end."""
        way = self._way.currentData()
        return None if way == _END else Until(float(self._width.value()) if way == _WIDTH else None)

    def choose(self, until: Until | None) -> None:
        """Choose as if by hand."""
        if until is not None and until.width is not None:
            self._width.setValue(round(until.width))
        way = _END if until is None else _SURE if until.width is None else _WIDTH
        self._way.setCurrentIndex(max(0, self._way.findData(way)))

    def offer(self, names_candidates: bool) -> None:
        """Offer what can be asked of a dataset; what is chosen stays where it can."""
        before, there = self.until, self._way.findData(_SURE) >= 0
        with QSignalBlocker(self._way):
            if names_candidates and not there:
                self._way.insertItem(1, "Until it is clear which candidate is better", _SURE)
            elif there and not names_candidates:
                asked = self._way.currentData() == _SURE
                self._way.removeItem(self._way.findData(_SURE))
                if asked:
                    self._way.setCurrentIndex(0)
        self._follow_way()
        if self.until != before:
            self.changed.emit()

    @Slot()
    def _follow_way(self) -> None:
        self._width.setVisible(self._way.currentData() == _WIDTH)
