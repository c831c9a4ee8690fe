"""The Rankings tab: candidates as two systems rank them, where the labelled dataset names them."""

import json
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.system.paths import demo_dataset
from gui.compare.compare_page import ComparePage
from gui.workspace.workspace import Workspace
from tests.commands import give
from tests.gui.compare.ranking_steps import comparisons_file, run_of
from tests.gui.compare.steps import cells, choose, compare, press


def listed_page(qtbot: QtBot, space: Workspace) -> ComparePage:
    page = ComparePage(space)
    qtbot.addWidget(page)
    page.show()
    with qtbot.waitSignal(space.runs_changed):
        page.entered()
    return page


def tick(page: ComparePage, *rows: int) -> None:
    view = page.choosing.systems.view
    for row in rows:
        view.setCurrentRow(row)
        press(view, Qt.Key.Key_Space)


def tab_is_there(page: ComparePage) -> bool:
    return page.view.isTabVisible(page.view._rankings_tab)


def test_two_runs_rank_the_candidates_side_by_side_as_the_command_does(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path
) -> None:
    comparisons = comparisons_file(tmp_path / "contests.jsonl")
    for key in ("one", "two"):
        run_of(tmp_path, comparisons, key)
    page = listed_page(qtbot, workspace)
    tick(page, 0, 1)
    with qtbot.waitSignal(page.choosing.gold_changed):
        page.choosing.choose_gold(comparisons)
    assert compare(qtbot, page) == ""
    assert tab_is_there(page)
    (places,) = page.view.rankings.tables  # no pair is swapped: both say the same
    assert [row[0] for row in cells(places)[1:]] == ["great", "fair", "poor"]
    with qtbot.waitSignal(workspace.note):
        page.save(tmp_path / "window.json")
    runs = [str(run.id) for run in workspace.runs]
    words = [*runs, "--gold", str(comparisons), "--store", str(workspace.store_path)]
    assert give("compare", *words, "--json", tmp_path / "command.json") == 0
    window, command = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("window", "command"))
    assert window["side_by_side"]["kendall_tau_b"] == 1
    assert window["side_by_side"]["pairs"] == command["side_by_side"]["pairs"]
    assert (
        window["side_by_side"]["kendall_tau_b_interval"] == command["side_by_side"]["kendall_tau_b_interval"]
    )


def test_no_tab_where_the_dataset_names_no_candidates(qtbot: QtBot, page: ComparePage, worse: Path) -> None:
    choose(qtbot, page, demo_dataset(), worse)
    assert compare(qtbot, page) == ""
    assert not tab_is_there(page)


def test_a_third_system_takes_the_tab_away(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> None:
    comparisons = comparisons_file(tmp_path / "contests.jsonl", 40)
    for key in ("one", "two", "three"):
        run_of(tmp_path, comparisons, key)
    page = listed_page(qtbot, workspace)
    tick(page, 0, 1)
    with qtbot.waitSignal(page.choosing.gold_changed):
        page.choosing.choose_gold(comparisons)
    assert compare(qtbot, page) == ""
    page.view.setCurrentIndex(page.view._rankings_tab)
    tick(page, 2)
    assert compare(qtbot, page) == ""
    assert not tab_is_there(page)
    assert page.view.currentIndex() != page.view._rankings_tab
