"""Slices on the page Compare: all systems on each, one of them alone, its items in Review, saved."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_note
from engine.data.slices import Slicing
from engine.metrics.slices import measure_slices
from engine.ranking.weighted_scoring import weigh_by_default
from engine.report.slices import compared_slice_table, compared_win_table
from engine.store.run_store import RunStore
from gui.compare.compare_page import ComparePage
from gui.widgets.value_table import TableModel
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.gui.compare.steps import Save, cells, choose, compare, press


@pytest.fixture
def compared(qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path) -> ComparePage:
    """The page with two systems side by side."""
    choose(qtbot, page, demo_gold, worse)
    assert compare(qtbot, page) == ""
    return page


def adjudicated(qtbot: QtBot, page: ComparePage) -> None:
    tab = page.view.slices
    qtbot.waitUntil(lambda: not (tab.choice._dividing.busy or tab._measuring.busy), timeout=10_000)
    qtbot.waitUntil(lambda: not page._comparing.busy, timeout=10_000)


def divide(qtbot: QtBot, page: ComparePage, by: str) -> Slicing:
    """Choose by hand by what the items are divided."""
    choice = page.view.slices.choice
    qtbot.waitUntil(lambda: choice.by.findData(by) > 0, timeout=10_000)
    choice.by.setCurrentIndex(choice.by.findData(by))
    choice.by.activated.emit(choice.by.currentIndex())
    qtbot.waitUntil(lambda: choice.slicing is not None and choice.slicing.by == by, timeout=10_000)
    adjudicated(qtbot, page)
    assert choice.slicing is not None
    return choice.slicing


def keep_to(qtbot: QtBot, page: ComparePage, place: int) -> None:
    """Choose a slice, from 1, or all by 0."""
    parts = page.view.slices.choice.parts
    parts.setCurrentIndex(place)
    parts.activated.emit(place)
    adjudicated(qtbot, page)


def shown(table: TableModel) -> list[list[str]]:
    return cells(table)[1:]


def test_there_is_nothing_to_divide_before_a_comparison(page: ComparePage) -> None:
    assert page.slices.isHidden()


def test_all_systems_stand_on_each_slice_also_in_what_is_saved(
    qtbot: QtBot, compared: ComparePage, tmp_path: Path
) -> None:
    assert compared.slices.isVisible()
    division = divide(qtbot, compared, "longer")
    assert compared.view.tabText(compared.view.currentIndex()) == "By slice"
    assert compared.compared is not None
    matched = [evaluation.matched for evaluation in compared.compared.evaluations]
    measured = [measure_slices(one, division) for one in matched]
    tab = compared.view.slices
    assert shown(tab.table) == compared_slice_table(matched, measured).texts()
    assert cells(tab.table)[0][-2:] == ["difference", ""]
    weighed = {one.system.name: weigh_by_default(one, division) for one in matched}
    known = {name: found for name, found in weighed.items() if found is not None}
    assert shown(tab.below) == compared_win_table(measured[0], known).texts()
    assert "Many slices mean multiple comparisons" in tab.what.text()
    assert tab.title.text().startswith("By which response is longer: accuracy in percent")
    path = tmp_path / "comparison.json"
    with qtbot.waitSignal(compared.workspace.note, timeout=10_000):
        compared.save(path)
    saved = json.loads(path.read_text("utf-8"))
    assert set(saved["slices"]) == set(saved["wins"][0]) == {"run 1", "worse.tsv"}
    names = [found["slice"] for found in saved["slices"]["run 1"][0]["slices"]]
    assert names == [part.name for part in division.slices]


@pytest.mark.slow
def test_one_slice_restricts_measures_agreement_and_differences(qtbot: QtBot, compared: ComparePage) -> None:
    whole = shown(compared.view.measures), compared.view.tabText(2)
    division = divide(qtbot, compared, "longer")
    keep_to(qtbot, compared, 1)
    part = division.slices[0]
    assert compared.compared is not None
    assert compared.compared.comparison.items == len(part) < DEMO_ITEMS
    assert {found.item_id for found in compared.compared.differences} <= part.known
    text = f"On {len(part)} items with the human labels of gold.tsv: {compared.slices.words}"
    assert compared.view._titles["measures"].text() == text
    assert shown(compared.view.measures) != whole[0]
    assert len(shown(compared.view.slices.table)) == len(division.slices)  # all of them still
    assert not compared.stale.isVisible()
    assert compare(qtbot, compared) == ""  # again: what is chosen stays
    adjudicated(qtbot, compared)
    assert compared.compared.comparison.items == len(part)
    keep_to(qtbot, compared, 0)  # which was not measured this time
    assert (shown(compared.view.measures), compared.view.tabText(2)) == whole
    assert (
        compared.view._titles["measures"].text() == f"On {DEMO_ITEMS} items with the human labels of gold.tsv"
    )


def test_a_row_lists_its_items_in_review(qtbot: QtBot, compared: ComparePage) -> None:
    division = divide(qtbot, compared, "longer")
    view = compared.view.slices.view
    place = view.model().index(1, 0)
    view.setCurrentIndex(place)
    port, spot = view.viewport(), view.visualRect(place).center()
    methods: list[Callable[[], object]] = [lambda: press(view, Qt.Key.Key_Return)]
    methods.append(lambda: QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=spot))
    for ask in methods:
        with qtbot.waitSignal(compared.workspace.listing_wanted, timeout=10_000) as wanted:
            ask()
        assert wanted.args is not None
        assert wanted.args[0].filters.ids == division.slices[1].known
        assert wanted.args[0].words == f"which response is longer = {division.slices[1].name}"
    wins = compared.view.slices.below_view
    for row, slice_place in ((1, 0), (2, 1)):  # two systems on each slice
        with qtbot.waitSignal(compared.view.listed, timeout=10_000) as listed:
            wins.activated.emit(wins.model().index(row, 0))
        assert listed.args is not None
        assert listed.args[0].ids == division.slices[slice_place].known


def test_a_slice_without_labels_is_refused_and_not_shown_as_chosen(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path, save: Save
) -> None:
    """Items 1 and 2 have lost their human labels, and are a slice of their own."""
    header, *rows = [line.split("\t") for line in demo_gold.read_text("utf-8").splitlines()]
    bare = [[*row[:4], *[""] * (len(row) - 4), "b"] for row in rows[:2]]
    lines = [[*header, "kind"], *bare, *([*row, "a"] for row in rows[2:])]
    gold = save("some.tsv", "".join("\t".join(line) + "\n" for line in lines).encode())
    choose(qtbot, page, gold, worse)
    assert compare(qtbot, page) == ""
    division = divide(qtbot, page, "column:kind")
    place = [part.key for part in division.slices].index("b") + 1
    keep_to(qtbot, page, place)
    assert "No item of the slice kind = b has a human label" in page.notice.text
    assert page.slices.part is None
    assert page.slices.parts.currentIndex() == 0
    assert page.compared is not None
    assert page.compared.comparison.items == DEMO_ITEMS


def test_items_are_divided_by_tags(qtbot: QtBot, compared: ComparePage, space: Workspace) -> None:
    assert compared.slices.by.findData("tag") < 0
    assert compared.compared is not None
    hashes = [item.content_hash for item in compared.compared.dataset]
    with RunStore(space.store_path) as store:
        store.annotate(None, new_note(hashes[0], "", ["hard", "odd"], "Ada"))
        store.annotate(None, new_note(hashes[1], "", ["hard"], "Ada"))
    assert compare(qtbot, compared) == ""
    space.noted.emit(hashes[0])
    divide(qtbot, compared, "tag")
    found = [(row[0], row[1]) for row in shown(compared.view.slices.table)]
    assert found == [("hard", "2"), ("odd", "1"), ("(no tag)", str(DEMO_ITEMS - 2))]
