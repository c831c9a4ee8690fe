"""What is seen of a dataset beside the list of its items: its numbers, and one item to read.

All texts are shown as they are, never as HTML. Of a very long one the beginning is shown, more on demand.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6 import QtGui
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QTextEdit, QWidget

from engine.core.formatting import clipped, counted, visible, words
from engine.core.items import BACKGROUND, PREFERENCES, HumanLabel, Item, labels_beside
from engine.core.rubric import DEFAULT_WORDING
from gui.dataset.dataset_jobs import Counted
from gui.widgets import labels
from gui.widgets.fields import Fold
from gui.widgets.foreign_text import READABLE, plain_label
from gui.widgets.label_mark import LABEL_WORDS, LabelSquare, ShareBar
from gui.widgets.labels import STRETCH
from gui.widgets.theme import colours

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.dataset_views import Summary


_OPENLY = 2  # this many notices are shown without a fold
_NO_LABELS = "No human labels: judgments of this dataset cannot be scored."


class LabelLegend(QWidget):
    """What the colours and letters of the labels mean, on one line."""

    def __init__(self) -> None:
        super().__init__()
        self._row = labels.in_row(on=self, spacing=6)
        self.show_labels(PREFERENCES)

    def show_labels(self, shown: Sequence[HumanLabel]) -> None:
        labels.empty(self._row)
        for each in shown:
            self._row.addWidget(LabelSquare(each))
            self._row.addWidget(labels.hint(LABEL_WORDS[each], wrap=False))
        self.setAccessibleName("Colours of the labels: " + ", ".join(LABEL_WORDS[each] for each in shown))


class _Cells(QWidget):
    """Widgets of one size side by side, in as many lines as the width asks for."""

    def __init__(self) -> None:
        super().__init__()
        self._cells: list[QWidget] = []
        self._across = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_cells(self, cells: Sequence[QWidget]) -> None:
        labels.take_out(self._grid, self._cells)
        self._cells, self._across = list(cells), 0
        self._arrange()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        if not self._cells:
            return
        widest = max(cell.minimumSizeHint().width() for cell in self._cells) + self._grid.horizontalSpacing()
        across = min(max(1, self.width() // max(1, widest)), len(self._cells))
        if across == self._across:
            return
        for place in range(len(self._cells)):
            self._grid.setColumnStretch(place, 1 if place < across else 0)
        for place, cell in enumerate(self._cells):
            self._grid.addWidget(cell, place // across, place % across)
        self._across = across
        self.updateGeometry()


class SummaryPanel(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._has_labels = False  # the whole dataset
        self._items, self._labelled = labels.BigLabel(1.3), labels.hint("", wrap=False)
        self._cells = _Cells()
        self._legend = LabelLegend()
        self._lengths = labels.hint("")
        self._agreement = labels.hint("")
        self._no_labels = labels.hint(_NO_LABELS)
        self._notices = QWidget()
        self._notice_lines = labels.in_column(on=self._notices)
        figures = labels.in_column(self._items, self._labelled, STRETCH, spacing=2)
        last = labels.in_row(self._legend, (self._lengths, STRETCH), spacing=20)
        right = labels.in_column(self._cells, self._agreement, self._no_labels, last, spacing=6)
        top = labels.as_row(figures, (right, STRETCH), spacing=24)
        labels.in_column(labels.panel(top, self._notices), on=self)

    def begin(self, dataset: "Dataset") -> None:
        self._items.setText(counted(len(dataset), "item", "items"))
        self._labelled.setText("Counting …")
        self._has_labels = bool(dataset.criteria)
        self._lengths.setText("")
        self._cells.show_cells([])
        for part in (self._cells, self._legend, self._agreement, self._no_labels):
            part.setVisible(False)
        self._show_notices(dataset.notices)

    def show_summary(self, found: Counted) -> None:
        self._show_counts(found, "")
        notices, equal = [*found.summary.notices], found.summary.equal_responses
        if equal:
            have = f"{counted(equal, 'item', 'items')} {'has' if equal == 1 else 'have'}"
            notices.append(f"{have} the same text as response A and response B.")
        self._show_notices(notices)

    def show_listed(self, found: Counted) -> None:
        """Show the numbers of the items that are listed; what was noticed stays that of the whole file."""
        self._show_counts(found, f" of {counted(found.summary.items, 'listed item', 'listed items')}")

    def _show_counts(self, found: Counted, of_what: str) -> None:
        summary = found.summary
        self._labelled.setText(f"{summary.any_label:,} labelled{of_what}")
        if self._has_labels:
            self._cells.show_cells([_criterion_cell(summary, criterion) for criterion in summary.labels])
        self._cells.setVisible(self._has_labels)
        self._legend.show_labels(
            labels_beside({label for counts in summary.labels.values() for label in counts})
        )
        self._legend.setVisible(self._has_labels)
        labels.show_text(self._agreement, "\n".join(found.agreement))
        self._no_labels.setVisible(not self._has_labels)
        lengths = ", ".join(
            f"{title} {summary.lengths[column]:,.0f}"
            for column, title in (("instruction", "instruction"), ("output_a", "A"), ("output_b", "B"))
        )
        self._lengths.setText(f"Median length in characters{of_what}: {lengths}")

    def _show_notices(self, notices: Sequence[str]) -> None:
        labels.empty(self._notice_lines)
        lines = [plain_label(text, "warning") for text in notices]
        if len(lines) > _OPENLY:
            inside = labels.as_column(*lines, margins=(20, 0, 0, 0))
            self._notice_lines.addWidget(Fold(f"{len(lines)} notices about this file", inside))
        for line in lines[:_OPENLY] if len(lines) <= _OPENLY else ():
            self._notice_lines.addWidget(line)
        self._notices.setVisible(bool(lines))


def _criterion_cell(summary: "Summary", criterion: str) -> QWidget:
    title = words(criterion).capitalize()
    labelled = summary.labelled[criterion]
    bar = ShareBar(title, without="no label")
    counts: dict[HumanLabel | None, int] = dict(summary.labels[criterion].items())
    bar.show_counts(counts | {None: summary.items - labelled})
    count = labels.hint(f"{labelled:,}" if labelled else "no labels", wrap=False)
    count.setToolTip(f"{labelled:,} labels, {summary.explained[criterion]:,} explanations")
    above = labels.in_row((labels.label(title, wrap=False), STRETCH), count)
    return labels.as_column(above, bar, spacing=3)


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
        self.item: Item | None = None  # that is shown
        self._words: Sequence[str] = ()
        self._others = _NO_OTHERS
        self._longer = False
        self.view = QTextEdit(readOnly=True, tabChangesFocus=True, undoRedoEnabled=False)
        self.view.setAcceptDrops(False)
        self.view.setTextInteractionFlags(READABLE)
        labels.name(self.view, "The chosen item")
        self.view.document().setDocumentMargin(10)
        self.more = labels.button("Show more", self.show_longer, "Show more of the long texts")
        named, exact = "Prompt of the model", "The exact prompt of the chosen model (P)"
        self.prompt = labels.button("Prompt… (P)", self.prompt_wanted.emit, named, exact)
        labels.in_column((self.view, STRETCH), self.more, (self.prompt, Qt.AlignmentFlag.AlignLeft), on=self)
        self.restyle()

    def minimumSizeHint(self) -> QSize:
        size = super().minimumSizeHint()
        return size.expandedTo(QSize(self.fontMetrics().averageCharWidth() * _FEWEST_LETTERS, 0))

    def show_item(
        self, item: Item | None, searched: Sequence[str] = (), others: Mapping[str, str] = _NO_OTHERS
    ) -> None:
        """Show an item, with the words that were searched for marked; `others`: its further columns."""
        if item is self.item and tuple(searched) == tuple(self._words):
            return
        self.item, self._words, self._longer = item, tuple(searched), False
        self._others = others
        self.restyle()
        self.view.moveCursor(
            QtGui.QTextCursor.MoveOperation.Start
        )  # else a change of size would go to its end
        self.view.verticalScrollBar().setValue(0)

    @property
    def text(self) -> str:
        return self.view.toPlainText()

    def show_longer(self) -> None:
        self._longer = True
        self.restyle()
        self.view.setFocus()

    def restyle(self) -> None:
        item = self.item
        texts = {} if item is None else _titled_texts(item)
        self.more.setVisible(not self._longer and any(len(text) > CUT_AFTER for text in texts.values()))
        self.prompt.setEnabled(item is not None)
        document = self.view.document()
        document.clear()
        if item is None:
            self._write_own(QtGui.QTextCursor(document), "No item is chosen.")
            return
        cursor = QtGui.QTextCursor(document)
        cursor.beginEditBlock()
        self._heading(cursor, f"Item {item.id}", first=True)
        for title, text in texts.items():
            self._heading(cursor, title, _characters(len(text)))
            self._body(cursor, text)
        self._human_labels(cursor, item)
        self._other_columns(cursor)
        cursor.endEditBlock()
        self._mark_words()

    def _human_labels(self, cursor: QtGui.QTextCursor, item: Item) -> None:
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

    def _other_columns(self, cursor: QtGui.QTextCursor) -> None:
        filled = {name: text for name, text in self._others.items() if text and name not in BACKGROUND}
        if filled:
            self._heading(cursor, "Other columns")
        for column, text in filled.items():
            self._new_block(cursor, above=3)
            cursor.insertText(f"{visible(clipped(column))}: ", self._style(colours(self.palette()).muted))
            rest = _characters(len(text) - _LONGEST_OTHER)
            shown = text if len(text) <= _LONGEST_OTHER else f"{text[:_LONGEST_OTHER]} … and {rest} more."
            cursor.insertText(visible(shown), self._style())

    def _heading(self, cursor: QtGui.QTextCursor, title: str, beside: str = "", first: bool = False) -> None:
        if not first:
            self._new_block(cursor, above=14)
        cursor.insertText(visible(title), self._style(bold=True))
        if beside:
            cursor.insertText(f"   {beside}", self._style(colours(self.palette()).muted))

    def _body(self, cursor: QtGui.QTextCursor, text: str, indent: int = 0) -> None:
        self._new_block(cursor, above=3, indent=indent)
        if not text:
            self._write_own(cursor, "Empty.")
            return
        shown = text[: MOST_SHOWN if self._longer else CUT_AFTER]
        cursor.insertText(visible(shown), self._style())
        if len(shown) < len(text):
            self._new_block(cursor)
            self._write_own(cursor, f"… and {_characters(len(text) - len(shown))} more.")

    def _write_own(self, cursor: QtGui.QTextCursor, text: str) -> None:
        """Write words that are no text of the item: quieter, and slanted."""
        style = self._style(colours(self.palette()).muted)
        style.setFontItalic(True)
        cursor.insertText(text, style)

    @staticmethod
    def _new_block(cursor: QtGui.QTextCursor, above: int = 0, indent: int = 0) -> None:
        layout = QtGui.QTextBlockFormat()
        layout.setTopMargin(above)
        layout.setIndent(indent)
        cursor.insertBlock(layout, QtGui.QTextCharFormat())

    def _style(self, colour: str = "", bold: bool = False) -> QtGui.QTextCharFormat:
        style = QtGui.QTextCharFormat()
        if colour:
            style.setForeground(QtGui.QColor(colour))
        if bold:
            style.setFontWeight(QtGui.QFont.Weight.DemiBold)
        return style

    def _mark_words(self) -> None:
        document = self.view.document()
        marks: list[QTextEdit.ExtraSelection] = []
        style = QtGui.QTextCharFormat()
        style.setBackground(QtGui.QColor(colours(self.palette()).shared_ground))
        style.setFontUnderline(True)
        for word in self._words:
            found = document.find(word, 0, QtGui.QTextDocument.FindFlag(0))
            while not found.isNull() and len(marks) < _MOST_MARKS:
                mark = QTextEdit.ExtraSelection()
                mark.cursor, mark.format = found, style
                marks.append(mark)
                found = document.find(word, found)
        self.view.setExtraSelections(marks)


def _titled_texts(item: Item) -> dict[str, str]:
    """The texts of an item by their titles; context and reference answer where it has them."""
    texts = {"instruction": item.instruction, **item.background}
    texts |= {"response_a": item.output_a, "response_b": item.output_b}
    return {getattr(DEFAULT_WORDING, name): text for name, text in texts.items()}


def _characters(count: int) -> str:
    return counted(count, "character", "characters")
