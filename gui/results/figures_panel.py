"""The figures of a run, drawn in the colours of the window, saved in the light ones.

Knows: which figures there are, when they must be drawn again. Does not know: how they are drawn.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from engine.core.errors import EngineError
from engine.core.review_filters import Filters, WantedItems
from gui.kit.figure_view import DrawnFigure, FigureMark, FigureView
from gui.kit.labels import heading, hint
from gui.kit.layouts import STRETCH, as_column, in_column
from gui.kit.theme import is_dark
from gui.results import figure_jobs
from gui.results.figure_jobs import TITLES
from gui.results.score_jobs import Scores
from gui.work.figure_files import DRAWING, FigureFiles
from gui.work.lanes import Job, LatestTask
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.measure.evaluation import Evaluation

_HINT = (
    "To save or copy a figure or its numbers: right-click it, or press Enter on it. Files use the"
    " light colours. Click a bar of labels or a cell of a matrix to list its items in Review."
)
_NOTHING = "Figures need human labels: choose a labelled dataset with “Choose labels…”."
_DRAWING = "Drawing …"
_FAILED = "The figures could not be drawn. Open another tab and come back to try again."


class FiguresPanel(QWidget):
    """One figure below the other; two side by side where there is room."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._evaluation: Evaluation | None = None
        self._name = "run"
        self._run_id = 0
        self._dark: bool | None = None
        self._drawing = LatestTask(workspace.threads, DRAWING, self)
        self._drawing.progress.connect(self._take)
        self._drawing.finished.connect(self._end)
        self._drawing.failed.connect(self._give_up)
        self.files = FigureFiles(workspace, self, self._drawn_bytes, lambda name: f"{self._name}-{name}")
        self.hint = hint(_NOTHING)
        self.views = {name: FigureView(name) for name in TITLES}
        self._cells: dict[str, QWidget] = {}
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        for name, view in self.views.items():
            view.save_wanted.connect(self.files.ask_where)
            view.copy_wanted.connect(self.files.copy)
            view.spot_wanted.connect(self._list_items)
            self._cells[name] = _cell(name, view)
        in_column(self.hint, self._grid, STRETCH, on=self, margins=(0, 0, 6, 0))
        self._columns = 0
        self._arrange(1)

    def show_scores(self, scores: Scores | None) -> None:
        """Draw the figures of these scores; explanations change none of them."""
        evaluation = scores.evaluation if scores else None
        before, self._evaluation = self._evaluation, evaluation
        if scores is not None:
            self._run_id = scores.results.run.id
            self._name = scores.results.run.stem
        if evaluation is None:
            self._drawing.drop()
            self._hide_all()
        elif before is None or before.labels is not evaluation.labels:
            self._hide_all()
            self._dark = None
            self.restyle()

    def restyle(self) -> None:
        """Draw where the theme is another, or nothing is drawn yet; where nobody looks, later."""
        if self.isVisible() and self._dark is not is_dark(QGuiApplication.palette()):
            self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        """Draw what nobody looked at before."""
        super().showEvent(event)
        self.restyle()

    def _drawn_bytes(self, name: str, form: str) -> Job[bytes] | None:
        return None if self._evaluation is None else figure_jobs.figure_bytes(self._evaluation, name, form)

    @Slot(object)
    def _list_items(self, spot: FigureMark) -> None:
        """List in Review what a place in a figure stands for."""
        filters = Filters(criterion=spot.criterion, ids=spot.ids)
        self._workspace.show_in_review(WantedItems(self._run_id, filters, spot.words))

    def _draw(self) -> None:
        if self._evaluation is None:
            return
        self._dark = is_dark(QGuiApplication.palette())
        self.hint.setText(_DRAWING)
        self._drawing.start(figure_jobs.draw(self._evaluation, self._dark))

    @Slot(object)
    def _take(self, drawn: DrawnFigure) -> None:
        self._workspace.failures.end(self)
        if drawn.name in self.views:
            self.views[drawn.name].show_figure(drawn)
            self._cells[drawn.name].show()

    @Slot()
    def _end(self) -> None:
        self.hint.setText(_HINT)

    @Slot(object)
    def _give_up(self, error: EngineError) -> None:
        self._dark = None  # it is tried again when the page is shown again
        self.hint.setText(_FAILED)
        self._workspace.failures.fail(self, error)

    def _hide_all(self) -> None:
        self.hint.setText(_NOTHING)
        for cell in self._cells.values():
            cell.hide()

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for place, cell in enumerate(self._cells.values()):
            self._grid.addWidget(cell, place // columns, place % columns)
        for column in range(2):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Two columns where both stay readable."""
        super().resizeEvent(event)
        self._arrange(2 if self.width() > 84 * self.fontMetrics().height() else 1)


def _cell(name: str, view: FigureView) -> QWidget:
    cell = as_column(heading(TITLES[name]), view, STRETCH)
    cell.hide()
    return cell
