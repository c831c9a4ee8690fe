"""The items of a review as a table; where the words of a search stand in texts as they are shown. Cells are
made when they are shown, so that 100,000 items cost nothing.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QResizeEvent, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QWidget
from PySide6.QtWidgets import QStyleOptionViewItem as Option

from engine.annotations.records import Filters, ListOrder, search_pattern
from engine.core.formatting import counted, number, words
from engine.core.items import Preference, written_label
from engine.core.judgments import ReviewState
from gui.review.progress import STATE_SIGNS, STATE_WORDS
from gui.review.review_jobs import Listing, Review, in_units
from gui.widgets.foreign_text import one_line, tip
from gui.widgets.glossary import MORE_BY_F1
from gui.widgets.label_mark import LABEL_WORDS, paint_label
from gui.widgets.theme import colours
from gui.widgets.views import SORT_ROLE, Head, HeadedModel, Index, RowsView, shown_cell

if TYPE_CHECKING:
    from engine.analysis.review_order import ReviewItem, ReviewRow
    from engine.data.dataset import Dataset

MOST_MARKED = 500  # in one text: more take long to draw
_BEFORE_HIT = 4  # characters that a narrow cell may show before what was found

Spans = Sequence[tuple[int, int]]


class Search:
    def __init__(self, text: str = "") -> None:
        pattern = search_pattern(text)
        self._pattern = re.compile(pattern, re.IGNORECASE) if pattern else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def spans(self, text: str) -> Spans:
        """Where the words stand, (start, end) in Qt's units."""
        found = [match.span() for match in self._pattern.finditer(text)] if self._pattern else []
        return in_units(text, found)

    def from_hit(self, text: str) -> str | None:
        """The text from its first hit on; whole where that is near its beginning; None without a hit."""
        hit = self._pattern.search(text) if self._pattern else None
        if hit is None:
            return None
        return text if hit.start() <= _BEFORE_HIT else f"…{text[hit.start() :]}"


def hit_style(widget: QWidget) -> QTextCharFormat:
    # Underlined, too, for those who do not see the colour of its ground.
    style = QTextCharFormat()
    style.setBackground(QColor(colours(widget.palette()).hit_ground))
    style.setFontUnderline(True)
    return style


class HitDelegate(QStyledItemDelegate):
    def __init__(self, view: QWidget) -> None:
        super().__init__(view)
        self.search = Search()

    def paint(self, painter: QPainter, option: Option, index: Index) -> None:
        shown, style = shown_cell(self, option, index)
        widget = shown.widget
        spans = self.search.spans(shown.text)[:MOST_MARKED]
        if not spans or not isinstance(widget, QWidget):
            super().paint(painter, option, index)
            return
        place = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, shown, widget)
        text, shown.text = shown.text, ""
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, widget)
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, widget) + 1
        _draw(painter, place.adjusted(margin, 0, -margin, 0), text, spans, shown)


def _draw(painter: QPainter, place: QRect, text: str, spans: Spans, option: Option) -> None:
    fitting = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, place.width())
    layout = QTextLayout(fitting, option.font)
    wrapping = QTextOption()
    wrapping.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(wrapping)
    formats, style = [], hit_style(option.widget)
    for start, end in spans:
        part = QTextLayout.FormatRange()
        part.start, part.length, part.format = start, end - start, style
        formats.append(part)
    layout.setFormats(formats)
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    painter.save()
    painter.setPen(option.palette.text().color())
    painter.setClipRect(place)
    layout.draw(painter, QPointF(place.left(), place.top() + (place.height() - line.height()) / 2))
    painter.restore()


