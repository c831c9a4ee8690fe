"""Runs judged by a process of its own, as in the window: its end is not the end of the window."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from pytestqt.qtbot import QtBot

from engine.core.errors import ModelFileError, ProcessEnded
from engine.core.events import ItemJudged, Preparing, RunEnded
from engine.data.dataset import load_dataset
from engine.data.submission import write_submission
from engine.results.run_results import load_results, submission_of
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import APART, demo_model
from gui.judge.run_control import RunControl
from gui.judge.run_jobs import Planned, judge, plan, time_first
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace
from tests.commands import ROOT
from tests.gui.jobs import done

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a file in use cannot be cut short")

pytestmark = pytest.mark.apart


@pytest.fixture
def setup(demo_gold: Path, tmp_path: Path) -> RunSetup:
    """A run of some seconds with a model file of its own."""
    path = tmp_path / "copy.gguf"
    path.write_bytes(demo_model().read_bytes())
    return RunSetup(demo_gold, path, items=20, threads=1, context=4096, max_explanation_tokens=20)


def ended(qtbot: QtBot, control: RunControl, setup: RunSetup, do: Callable[[], object] | None = None) -> Any:
    """How a run ends, at which something is done once two items are judged."""
    with qtbot.waitSignal(control.ended) as received:
        control.start(setup)
        if do is not None:
            qtbot.waitUntil(lambda: control.progress is not None and control.progress.judged >= 2)
            do()
    return received.args[0]


def child() -> psutil.Process:
    """The process that judges; other tests may have left helpers of Python's own."""
    (process,) = [process for process in psutil.Process().children() if APART in process.cmdline()]
    return process


def stored(store_path: Path) -> int:
    with RunStore(store_path) as store:
        return store.run(1).judged


@pytest.mark.slow
@LINUX
def test_a_model_file_cut_short_ends_the_run_and_not_the_window(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    def cut_short() -> None:
        with setup.model_path.open("r+b") as file:
            file.truncate(4096)

    with qtbot.waitSignal(workspace.problem) as shown:
        error = ended(qtbot, control, setup, cut_short)
    assert shown.args == [error]
    assert isinstance(error, ModelFileError)
    assert "copy.gguf: the file has changed since it was checked" in error.problem
    assert "crashed (SIGBUS)" in error.problem
    assert "are stored" in str(error.hint)
    caplog.clear()
    assert not control.running
    assert 2 <= stored(workspace.store_path) < 20
    assert control.unfinished == replace(setup, resumes=1)


@pytest.mark.slow
def test_a_process_that_is_killed_ends_the_run_and_the_next_one_goes_on(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    error = ended(qtbot, control, setup, lambda: child().kill())
    assert isinstance(error, ProcessEnded)
    caplog.clear()
    kept = stored(workspace.store_path)
    assert 2 <= kept < 20
    assert ended(qtbot, control, replace(setup, resumes=1)) == RunEnded(1, 20, 20, stopped=False)
    assert control.progress.judged_before == kept


@pytest.mark.slow
def test_the_lanes_end_in_the_middle_of_a_run_and_leave_no_process(
    qtbot: QtBot, control: RunControl, setup: RunSetup, workspace: Workspace
) -> None:
    with qtbot.waitSignal(control.judged):
        control.start(setup)
    process = child()
    assert workspace.threads.stop()
    assert not process.is_running()
    assert stored(workspace.store_path) >= 1


WINDOW = """
import sys
from pathlib import Path
from engine.core.events import CancelToken
from engine.core.events import ItemJudged
from engine.settings.run_setup import RunSetup
from gui.judge.run_jobs import judge
from gui.workspace.threads import JobControl

def hear(event):
    if isinstance(event, ItemJudged):
        print("judged", flush=True)

dataset, model, store = map(Path, sys.argv[1:])
setup = RunSetup(dataset, model, threads=1, context=4096, max_explanation_tokens=20)
judge(setup, store, None)(JobControl(CancelToken(), hear))
"""


@pytest.mark.slow
def test_a_window_that_is_killed_leaves_nothing_that_judges_on(setup: RunSetup, tmp_path: Path) -> None:
    store_path = tmp_path / "runs.sqlite"
    words = [sys.executable, "-c", WINDOW, *map(str, (setup.dataset_path, setup.model_path, store_path))]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as window:
        assert window.stdout.readline() == "judged\n"
        helpers = psutil.Process(window.pid).children(recursive=True)  # what judges, what reads files
        assert any(APART in process.cmdline() for process in helpers)
        window.kill()
    _, alive = psutil.wait_procs(helpers, timeout=60)
    assert not alive
    with RunStore(store_path) as store, store.hold(1) as run:
        assert 1 <= run.judged < 30


def test_the_same_is_stored_as_by_one_process_and_the_same_is_told(tmp_path: Path, demo_gold: Path) -> None:
    setup = RunSetup(demo_gold, demo_model(), items=3, threads=1, context=4096, max_explanation_tokens=20)
    setup = replace(setup, examples_path=demo_gold, shots=1)
    dataset = load_dataset(demo_gold)
    found = []
    for apart in (False, True):
        folder = tmp_path / str(apart)
        received: list[object] = []
        folder.mkdir()
        done(judge(setup, folder / "runs.sqlite", dataset), received, apart)
        with RunStore(folder / "runs.sqlite") as store:
            write_submission(folder / "submission.tsv", submission_of(load_results(store, 1)))
            judged = [replace(item, seconds=0.0) for item in store.judged(1)]
            session = dict(store.run(1).manifest)
        told = [
            (event.judged.item_id, event.judgments) if isinstance(event, ItemJudged) else type(event)
            for event in received
            if isinstance(event, ItemJudged | Preparing | RunEnded)
        ]
        found.append((judged, session, (folder / "submission.tsv").read_bytes(), told))
    assert found[0] == found[1]
    assert len(found[0][0]) == 3


@pytest.mark.slow
def test_the_first_items_are_timed_apart(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> None:
    setup = RunSetup(demo_gold, demo_model(), items=3, threads=1, mode=Mode.LABELS, context=4096)
    planned = done(plan(workspace.store_path, setup, None))
    assert isinstance(planned, Planned)
    timing = workspace.threads.start(ThreadName.MODEL, time_first(planned, None))
    with qtbot.waitSignal(timing.finished) as timed:
        pass
    assert timed.args[0].seconds > 0
    assert not workspace.store_path.exists()
