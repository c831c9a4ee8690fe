"""The button with the files that were opened last; those that are gone are marked and can be removed.

Knows: the remembered files. Does not know: what they hold.
"""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot

from engine.core.formatting import without_middle
from gui.kit.actions import MenuButton
from gui.kit.foreign_text import one_line, tip
from gui.kit.labels import name
from gui.work import file_jobs
from gui.work.lanes import LatestTask, ThreadName
from gui.work.workspace import Workspace

_LONGEST_PART = 48  # characters of a name, and of its folder


class RecentFiles(MenuButton):
    """A drop-down menu of the files of one kind (`datasets`, `models`)."""

    chosen = Signal(object)  # a Path

    def __init__(self, workspace: Workspace, kind: str) -> None:
        super().__init__("Recent", tips=True)
        self._workspace = workspace
        self._kind = kind
        self._gone: frozenset[Path] = frozenset()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        name(self, f"Recent {kind}", f"Open one of the recent {kind}")
        self.menu_of_files = self._menu
        self.menu_of_files.aboutToShow.connect(self.look)
        self._looking = LatestTask(workspace.threads, ThreadName.STORE, self)
        self._looking.finished.connect(self._take_gone)
        workspace.state.recent_changed.connect(self._fill)
        self._fill()

    @Slot()
    def look(self) -> None:
        """Find out which of the files are gone."""
        self._looking.start(file_jobs.missing(self._workspace.state.recent(self._kind)))

    @Slot(object)
    def _take_gone(self, gone: frozenset[Path]) -> None:
        if gone != self._gone:
            self._gone = gone
            self._fill()

    @Slot()
    def _fill(self) -> None:
        menu, paths = self.menu_of_files, self._workspace.state.recent(self._kind)
        menu.clear()
        self.setEnabled(bool(paths))
        for path in paths:
            gone = path in self._gone
            entry = menu.addAction(_entry_text(path, gone))
            entry.setToolTip(tip(str(path)))
            entry.triggered.connect(lambda _on, chosen=path: self._choose(chosen))
        menu.addSeparator()
        if any(path in self._gone for path in paths):
            menu.addAction("Remove those that are not there").triggered.connect(self._remove_gone)
        menu.addAction("Clear this list").triggered.connect(self._clear)

    def _choose(self, path: Path) -> None:
        if path not in self._gone:
            self.chosen.emit(path)
            return
        self._workspace.state.remove_recent(self._kind, path)
        self._workspace.note.emit(f"{path.name} does not exist any more and was removed from the list.")

    @Slot()
    def _remove_gone(self) -> None:
        for path in self._gone:
            self._workspace.state.remove_recent(self._kind, path)

    @Slot()
    def _clear(self) -> None:
        self._workspace.state.clear_recent(self._kind)


def _entry_text(path: Path, gone: bool) -> str:
    file_name, folder = (without_middle(part, _LONGEST_PART) for part in (path.name, str(path.parent)))
    # A file's & is no mnemonic, and a tab would begin a column of keys.
    shown = one_line(f"{file_name}  ({folder})").replace("&", "&&")
    return f"Not there: {shown} - remove" if gone else shown
