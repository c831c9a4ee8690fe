"""One figure in a frame: drawn in the colours of the window, saved and copied in the light ones.

Knows: when it must be drawn again. Does not know: how it is drawn, what it shows.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QWidget

from gui.widgets.figure_view import DrawnFigure, FigureView
from gui.widgets.labels import heading, hint, in_column, panel
from gui.widgets.theme import is_dark
from gui.workspace.figure_files import DRAWING, FigureFiles
from gui.workspace.threads import Job, LatestTask
from gui.workspace.workspace import Workspace

_SOON_MS = 100
_HOW = "Enter or a right click saves and copies it."


@dataclass(frozen=True, eq=False)
class FigureSource:
    """A figure that can be drawn. `shown`: the job that draws it, in dark colours or light ones; `saved`: the
    one that gives its file, as `png` or `svg`. `note`: how it is read; `file_name`: what its file is called.
    """

    shown: Callable[[bool], Job[DrawnFigure]]
    saved: Callable[[str], Job[bytes]]
    note: str
    file_name: str


class FramedPicture(QWidget):
    """Hidden until there is a picture. `key`: the figure's name, `title`: of the frame."""

    def __init__(self, workspace: Workspace, key: str, title: str) -> None:
        super().__init__()
        self._source: FigureSource | None = None
        self._dark: bool | None = None  # as it is drawn, None where it is not
        # What the page shows first is painted first: a thread that draws would hold it up.
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self._draw)
        self._drawing = LatestTask(workspace.threads, DRAWING, self)
        self._drawing.finished.connect(self._take)
        workspace.failures.follow(self._drawing)
        self._note = hint("")
        self.view = FigureView(key)
        self.files = FigureFiles(workspace, self, self._saved, self._file_name)
        self.view.save_wanted.connect(self.files.ask_where)
        self.view.copy_wanted.connect(self.files.copy)
        self._frame = panel(heading(title), self._note, self.view)
        self._frame.hide()
        in_column(self._frame, on=self)

    def show_source(self, source: FigureSource | None) -> None:
        """Draw another figure; nothing for None."""
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
        """Draw what nobody looked at before."""
        super().showEvent(event)
        self.restyle()

    def _saved(self, _key: str, form: str) -> Job[bytes] | None:
        return self._source.saved(form) if self._source is not None else None

    def _file_name(self, key: str) -> str:
        return self._source.file_name if self._source is not None else key

    @Slot()
    def _draw(self) -> None:
        if self._source is not None and self._dark is not None:
            self._drawing.start(self._source.shown(self._dark))

    @Slot(object)
    def _take(self, drawn: DrawnFigure) -> None:
        self.view.show_figure(drawn)
        self._frame.show()
