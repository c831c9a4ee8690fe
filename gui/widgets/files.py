"""Asking for a file in one way everywhere; showing it in the system's own program."""

import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from engine.core.formatting import visible
from engine.system.files import make_folder
from engine.system.paths import demo_dataset, environment_of_the_system, home, real_path
from gui.widgets.foreign_text import OneLine, one_line, set_tip
from gui.widgets.labels import STRETCH, button, in_row

DATASETS = "Datasets (*.tsv *.csv *.json *.jsonl *.ndjson *.parquet *.gz *.eval)"
ALL_FILES = "All files (*)"


def ask_target(parent: QWidget, title: str, suggestion: Path, kind: str) -> Path | None:
    """A file to write, `kind` such as `Submissions (*.tsv)`; asks before it replaces one, or None."""
    dialog = QFileDialog(parent, title, str(suggestion.parent), kind)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    # Here, not afterwards: the dialog then asks for the name that is really written.
    dialog.setDefaultSuffix(suggestion.suffix.lstrip("."))
    dialog.selectFile(suggestion.name)
    chosen = dialog.selectedFiles()[0] if dialog.exec() else ""
    # Its parent, the window, would keep it until the end.
    dialog.deleteLater()
    return Path(chosen) if chosen else None


def ask_source(parent: QWidget, title: str, folder: Path, kind: str) -> Path | None:
    chosen, _ = QFileDialog.getOpenFileName(parent, title, str(folder), f"{kind};;{ALL_FILES}")
    return Path(chosen) if chosen else None


def let_choose(
    parent: QWidget, title: str, folder: Path | None, kind: str, take: Callable[[Path], object]
) -> None:
    """Ask for a file that is there, and let `take` have it; the window goes on meanwhile."""
    dialog = _dialog(parent, title, folder, kind)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(lambda chosen: take(Path(chosen)))
    dialog.open()


def let_choose_several(
    parent: QWidget, title: str, folder: str, kind: str, take: Callable[[list[Path]], object]
) -> None:
    dialog = _dialog(parent, title, folder, kind)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
    dialog.filesSelected.connect(lambda chosen: take([Path(each) for each in chosen]))
    dialog.open()


def _dialog(parent: QWidget, title: str, folder: Path | str | None, kind: str) -> QFileDialog:
    dialog = QFileDialog(parent, visible(title), str(folder or ""), f"{kind};;{ALL_FILES}")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


def ask_folder(parent: QWidget, title: str, folder: Path) -> Path | None:
    chosen = QFileDialog.getExistingDirectory(parent, title, str(folder))
    return Path(chosen) if chosen else None


def show_folder(path: Path) -> bool:
    """Show a folder, made where there is none (SetupError); False where no program is known for it."""
    make_folder(path)
    return open_file(path)


def open_file(path: Path) -> bool:
    """Open a file or folder; False where the system knows no program for it."""
    # Else the other program would load the bundle's libraries in place of its own.
    with environment_of_the_system():
        return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))


def folder_for_new_files(*wanted: Path) -> Path:
    # not one of the program's own: who updates or removes it would lose their files with it
    program = real_path(demo_dataset().parent.parent)
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    for folder in (*wanted, *([Path(documents)] if documents else [])):
        if os.access(folder, os.W_OK | os.X_OK) and not real_path(folder).is_relative_to(program):
            return folder
    return home()


class FileChoice(QWidget):
    """`what` names the file in dialogs and to screen readers: `labelled examples`."""

    changed = Signal()

    def __init__(self, what: str, kinds: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.what, self._kinds = what, kinds
        self.path: Path | None = None
        self._shown = OneLine(role="")
        choose = button("Choose…", self._ask, f"Choose a file of {what}")
        self._clear = button("Remove", lambda: self._take(None), f"Use no {what}")
        in_row((self._shown, STRETCH), choose, self._clear, on=self, spacing=4)
        self.set_path(None)

    def set_path(self, path: Path | None) -> None:
        self.path = path
        self._shown.setText(one_line(path.name) if path else "None")
        set_tip(self._shown, str(path) if path else "")
        self._clear.setVisible(path is not None)
        self.setAccessibleName(f"{self.what}: {self._shown.text()}")

    def _take(self, path: Path | None) -> None:
        self.set_path(path)
        self.changed.emit()

    def _ask(self) -> None:
        start = self.path.parent if self.path else home()
        chosen = ask_source(self, f"Choose a file of {self.what}", start, self._kinds)
        if chosen is not None:
            self._take(chosen)
