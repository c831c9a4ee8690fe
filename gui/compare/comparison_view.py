"""All that is shown of a comparison, each on a tab: measures, agreement, differences, slices, rankings."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6 import QtWidgets
from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics

from engine.annotations.records import Filters
from engine.core.formatting import counted, visible, words
from engine.core.items import agree
from engine.core.tables import Section, Sentences, Table
from gui.compare.compare_jobs import DifferenceFilter, filter_differences
from gui.widgets import labels
from gui.widgets.actions import add_key, timer
from gui.widgets.fields import ComboBox, Fold
from gui.widgets.foreign_text import OneLine, one_line, plain_label, tip
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.text_views import SectionView
from gui.widgets.views import (
    SORT_ROLE,
    FillingView,
    Head,
    HeadedModel,
    Index,
    TableModel,
    dressed,
    measure_view,
    table_view,
)
from gui.workspace.file_jobs import compare_slices
from gui.workspace.slices_panel import SlicesPanel, SliceWords
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.metrics.comparison import Difference
    from engine.metrics.matching import System
    from gui.compare.compare_jobs import Compared

_BEFORE = ("Item", "Criterion", "Human label")
_AFTER = ("Instruction",)


class DifferenceTableModel(HeadedModel):
    """A row for each wanted difference; bold is the label of a system that is the human one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._compared: Compared | None = None
        self._shown: Sequence[int] = ()  # places of differences
        self._bold = QFont()
        self._bold.setBold(True)

    def show_differences(self, compared: "Compared", places: Sequence[int]) -> None:
        with self._changing():
            self._compared, self._shown = compared, places
            titles = (*_BEFORE, *compared.comparison.systems, *_AFTER)
            self._heads = [Head(title, title) for title in titles]  # of long ones, the tool tip has the whole

    def difference(self, row: int) -> "Difference":
        assert self._compared is not None
        return self._compared.differences[self._shown[row]]

    def system_at(self, column: int) -> int | None:
        """The place, from 0, of the system that a column shows; None for the other columns."""
        place = column - len(_BEFORE)
        return place if self._compared and 0 <= place < len(self._compared.runs) else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        if (shown := _SHOWN.get(role)) is not None:
            return shown(self._value(index))
        is_bold = role == Qt.ItemDataRole.FontRole and self._is_right(index)
        return self._bold if is_bold else super().data(index, role)

    def _value(self, index: Index) -> str:
        difference, column = self.difference(index.row()), index.column()
        system = self.system_at(column)
        if system is not None:
            label = LABEL_WORDS[difference.labels[system]]
            return f"{label} ✓" if self._is_right(index) else label
        if column < len(_BEFORE):
            criterion = words(difference.criterion).capitalize()
            return (difference.item_id, criterion, LABEL_WORDS[difference.human])[column]
        assert self._compared is not None
        instructions = self._compared.dataset.texts("instruction")
        return str(instructions[self._compared.rows[difference.item_id]].as_py())

    def _is_right(self, index: Index) -> bool:
        system, difference = self.system_at(index.column()), self.difference(index.row())
        return system is not None and agree(difference.labels[system], difference.human)


_SHOWN: dict[int, Callable[[str], str]] = {
    Qt.ItemDataRole.DisplayRole: one_line,
    Qt.ItemDataRole.ToolTipRole: tip,
    SORT_ROLE: str,
}


_TYPING_MS = 200
_LEAST_WIDTH, _MOST_WIDTH = 16, 32  # of a column, in characters


