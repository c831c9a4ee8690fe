"""Figures saved as files and copied, in the light colours.

Knows: the two forms of a picture, where files go. Does not know: what is drawn, and how.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QWidget

from engine.system.files import check_targets, write_whole
from gui.widgets.files import ask_target
from gui.workspace.files_in_use import files_in_use
from gui.workspace.threads import Job, JobControl, ThreadName
from gui.workspace.workspace import Workspace

DRAWING = ThreadName.FILES
"""Not the worker thread of measures: a figure need not wait until all explanations are measured. All figures
are drawn in it, as matplotlib is not made for two threads at once.
"""
_KINDS = {"png": "PNG pictures (*.png)", "svg": "SVG pictures (*.svg)"}

DrawnBytes = Callable[[str, str], Job[bytes] | None]
"""The job that draws a figure by its name, as `png` or `svg`; None where there is none."""


class FigureFiles(QObject):
    """Saves and copies the figures of a page. `file_name`: what a figure's file is called, by its name."""

    def __init__(
        self, workspace: Workspace, page: QWidget, drawn: DrawnBytes, file_name: Callable[[str], str]
    ) -> None:
        super().__init__(page)
        self._workspace, self._page = workspace, page
        self._drawn, self._file_name = drawn, file_name

    def save(self, name: str, path: Path) -> None:
        """Write a figure to a file, in the form that its suffix says."""
        drawn = self._drawn(name, path.suffix.lower().lstrip("."))
        if drawn is None:
            return
        job = _written(drawn, path, files_in_use(self._workspace, self._page))
        task = self._workspace.threads.start(DRAWING, job, must_end=True)
        task.finished.connect(lambda written: self._workspace.note.emit(f"Written: {written}"))
        self._workspace.failures.follow(task, "figure")

    @Slot(str)
    def copy(self, name: str) -> None:
        """Put a figure on the clipboard, as a picture."""
        drawn = self._drawn(name, "png")
        if drawn is not None:
            task = self._workspace.threads.start(DRAWING, drawn)
            task.finished.connect(self._take_copy)
            self._workspace.failures.follow(task, "figure")

    @Slot(str, str)
    def ask_where(self, name: str, form: str) -> None:
        """Ask for the file of a figure, and write it."""
        state = self._workspace.state
        suggested = state.export_folder() / f"{self._file_name(name)}.{form}"
        path = ask_target(self._page, "Save the figure", suggested, _KINDS[form])
        if path is not None:
            state.keep_export_folder(path.parent)
            self.save(name, path)

    @Slot(object)
    def _take_copy(self, png: bytes) -> None:
        QGuiApplication.clipboard().setImage(QImage.fromData(png))
        self._workspace.note.emit("The figure is on the clipboard.")


def _written(drawn: Job[bytes], path: Path, in_use: Mapping[str, Path]) -> Job[Path]:
    """Draw a figure and write it, over no file in use; the path. SetupError."""

    def work(control: JobControl) -> Path:
        check_targets({"the figure": path}, in_use)
        write_whole(path, drawn(control))
        return path

    return work
