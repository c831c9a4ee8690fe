"""The run slice by slice: the choice of slices, a table with a row for each, and the way to the items of one.

Knows: how slices are laid out and drawn. Does not know: how they are measured.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QApplication,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from engine.core.formatting import visible
from engine.core.review_filters import Filters, WantedItems
from engine.core.value_tables import Estimate
from gui.kit.labels import heading, hint, panel
from gui.kit.theme import colours
from gui.kit.value_table import VALUE_ROLE, TableModel
from gui.kit.views import measure_view
from gui.reading.glossary import Topic
from gui.reading.help_dialog import beside_help
from gui.results.slice_jobs import DRAWN, SliceScores, measure_slices
from gui.work.lanes import Lane, LatestTask
from gui.work.page_name import PageName
from gui.work.slice_choice import SliceChoice
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.decisions.run_results import RunResults

_DRAWN_WIDTH = 130
_NOTHING = (
    "Choose above by what the items are divided (“Items: all”): by a column of the dataset, lengths, the"
    " script of the texts, the human label or the tags of people. Each part is measured here as the whole is."
)
_HOW = "A click or Enter on a row lists its items in Review."


class SlicesPanel(QWidget):
    """Shows SliceScores of the open run. `choice` stands elsewhere on the page, and restricts all of it."""

    divided = Signal()  # a person chose by what the items are divided

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.choice = SliceChoice(workspace, letters=20)
        self.choice.by.activated.connect(self.divided)
        self.scores: SliceScores | None = None
        self._measuring = LatestTask(workspace.threads, Lane.MEASURE, self)
        self._measuring.finished.connect(self.show_slices)
        self._measuring.failed.connect(workspace.problem)
        workspace.run_changed.connect(self._follow)
        workspace.gold_changed.connect(self._follow)
        self.title = heading("By slice")
        self._titled = beside_help(self.title, Topic.SLICE)
        self.what = hint("")
        self.table, self.criteria = TableModel(self), TableModel(self)
        self.view = measure_view(self.table, "Measures by slice")
        self.view.clicked.connect(self._want)
        self.view.activated.connect(self._want)
        self._delegate = _Drawn(self.view)
        self._criteria_title = heading("Accuracy by criterion, in percent")
        self._criteria_view = measure_view(self.criteria, "Accuracy by slice and criterion")
        self._whole = panel(self._titled, self.what, self.view)
        self._by_criterion = panel(self._criteria_title, self._criteria_view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 6, 0)
        layout.setSpacing(10)
        layout.addWidget(self._whole)
        layout.addWidget(self._by_criterion)
        layout.addStretch(1)
        self.show_slices(None)
        self._follow()

    def measure(self, results: "RunResults") -> None:
        """Measure a run, the open one with or without what people overrode, on each slice."""
        slicing = self.choice.slicing
        if slicing is None:
            self._measuring.drop()
            self.show_slices(None)
        else:
            self._measuring.start(measure_slices(results, self._workspace.gold, slicing, self.scores))

    def show_slices(self, scores: SliceScores | None) -> None:
        """Show all slices; how to get some for None."""
        self.scores = scores
        self.view.setVisible(scores is not None)
        self._by_criterion.setVisible(scores is not None and len(scores.tables) > 1)
        if scores is None:
            self.title.setText("By slice")
            self.what.setText(_NOTHING)
            self.table.clear()
            self.criteria.clear()
            return
        self.title.setText(f"By {visible(scores.measured.division.words)}")
        self.what.setText(f"{_HOW} {scores.note}")
        whole, *others = scores.tables
        self.table.show_table(whole)
        for place, column in enumerate(whole.columns):
            delegate = self._delegate if column.key == DRAWN else self.view.itemDelegate()
            self.view.setItemDelegateForColumn(place, delegate)
        for table in others:
            self.criteria.show_table(table)

    @Slot()
    def _follow(self) -> None:
        """Divide the items that the open run judged; where they are not there, those with human labels."""
        run, gold = self._workspace.run, self._workspace.gold
        items = gold if run is None or run.dataset is None else run.dataset
        self.choice.show_dataset(None if run is None else items, gold)

    @Slot(QModelIndex)
    def _want(self, index: QModelIndex) -> None:
        """List the items of a row in Review."""
        run, scores = self._workspace.run, self.scores
        if run is not None and scores is not None and index.isValid():
            part = scores.measured.slices[index.row()].part
            words = scores.measured.division.in_words(part)
            ids = part.known.intersection(item.item_id for item in run.results.judged)
            self._workspace.page_wanted.emit(PageName.REVIEW)
            self._workspace.listing_wanted.emit(WantedItems(run.id, Filters(ids=ids), words))


class _Drawn(QStyledItemDelegate):
    """Draws an accuracy as a point and its interval as a line, from 0 to 100 % of the cell."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a cell."""
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        shown.text = ""
        style = shown.widget.style() if shown.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, shown.widget)
        value = index.data(VALUE_ROLE)
        if not isinstance(value, Estimate):
            return
        used = colours(QApplication.palette())  # the style sheet gives tables another
        room = QRectF(shown.rect).adjusted(8, 0, -8, 0)
        middle = room.center().y()

        def at(share: float) -> QPointF:
            return QPointF(room.left() + room.width() * min(max(share, 0.0), 1.0), middle)

        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(used.border), 1))
        painter.drawLine(at(0), at(1))
        painter.setPen(QPen(QColor(used.accent), 3))
        if value.ends is not None:
            painter.drawLine(at(value.ends[0]), at(value.ends[1]))
        painter.setBrush(QColor(used.text))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(at(value.value), 3, 3)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Wide enough to tell intervals apart."""
        return QSize(_DRAWN_WIDTH, super().sizeHint(option, index).height())
