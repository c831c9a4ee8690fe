"""Slices on the Results page: all slices side by side, one of them alone, its items in Review."""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_note
from engine.data.dataset import load_dataset
from engine.data.slices import Slicing, slicing
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import match, system_of_run
from engine.metrics.slices import measure_slices
from engine.report.accuracy import accuracy_table
from engine.report.slices import slice_table
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from gui.results.results_page import ResultsPage
from gui.review.annotators import Reviewer
from gui.workspace.file_jobs import DRAWN
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.gui.results.steps import doubts, exported, measured, open_run, table_of


def divide(qtbot: QtBot, page: ResultsPage, by: str) -> Slicing:
    """Choose by hand by what the items are divided."""
    choice = page.slices.choice
    qtbot.waitUntil(lambda: choice.by.findData(by) > 0, timeout=10_000)
    choice.by.setCurrentIndex(choice.by.findData(by))
    choice.by.activated.emit(choice.by.currentIndex())
    qtbot.waitUntil(lambda: page.slices.sliced is not None and page.slices.sliced.division.by == by)
    assert choice.slicing is not None
    return choice.slicing


def keep_to(qtbot: QtBot, page: ResultsPage, key: str | None) -> None:
    """Choose one slice, or all."""
    choice = page.slices.choice
    assert choice.slicing is not None
    keys = [None, *(part.key for part in choice.slicing.slices)]
    choice.parts.setCurrentIndex(keys.index(key))
    choice.parts.activated.emit(choice.parts.currentIndex())
    measured(qtbot, page)


@pytest.mark.slow
def test_all_slices_stand_in_a_table_whose_rows_list_their_items_and_in_the_report(
    qtbot: QtBot, opened: ResultsPage, demo_store: Path, demo_gold: Path, tmp_path: Path
) -> None:
    division = divide(qtbot, opened, "longer")
    assert opened.tabs.tabText(opened.tabs.currentIndex()).replace("&", "") == "By slice"
    with RunStore(demo_store) as store:
        matched = match(system_of_run(load_results(store, 1)), load_dataset(demo_gold))
    expected = slice_table(measure_slices(matched, slicing(matched.dataset, "longer")))
    assert opened.slices.sliced is not None
    shown = opened.slices.sliced.table
    places = [place for place, column in enumerate(shown.columns) if column.key != DRAWN]
    assert [[row[place] for place in places] for row in shown.rows] == [list(row) for row in expected.rows]
    assert "Many slices mean multiple comparisons" in opened.slices.what.text()
    assert opened.slices.below.rowCount() == len(expected.rows)
    view: QTableView = opened.slices.view
    place = opened.slices.table.index(1, 0)
    view.setFocus()
    view.setCurrentIndex(place)
    port, spot = view.viewport(), view.visualRect(place).center()
    keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    methods: list[Callable[[], object]] = [partial(QTest.keyClick, view, key) for key in keys]
    methods.append(lambda: QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=spot))
    for ask in methods:
        with qtbot.waitSignal(opened.workspace.listing_wanted) as wanted:
            ask()
        assert wanted.args is not None
        assert wanted.args[0].filters.ids == division.slices[1].known
        assert wanted.args[0].words == f"which response is longer = {division.slices[1].name}"
    path = tmp_path / "report.html"
    exported(qtbot, opened, lambda: opened.export_report(path=path))
    assert "<h2>By which response is longer</h2>" in path.read_text("utf-8")


