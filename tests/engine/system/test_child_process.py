"""A child process is given its input, and ended where it is stopped, takes too long or takes too much."""

import sys

import pytest

from engine.core.cancel import Cancelled, CancelToken
from engine.system.child_process import run_child

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
