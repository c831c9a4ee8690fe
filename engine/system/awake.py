"""The computer kept from going to sleep by itself while something long is done, each system by its own means.

Windows is asked by a call; macOS and Linux by a program of theirs that runs as long as the computer shall
stay awake, and ends with this process, also where that is killed. The screen may go dark.

Knows: what each system has for it, that a battery is to be spared. Does not know: what is done meanwhile.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Protocol, Self

from engine.system.computer import on_mains
from engine.system.forks import keep_to_this_process
from engine.system.paths import environment_of_the_system

_SECONDS_BETWEEN = 20.0  # two looks whether the computer is on mains
_ES_CONTINUOUS, _ES_SYSTEM_REQUIRED = 0x80000000, 0x00000001
_WHO, _WHY = "Tiebreak", "A dataset is being judged"


class KeepAwake(StrEnum):
    """When the computer shall stay awake."""

    MAINS = "mains"  # not while it runs on its battery
    YES = "yes"
    NO = "no"


class _Inhibitor(Protocol):
    @property
    def active(self) -> bool:
        """Whether it still keeps the computer awake."""

    def release(self) -> None:
        """Keep it awake no more."""


class Awake:
    """Keeps the computer awake from the first `refresh` to the end of a `with` block, or to `release`.

    Where the system has nothing for it, nothing happens, and `active` stays False. To be used on one thread,
    which must live as long: Windows forgets what a thread asked for when that ends.
    """

    def __init__(self, when: KeepAwake, mains: Callable[[], bool] = on_mains) -> None:
        self._when = when
        self._mains = mains
        self._inhibitor: _Inhibitor | None = None
        self._looked: float | None = None

    @property
    def active(self) -> bool:
        """Whether the computer is kept awake now."""
        return self._inhibitor is not None and self._inhibitor.active

    def refresh(self) -> None:
        """Keep it awake, or stop doing so where it has gone to its battery; a look now and then is enough."""
        now = time.monotonic()
        if self._looked is not None and now - self._looked < _SECONDS_BETWEEN:
            return
        self._looked = now
        wanted = self._when is KeepAwake.YES or (self._when is KeepAwake.MAINS and self._mains())
        if wanted and self._inhibitor is None:
            self._inhibitor = _inhibitor()
        elif not wanted:
            self._let_go()

    def release(self) -> None:
        """Let the computer sleep again when it likes. May be called twice; `refresh` begins anew."""
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
    """Whether this system has something by which it can be kept awake."""
    return system == "win32" or program_for(system, os.getpid()) is not None


def program_for(
    system: str, process: int, which: Callable[[str], str | None] = shutil.which
) -> list[str] | None:
    """The command of the program that keeps this system awake until `process` ends; None where there is none.

    Those of Linux run `cat`, which ends with our end of its standard input.
    """
    if system == "darwin":
        program = which("caffeinate")
        return [program, "-i", "-w", str(process)] if program else None
    if system.startswith("linux") and which("cat"):
        if program := which("systemd-inhibit"):
            return [program, "--what=idle:sleep", f"--who={_WHO}", f"--why={_WHY}", "cat"]
        if program := which("gnome-session-inhibit"):
            return [program, "--inhibit", "idle:suspend", "--app-id", _WHO, "--reason", _WHY, "cat"]
    return None


def _inhibitor() -> _Inhibitor | None:
    if sys.platform == "win32":
        return _ThreadState()
    command = program_for(sys.platform, os.getpid())
    with suppress(OSError):  # it cannot be started: as good as not there
        return _Program(command) if command else None
    return None


class _Program:
    """A program that keeps the computer awake as long as it runs."""

    def __init__(self, command: list[str]) -> None:
        with environment_of_the_system():
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # it can ask for no password there, and is not met by our Ctrl-C
            )
        keep_to_this_process(self._child)

    @property
    def active(self) -> bool:
        """Whether it runs; it ends at once where the system does not allow it."""
        return self._child.poll() is None

    def release(self) -> None:
        """End it, and what it runs."""
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
        self.active = _set_state(_ES_CONTINUOUS | _ES_SYSTEM_REQUIRED)

    def release(self) -> None:
        """Ask for nothing more."""
        _set_state(_ES_CONTINUOUS)
        self.active = False


def _set_state(flags: int) -> bool:
    """Whether Windows took it."""
    if sys.platform == "win32":
        return bool(ctypes.windll.kernel32.SetThreadExecutionState(ctypes.c_uint(flags)))
    return False