_UNCERTAINTY = (
    "How useful a review is, from 0 to 1: high if the judge is uncertain, its two orders disagree, or its"
    f" labels contradict each other; the highest of the judgments that pass the filters. {MORE_BY_F1}"
)
_MARKS = (
    "⇄ the orders disagree, ⚖ the judges of a jury differ, or some gave no answer, ≠ differs from the human"
    " label, ✎ given by an annotator, ! explanation stale, ∅ without a label, * your draft of"
    f" an explanation or a note; with the number of criteria. {MORE_BY_F1}"
)
_TEXT = "The beginning of the instruction; in a search, the first text, explanation or note found"
_HEADS = (
    Head("✓", "Your progress on the item: ✓ done, » skipped, else to do"),
    Head("Id", "The item's id in the dataset"),
    Head("Uncert.", _UNCERTAINTY),
    Head("Labels", "The effective label on each criterion: A, B, G both good, X both bad, – unscored"),
    Head("Marks", _MARKS),
    Head("Text", f"{_TEXT}, from the match on"),
)
_UP, _DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
STATE, ID, UNCERTAINTY, LABELS, MARKS, INSTRUCTION = range(len(_HEADS))
TITLE_ORDERS = {  # by column and direction, what a click on a title asks for
    (STATE, _UP): ListOrder.TO_DO,
    (STATE, _DOWN): ListOrder.DONE,
    (ID, _UP): ListOrder.ID,
    (ID, _DOWN): ListOrder.ID_BACKWARDS,
    (UNCERTAINTY, _DOWN): ListOrder.UNCERTAINTY,
    (UNCERTAINTY, _UP): ListOrder.LEAST_UNCERTAINTY,
    (LABELS, _UP): ListOrder.LABELS,
    (LABELS, _DOWN): ListOrder.LABELS_BACKWARDS,
    (MARKS, _DOWN): ListOrder.MOST_MARKS,
    (MARKS, _UP): ListOrder.FEWEST_MARKS,
    (INSTRUCTION, _UP): ListOrder.INSTRUCTION,
    (INSTRUCTION, _DOWN): ListOrder.INSTRUCTION_BACKWARDS,
}
_FEWEST_ROWS = 6
_LEAST_TEXT = 12  # characters
HIDDEN = "hidden"  # in the place of a label
_DRAFT_SIGN, _DRAFT = "*", "a draft of yours"
_TEXTS = (("", "instruction"), ("A: ", "output_a"), ("B: ", "output_b"))


