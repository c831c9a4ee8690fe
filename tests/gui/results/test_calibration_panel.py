"""Calibrations, learning curves and slices on the Results page."""

import re
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTableView
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_note, new_review
from engine.core.errors import RunBusyError
from engine.core.items import Preference
from engine.core.judgments import CriterionCalibration, Origin
from engine.core.tables import Table
from engine.data.dataset import load_dataset
from engine.data.slices import Slicing, slicing
from engine.metrics.evaluation import evaluate, measure_slices
from engine.metrics.matching import match, system_of_run
from engine.ranking.labelled_part import corrected_shares
from engine.report.accuracy import accuracy_table
from engine.report.correction import share_sections
from engine.report.slices import slice_table
from engine.results.calibration import Calibration, judge_of_run, save_calibration
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from gui.results.calibration_panel import CalibrationPanel, LearningPanel
from gui.results.export_jobs import Form
from gui.results.results_page import ResultsPage
from gui.review.annotators import Reviewer
from gui.widgets.theme import ThemeChoice, apply_theme
from gui.workspace.file_jobs import DRAWN
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.engine.cli.in_process import safety_alone
from tests.gui.labels import shown_text
from tests.gui.results.steps import (
    Save,
    click,
    doubts,
    exported,
    in_short,
    measured,
    open_labels,
    open_run,
    problem_after,
    table_of,
)
from tests.gui.steps import double_click, pick


def rows(panel: CalibrationPanel, key: str) -> int:
    section = panel.sheet.section(key)
    return section.tables[0].rowCount() if section else 0


@pytest.mark.slow
def test_a_calibration_is_fitted_applied_saved_loaded_and_taken_off(
    qtbot: QtBot, opened: ResultsPage, few_labels: Path, tmp_path: Path
) -> None:
    panel, space = opened.calibration, opened.workspace
    open_labels(qtbot, opened, few_labels)
    opened.tabs.setCurrentIndex(3)
    click(panel.fit_button)
    qtbot.waitUntil(lambda: panel.proposal is not None)
    assert rows(panel, "quality") == 3
    assert rows(panel, "changes") == 5
    assert not panel._fitted.isVisible()  # until it is unfolded
    assert "Nothing has changed yet: press “Apply to run 1”" in panel._source.text()
    assert panel.apply_button.text() == "Appl&y to run 1"
    assert panel.proposal.calibration.alike
    panel.save(tmp_path / "calibration.json")
    with qtbot.waitSignal(space.run_changed):
        click(panel.apply_button)
    assert "fitted on few_labels.tsv" in panel.state.text()
    assert re.search(r"before, [\d.]+ \([\d.]+ to [\d.]+\) after; accuracy gain: ", panel.state.text())
    assert panel._source.text().startswith("Applied, fitted on few_labels.tsv")
    assert rows(panel, "quality") == 3
    assert not panel._proposed.isHidden()
    assert panel.apply_button.isHidden()
    measured(qtbot, opened)
    assert "took part in the fit of the calibration" in doubts(opened)
    with qtbot.waitSignal(space.run_changed):
        assert panel.off_button.accessibleName() == "Remove the calibration from run 1"
        click(panel.off_button)
    assert "not calibrated" in panel.state.text()
    assert panel._proposed.isHidden()
    panel.load(tmp_path / "calibration.json")
    qtbot.waitUntil(lambda: panel.proposal is not None)
    assert panel.sheet.section("quality") is None  # a file holds no table
    assert panel._fold.isHidden()
    panel.places_matter.setChecked(True)
    click(panel.fit_button)
    qtbot.waitUntil(lambda: panel.proposal is not None and panel.proposal.fitted is not None)
    assert not panel.proposal.calibration.alike


