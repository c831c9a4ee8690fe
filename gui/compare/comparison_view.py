"""All that is shown of a comparison: measures, agreement and differences, each on a tab.

Knows: which table stands where. Does not know: how systems are compared.
"""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import QHeaderView, QScrollArea, QTableView, QTabWidget, QVBoxLayout, QWidget

from engine.core.formatting import short_name, visible, words
from engine.core.review_filters import Filters
from gui.compare.difference_list import DifferenceList
from gui.compare.ranked_table import RankedTableModel
from gui.kit.foreign_text import OneLine, one_line, plain_label, tip
from gui.kit.labels import heading, hint, set_role
from gui.kit.value_table import TableModel
from gui.kit.views import measure_view, table_view
from gui.work.slice_jobs import compare_slices
from gui.work.slices_panel import SlicesPanel, SliceWords
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from gui.compare.compare_jobs import Compared

_WIDEST_SYSTEM = 40  # letters of a column
_WIDEST_VALUE = "100.0 (100.0 to 100.0)"  # of nearly all slices; others are whole in a tip
_BESIDE = 12  # pixels
_SLICES = SliceWords(
    measured="Each system is measured here on each part.",
    in_title=": accuracy in percent, with 95 % intervals",
    table="Accuracy of each system by slice",
    heading="Win rates",
    explained=(
        "How often the weighted judge, with the rubric's weights, makes A or B the winner, in percent. What a"
        " system prefers on one part and not on another may be a bias."
    ),
    below="How often A and B win, by slice",
)


class ComparisonView(QTabWidget):
    """The tabs of a comparison. `listed`: Filters of items that are wanted, and what they have in common."""

    listed = Signal(object, str)

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Comparison")
        self.tabBar().setDrawBase(False)
        self.measures = RankedTableModel(self)
        self.borda = RankedTableModel(self)
        self.published = TableModel(self)
        self.agreement = TableModel(self)
        self.differences = DifferenceList(workspace.threads)
        title, table = OneLine(role="heading"), RankedTableModel(self)
        self.slices = SlicesPanel(workspace, _SLICES, title=title, head=title, table=table, framed=_part)
        self.systems = plain_label()
        self.notes = plain_label()
        set_role(self.notes, "warning")
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
        self._compared: Compared | None = None
        header = self.agreement_view.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.addTab(self._measure_tab(), "Measures")
        self.addTab(self._agreement_tab(), "Agreement")
        self.addTab(self.differences, "Differences")
        self.addTab(_scrolled(self.slices, "By slice"), "By slice")
        self.restyle()

    def show_comparison(self, compared: "Compared") -> None:
        """Show another comparison; the tab that is open stays open."""
        before, self._compared = self._compared, compared
        result = compared.comparison
        self.systems.setText(visible("\n".join(compared.descriptions)))
        self.notes.setText(visible("\n".join(compared.notes)))
        self.notes.setVisible(bool(compared.notes))
        items = f"{result.items:,} {'item' if result.items == 1 else 'items'}"
        part = f": {compared.chosen.words}" if compared.chosen is not None else ""
        self._measured_on.setText(
            visible(f"On {items} with the human labels of {short_name(compared.dataset.name)}{part}")
        )
        self._measured_on.setToolTip(tip(compared.dataset.name))
        self.measures.show_ranked(compared.measures)
        self.borda.show_ranked(compared.borda)
        self.published.show_table(compared.published)
        self.agreement.show_table(compared.agreement)
        self.differences.show_comparison(compared)
        self.slices.choice.show_dataset(compared.dataset)
        if before is None or before.whole is not compared.whole:
            self._measure_slices()
        self.setTabText(self.indexOf(self.differences), f"Differences ({len(compared.differences):,})")

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
        self.setCurrentIndex(self.count() - 1)

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
            if difference.criterion == pair.criterion
            and difference.labels[one] is not difference.labels[other]
        )
        systems = f"{one_line(pair.one)} and {one_line(pair.other)}"
        filters = Filters(criterion=pair.criterion, ids=ids)
        self.listed.emit(filters, f"{systems} differ, on {words(pair.criterion)}")

    def _measure_tab(self) -> QWidget:
        self._measured_on = OneLine(role="heading")
        measures, borda, published = self._views
        content = QWidget()
        content.setProperty("role", "content")
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 8, 8, 0)
        layout.addWidget(self.systems)
        layout.addWidget(self.notes)
        layout.addSpacing(12)
        layout.addWidget(self._measured_on)
        layout.addWidget(
            hint("In brackets: rank, 1 is the best; equal systems share their mean rank. Bold: the best.")
        )
        layout.addWidget(measures)
        layout.addSpacing(12)
        layout.addWidget(heading("Borda counts"))
        layout.addWidget(hint("For each measure, how many systems one is better than; a tie counts half."))
        layout.addWidget(borda)
        layout.addSpacing(12)
        layout.addWidget(heading("Published systems"))
        layout.addWidget(
            hint("In percent, for reference: measured on the task's private test set, not ranked.")
        )
        layout.addWidget(published)
        layout.addStretch(1)
        return _scrolled(content, "Measures")

    def _agreement_tab(self) -> QWidget:
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.addWidget(
            hint(
                "Only one right: items that the one system alone, and the other alone, labels as people do."
                " McNemar p: how likely that much difference is if neither is more often right; not corrected"
                " for how many there are. Enter or a double click lists the items of a row on which the two"
                " differ in Review."
            )
        )
        layout.addWidget(self.agreement_view, 1)
        return content


def _part(*widgets: QWidget) -> QWidget:
    """Widgets one below the other, without a frame."""
    part = QWidget()
    layout = QVBoxLayout(part)
    layout.setContentsMargins(0, 8, 2, 0)
    for widget in widgets:
        layout.addWidget(widget)
    return part


def _scrolled(content: QWidget, accessible: str) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(content)
    area.setAccessibleName(accessible)
    return area


def _limit_columns(view: QTableView) -> None:
    """Keep the long path of one file from pushing all else out of sight."""
    view.horizontalHeader().setMaximumSectionSize(view.fontMetrics().averageCharWidth() * _WIDEST_SYSTEM)
