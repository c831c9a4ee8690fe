"""A Judge page as tests use it: opened, planned, its buttons pressed; runs that were cut off."""

from dataclasses import replace
from pathlib import Path
from typing import cast

from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.core.events import CancelToken, ItemJudged, RunEnded, RunStarted, followed
from engine.judging.plan import RunPlan, open_model
from engine.judging.prepare import prepare_run
from engine.judging.run import run_judging
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from gui.judge.judge_page import JudgePage
from gui.judge.run_control import UNFINISHED, RunControl, default_setup
from gui.workspace.workspace import Workspace
from tests.gui import steps
from tests.gui.labels import text_of

LABELS = replace(default_setup(), mode=Mode.LABELS, threads=1)
EXPLAINED = replace(default_setup(), threads=1, max_explanation_tokens=20)


def new_page(qtbot: QtBot, workspace: Workspace, setup: RunSetup | None = None) -> JudgePage:
    """A page with the settings of a setup."""
    page = steps.shown(qtbot, JudgePage(workspace, RunControl(workspace)))
    page.entered()
    if setup is not None:
        page.settings.show_setup(setup)
    return page


def wait_for_plan(qtbot: QtBot, page: JudgePage) -> None:
    qtbot.waitUntil(lambda: page.can_run)


def open_dataset(qtbot: QtBot, page: JudgePage, path: Path, items: int | None = None) -> None:
    """Open a dataset and wait for a plan, of its first `items`."""
    steps.open_dataset(qtbot, page.workspace, path)
    if items is not None:
        page.dataset_line.set_items(items)
    wait_for_plan(qtbot, page)


def run_to_the_end(qtbot: QtBot, page: JudgePage, button: QPushButton | None = None) -> RunEnded:
    """Press a button, that which runs by default; how the run ended, once the next plan is there."""
    with qtbot.waitSignal(page.control.ended) as ended:
        (button or page.run_button).click()
    wait_for_plan(qtbot, page)
    return cast("RunEnded", ended.args[0])


def stop(qtbot: QtBot, control: RunControl) -> RunEnded:
    with qtbot.waitSignal(control.ended) as ended:
        control.stop()
    return cast("RunEnded", ended.args[0])


def says(qtbot: QtBot, widget: QWidget, words: str) -> None:
    qtbot.waitUntil(lambda: words in text_of(widget))


def kept(page: JudgePage) -> int:
    """How many items of the run are in the store; those that are only read are shown, too."""
    return page.control.progress.judged if page.control.progress else 0


def plan_of(setup: RunSetup) -> RunPlan:
    return followed(prepare_run(setup, CancelToken()), lambda _event: None).plan


def cut_off(plan: RunPlan, store_path: Path, judged: int = 2, fresh: bool = False) -> int:
    """The number of a run that was begun, and cut off once it held so many items."""
    number = 0
    with RunStore(store_path) as store:
        events = run_judging(plan, store, lambda: open_model(plan, CancelToken()), fresh)
        while judged:
            event = next(events)
            number = event.run_id if isinstance(event, RunStarted) else number
            judged -= isinstance(event, ItemJudged)
        events.close()  # type: ignore[attr-defined]
    return number


def remember_unfinished(workspace: Workspace, run_id: int, setup: RunSetup) -> None:
    workspace.state.set_record(UNFINISHED, {"runs": [{"run": run_id, "setup": setup.as_json()}]})
