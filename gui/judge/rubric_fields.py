"""Fields to write a text into, each with a line below: what it is for, or what is wrong with it.

Knows: how a text is written and a problem is shown. Does not know: rubrics.
"""

from collections.abc import Sequence

from PySide6.QtCore import QMimeData, QSize, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from gui.widgets.fields import DoubleSpinBox
from gui.widgets.foreign_text import OneLine
from gui.widgets.labels import label, name, set_role

_ROOM = 12  # pixels of a field beside its lines


class TextField(QPlainTextEdit):
    """Some lines of plain text; Tab leaves it. `written`: by the user, at every letter."""

    written = Signal(str)

    def __init__(self, accessible: str, what: str = "", lines: int = 2) -> None:
        super().__init__()
        self._lines, self._filling = lines, False
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        name(self, accessible, what)
        self.textChanged.connect(self._tell)

    @property
    def text(self) -> str:
        """What is written."""
        return self.toPlainText()

    def fill(self, text: str) -> None:
        """Show a text, which nobody is told of; the cursor stays where it is the same."""
        if text != self.text:
            self._filling = True
            self.setPlainText(text)
            self._filling = False

    def sizeHint(self) -> QSize:
        """As high as its lines."""
        return QSize(super().sizeHint().width(), self.fontMetrics().lineSpacing() * self._lines + _ROOM)

    def minimumSizeHint(self) -> QSize:
        """The same, and narrow."""
        return QSize(self.fontMetrics().averageCharWidth() * 12, self.sizeHint().height())

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Take the text of what is pasted, with plain spaces for those that a rubric refuses."""
        self.insertPlainText(source.text().replace("\u00a0", " ").replace("\t", " "))

    @Slot()
    def _tell(self) -> None:
        if not self._filling:
            self.written.emit(self.text)


class LineField(QLineEdit):
    """One line of text. `written`: by the user, at every letter."""

    written = Signal(str)

    def __init__(self, accessible: str, what: str = "", longest: int = 4000) -> None:
        super().__init__()
        self.setMaxLength(longest)
        name(self, accessible, what)
        self.textEdited.connect(self.written)

    def fill(self, text: str) -> None:
        """Show a text, which nobody is told of."""
        if text != self.text():
            self.setText(text)
            self.setCursorPosition(0)


class NumberField(DoubleSpinBox):
    """A number that is not negative. `written`: by the user."""

    written = Signal(float)

    def __init__(self, accessible: str, what: str, highest: float, step: float) -> None:
        super().__init__()
        self._filling = False
        self.setDecimals(3)
        self.setRange(0, highest)
        self.setSingleStep(step)
        name(self, accessible, what)
        self.valueChanged.connect(self._tell)

    def fill(self, value: float) -> None:
        """Show a number, which nobody is told of."""
        self._filling = True
        self.setMaximum(max(self.maximum(), value))
        self.setValue(value)
        self._filling = False

    def textFromValue(self, value: float) -> str:
        """Without zeros at the end."""
        text = super().textFromValue(value)
        point = self.locale().decimalPoint()
        return text.rstrip("0").removesuffix(point) if point in text else text

    @Slot(float)
    def _tell(self, value: float) -> None:
        if not self._filling:
            self.written.emit(value)


class FieldGrid(QGridLayout):
    """Fields below each other, each with its caption at the left, and a line below."""

    def __init__(self, captions: int) -> None:
        """`captions`: characters of the longest."""
        super().__init__()
        self.setContentsMargins(0, 0, 0, 0)
        self.setVerticalSpacing(2)
        self.setColumnStretch(1, 1)
        self._captions = captions
        self._lines: dict[str, tuple[QWidget, _LineBelow]] = {}

    def add(self, key: str, caption: str, field: QWidget, beside: Sequence[QWidget] = ()) -> None:
        """One field more; `beside`: what stands at its right."""
        row = self.rowCount()
        title = label(caption)
        title.setBuddy(field)
        title.setMaximumWidth(title.fontMetrics().averageCharWidth() * self._captions)
        title.setMinimumWidth(title.maximumWidth())
        below = _LineBelow(field.accessibleDescription())
        self.addWidget(title, row, 0)
        self.addWidget(field, row, 1, 1, 1 if beside else 2)
        for place, widget in enumerate(beside):
            self.addWidget(widget, row, 2 + place)
        self.addWidget(below, row + 1, 1, 1, 2)
        self._lines[key] = field, below

    def say(self, key: str, problem: str) -> None:
        """Say what is wrong with a field; nothing where it is empty."""
        field, below = self._lines[key]
        below.say(problem)
        field.setAccessibleDescription(problem or below.what)

    def said(self, key: str) -> str:
        """What is said to be wrong with a field."""
        return self._lines[key][1].said

    def field(self, key: str) -> QWidget:
        """A field."""
        return self._lines[key][0]


class _LineBelow(OneLine):
    """What a field is for, or what is wrong with it. It is always there, so no problem moves a field."""

    def __init__(self, what: str) -> None:
        super().__init__(what, end=True)
        self.what, self.said = what, ""

    def say(self, problem: str) -> None:
        """Show this as wrong; nothing is wrong where it is empty."""
        self.said = problem
        self.setText(problem or self.what)
        set_role(self, "warning" if problem else "hint")

    def sizeHint(self) -> QSize:
        """A line, also where nothing stands on it."""
        return QSize(super().sizeHint().width(), self.fontMetrics().lineSpacing())

    def minimumSizeHint(self) -> QSize:
        """The same, and narrow."""
        return QSize(super().minimumSizeHint().width(), self.fontMetrics().lineSpacing())
