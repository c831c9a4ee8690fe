"""A button for each criterion of an item, with its label and marks; one is open. How a label is overridden:
buttons for a label and the way back, a field for an explanation.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QResizeEvent

from engine.core.formatting import words
from engine.core.items import PREFERENCES, HumanLabel, Preference
from gui.review.review_table import in_words, row_marks
from gui.widgets.actions import press_once
from gui.widgets.fields import FlowLayout
from gui.widgets.foreign_text import set_tip
from gui.widgets.label_mark import LABEL_WORDS, LETTERS, label_icon
from gui.widgets.labels import STRETCH, in_column, name, take_out
from gui.widgets.labels import button as made

if TYPE_CHECKING:
    from engine.analysis.review_order import ReviewRow

_GAP = 4  # pixels between two buttons
_MOST_ROWS = 3
_FEWEST_LETTERS = 2  # of a name; with fewer the number says more
_CTRL = Qt.KeyboardModifier.ControlModifier


def compact_button(text: str = "") -> QtWidgets.QToolButton:
    made = QtWidgets.QToolButton()
    made.setText(text)
    made.setProperty("role", "button")
    made.setProperty("compact", True)
    return made


class CriterionStrip(QtWidgets.QWidget):
    """The buttons stand in one row, in more where their names need them, whatever the marks of an item are:
    where there is too little room for these, the ends of the longest names are left out.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._layout = FlowLayout(on=self, gap=_GAP, whole=True)
        self._group = QtWidgets.QButtonGroup(self, exclusive=True)
        self._group.buttonClicked.connect(self._tell)
        self._criteria: tuple[str, ...] = ()
        self._rows: Sequence[ReviewRow] = ()
        self._begun: Collection[str] = ()
        self.setAccessibleName("Criteria of the item")

    @property
    def buttons(self) -> Sequence[QtWidgets.QAbstractButton]:
        return self._group.buttons()

    def show_rows(self, rows: "Sequence[ReviewRow]", criterion: str, begun: Collection[str] = ()) -> None:
        """Show an item's labels, with one criterion open; `begun`: those of which there is a draft."""
        criteria = tuple(row.criterion for row in rows)
        if criteria != self._criteria:
            self._make(criteria)
        self._rows, self._begun = rows, begun
        side = self.fontMetrics().height()
        for button, row, place in zip(self.buttons, rows, range(1, len(rows) + 1), strict=True):
            button.setIcon(QIcon() if row.hidden else label_icon(row.preference, self.palette()))
            button.setIconSize(QSize(side, side))
            button.setChecked(row.criterion == criterion)
            # Tab comes to the open one, the arrows to the others; a click leaves the search.
            tabbed = row.criterion == criterion
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if tabbed else Qt.FocusPolicy.ClickFocus)
            said = in_words(row, row.criterion in begun)
            name(button, f"Criterion {place}, {said}")
            set_tip(button, said)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        # As many rows as without marks, else the card would jump from item to item: long names give way.
        metrics = self.fontMetrics()
        names = [words(row.criterion).capitalize() for row in self._rows]
        if not names:
            return
        widths = [metrics.horizontalAdvance(title) for title in names]
        marks = [row_marks(row, row.criterion in self._begun) for row in self._rows]
        bare, marked = self._widths_without_names([""] * len(names)), self._widths_without_names(marks)
        rows = min(_MOST_ROWS, _rows_taken(map(int.__add__, bare, widths), self.width()))
        limit, fewest = max(widths), metrics.averageCharWidth() * _FEWEST_LETTERS
        while limit > fewest:
            shortened = (other + min(width, limit) for other, width in zip(marked, widths, strict=True))
            if _rows_taken(shortened, self.width()) <= rows:
                break
            limit -= 1
        for button, place, title, width in zip(self.buttons, range(len(names)), names, widths, strict=True):
            elided = metrics.elidedText(title, Qt.TextElideMode.ElideRight, limit) if limit > fewest else ""
            button.setText(_text(place, elided if width > limit else title, marks[place]))
        self._layout.invalidate()  # an icon more needs room, also where the texts stay as they were
        self._layout.activate()

    def _widths_without_names(self, marks: Sequence[str]) -> list[int]:
        found = []
        for place, button in enumerate(self.buttons):
            button.setText(_text(place, " ", marks[place]))  # one more that stands beside a name
            found.append(button.sizeHint().width())
        return found

    def restyle(self) -> None:
        if self._rows:
            chosen = self._group.checkedButton()
            self.show_rows(self._rows, chosen.property("criterion") if chosen else "", self._begun)

    def _make(self, criteria: tuple[str, ...]) -> None:
        self._rows = ()  # showing a button lays the strip out, which would look for the rows of before
        gone = self.buttons
        for button in gone:
            self._group.removeButton(button)
        take_out(self._layout, gone)
        for criterion in criteria:
            button = compact_button()
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setCheckable(True)
            button.setAutoExclusive(True)  # the group does that; Qt asks here whether one of several is told
            button.setProperty("criterion", criterion)
            self._group.addButton(button)
            self._layout.addWidget(button)
            button.show()  # now: else the strip has no height until later, and the card takes too little
        self._criteria = criteria

    def _tell(self, button: QtWidgets.QAbstractButton) -> None:
        self.chosen.emit(button.property("criterion"))


