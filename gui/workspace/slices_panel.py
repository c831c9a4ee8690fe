"""Slices: the choice of one, and the measures of all of them with the way to their items."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QShowEvent
from PySide6.QtWidgets import QApplication, QLabel, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine.annotations.records import Filters
from engine.core.formatting import SLICES_NOTE, clipped, visible
from engine.core.tables import Estimate
from gui.widgets.fields import narrow_box
from gui.widgets.foreign_text import set_tip
from gui.widgets.labels import STRETCH, heading, hint, in_column, in_row, label
from gui.widgets.text_views import SectionView
from gui.widgets.theme import colours
from gui.widgets.views import VALUE_ROLE, Index, TableModel, measure_view, shown_cell
from gui.workspace.file_jobs import DRAWN, Chosen, Divided, Sliced, divide
from gui.workspace.state import BLIND
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import Job, LatestTask, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.slices import Slice, Slicing

_ALL = "Items: all"


class SliceChoice(QWidget):
    """Follows one dataset. `letters`: the least width of each list. `changed`: the choice is known."""

    changed = Signal()

    def __init__(self, workspace: Workspace, letters: int = 13) -> None:
        super().__init__()
        self._workspace = workspace
        self._by_annotators = self._stale = False
        self.slicing: Slicing | None = None
        self.part: Slice | None = None
        self._dataset: Dataset | None = None
        self._gold: Dataset | None = None
        self._wanted_part: str | None = None  # its key, until the slices are known
        self.by = narrow_box("How the items are divided", letters)
        self.parts = narrow_box("Which slice of the items", letters)
        in_row((self.by, STRETCH), (self.parts, STRETCH), on=self)
        self._dividing = LatestTask(workspace.threads, ThreadName.FILES, self, self._take)
        self.by.activated.connect(self._divide)
        self.parts.activated.connect(self._choose)
        workspace.noted.connect(self._follow_notes)
        workspace.reviewed.connect(self._follow_labels)
        for signal in (workspace.run_changed, workspace.author_changed, workspace.blind_changed):
            signal.connect(self._follow_annotators)
        self._fill({}, "")
        self.parts.hide()

    @property
    def ids(self) -> frozenset[str] | None:
        return None if self.part is None else self.part.known

    @property
    def words(self) -> str:
        if self.slicing is None or self.part is None:
            return ""
        return visible(self.slicing.in_words(self.part))

    @property
    def chosen(self) -> Chosen | None:
        return None if self.part is None else Chosen(self.part, self.words)

    def show_dataset(self, dataset: "Dataset | None", gold: "Dataset | None" = None) -> None:
        """Divide these items from now on; what is chosen stays where it can. `gold`: other human labels."""
        if dataset is self._dataset and gold is self._gold:
            return
        kept = self.part.key if self.part is not None else None
        by = self.by.currentData() or ""
        self._dataset, self._gold = dataset, gold
        for part in (self, self.by):
            part.setEnabled(dataset is not None)
        self._dividing.drop()
        self._set(None, None)  # never the items of another dataset
        if dataset is None:
            self._fill({}, "")
        else:
            self.choose(by, kept)

    def choose(self, by: str, key: str | None = None) -> None:
        """Choose as if by hand: by what, and the slice of this key; the empty text for all items."""
        if self._dataset is not None:
            self._wanted_part = key
            self._start(by)

    def choose_part(self, part: "Slice | None") -> None:
        slices = self.slicing.slices if self.slicing is not None else ()
        self._set(self.slicing, part if part in slices else None)

    def clear(self) -> None:
        self.by.setCurrentIndex(0)
        self._set(None, None)
        if self._dividing.busy:
            self.choose("")

    def _divide(self) -> None:
        assert self._dataset is not None
        same_by = self.slicing is not None and self.slicing.by == self.by.currentData()
        self._wanted_part = self.part.key if self.part is not None and same_by else None
        self._start(self.by.currentData() or "")

    def _start(self, by: str) -> None:
        assert self._dataset is not None
        self._stale = False
        space = self._workspace
        own = space.author if space.state.text(BLIND) == "on" else None
        job = divide(self._dataset, self._gold, by, store_path=space.store_path, author=own)
        self._dividing.start(job)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._again()

    def _follow_notes(self) -> None:
        """Offer tags as soon as there are any; the slice that is listed does not change under one's hands."""
        self._stale = True
        if self.isVisible() and not self._by_annotators:
            self._again()

    def _follow_labels(self) -> None:
        self._stale = True  # the random sample grows; read where it is shown next

    def _follow_annotators(self) -> None:
        # what is chosen by tags that may be seen no more must not stay
        self._stale = True
        if self.isVisible() or self._by_annotators:
            self._again()

    def _again(self) -> None:
        self.choose(self.by.currentData() or "", self.part.key if self.part is not None else None)

    def _take(self, divided: Divided) -> None:
        slicing, self._by_annotators = divided.slicing, divided.by_annotators
        self._fill(divided.titles, slicing.by if slicing else "")
        parts = slicing.slices if slicing else ()
        part = next((found for found in parts if found.key == self._wanted_part), None)
        before = self.slicing, self.part
        self._set(slicing, part)
        if before != (slicing, part):
            self.changed.emit()

    def _choose(self) -> None:
        place = self.parts.currentData()
        assert self.slicing is not None
        self._set(self.slicing, None if place is None else self.slicing.slices[place])
        self.changed.emit()

    def _set(self, slicing: "Slicing | None", part: "Slice | None") -> None:
        self.slicing, self.part = slicing, part
        entries: list[tuple[str, int | None, str]] = [("All slices", None, "")]
        for place, found in enumerate(slicing.slices if slicing else ()):
            entries.append((f"{visible(clipped(found.name))} ({len(found):,})", place, found.name))
        chosen = slicing.slices.index(part) if slicing is not None and part is not None else None
        self.parts.offer(entries, chosen)
        set_tip(self.parts, part.name if part is not None else "")
        self.parts.setVisible(slicing is not None)

    def _fill(self, titles: Mapping[str, str], chosen: str) -> None:
        entries = [(f"By {visible(clipped(title))}", by, title) for by, title in titles.items()]
        self.by.offer([(_ALL, ""), *entries], chosen)
        set_tip(self.by, self.by.currentText() if chosen else "How the items are divided")


