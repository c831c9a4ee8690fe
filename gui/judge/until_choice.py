"""How long a run goes on: to the end, or until something is clear of the candidates.

Knows: a list, a number. Does not know: how anything becomes clear.
"""

from PySide6.QtCore import QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine.core.until import StoppingRule
from gui.kit.fields import ComboBox, SpinBox
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, in_row

_DEFAULT_WIDTH, _LARGEST_WIDTH = 10, 99  # points of a hundred
_END, _SURE, _WIDTH = range(3)


class UntilChoice(QWidget):
    """Offers to stop once candidates differ significantly only if the dataset names candidates."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._method = ComboBox()
        name(
            self._method,
            "How long to judge",
            "To stop early, instructions are judged in random order and tested as the run"
            " goes on. The error rate is at most 5 %, however often it is tested.",
        )
        for text, method in (("To the end", _END), ("Until interval width is at most", _WIDTH)):
            self._method.addItem(text, method)
        self._width = SpinBox()
        self._width.setRange(1, _LARGEST_WIDTH)
        self._width.setValue(_DEFAULT_WIDTH)
        self._width.setSuffix(" points")
        name(
            self._width,
            "Width of the intervals",
            "Of each candidate's win rate, or of how often A wins; 10 points are plus and minus 5.",
        )
        in_row(self._method, self._width, STRETCH, on=self)
        self._method.currentIndexChanged.connect(self._follow_method)
        self._method.currentIndexChanged.connect(self.changed)
        self._width.valueChanged.connect(self.changed)
        self._follow_method()

    @property
    def until(self) -> StoppingRule | None:
        """What the run stops at; None for the end."""
        method = self._method.currentData()
        return (
            None if method == _END else StoppingRule(float(self._width.value()) if method == _WIDTH else None)
        )

    def choose(self, until: StoppingRule | None) -> None:
        """Choose as if by hand."""
        if until is not None and until.width is not None:
            self._width.setValue(round(until.width))
        method = _END if until is None else _SURE if until.width is None else _WIDTH
        self._method.setCurrentIndex(max(0, self._method.findData(method)))

    def offer(self, names_candidates: bool) -> None:
        """Offer what can be asked of a dataset; what is chosen stays where it can."""
        before, there = self.until, self._method.findData(_SURE) >= 0
        with QSignalBlocker(self._method):
            if names_candidates and not there:
                self._method.insertItem(1, "Until all differences are significant", _SURE)
            elif there and not names_candidates:
                asked = self._method.currentData() == _SURE
                self._method.removeItem(self._method.findData(_SURE))
                if asked:
                    self._method.setCurrentIndex(0)
        self._follow_method()
        if self.until != before:
            self.changed.emit()

    @Slot()
    def _follow_method(self) -> None:
        self._width.setVisible(self._method.currentData() == _WIDTH)
