"""The best settings, found from the Judge page: refused without labels, stopped, found, used."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.analysis.recipe import load_recipe
from engine.store.run_store import RunStore
from gui.judge.judge_page import JudgePage, TuneDialog
from gui.judge.run_control import default_setup
from gui.workspace.workspace import Workspace
from tests.engine.cli.test_tune_command import labelled
from tests.gui.judge.pages import new_page, open_dataset
from tests.gui.steps import click


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> JudgePage:
    return new_page(qtbot, workspace, replace(default_setup(), threads=1, context=2048))


def dialog_of(qtbot: QtBot, page: JudgePage) -> TuneDialog:
    click(page.settings, "Find the best…")
    dialog = page.findChildren(TuneDialog)[-1]
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def test_without_labels_or_with_few_nothing_is_found(qtbot: QtBot, page: JudgePage, tmp_path: Path) -> None:
    bare = tmp_path / "bare.tsv"
    bare.write_text("id\tinstruction\toutput_a\toutput_b\n1\tWhy?\tSo.\tNo.\n", "utf-8")
    open_dataset(qtbot, page, bare)
    dialog = dialog_of(qtbot, page)
    assert not dialog.act_button.isEnabled()
    assert "no human labels" in dialog.outcome.text()
    dialog.close()
    open_dataset(qtbot, page, labelled(tmp_path / "few.tsv", 10))
    dialog = dialog_of(qtbot, page)
    QTest.mouseClick(dialog.act_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "10 instructions" in dialog.notice.text)
    assert dialog.act_button.isEnabled()
    dialog.close()


@pytest.mark.slow
def test_they_are_found_after_a_stop_and_used_with_their_calibration(
    qtbot: QtBot, page: JudgePage, workspace: Workspace, tmp_path: Path
) -> None:
    open_dataset(qtbot, page, labelled(tmp_path / "gold.tsv", 30))
    dialog = dialog_of(qtbot, page)
    dialog.methods.setCurrentIndex(1)  # letters alone: fast
    QTest.mouseClick(dialog.act_button, Qt.MouseButton.LeftButton)
    assert not dialog.minutes.isEnabled()
    qtbot.waitUntil(lambda: dialog._judged > 1)
    dialog.task.line.cancelled.emit()
    qtbot.waitUntil(lambda: not dialog.task.busy)
    assert "resumes the search" in dialog.outcome.text()
    with RunStore(workspace.store_path) as store:
        (begun,) = store.runs()
    assert begun.judged > 1
    QTest.mouseClick(dialog.act_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.found is not None, timeout=240_000)
    found = dialog.found
    assert found.path.exists()
    assert found.path.name.startswith("gold-demo-judge-")
    assert [section.key for section in found.sheet.sections] == ["outcome", "compared"]
    QTest.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.setup().calibration_path == found.path)
    assert page.setup().criteria == ("safety",)
    assert load_recipe(found.path).judge.both_orders == page.setup().both_orders
    page.settings.show_setup(replace(default_setup(), threads=1))
    assert page.setup().calibration_path is None
    page.use_recipe(found.path)
    qtbot.waitUntil(lambda: page.setup().calibration_path == found.path)
