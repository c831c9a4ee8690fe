"""One foreign text to read: plain or as Markdown, with passages marked; nothing in it is loaded or followed.

A very long text is cut until the reader wants it whole.

Knows: showing a text. Does not know: whose text it is, what the marks mean.
"""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QResizeEvent, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPushButton, QTextBrowser, QTextEdit, QWidget

from engine.core.formatting import visible
from engine.core.items import Preference
from gui.kit.foreign_text import OneLine, markdown_document
from gui.kit.label_mark import LabelSquare
from gui.kit.labels import heading, longest_line, name
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.pill import Pill

CUT_AFTER = 20_000  # characters: more takes long to lay out


class TextBrowser(QTextBrowser):
    """A browser that goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setOpenExternalLinks(False)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep lines to a length that the eye can follow."""
        super().resizeEvent(event)
        room = max(0, self.width() - longest_line(self))
        if room != self.viewportMargins().right():
            self.setViewportMargins(0, 0, room, 0)

    def loadResource(self, _kind: int, _name: QUrl | str) -> Any:
        """Nothing."""
        return None


class TextPane(QWidget):
    """A heading and a text that can be scrolled, selected and copied.

    Without a `title` there is no heading. `line_height`: in percent of the font's.
    """

    changed = Signal()  # another text is shown, or the same in another way

    def __init__(
        self,
        title: str,
        mark: Preference | None = None,
        parent: QWidget | None = None,
        line_height: int = 100,
    ) -> None:
        super().__init__(parent)
        self._line_height, self._titled = line_height, bool(title)
        self._text = ""
        self._markdown = False
        self._whole = False
        self._document: QTextDocument | None = None
        self._note = OneLine(end=True)
        self.pill = Pill()
        self.pill.hide()
        self.view = TextBrowser()
        name(self.view, title)
        self._more = QPushButton("Show the whole text")
        name(self._more, f"{title}: show the whole text")
        self._more.clicked.connect(self._show_whole)
        head = in_row(spacing=8)
        if mark is not None:
            head.addWidget(LabelSquare(mark))
        for widget in (heading(title), self._note, self.pill):
            head.addWidget(widget)
            if not title:
                widget.hide()
        head.addStretch(1)
        self._head = head
        in_column(head, (self.view, STRETCH), self._more, on=self, spacing=4)
        self._render()

    def put_beside(self, widget: QWidget) -> None:
        """Let something else stand in the line of the heading, at its right."""
        self._head.setStretch(self._head.count() - 1, 0)
        self._head.addWidget(widget, 1)

    @property
    def text(self) -> str:
        """The text as it is shown."""
        return self.view.toPlainText()

    def show_text(self, text: str, note: str = "") -> None:
        """Show another text from its beginning; `note` stands beside the heading."""
        self._text, self._whole = text, False
        self.say(note)
        self._render()
        self.view.verticalScrollBar().setValue(0)

    def say(self, note: str) -> None:
        """Say something beside the heading."""
        self._note.setText(note)

    @property
    def note(self) -> str:
        """What stands beside the heading."""
        return self._note.text()

    def set_markdown(self, on: bool) -> None:
        """Show the text as Markdown, or as it is."""
        if on != self._markdown:
            self._markdown = on
            self._render()

    def mark(self, *marks: tuple[Sequence[tuple[int, int]], QTextCharFormat]) -> None:
        """Show stretches of the text, as it is shown, in styles; the last is above the others."""
        selections = []
        length = self.view.document().characterCount() - 1
        for spans, style in marks:
            for start, end in spans:
                selection = QTextEdit.ExtraSelection()
                cursor = QTextCursor(self.view.document())
                cursor.setPosition(min(start, length))
                cursor.setPosition(min(end, length), QTextCursor.MoveMode.KeepAnchor)
                selection.cursor, selection.format = cursor, style
                selections.append(selection)
        self.view.setExtraSelections(selections)

    def bring_into_view(self, place: int) -> None:
        """Scroll to a place of the text as it is shown, if it is not to be seen."""
        cursor = QTextCursor(self.view.document())
        cursor.setPosition(min(place, self.view.document().characterCount() - 1))
        where, height = self.view.cursorRect(cursor), self.view.viewport().height()
        if where.top() < 0 or where.bottom() > height:
            bar = self.view.verticalScrollBar()
            bar.setValue(bar.value() + where.top() - height // 3)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the size of the text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_more"):
            self._render()

    @Slot()
    def _show_whole(self) -> None:
        self._whole = True
        self._render()
        self.view.setFocus()

    def _render(self) -> None:
        shown = self._text if self._whole else self._text[:CUT_AFTER]
        self._more.setVisible(len(shown) < len(self._text))
        if self._markdown:
            document = markdown_document(shown)
        else:
            document = QTextDocument(undoRedoEnabled=False)
            document.setPlainText(visible(shown))
        document.setDefaultFont(self.font())
        document.setDocumentMargin(8 if self._titled else 2)
        if self._line_height != 100:
            spread = QTextBlockFormat()
            spread.setLineHeight(self._line_height, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            whole = QTextCursor(document)
            whole.select(QTextCursor.SelectionType.Document)
            whole.mergeBlockFormat(spread)
        self.view.setExtraSelections([])
        self.view.setDocument(document)
        self._document = document  # the view does not keep it
        self.changed.emit()
