"""The window of a bundle on a screen of its own: opened, used, photographed and closed."""

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

TOOLS = ("Xvfb", "xdotool", "import")
SIZE = "1280x800x24"
_BOX = "#32770"  # the class of Windows' own boxes, such as that of a program which could not start
_PATIENCE = 300.0  # seconds: with Wine, on a busy computer, the first start takes minutes


def missing_tools() -> list[str]:
    """What this needs and the computer lacks."""
    return [name for name in TOOLS if not shutil.which(name)]


@contextmanager
def screen() -> Iterator[str]:
    """The name of a new display, gone at the end. Any user may open windows on it."""
    reading, writing = os.pipe()
    # It would start anew, and drop who is just coming, whenever the last program leaves it.
    options = ["-screen", "0", SIZE, "-ac", "-noreset", "-nolisten", "tcp"]
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), *options],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    try:
        with os.fdopen(reading) as number:
            yield f":{number.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


class Window:
    """The window of a program on a display."""

    def __init__(self, display: str, program: subprocess.Popen[bytes]) -> None:
        """Wait until it is to be seen. AssertionError where the program ends first, or shows none."""
        self._environment = {**os.environ, "DISPLAY": display}
        self._program = program
        start = time.monotonic()
        wait_for(self._visible, "no window was opened", program, every=0.01)
        self.seconds = time.monotonic() - start

    def press(self, keys: str) -> None:
        """Press keys, such as `ctrl+r`."""
        self._tool("xdotool", "windowfocus", self._visible())
        self._tool("xdotool", "key", "--clearmodifiers", keys)

    def dismiss(self, title: str) -> None:
        """Wait for a dialog of this title, and close it with Escape."""
        wait_for(lambda: self._visible(title), f"no dialog {title!r} was opened", self._program)
        self._tool("xdotool", "windowfocus", self._visible(title))
        self._tool("xdotool", "key", "Escape")
        wait_for(lambda: not self._visible(title), f"the dialog {title!r} stays open", self._program)

    def photograph(self, target: Path) -> None:
        """Write a picture of the whole screen."""
        self._tool("import", "-window", "root", str(target))

    def close(self) -> int:
        """Quit as a user does; the program's exit code."""
        self.press("ctrl+q")
        return self._program.wait(timeout=_PATIENCE)

    def _visible(self, title: str = "Tiebreak") -> str:
        printed = self._tool("xdotool", "search", "--onlyvisible", "--name", title, may_fail=True)
        return printed.split()[0] if printed else ""

    def _tool(self, *words: str, may_fail: bool = False) -> str:
        done = subprocess.run(
            words, env=self._environment, capture_output=True, text=True, check=not may_fail
        )
        return done.stdout


def windows_titles(process: int, word: str) -> list[str]:
    """On Windows: the titles with `word` of a process's windows that are to be seen, but for boxes."""
    titles: list[str] = []
    if sys.platform == "win32":
        user = ctypes.windll.user32

        def look(handle: int, _: int) -> bool:
            window, owner = ctypes.c_void_p(handle), ctypes.c_ulong()
            user.GetWindowThreadProcessId(window, ctypes.byref(owner))
            title, kind = ctypes.create_unicode_buffer(256), ctypes.create_unicode_buffer(256)
            user.GetWindowTextW(window, title, 256)
            user.GetClassNameW(window, kind, 256)
            if owner.value == process and user.IsWindowVisible(window) and kind.value != _BOX:
                titles.append(title.value)
            return True

        prototype = ctypes.WINFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
        user.EnumWindows(prototype(look), None)
    return [title for title in titles if word in title]


def wait_for(
    look: Callable[[], object],
    problem: str,
    program: subprocess.Popen[bytes],
    patience: float = _PATIENCE,
    every: float = 0.05,
) -> None:
    """Look `every` so many seconds until there is something. AssertionError where the program ends before."""
    deadline = time.monotonic() + patience
    while not look():
        assert program.poll() is None, f"{problem}: the program ended with code {program.returncode}"
        assert time.monotonic() < deadline, f"{problem} within {patience:.0f} s"
        time.sleep(every)
