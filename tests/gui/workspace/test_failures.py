"""Errors that end with the next success of the same work."""

import sys

import pytest
from pytestqt.qtbot import QtBot

from engine.core.errors import EngineError, SetupError
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from gui.workspace.threads import JobControl, LatestTask, ThreadName
from gui.workspace.workspace import Workspace
from tests.full_disk import disk_that_holds


@pytest.fixture
def open_errors(workspace: Workspace) -> list[EngineError]:
    """Those that were told and are not over."""
    found: list[EngineError] = []
    workspace.problem.connect(found.append)
    workspace.failures.over.connect(found.remove)
    return found


def fails(_control: JobControl) -> None:
    raise SetupError("It is gone.", "Get it back.")


def succeeds(_control: JobControl) -> None:
    pass


def test_an_error_is_over_once_the_same_work_succeeds(
    qtbot: QtBot, workspace: Workspace, open_errors: list[EngineError]
) -> None:
    one, other = (LatestTask(workspace.threads, ThreadName.STORE, workspace) for _ in range(2))
    workspace.failures.follow(one)
    workspace.failures.follow(other)
    for work, job, left in ((one, fails, 1), (other, succeeds, 1), (one, fails, 1), (one, succeeds, 0)):
        with qtbot.waitSignal(work.busy_changed, check_params_cb=lambda busy: not busy):
            work.start(job)
        assert len(open_errors) == left


def test_works_of_one_kind_end_the_errors_of_each_other(
    qtbot: QtBot, workspace: Workspace, open_errors: list[EngineError]
) -> None:
    for job, left in ((fails, 1), (succeeds, 0)):
        task = workspace.threads.start(ThreadName.STORE, job)
        workspace.failures.follow(task, "an export")
        with qtbot.waitSignal(task.ended):
            pass
        assert len(open_errors) == left


def test_a_run_that_cannot_be_opened_is_no_matter_once_one_is(
    qtbot: QtBot, space: Workspace, open_errors: list[EngineError]
) -> None:
    with qtbot.waitSignal(space.problem):
        space.open_run(99)
    assert len(open_errors) == 1
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    assert open_errors == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")
def test_a_label_that_is_not_stored_is_told_of_until_one_of_the_same_judgment_is(
    qtbot: QtBot, space: Workspace, open_errors: list[EngineError]
) -> None:
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    with disk_that_holds(10):
        space.override(JudgmentKey("1", "safety"), Preference.A, None)
    assert len(open_errors) == 1
    for item, left in (("2", 1), ("1", 0)):
        with qtbot.waitSignal(space.overrides_changed):
            space.override(JudgmentKey(item, "safety"), Preference.B, None)
        assert len(open_errors) == left