_DRAWN_WIDTH = 130
_NOTHING = (
    "Choose how the items are divided: by a column of the dataset, lengths, the script of the texts, the"
    " human label, the annotators' tags or random samples."
)
_HOW = "Double-click or press Enter on a row to list its items in Review."


@dataclass(frozen=True)
class SliceWords:
    """What a page says: `measured` of each slice; `in_title` after `By …`; `table`, `below` for a screen
    reader; `heading`, `explained` above that below.
    """

    measured: str
    table: str
    heading: str
    below: str
    in_title: str = ""
    explained: str = ""


class SlicesPanel(QWidget):
    """The list by what the items are divided, and what is measured; the page shows that of the slices.
    `listed`: Filters of a row's items, and the words for them.
    """

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
        super().__init__()
        self._said = said
        self.choice = SliceChoice(workspace, letters)
        self.sliced: Sliced | None = None
        self._measuring = TaskPanel(
            workspace.threads, ThreadName.MEASURE, self, self.show_slices, failed=workspace.failures
        )
        self.title, self.what, self.note = title, label(""), hint("")
        self.table, self.below = table, TableModel(self)
        self.view = measure_view(self.table, said.table)
        self.below_view = measure_view(self.below, said.below)
        for view in (self.view, self.below_view):
            view.activated.connect(self._want)
        self._delegate = _DrawnDelegate(self.view)
        explained = [hint(said.explained)] if said.explained else []
        self._below = framed(heading(said.heading), *explained, self.below_view)
        above = framed(head, in_row(self.choice.by, STRETCH), self.what, self.view, self.note)
        self.shares = SectionView()
        in_column(above, self._below, self.shares, STRETCH, on=self, margins=(0, 0, 6, 0), spacing=10)
        self.setProperty("role", "content")
        self.show_slices(None)

    def measure(self, job: "Callable[[Slicing, Sliced | None], Job[Sliced]]") -> None:
        slicing = self.choice.slicing
        if slicing is None:
            self._measuring.drop()
            self.show_slices(None)
        else:
            self._measuring.start(job(slicing, self.sliced))

    def show_slices(self, sliced: Sliced | None) -> None:
        if sliced is not None and sliced is self.sliced:
            return  # who has chosen a row keeps it
        self.sliced = sliced
        for part in (self.view, self.note):
            part.setVisible(sliced is not None)
        self._below.setVisible(sliced is not None and sliced.below is not None)
        self.shares.setVisible(sliced is not None and bool(sliced.shares))
        if sliced is None:
            self.title.setText("By slice")
            self.what.setText(f"{_NOTHING} {self._said.measured}")
            self.table.clear()
            self.below.clear()
            return
        self.title.setText(visible(f"By {sliced.division.words}{self._said.in_title}"))
        self.what.setText(visible(sliced.in_short))
        self.note.setText(visible(" ".join([_HOW, SLICES_NOTE, *sliced.said])))
        self.table.show_table(sliced.table)
        for place, column in enumerate(sliced.table.columns):
            delegate = self._delegate if column.key == DRAWN else self.view.itemDelegate()
            self.view.setItemDelegateForColumn(place, delegate)
        self.view.fit_rows()  # the delegate of a column makes it wider
        if sliced.below is not None:
            self.below.show_table(sliced.below)
        for section in sliced.shares:
            self.shares.show_section(section)

    def _want(self, index: QModelIndex) -> None:
        if self.sliced is not None and index.isValid():
            parts, rows = self.sliced.parts, index.model().rowCount()
            part = parts[index.row() * len(parts) // rows]
            self.listed.emit(Filters(ids=part.known), self.sliced.division.in_words(part))


class _DrawnDelegate(QStyledItemDelegate):
    """Draws an accuracy as a point and its interval as a line, from 0 to 100 % of the cell."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        shown, style = shown_cell(self, option, index)
        shown.text = ""
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

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(_DRAWN_WIDTH, super().sizeHint(option, index).height())
