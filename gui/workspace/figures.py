"""Figures: as sharp as the screen allows, drawn in the colours of the window, saved and copied in the light
ones; asked for the items behind them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6 import QtGui
from PySide6.QtCore import QByteArray, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QImage, QShowEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QMenu, QSizePolicy, QWidget

from engine.core.formatting import counted, visible, words
from engine.core.tables import Table
from engine.system.files import check_targets, write_whole
from gui.widgets.actions import timer
from gui.widgets.files import ask_target
from gui.widgets.foreign_text import set_tip
from gui.widgets.labels import Painted, describe, heading, hint, in_column, panel
from gui.widgets.theme import colours, is_dark
from gui.workspace.task_panel import TaskPanel, write_file
from gui.workspace.threads import Job, JobControl, ThreadName
from gui.workspace.workspace import Workspace

_FRAME = 8  # pixels around a figure, in which the mark of the focus stands

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares (0 to 1) of a figure's width and height."""


@dataclass(frozen=True)
class FigureMark:
    """A place in a figure that stands for items of a criterion; `words`: what these have in common."""

    box: Box
    criterion: str
    words: str
    ids: frozenset[str]


@dataclass(frozen=True)
class DrawnFigure:
    """`svg`: as it is shown; `in_words`: for those who do not see it; `spots`: where it stands for items."""

    name: str
    svg: bytes
    in_words: str
    spots: Sequence[FigureMark] = ()
    table: Table | None = None


class FigureView(Painted):
    save_wanted = Signal(str, str)  # the figure's name, `png` or `svg`
    copy_wanted = Signal(str)
    spot_wanted = Signal(object)  # a Spot whose items are to be listed

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._renderer = QSvgRenderer(self)
        self._spots: Sequence[FigureMark] = ()
        self._table: Table | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_figure(self, drawn: DrawnFigure) -> None:
        """Show another picture. Its first sentence is its name, the rest its description."""
        self._spots, self._table, in_words = drawn.spots, drawn.table, drawn.in_words
        self._renderer.load(QByteArray(_without_empty_glyphs(drawn.svg)))
        self._renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
        set_tip(self, in_words)
        what, _, shown = visible(in_words).partition(". ")
        self.setAccessibleName(what)
        describe(self, f"{shown} Enter opens a menu.".lstrip())
        self._fit_height()
        self.updateGeometry()
        self.update()

    @property
    def has_figure(self) -> bool:
        return self._renderer.isValid()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        width = min(width, self._widest())
        size = self._renderer.defaultSize()
        share = size.height() / size.width() if size.width() > 0 else 0
        return round((width - 2 * _FRAME) * share) + 2 * _FRAME

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        # a grid alone does not follow the width with the height
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        self.setMaximumWidth(self._widest())
        height = self.heightForWidth(self.width())
        if height != self.height():
            self.setFixedHeight(height)

    def sizeHint(self) -> QSize:
        return QSize(self._widest(), self.heightForWidth(self._widest()))

    def _widest(self) -> int:
        # wider, the letters of a figure would be larger than those around it
        return self.fontMetrics().height() * 50

    def minimumSizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(240))

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        if self.has_figure:
            self._renderer.render(painter, self._inner())
        used = colours(QApplication.palette())
        painter.setPen(QtGui.QPen(QtGui.QColor(used.accent if self.hasFocus() else used.border), 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), _FRAME, _FRAME)
        painter.end()

    def spot_at(self, place: QPointF) -> FigureMark | None:
        inner = self._inner()
        x, y = (place.x() - inner.left()) / inner.width(), (place.y() - inner.top()) / inner.height()
        boxes = ((spot, *spot.box) for spot in self._spots)
        return next((spot for spot, x0, y0, x1, y1 in boxes if x0 <= x < x1 and y0 <= y < y1), None)

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        self.setCursor(Qt.CursorShape.PointingHandCursor if spot else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if spot is not None and event.button() == Qt.MouseButton.LeftButton:
            self.spot_wanted.emit(spot)

    def _inner(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_FRAME, _FRAME, -_FRAME, -_FRAME)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self.copy_wanted.emit(self.name)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.menu().popup(self.mapToGlobal(self.rect().center()))
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        # the menu key comes here too
        self.menu().popup(event.globalPos())

    def menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Save as &PNG…").triggered.connect(lambda: self.save_wanted.emit(self.name, "png"))
        menu.addAction("Save as &SVG…").triggered.connect(lambda: self.save_wanted.emit(self.name, "svg"))
        menu.addAction("&Copy").triggered.connect(lambda: self.copy_wanted.emit(self.name))
        if (table := self._table) is not None:
            numbers = menu.addAction("Copy its &numbers as a table")
            numbers.triggered.connect(lambda: QtGui.QGuiApplication.clipboard().setText(table.with_tabs()))
        if self._spots:
            menu.addMenu(self._spot_menu(menu))
        return menu

    def _spot_menu(self, parent: QMenu) -> QMenu:
        menu = QMenu("Show the &items in Review", parent)
        of: dict[str, QMenu] = {}
        for spot in self._spots:
            if spot.criterion not in of:
                of[spot.criterion] = menu.addMenu(words(spot.criterion).capitalize())
            count = counted(len(spot.ids), "item", "items")
            entry = of[spot.criterion].addAction(f"{count}: {spot.words}")
            entry.triggered.connect(lambda _checked=False, wanted=spot: self.spot_wanted.emit(wanted))
        return menu


def _without_empty_glyphs(svg: bytes) -> bytes:
    """The same picture without the glyph of the space, of whose empty path Qt complains at each use."""
    for name in re.findall(rb'<path id="([\w-]+)" transform="[^"]*"/>', svg):
        svg = re.sub(rb'<use xlink:href="#' + name + rb'"[^>]*/>', b"", svg)
    return re.sub(rb'<path id="[\w-]+" transform="[^"]*"/>', b"", svg)


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
            task = self._workspace.threads.start(DRAWING, drawn, self._take_copy)
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
