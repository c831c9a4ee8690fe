"""One item to read: its instruction, both responses, what humans said of them, what else the file says of it.

All texts are shown as they are, never as HTML. Of a very long one the beginning is shown; more of it
where the user wants that.

Knows: records of items. Does not know: where items come from.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QTextBlockFormat, QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QPushButton, QTextEdit, QWidget

from engine.core.formatting import clipped, counted, visible, words
from engine.core.items import Item
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import STRETCH, in_column, name
from gui.widgets.theme import colours

# Characters of one text: three of them are laid out in 20 ms, and in 200 ms once the user wants more.
CUT_AFTER, MOST_SHOWN = 10_000, 100_000
_FEWEST_LETTERS = 22  # across
_MOST_MARKS = 500
_LONGEST_OTHER = 300
_NO_OTHERS: Mapping[str, str] = MappingProxyType({})


class ItemPreview(QWidget):
    """A text that can be scrolled, selected and copied."""

    prompt_wanted = Signal()  # for the item that is shown

    def __init__(self) -> None:
        super().__init__()
        self._item: Item | None = None
        self._words: Sequence[str] = ()
        self._others = _NO_OTHERS
        self._longer = False
        self.view = QTextEdit(readOnly=True, tabChangesFocus=True, undoRedoEnabled=False)
        self.view.setAcceptDrops(False)
        self.view.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        name(self.view, "The chosen item")
        self.view.document().setDocumentMargin(10)
        self.more = QPushButton("Show more")
        name(self.more, "Show more of the long texts")
        self.more.clicked.connect(self.show_longer)
        self.prompt = QPushButton("Prompt… (P)")
        name(self.prompt, "Prompt of the model", "The exact prompt of the chosen model (P)")
        self.prompt.clicked.connect(self.prompt_wanted)
        in_column((self.view, STRETCH), self.more, (self.prompt, Qt.AlignmentFlag.AlignLeft), on=self)
        self._render()

    def minimumSizeHint(self) -> QSize:
        """Room for lines that can be read."""
        size = super().minimumSizeHint()
        return size.expandedTo(QSize(self.fontMetrics().averageCharWidth() * _FEWEST_LETTERS, 0))

    def show_item(
        self, item: Item | None, searched: Sequence[str] = (), others: Mapping[str, str] = _NO_OTHERS
    ) -> None:
        """Show an item, with the words that were searched for marked; `others`: its further columns."""
        if item is self._item and tuple(searched) == tuple(self._words):
            return
        self._item, self._words, self._longer = item, tuple(searched), False
        self._others = others
        self._render()
        self.view.moveCursor(QTextCursor.MoveOperation.Start)  # else a change of size would go to its end
        self.view.verticalScrollBar().setValue(0)

    @property
    def item(self) -> Item | None:
        """The item that is shown."""
        return self._item

    @property
    def text(self) -> str:
        """All that it shows."""
        return self.view.toPlainText()

    def restyle(self) -> None:
        """Follow the colours."""
        self._render()

    @Slot()
    def show_longer(self) -> None:
        """Show more of long texts."""
        self._longer = True
        self._render()
        self.view.setFocus()

    def _render(self) -> None:
        self.more.setVisible(self._is_cut())
        self.prompt.setEnabled(self._item is not None)
        document = self.view.document()
        document.clear()
        item = self._item
        if item is None:
            self._write_own(QTextCursor(document), "No item is chosen.")
            return
        cursor = QTextCursor(document)
        cursor.beginEditBlock()
        self._heading(cursor, f"Item {item.id}", first=True)
        for title, text in (
            ("Instruction", item.instruction),
            ("Response A", item.output_a),
            ("Response B", item.output_b),
        ):
            self._heading(cursor, title, _characters(len(text)))
            self._body(cursor, text)
        self._human_labels(cursor, item)
        self._other_columns(cursor)
        cursor.endEditBlock()
        self._mark_words()

    def _is_cut(self) -> bool:
        item = self._item
        if item is None or self._longer:
            return False
        return any(len(text) > CUT_AFTER for text in (item.instruction, item.output_a, item.output_b))

    def _human_labels(self, cursor: QTextCursor, item: Item) -> None:
        self._heading(cursor, "Human labels")
        if not item.gold:
            self._new_block(cursor)
            self._write_own(cursor, "None in this file.")
        for criterion, gold in item.gold.items():
            self._new_block(cursor, above=6)
            square = self._style(colours(self.palette()).of_label(gold.label))
            cursor.insertText("■ ", square)
            label_text = LABEL_WORDS[gold.label] if gold.label else "no label"
            cursor.insertText(f"{words(criterion).capitalize()}: ", self._style())
            cursor.insertText(label_text, self._style(bold=True))
            if gold.annotators:
                said = [f"{clipped(who)} {LABEL_WORDS[given]}" for who, given in gold.annotators.items()]
                cursor.insertText(visible(f" ({', '.join(said)})"), self._style())
            if gold.explanation:
                self._body(cursor, gold.explanation, indent=1)

    def _other_columns(self, cursor: QTextCursor) -> None:
        filled = {column: text for column, text in self._others.items() if text}
        if filled:
            self._heading(cursor, "Other columns")
        for column, text in filled.items():
            self._new_block(cursor, above=3)
            cursor.insertText(f"{visible(clipped(column))}: ", self._style(colours(self.palette()).muted))
            rest = _characters(len(text) - _LONGEST_OTHER)
            shown = text if len(text) <= _LONGEST_OTHER else f"{text[:_LONGEST_OTHER]} … and {rest} more."
            cursor.insertText(visible(shown), self._style())

    def _heading(self, cursor: QTextCursor, title: str, beside: str = "", first: bool = False) -> None:
        if not first:
            self._new_block(cursor, above=14)
        cursor.insertText(visible(title), self._style(bold=True))
        if beside:
            cursor.insertText(f"   {beside}", self._style(colours(self.palette()).muted))

    def _body(self, cursor: QTextCursor, text: str, indent: int = 0) -> None:
        self._new_block(cursor, above=3, indent=indent)
        if not text:
            self._write_own(cursor, "Empty.")
            return
        shown = text[: MOST_SHOWN if self._longer else CUT_AFTER]
        cursor.insertText(visible(shown), self._style())
        if len(shown) < len(text):
            self._new_block(cursor)
            self._write_own(cursor, f"… and {_characters(len(text) - len(shown))} more.")

    def _write_own(self, cursor: QTextCursor, text: str) -> None:
        """Write words that are no text of the item: quieter, and slanted."""
        style = self._style(colours(self.palette()).muted)
        style.setFontItalic(True)
        cursor.insertText(text, style)

    @staticmethod
    def _new_block(cursor: QTextCursor, above: int = 0, indent: int = 0) -> None:
        layout = QTextBlockFormat()
        layout.setTopMargin(above)
        layout.setIndent(indent)
        cursor.insertBlock(layout, QTextCharFormat())

    def _style(self, colour: str = "", bold: bool = False) -> QTextCharFormat:
        style = QTextCharFormat()
        if colour:
            style.setForeground(QColor(colour))
        if bold:
            style.setFontWeight(QFont.Weight.DemiBold)
        return style

    def _mark_words(self) -> None:
        document = self.view.document()
        marks: list[QTextEdit.ExtraSelection] = []
        style = QTextCharFormat()
        style.setBackground(QColor(colours(self.palette()).shared_ground))
        style.setFontUnderline(True)
        for word in self._words:
            found = document.find(word, 0, QTextDocument.FindFlag(0))
            while not found.isNull() and len(marks) < _MOST_MARKS:
                mark = QTextEdit.ExtraSelection()
                mark.cursor, mark.format = found, style
                marks.append(mark)
                found = document.find(word, found)
        self.view.setExtraSelections(marks)


def _characters(count: int) -> str:
    return counted(count, "character", "characters")
