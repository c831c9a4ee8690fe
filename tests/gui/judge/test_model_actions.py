"""Model files measured and audited from the list of the Judge page, with the real demo model."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from engine.analysis.audit_run import AUDIT_METHODS
from engine.analysis.perturbations import ITEM_ITSELF, PerturbationKind
from engine.core.errors import SetupError
from engine.data.dataset import load_dataset
from engine.settings.rows import Mode
from engine.system.paths import demo_model, models_folder
from gui.judge.judge_page import JudgePage
from gui.judge.run_control import default_setup
from gui.models.model_table import MASS, SPEED, about, rate
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.gui.judge.pages import A_WHILE, new_page, open_dataset
from tests.gui.labels import text_of

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> JudgePage:
    """A page with 2 items, the demo model chosen, and a plan on one thread."""
    page = new_page(qtbot, workspace)
    page.settings.show_setup(replace(default_setup(), mode=Mode.LABELS, threads=1))
    open_dataset(qtbot, page, demo_gold, items=2)
    return page


def measured(qtbot: QtBot, page: JudgePage) -> None:
    with qtbot.waitSignal(page.picker.measured, timeout=A_WHILE):
        page.picker.doing.measure_chosen()


def cell(page: JudgePage, column: int, row: int = 0) -> str:
    return str(page.picker.table.index(row, column).data())


def wait_for_search(qtbot: QtBot, page: JudgePage, rows: int) -> None:
    qtbot.waitUntil(
        lambda: page.picker.table.rowCount() == rows and not page.workspace.threads.busy(ThreadName.SCAN),
        timeout=A_WHILE,
    )


@pytest.mark.slow
def test_a_measured_speed_is_shown_and_gives_the_plan_its_time(qtbot: QtBot, page: JudgePage) -> None:
    assert page.picker.view.isColumnHidden(SPEED)
    assert "not known before a run" in text_of(page.plan_panel)
    measured(qtbot, page)
    speed = page.picker.table.candidate(0).speed
    assert speed is not None
    assert cell(page, SPEED) == rate(speed.reading)
    assert not page.picker.view.isColumnHidden(SPEED)
    assert f"Here it reads {rate(speed.reading)} tokens a second" in about(page.picker.table.candidate(0))
    words = "at the speed of this model file when it was measured here"
    qtbot.waitUntil(lambda: words in text_of(page.plan_panel), timeout=A_WHILE)
    (button,) = [each for each in page.plan_panel.findChildren(QPushButton) if each.text().startswith("Time")]
    assert button.isVisible()  # some items know better
    assert not page.picker.doing.line.isVisible()
    page.settings.show_setup(replace(default_setup(), mode=Mode.LABELS, threads=2))
    qtbot.waitUntil(lambda: cell(page, SPEED) == "", timeout=A_WHILE)  # it is that of the settings
    page.settings.show_setup(replace(default_setup(), mode=Mode.LABELS, threads=1))
    qtbot.waitUntil(lambda: cell(page, SPEED) != "", timeout=A_WHILE)
    page.picker.scan()
    wait_for_search(qtbot, page, 1)
    assert cell(page, SPEED)  # and found again


@pytest.mark.slow
@pytest.mark.apart
def test_it_is_measured_by_a_process_of_its_own(qtbot: QtBot, page: JudgePage) -> None:
    measured(qtbot, page)
    assert cell(page, SPEED)


def test_the_format_mass_of_the_newest_run_stands_beside(qtbot: QtBot, page: JudgePage) -> None:
    assert page.picker.view.isColumnHidden(MASS)
    with qtbot.waitSignal(page.control.ended, timeout=A_WHILE):
        page.run()
    page.picker.scan()
    qtbot.waitUntil(lambda: cell(page, MASS).endswith(" %"), timeout=A_WHILE)
    assert not page.picker.view.isColumnHidden(MASS)
    assert "Its newest run, 1, has a mean answer mass of" in about(page.picker.table.candidate(0))


@pytest.mark.slow
def test_all_models_are_measured_and_one_that_fails_does_not_keep_the_others(
    qtbot: QtBot, page: JudgePage
) -> None:
    models_folder().mkdir(parents=True)
    gone = models_folder() / "gone.gguf"
    shutil.copy(demo_model(), gone)
    page.picker.scan()
    wait_for_search(qtbot, page, 2)
    page.picker.watch.blockSignals(True)  # it has not seen yet what becomes of the file
    gone.write_bytes(b"GGUF")
    problems: list[SetupError] = []
    page.workspace.problem.connect(problems.append)
    with qtbot.waitSignal(page.picker.measured, timeout=A_WHILE):
        page.picker.doing.measure_all()
    assert [cell(page, SPEED, row) != "" for row in (0, 1)] == [True, False]
    (problem,) = problems
    assert "gone.gguf" in problem.problem


def test_a_measure_can_be_stopped_and_the_menu_offers_it_again(qtbot: QtBot, page: JudgePage) -> None:
    with qtbot.waitSignal(page.picker.measured, timeout=A_WHILE):
        page.picker.doing.measure_chosen()
        page.picker.doing.line.cancelled.emit()
    assert cell(page, SPEED) == ""
    assert not page.picker.doing.line.isVisible()
    page.picker.view.customContextMenuRequested.emit(QPoint(5, 5))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    shown = [action.text().replace("&", "") for action in menu.actions() if action.isVisible()]
    assert shown == [
        "Measure the speed of this model",
        "",
        "Add a robustness audit of this judge to the queue",
    ]
    menu.close()
    assert page.picker.doing.button.menu() is menu


def test_an_audit_is_a_run_of_the_same_judge_with_copies_of_the_open_dataset(
    qtbot: QtBot, page: JudgePage
) -> None:
    with qtbot.waitSignal(page.audit_described, timeout=A_WHILE) as described:
        page.picker.doing.audit_wanted.emit()
    assert described.args is not None
    ((setup, lacking),) = described.args
    assert setup.dataset_path.parent == page.workspace.store_path.parent.absolute() / "audits"
    assert (setup.items, setup.methods, setup.threads) == (None, AUDIT_METHODS, 1)
    items = load_dataset(setup.dataset_path)
    kinds = Counter(items.texts("probe").to_pylist())
    assert kinds[ITEM_ITSELF] == DEMO_ITEMS  # fewer than are usual
    left_out = 2 * DEMO_ITEMS - kinds[PerturbationKind.FORMATTING]
    assert left_out > 0
    assert lacking == f"Perturbations that could not be made: {left_out} formatted."
