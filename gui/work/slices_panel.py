"""Measures slice by slice: two tables, one below the other, and the way to the items of a row.

Knows: how slices are laid out and drawn. Does not know: pages, how slices are measured.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QApplication, QLabel, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.core.formatting import visible
from engine.core.measure_words import SLICES_NOTE
from engine.core.review_filters import Filters
from engine.core.value_tables import Estimate
from gui.kit.labels import heading, hint
from gui.kit.layouts import STRETCH, in_column
from gui.kit.theme import colours
from gui.kit.value_table import VALUE_ROLE, TableModel
from gui.kit.views import measure_view
from gui.work.lanes import Job, LatestTask, ThreadName
from gui.work.slice_choice import SliceChoice
from gui.work.slice_jobs import DRAWN, Sliced
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.slices import Slicing

_DRAWN_WIDTH = 130
_NOTHING = (
    "Choose above how the items are divided (“Items: all”): by a column of the dataset, lengths,"
    " the script of the texts, the human label, the annotators' tags or random samples."
)
_HOW = "Click a row or press Enter on it to list its items in Review."


@dataclass(frozen=True)
class SliceWords:
    """What a page says of slices.

    `measured`: what is done with each of them. `in_title`: what the title says of the table after `By …`.
    `table`, `below`: what the tables are to a screen reader; `heading`, `explained`: above that below.
    """

    measured: str
    table: str
    heading: str
    below: str
    in_title: str = ""
    explained: str = ""


class SlicesPanel(QWidget):
    """Shows Sliced. `choice` stands elsewhere on the page, and restricts all of it.

    `divided`: the user chose by what the items are divided. `listed`: Filters of the items of a row that are
    wanted, and what they have in common.
    """

    divided = Signal()
    listed = Signal(object, str)

    def __init__(
        self,
        workspace: Workspace,
        said: SliceWords,
        *,
        title: QLabel,
        head: QWidget,
        table: TableModel,
        framed: Callable[..., QWidget],
        letters: int = 13,
    ) -> None:
        """`title`: within `head`, or the same. `table`: shows the first of both. `framed`: puts widgets one
        below the other. `letters`: of each list of `choice`.
        """
        super().__init__()
        self._said = said
        self.choice = SliceChoice(workspace, letters)
        self.choice.by.activated.connect(self.divided)
        self.sliced: Sliced | None = None
        self._measuring = LatestTask(workspace.threads, ThreadName.MEASURE, self)
        self._measuring.finished.connect(self.show_slices)
        workspace.failures.follow(self._measuring)
        self.title, self.what = title, hint("")
        self.table, self.below = table, TableModel(self)
        self.view = measure_view(self.table, said.table)
        self.below_view = measure_view(self.below, said.below)
        for view in (self.view, self.below_view):
            view.clicked.connect(self._want)
            view.activated.connect(self._want)
        self._delegate = _Drawn(self.view)
        explained = [hint(said.explained)] if said.explained else []
        self._below = framed(heading(said.heading), *explained, self.below_view)
        in_column(
            framed(head, self.what, self.view),
            self._below,
            STRETCH,
            on=self,
            margins=(0, 0, 6, 0),
            spacing=10,
        )
        self.setProperty("role", "content")
        self.show_slices(None)

    def measure(self, job: "Callable[[Slicing, Sliced | None], Job[Sliced]]") -> None:
        """Measure each slice by a job, which is told what is shown already."""
        slicing = self.choice.slicing
        if slicing is None:
            self._measuring.drop()
            self.show_slices(None)
        else:
            self._measuring.start(job(slicing, self.sliced))

    def show_slices(self, sliced: Sliced | None) -> None:
        """Show all slices; how to get some for None."""
        if sliced is not None and sliced is self.sliced:
            return  # who has chosen a row keeps it
        self.sliced = sliced
        self.view.setVisible(sliced is not None)
        self._below.setVisible(sliced is not None and sliced.below is not None)
        if sliced is None:
            self.title.setText("By slice")
            self.what.setText(f"{_NOTHING} {self._said.measured}")
            self.table.clear()
            self.below.clear()
            return
        self.title.setText(visible(f"By {sliced.division.words}{self._said.in_title}"))
        self.what.setText(visible(" ".join([_HOW, SLICES_NOTE, *sliced.said])))
        self.table.show_table(sliced.table)
        for place, column in enumerate(sliced.table.columns):
            delegate = self._delegate if column.key == DRAWN else self.view.itemDelegate()
            self.view.setItemDelegateForColumn(place, delegate)
        if sliced.below is not None:
            self.below.show_table(sliced.below)

    @Slot(QModelIndex)
    def _want(self, index: QModelIndex) -> None:
        """Want the items of a row: below, several may be of one slice."""
        if self.sliced is not None and index.isValid():
            parts, rows = self.sliced.parts, index.model().rowCount()
            part = parts[index.row() * len(parts) // rows]
            self.listed.emit(Filters(ids=part.known), self.sliced.division.in_words(part))


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
