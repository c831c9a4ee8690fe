"""Figures: drawn in the colours of the window, saved and copied in the light ones."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication, QImage, QShowEvent
from PySide6.QtWidgets import QWidget

from engine.system.files import check_targets, write_whole
from gui.widgets.actions import timer
from gui.widgets.figure_view import DrawnFigure, FigureView
from gui.widgets.files import ask_target
from gui.widgets.labels import heading, hint, in_column, panel
from gui.widgets.theme import is_dark
from gui.workspace.task_panel import TaskPanel, write_file
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
    def __init__(
        self, workspace: Workspace, page: QWidget, drawn: DrawnBytes, file_name: Callable[[str], str]
    ) -> None:
        super().__init__(page)
        self._workspace, self._page = workspace, page
        self._drawn, self._file_name = drawn, file_name

    def save(self, name: str, path: Path) -> None:
        drawn = self._drawn(name, path.suffix.lower().lstrip("."))
        if drawn is None:
            return
        in_use = self._workspace.files_in_use(self._page)

        def work(control: JobControl) -> Path:
            check_targets({"the figure": path}, in_use)
            write_whole(path, drawn(control))
            return path

        write_file(self._workspace, work, "figure", DRAWING)

    def copy(self, name: str) -> None:
        drawn = self._drawn(name, "png")
        if drawn is not None:
            task = self._workspace.threads.start(DRAWING, drawn)
            task.finished.connect(self._take_copy)
            self._workspace.failures.follow(task, "figure")

    def ask_where(self, name: str, form: str) -> None:
        state = self._workspace.state
        suggested = state.export_folder() / f"{self._file_name(name)}.{form}"
        path = ask_target(self._page, "Save the figure", suggested, _KINDS[form])
        if path is not None:
            state.keep_export_folder(path.parent)
            self.save(name, path)

    def _take_copy(self, png: bytes) -> None:
        QGuiApplication.clipboard().setImage(QImage.fromData(png))
        self._workspace.note.emit("The figure is on the clipboard.")


_SOON_MS = 100
_HOW = "Enter or a right click saves and copies it."


@dataclass(frozen=True, eq=False)
class FigureSource:
    """`shown`: the job that draws it, in dark colours or light ones; `saved`: its file, as `png` or `svg`."""

    shown: Callable[[bool], Job[DrawnFigure]]
    saved: Callable[[str], Job[bytes]]
    note: str
    file_name: str


class FramedPicture(QWidget):
    def __init__(self, workspace: Workspace, key: str, title: str) -> None:
        super().__init__()
        self._source: FigureSource | None = None
        self._dark: bool | None = None  # as it is drawn, None where it is not
        # What the page shows first is painted first: a thread that draws would hold it up.
        self._soon = timer(self, _SOON_MS, self._draw)
        self._drawing = TaskPanel(workspace.threads, DRAWING, self, self._take, failed=workspace.failures)
        self._note = hint("")
        self.view = FigureView(key)
        self.files = FigureFiles(
            workspace,
            self,
            lambda _key, form: self._source.saved(form) if self._source is not None else None,
            lambda key: self._source.file_name if self._source is not None else key,
        )
        self.view.save_wanted.connect(self.files.ask_where)
        self.view.copy_wanted.connect(self.files.copy)
        self._frame = panel(heading(title), self._note, self.view)
        self._frame.hide()
        in_column(self._frame, on=self)

    def show_source(self, source: FigureSource | None) -> None:
        self._source, self._dark = source, None
        if source is None:
            self._soon.stop()
            self._drawing.drop()
            self._frame.hide()
        else:
            self._note.setText(f"{source.note} {_HOW}".strip())
        self.restyle()

    def restyle(self) -> None:
        """Draw where the theme is another, or nothing is drawn yet; where nobody looks, later."""
        dark = is_dark(QGuiApplication.palette())
        if self._source is not None and self.isVisible() and self._dark is not dark:
            self._dark = dark
            self._soon.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.restyle()

    def _draw(self) -> None:
        if self._source is not None and self._dark is not None:
            self._drawing.start(self._source.shown(self._dark))

    def _take(self, drawn: DrawnFigure) -> None:
        self.view.show_figure(drawn)
        self._frame.show()