class ReviewTableModel(HeadedModel):
    def __init__(
        self, state_of: Callable[[str], ReviewState], begun: Callable[[str], Collection[str]], parent: QObject
    ) -> None:
        """`begun`: the criteria of an item of which there is a draft, "" for its note."""
        super().__init__(_HEADS, parent)
        self._review: Review | None = None
        self.listing = Listing([], {}, {})
        self._texts: dict[str, Any] = {}
        self._search = Search()
        self._criterion: str | None = None
        self._state_of, self._begun = state_of, begun

    def show_listing(
        self, review: Review, listing: Listing, dataset: "Dataset | None", wanted: Filters
    ) -> None:
        texts = {whose: dataset.texts(name) for whose, name in _TEXTS} if dataset is not None else {}
        with self._changing():
            self._review, self.listing, self._criterion = review, listing, wanted.criterion
            self._search, self._texts = Search(wanted.text), texts

    def clear(self) -> None:
        with self._changing():
            self._review, self.listing, self._texts = None, Listing([], {}, {}), {}

    def forget_remarks(self) -> None:
        self.listing = replace(self.listing, remarks={})

    def change_item(self, item: "ReviewItem") -> None:
        row = self.row_of(item.item_id)
        if row is not None:
            self.listing.items[row] = item
            self._tell_changed(row, row)

    def show_again(self, item_id: str = "") -> None:
        if not item_id:
            self._tell_changed(0, len(self.listing.items) - 1)
        elif (row := self.row_of(item_id)) is not None:
            self._tell_changed(row, row)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.InitialSortOrderRole and section in (UNCERTAINTY, MARKS):
            return _DOWN  # a first click brings the most uncertain, those with the most marks
        across = orientation is Qt.Orientation.Horizontal
        if role == Qt.ItemDataRole.AccessibleTextRole and section == STATE and across:
            return "State"  # its title is a mark
        return super().headerData(section, orientation, role)

    def item_at(self, row: int) -> "ReviewItem | None":
        return self.listing.items[row] if 0 <= row < len(self.listing.items) else None

    def row_of(self, item_id: str) -> int | None:
        return self.listing.places.get(item_id)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self._review is None:
            return None
        item, column = self.listing.items[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(item, column)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            text = self._text_of(item, column)
            return tip(text) if role == Qt.ItemDataRole.ToolTipRole else text
        if role != SORT_ROLE:
            return super().data(index, role)
        if column == LABELS:
            return [HIDDEN if row.hidden else row.preference for row in self._rows(item)]
        return item.uncertainty if column == UNCERTAINTY else self._text(item, column)

    def _count_rows(self) -> int:
        return len(self.listing.items)

    def _rows(self, item: "ReviewItem") -> "Sequence[ReviewRow]":
        return self._review.listed(self._criterion, item.item_id) if self._review else ()

    def _text(self, item: "ReviewItem", column: int) -> str:
        if column == STATE:
            return STATE_SIGNS[self._state_of(item.item_id)]
        if column == ID:
            return one_line(item.item_id)
        if column == UNCERTAINTY:
            return number(item.uncertainty)
        if column == MARKS:
            count = len(self._drafts(item))
            drafts = f"{_DRAFT_SIGN}{count}" if count > 1 else _DRAFT_SIGN * count
            return f"{_marks(self._rows(item))} {drafts}".strip()
        if column == INSTRUCTION:
            return one_line(self._found_in(item))
        return ""

    def _drafts(self, item: "ReviewItem") -> Sequence[str]:
        begun = sorted(self._begun(item.item_id))
        return [each for each in begun if self._criterion in (None, each) or not each]

    def _found_in(self, item: "ReviewItem") -> str:
        if not self._search:
            return str(self._texts[""][item.position]) if self._texts else ""
        texts = {whose: column[item.position].as_py() for whose, column in self._texts.items()}
        if found_first := self.listing.remarks.get(item.item_id):
            texts[f"{words(found_first[0]).capitalize()}: "] = found_first[1]
        found = ((whose, self._search.from_hit(text)) for whose, text in texts.items())
        return next((f"{whose}{text}" for whose, text in found if text is not None), texts.get("", ""))

    def _text_of(self, item: "ReviewItem", column: int) -> str:
        if column in (LABELS, MARKS):
            lines = [in_words(row) for row in self._rows(item)]
            drafts = self._drafts(item) if column == MARKS else ()
            lines += [f"{words(each)}: {_DRAFT}" if each else "a draft of a note" for each in drafts]
            return "\n".join(lines)
        if column == INSTRUCTION:
            return str(self._texts[""][item.position]) if self._texts else "the dataset is not loaded"
        if column == STATE:
            return STATE_WORDS[self._state_of(item.item_id)]
        return item.item_id if column == ID else f"uncertainty {number(item.uncertainty)}"


def _marks(rows: "Sequence[ReviewRow]") -> str:
    """`⇄2 ≠1`: each mark with the number of criteria, alone where there is one only (its sign says ∅)."""
    alone = len(rows) == 1
    counts = (
        ("⇄", sum(bool(row.flipped) for row in rows)),
        ("⚖", sum(row.judges_differ or row.judges_missing > 0 for row in rows)),
        ("≠", sum(row.differs_from_human for row in rows)),
        ("✎", sum(row.overridden for row in rows)),
        ("!", sum(row.stale for row in rows)),
        ("∅", 0 if alone else sum(row.unanswered for row in rows)),
    )
    return " ".join(sign if alone else f"{sign}{count}" for sign, count in counts if count)


def row_marks(row: "ReviewRow", begun: bool = False) -> str:
    """The marks of one judgment; `begun`: there is a draft of its explanation."""
    return f"{_marks([row])} {_DRAFT_SIGN * begun}".strip()


def in_words(row: "ReviewRow", begun: bool = False) -> str:
    """`relevance: A, flipped, differs from the human label B, a draft of yours`."""
    if row.hidden:
        said = [("hidden while you label blind", True)]
    else:
        missing = counted(row.judges_missing, "judge", "judges")
        said = [
            ("not labelled" if row.unanswered else LABEL_WORDS[row.preference], True),
            ("the orders disagree", bool(row.flipped)),
            ("the judges differ", row.judges_differ),
            (f"{missing} without an answer", row.judges_missing > 0),
            (f"differs from the human label {LABEL_WORDS[row.human]}", row.differs_from_human),
            ("given by an annotator", row.overridden),
            ("explanation stale", row.stale),
        ]
    parts = [text for text, holds in (*said, (_DRAFT, begun)) if holds]
    return f"{words(row.criterion)}: {', '.join(parts)}"


class LabelsDelegate(QStyledItemDelegate):
    def paint(self, painter: QPainter, option: Option, index: Index) -> None:
        shown, style = shown_cell(self, option, index)
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        labels: Sequence[Preference | str | None] = index.data(SORT_ROLE) or ()
        side = shown.fontMetrics.height()
        top = shown.rect.center().y() - side / 2 + 1
        for place, label in enumerate(labels):
            left = shown.rect.left() + 4 + place * (side + 3)
            if left + side > shown.rect.right() + 1:
                continue
            if label == HIDDEN:
                painter.setPen(shown.palette.placeholderText().color())
                painter.drawRect(QRectF(left + 1, top + 1, side - 3, side - 3))
            else:
                known = None if label is None else written_label(label)
                paint_label(painter, QRectF(left, top, side, side), known, shown.palette)

    def sizeHint(self, option: Option, index: Index) -> QSize:
        labels = index.data(SORT_ROLE) or ()
        side = option.fontMetrics.height()
        return QSize(8 + len(labels) * (side + 3), super().sizeHint(option, index).height())


class ItemView(RowsView):
    def __init__(self) -> None:
        super().__init__()
        self.hits, header = HitDelegate(self), self.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        self.setItemDelegateForColumn(LABELS, LabelsDelegate(self))
        for column in (ID, INSTRUCTION):
            self.setItemDelegateForColumn(column, self.hits)

    def show_order(self, order: ListOrder) -> None:
        header = self.horizontalHeader()
        column, direction = next((key for key, of in TITLE_ORDERS.items() if of is order), (-1, _UP))
        with QSignalBlocker(header):
            header.setSortIndicator(column, direction)
        header.viewport().update()

    def fit_columns(self) -> None:
        header = self.horizontalHeader()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        metrics = self.fontMetrics()
        widths = {
            STATE: metrics.horizontalAdvance("✓") + 20,
            ID: metrics.horizontalAdvance("0000") + 10,
            UNCERTAINTY: metrics.horizontalAdvance("Uncert.") + 28,
            LABELS: 8 + 5 * (metrics.height() + 3),
            MARKS: metrics.horizontalAdvance("⇄5 ≠5 ✎5 !5") + 8,
            INSTRUCTION: 6 * metrics.averageCharWidth(),  # at least; it takes the room that is left
        }
        for column, width in widths.items():
            self.setColumnWidth(column, width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_text()

    def fit_text(self) -> None:
        # A few letters of each text say nothing, but for the hits of a search.
        room = self.viewport().width() - sum(map(self.columnWidth, range(INSTRUCTION)))
        too_few = room < _LEAST_TEXT * self.fontMetrics().averageCharWidth()
        self.setColumnHidden(INSTRUCTION, too_few and not self.hits.search)

    def fit_rows(self) -> None:
        # Some rows are in sight, however much there is around.
        super().fit_rows()
        rows = self.verticalHeader().defaultSectionSize() * _FEWEST_ROWS
        header, bar = self.horizontalHeader(), self.horizontalScrollBar()
        header.ensurePolished()  # as long as nobody has seen it it is not
        around = header.sizeHint().height() + bar.sizeHint().height() + 2 * self.frameWidth()
        self.setMinimumHeight(rows + around)

    def keyboardSearch(self, _text: str) -> None:
        """Nothing: letters are keys of the page, not the beginning of an id to look for."""
