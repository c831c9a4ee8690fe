"""Where a person writes an explanation: Ctrl+Enter saves it, Esc leaves it as a draft.

Knows: a text. Does not know: what becomes of it.
"""

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gui.kit.flow import FlowLayout
from gui.kit.labels import name


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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._begun_with = ""
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.field, 1)
        layout.addLayout(buttons)

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
