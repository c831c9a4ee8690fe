"""A child process that does what might end the process it runs in, waited for so that it can be stopped.

Knows: processes, their signals and windows. Does not know: what the child does.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from engine.core.cancel import CancelToken
from engine.system.paths import child_environment

_POLL_SECONDS = 0.1
NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""For `creationflags`: on Windows no console flashes up."""
if sys.platform == "win32":
    # abort, access violation, page not readable, division by zero, illegal instruction, stack overrun
    _CRASHES = {3, 0xC0000005, 0xC0000006, 0xC0000094, 0xC000001D, 0xC0000409}
else:
    _CRASHES = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV}


def broke_down(code: int) -> bool:
    """Whether this is the exit code of a process that the system ended for what it did."""
    return code in _CRASHES


def code_words(code: int) -> str:
    """An exit code as people look for it: the name of a signal, a code of Windows in its usual form."""
    if code < 0 and -code in set(signal.Signals):
        return signal.Signals(-code).name
    return f"code {code:#x}" if code > 0xFFFF else f"code {code}"


def run_child(
    command: Sequence[str], cancel: CancelToken, messages: bool = False, seconds: float | None = None
) -> tuple[int, bytes]:
    """The exit code of a child process and what it printed, with its `messages` or without.

    Raises Cancelled where `cancel` is set, TimeoutError after `seconds`; the child has ended then, too.
    """
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if messages else subprocess.DEVNULL,
        env=child_environment(GGML_NO_BACKTRACE="1"),
        creationflags=NO_WINDOW,
        # Away from the terminal, whose Ctrl-C is for us alone: we then end the child.
        start_new_session=True,
    )
    deadline = None if seconds is None else time.monotonic() + seconds
    try:
        while True:
            cancel.raise_if_requested()
            try:
                printed, _ = child.communicate(timeout=_POLL_SECONDS)
            except subprocess.TimeoutExpired as error:
                if deadline is not None and time.monotonic() > deadline:
                    raise TimeoutError(f"not ended after {seconds} s") from error
            else:
                return child.returncode, printed
    finally:
        if child.poll() is None:
            child.kill()
            child.communicate()
