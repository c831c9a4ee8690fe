"""Slices, rankings side by side, and juries on the page Compare."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from engine.analysis.review_order import by_item, review_rows
from engine.annotations.records import ListOrder, new_note
from engine.core.column_map import JudgeFile
from engine.core.rubric import Criterion, Rubric
from engine.data.dataset import load_dataset
from engine.data.slices import Slicing
from engine.metrics.evaluation import measure_slices
from engine.ranking.weighted_scoring import weigh_by_default
from engine.report.slices import compared_slice_table, compared_win_table
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset
from gui.compare.compare_jobs import CompareRequest
from gui.compare.compare_page import ComparePage, JuryDialog
from gui.widgets.views import TableModel
from gui.workspace.workspace import Workspace
from tests.commands import give
from tests.conftest import DEMO_ITEMS
from tests.gui.compare.steps import (
    Save,
    cells,
    choose,
    choose_labels,
    compare,
    comparisons_file,
    listed,
    run_of,
)
from tests.gui.steps import double_click, pick, press
from tests.judged import SURE_A, stored_run


def at_rest(qtbot: QtBot, page: ComparePage) -> None:
    tab = page.view.slices
    qtbot.waitUntil(lambda: not (tab.choice._dividing.busy or tab._measuring.busy))
    qtbot.waitUntil(lambda: not page._comparing.busy)


def divide(qtbot: QtBot, page: ComparePage, by: str) -> Slicing:
    choice = page.view.slices.choice
    qtbot.waitUntil(lambda: choice.by.findData(by) > 0)
    pick(choice.by, by)
    qtbot.waitUntil(lambda: choice.slicing is not None and choice.slicing.by == by)
    at_rest(qtbot, page)
    return choice.slicing


def keep_to(qtbot: QtBot, page: ComparePage, place: int) -> None:
    """Choose a slice, from 1, or all by 0."""
    parts = page.view.slices.choice.parts
    parts.setCurrentIndex(place)
    parts.activated.emit(place)
    at_rest(qtbot, page)


def shown(table: TableModel) -> list[list[str]]:
    return cells(table)[1:]


def test_all_systems_stand_on_each_slice_and_saved(qtbot: QtBot, both: ComparePage, tmp_path: Path) -> None:
    assert both.slices.isVisible()
    division = divide(qtbot, both, "longer")
    assert both.view.slices.isAncestorOf(both.slices.by)
    both.view.setCurrentWidget(both.view.widget(3))
    matched = [evaluation.matched for evaluation in both.compared.evaluations]
    measured = [measure_slices(one, division) for one in matched]
    tab = both.view.slices
    assert shown(tab.table) == compared_slice_table(matched, measured).texts()
    assert cells(tab.table)[0][-2:] == ["difference", ""]
    weighed = {one.system.name: weigh_by_default(one, division) for one in matched}
    known = {name: found for name, found in weighed.items() if found is not None}
    assert shown(tab.below) == compared_win_table(measured[0], known).texts()
    assert "Many slices mean multiple comparisons" in tab.note.text()
    assert tab.title.text().startswith("By which response is longer: accuracy in percent")
    path = tmp_path / "comparison.json"
    with qtbot.waitSignal(both.workspace.notice):
        both.save(path)
    saved = json.loads(path.read_text("utf-8"))
    assert set(saved["slices"]) == set(saved["wins"][0]) == {"run 1", "worse.tsv"}
    names = [found["slice"] for found in saved["slices"]["run 1"][0]["slices"]]
    assert names == [part.name for part in division.slices]
    lists_its_items(qtbot, both, division)


@pytest.mark.slow
def test_one_slice_restricts_measures_agreement_and_differences(qtbot: QtBot, both: ComparePage) -> None:
    whole = shown(both.view.measures), both.view.tabText(2)
    division = divide(qtbot, both, "longer")
    keep_to(qtbot, both, 1)
    part = division.slices[0]
    assert both.compared.comparison.items == len(part) < DEMO_ITEMS
    assert {found.item_id for found in both.compared.differences} <= part.known
    text = f"On {len(part)} items with the human labels of gold.tsv: {both.slices.words}"
    assert both.view._titles["measures"].text() == text
    assert shown(both.view.measures) != whole[0]
    assert len(shown(both.view.slices.table)) == len(division.slices)  # all of them still
    assert not both.stale.isVisible()
    assert compare(qtbot, both) == ""  # again: what is chosen stays
    at_rest(qtbot, both)
    assert both.compared.comparison.items == len(part)
    keep_to(qtbot, both, 0)  # which was not measured this time
    assert (shown(both.view.measures), both.view.tabText(2)) == whole
    assert both.view._titles["measures"].text() == f"On {DEMO_ITEMS} items with the human labels of gold.tsv"


def lists_its_items(qtbot: QtBot, both: ComparePage, division: Slicing) -> None:
    view = both.view.slices.view
    place = view.model().index(1, 0)
    view.setCurrentIndex(place)
    for ask in (partial(press, view, Qt.Key.Key_Return), partial(double_click, view, place)):
        with qtbot.waitSignal(both.workspace.listing_wanted) as wanted:
            ask()
        assert wanted.args[0].filters.ids == division.slices[1].known
        assert wanted.args[0].words == f"which response is longer = {division.slices[1].name}"
    wins = both.view.slices.below_view
    for row, slice_place in ((1, 0), (2, 1)):  # two systems on each slice
        with qtbot.waitSignal(both.view.listed) as listed:
            wins.activated.emit(wins.model().index(row, 0))
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
    assert page.compared.comparison.items == DEMO_ITEMS


def test_items_are_divided_by_tags(qtbot: QtBot, both: ComparePage, space: Workspace) -> None:
    assert both.slices.by.findData("tag") < 0
    hashes = [item.content_hash for item in both.compared.dataset]
    with RunStore(space.store_path) as store:
        store.annotate(None, new_note(hashes[0], "", ["hard", "odd"], "Ada"))
        store.annotate(None, new_note(hashes[1], "", ["hard"], "Ada"))
    assert compare(qtbot, both) == ""
    space.noted.emit(hashes[0])
    divide(qtbot, both, "tag")
    found = [(row[0], row[1]) for row in shown(both.view.slices.table)]
    assert found == [("hard", "2"), ("odd", "1"), ("(no tag)", str(DEMO_ITEMS - 2))]


def tick(page: ComparePage, *rows: int) -> None:
    view = page.choosing.systems.view
    for row in rows:
        view.setCurrentRow(row)
        press(view, Qt.Key.Key_Space)


def tab_is_there(page: ComparePage) -> bool:
    return page.view.isTabVisible(page.view._rankings_tab)


def test_two_runs_rank_as_the_command_does(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> None:
    comparisons = comparisons_file(tmp_path / "contests.jsonl")
    for key in ("one", "two", "three"):
        run_of(tmp_path, comparisons, key)
    page = listed(qtbot, workspace)
    tick(page, 0, 1)
    choose_labels(qtbot, page, comparisons)
    assert compare(qtbot, page) == ""
    assert tab_is_there(page)
    (places,) = page.view.rankings.tables  # no pair is swapped: both say the same
    assert [row[0] for row in cells(places)[1:]] == ["great", "fair", "poor"]
    with qtbot.waitSignal(workspace.notice):
        page.save(tmp_path / "window.json")
    words = [*map(str, page.choosing.systems.runs), "--gold", comparisons, "--store", workspace.store_path]
    assert give("compare", *words, "--json", tmp_path / "command.json") == 0
    window, command = (
        json.loads((tmp_path / f"{name}.json").read_text())["side_by_side"] for name in ("window", "command")
    )
    assert window["kendall_tau_b"] == 1
    assert window["pairs"] == command["pairs"]
    assert window["kendall_tau_b_interval"] == command["kendall_tau_b_interval"]
    page.view.setCurrentIndex(page.view._rankings_tab)
    tick(page, 2)  # a third system takes the tab away
    assert compare(qtbot, page) == ""
    assert not tab_is_there(page)
    assert page.view.currentIndex() != page.view._rankings_tab


def test_two_wordings_of_one_judge_show_which_labels_moved(
    qtbot: QtBot, workspace: Workspace, tmp_path: Path
) -> None:
    comparisons = comparisons_file(tmp_path / "contests.jsonl")
    asked = Rubric("mine", (Criterion("overall_quality", "Which is better?"),))
    for wording in (asked.wording, replace(asked.wording, both_bad="Both are bad.")):
        stored_run(
            tmp_path,
            load_dataset(comparisons),
            {"overall_quality": [SURE_A] * 90},
            key=wording.both_bad,
            rubric=replace(asked, wording=wording),
            dataset_path=comparisons,
        )
    page = listed(qtbot, workspace)
    tick(page, 0, 1)
    choose_labels(qtbot, page, comparisons)
    assert compare(qtbot, page) == ""
    assert not page.view.wording.isHidden()
    (table,) = page.view.wording.tables
    assert shown(table)[0][4] == "D means"


def test_no_tab_where_the_dataset_names_no_candidates(qtbot: QtBot, page: ComparePage, worse: Path) -> None:
    assert page.slices.isHidden()  # there is nothing to divide
    choose(qtbot, page, demo_dataset(), worse)
    assert compare(qtbot, page) == ""
    assert not tab_is_there(page)


def dialog_of(qtbot: QtBot, page: ComparePage, *chosen: Path) -> JuryDialog:
    choose(qtbot, page, *chosen)
    qtbot.waitUntil(page.choosing.panel_button.isEnabled)
    QTest.mouseClick(page.choosing.panel_button, Qt.MouseButton.LeftButton)
    dialog = page.findChildren(JuryDialog)[-1]
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def decide(qtbot: QtBot, dialog: JuryDialog) -> None:
    QTest.mouseClick(dialog.act_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not dialog.task.busy)


def test_two_systems_become_a_panel_that_is_listed_ticked_and_opened(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    assert not page.choosing.panel_button.isEnabled()
    dialog = dialog_of(qtbot, page, demo_gold, worse)
    assert dialog.by_labels.isChecked()
    assert "gold.tsv" in dialog.by_labels.text()
    QTest.mouseClick(dialog.worth_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not dialog.task.busy)
    assert any("Least is lost without" in each.text() for each in dialog.sheet.findChildren(QLabel))
    dialog.called.setText("x" * 300)
    decide(qtbot, dialog)
    assert "300 characters" in dialog.notice.text
    with RunStore(space.store_path) as store:
        assert len(store.runs()) == 1
    dialog.by_mean.setChecked(True)
    assert not dialog.lengths.isEnabled()
    dialog.called.setText("night")
    decide(qtbot, dialog)
    assert dialog.kept.title == f"Jury {dialog.kept.run_id} “night”"
    try:
        qtbot.waitUntil(lambda: dialog.kept is not None and dialog.kept.run_id in page.choosing.systems.runs)
        with qtbot.waitSignal(space.run_changed):
            QTest.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
        results = space.run.results
        assert results.run.judges == ("run 1", "worse.tsv")
        first = by_item(review_rows(results), ListOrder.JUDGES)[0]
        assert first.judges > 0
    finally:
        with RunStore(space.store_path) as store:
            store.delete([dialog.kept.run_id])


@pytest.mark.slow
def test_labels_decide_and_say_what_each_judge_adds(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    dialog = dialog_of(qtbot, page, demo_gold, worse)
    decide(qtbot, dialog)
    sections = [section.key for section in dialog.kept.sheet.sections]
    assert "sources" in sections
    assert "quality" in sections
    with RunStore(space.store_path) as store:
        assert store.run(dialog.kept.run_id).calibration
        store.delete([dialog.kept.run_id])
    dialog.close()


def test_a_refusal_is_in_the_words_of_the_window(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    request = CompareRequest((), (JudgeFile(worse), JudgeFile(worse.with_name("submission.tsv"))))
    request.files[1].path.write_bytes(worse.read_bytes().replace(b"\tA\t", b"\tB\t"))
    dialog = JuryDialog(space, request, None, page)
    dialog.show()
    decide(qtbot, dialog)
    assert "there is no run among these" in dialog.notice.text
    assert "On the Compare page, also tick a run of the same items" in dialog.notice.text
    assert "--" not in dialog.notice.text
    dialog.close()