def _text(place: int, title: str, marks: str) -> str:
    return f" {' '.join(part for part in (str(place + 1), title, marks) if part)}"


def _rows_taken(widths: Iterable[int], room: int) -> int:
    rows, left = 1, 0
    for width in widths:
        if left and left + width > room:
            rows, left = rows + 1, 0
        rows += width > room  # too wide even alone
        left += width + _GAP
    return rows


class OverrideButtons(QtWidgets.QWidget):
    label_wanted = Signal(object)  # a Preference
    edit_wanted = Signal()
    undo_wanted = Signal()

    def __init__(self, wide: bool) -> None:
        super().__init__()
        own = "another" if wide else "your"
        self.labels: dict[Preference, QtWidgets.QAbstractButton] = {}
        for label in PREFERENCES:
            self.labels[label] = button = QtWidgets.QPushButton() if wide else compact_button()
            what, letter = f"Your label: {LABEL_WORDS[label]}", LETTERS[label]
            name(button, f"{what}, key {letter}", f"{what} ({letter})")
            button.setCheckable(True)
            press_once(button)
            button.clicked.connect(partial(self._want_label, label))
        self.edit = made("", self.edit_wanted.emit, f"Write {own} explanation, key E")
        self.undo = made("Undo (U)", self.undo_wanted.emit)
        buttons = (*self.labels.values(), self.edit, self.undo)
        FlowLayout(*buttons, on=self, gap=6 if wide else 4, whole=True)
        self.set_narrow(not wide)
        self.show_state(None, "", False)
        self.restyle()

    def show_state(self, label: HumanLabel | None, undo: str, closed: bool) -> None:
        for each, button in self.labels.items():
            button.setChecked(each is label)
        self.undo.setEnabled(bool(undo))
        name(self.undo, f"Undo {undo or 'your last action on this item'}, key U")
        self.edit.setEnabled(not closed)

    def set_narrow(self, narrow: bool) -> None:
        for label, button in self.labels.items():
            one = label in (Preference.A, Preference.B)
            text = f" Response {LETTERS[label]}" if one else f" {LABEL_WORDS[label].capitalize()}"
            button.setText("" if narrow else text)
        self.edit.setText("Edit (E)" if narrow else "Edit explanation… (E)")

    def restyle(self) -> None:
        side = self.fontMetrics().height()
        for label, button in self.labels.items():
            button.setIconSize(QSize(side, side))
            button.setIcon(label_icon(label, self.palette()))

    def _want_label(self, label: Preference, *_checked: bool) -> None:
        # What is effective is shown once it is stored, not when it is requested.
        self.labels[label].setChecked(not self.labels[label].isChecked())
        self.label_wanted.emit(label)


class _Field(QtWidgets.QPlainTextEdit):
    saved = Signal()
    left = Signal()

    def sizeHint(self) -> QSize:
        return QSize(200, 5 * self.fontMetrics().lineSpacing() + 14)

    def minimumSizeHint(self) -> QSize:
        return QSize(100, 3 * self.fontMetrics().lineSpacing() + 14)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & _CTRL:
            self.saved.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        # Esc and all letters would be shortcuts of the window.
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            letter = not event.modifiers() & _CTRL and event.text() and event.text().isprintable()
            if event.key() == Qt.Key.Key_Escape or letter:
                event.accept()
                return True
        return super().event(event)


class ExplanationEditor(QtWidgets.QWidget):
    saved = Signal()
    left = Signal()  # without saving; the text is a draft

    def __init__(self) -> None:
        super().__init__()
        self._begun_with = ""
        self.field = _Field(tabChangesFocus=True, placeholderText="Why this label? One or two sentences.")
        policy = QtWidgets.QSizePolicy.Policy
        self.field.setSizePolicy(policy.Expanding, policy.Preferred)
        name(self.field, "Your explanation")
        self.field.saved.connect(self.saved)
        self.field.left.connect(self.left)
        save = made("Save (Ctrl+Enter)", self.saved.emit, "Save the explanation")
        kept = "Leave without saving; the text is kept as a draft"
        leave = made("Leave (Esc)", self.left.emit, kept)
        in_column((self.field, STRETCH), FlowLayout(save, leave), on=self, spacing=4)

    def begin(self, text: str, draft: str | None = None) -> None:
        self._begun_with = text
        self.field.setPlainText(text if draft is None else draft)
        self.field.selectAll()
        self.field.setFocus()

    @property
    def has_focus(self) -> bool:
        focused = self.window().focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    @property
    def text(self) -> str:
        return self.field.toPlainText()

    @property
    def changed(self) -> bool:
        return self.text.strip() != self._begun_with.strip()
