"""Tables and sheets: values, sorting, copies."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QSortFilterProxyModel, Qt
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QPushButton
from pytestqt.qtbot import QtBot

from engine.core import tables
from engine.core.tables import Column, Estimate, ItemsBehind, Kind, Section, Sentences, Sheet, Table, Value
from gui.widgets.actions import controls
from gui.widgets.glossary import HelpMark
from gui.widgets.labels import STRETCH, as_column, scrolling
from gui.widgets.text_views import SheetView
from gui.widgets.theme import DARK, LIGHT, Colours
from gui.widgets.views import SORT_ROLE, Head, HeadedModel, TableModel, measure_view
from tests.gui.fits import wrong_with
from tests.gui.labels import shown_text
from tests.gui.seen import contrast
from tests.gui.steps import column
from tests.value_kinds import ASCENDING

RIGHT_KINDS = set(Kind) - {Kind.NAME, Kind.TEXT, Kind.FLAG}


@pytest.fixture
def model(qtbot: QtBot) -> TableModel:
    return TableModel()


def show(model: TableModel, kind: Kind, values: list[Value], title: str = "title") -> None:
    row = Column("row", "criterion", Kind.NAME, "What is judged.")
    value = Column("value", title, kind, "What it is <worth>.")
    model.show_table(Table((row, value), [[f"row {place}", cell] for place, cell in enumerate(values)]))


@pytest.mark.parametrize("kind", Kind)
def test_a_view_sorts_by_value(model: TableModel, kind: Kind) -> None:
    ascending = ASCENDING[kind]
    show(model, kind, list(reversed(ascending)))
    proxy = QSortFilterProxyModel()
    proxy.setSourceModel(model)
    proxy.setSortRole(SORT_ROLE)
    rows = [f"Row {place}" for place in range(len(ascending))]
    for order, expected in ((Qt.SortOrder.AscendingOrder, rows[::-1]), (Qt.SortOrder.DescendingOrder, rows)):
        proxy.sort(1, order)
        assert column(proxy, 0) == expected


@pytest.mark.parametrize("kind", Kind)
def test_numbers_are_aligned_right_whatever_is_in_the_cells(model: TableModel, kind: Kind) -> None:
    side = Qt.AlignmentFlag.AlignRight if kind in RIGHT_KINDS else Qt.AlignmentFlag.AlignLeft
    nothing: list[Value] = [None, ""]
    for values in (ASCENDING[kind], nothing):
        show(model, kind, values)
        aligned = [model.index(0, 1).data(Qt.ItemDataRole.TextAlignmentRole)]
        aligned.append(model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.TextAlignmentRole))
        assert aligned == [int(side | Qt.AlignmentFlag.AlignVCenter)] * 2


@pytest.mark.parametrize(
    ("title", "shown"), [("both_good", "Both good"), ("bias A", "Bias A"), ("95 % interval", "95 % interval")]
)
def test_headers_begin_with_a_capital_and_have_a_meaning(model: TableModel, title: str, shown: str) -> None:
    show(model, Kind.COUNT, [1], title)
    assert model.headerData(1, Qt.Orientation.Horizontal) == shown
    said = model.headerData(1, Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
    assert "What it is &lt;worth&gt;." in said


def test_names_begin_with_a_capital_letter_and_other_texts_stay(model: TableModel) -> None:
    show(model, Kind.TEXT, ["not surely"])
    assert [model.index(0, column).data() for column in range(2)] == ["Row 0", "not surely"]
    assert model.as_text() == "criterion\ttitle\nrow 0\tnot surely"
    model.clear()
    assert (model.rowCount(), model.columnCount(), model.as_text()) == (0, 0, "")


class LabelTokens(HeadedModel):
    def __init__(self) -> None:
        super().__init__((Head("Letter", "One of <them>"), Head("Place\u202e", is_number=True)))

    def _count_rows(self) -> int:
        return 2


def test_a_model_with_heads_says_and_aligns_them_and_is_no_tree(qtbot: QtBot) -> None:
    model = LabelTokens()
    across, right = Qt.Orientation.Horizontal, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    titles = [model.headerData(place, across) for place in (-1, 0, 1, 2)]
    assert titles == [None, "Letter", "Place\\u202e", None]
    assert model.headerData(0, Qt.Orientation.Vertical) is None
    assert "One of &lt;them&gt;" in model.headerData(0, across, Qt.ItemDataRole.ToolTipRole)
    role = Qt.ItemDataRole.TextAlignmentRole
    assert model.headerData(1, across, role) == model.index(0, 1).data(role) == int(right)
    below = model.index(0, 0)
    assert (model.rowCount(), model.columnCount()) == (2, 2)
    assert (model.rowCount(below), model.columnCount(below)) == (0, 0)


MATRIX = Table(
    [
        Column("row", "candidate", Kind.TEXT, "A model."),
        *(Column(name, name, Kind.ESTIMATE, "What was won.", foreign=True, shaded=True) for name in "xy"),
    ],
    [["x", "", Estimate(0.9, (0.8, 0.95))], ["y", Estimate(0.1, (0.05, 0.2)), ""]],
    frozenset({(0, 2)}),
    [ItemsBehind(frozenset("12"), None, "x"), ItemsBehind(frozenset("12"), None, "y")],
    {(0, 2): ItemsBehind(frozenset("1"), None, "x against y")},
)


def test_a_shaded_cell_has_its_number_on_the_colour_of_the_theme_and_its_interval_for_whoever_asks(
    model: TableModel, dressed: Colours
) -> None:
    model.show_table(MATRIX)
    high, low, none = model.index(0, 2), model.index(1, 1), model.index(0, 1)
    assert [each.data() for each in (high, low, none)] == ["90.0", "10.0", ""]
    assert "x against y: 90.0 (80.0 to 95.0)" in high.data(Qt.ItemDataRole.ToolTipRole)
    assert high.data(Qt.ItemDataRole.AccessibleTextRole) == "90.0 (80.0 to 95.0), stands out"
    assert low.data(Qt.ItemDataRole.AccessibleTextRole) == "10.0 (5.0 to 20.0)"
    ground = Qt.ItemDataRole.BackgroundRole
    assert high.data(ground).color().name() == dressed.shade(0.9) != low.data(ground).color().name()
    assert none.data(ground) is model.index(0, 0).data(ground) is None


@pytest.mark.parametrize("used", [LIGHT, DARK])
def test_letters_can_be_read_on_every_shade(used: Colours) -> None:
    shades = [QColor(used.shade(share / 20)) for share in range(21)]
    assert min(contrast(QColor(used.text), shade) for shade in shades) >= 4.5
    assert used.shade(0.5) == used.field
    assert min(contrast(shades[end], QColor(used.field)) for end in (0, 20)) > 1.3


def test_a_cell_tells_of_its_own_items_else_of_those_of_its_row(model: TableModel) -> None:
    model.show_table(MATRIX)
    behind = [model.behind(*cell) for cell in ((0, 2), (0, 1), (1, 0))]
    assert [each and each.words for each in behind] == ["x against y", "x", "y"]


def test_shaded_columns_share_the_room_that_a_long_name_leaves(qtbot: QtBot, model: TableModel) -> None:
    view = measure_view(model, "Pairwise win rates", widest=20)
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    model.show_table(replace(MATRIX, rows=[["x" * 255, *MATRIX.rows[0][1:]], MATRIX.rows[1]]))
    name, *shaded = (view.columnWidth(column) for column in range(3))
    assert name <= 20 * view.fontMetrics().averageCharWidth()
    assert abs(shaded[0] - shaded[1]) <= 1
    assert name + sum(shaded) == view.viewport().width()
    assert view.selectionBehavior() is QAbstractItemView.SelectionBehavior.SelectItems
    show(model, Kind.COUNT, [1])
    assert view.selectionBehavior() is QAbstractItemView.SelectionBehavior.SelectRows


def test_the_menu_of_a_table_copies_text_latex_and_markdown(qtbot: QtBot, model: TableModel) -> None:
    view = measure_view(model, "Each & all")
    qtbot.addWidget(view)
    show(model, Kind.COUNT, [1], title="R&D")
    copied = {}
    for action in view.actions():
        action.trigger()
        copied[action.text().replace("&", "")] = QGuiApplication.clipboard().text()
    assert copied["Copy"] == "criterion\tR&D\nrow 0\t1"
    assert r"\caption{Each \& all}" in copied["Copy as LaTeX"]
    assert copied["Copy as Markdown"] == "| criterion | R\\&D |\n| :--- | ---: |\n| row 0 | 1 |"


TABLE = Table((Column("name", "name", Kind.NAME, "A name."),), [["one"], ["two"]])
SAID = Section(
    "said", "In short", [Sentences(["So it is."]), tables.Picture("it"), tables.Facts([("a", "b")])]
)
MEASURED = Section("measured", "Measured", [TABLE], "What it is.", ("Kappa", "Macro-F1"))


def shown(qtbot: QtBot, *sections: Section) -> SheetView:
    view = SheetView()
    qtbot.addWidget(view)
    view.show_sheet(Sheet("", sections))
    view.show()
    return view


def test_a_section_shows_what_a_window_can_show_of_it(qtbot: QtBot) -> None:
    view = shown(qtbot, SAID, MEASURED)
    text = shown_text(view)
    assert text.startswith("In short\nSo it is.\nMeasured\n")
    assert "What it is. F1 explains: Kappa, Macro-F1." in text
    assert [mark.topic.value for mark in view.findChildren(HelpMark)] == ["Kappa"]  # the first of them
    section = view.section("measured")
    assert [table.rowCount() for table in section.tables] == [2]


def test_sentences_are_whole_in_a_narrow_window(qtbot: QtBot) -> None:
    view = shown(qtbot, Section("said", "In short", [Sentences(["A sentence of words. " * 20])]))
    area = scrolling(as_column(view, STRETCH))
    qtbot.addWidget(area)
    area.resize(240, 300)  # narrower than Qt would like the sentences to be
    area.show()
    assert wrong_with(area) == []


def test_a_section_grows_in_place_and_goes(qtbot: QtBot) -> None:
    uncertainty = Sentences(["Few items."], tables.Tone.CAVEAT)
    view = shown(qtbot, Section("measured", "Measured", []))
    first = view.section("measured")
    assert not first.tables
    view.show_sheet(Sheet("", [SAID, Section("measured", "Measured", [uncertainty, TABLE])]))
    assert view.section("measured") is first
    assert [shown_text(part) for part in first.parts] == ["Few items.", ""]
    assert len(first.tables) == 1
    above = view.section("said")
    assert above.y() <= first.y()
    view.show_sheet(None)
    assert view.section("measured") is None


def test_tab_goes_down_the_page_also_to_what_came_later(qtbot: QtBot) -> None:
    above, inside = QPushButton("above"), QPushButton("inside")
    view = SheetView({"measured": inside}, {"measured": above})
    qtbot.addWidget(view)
    view.show_sheet(Sheet("", [SAID]))
    view.show_sheet(Sheet("", [Section("first", "First", [TABLE]), SAID, MEASURED]))
    view.show()
    assert controls(view)[1:4] == [above, view.findChild(HelpMark), inside]
