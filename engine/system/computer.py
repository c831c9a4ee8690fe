"""This computer: its cores, its memory, its power, its processes.

What is asked here only helps to choose well: where the system does not tell it, or psutil cannot read what it
tells, it is not known, and nothing else comes of that.

Knows: psutil. Does not know: what they are for.
"""

import math
import os
import time
from contextlib import suppress
from typing import NamedTuple

import psutil

from engine.core.formatting import amount

_SECONDS_BETWEEN = 0.5  # two looks whether a process has ended


def default_threads() -> int:
    """The physical cores of this computer."""
    with suppress(Exception):
        # Two threads on one core share its arithmetic, and wait for each other by spinning.
        return psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return os.cpu_count() or 1


def idle_seconds() -> float:
    """How long the cores of this computer have been idle, all together, since some moment in the past; not a
    number where that is not known.
    """
    with suppress(Exception):
        times = psutil.cpu_times()
        # A core that waits for the disk is free for whoever computes.
        return float(times.idle + getattr(times, "iowait", 0.0))
    return math.nan


def is_running(process: int) -> bool:
    """Whether there is a process of this number."""
    return psutil.pid_exists(process)


class Memory(NamedTuple):
    """Main memory of this machine, in bytes: what can be had now, and all there is."""

    available: int
    total: int

    @property
    def in_words(self) -> str:
        """What of it is free."""
        return f"{amount(self.available)} of {amount(self.total)} are free"


def available_memory() -> Memory | None:
    """The main memory of this machine now; None where that is not known."""
    with suppress(Exception):
        memory = psutil.virtual_memory()
        return Memory(memory.available, memory.total)
    return None


def on_mains() -> bool:
    """True unless this computer runs on a battery, or has one and does not say."""
    with suppress(Exception):  # a system that psutil cannot ask has none that counts
        battery = psutil.sensors_battery()
        return battery is None or battery.power_plugged is True
    return True


def memory_of(process: int) -> int:
    """The main memory that a process and those that it started hold, in bytes; 0 for what has ended.

    On Windows the python.exe of a virtual environment only starts the real one.
    """
    return sum(map(_held_by, _family(process)))


def own_memory() -> int:
    """The main memory that this process holds, in bytes; 0 where that is not known."""
    with suppress(Exception):
        return int(psutil.Process().memory_info().rss)
    return 0


def kill_family(process: int) -> None:
    """Kill a process and those that it started, which might otherwise keep its pipes open."""
    for each in _family(process):
        with suppress(psutil.Error):
            each.kill()


def _family(process: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with suppress(Exception):
        found.append(psutil.Process(process))
        found += found[0].children(recursive=True)
    return found


def _held_by(process: psutil.Process) -> int:
    with suppress(Exception):
        return int(process.memory_info().rss)
    return 0


def wait_for_end(number: int) -> None:
    """Return soon after a process has ended, whoever started it."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(number)
        # A zombie has ended; only nobody has asked for its exit code yet.
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_SECONDS_BETWEEN)
