"""All that is shown of a comparison: measures, agreement, differences, slices and rankings, each on a tab.

Knows: which table stands where. Does not know: how systems are compared.
"""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import QHeaderView, QScrollArea, QTableView, QTabWidget, QWidget

from engine.core.formatting import visible, words
from engine.core.review_filters import Filters
from engine.core.sheets import Section, Sentences
from engine.core.value_tables import Table
from gui.compare.difference_list import DifferenceList
from gui.kit.foreign_text import OneLine, one_line, plain_label
from gui.kit.labels import hint, show_text
from gui.kit.layouts import STRETCH, as_column, in_column
from gui.kit.value_table import TableModel
from gui.kit.views import measure_view, table_view
from gui.reading.sheet_view import SectionView
from gui.work.slice_jobs import compare_slices
from gui.work.slices_panel import SlicesPanel, SliceWords
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from gui.compare.compare_jobs import Compared

_WIDEST_SYSTEM = 40  # characters of a column
_WIDEST_VALUE = "100.0 (100.0 to 100.0)"  # of nearly all slices; others are whole in a tip
_BESIDE = 12  # pixels
_SLICES = SliceWords(
    measured="Each system is scored on each slice.",
    in_title=": accuracy in percent, with 95 % intervals",
    table="Accuracy of each system by slice",
    heading="Win rates",
    explained=(
        "How often A or B wins by weighted scoring with the rubric's weights, in"
        " percent. A preference on one slice only may be a bias."
    ),
    below="How often A and B win, by slice",
)
_MORE = {
    "measures": "Bold: the best.",
    "agreement": "Press Enter or double-click a row: Review lists the items on which the two differ.",
}
"""What the window alone shows, after the notes of sections."""


