"""A child process is given its input, and ended where it is stopped, takes too long or takes too much."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from engine.core.events import Cancelled, CancelToken
from engine.system.computer import memory_of
from engine.system.subprocess_worker import run_child
from tests.commands import ROOT

SLEEPS = "import time; time.sleep(60)"


def python(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_what_it_prints_and_its_exit_code() -> None:
    code, printed = run_child(python("print('said'); raise SystemExit(4)"), CancelToken())
    assert (code, printed.strip()) == (4, b"said")


def test_it_is_given_all_of_a_long_input_also_where_it_reads_late() -> None:
    late = "import sys, time; time.sleep(0.3); print(len(sys.stdin.buffer.read()))"
    code, printed = run_child(python(late), CancelToken(), given=b"x" * 5_000_000)
    assert (code, printed.strip()) == (0, b"5000000")


def test_it_need_not_read_its_input() -> None:
    code, _ = run_child(python("raise SystemExit(4)"), CancelToken(), given=b"x" * 5_000_000)
    assert code == 4


def test_it_is_ended_after_its_time() -> None:
    with pytest.raises(TimeoutError, match=r"0\.2 s"):
        run_child(python(SLEEPS), CancelToken(), seconds=0.2)


def test_it_is_ended_where_it_takes_too_much_memory() -> None:
    with pytest.raises(MemoryError):
        run_child(python(f"text = 'x' * 300_000_000; {SLEEPS}"), CancelToken(), most_bytes=100 << 20)


def test_it_is_ended_where_the_work_is_stopped() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        run_child(python(SLEEPS), cancel)


PARENT = """
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
    parent = subprocess.Popen([sys.executable, "-c", PARENT, program], cwd=ROOT)
    wait_until(lambda: told.exists() and told.read_text("utf-8").endswith("."))
    child = psutil.Process(int(told.read_text("utf-8")[:-1]))
    time.sleep(0.5)
    assert child.is_running()
    parent.kill()
    parent.wait()
    wait_until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_what_its_own_children_hold_counts_too() -> None:
    launcher = (
        f"import subprocess, sys; subprocess.run({python(f'text = bytes(1) * 300_000_000; {SLEEPS}')!r})"
    )
    begun = time.monotonic()
    with pytest.raises(MemoryError):
        run_child(python(launcher), CancelToken(), most_bytes=200 << 20, seconds=30)
    assert time.monotonic() - begun < 30  # they are ended with it, and hold its pipes no longer


def test_a_process_that_has_ended_holds_no_memory() -> None:
    done = subprocess.Popen(python("pass"))
    done.wait()
    assert memory_of(done.pid) == 0


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
