"""Where a person notes something of an item: words, and tags that can be filtered by.

Knows: a note, tags in use. Does not know: items, where notes are kept.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCompleter,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from engine.core.formatting import clipped, visible
from gui.kit.emptying import empty
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import tip
from gui.kit.labels import heading, hint, name

LONGEST_TAG = 255
_LONGEST_NOTE = 20_000


class NoteDialog(QDialog):
    """A text and its tags; Ctrl+Enter saves, Esc leaves."""

    saved = Signal(str, object)  # the text and the tags

    def __init__(
        self, text: str, tags: Sequence[str], known: Sequence[str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Note and tags of the item")
        self._tags = list(tags)
        self.field = QPlainTextEdit(text)
        self.field.setTabChangesFocus(True)
        self.field.installEventFilter(self)
        name(self.field, "Note")
        self.tag = QLineEdit()
        self.tag.setMaxLength(LONGEST_TAG)
        self.tag.setPlaceholderText("Another tag: Enter adds it")
        self.tag.installEventFilter(self)
        name(self.tag, "Another tag", "Enter adds it")
        self.show_known(known)
        self._pills = FlowLayout(gap=4)
        layout = QVBoxLayout(self)
        layout.setSpacing(8)
        layout.addWidget(heading("Note"))
        layout.addWidget(self.field, 1)
        layout.addWidget(heading("Tags"))
        layout.addLayout(self._pills)
        layout.addLayout(self._tag_line())
        layout.addWidget(
            hint("Kept with the item's texts: found again in every run that judged it, and in exports.")
        )
        layout.addWidget(self._buttons())
        self.resize(self.fontMetrics().averageCharWidth() * 70, self.fontMetrics().height() * 22)
        self._show_tags()
        self.field.setFocus()

    @property
    def tags(self) -> Sequence[str]:
        """Those that are chosen, with the one that is being written."""
        written = _clean(self.tag.text())
        return [*self._tags, *([written] if written and written not in self._tags else [])]

    def show_known(self, known: Sequence[str]) -> None:
        """Offer the tags that are in use."""
        completer = QCompleter(list(known), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        self.tag.setCompleter(completer)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ctrl+Enter saves; Enter in the field of tags adds one, and does not end the dialog."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._save()
                return True
            if enter and watched is self.tag and self.tag.text():
                self.add_tag()
                return True
        return super().eventFilter(watched, event)

    @Slot()
    def add_tag(self) -> None:
        """Take the tag that is written."""
        self._tags = list(self.tags)
        self.tag.clear()
        self._show_tags()

    def _tag_line(self) -> QHBoxLayout:
        add = QPushButton("Add")
        add.setAutoDefault(False)
        name(add, "Add the tag")
        add.clicked.connect(self.add_tag)
        line = QHBoxLayout()
        line.addWidget(self.tag, 1)
        line.addWidget(add)
        return line

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        save = buttons.addButton("Save (Ctrl+Enter)", QDialogButtonBox.ButtonRole.AcceptRole)
        name(save, "Save note and tags")
        buttons.accepted.connect(self._save)
        buttons.rejected.connect(self.reject)
        return buttons

    def _show_tags(self) -> None:
        empty(self._pills)
        for tag in self._tags:
            pill = QToolButton()
            pill.setText(f"{visible(clipped(tag)).replace('&', '&&')}  ×")
            pill.setProperty("role", "button")
            pill.setProperty("compact", True)
            pill.setProperty("tag", tag)
            name(pill, f"Take the tag {visible(tag)} off")
            pill.setToolTip(tip(f"{tag}\nA click takes it off."))
            pill.clicked.connect(self._take_off)
            self._pills.addWidget(pill)
        self.tag.setFocus()

    @Slot()
    def _take_off(self) -> None:
        pill = self.sender()
        if isinstance(pill, QToolButton):
            self._tags.remove(str(pill.property("tag")))
            self._show_tags()

    @Slot()
    def _save(self) -> None:
        self.saved.emit(self.field.toPlainText()[:_LONGEST_NOTE].strip(), list(self.tags))
        self.accept()


def _clean(tag: str) -> str:
    return "".join(letter for letter in tag if letter.isprintable()).strip()