@pytest.mark.slow
def test_one_slice_restricts_scores_figures_and_weights(
    qtbot: QtBot, opened: ResultsPage, demo_store: Path, demo_gold: Path
) -> None:
    division = divide(qtbot, opened, "label:overall_quality")
    part = division.slices[0]
    keep_to(qtbot, opened, part.key)
    with RunStore(demo_store) as store:
        matched = match(system_of_run(load_results(store, 1)), load_dataset(demo_gold)).only(part.known, "x")
    expected = accuracy_table(evaluate(matched))
    shown = table_of(opened, "accuracy").as_text().split("\n")
    assert shown == ["\t".join(row) for row in (expected.titles, *expected.texts())]
    words = f"human label: overall quality = {part.name}, {len(part)} items of {DEMO_ITEMS}"
    assert words in doubts(opened)
    assert opened.measurer.scores is not None
    assert opened.measurer.scores.gold is not None
    assert set(opened.measurer.scores.gold.ids) == part.known
    assert opened.slices.table.rowCount() == len(division.slices)  # the table shows all of them still
    with qtbot.waitSignal(opened.slices.choice.changed, timeout=10_000):
        opened.workspace.open_run(1)  # again: what is chosen stays
    measured(qtbot, opened)
    assert words in doubts(opened)
    keep_to(qtbot, opened, None)
    assert "Only a slice" not in doubts(opened)
    assert table_of(opened, "accuracy").index(0, 1).data() == str(DEMO_ITEMS)


def test_without_human_labels_labels_are_counted_by_slice(
    qtbot: QtBot, space: Workspace, page: ResultsPage, demo_gold: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.tsv"
    rows = [line.split("\t")[:4] for line in demo_gold.read_text("utf-8").splitlines()]
    bare.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    with sqlite3.connect(space.store_path) as db:
        db.execute("UPDATE run SET dataset_path = ?", (str(bare),))
    db.close()
    open_run(qtbot, page, 1)
    divide(qtbot, page, "length")
    assert space.gold is None
    assert page.slices.sliced is not None
    assert sum(part.items for part in page.slices.sliced.measured[0].slices) == DEMO_ITEMS
    assert page.slices.table.columnCount() == 4
    keep_to(qtbot, page, "short")
    assert "Only one slice is shown: length of both responses = short" in doubts(page)


# Tags of people


def tag(space: Workspace, item: int, author: str, *tags: str) -> None:
    """Tag an item of the open run; what is written there is read again when the slices are shown."""
    assert space.run is not None
    with RunStore(space.store_path) as store:
        store.annotate(None, new_note(space.run.results.judged[item].content_hash, "", tags, author))
    space.noted.emit(space.run.results.judged[item].content_hash)


def test_items_are_divided_by_their_tags_also_by_those_given_while_the_page_is_hidden(
    qtbot: QtBot, opened: ResultsPage
) -> None:
    choice = opened.slices.choice
    assert choice.by.findData("tag") < 0
    tag(opened.workspace, 0, "Ada", "hard", "odd")
    tag(opened.workspace, 1, "Ben", "hard")
    division = divide(qtbot, opened, "tag")
    assert [(part.name, len(part)) for part in division.slices] == [
        ("hard", 2),
        ("odd", 1),
        ("(no tag)", DEMO_ITEMS - 2),
    ]
    keep_to(qtbot, opened, "hard")
    assert f"tag = hard, 2 items of {DEMO_ITEMS}" in doubts(opened)
    opened.hide()
    tag(opened.workspace, 2, "Ada", "hard")
    opened.show()
    qtbot.waitUntil(lambda: choice.slicing is not None and len(choice.slicing.slices[0]) == 3, timeout=10_000)


def test_who_labels_blind_is_shown_his_own_tags_alone(qtbot: QtBot, opened: ResultsPage) -> None:
    space = opened.workspace
    space.set_author("Ada")
    tag(space, 0, "Ada", "mine")
    tag(space, 1, "Ben", "theirs")
    division = divide(qtbot, opened, "tag")
    keep_to(qtbot, opened, "theirs")
    reviewer = Reviewer(space)
    reviewer.switch_blind(True)
    choice = opened.slices.choice
    qtbot.waitUntil(lambda: choice.slicing is not None and choice.slicing != division, timeout=10_000)
    assert choice.slicing is not None
    assert [part.name for part in choice.slicing.slices] == ["mine", "(no tag)"]
    measured(qtbot, opened)
    assert "theirs" not in doubts(opened)
    space.set_author("Cleo")  # who has no tags
    qtbot.waitUntil(lambda: choice.slicing is None and choice.by.findData("tag") < 0, timeout=10_000)
    reviewer.switch_blind(False)
    qtbot.waitUntil(lambda: choice.by.findData("tag") > 0, timeout=10_000)
