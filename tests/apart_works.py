"""Works that a process of its own does for tests: each does what a real one might. What is imported here
each of these processes waits for: with llama.cpp 1.4 seconds of a processor instead of 0.5.
"""

import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.events import CancelToken, ItemJudged, RunEnded, RunEvent

if TYPE_CHECKING:
    from engine.judging.plan import RunPlan


class Odd(Exception):
    """Can be sent, but not be made again where it arrives."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} {two}")


def count(cancel: CancelToken, numbers: int, data: bytes = b"") -> Generator[int, None, tuple[int, int]]:
    """Tell numbers; returns how much data it was given, and its process."""
    cancel.raise_if_requested()
    yield from range(numbers)
    return len(data), os.getpid()


def fail(_cancel: CancelToken, error: BaseException | str) -> Generator[str, None, None]:
    """Raise an error."""
    yield "begun"
    raise Odd("odd", error) if isinstance(error, str) else error


def end_by(_cancel: CancelToken, number: int) -> Generator[str, None, None]:
    """End the process by a signal, or with a positive exit code."""
    yield "begun"
    print("some last words", file=sys.stderr, flush=True)
    if number < 0:
        os.kill(os.getpid(), -number)
        time.sleep(60)
    os._exit(number)


def chatter(_cancel: CancelToken) -> Generator[str, None, str]:
    """Print, and read what nobody typed."""
    print("not an event", flush=True)
    os.write(1, b"nor this\n")
    yield "begun"
    return sys.stdin.read()


def last_until_stopped(cancel: CancelToken, ended: Path | None = None) -> Generator[int, None, None]:
    """Tell the process, and work until it is stopped; `ended`: a file that it leaves then."""
    if sys.platform != "win32":
        os.kill(os.getpid(), signal.SIGINT)  # as Ctrl-C in a terminal does
    yield os.getpid()
    while not cancel.wait(0.05):
        pass
    if ended is not None:
        ended.write_text("ended softly", encoding="utf-8")
    cancel.raise_if_requested()


def end_soon(cancel: CancelToken) -> Generator[str, None, None]:
    """Tell that it was asked to end soon, and work on until it is stopped."""
    yield "begun"
    while not cancel.ending:
        time.sleep(0.02)
    yield "stopped" if cancel.requested else "ending"
    while not cancel.wait(0.05):
        pass
    cancel.raise_if_requested()


def listen_to_nobody(_cancel: CancelToken) -> Generator[int, None, None]:
    """Work on, whatever is wished."""
    yield os.getpid()
    time.sleep(60)


def hang_afterwards(_cancel: CancelToken) -> Generator[int, None, str]:
    """Do all that was wished, in a process that does not come to its end."""
    yield os.getpid()
    threading.Thread(target=time.sleep, args=(60,)).start()
    return "done"


def break_down_under_way(
    cancel: CancelToken, plan: "RunPlan", store: Path, fresh: bool, resumes: int | None
) -> Generator[RunEvent, None, RunEnded]:
    """Judge as `judge_plan` does until two items are stored; then this process breaks down."""
    from engine.judging.work import judge_plan

    judged = 0
    for event in judge_plan(cancel, plan, store, fresh, resumes):
        yield event
        judged += isinstance(event, ItemJudged)
        if judged == 2:
            faulthandler.disable()
            # On Windows ctypes makes an OSError of what it does, and a raised signal ends a process with 3.
            faulthandler._read_null()  # type: ignore[attr-defined]
    raise AssertionError("it had fewer items")
