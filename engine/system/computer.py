"""This computer: its cores, memory, power and processes, kept awake while something long is done. What psutil
cannot tell does no harm. Also two limits of Python: stacks of threads, lines of source.
"""

import ctypes
import linecache
import math
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Any, NamedTuple, Self

import psutil

from engine.core.formatting import amount
from engine.system.files import keep_to_this_process
from engine.system.paths import environment_of_the_system

STACK_BYTES = 16 << 20
"""Of each thread that this program makes: walking through nested values past the end of a stack ends the
process. macOS would give 512 KiB, Linux 8 MiB, Windows 1 MiB.
"""


def give_room() -> None:
    """Let every thread that Python makes from now on have a stack of STACK_BYTES."""
    threading.stack_size(STACK_BYTES)


MOST_FILES = 32


class _FewSources(dict[str, Any]):
    def __setitem__(self, path: str, lines: Any) -> None:
        super().pop(path, None)
        super().__setitem__(path, lines)
        while len(self) > MOST_FILES:
            try:
                super().pop(next(iter(self)), None)
            except (RuntimeError, StopIteration):  # another thread was at it
                break


def keep_few_sources() -> None:
    """From now on keep the lines of a few files only; others are read again where they are shown."""
    # Qt's Python binding reads the source of each module that is imported, and Python keeps the lines for
    # tracebacks: a million, 90 MB, with the libraries of the measures. Its dictionary has no limit.
    linecache.cache = _FewSources()


_SECONDS_BETWEEN = 0.5  # two looks whether a process has ended


def default_threads() -> int:
    with suppress(Exception):
        # Two threads on one core share its arithmetic, and wait for each other by spinning.
        return psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    return os.cpu_count() or 1


def idle_seconds() -> float:
    """How long the cores have been idle, all together, since some moment in the past; NaN where not known."""
    with suppress(Exception):
        times = psutil.cpu_times()
        # A core that waits for the disk is free for whoever computes.
        return float(times.idle + getattr(times, "iowait", 0.0))
    return math.nan


def is_running(process: int) -> bool:
    return psutil.pid_exists(process)


class Memory(NamedTuple):
    """Main memory of this machine, in bytes: what can be had now, and all there is."""

    available: int
    total: int

    @property
    def in_words(self) -> str:
        return f"{amount(self.available)} of {amount(self.total)} are free"


def available_memory() -> Memory | None:
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
    """The main memory that a process and those that it started hold, in bytes; 0 for what has ended."""
    held = 0
    # On Windows the python.exe of a virtual environment only starts the real one.
    for each in _family(process):
        with suppress(Exception):
            held += int(each.memory_info().rss)
    return held


def own_memory() -> int:
    """The same of this process alone."""
    with suppress(Exception):
        return int(psutil.Process().memory_info().rss)
    return 0


def kill_family(process: int) -> None:
    for each in _family(process):  # a child might otherwise keep the pipes open
        with suppress(psutil.Error):
            each.kill()


def _family(process: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    with suppress(Exception):
        found.append(psutil.Process(process))
        found += found[0].children(recursive=True)
    return found


def wait_for_end(number: int) -> None:
    """Return soon after a process has ended, whoever started it."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(number)
        # A zombie has ended; only nobody has asked for its exit code yet.
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(_SECONDS_BETWEEN)


_AWAKE_SECONDS_BETWEEN = 20.0  # two looks whether the computer is on mains
_ES_CONTINUOUS, _ES_SYSTEM_REQUIRED = 0x80000000, 0x00000001
_WHO, _WHY = "Tiebreak", "A dataset is being judged"


class KeepAwake(StrEnum):
    MAINS = "mains"  # not while it runs on its battery
    YES = "yes"
    NO = "no"


class Awake:
    """Keeps the computer awake from the first `refresh` to the end of a `with` block, or to `release`. The
    screen may go dark. Where the system has nothing for it, `active` stays False. To be used on one thread,
    which must live as long: Windows forgets what a thread asked for when that ends.
    """

    def __init__(self, when: KeepAwake, mains: Callable[[], bool] = on_mains) -> None:
        self._when = when
        self._mains = mains
        self._inhibitor: _Program | _ThreadState | None = None
        self._looked: float | None = None

    @property
    def active(self) -> bool:
        return self._inhibitor is not None and self._inhibitor.active

    def refresh(self) -> None:
        now = time.monotonic()
        if self._looked is not None and now - self._looked < _AWAKE_SECONDS_BETWEEN:
            return
        self._looked = now
        wanted = self._when is KeepAwake.YES or (self._when is KeepAwake.MAINS and self._mains())
        if wanted and self._inhibitor is None:
            self._inhibitor = _inhibitor()
        elif not wanted:
            self._let_go()

    def release(self) -> None:
        """May be called twice; `refresh` begins anew."""
        self._let_go()
        self._looked = None

    def _let_go(self) -> None:
        if self._inhibitor is not None:
            self._inhibitor.release()
            self._inhibitor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


def can_stay_awake(system: str = sys.platform) -> bool:
    return system == "win32" or program_for(system, os.getpid()) is not None


def program_for(
    system: str, process: int, which: Callable[[str], str | None] = shutil.which
) -> list[str] | None:
    """The command that keeps this system awake until `process` ends; None where there is none."""
    if system == "darwin":
        program = which("caffeinate")
        return [program, "-i", "-w", str(process)] if program else None
    if system.startswith("linux") and which("cat"):  # cat ends with our end of its standard input
        if program := which("systemd-inhibit"):
            return [program, "--what=idle:sleep", f"--who={_WHO}", f"--why={_WHY}", "cat"]
        if program := which("gnome-session-inhibit"):
            return [program, "--inhibit", "idle:suspend", "--app-id", _WHO, "--reason", _WHY, "cat"]
    return None


def _inhibitor() -> "_Program | _ThreadState | None":
    if sys.platform == "win32":
        return _ThreadState()
    command = program_for(sys.platform, os.getpid())
    with suppress(OSError):  # it cannot be started: as good as not there
        return _Program(command) if command else None
    return None


class _Program:
    def __init__(self, command: list[str]) -> None:
        with environment_of_the_system():
            # In a session of its own it can ask for no password, and is not met by our Ctrl-C.
            nothing, pipe = subprocess.DEVNULL, subprocess.PIPE
            self._child = subprocess.Popen(
                command, stdin=pipe, stdout=nothing, stderr=nothing, start_new_session=True
            )
        keep_to_this_process(self._child)

    @property
    def active(self) -> bool:
        return self._child.poll() is None

    def release(self) -> None:
        if self._child.stdin is not None:
            with suppress(OSError):
                self._child.stdin.close()
        self._child.terminate()
        try:
            self._child.wait(1)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()


class _ThreadState:
    """What Windows keeps for the thread that asked."""

    def __init__(self) -> None:
        self.active = self._set(_ES_CONTINUOUS | _ES_SYSTEM_REQUIRED)

    def release(self) -> None:
        self._set(_ES_CONTINUOUS)
        self.active = False

    def _set(self, flags: int) -> bool:
        if sys.platform == "win32":
            return bool(ctypes.windll.kernel32.SetThreadExecutionState(ctypes.c_uint(flags)))
        return False
