"""The picture of a ranking: drawn in the colours of the window, saved and copied in the light ones.

Knows: when it must be drawn again. Does not know: how it is drawn, what ranks.
"""

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QWidget

from engine.core.sheets import Picture
from gui.kit.labels import heading, hint, panel
from gui.kit.layouts import in_column
from gui.kit.theme import is_dark
from gui.ranking import ranking_jobs
from gui.ranking.ranking_jobs import RankedCandidates
from gui.reading.figure_view import Drawn, FigureView
from gui.work.figure_files import DRAWING, FigureFiles
from gui.work.lanes import Job, LatestTask
from gui.work.workspace import Workspace

_NAME = "ranking"
_SOON_MS = 100
_HOW = "Enter or a right click saves and copies it."


class RankingPicture(QWidget):
    """Hidden until there is a picture."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._ranked: RankedCandidates | None = None
        self._dark: bool | None = None  # as it is drawn, None where it is not
        # What the page shows first is painted first: a thread that draws would hold it up.
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self._draw)
        self._drawing = LatestTask(workspace.threads, DRAWING, self)
        self._drawing.finished.connect(self._take)
        workspace.failures.follow(self._drawing)
        self._note = hint("")
        self.view = FigureView(_NAME)
        self.files = FigureFiles(workspace, self, self._drawn_bytes, lambda name: name)
        self.view.save_wanted.connect(self.files.ask_where)
        self.view.copy_wanted.connect(self.files.copy)
        self._frame = panel(heading("How sure the order is"), self._note, self.view)
        self._frame.hide()
        in_column(self._frame, on=self)

    def show_ranking(self, ranked: RankedCandidates | None) -> None:
        """Draw another ranking; nothing for None."""
        self._ranked, self._dark = ranked, None
        if ranked is None:
            self._drawing.drop()
            self._frame.hide()
        else:
            parts = (part for section in ranked.sheet.sections for part in section.parts)
            notes = [part.note for part in parts if isinstance(part, Picture)]
            self._note.setText(" ".join([*notes, _HOW]))
        self.restyle()

    def restyle(self) -> None:
        """Draw where the theme is another, or nothing is drawn yet; where nobody looks, later."""
        dark = is_dark(QGuiApplication.palette())
        if self._ranked is not None and self.isVisible() and self._dark is not dark:
            self._dark = dark
            self._soon.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what nobody looked at before."""
        super().showEvent(event)
        self.restyle()

    def _drawn_bytes(self, _name: str, form: str) -> Job[bytes] | None:
        return ranking_jobs.figure_bytes(self._ranked, form) if self._ranked is not None else None

    @Slot()
    def _draw(self) -> None:
        if self._ranked is not None and self._dark is not None:
            self._drawing.start(ranking_jobs.draw_ranking(self._ranked, self._dark))

    @Slot(object)
    def _take(self, drawn: Drawn) -> None:
        self.view.show_figure(drawn.svg, drawn.in_words)
        self._frame.show()
