"""What the next start knows of a process that a fault ended."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.system.paths import log_folder
from tests.commands import ROOT

START = (
    "from engine.system.crash_reports import FaultWatch; watch = FaultWatch();"
    " print(watch.told_in, flush=True); "  # at once: what waits to be written goes with a fault
)
FAULT = "import faulthandler; faulthandler._sigsegv()"


def start(then: str) -> str:
    """What a process said that watched for faults and did something `then`."""
    done = subprocess.run(
        [sys.executable, "-c", START + then], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


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
    with subprocess.Popen(
        [sys.executable, "-c", f"{START} print('open', flush=True); input(); watch.end()"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert [other.stdout.readline().strip() for _ in range(2)] == ["None", "open"]
        assert start("watch.end()") == "None"
        assert len(list(log_folder().glob("window-*"))) == 1
        other.communicate("\n")
    assert not list(log_folder().glob("window-*"))
