"""Faults in the log file, and in short words."""

import logging
import subprocess
from pathlib import Path

import pytest

from engine.core import VERSION
from engine.core.errors import EngineBug
from engine.system.crash_reports import fault_words, log_fault
from engine.system.paths import log_folder
from tests.commands import ROOT, said_by, start_python


def fault(text: str) -> Exception:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def test_a_fault_is_written_with_its_traceback_and_what_was_done(caplog: pytest.LogCaptureFixture) -> None:
    path = log_fault(fault("no such thing"), "opening a window")
    logging.getLogger("engine.system.crash_reports").error("not a fault")
    caplog.clear()
    log = path.read_text("utf-8")
    assert path.parent == log_folder()
    for said in (f"Tiebreak {VERSION}, opening a window", "Traceback", "ValueError: no such thing"):
        assert said in log
    assert "not a fault" not in log


def test_half_characters_are_written_out() -> None:
    # In a process of its own: pytest cannot send them from one of its processes to another.
    log = "from engine.system.crash_reports import log_fault; "
    path = said_by(f"{log}print(log_fault(ValueError('a path with \\udcff'), 'it'))")
    assert "a path with \\udcff" in Path(path).read_text("utf-8")


def test_a_log_that_cannot_be_written_is_no_second_fault(caplog: pytest.LogCaptureFixture) -> None:
    log_folder().parent.mkdir(parents=True)
    log_folder().write_text("a file, no folder")
    assert not log_fault(fault("first"), "testing").exists()
    caplog.clear()


@pytest.mark.parametrize(
    ("error", "words"),
    [(EngineBug("the cache is gone"), "the cache is gone"), (KeyError("x"), "KeyError: 'x'")],
)
def test_words_for_a_fault(error: Exception, words: str) -> None:
    assert fault_words(error) == words


START = (
    "from engine.system.crash_reports import FaultWatch; watch = FaultWatch();"
    " print(watch.told_in, flush=True); "  # at once: what waits to be written goes with a fault
)
FAULT = "import faulthandler; faulthandler._sigsegv()"
WAIT = "import sys; sys.stdin.readline()"  # not input(), which asks for a stderr


def start(then: str) -> str:
    """What a process said that watched for faults and did something `then`."""
    return said_by(START + then)


def test_a_fault_is_told_of_once_with_where_the_program_was() -> None:
    assert start(FAULT) == "None"
    log = Path(start("watch.end()"))
    assert "ended by a fault" in log.read_text("utf-8")
    assert 'File "<string>", line 1 in <module>' in log.read_text("utf-8")
    assert start("watch.end()") == "None"


@pytest.mark.parametrize("end", ["watch.end()", "import os; os._exit(1)"])
def test_an_end_without_a_fault_is_not_told_of(end: str) -> None:
    start(end)
    assert start("watch.end()") == "None"
    assert not list(log_folder().glob("window-*"))


def test_a_window_that_is_still_open_keeps_its_file() -> None:
    waits = f"{START} print('open', flush=True); {WAIT}; watch.end()"
    with start_python("-c", waits, cwd=ROOT, stdin=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert [other.stdout.readline().strip() for _ in range(2)] == ["None", "open"]
        assert start("watch.end()") == "None"
        assert len(list(log_folder().glob("window-*"))) == 1
        other.communicate("\n")
    assert not list(log_folder().glob("window-*"))