def test_one_label_for_everything_is_said_before_and_after_and_no_other_file_calibrates(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path, save: Save
) -> None:
    panel, run = opened.calibration, opened.workspace.run
    wrong = save("wrong.json", b"{}")
    assert "not a calibration" in problem_after(qtbot, opened, lambda: panel.load(wrong)).problem
    with RunStore(opened.workspace.store_path) as store, store.hold(1):  # it is judged elsewhere
        assert isinstance(problem_after(qtbot, opened, panel.take_off), RunBusyError)
    always_b = CriterionCalibration(0.0, (0.0, 1.0, 0.0, 0.0), None, 10)
    made = Calibration(judge_of_run(run.results.run.identity), "x.tsv", "", {"safety": always_b}, {})
    save_calibration(tmp_path / "one.json", made)
    panel.load(tmp_path / "one.json")
    qtbot.waitUntil(lambda: panel.proposal is not None)
    said = "This calibration gives one label to everything on safety (“B” for all"
    doubted, changes = panel.sheet.section("doubts"), panel.sheet.section("changes")
    assert shown_text(doubted).startswith(said)
    assert [changes.tables[0].index(row, 5).data() for row in range(5)].count("B") == 1
    with qtbot.waitSignal(opened.workspace.run_changed):
        click(panel.apply_button)
    assert panel._source.text().startswith("Applied")
    assert panel._source.property("role") == "warning"  # not green
    assert said in panel.state.text()
    measured(qtbot, opened)
    assert said in in_short(opened)


@pytest.fixture
def panel(qtbot: QtBot, opened: ResultsPage, demo_gold: Path, tmp_path: Path) -> LearningPanel:
    """The demo run beside its labels of safety alone, on the Calibration tab."""
    open_labels(qtbot, opened, safety_alone(demo_gold, tmp_path))
    opened.tabs.setCurrentIndex(3)
    return opened.calibration.learning


def learn(qtbot: QtBot, panel: LearningPanel) -> None:
    click(panel.button)
    qtbot.waitUntil(lambda: panel.picture.view.isVisible() and not panel.picture._drawing.busy)


def has_curve(panel: LearningPanel) -> bool:
    return panel.learned is not None


