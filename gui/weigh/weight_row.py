"""A slider and a number field that are one control.

Knows: keeping both in step. Does not know: what the number means.
"""

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal

from gui.kit.fields import DoubleSpinBox, Slider
from gui.kit.labels import name
from gui.weigh.run_weights import DIGITS

_STEPS = 10  # of the slider in one point


class WeightControl(QObject):
    """A number from 0 to `highest`: the slider goes in steps of 0.1, the field takes finer ones too.

    Its two parts are laid out by whoever shows them: `slider` and `field`.
    """

    changed = Signal()

    def __init__(self, what: str, highest: float, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.slider = Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, round(highest * _STEPS))
        self.slider.setPageStep(_STEPS)
        name(self.slider, what)
        self.field = DoubleSpinBox()
        self.field.setRange(0.0, highest)
        self.field.setDecimals(DIGITS)
        self.field.setSingleStep(1 / _STEPS)
        name(self.field, f"{what}, as a number")
        self.slider.valueChanged.connect(self._take_slider)
        self.field.valueChanged.connect(self._take_field)

    @property
    def value(self) -> float:
        """The number."""
        return self.field.value()

    def set_value(self, value: float) -> None:
        """Show a number, without a signal."""
        with QSignalBlocker(self.slider), QSignalBlocker(self.field):
            self.field.setValue(value)
            self.slider.setValue(round(self.field.value() * _STEPS))

    def _take_slider(self, steps: int) -> None:
        self.set_value(steps / _STEPS)
        self.changed.emit()

    def _take_field(self, value: float) -> None:
        self.set_value(value)
        self.changed.emit()
