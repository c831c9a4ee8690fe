"""A program on PATH that stands for systemd-inhibit: it notes what it was asked, and runs its command."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil


@contextmanager
def inhibitor(folder: Path) -> Iterator[Path]:
    """The folder `bin` in `folder` with the program; the file in which it notes its process and arguments."""
    told = folder / "told"
    program = folder / "bin" / "systemd-inhibit"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$$ $*" >> {told}\nfor last; do :; done\nexec "$last"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    yield told
    for process in asked(told):  # where a test failed
        if psutil.pid_exists(process):
            os.kill(process, signal.SIGKILL)


def asked(told: Path) -> list[int]:
    """The processes that keep the computer awake, or did."""
    lines = told.read_text("utf-8").splitlines() if told.exists() else []
    return [int(line.split()[0]) for line in lines]


def until(condition: Callable[[], object]) -> None:
    """Wait until something is so, for a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def runs(process: int) -> bool:
    """Whether a process is there and has not ended."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    return False
