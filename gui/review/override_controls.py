"""How an annotator overrides a judgment: buttons for a label and the way back, a field for an explanation.

Knows: which requests there are, a text. Does not know: what becomes of them.
"""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QPlainTextEdit, QPushButton, QSizePolicy, QToolButton, QWidget

from engine.core.items import PREFERENCES, HumanLabel, Preference
from gui.kit.actions import press_once
from gui.kit.flow import FlowLayout
from gui.kit.label_mark import LABEL_WORDS, LETTERS, label_icon
from gui.kit.labels import guard, name
from gui.kit.layouts import STRETCH, in_column


class OverrideButtons(QWidget):
    """A button for each label, which is down where it is effective; to write, and to take back."""

    label_wanted = Signal(object)  # a Preference
    edit_wanted = Signal()
    undo_wanted = Signal()
    redo_wanted = Signal()

    def __init__(self, labels: Mapping[Preference, QAbstractButton], edit: QPushButton, gap: int) -> None:
        super().__init__()
        self.labels, self.edit = labels, edit
        self.undo, self.redo = QPushButton("Undo (U)"), QPushButton("Redo (Shift+U)")
        flow = FlowLayout(self, gap=gap, whole=True)
        for button in (*labels.values(), edit, self.undo, self.redo):
            flow.addWidget(button)
        self._words, self._edit = {button: button.text() for button in labels.values()}, edit.text()
        for label, button in labels.items():
            button.setProperty("preference", label.value)
            button.setCheckable(True)
            press_once(button)
            button.clicked.connect(self._want_label)
        edit.clicked.connect(self.edit_wanted)
        self.undo.clicked.connect(self.undo_wanted)
        self.redo.clicked.connect(self.redo_wanted)
        guard(self)
        self.show_state(None, "", "", False)
        self.restyle()

    def show_state(self, label: HumanLabel | None, undo: str, redo: str, writing: bool) -> None:
        """Show the effective label; what would be taken back, and what done again, in words."""
        for each, button in self.labels.items():
            button.setChecked(each is label)
        self.undo.setEnabled(bool(undo))
        name(self.undo, f"Undo {undo or 'your last action on this item'}, key U")
        self.redo.setVisible(bool(redo))
        name(self.redo, f"Redo {redo or 'nothing'}, key Shift+U")
        self.edit.setEnabled(not writing)

    def set_narrow(self, narrow: bool) -> None:
        """Show the marks of the labels alone where there is little room; names and tips say the rest."""
        for button, text in self._words.items():
            button.setText("" if narrow else text)
        self.edit.setText("Edit (E)" if narrow else self._edit)

    def restyle(self) -> None:
        """Follow colours and text size."""
        side = self.fontMetrics().height()
        for label, button in self.labels.items():
            button.setIconSize(QSize(side, side))
            button.setIcon(label_icon(label, self.palette()))

    @Slot()
    def _want_label(self) -> None:
        button = self.sender()
        if isinstance(button, QAbstractButton):
            # What is effective is shown once it is stored, not when it is requested.
            button.setChecked(not button.isChecked())
            self.label_wanted.emit(Preference(button.property("preference")))


def wide_buttons() -> OverrideButtons:
    """Those with words, for the card of a judgment."""
    labels = {label: QPushButton() for label in PREFERENCES}
    for label, button in labels.items():
        one = label in (Preference.A, Preference.B)
        button.setText(f" Response {LETTERS[label]}" if one else f" {LABEL_WORDS[label].capitalize()}")
        said = f"Override the label with {LABEL_WORDS[label]}"
        name(button, f"{said}, key {LETTERS[label]}", f"{said} ({LETTERS[label]})")
    edit = QPushButton("Edit explanation… (E)")
    name(edit, "Write another explanation, key E")
    return OverrideButtons(labels, edit, gap=6)


def narrow_buttons() -> OverrideButtons:
    """Those with marks alone, for a column."""
    labels = {label: QToolButton() for label in PREFERENCES}
    for label, button in labels.items():
        button.setProperty("role", "button")
        button.setProperty("compact", True)
        words = f"Your label: {LABEL_WORDS[label]}"
        name(button, words, f"{words} ({LETTERS[label]})")
    edit = QPushButton("Edit (E)")
    name(edit, "Write your explanation, key E")
    return OverrideButtons(labels, edit, gap=4)


class _Field(QPlainTextEdit):
    saved = Signal()
    left = Signal()

    def sizeHint(self) -> QSize:
        """A few lines."""
        return QSize(200, 5 * self.fontMetrics().lineSpacing() + 14)

    def minimumSizeHint(self) -> QSize:
        """Fewer lines."""
        return QSize(100, 3 * self.fontMetrics().lineSpacing() + 14)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Catch the two keys that end the writing."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.saved.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep Esc and all letters from the shortcuts of the window."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & Qt.KeyboardModifier.ControlModifier
            if event.key() == Qt.Key.Key_Escape or (plain and event.text().isprintable() and event.text()):
                event.accept()
                return True
        return super().event(event)


class ExplanationEditor(QWidget):
    """A field with Save and Cancel."""

    saved = Signal(str)
    left = Signal(str)  # without saving; the text is a draft

    def __init__(self) -> None:
        super().__init__()
        self._begun_with = ""
        guard(self)
        self.field = _Field()
        self.field.setTabChangesFocus(True)
        self.field.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        name(self.field, "Your explanation")
        self.field.setPlaceholderText("Why this label? One or two sentences.")
        self.field.saved.connect(self._save)
        self.field.left.connect(self._leave)
        save = QPushButton("Save (Ctrl+Enter)")
        name(save, "Save the explanation")
        save.clicked.connect(self._save)
        leave = QPushButton("Leave (Esc)")
        name(leave, "Leave without saving; the text is kept as a draft")
        leave.clicked.connect(self._leave)
        buttons = FlowLayout()
        buttons.addWidget(save)
        buttons.addWidget(leave)
        in_column((self.field, STRETCH), buttons, on=self, spacing=4)

    def begin(self, text: str, draft: str | None = None) -> None:
        """Write on from `text`, or from a draft of it."""
        self._begun_with = text
        self.field.setPlainText(text if draft is None else draft)
        self.field.selectAll()
        self.field.setFocus()

    def go_on(self) -> None:
        """Back to the field, as it is."""
        self.field.setFocus()

    @property
    def has_focus(self) -> bool:
        """True where the field or a button of it is where keys go."""
        focused = self.window().focusWidget()
        return focused is not None and self.isAncestorOf(focused)

    @property
    def text(self) -> str:
        """What is written."""
        return self.field.toPlainText()

    @property
    def changed(self) -> bool:
        """True where it is not what it was."""
        return self.text.strip() != self._begun_with.strip()

    @Slot()
    def _save(self) -> None:
        self.saved.emit(self.text)

    @Slot()
    def _leave(self) -> None:
        self.left.emit(self.text)
