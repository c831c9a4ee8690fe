"""The window's frame: menu bar, rail, stack of pages, look, geometry. Pages come after its first picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QByteArray, QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QListWidgetItem, QMainWindow, QMessageBox, QStackedWidget, QWidget

from engine.core.errors import EngineError
from gui.widgets.action_table import MENUS, with_keys
from gui.widgets.actions import Announcer, ReadingOrder
from gui.widgets.foreign_text import one_line
from gui.widgets.labels import STRETCH, as_row, breakable, hint, in_column, in_row, scrolling, set_role
from gui.widgets.notice import problem_of
from gui.widgets.theme import TEXT_SIZES, Look, ThemeChoice, apply_theme, set_font
from gui.widgets.views import ListView, resize_column, resize_part
from gui.window.notice_place import NoticePlace
from gui.workspace.state import PageName, State

_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="{colour}"'
    ' stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">{shape}</svg>'
)
# Drawn for this project, as is the mark of the program.
_SHAPES = {
    "dataset": '<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M3 9.5h18M3 15h18M9 9.5V20"/>',
    "judge": '<path d="M12 4v16M7 20h10M4.5 7.5h15"/><path d="M6.5 7.5l-3 6h6zM17.5 7.5l-3 6h6z"/>',
    "results": '<path d="M4 4v16h16"/><path d="M8.5 16v-4M13 16V7.5M17.5 16v-6"/>',
    "review": '<path d="M4 5h9M4 10h7M4 15h5"/><path d="M12.5 16.5l3 3 5.5-8"/>',
    "compare": '<rect x="3.5" y="5" width="7" height="14" rx="1.5"/>'
    '<rect x="13.5" y="5" width="7" height="14" rx="1.5"/><path d="M6 12.5h2M16 9.5h2M16 12.5h2"/>',
    "ranking": '<path d="M4 6.5h16M4 12h12M4 17.5h8"/><circle cx="14" cy="6.5" r="1.8"/>'
    '<circle cx="10" cy="12" r="1.8"/><circle cx="7.5" cy="17.5" r="1.8"/>',
}
MARK = Path(__file__).resolve().with_name("mark.svg")
_SIDE = 64  # pixels that an icon is drawn with; Qt makes it smaller


def icon(name: str, colour: str) -> QIcon:
    return QIcon(_drawn(_FRAME.format(colour=colour, shape=_SHAPES[name])))


def mark(side: int) -> QPixmap:
    return _drawn(MARK.read_text(encoding="ascii"), side)


def window_icon() -> QIcon:
    return QIcon(mark(_SIDE))


def _drawn(svg: str, side: int = _SIDE) -> QPixmap:
    pixmap = QPixmap(side, side)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    QSvgRenderer(QByteArray(svg.encode("ascii"))).render(painter, QRectF(0, 0, side, side))
    painter.end()
    return pixmap


_PAGES = tuple(PageName)
_FIRST_SIZE = QSize(1280, 800)
_TITLE_BAR = QSize(0, 40)  # and the edges of a window, which the system draws around it
_FIRST_PAGE = PageName.JUDGE
_NOTE_MS = 12_000


class Rail(ListView):
    # letters are keys of the pages
    def keyboardSearch(self, _search: str) -> None:
        """Nothing."""


class MainWindow(ReadingOrder, QMainWindow):
    """The one window of the application, empty until `fill` is called."""

    page_turned = Signal(object)  # PageName: another page is chosen
    page_entered = Signal(object)  # PageName: the user wants to work there, with the keys too
    files_dropped = Signal(object)  # a list of paths, never empty
    look_changed = Signal()
    about_to_close = Signal(object)  # the QCloseEvent; whoever ignores it keeps the window open

    def __init__(self, state: State | None = None) -> None:
        super().__init__()
        self.setWindowTitle("Tiebreak")
        self._app = cast("QApplication", QApplication.instance())
        # Taken before the theme: percents are of the system's size, not of the last one.
        self._base_points = self._app.font().pointSizeF()
        self.state = state or State()
        self.closing = False  # it will close as soon as what works has stopped
        self.announcer = Announcer(self)
        self._look: Look | None = None
        self._apply_theme()
        self._build()
        self._size_rail()
        if not self.restoreGeometry(self.state.layout("window")):
            self.resize(_FIRST_SIZE.boundedTo(self.screen().availableSize() - _TITLE_BAR))
        page = self.state.text("page", _FIRST_PAGE)
        self.rail.setCurrentRow(_PAGES.index(PageName(page) if page in set(PageName) else _FIRST_PAGE))
        self._hold_notices()
        self.rail.currentRowChanged.connect(self._turn)
        self.rail.clicked.connect(self._enter)
        self.rail.activated.connect(self._enter)

    # Pages

    @property
    def page(self) -> PageName:
        return _PAGES[max(0, self.rail.currentRow())]

    def show_page(self, name: PageName) -> None:
        self.rail.setCurrentRow(_PAGES.index(name))
        self._enter()

    def fill(self, pages: Sequence[QWidget], head: QWidget | None = None) -> None:
        """Put in the pages, and above them all what is the same for each."""
        if head is not None:
            self._column.insertWidget(0, head)
        for page in pages:
            # Of large text a page may need more than a small window has.
            self.stack.addWidget(scrolling(page))
        self.stack.setCurrentIndex(self.rail.currentRow())
        # Only now: before there are pages, nothing can take a file.
        self.setAcceptDrops(True)
        self._app.styleHints().colorSchemeChanged.connect(self.apply_look)

    def _turn(self, row: int) -> None:
        if row >= 0:
            self.stack.setCurrentIndex(row)
            self._hold_notices()
            self.state.set_text("page", self.page.value)
            self.page_turned.emit(self.page)

    def _hold_notices(self) -> None:
        # On Review one label follows another: nothing there may move under the hand.
        self.notices.folded = self.page is PageName.REVIEW
        if self.notices.folded:
            self.notices.fold()

    def _enter(self) -> None:
        self.page_entered.emit(self.page)

    # What it says

    def show_note(self, text: str) -> None:
        self.statusBar().showMessage(one_line(text), _NOTE_MS)
        self.announcer.say(one_line(text))

    def show_run_state(self, text: str, doubted: bool = False) -> None:
        """Show how far a run is, at the right of the status bar; empty for none. `doubted`: as a warning."""
        self._run_state.setText(text)
        set_role(self._run_state, "bad" if doubted else "hint")

    def show_problem(self, error: EngineError) -> None:
        said = breakable("\n".join(problem_of(error)))
        box = QMessageBox(QMessageBox.Icon.Critical, "Tiebreak", said, parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.exec()
        box.deleteLater()

    # Making

    def _build(self) -> None:
        for text in MENUS:
            self.menuBar().addMenu(text)
        self.rail = Rail()
        self.rail.setProperty("role", "rail")
        self.rail.setAccessibleName("Pages")
        self.rail.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.stack = QStackedWidget()
        for name in PageName:
            entry = QListWidgetItem(name)
            entry.setToolTip(with_keys(name, f"show_{name}"))
            self.rail.addItem(entry)
        self.notices = NoticePlace()
        below = in_row(self.notices, margins=(16, 0, 16, 8))
        self._column = in_column((self.stack, STRETCH), below, spacing=0)
        self.setCentralWidget(as_row(self.rail, (self._column, STRETCH), spacing=0))
        self._run_state = hint("", wrap=False)
        self.statusBar().addPermanentWidget(self._run_state)
        self.notices.left.connect(self._enter)
        self.notices.told.connect(lambda text: self.statusBar().showMessage(one_line(text), _NOTE_MS))
        self.statusBar().addPermanentWidget(self.notices.button)

    # Look

    @property
    def theme(self) -> ThemeChoice:
        chosen = self.state.text("theme", ThemeChoice.SYSTEM)
        return ThemeChoice(chosen) if chosen in set(ThemeChoice) else ThemeChoice.SYSTEM

    def set_theme(self, choice: ThemeChoice) -> None:
        self.state.set_text("theme", choice.value)
        self.apply_look()

    def set_text_size(self, percent: int) -> None:
        self.state.set_number("text_size", percent)
        self.apply_look()

    def step_text_size(self, step: int) -> None:
        now = self.state.number("text_size", 100)
        sizes = [size for size in TEXT_SIZES[::step] if (size - now) * step > 0]
        if sizes:
            self.set_text_size(sizes[0])

    def apply_look(self) -> None:
        self._apply_theme()
        self._size_rail()
        self.look_changed.emit()

    def _apply_theme(self) -> None:
        size = min(max(self.state.number("text_size", 100), TEXT_SIZES[0]), TEXT_SIZES[-1])
        # The system tells of the theme that is set here, so this is called again before it is done.
        self._look = apply_theme(self._app, self.theme, size, self._base_points, self._look)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.ThemeChange and self._look is not None:
            set_font(self._app, self._look.points)  # the system has just set its own

    def _size_rail(self) -> None:
        self.rail.ensurePolished()  # else its font is that of before the theme
        metrics = self.rail.fontMetrics()
        side = int(metrics.height() * 1.4)
        self.rail.setIconSize(QSize(side, side))
        self.rail.setFixedWidth(max(map(metrics.horizontalAdvance, PageName)) + side + 40)

    # What the user does with it

    def resize_part(self, direction: Qt.Orientation, larger: bool) -> None:
        if not resize_part(direction, larger):
            self.show_note("There is no part next to the focus in this direction.")

    def resize_column(self, wider: bool) -> None:
        if not resize_column(wider):
            self.show_note("The focus is not on a column that can be resized.")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.files_dropped.emit(paths)

    def closeEvent(self, event: QCloseEvent) -> None:
        event.accept()
        self.about_to_close.emit(event)
        if event.isAccepted():
            self.state.set_layout("window", self.saveGeometry())
            self.state.save()
            super().closeEvent(event)
