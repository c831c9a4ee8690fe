"""The window: its frame, how it looks, how it opens and closes. The pages come in after the first picture.

Knows: the frame, what is remembered. Does not know: what the pages do.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Slot
from PySide6.QtGui import QCloseEvent, QDesktopServices, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QMainWindow,
    QMessageBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine.core.errors import EngineError, SetupError
from engine.system.paths import demo_dataset, environment_of_the_system
from gui.kit.foreign_text import one_line
from gui.kit.labels import hint
from gui.kit.notice import problem_of
from gui.kit.theme import TEXT_SIZES, ThemeChoice, apply_theme
from gui.work.state import State

if TYPE_CHECKING:
    from gui.window.interior import Interior
    from gui.work.lanes import EngineThreads
    from gui.work.page import Page
    from gui.work.workspace import Workspace

PAGES = ("Dataset", "Judge", "Results", "Review", "Compare")
MENUS = ("&File", "&View", "&Run", "&Help")
_MODEL_SUFFIX = ".gguf"
_FIRST_SIZE = QSize(1280, 800)
_FIRST_PAGE = "Judge"


class Rail(QListWidget):
    """The list of pages at the left. Letters do not search in it: they are keys of the pages."""

    def keyboardSearch(self, _search: str) -> None:  # noqa: N802 - Qt's name
        """Nothing."""


class MainWindow(QMainWindow):
    """The one window of the application. `begin` fills it; until then it is an empty frame."""

    interior: "Interior"
    threads: "EngineThreads"
    workspace: "Workspace"

    def __init__(self, state: State | None = None, store_path: Path | None = None) -> None:
        super().__init__()
        self.setWindowTitle("Tiebreak")
        self.setAcceptDrops(True)
        self._app = QApplication.instance()
        self._base_points = self._app.font().pointSizeF() if isinstance(self._app, QApplication) else 10.0
        self.state = state or State()
        self._store_path = store_path
        self._closing = self._filled = False
        self.apply_look()
        self._build_frame()
        self._restore()

    def begin(self, dataset: Path | None = None) -> None:
        """Fill the window, and open what was open last, or `dataset`; on the very first start the demo."""
        self._fill()
        state = self.state
        last = state.text("last/dataset")
        wanted = dataset or (Path(last) if last else demo_dataset())
        self.workspace.open_dataset(wanted)
        self.workspace.refresh_runs()
        last_run = state.number("last/run", 0)
        if last_run and self.workspace.store_path.exists():
            self.workspace.open_run(last_run)
        self._turn_to(self.rail.currentRow())

    def end(self) -> bool:
        """End the threads, the window being closed; False where one does not end."""
        self.state.save()
        return not self._filled or self.threads.stop()

    def show_problem(self, error: EngineError) -> None:
        """Show an error above the page, or in a box where there is none yet."""
        if self._filled:
            self.interior.notice.show_error(error)
            return
        box = QMessageBox(QMessageBox.Icon.Critical, "Tiebreak", "\n".join(problem_of(error)), parent=self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.exec()

    def show_page(self, name: str) -> None:
        """Show the page of a name, and let the keys work there."""
        self.rail.setCurrentRow(PAGES.index(name))
        self._enter_page()

    # Making

    def _build_frame(self) -> None:
        for text in MENUS:
            self.menuBar().addMenu(text)
        self.rail = Rail()
        self.rail.setProperty("role", "rail")
        self.rail.setAccessibleName("Pages")
        self.rail.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.stack = QStackedWidget()
        for number, name in enumerate(PAGES, start=1):
            entry = QListWidgetItem(name)
            entry.setToolTip(f"{name} (Ctrl+{number})")
            self.rail.addItem(entry)
        right = QVBoxLayout()
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        self._above = QHBoxLayout()  # where problems are told
        self._above.setContentsMargins(16, 8, 16, 0)
        right.addLayout(self._above)
        right.addWidget(self.stack, 1)
        content = QWidget()
        layout = QHBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.rail)
        layout.addLayout(right, 1)
        self.setCentralWidget(content)
        self._run_state = hint("")
        self._run_state.setWordWrap(False)
        self.statusBar().addPermanentWidget(self._run_state)
        self._style_rail()

    def _style_rail(self) -> None:
        if self._filled:
            self.interior.dress(self.rail)
        height = self.fontMetrics().height()
        self.rail.setIconSize(QSize(int(height * 1.4), int(height * 1.4)))
        widest = max(self.fontMetrics().horizontalAdvance(name) for name in PAGES)
        self.rail.setFixedWidth(widest + int(height * 1.4) + 40)

    def _fill(self) -> None:
        # Only now: all that is in the window takes longer to import than the frame takes to be seen.
        from gui.window.interior import Interior  # noqa: PLC0415

        self.interior = Interior(self, self.state, self._store_path)
        self.threads, self.workspace = self.interior.threads, self.interior.workspace
        for page in self.interior.pages:
            self.stack.addWidget(page)
        self._above.addWidget(self.interior.notice)
        self._filled = True
        self._style_rail()
        self.interior.menus.check_theme(self._theme_choice())
        self._connect()

    def _connect(self) -> None:
        space = self.workspace
        space.problem.connect(self.show_problem)
        space.note.connect(self._note)
        space.page_wanted.connect(self.show_page)
        space.review_wanted.connect(self._show_review)
        space.dataset_changed.connect(self._title)
        space.dataset_failed.connect(self._show_bad_dataset)
        control = self.interior.run_control
        control.started.connect(self._follow_run)
        control.progressed.connect(self._follow_run)
        control.ended.connect(self._end_run)
        if isinstance(self._app, QApplication):
            self._app.styleHints().colorSchemeChanged.connect(self.apply_look)

    def _restore(self) -> None:
        state = self.state
        if not self.restoreGeometry(state.layout("window")):
            self.resize(_FIRST_SIZE.boundedTo(self.screen().availableSize()))
        page = state.text("page", _FIRST_PAGE)
        self.show_page(page if page in PAGES else _FIRST_PAGE)
        self.rail.currentRowChanged.connect(self._turn_to)
        self.rail.clicked.connect(self._enter_page)
        self.rail.activated.connect(self._enter_page)

    # Files

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's name
        """Take files."""
        if event.mimeData().hasUrls() and any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802 - Qt's name
        """Open the dataset, or choose the model, that was dropped."""
        paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if not paths or not self._filled:
            return
        event.acceptProposedAction()
        first = paths[0]
        if first.is_dir() or first.suffix.lower() == _MODEL_SUFFIX:
            self.interior.judge.choose_model(first)
            self.show_page("Judge")
        else:
            self.workspace.open_dataset(first)
            self.show_page("Dataset")

    def open_folder(self, path: Path) -> None:
        """Show a folder in the system's own program for files."""
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.show_problem(SetupError(f"{path} cannot be opened: {error.strerror}.", "Check your disk."))
            return
        with environment_of_the_system():
            opened = QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
        if not opened:
            self._note(f"The folder is {path}")

    # Pages

    def _page(self) -> "Page":
        return self.interior.pages[max(0, self.rail.currentRow())]

    @Slot(int)
    def _turn_to(self, row: int) -> None:
        if row < 0 or not self._filled:
            return
        self.stack.setCurrentIndex(row)
        self.state.set_text("page", self._page().NAME)
        self._page().entered()

    @Slot()
    def _enter_page(self) -> None:
        if self._filled:
            self._page().take_focus()

    @Slot(str, str)
    def _show_review(self, _item_id: str, _criterion: str) -> None:
        self.show_page("Review")

    @Slot(object)
    def _show_bad_dataset(self, _error: EngineError) -> None:
        # Its problems are listed there.
        self.show_page("Dataset")

    @Slot()
    def _title(self) -> None:
        dataset = self.workspace.dataset
        self.setWindowTitle(f"{one_line(dataset.name)} - Tiebreak" if dataset else "Tiebreak")

    @Slot(str)
    def _note(self, text: str) -> None:
        self.statusBar().showMessage(one_line(text), 12_000)

    # Runs

    def run(self) -> None:
        """Start or resume the run that the Judge page describes."""
        self.show_page("Judge")
        self.interior.judge.run()

    @Slot()
    def _follow_run(self) -> None:
        progress = self.interior.run_control.progress
        running = self.interior.run_control.running
        self.interior.menus.follow_run(running)
        if progress is None or not running:
            return
        said = f"Judging: {progress.judged:,} of {progress.items:,} items"
        self._run_state.setText("Stopping …" if self.interior.run_control.stopping else said)

    @Slot(object)
    def _end_run(self, _how: object) -> None:
        self._run_state.setText("")
        self.interior.menus.follow_run(False)
        if self._closing:
            # Not at once: this may be told in the middle of the question whether to close.
            QTimer.singleShot(0, self.close)

    # Looks

    def set_theme(self, choice: ThemeChoice) -> None:
        """Change the colours, and remember it."""
        self.state.set_text("theme", choice.value)
        self.apply_look()

    def set_text_size(self, percent: int) -> None:
        """Change the size of text, in percent of the system's, and remember it."""
        self.state.set_number("text_size", percent)
        self.apply_look()

    def step_text_size(self, step: int) -> None:
        """The next larger (1) or smaller (-1) size of text."""
        now = self.state.number("text_size", 100)
        larger = [size for size in TEXT_SIZES if size > now]
        smaller = [size for size in TEXT_SIZES if size < now]
        if step > 0 and larger:
            self.set_text_size(larger[0])
        elif step < 0 and smaller:
            self.set_text_size(smaller[-1])

    @Slot()
    def apply_look(self) -> None:
        """Give everything the colours and the size of text that are remembered."""
        state = self.state
        size = min(max(state.number("text_size", 100), TEXT_SIZES[0]), TEXT_SIZES[-1])
        if isinstance(self._app, QApplication):
            apply_theme(self._app, self._theme_choice(), size, self._base_points)
        if self._filled:
            self._style_rail()
            self.interior.menus.check_theme(self._theme_choice())

    def _theme_choice(self) -> ThemeChoice:
        chosen = self.state.text("theme", ThemeChoice.SYSTEM)
        return ThemeChoice(chosen) if chosen in set(ThemeChoice) else ThemeChoice.SYSTEM

    def forget(self) -> None:
        """Forget recent files, layout and settings."""
        self.interior.forget()
        self.apply_look()
        self._note("Recent files, layout and settings are forgotten; runs are kept.")

    # Closing

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Remember the layout; during a run ask, let it stop, and close then."""
        if self._filled and self.interior.run_control.running:
            event.ignore()
            if not self._closing and self._may_stop():
                self._close_after_run()
            return
        state = self.state
        state.set_layout("window", self.saveGeometry())
        for page in self.interior.pages if self._filled else ():
            page.keep_layout()
        state.save()
        super().closeEvent(event)

    def _close_after_run(self) -> None:
        self._closing = True
        if self.interior.run_control.running:
            self.interior.run_control.stop()
            self._note("The run stops; the window closes then.")
        else:  # it ended while the question was asked
            QTimer.singleShot(0, self.close)

    def _may_stop(self) -> bool:
        progress = self.interior.run_control.progress
        said = f"{progress.judged:,} of {progress.items:,} items are judged. " if progress else ""
        box = QMessageBox(self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("A run is under way")
        box.setText("Stop the run and close Tiebreak?")
        box.setInformativeText(f"{said}What is judged is kept, and the run can go on next time.")
        stop = box.addButton("Stop and close", QMessageBox.ButtonRole.AcceptRole)
        box.addButton("Keep judging", QMessageBox.ButtonRole.RejectRole)
        box.exec()
        return box.clickedButton() is stop