@pytest.mark.slow
def test_a_curve_is_made_drawn_in_both_themes_saved_copied_and_dropped_with_its_labels(
    qtbot: QtBot, opened: ResultsPage, panel: LearningPanel, demo_gold: Path, tmp_path: Path
) -> None:
    learn(qtbot, panel)
    section = panel.sheet.section("learning")
    assert "Doubling the labels of each criterion from 12 to 24" in shown_text(section)
    assert [section.tables[0].index(row, 0).data() for row in range(2)] == ["12", "24"]
    assert panel.picture.view.accessibleName().startswith("Log-loss and accuracy")
    with qtbot.waitSignal(opened.workspace.notice):
        panel.picture.files.save("learning", tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")
    with qtbot.waitSignal(opened.workspace.note):
        panel.picture.files.copy("learning")
    assert QGuiApplication.clipboard().image().width() > 500
    light = panel.picture.view.grab().toImage()
    app = cast("QApplication", QApplication.instance())
    apply_theme(app, ThemeChoice.DARK, 100, 9)
    panel.picture.restyle()
    qtbot.waitUntil(lambda: panel.picture.view.grab().toImage() != light)
    qtbot.waitUntil(lambda: not panel.picture._drawing.busy)
    apply_theme(app, ThemeChoice.LIGHT, 100, 9)
    panel.follow_run()
    assert has_curve(panel)  # decided anew it is the same run
    opened.calibration.lengths.setChecked(True)
    assert not has_curve(panel)  # by lengths it would be another curve
    assert panel.isHidden()
    click(panel.button)
    open_labels(qtbot, opened, demo_gold)  # while it is made
    qtbot.waitUntil(lambda: not opened.workspace.threads.busy(panel._learning._thread_name))
    assert not has_curve(panel)
    assert panel.button.isEnabled()


@pytest.mark.slow
def test_a_report_has_the_curve_where_it_is_ticked(
    qtbot: QtBot, opened: ResultsPage, panel: LearningPanel, tmp_path: Path
) -> None:
    assert not has_curve(panel)
    opened.export(Form.REPORT)
    dialog = opened.exporter.dialog
    assert dialog.with_curve.isVisible()
    click(dialog.with_curve)
    dialog.field.setText(str(tmp_path / "report.html"))
    exported(qtbot, opened, dialog.look)
    assert "Is labelling more worth it?" in (tmp_path / "report.html").read_text("utf-8")


def test_a_curve_can_be_stopped_and_too_few_labels_are_told_with_their_number(
    qtbot: QtBot, opened: ResultsPage, panel: LearningPanel, save: Save, demo_gold: Path
) -> None:
    click(panel.button)
    assert not panel.button.isEnabled()
    qtbot.waitUntil(panel.busy.isVisible)
    click(panel.busy._button)
    qtbot.waitUntil(lambda: not opened.workspace.threads.busy(panel._learning._thread_name))
    assert panel.busy.isHidden()
    assert not has_curve(panel)
    assert panel.button.isEnabled()
    open_labels(qtbot, opened, save("few.tsv", b"\n".join(demo_gold.read_bytes().split(b"\n")[:8])))
    error = problem_after(qtbot, opened, lambda: click(panel.button))
    assert "20 different instructions; there are 7" in error.problem
    assert panel.isHidden()


def divide(qtbot: QtBot, page: ResultsPage, by: str) -> Slicing:
    choice = page.slices.choice
    qtbot.waitUntil(lambda: choice.by.findData(by) > 0)
    pick(choice.by, by)
    qtbot.waitUntil(lambda: page.slices.sliced is not None and page.slices.sliced.division.by == by)
    return choice.slicing


def keep_to(qtbot: QtBot, page: ResultsPage, key: str | None) -> None:
    choice = page.slices.choice
    keys = [None, *(part.key for part in choice.slicing.slices)]
    choice.parts.setCurrentIndex(keys.index(key))
    choice.parts.activated.emit(choice.parts.currentIndex())
    measured(qtbot, page)


@pytest.mark.slow
def test_all_slices_stand_in_a_table_whose_rows_list_their_items_and_in_the_report(
    qtbot: QtBot, opened: ResultsPage, demo_store: Path, demo_gold: Path, tmp_path: Path
) -> None:
    division = divide(qtbot, opened, "longer")
    assert opened.slices.isAncestorOf(opened.slices.choice.by)
    with RunStore(demo_store) as store:
        matched = match(system_of_run(load_results(store, 1)), load_dataset(demo_gold))
    expected = slice_table(measure_slices(matched, slicing(matched.dataset, "longer")))
    shown = opened.slices.sliced.table
    places = [place for place, column in enumerate(shown.columns) if column.key != DRAWN]
    assert [[row[place] for place in places] for row in shown.rows] == [list(row) for row in expected.rows]
    assert "Many slices mean multiple comparisons" in opened.slices.note.text()
    assert opened.slices.below.rowCount() == len(expected.rows)
    view: QTableView = opened.slices.view
    place = opened.slices.table.index(1, 0)
    view.setFocus()
    view.setCurrentIndex(place)
    keys = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    methods: list[Callable[[], object]] = [partial(QTest.keyClick, view, key) for key in keys]
    methods.append(partial(double_click, view, place))
    for ask in methods:
        with qtbot.waitSignal(opened.workspace.listing_wanted) as wanted:
            ask()
        assert wanted.args[0].filters.ids == division.slices[1].known
        assert wanted.args[0].words == f"which response is longer = {division.slices[1].name}"
    path = tmp_path / "report.html"
    exported(qtbot, opened, lambda: opened.export(Form.REPORT, path))
    assert "<h2>By which response is longer</h2>" in path.read_text("utf-8")


def test_shares_of_labels_are_corrected_by_slice_where_annotators_labelled_a_part(
    qtbot: QtBot, opened: ResultsPage, demo_store: Path, demo_gold: Path, save: Save
) -> None:
    divide(qtbot, opened, "longer")
    assert opened.slices.shares.isHidden()  # every item has a label
    head, *rows = demo_gold.read_text("utf-8").splitlines()
    bare = ["\t".join(row.split("\t")[:4]) + "\t" * (head.count("\t") - 3) for row in rows[26:]]
    part = save("part.tsv", "\n".join([head, *rows[:26], *bare]).encode())
    open_labels(qtbot, opened, part)
    qtbot.waitUntil(lambda: not opened.slices.shares.isHidden())
    with RunStore(demo_store) as store:
        system, items = system_of_run(load_results(store, 1)), load_dataset(part)
    [section] = share_sections(corrected_shares(system, items, [slicing(items, "longer")]))
    [table] = opened.slices.shares.tables
    expected = section.parts[1]
    assert isinstance(expected, Table)
    assert table.as_text() == expected.with_tabs()
    assert {row[1] for row in expected.rows} > {"all items"}
    labels = {"relevance": Preference.A}
    for item in range(19, 30):  # no label is overridden: no measure changes but these
        opened.workspace.say(new_review(str(item), "Ada", None, labels, Origin.RANDOM, seed=0))
    place = [column.key for column in expected.columns].index("labelled")
    qtbot.waitUntil(lambda: opened.slices.shares.tables[0].table.rows[0][place] == 29)


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
    assert table_of(opened, "accuracy").as_text() == expected.with_tabs()
    words = f"human label: overall quality = {part.name}, {len(part)} items of {DEMO_ITEMS}"
    assert words in doubts(opened)
    assert set(opened.measurer.scores.gold.ids) == part.known
    assert opened.slices.table.rowCount() == len(division.slices)  # the table shows all of them still
    with qtbot.waitSignal(opened.workspace.run_changed):
        opened.workspace.open_run(1)  # again: what is chosen stays
    assert opened.slices.choice.part == part
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
    assert sum(part.items for part in page.slices.sliced.measured[0].slices) == DEMO_ITEMS
    assert page.slices.table.columnCount() == 4
    keep_to(qtbot, page, "short")
    assert "Only one slice is shown: length of both responses = short" in doubts(page)


def tag(space: Workspace, item: int, author: str, *tags: str) -> None:
    """Tag an item of the open run; what is written there is read again when the slices are shown."""
    with RunStore(space.store_path) as store:
        store.annotate(None, new_note(space.run.results.judged[item].content_hash, "", tags, author))
    space.noted.emit(space.run.results.judged[item].content_hash)


def test_items_are_divided_by_their_tags_and_who_labels_blind_is_shown_his_own_alone(
    qtbot: QtBot, opened: ResultsPage
) -> None:
    space, choice = opened.workspace, opened.slices.choice
    space.set_author("Ada")
    assert choice.by.findData("tag") < 0
    tag(space, 0, "Ada", "hard", "odd")
    tag(space, 1, "Ben", "hard", "theirs")
    division = divide(qtbot, opened, "tag")
    assert [(part.name, len(part)) for part in division.slices] == [
        ("hard", 2),
        ("odd", 1),
        ("theirs", 1),
        ("(no tag)", DEMO_ITEMS - 2),
    ]
    keep_to(qtbot, opened, "hard")
    assert f"tag = hard, 2 items of {DEMO_ITEMS}" in doubts(opened)
    opened.hide()
    tag(space, 2, "Ada", "hard")
    opened.show()
    qtbot.waitUntil(lambda: choice.slicing is not None and len(choice.slicing.slices[0]) == 3)
    keep_to(qtbot, opened, "theirs")
    division, reviewer = choice.slicing, Reviewer(space)
    reviewer.switch_blind(True)
    qtbot.waitUntil(lambda: choice.slicing is not None and choice.slicing != division)
    assert [part.name for part in choice.slicing.slices] == ["hard", "odd", "(no tag)"]
    measured(qtbot, opened)
    assert "theirs" not in doubts(opened)
    space.set_author("Cleo")  # who has no tags
    qtbot.waitUntil(lambda: choice.slicing is None and choice.by.findData("tag") < 0)
    reviewer.switch_blind(False)
    qtbot.waitUntil(lambda: choice.by.findData("tag") > 0)


def test_a_random_sample_that_grew_on_another_page_is_divided_anew(qtbot: QtBot, opened: ResultsPage) -> None:
    def label(item: str) -> None:
        opened.hide()
        with qtbot.waitSignal(opened.workspace.reviewed):
            said = new_review(item, "Ada", None, {"safety": Preference.A}, Origin.RANDOM, seed=0)
            opened.workspace.say(said)
        opened.show()

    label("1")
    assert [len(part) for part in divide(qtbot, opened, "random-sample").slices] == [1, DEMO_ITEMS - 1]
    label("2")
    choice = opened.slices.choice
    qtbot.waitUntil(lambda: [len(part) for part in choice.slicing.slices] == [2, DEMO_ITEMS - 2])
