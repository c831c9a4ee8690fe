"""Work done by a real process of its own: what comes back of it, how it is stopped, and how it may end."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from engine.cli.shared.console import FAULT
from engine.core import errors
from engine.core.events import Cancelled, CancelToken, followed
from engine.system import subprocess_worker
from engine.system.computer import memory_of
from engine.system.crash_reports import DistantTrace
from engine.system.paths import log_folder
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker, run_child
from tests import apart_works as works
from tests.commands import ROOT, run
from tests.inhibitors import runs, until
from tests.steps import refused, there

HINT = errors.Hint("Use ", errors.Setting.CONTEXT.at(512), " or ", errors.Step.RESUME)
LINUX = pytest.mark.skipif(sys.platform == "win32", reason="signals")


def test_events_and_result_come_back_from_another_process() -> None:
    data = bytes(20_000_000)  # far more than a pipe holds
    received: list[int] = []
    with SubprocessWorker(works.count, CancelToken()) as worker:
        size, process = followed(worker.do(300, data=data), received.append)
    assert (received, size) == (list(range(300)), len(data))
    assert process != os.getpid()
    until(lambda: not runs(process))


def test_the_same_work_is_done_here() -> None:
    received: list[int] = []
    with InProcessWorker(works.count, CancelToken()) as worker:
        assert followed(worker.do(3), received.append) == (0, os.getpid())
    assert received == [0, 1, 2]


def test_what_the_work_prints_is_no_event_and_nothing_is_typed_there() -> None:
    received: list[str] = []
    with SubprocessWorker(works.chatter, CancelToken()) as worker:
        assert (followed(worker.do(), received.append), received) == ("", ["begun"])


ERRORS = [
    errors.SetupError("a problem", HINT),
    errors.DoubtfulCandidates("a problem", HINT),
    errors.InputError(Path("a.tsv"), [f"problem {number}" for number in range(60)], HINT),
    errors.ColumnsError(Path("a.tsv"), ["one"], HINT, foreign=True, unknown=["x"]),
    errors.JudgeColumnError(Path("a.tsv"), ["one"], HINT),
    errors.WrongKindError(Path("a.tsv"), errors.FileKind.MODEL, errors.FileKind.DATASET),
    errors.ModelFileError("a problem", HINT),
    errors.NoRoomError("a problem", HINT),
    errors.DeviceFailed("A card", "it does not compute"),
    errors.ProcessEnded("a problem", HINT, broke_down=True),
    errors.StoreError("a problem", HINT),
    errors.RunBusyError("a problem", HINT),
    errors.EngineBug("a bug"),
    Cancelled(),
    MemoryError(),
]


def test_all_errors_of_the_engine_are_tried() -> None:
    def kinds(error: type[errors.EngineError]) -> set[type[errors.EngineError]]:
        return {error, *(kind for below in error.__subclasses__() for kind in kinds(below))}

    theirs = {kind for kind in kinds(errors.EngineError) if kind.__module__ == errors.EngineError.__module__}
    assert theirs - {errors.EngineError} == {
        type(error) for error in ERRORS if isinstance(error, errors.EngineError)
    }


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_can_be_sent_to_another_process(error: Exception) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error)
    assert (str(back), back.args, vars(back)) == (str(error), error.args, vars(error))


def test_an_error_that_was_meant_comes_back_as_it_was() -> None:
    error = errors.InputError(Path("a.tsv"), ["one", "two"], HINT)
    with SubprocessWorker(works.fail, CancelToken()) as worker, pytest.raises(errors.InputError) as met:
        followed(worker.do(error), print)
    assert vars(met.value) == vars(error)
    assert met.value.__cause__ is None


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [(ZeroDivisionError("nought"), ZeroDivisionError, "nought"), ("end", RuntimeError, "Odd: odd end")],
    ids=["any", "one that cannot be made again"],
)
def test_a_fault_comes_with_its_trace(error: BaseException | str, kind: type[Exception], words: str) -> None:
    with SubprocessWorker(works.fail, CancelToken()) as worker, pytest.raises(kind) as met:
        followed(worker.do(error), print)
    assert str(met.value) == words
    assert isinstance(met.value.__cause__, DistantTrace)
    assert "apart_works.py" in str(met.value.__cause__)


@LINUX
@pytest.mark.parametrize(
    ("how", "words", "place"),
    [
        ("SIGBUS", "crashed (SIGBUS)", True),  # where it happened faulthandler says
        ("SIGKILL", "from outside (SIGKILL), most likely for lack of memory", False),
        ("9", "code 9 before", False),  # an end without a crash is a bug
    ],
)
def test_the_end_of_its_process_is_an_error_in_words(
    caplog: pytest.LogCaptureFixture, how: str, words: str, place: bool
) -> None:
    received: list[str] = []
    code = int(how) if how.isdecimal() else -signal.Signals[how]
    kind = errors.ProcessEnded if code < 0 else errors.EngineBug
    with SubprocessWorker(works.end_by, CancelToken()) as worker, pytest.raises(kind) as met:
        followed(worker.do(code), received.append)
    assert received == ["begun"]
    assert words in str(met.value)
    if code < 0:
        assert "are stored" in str(met.value)
        logged = (log_folder() / "tiebreak.log").read_text("utf-8")
        assert "some last words" in logged
        assert ("apart_works.py" in logged) is place
    caplog.clear()


@pytest.mark.parametrize("code", [1, 15])
def test_what_the_task_manager_ends_is_neither_a_fault_nor_a_crash(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    if sys.platform != "win32":
        monkeypatch.setattr(subprocess_worker, "_ENDED_BY_OTHERS", {1, 15})
    with SubprocessWorker(works.end_by, CancelToken()) as worker, pytest.raises(errors.ProcessEnded) as met:
        followed(worker.do(code), print)
    assert f"was ended from outside (code {code}), by the Task Manager" in str(met.value)
    assert not met.value.broke_down
    caplog.clear()


def test_our_own_exit_code_for_a_fault_is_no_crash() -> None:
    assert FAULT not in subprocess_worker.CRASHES


def test_a_stop_reaches_the_work_at_once_and_a_ctrl_c_does_not() -> None:
    cancel = CancelToken()
    with SubprocessWorker(works.last_until_stopped, cancel) as worker:
        going = worker.do()
        process = next(going)
        time.sleep(0.2)
        assert runs(process)
        cancel.cancel()
        asked = time.monotonic()
        with pytest.raises(Cancelled):
            next(going)
    assert time.monotonic() - asked < subprocess_worker._PATIENCE  # after which it would be ended
    until(lambda: not runs(process))


def test_a_wish_to_end_soon_reaches_the_work_and_a_stop_still_does_after_it() -> None:
    cancel = CancelToken()
    with SubprocessWorker(works.end_soon, cancel) as worker:
        going = worker.do()
        assert next(going) == "begun"
        cancel.end_soon()
        assert next(going) == "ending"
        cancel.cancel()
        with pytest.raises(Cancelled):
            next(going)


def test_work_that_does_not_listen_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess_worker, "_PATIENCE", 0.3)
    cancel = CancelToken()
    with SubprocessWorker(works.listen_to_nobody, cancel) as worker:
        going = worker.do()
        process = next(going)
        cancel.cancel()
        with pytest.raises(Cancelled):
            next(going)
    assert not runs(process)


@pytest.mark.slow
def test_a_result_does_not_wait_for_a_process_that_hangs_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess_worker, "_LATEST_END", 2.0)
    received: list[int] = []
    with SubprocessWorker(works.hang_afterwards, CancelToken()) as worker:
        assert followed(worker.do(), received.append) == "done"
        done = time.monotonic()
    assert runs(received[0])
    until(lambda: not runs(received[0]))
    assert time.monotonic() - done < 20  # and not the minute that it would take


def test_whoever_looks_on_may_fail_and_the_process_ends_all_the_same() -> None:
    def refuse(event: object) -> None:
        raise ValueError(event)

    with (
        pytest.raises(ValueError, match=r"\d+") as met,
        SubprocessWorker(works.last_until_stopped, CancelToken()) as worker,
    ):
        followed(worker.do(), refuse)
    assert not runs(int(str(met.value)))


def test_a_stop_before_the_work_begins_waits_for_nothing_and_nobody_is_left() -> None:
    before, cancel = set(psutil.Process().children()), CancelToken()
    with SubprocessWorker(works.count, CancelToken()):
        pass  # it is not wanted any more
    stop = threading.Timer(0.02, cancel.cancel)
    stop.start()
    begun = time.monotonic()
    with SubprocessWorker(works.last_until_stopped, cancel) as worker, pytest.raises(Cancelled):
        followed(worker.do(), print)
    assert time.monotonic() - begun < subprocess_worker._PATIENCE
    stop.join()
    assert set(psutil.Process().children()) <= before


PARENT = """
import sys
from pathlib import Path
from engine.core.events import CancelToken
from engine.system.subprocess_worker import SubprocessWorker
from tests.apart_works import last_until_stopped
with SubprocessWorker(last_until_stopped, CancelToken()) as worker:
    for process in worker.do(Path(sys.argv[1])):
        print(process, flush=True)
