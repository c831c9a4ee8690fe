"""A child process that does what might end the process it runs in, waited for so that it can be stopped.

Knows: processes, their signals and windows. Does not know: what the child does.
"""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import NoReturn

from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.system.computer import kill_family, memory_of, wait_for_end
from engine.system.paths import child_environment, environment

_POLL_SECONDS = 0.05  # a process may take a hundred megabytes meanwhile
_LAST_WORDS_SECONDS = 5.0  # a process that it started may hold its pipe
_PARENT = "TIEBREAK_PARENT"  # the variable that names the process which waits
_ORPHAN = 5  # exit code
NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""For `creationflags`: on Windows no console flashes up."""
if sys.platform == "win32":
    # abort, access violation, a page that cannot be read, division by zero, illegal instruction, stack
    # overrun, stack overflow
    CRASHES = {3, 0xC0000005, 0xC0000006, 0xC0000094, 0xC000001D, 0xC0000409, 0xC00000FD}
else:
    CRASHES = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV}
"""Exit codes of a process that crashed."""


def code_words(code: int) -> str:
    """An exit code as users look for it: the name of a signal, a code of Windows in its usual form."""
    if code < 0 and -code in set(signal.Signals):
        return signal.Signals(-code).name
    return f"code {code:#x}" if code > 0xFFFF else f"code {code}"


def run_child(
    command: Sequence[str],
    cancel: CancelToken,
    *,
    messages: bool = False,
    seconds: float | None = None,
    most_bytes: int | None = None,
    given: bytes = b"",
) -> tuple[int, bytes]:
    """The exit code of a child process and what it printed, with its `messages` or without.

    `given`: what it reads on its standard input. Where this process is killed, nobody limits or ends the
    child: it should call `end_with_parent`. Raises Cancelled where `cancel` is set, TimeoutError after
    `seconds`, MemoryError where it is seen to hold more than `most_bytes`; the child has ended then, too.
    SetupError where it cannot be started.
    """
    child = _started(command, messages, given)
    try:
        return _waited_for(child, cancel, seconds, most_bytes)
    finally:
        if child.poll() is None:
            kill_family(child.pid)
            child.kill()  # where the system does not tell who that is
        # Also where it ended just as this was stopped: nobody has read what it printed, and its pipe is open.
        with suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=_LAST_WORDS_SECONDS)


def _started(command: Sequence[str], messages: bool, given: bytes) -> subprocess.Popen[bytes]:
    try:
        with TemporaryFile() as asked:  # a pipe would not be written on after a time-out of `communicate`
            asked.write(given)
            asked.seek(0)
            return subprocess.Popen(
                command,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if messages else subprocess.DEVNULL,
                # Else ggml starts a debugger where it crashes, which takes seconds.
                env=child_environment(**{"GGML_NO_BACKTRACE": "1", _PARENT: str(os.getpid())}),
                creationflags=NO_WINDOW,
                # Away from the terminal, whose Ctrl-C is for us alone: we then end the child.
                start_new_session=True,
            )
    except OSError as error:
        raise SetupError(
            f"A process that this program needs cannot be started: {error}.",
            "Close other programs, and make room for temporary files, then try again.",
        ) from error


def end_with_parent() -> None:
    """In a child process: end it, from now on, soon after the process that waits for it in `run_child`."""
    number = environment(_PARENT)
    if number is None:
        return  # the user started it
    threading.Thread(target=_end_after, args=(int(number),), name="ends with parent", daemon=True).start()


def _end_after(parent: int) -> NoReturn:
    # Not the parent that the system names: on Windows a launcher may be in between.
    wait_for_end(parent)
    os._exit(_ORPHAN)


def _waited_for(
    child: subprocess.Popen[bytes], cancel: CancelToken, seconds: float | None, most_bytes: int | None
) -> tuple[int, bytes]:
    deadline = time.monotonic() + (math.inf if seconds is None else seconds)
    while True:
        cancel.raise_if_requested()
        with suppress(subprocess.TimeoutExpired):
            printed, _ = child.communicate(timeout=_POLL_SECONDS)
            return child.returncode, printed
        if time.monotonic() > deadline:
            raise TimeoutError(f"not ended after {seconds} s")
        if most_bytes is not None and memory_of(child.pid) > most_bytes:
            raise MemoryError(f"more than {most_bytes:,} bytes")
