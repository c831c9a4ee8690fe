"""The learning curve of a run on the Calibration tab of the Results page."""

from pathlib import Path
from typing import cast

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gui.results.calibration_panel import LearningPanel
from gui.results.results_page import ResultsPage
from gui.widgets.labels import shown_text
from gui.widgets.theme import ThemeChoice, apply_theme
from tests.engine.cli.in_process import safety_alone
from tests.gui.results.steps import Save, click, exported, measured, open_labels, problem_after


@pytest.fixture
def panel(qtbot: QtBot, opened: ResultsPage, demo_gold: Path, tmp_path: Path) -> LearningPanel:
    """The demo run beside its labels of safety alone, on the Calibration tab."""
    open_labels(qtbot, opened, safety_alone(demo_gold, tmp_path))
    opened.tabs.setCurrentIndex(3)
    return opened.calibration.learning


def learn(qtbot: QtBot, panel: LearningPanel) -> None:
    click(panel.button)
    qtbot.waitUntil(
        lambda: panel.picture.view.isVisible() and not panel.picture._drawing.busy, timeout=60_000
    )


def has_curve(panel: LearningPanel) -> bool:
    return panel.learned is not None


@pytest.mark.slow
def test_a_curve_is_made_drawn_in_both_themes_saved_copied_and_dropped_with_its_labels(
    qtbot: QtBot, opened: ResultsPage, panel: LearningPanel, demo_gold: Path, tmp_path: Path
) -> None:
    learn(qtbot, panel)
    section = panel.sheet.section("learning")
    assert section is not None
    assert "Doubling the labels of each criterion from 12 to 24" in shown_text(section)
    assert [section.tables[0].index(row, 0).data() for row in range(2)] == ["12", "24"]
    assert panel.picture.view.accessibleName().startswith("Log-loss and accuracy")
    with qtbot.waitSignal(opened.workspace.note):
        panel.picture.files.save("learning", tmp_path / "curve.svg")
    assert (tmp_path / "curve.svg").read_bytes().startswith(b"<?xml")
    with qtbot.waitSignal(opened.workspace.note):
        panel.picture.files.copy("learning")
    assert QGuiApplication.clipboard().image().width() > 500
    light = panel.picture.view.grab().toImage()
    app = cast("QApplication", QApplication.instance())
    apply_theme(app, ThemeChoice.DARK, 100, 9)
    opened.restyle()
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
    opened.export_report()
    dialog = opened.exporter.dialog
    assert dialog.with_curve.isVisible()
    click(dialog.with_curve)
    dialog.field.setText(str(tmp_path / "report.html"))
    exported(qtbot, opened, dialog.look)
    assert "Is labelling more worth it?" in (tmp_path / "report.html").read_text("utf-8")


def test_a_curve_can_be_stopped(qtbot: QtBot, opened: ResultsPage, panel: LearningPanel) -> None:
    click(panel.button)
    assert not panel.button.isEnabled()
    qtbot.waitUntil(panel.busy.isVisible)
    click(panel.busy._button)
    qtbot.waitUntil(lambda: not opened.workspace.threads.busy(panel._learning._thread_name), timeout=30_000)
    assert panel.busy.isHidden()
    assert not has_curve(panel)
    assert panel.button.isEnabled()


def test_too_few_labels_are_told_with_their_number(
    qtbot: QtBot, opened: ResultsPage, save: Save, demo_gold: Path
) -> None:
    few = save("few.tsv", b"\n".join(demo_gold.read_bytes().split(b"\n")[:8]))
    open_labels(qtbot, opened, few)
    opened.tabs.setCurrentIndex(3)
    panel = opened.calibration.learning
    error = problem_after(qtbot, opened, lambda: click(panel.button))
    assert "20 different instructions; there are 7" in error.problem
    measured(qtbot, opened)
    assert panel.isHidden()
