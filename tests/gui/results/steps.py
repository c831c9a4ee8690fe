"""What a person does on the Results page, and waiting for what comes of it."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from engine.annotations.records import WantedItems
from engine.core.errors import SetupError
from engine.core.events import CancelToken, ItemJudged
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.judging.plan import RunPlan, open_model
from engine.judging.run import run_judging
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file
from engine.settings.rows import JudgeSettings, MachineSettings
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.results.results_page import ResultsPage
from gui.widgets.notice import Message
from gui.widgets.views import TableModel
from gui.workspace.workspace import Workspace
from tests.gui.labels import shown_text

Save = Callable[[str, bytes], Path]


def open_run(qtbot: QtBot, page: ResultsPage, run: int) -> ResultsPage:
    page.workspace.open_run(run)
    measured(qtbot, page)
    return page


def open_labels(qtbot: QtBot, page: ResultsPage, labels: Path) -> None:
    with qtbot.waitSignal(page.workspace.gold_changed):
        page.gold.open(labels)
    measured(qtbot, page)


def measured(qtbot: QtBot, page: ResultsPage) -> None:

    def at_rest() -> bool:
        scores, stale = page.measurer.scores, page._stale or page._later.isActive()
        return scores is not None and scores.explained and not page.measurer.busy and not stale

    qtbot.waitUntil(at_rest)


def table_of(page: ResultsPage, key: str) -> TableModel:
    """The first table of a section of the scores; an empty one where it is not there."""
    section = page.scores.sheet.section(key)
    return section.tables[0] if section and section.tables else TableModel(page)


def in_short(page: ResultsPage) -> str:
    """What is said of the scores in short, doubts aside."""
    return (_said(page, "in_short") or [""])[-1]


def doubts(page: ResultsPage) -> str:
    """What must not be missed of the scores."""
    return "\n".join(_said(page, "in_short")[:-1])


def _said(page: ResultsPage, key: str) -> list[str]:
    """What each part of a section says."""
    section = page.scores.sheet.section(key)
    return [shown_text(part) for part in section.parts] if section else []


def problem_after(qtbot: QtBot, page: ResultsPage, act: Callable[[], object]) -> SetupError:
    with qtbot.waitSignal(page.workspace.problem) as problem:
        act()
    error = problem.args[0]
    assert isinstance(error, SetupError)
    return error


def exported(qtbot: QtBot, page: ResultsPage, act: Callable[[], object]) -> Message:
    with qtbot.waitSignal(page.workspace.notice) as notice:
        act()
    said = notice.args[0]
    assert isinstance(said, Message)
    return said


def wanted_after(qtbot: QtBot, space: Workspace, act: Callable[[], object]) -> WantedItems:
    """What Review is asked to list."""
    with qtbot.waitSignal(space.listing_wanted) as asked:
        act()
    wanted = asked.args[0]
    assert isinstance(wanted, WantedItems)
    return wanted


def click(button: QAbstractButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def override(qtbot: QtBot, page: ResultsPage, item: str, label: Preference) -> None:
    with qtbot.waitSignal(page.workspace.overrides_changed):
        page.workspace.override(JudgmentKey(item, "safety"), label, None)


def judge(
    store: Path,
    path: Path,
    settings: JudgeSettings,
    items: int | None = None,
    dataset: Dataset | None = None,
) -> int:
    """Judge a dataset with the demo model, or stop after so many items of it; the id of the run.

    `dataset`: what is judged of the file at `path`.
    """
    model = checked_model(read_model_file(demo_model()), CancelToken())
    plan = RunPlan(dataset or load_dataset(path), ELOQUENT, settings, MachineSettings(1, 0), model)
    with RunStore(store) as opened:
        for event in run_judging(plan, opened, lambda: open_model(plan, CancelToken())):
            if items is not None and isinstance(event, ItemJudged):
                items -= 1
                if not items:
                    break
        return opened.runs()[-1].id
