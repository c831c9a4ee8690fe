"""The window off screen, with a home of its own, for screenshots and recordings.

No user data is read or written: the run store and the window's state are in a temporary folder.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["TIEBREAK_HOME"] = tempfile.mkdtemp(prefix="tiebreak-")

from PySide6.QtCore import QDeadlineTimer, QEventLoop, QTimer

from gui.app import make_application
from gui.widgets.theme import ThemeChoice
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import State
from gui.workspace.threads import ThreadName

AUTHOR = "Ada"
_PATIENCE_MS = 900_000
_STEP_MS = 20
_QUIET_MS = 700  # longer than any delay between a change and the job that follows it


@dataclass(frozen=True)
class Stage:
    """A window, and the folder of its files."""

    window: MainContent
    home: Path

    def wait_until_idle(self) -> None:
        """Wait until all worker threads have been idle for a while."""
        quiet = QDeadlineTimer(_QUIET_MS)
        patience = QDeadlineTimer(_PATIENCE_MS)
        while not quiet.hasExpired():
            wait()
            if any(self.window.threads.busy(thread_name) for thread_name in ThreadName):
                quiet = QDeadlineTimer(_QUIET_MS)
            if patience.hasExpired():
                raise TimeoutError("the window did not come to rest")

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait until something is so."""
        patience = QDeadlineTimer(_PATIENCE_MS)
        while not reached():
            wait()
            if patience.hasExpired():
                raise TimeoutError("the window did not get there")

    @property
    def judged(self) -> int:
        """How many items of the run under way are judged."""
        progress = self.window.run_control.progress
        return progress.judged if progress else 0


def wait(milliseconds: int = _STEP_MS) -> None:
    """Let the window work for a while."""
    # Qt's own loop lets the other threads work meanwhile; processEvents and qWait keep them from it.
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


@contextmanager
def stage(width: int, height: int) -> Iterator[Stage]:
    """A window of this size in the light theme, as at the very first start."""
    _app = make_application([])  # lives as long as its window
    home = Path(os.environ["TIEBREAK_HOME"])
    state = State(home / "state")
    state.set_text("author", AUTHOR)
    state.keep_export_folder(home)
    frame = MainWindow(state)
    frame.resize(width, height)
    frame.set_theme(ThemeChoice.LIGHT)
    frame.show()
    window = MainContent(frame, home / "runs.sqlite")
    window.begin()
    try:
        yield Stage(window, home)
    finally:
        frame.close()
        window.end()
        shutil.rmtree(home, ignore_errors=True)