class DifferenceList(QtWidgets.QWidget):
    opened = Signal(object, object)  # a JudgmentKey, and which of the systems or None
    listed = Signal(object, str)  # Filters of the items that are shown, and what these have in common
    failed = Signal(object)

    def __init__(self, threads: EngineThreads) -> None:
        super().__init__()
        self._compared: Compared | None = None
        self._asked_for = self._shown_for = DifferenceFilter()
        self._filtering = TaskPanel(threads, ThreadName.FILES, self, self._show_rows)
        self._filtering.failed.connect(self.failed)
        self._typing = timer(self, _TYPING_MS, self._filter)
        self.table = DifferenceTableModel(self)
        self.criterion = ComboBox()
        labels.name(self.criterion, "Criterion of the differences")
        self.one_is_right = QtWidgets.QCheckBox("E&xactly one correct")
        labels.name(self.one_is_right, "Only where exactly one system gives the human label")
        self.search = QtWidgets.QLineEdit(placeholderText="Search the items", clearButtonEnabled=True)
        self.search.setAcceptDrops(False)  # a dropped file is a submission to add
        what = "Words in the id, the instruction or the responses"
        labels.name(self.search, "Search the items that differ", what)
        self.view = dressed(FillingView(), self.table, "Items on which the systems differ")
        self.view.horizontalHeader().setSectionResizeMode(QtWidgets.QHeaderView.ResizeMode.Interactive)
        shown = "List all items shown here in Review"
        chosen = "Open the chosen item in Review"
        self.open_button = labels.button("O&pen in Review", self._open_current, chosen)
        self.list_button = labels.button("List all in Review", self._list_all, shown)
        self._can_open = False
        self._count = labels.label("", wrap=False)
        self._why_not = labels.hint("Only a run can be opened in Review, and none of these systems is one.")
        filters = labels.in_row(self.criterion, self.one_is_right, (self.search, labels.STRETCH))
        why_not = (self._why_not, labels.STRETCH)
        below = labels.in_row(self._count, why_not, 0, self.list_button, self.open_button)
        labels.in_column(filters, (self.view, labels.STRETCH), below, on=self, margins=(0, 8, 0, 0))
        self.criterion.currentIndexChanged.connect(self._filter)
        self.one_is_right.toggled.connect(self._filter)
        self.search.textChanged.connect(self._typing.start)
        self.view.doubleClicked.connect(self._open)
        self.view.selectionModel().currentChanged.connect(self._follow_current)
        self.table.modelReset.connect(self._follow_current)
        for key in ("Return", "Enter"):
            add_key(self.view, key, self._open_current)
        add_key(self, "/", self.search.setFocus, inside=True)

    def show_comparison(self, compared: "Compared") -> None:
        self._compared = compared
        self.table.show_differences(compared, ())
        self.restyle()
        criteria = dict.fromkeys(measure.criterion for measure in compared.comparison.measures)
        entries = [("All criteria", None), *((words(each).capitalize(), each) for each in criteria)]
        self.criterion.offer(entries, self.criterion.currentData())
        self._can_open = any(run is not None for run in compared.runs)
        self._why_not.setVisible(not self._can_open)
        self._filter()

    def restyle(self) -> None:
        # Each column as wide as its name and a label, but none so wide that it hides the others.
        letter, last = self.view.fontMetrics().averageCharWidth(), self.table.columnCount() - 1
        for column in range(last):
            title = self.view.horizontalHeader().sectionSizeHint(column)
            self.view.setColumnWidth(column, min(max(title, _LEAST_WIDTH * letter), _MOST_WIDTH * letter))
        self.view.fill({last: _LEAST_WIDTH * letter})

    def _filter(self) -> None:
        self._typing.stop()
        if self._compared is None:
            return
        criterion, one_is_right = self.criterion.currentData(), self.one_is_right.isChecked()
        self._asked_for = DifferenceFilter(criterion, one_is_right, self.search.text())
        self._filtering.start(filter_differences(self._compared, self._asked_for))

    def _show_rows(self, places: Sequence[int]) -> None:
        if self._compared is None:
            return
        self._shown_for = self._asked_for
        self.table.show_differences(self._compared, places)
        total = len(self._compared.differences)
        said = counted(total, "label differs", "labels differ") if total else "No label differs"
        if len(places) < total:
            said = f"{len(places):,} of {counted(total, 'label that differs', 'labels that differ')}"
        self._count.setText(said)
        if places:
            self.view.setCurrentIndex(self.table.index(0, 0))

    def _follow_current(self) -> None:
        self.open_button.setEnabled(self._can_open and self.view.currentIndex().isValid())
        self.list_button.setEnabled(self._can_open and self.table.rowCount() > 0)

    def _list_all(self) -> None:
        # Want the items that are shown, as the filters were when they were found.
        ids = frozenset(self.table.difference(row).item_id for row in range(self.table.rowCount()))
        systems, wanted = self._compared.comparison.systems if self._compared else (), self._shown_for
        parts = (
            f"{' and '.join(map(one_line, systems))} differ",
            f"on {words(wanted.criterion)}" if wanted.criterion else "",
            "exactly one is correct" if wanted.one_is_right else "",
            f"with “{one_line(wanted.text)}”" if wanted.text.strip() else "",
        )
        said = ", ".join(filter(None, parts))
        self.listed.emit(Filters(criterion=wanted.criterion, ids=ids), said)

    def _open_current(self) -> None:
        self._open(self.view.currentIndex())

    def _open(self, index: QModelIndex) -> None:
        if index.isValid() and self._can_open:
            difference = self.table.difference(index.row())
            self.opened.emit(difference.key, self.table.system_at(index.column()))