class ComparisonView(QTabWidget):
    """The tabs of a comparison. `listed`: Filters of items that are wanted, and what they have in common."""

    listed = Signal(object, str)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setAccessibleName("Comparison")
        self.tabBar().setDrawBase(False)
        self._tables = {key: TableModel(self) for key in ("measures", "borda", "published", "agreement")}
        self.measures, self.borda, self.published, self.agreement = self._tables.values()
        self._titles = {key: OneLine(role="heading") for key in self._tables}
        self._notes = {key: hint("") for key in self._tables}
        self.differences = DifferenceList(workspace.threads)
        title, table = OneLine(role="heading"), TableModel(self)
        self.slices = SlicesPanel(workspace, _SLICES, title=title, head=title, table=table, framed=_part)
        self.systems = plain_label()
        self.notes = plain_label(role="warning")
        self._views = [
            measure_view(self.measures, "Measures of all systems"),
            measure_view(self.borda, "Borda counts"),
            measure_view(self.published, "Published systems, for reference"),
        ]
        self.agreement_view = table_view(self.agreement, "Agreement of each two systems")
        self.agreement_view.activated.connect(self._list_pair)
        self.differences.listed.connect(self.listed)
        self.slices.listed.connect(self.listed)
        self.slices.divided.connect(self._show_slices)
        self.slices.choice.changed.connect(self._measure_slices)
        self.rankings = SectionView()
        self._compared: Compared | None = None
        header = self.agreement_view.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.addTab(self._measure_tab(), "Measures")
        self.addTab(self._agreement_tab(), "Agreement")
        self.addTab(self.differences, "Differences")
        self._slices_tab = _scrolled(self.slices, "By slice")
        self.addTab(self._slices_tab, "By slice")
        self._rankings_tab = self.addTab(
            _scrolled(as_column(self.rankings, STRETCH, margins=(0, 8, 2, 0)), "Rankings"), "Rankings"
        )
        self.setTabVisible(self._rankings_tab, False)
        self.restyle()

    def show_comparison(self, compared: "Compared") -> None:
        """Show another comparison; the tab that is open stays open."""
        before, self._compared = self._compared, compared
        show_text(self.notes, "\n".join(compared.notes))
        for section in compared.sheet.sections:
            self._show_section(section)
        there = any(section.key == "published" for section in compared.sheet.sections)
        for widget in (self._titles["published"], self._notes["published"], self._views[-1]):
            widget.setVisible(there)
        self.setTabVisible(self._rankings_tab, compared.beside is not None)
        if compared.beside is not None:
            self.rankings.show_section(compared.beside.section)
        self.differences.show_comparison(compared)
        self.slices.choice.show_dataset(compared.dataset)
        if before is None or before.whole is not compared.whole:
            self._measure_slices()
        self.setTabText(self.indexOf(self.differences), f"Differences ({len(compared.differences):,})")

    def _show_section(self, section: Section) -> None:
        for part in section.parts:
            if isinstance(part, Table):
                self._tables[section.key].show_table(part)
        said = [text for part in section.parts if isinstance(part, Sentences) for text in part.texts]
        if section.key in self._tables:
            self._titles[section.key].setText(section.title)
            noted = filter(None, (section.note, _MORE.get(section.key, ""), *said))
            self._notes[section.key].setText(visible(" ".join(noted)))
        else:
            self.systems.setText(visible("\n".join(said)))

    def restyle(self) -> None:
        """Fit all columns to another size of text."""
        for view in (*self._views, self.agreement_view):
            _limit_columns(view)
        for view in (self.slices.view, self.slices.below_view):  # no name widens them more than a value
            widest = view.fontMetrics().horizontalAdvance(_WIDEST_VALUE) + _BESIDE
            view.horizontalHeader().setMaximumSectionSize(widest)
        self.differences.restyle()

    @Slot()
    def _show_slices(self) -> None:
        self.setCurrentIndex(self.indexOf(self._slices_tab))

    @Slot()
    def _measure_slices(self) -> None:
        if self._compared is not None:
            self.slices.measure(partial(compare_slices, self._compared.whole))

    @Slot(QModelIndex)
    def _list_pair(self, index: QModelIndex) -> None:
        """Want the items on which the two systems of a row differ."""
        if self._compared is None:
            return
        result = self._compared.comparison
        pair = result.agreements[index.row()]
        one, other = result.systems.index(pair.one), result.systems.index(pair.other)
        ids = frozenset(
            difference.item_id
            for difference in result.differences
            if pair.criterion in {None, difference.criterion}
            and difference.labels[one] is not difference.labels[other]
        )
        systems = f"{one_line(pair.one)} and {one_line(pair.other)}"
        filters = Filters(criterion=pair.criterion, ids=ids)
        where = f", on {words(pair.criterion)}" if pair.criterion else ""
        self.listed.emit(filters, f"{systems} differ{where}")

    def _measure_tab(self) -> QWidget:
        content = QWidget()
        content.setProperty("role", "content")
        layout = in_column(self.systems, self.notes, on=content, margins=(0, 8, 8, 0))
        for key, view in zip(self._tables, self._views, strict=False):  # agreement has a tab of its own
            layout.addSpacing(12)
            for widget in (self._titles[key], self._notes[key], view):
                layout.addWidget(widget)
        layout.addStretch(1)
        return _scrolled(content, "Measures")

    def _agreement_tab(self) -> QWidget:
        return as_column(self._notes["agreement"], (self.agreement_view, STRETCH), margins=(0, 8, 0, 0))


def _part(*widgets: QWidget) -> QWidget:
    """Widgets one below the other, without a frame."""
    return as_column(*widgets, margins=(0, 8, 2, 0))


def _scrolled(content: QWidget, accessible: str) -> QScrollArea:
    area = QScrollArea(widgetResizable=True)
    area.setWidget(content)
    area.setAccessibleName(accessible)
    return area


def _limit_columns(view: QTableView) -> None:
    """Keep the long path of one file from pushing all else out of sight."""
    view.horizontalHeader().setMaximumSectionSize(view.fontMetrics().averageCharWidth() * _WIDEST_SYSTEM)
