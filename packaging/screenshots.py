"""Draw every page of the window in both themes, from a run of the demo model on the demo dataset.

    PYTHONPATH=. python packaging/screenshots.py FOLDER [WIDTH HEIGHT]

Nothing of the user's own is read or written: the run store and the window's memory are in a folder that is
gone afterwards.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["TIEBREAK_HOME"] = tempfile.mkdtemp(prefix="tiebreak-")

from PySide6.QtCore import QDeadlineTimer, QEventLoop
from PySide6.QtWidgets import QApplication

from engine.records import Preference
from gui.app import make_application
from gui.engine_thread import Lane
from gui.main_window import MainWindow
from gui.state import State
from gui.theme import ThemeChoice

_PATIENCE_MS = 300_000
_QUIET_MS = 700  # longer than any delay between a change and the job that follows it
SIZE = (1280, 720)


def main(arguments: list[str]) -> int:
    """Draw all pictures; the exit code."""
    folder = Path(arguments[0] if arguments else "docs")
    folder.mkdir(parents=True, exist_ok=True)
    size = (int(arguments[1]), int(arguments[2])) if len(arguments) > 2 else SIZE
    app = make_application([])
    home = Path(os.environ["TIEBREAK_HOME"])
    window = MainWindow(State(home / "state"), home / "runs.sqlite")
    window.resize(*size)
    window.show()
    window.begin()
    studio = Studio(app, window, folder)
    studio.judge()
    for theme in (ThemeChoice.LIGHT, ThemeChoice.DARK):
        studio.draw(theme)
    window.close()
    window.end()
    shutil.rmtree(home, ignore_errors=True)
    return 0


class Studio:
    """Brings the window into the states that are worth a picture."""

    def __init__(self, app: QApplication, window: MainWindow, folder: Path) -> None:
        self._app = app
        self._window = window
        self._folder = folder

    def judge(self) -> None:
        """Judge the demo, with a picture in the middle of the run, and override two judgments."""
        window = self._window
        window.set_theme(ThemeChoice.LIGHT)
        window.show_page("Judge")
        self._settle()
        window.run()
        self._until(lambda: self._judged() > 100)
        self._save("judge-running")
        self._until(lambda: not window.interior.run_control.running)
        self._settle()
        run = window.workspace.run
        assert run is not None
        first = run.results.judged[0].item_id
        window.workspace.override(first, "naturalness", Preference.A, "Response A reads more like a person.")
        self._settle()

    def _judged(self) -> int:
        progress = self._window.interior.run_control.progress
        return progress.judged if progress else 0

    def draw(self, theme: ThemeChoice) -> None:
        """One picture of each page."""
        self._window.set_theme(theme)
        for page in self._window.interior.pages:
            self._window.show_page(page.NAME)
            self._settle()
            self._save(f"{page.NAME.lower()}-{theme.value}")

    def _save(self, name: str) -> None:
        path = self._folder / f"{name}.png"
        if not self._window.grab().save(str(path)):
            raise OSError(f"{path} could not be written")
        print(path)

    def _settle(self) -> None:
        """Wait until all lanes have been quiet for a while."""
        quiet = QDeadlineTimer(_QUIET_MS)
        patience = QDeadlineTimer(_PATIENCE_MS)
        while not quiet.hasExpired():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 50)
            if any(self._window.threads.busy(lane) for lane in Lane):
                quiet = QDeadlineTimer(_QUIET_MS)
            if patience.hasExpired():
                raise TimeoutError("the window did not come to rest")

    def _until(self, reached: Callable[[], bool]) -> None:
        patience = QDeadlineTimer(_PATIENCE_MS)
        while not reached():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
            if patience.hasExpired():
                raise TimeoutError("the window did not get there")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