"""


def test_the_work_stops_softly_where_whoever_asked_for_it_is_killed(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(ended)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    with parent:
        process = int(there(parent.stdout).readline())
        parent.kill()
    until(lambda: not runs(process))
    assert ended.read_text("utf-8") == "ended softly"


def test_a_process_that_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("engine.system.paths.self_command", lambda: [str(tmp_path / "gone")])
    refused(lambda: SubprocessWorker(works.count, CancelToken()), "cannot be started")


def test_nobody_meets_its_argument_in_the_help() -> None:
    assert "apart" not in run("--help").stdout


SLEEPS = "import time; time.sleep(60)"


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


@pytest.mark.parametrize("given", [b"", b"x" * 5_000_000])
def test_what_it_prints_and_its_exit_code_also_where_it_does_not_read_its_input(given: bytes) -> None:
    code, printed = run_child(python("print('said'); raise SystemExit(4)"), CancelToken(), given=given)
    assert (code, printed.strip()) == (4, b"said")


def test_it_is_ended_after_its_time_where_it_takes_too_much_memory_and_where_it_is_stopped() -> None:
    with pytest.raises(TimeoutError, match=r"0\.2 s"):
        run_child(python(SLEEPS), CancelToken(), seconds=0.2)
    with pytest.raises(MemoryError):
        run_child(python(f"text = 'x' * 300_000_000; {SLEEPS}"), CancelToken(), most_bytes=100 << 20)
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        run_child(python(SLEEPS), cancel)


def test_it_is_given_all_of_a_long_input_also_where_it_reads_late() -> None:
    late = "import sys, time; time.sleep(0.3); print(len(sys.stdin.buffer.read()))"
    code, printed = run_child(python(late), CancelToken(), given=b"x" * 5_000_000)
    assert (code, printed.strip()) == (0, b"5000000")


WAITING_PARENT = """
import sys
from engine.core.events import CancelToken
from engine.system.subprocess_worker import run_child
run_child([sys.executable, "-c", sys.argv[1]], CancelToken(), seconds=60)
"""


def test_it_ends_soon_after_whoever_waits_for_it_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "told"
    program = (
        "import os, time, pathlib\n"
        "from engine.system.subprocess_worker import end_with_parent\n"
        "end_with_parent()\n"
        f"pathlib.Path({str(told)!r}).write_text(str(os.getpid()) + '.')\n"
        "time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", WAITING_PARENT, program], cwd=ROOT)
    until(lambda: told.exists() and told.read_text("utf-8").endswith("."))
    child = psutil.Process(int(told.read_text("utf-8")[:-1]))
    time.sleep(0.5)
    assert child.is_running()
    parent.kill()
    parent.wait()
    until(lambda: not runs(child.pid))


def test_what_its_own_children_hold_counts_too() -> None:
    allocates = python(f"text = bytes(1) * 300_000_000; {SLEEPS}")
    launcher = python(f"import subprocess; subprocess.run({allocates!r})")
    begun = time.monotonic()
    with pytest.raises(MemoryError):
        run_child(launcher, CancelToken(), most_bytes=200 << 20, seconds=30)
    assert time.monotonic() - begun < 30  # they are ended with it, and hold its pipes no longer


def test_a_process_that_has_ended_holds_no_memory() -> None:
    done = subprocess.Popen(python("pass"))
    done.wait()
    assert memory_of(done.pid) == 0
