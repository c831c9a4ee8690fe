"""The table of a dataset's items, and its columns."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableView
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from engine.data.dataset import Dataset, load_dataset
from engine.system.paths import demo_dataset
from gui.dataset.item_list import ItemColumns, ItemTableModel, column_named
from gui.widgets.theme import DARK, LIGHT
from gui.widgets.views import SORT_ROLE, table_view
from tests.commands import ROOT

HOSTILE = "<b>x</b><img src='file:///etc/passwd'> <|eot_id|> \u202eabc\x07"
SHOWN = """
import sys
from pathlib import Path
from engine.data.dataset import load_dataset
from gui.dataset.item_list import ItemTableModel
from gui.workspace.open_run import gold_mark

for path in sys.argv[1:]:
    dataset = load_dataset(Path(path))
    model = ItemTableModel()
    model.show_dataset(dataset)
    gold_mark(dataset.only({"1", "2"}).head(1))
    assert model.text(model.index(0, 1)) == dataset[0].instruction
assert "pandas" not in sys.modules, "pandas"
"""
DISPLAY, TIP = Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole


@pytest.fixture(scope="module")
def demo() -> Dataset:
    return load_dataset(demo_dataset())


@pytest.fixture
def table(qtbot: QtBot, demo: Dataset) -> ItemTableModel:
    made = ItemTableModel()
    made.show_dataset(demo)
    return made


@pytest.fixture
def view(qtbot: QtBot, table: ItemTableModel) -> QTableView:
    made = table_view(table, "Items")
    qtbot.addWidget(made)
    return made


def titles(table: ItemTableModel) -> list[str]:
    return [
        table.headerData(place, Qt.Orientation.Horizontal, DISPLAY) for place in range(table.columnCount())
    ]


def test_it_is_a_sound_model(table: ItemTableModel, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(table)


def test_all_items_are_shown_with_a_column_for_each_labelled_criterion(
    table: ItemTableModel, demo: Dataset
) -> None:
    assert table.rowCount() == len(demo)
    criteria = [name.replace("_", " ").capitalize() for name in demo.criteria]
    assert titles(table) == ["Id", "Instruction", "Response A", "Response B", *criteria]
    for row in (0, 77, len(demo) - 1):
        item = demo[row]
        texts = [table.text(table.index(row, column)) for column in range(4)]
        assert texts == [item.id, item.instruction, item.output_a, item.output_b]
        label = item.gold["relevance"].label
        assert table.data(table.index(row, 4), SORT_ROLE) == label


def test_without_labels_only_the_texts_are_columns(qtbot: QtBot, save: Callable[[str, bytes], Path]) -> None:
    table = ItemTableModel()
    table.show_dataset(load_dataset(save("x.tsv", b"id\tinstruction\toutput_a\toutput_b\n1\tx\ty\tz\n")))
    assert titles(table) == ["Id", "Instruction", "Response A", "Response B"]


def test_rows_are_shown_in_the_order_that_was_found(table: ItemTableModel, demo: Dataset) -> None:
    table.show_rows(np.array([7, 3, 200]))
    assert table.rowCount() == 3
    assert [table.item_at(place) for place in range(3)] == [7, 3, 200]
    assert table.text(table.index(1, 0)) == demo[3].id
    assert (table.place_of(200), table.place_of(4)) == (2, None)
    table.show_rows(None)
    assert table.rowCount() == len(demo)
    assert (table.place_of(4), table.place_of(len(demo))) == (4, None)


def test_labels_are_words_with_the_colour_of_the_theme(table: ItemTableModel, demo: Dataset) -> None:
    row = next(row for row, item in enumerate(demo) if item.gold["relevance"].label == "both_good")
    index = table.index(row, 4)
    assert table.data(index, DISPLAY) == "both good"
    assert table.data(index, Qt.ItemDataRole.DecorationRole) == QColor(LIGHT.label_both_good)
    table.set_colours(DARK)
    assert table.data(index, Qt.ItemDataRole.DecorationRole) == QColor(DARK.label_both_good)


def test_foreign_text_is_no_markup_and_hides_nothing(
    qtbot: QtBot, save: Callable[[str, bytes], Path]
) -> None:
    row = "\t".join(["1", HOSTILE, HOSTILE * 100, "z"])
    data = f"id\tinstruction\toutput_a\toutput_b\n{row}\n".encode()
    table = ItemTableModel()
    table.show_dataset(load_dataset(save("x.tsv", data)))
    shown = table.data(table.index(0, 1), DISPLAY)
    assert shown == HOSTILE.replace("\u202e", "\\u202e").replace("\x07", "\\x07")
    assert "<b>" not in table.data(table.index(0, 1), TIP)
    assert len(table.data(table.index(0, 2), DISPLAY)) < 2 * 240
    assert table.text(table.index(0, 1)) == HOSTILE


def test_a_typed_letter_does_not_search_all_cells(view: QTableView, qtbot: QtBot) -> None:
    view.setCurrentIndex(view.model().index(3, 1))
    QTest.keyClicks(view, "q")
    assert view.currentIndex().row() == 3
    assert view.model().match(QModelIndex(), DISPLAY, "1") == []


def test_widths_and_hidden_columns_are_kept_by_name(view: QTableView, table: ItemTableModel) -> None:
    columns = ItemColumns(view, table, {})
    columns.apply()
    view.horizontalHeader().resizeSection(2, 333)
    for column in table.columns[:2]:
        columns.set_shown(column, False)
    kept = columns.record()
    other = table_view(table, "Items")
    ItemColumns(other, table, kept).apply()
    assert abs(other.columnWidth(2) - 333) <= other.fontMetrics().averageCharWidth()
    assert other.isColumnHidden(1)
    assert not other.isColumnHidden(0), "the id is always shown"
    assert kept["hidden"] == ["instruction"]


@pytest.mark.parametrize(
    "damaged", [{"widths": 3, "hidden": "x"}, {"widths": {"id": "wide"}}, {"widths": {"id": -1e9}}]
)
def test_damaged_memory_of_columns_does_no_harm(
    view: QTableView, table: ItemTableModel, damaged: dict[str, object]
) -> None:
    ItemColumns(view, table, damaged).apply()
    assert view.columnWidth(0) > 10
    assert not view.isColumnHidden(column_named(table.columns, "output_a") or 0)


@pytest.mark.slow
def test_a_dataset_is_shown_without_pandas(demo_file: Callable[[str], Path]) -> None:
    files = [str(demo_file(suffix)) for suffix in ("tsv", "parquet")]
    subprocess.run([sys.executable, "-c", SHOWN, *files], cwd=ROOT, check=True)
