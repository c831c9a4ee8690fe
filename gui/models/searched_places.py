"""Where model files are looked for: what the user added to the default folders, and what changes there.

Knows: how places are remembered, the menu that takes one away, when to look again. Does not know: what a
model is.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QMenu, QPushButton

from engine.core.formatting import visible, without_middle
from engine.system.paths import home
from gui.models import model_jobs
from gui.models.model_jobs import Stamps
from gui.widgets.foreign_text import tip
from gui.widgets.labels import name
from gui.workspace.state import State
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, ThreadName

_SEARCHED = "models"
_FILES, _FOLDERS = "files", "folders"
_LONGEST_ENTRY = 70  # characters
PAUSE_MS = 3_000
"""Between two listings of the model files."""
_SHARE = 20  # times as long as a listing took is the pause after it
_NO_AMPERSAND = str.maketrans({"&": "&&"})


class SearchedPlaces(QObject):
    """What was added, and the button that takes it away again; it is hidden while there is nothing."""

    removed = Signal(object)  # the path

    def __init__(self, state: State, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.button = QPushButton("Remove")
        name(
            self.button,
            "Remove an added folder or file from the list",
            "Which folders are searched no more, and which files are listed no more; nothing is deleted",
        )
        self._menu = QMenu(self.button, toolTipsVisible=True)
        self._menu.aboutToShow.connect(self._fill)
        self.button.setMenu(self._menu)
        self._show_button()

    @property
    def files(self) -> list[Path]:
        """The files that were chosen by hand."""
        return self._kept(_FILES)

    @property
    def folders(self) -> list[Path]:
        """The folders that were added."""
        return self._kept(_FOLDERS)

    def add_file(self, path: Path) -> None:
        """Remember a file."""
        self._set(_FILES, [*(kept for kept in self.files if kept != path), path])

    def add_folder(self, path: Path) -> None:
        """Remember a folder."""
        self._set(_FOLDERS, [*(kept for kept in self.folders if kept != path), path])

    def remove(self, path: Path) -> None:
        """Forget a file or a folder, which stay where they are."""
        self._set(_FILES, [kept for kept in self.files if kept != path])
        self._set(_FOLDERS, [kept for kept in self.folders if kept != path])
        self.removed.emit(path)

    def _kept(self, kind: str) -> list[Path]:
        kept = self._state.record_of_all(_SEARCHED).get(kind, [])
        return [Path(path) for path in kept if isinstance(path, str)] if isinstance(kept, list) else []

    def _set(self, kind: str, paths: Sequence[Path]) -> None:
        record = self._state.record_of_all(_SEARCHED)
        self._state.set_record(_SEARCHED, {**record, kind: [str(path) for path in paths]})
        self._show_button()

    def _show_button(self) -> None:
        self.button.setVisible(bool(self.files or self.folders))

    @Slot()
    def _fill(self) -> None:
        self._menu.clear()
        for paths, heading in ((self.folders, "Folders"), (self.files, "Files")):
            if paths:
                self._menu.addSection(heading)
            for path in paths:
                entry = self._menu.addAction(_in_short(path).translate(_NO_AMPERSAND))
                entry.setToolTip(tip(str(path)))
                entry.triggered.connect(partial(self._remove_chosen, path))

    def _remove_chosen(self, path: Path, _checked: bool = False) -> None:
        self.remove(path)


class FolderWatch(QObject):
    """Lists the files again every few seconds while somebody sees them, for no system tells of all changes.

    What is still written to, a download, is `growing`, until two listings find it alike.
    """

    changed = Signal()  # other files are there, whole, than when they were looked at last

    def __init__(
        self,
        threads: EngineThreads,
        places: Callable[[], tuple[Sequence[Path], Sequence[Path]]],
        seen: Callable[[], bool],
        parent: QObject,
    ) -> None:
        """`places`: the files and folders that are looked at; `seen`: whether anybody sees what was found."""
        super().__init__(parent)
        self._places, self._is_seen = places, seen
        self._seen: Mapping[Path, object] = {}
        self._offered: Mapping[Path, object] | None = None  # as they were looked at; None before that
        self.growing: frozenset[Path] = frozenset()
        self._listing = TaskPanel(threads, ThreadName.SCAN, self, self._take)
        self._rest = QTimer(self, singleShot=True)
        self._rest.timeout.connect(self.look)

    def take_looked_at(self, stamps: Stamps) -> None:
        """These files are looked into, but for those that grow."""
        self._seen = stamps.files
        self._offered = self._whole

    @property
    def _whole(self) -> Mapping[Path, object]:
        return {path: stamp for path, stamp in self._seen.items() if path not in self.growing}

    @Slot()
    def look(self) -> None:
        """List them now, and again as long as somebody sees it."""
        self._rest.stop()
        if not self._listing.busy:
            self._listing.start(model_jobs.list_files(*self._places()))

    @Slot(object)
    def _take(self, stamps: Stamps) -> None:
        now, before = stamps.files, self._seen
        self._seen = now
        if self._offered is not None:
            self.growing = frozenset(path for path, stamp in now.items() if before.get(path) != stamp)
            if self._whole != self._offered:
                self.changed.emit()
        if self._is_seen():
            # On a slow disk less often: the listing never takes more than a small part of the time.
            self._rest.start(max(PAUSE_MS, int(1000 * _SHARE * stamps.seconds)))


def _in_short(path: Path) -> str:
    shown = f"~/{path.relative_to(home())}" if path.is_relative_to(home()) else str(path)
    return without_middle(" ".join(visible(shown).split()), _LONGEST_ENTRY)
