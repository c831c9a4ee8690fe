"""The calibration of a run on the Results page."""

import re
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.core.errors import RunBusyError
from engine.core.judgments import CriterionCalibration
from engine.results.calibration import Calibration, judge_of_run, save_calibration
from engine.store.run_store import RunStore
from gui.results.calibration_panel import CalibrationPanel
from gui.results.results_page import ResultsPage
from gui.widgets.labels import shown_text
from tests.gui.results.steps import Save, click, doubts, in_short, measured, open_labels, problem_after


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
    qtbot.waitUntil(lambda: panel.proposal is not None, timeout=30_000)
    assert rows(panel, "quality") == 3
    assert rows(panel, "changes") == 5
    assert not panel._fitted.isVisible()  # until it is unfolded
    assert "Nothing has changed yet: press “Apply to run 1”" in panel._source.text()
    assert panel.apply_button.text() == "Appl&y to run 1"
    assert panel.proposal is not None
    assert panel.proposal.calibration.alike
    panel.save(tmp_path / "calibration.json")
    with qtbot.waitSignal(space.run_changed, timeout=10_000):
        click(panel.apply_button)
    assert "fitted on few_labels.tsv" in panel.state.text()
    assert re.search(r"before, [\d.]+ \([\d.]+ to [\d.]+\) after; accuracy gain: ", panel.state.text())
    assert panel._source.text().startswith("Applied, fitted on few_labels.tsv")
    assert rows(panel, "quality") == 3
    assert not panel._proposed.isHidden()
    assert panel.apply_button.isHidden()
    measured(qtbot, opened)
    assert "took part in the fit of the calibration" in doubts(opened)
    with qtbot.waitSignal(space.run_changed, timeout=10_000):
        assert panel.off_button.accessibleName() == "Remove the calibration from run 1"
        click(panel.off_button)
    assert "not calibrated" in panel.state.text()
    assert panel._proposed.isHidden()
    panel.load(tmp_path / "calibration.json")
    qtbot.waitUntil(lambda: panel.proposal is not None, timeout=10_000)
    assert panel.sheet.section("quality") is None  # a file holds no table
    assert panel._fold.isHidden()
    panel.places_matter.setChecked(True)
    click(panel.fit_button)
    qtbot.waitUntil(lambda: panel.proposal is not None and panel.proposal.fitted is not None, timeout=30_000)
    assert not panel.proposal.calibration.alike


def test_one_label_for_everything_is_said_before_and_after_and_is_not_green(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path
) -> None:
    panel, run = opened.calibration, opened.workspace.run
    assert run is not None
    always_b = CriterionCalibration(0.0, (0.0, 1.0, 0.0, 0.0), None, 10)
    made = Calibration(judge_of_run(run.results.run.identity), "x.tsv", "", {"safety": always_b}, {})
    save_calibration(tmp_path / "one.json", made)
    panel.load(tmp_path / "one.json")
    qtbot.waitUntil(lambda: panel.proposal is not None, timeout=10_000)
    said = "This calibration gives one label to everything on safety (“B” for all"
    doubted, changes = panel.sheet.section("doubts"), panel.sheet.section("changes")
    assert doubted is not None
    assert changes is not None
    assert shown_text(doubted).startswith(said)
    assert [changes.tables[0].index(row, 5).data() for row in range(5)].count("B") == 1
    with qtbot.waitSignal(opened.workspace.run_changed, timeout=10_000):
        click(panel.apply_button)
    assert panel._source.text().startswith("Applied")
    assert panel._source.property("role") == "warning"
    assert said in panel.state.text()
    measured(qtbot, opened)
    assert said in in_short(opened)


def test_no_other_file_calibrates_and_no_run_that_is_judged_elsewhere_is_calibrated(
    qtbot: QtBot, opened: ResultsPage, save: Save
) -> None:
    wrong = save("wrong.json", b"{}")
    assert "not a calibration" in problem_after(qtbot, opened, lambda: opened.calibration.load(wrong)).problem
    with RunStore(opened.workspace.store_path) as store, store.hold(1):
        assert isinstance(problem_after(qtbot, opened, opened.calibration.take_off), RunBusyError)
