"""Opens files that the user chooses or drops: datasets, and submissions with what they answer."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, EngineError, FileKind, WrongKindError
from engine.core.formatting import counted, short_name, visible
from gui.compare.compare_page import ComparePage
from gui.dataset.dataset_page import DatasetPage
from gui.widgets.files import DATASETS, let_choose
from gui.widgets.notice import question
from gui.window import submission_jobs
from gui.window.frame import MainWindow
from gui.window.submission_jobs import Answered, OpenRequest, SortedFiles, Unanswered, tell_apart
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

SUBMISSIONS = "Submissions (*.tsv)"
_FOLDER = "last/submission"


class SubmissionOpener(QObject):
    """`opened`: a submission is kept now, and will be the open run; `met`: a file of another kind."""

    opened = Signal(object)  # Answered
    met = Signal(object, object)  # a Path, a FileKind

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._window = window
        self._waiting: OpenRequest | None = None  # for the dataset that is being read
        self._put_off: OpenRequest | None = None  # until the user has said which columns that dataset has
        self._asked: OpenRequest | None = None  # that is being opened
        self._otherwise: Path | None = None
        self._show_dataset = False
        self._opened: dict[Path, int] = {}  # files, each with the run that it was opened as
        self._awaited: int | None = None  # the run that is to be shown in Review
        self.question: QMessageBox | None = None
        # Not on the worker thread of files: what was dropped need not wait for a dataset that it takes the
        # place of.
        threads, failures = workspace.threads, workspace.failures
        self._telling = TaskPanel(threads, ThreadName.STORE, self, self._take_told, failed=failures)
        self._opening = TaskPanel(threads, ThreadName.FILES, self, self._take, failed=self._fail)
        looking = "Looking for the dataset that it answers: {} …"
        self._opening.progress.connect(lambda at: workspace.note.emit(looking.format(at)))
        workspace.submission_wanted.connect(self.ask)
        workspace.run_changed.connect(self._show)
        workspace.dataset_loading.connect(self._follow_loading)
        workspace.dataset_failed.connect(self._give_up)
        workspace.dataset_changed.connect(self._take_up)

    def ask(self) -> None:
        kept, state = self._workspace.state.text(_FOLDER), self._workspace.state
        folder = Path(kept) if kept else state.recent_folder("datasets") or Path()
        let_choose(self._window, "Open submission", folder, SUBMISSIONS, self.open)

    def ask_dataset(self, path: Path) -> None:
        folder = self._workspace.state.recent_folder("datasets") or path.parent
        title = f"Open the dataset that {short_name(path.name)} answers"
        let_choose(self._window, title, folder, DATASETS, lambda dataset: self.open(path, dataset))

    def open(self, path: Path, dataset: Path | None = None) -> None:
        self._workspace.state.set_text(_FOLDER, str(path.absolute().parent))
        self._open(OpenRequest(path, dataset))

    def _open(self, request: OpenRequest) -> None:
        self._waiting, self._put_off = request, None
        self._workspace.note.emit(f"Opening the submission {short_name(request.path.name)} …")
        self._go_on()

    def open_files(
        self, paths: Sequence[Path], otherwise: Path | None = None, show_dataset: bool = False
    ) -> None:
        self._otherwise, self._show_dataset = otherwise, show_dataset
        self._telling.start(submission_jobs.tell_apart(paths))

    def _take_told(self, told: SortedFiles) -> None:
        dataset = told.dataset or self._otherwise
        if dataset is not None:
            self._workspace.open_dataset(dataset)
        if told.dataset is not None and self._show_dataset:
            self._workspace.page_wanted.emit(PageName.DATASET)
        if told.submission is not None:
            self.open(told.submission, told.dataset)
        if told.elsewhere is not None:
            self.met.emit(*told.elsewhere)
        if told.others:
            paths = (told.dataset, told.submission, told.elsewhere and told.elsewhere[0])
            opened = [short_name(path.name) for path in paths if path is not None]
            were = "is" if len(opened) == 1 else "are"
            self._workspace.note.emit(
                f"Of these files, {' and '.join(opened)} {were} opened: one of each kind at a time."
            )

    # Opening

    def _follow_loading(self, loading: object) -> None:
        if loading is None:
            # Not at once: the end of the reading is told before what came of it.
            QTimer.singleShot(0, self._go_on)

    def _give_up(self, error: EngineError) -> None:
        # A submission that names it waits for its columns, or is not opened.
        if self._waiting is not None and self._waiting.dataset is not None:
            self._put_off = self._waiting if isinstance(error, ColumnsError) else None
            self._waiting = None

    def _take_up(self) -> None:
        request, self._put_off = self._put_off, None
        dataset, wanted = self._workspace.dataset, request.dataset if request else None
        if request and wanted and dataset is not None and dataset.path.absolute() == wanted.absolute():
            self._open(request)

    def _fail(self, error: EngineError) -> None:
        request = self._asked
        if not isinstance(error, ColumnsError) or request is None:
            self._workspace.failures.fail(self, error)
            return

        def read(path: Path, columns: ColumnMap, remember: bool) -> None:
            self._open(replace(request, dataset=path, columns=columns, remember=remember))

        def leave() -> None:
            if not error.foreign:
                self._workspace.failures.fail(self, error)

        space, keeps = self._workspace, request.remember is not False
        asked = {"columns": request.columns, "remember": keeps, "rubric": space.rubric.rubric}
        space.columns_wanted.emit(ColumnsRequest.of(error, read, left=leave, **asked))

    def _go_on(self) -> None:
        request, space = self._waiting, self._workspace
        if request is None or space.loading:
            return
        self._waiting, self._asked = None, request
        request = replace(request, current=space.dataset, recent=tuple(space.state.recent("datasets")))
        self._opening.start(submission_jobs.open_submission(space.store_path, request))

    def _take(self, found: Answered | Unanswered) -> None:
        if isinstance(found, Unanswered):
            self._ask_which(found)
            return
        space = self._workspace
        space.failures.end(self)
        space.state.add_recent("datasets", found.dataset.path)
        self._opened[found.path.absolute()] = found.run.id
        self._protect(found.run.id)
        self._awaited = found.run.id
        space.open_run(found.run.id, found.dataset)
        space.refresh_runs()
        self.opened.emit(found)

    def _show(self) -> None:
        """Show it in Review once it is the open run, so that the keys go to its items."""
        run = self._workspace.run
        self._protect(run.id if run is not None else None)
        if run is not None and run.id == self._awaited:
            self._awaited = None
            self._workspace.page_wanted.emit(PageName.REVIEW)

    def _protect(self, shown: int | None) -> None:
        for path, run_id in self._opened.items():
            words = f"submission {short_name(path.name)} that was opened in {path.parent}"
            if run_id == shown:
                self._workspace.in_use[words] = path
            else:
                self._workspace.in_use.pop(words, None)

    def _ask_which(self, found: Unanswered) -> None:
        name, items = short_name(found.path.name), counted(found.items, "item", "items")
        box = question(
            self._window,
            "Which dataset does it answer?",
            f"{name} answers {items}. No open or recent dataset has all their ids.",
            f"{short_name(found.best.name)} has {found.shared:,} of them."
            if found.best is not None
            else "Choose the one with these ids: its texts and human labels are shown with the submission.",
        )
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        choose = box.addButton("Choose dataset…", QMessageBox.ButtonRole.AcceptRole)
        choose.clicked.connect(lambda: self.ask_dataset(found.path))
        if (best := found.best) is not None:  # its ids may be enough
            words = visible(f"Use {short_name(best.name)}").replace("&", "&&")
            use = box.addButton(words, QMessageBox.ButtonRole.ActionRole)
            use.clicked.connect(lambda: self.open(found.path, best))
        box.addButton(QMessageBox.StandardButton.Cancel)
        box.setDefaultButton(choose)
        self.question = box
        box.open()


class DatasetOpener(QObject):
    """Opens a dataset so that it is seen: Judge names it itself, every other page gives way to Dataset."""

    def __init__(self, frame: MainWindow, dataset: DatasetPage, compare: ComparePage) -> None:
        super().__init__(frame)
        self._frame, self._dataset, self._compare = frame, dataset, compare

    def ask(self) -> None:
        self._dataset.ask_file(self.open_file)

    def open(self, path: Path) -> None:
        self._dataset.workspace.open_dataset(path)
        if self._frame.page is not PageName.JUDGE:
            self._frame.show_page(PageName.DATASET)

    def make_pairs(self, outputs: Sequence[Path] = ()) -> None:
        self._frame.show_page(PageName.DATASET)
        self._dataset.make_pairs(outputs)

    def open_file(self, path: Path) -> None:
        """Open a file that was chosen as a dataset; on Compare a submission is one more system."""
        if self._frame.page is not PageName.COMPARE:
            self.open(path)
            return
        self._dataset.workspace.threads.start(ThreadName.FILES, tell_apart([path]), self._take_told)

    def _take_told(self, told: SortedFiles) -> None:
        if told.submission is not None:
            self._compare.choosing.add_files([told.submission])
        elif told.dataset is not None:
            self.open(told.dataset)
        elif told.elsewhere is not None:
            path, kind = told.elsewhere
            if kind is FileKind.VERDICTS:
                self._compare.choosing.add_files([path])
            else:
                self._dataset.workspace.problem.emit(WrongKindError(path, kind, FileKind.DATASET))
