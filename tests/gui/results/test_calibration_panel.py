"""The calibration of a run on the Results page."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from engine.core.errors import RunBusyError
from engine.store.run_store import RunStore
from gui.results.results_page import ResultsPage
from tests.gui.results.steps import Save, click, measured, problem_after


def test_a_calibration_is_fitted_applied_saved_loaded_and_taken_off(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path
) -> None:
    panel, space = opened.calibration, opened.workspace
    opened.tabs.setCurrentIndex(3)
    click(panel.fit_button)
    qtbot.waitUntil(lambda: panel.proposal is not None, timeout=30_000)
    assert panel.quality.rowCount() == 6
    assert panel.changes.rowCount() == 5
    assert "Nothing has changed yet: run 1 follows once you press “Apply to run 1”" in panel._source.text()
    assert panel.apply_button.text() == "Appl&y to run 1"
    panel.save(tmp_path / "calibration.json")
    with qtbot.waitSignal(space.run_changed, timeout=10_000):
        click(panel.apply_button)
    assert "fitted on gold.tsv" in panel.state.text()
    assert "Cross-validated there:" in panel.state.text()
    assert panel._source.text().startswith("Applied, fitted on gold.tsv")
    assert panel.quality.rowCount() == 6
    assert not panel._proposed.isHidden()
    assert panel.apply_button.isHidden()
    measured(qtbot, opened)
    assert "calibrated on these labels" in opened.scores.caveats.text()
    with qtbot.waitSignal(space.run_changed, timeout=10_000):
        assert panel.off_button.accessibleName() == "Take the calibration off run 1"
        click(panel.off_button)
    assert "not calibrated" in panel.state.text()
    assert panel._proposed.isHidden()
    panel.load(tmp_path / "calibration.json")
    qtbot.waitUntil(lambda: panel.proposal is not None, timeout=10_000)
    assert panel.quality.rowCount() == 6  # hidden: a file holds no table


def test_a_file_that_is_no_calibration_is_refused(qtbot: QtBot, opened: ResultsPage, save: Save) -> None:
    wrong = save("wrong.json", b"{}")
    assert "not a calibration" in problem_after(qtbot, opened, lambda: opened.calibration.load(wrong)).problem


def test_a_run_that_is_judged_elsewhere_is_not_calibrated(qtbot: QtBot, opened: ResultsPage) -> None:
    with RunStore(opened.workspace.store_path) as store, store.hold(1):
        assert isinstance(problem_after(qtbot, opened, opened.calibration.take_off), RunBusyError)
