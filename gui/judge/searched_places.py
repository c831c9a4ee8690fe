"""The files and folders that a person added to the model files that are found by themselves.

Knows: how they are remembered, the menu that takes one away. Does not know: what is in them.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu, QPushButton

from engine.core.formatting import visible, without_middle
from engine.system.paths import home
from gui.kit.foreign_text import tip
from gui.kit.labels import name
from gui.work.state import State

_SEARCHED = "models"
_FILES, _FOLDERS = "files", "folders"
_LONGEST_ENTRY = 70  # characters
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
        self._menu = QMenu(self.button)
        self._menu.setToolTipsVisible(True)
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
        kept = self._state.record(_SEARCHED).get(kind, [])
        return [Path(path) for path in kept if isinstance(path, str)] if isinstance(kept, list) else []

    def _set(self, kind: str, paths: Sequence[Path]) -> None:
        record = self._state.record(_SEARCHED)
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


def _in_short(path: Path) -> str:
    shown = f"~/{path.relative_to(home())}" if path.is_relative_to(home()) else str(path)
    return without_middle(" ".join(visible(shown).split()), _LONGEST_ENTRY)