_WIDEST_SYSTEM = 40  # characters of a column: a long path would push all else out of sight
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
_MEASURES = {
    "measures": "Measures of all systems",
    "borda": "Borda counts",
    "published": "Published systems, for reference",
}
_MORE = {  # what the window alone shows, after the notes of sections
    "measures": "Bold: the best.",
    "agreement": "Press Enter or double-click a row: Review lists the items on which the two differ.",
}


class ComparisonView(QtWidgets.QTabWidget):
    listed = Signal(object, str)  # Filters of items that are wanted, and what they have in common

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setAccessibleName("Comparison")
        self.tabBar().setDrawBase(False)
        self._tables = {key: TableModel(self) for key in (*_MEASURES, "agreement")}
        self.measures, self.borda, self.published, self.agreement = self._tables.values()
        self._titles = {key: OneLine(role="heading") for key in self._tables}
        self._notes = {key: labels.hint("") for key in self._tables}
        self.differences = DifferenceList(workspace.threads)
        title, table = OneLine(role="heading"), TableModel(self)
        self.slices = SlicesPanel(workspace, _SLICES, title=title, head=title, table=table, framed=_part)
        self.in_short, self.systems, self.notes = plain_label(), labels.hint(""), plain_label(role="warning")
        self._views = [
            measure_view(self._tables[key], called, _WIDEST_SYSTEM) for key, called in _MEASURES.items()
        ]
        self.agreement_view = table_view(self.agreement, "Agreement of each two systems")
        self.agreement_view.activated.connect(self._list_pair)
        self.differences.listed.connect(self.listed)
        self.slices.listed.connect(self.listed)
        self.slices.choice.changed.connect(self._measure_slices)
        self.rankings, self.wording = SectionView(), SectionView()
        self._compared: Compared | None = None
        self._fold = Fold("", self.notes)
        whole = QtWidgets.QHeaderView.ResizeMode.ResizeToContents
        self.agreement_view.horizontalHeader().setSectionResizeMode(whole)
        self.addTab(self._measure_tab(), "Measures")
        agreement = (self._notes["agreement"], (self.agreement_view, labels.STRETCH))
        self.addTab(labels.as_column(*agreement, margins=(0, 8, 0, 0)), "Agreement")
        self.addTab(self.differences, "Differences")
        self.addTab(labels.scrolling(self.slices, "By slice"), "By slice")
        rankings = labels.scrolling(_part(self.rankings, labels.STRETCH), "Rankings")
        self._rankings_tab = self.addTab(rankings, "Rankings")
        self.setTabVisible(self._rankings_tab, False)
        self.restyle()

    def show_comparison(self, compared: "Compared") -> None:
        before, self._compared = self._compared, compared
        self.notes.setText("\n".join(compared.notes))
        self._fold.set_title(counted(len(compared.notes), "warning", "warnings"))
        self._fold.setVisible(bool(compared.notes))
        self.wording.hide()  # unless there is such a section
        for section in compared.sheet.sections:
            self._show_section(section, [one.matched.system for one in compared.evaluations])
        there = any(section.key == "published" for section in compared.sheet.sections)
        for widget in (self._titles["published"], self._notes["published"], self._views[-1]):
            widget.setVisible(there)
        self.setTabVisible(self._rankings_tab, compared.beside is not None)
        if compared.beside is not None:
            self.rankings.show_section(compared.beside.section)
        self._scroll.verticalScrollBar().setValue(0)
        self.differences.show_comparison(compared)
        self.slices.choice.show_dataset(compared.dataset)
        if before is None or before.whole is not compared.whole:
            self._measure_slices()
        self.setTabText(self.indexOf(self.differences), f"Differences ({len(compared.differences):,})")

    def _show_section(self, section: Section, systems: "Sequence[System]") -> None:
        if section.key == "guidelines":
            self.wording.show_section(section)
            self.wording.show()
            return
        for part in section.parts:
            if isinstance(part, Table):
                self._tables[section.key].show_table(_titled(part, systems, self.fontMetrics()))
        said = [text for part in section.parts if isinstance(part, Sentences) for text in part.texts]
        if section.key in self._tables:
            self._titles[section.key].setText(section.title)
            noted = filter(None, (section.note, _MORE.get(section.key, ""), *said))
            self._notes[section.key].setText(visible(" ".join(noted)))
        else:
            self.in_short.setText(visible(said[0]))
            self.systems.setText(visible("\n".join(said[1:])))

    def restyle(self) -> None:
        letter = self.agreement_view.fontMetrics().averageCharWidth()
        self.agreement_view.horizontalHeader().setMaximumSectionSize(letter * _WIDEST_SYSTEM)
        for view in (self.slices.view, self.slices.below_view):  # no name widens them more than a value
            widest = view.fontMetrics().horizontalAdvance(_WIDEST_VALUE) + _BESIDE
            view.horizontalHeader().setMaximumSectionSize(widest)
            view.fit_rows()

    def _measure_slices(self) -> None:
        if self._compared is not None:
            self.slices.measure(partial(compare_slices, self._compared.whole))

    def _list_pair(self, index: QModelIndex) -> None:
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
        where = f", on {words(pair.criterion)}" if pair.criterion else ""
        said = f"{one_line(pair.one)} and {one_line(pair.other)} differ{where}"
        self.listed.emit(Filters(criterion=pair.criterion, ids=ids), said)

    def _measure_tab(self) -> QtWidgets.QWidget:
        content = QtWidgets.QWidget()
        content.setProperty("role", "content")
        above = (self.in_short, self.systems, self._fold)
        layout = labels.in_column(*above, on=content, margins=(0, 8, 8, 0))
        for key, view in zip(_MEASURES, self._views, strict=True):
            layout.addSpacing(12)
            for widget in (self._titles[key], self._notes[key], view):
                layout.addWidget(widget)
        layout.addSpacing(12)
        layout.addWidget(self.wording)
        layout.addStretch(1)
        self._scroll = labels.scrolling(content, "Measures")
        return self._scroll


def _part(*parts: labels.Part) -> QtWidgets.QWidget:
    return labels.as_column(*parts, margins=(0, 8, 2, 0))


_MODEL_LETTERS = 14  # of mean width: a column has no room for more, and names of models differ at both ends


def _titled(table: Table, systems: "Sequence[System]", metrics: QFontMetrics) -> Table:
    """The same with the model in the title of each run's column: `run 7: demo-judge`."""
    room = _MODEL_LETTERS * metrics.averageCharWidth()
    titles = {}
    for one in systems:
        run = one.results.run if one.results else None
        if run is not None and not run.submitted:
            model = metrics.elidedText(run.identity.model_name, Qt.TextElideMode.ElideMiddle, room)
            titles[one.name] = f"{one.name}: {model}"
    columns = [replace(column, title=titles.get(column.title, column.title)) for column in table.columns]
    return replace(table, columns=columns)
