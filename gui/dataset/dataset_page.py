"""The page of the dataset: open one, see what it holds, read its items."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QStackedWidget

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, EngineError, WrongKindError
from engine.core.formatting import short_name
from engine.system.paths import demo_dataset
from gui.dataset import dataset_jobs
from gui.dataset.columns_dialog import ColumnAsker
from gui.dataset.dataset_jobs import Counted
from gui.dataset.item_list import ItemList, judge_words
from gui.dataset.item_preview import ItemPreview, SummaryPanel
from gui.dataset.outputs_dialog import OutputsDialog
from gui.widgets.actions import BusyLine
from gui.widgets.files import DATASETS, let_choose
from gui.widgets.foreign_text import one_line
from gui.widgets.glossary import WHAT_IT_DOES
from gui.widgets.labels import (
    STRETCH,
    as_column,
    as_row,
    button,
    heading,
    hint,
    in_row,
    label,
    main_button,
    name,
    open_dialog,
    panel,
)
from gui.widgets.notice import Notice
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.file_jobs import Loading
from gui.workspace.page import Page, two_parts
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

_WHAT = (
    "A dataset is a table. Each row is an item: an id, an instruction, and two responses to it, A and B. "
    "They are judged on the five criteria of the ELOQUENT task, or on those of a rubric of your own."
)
_COLUMNS = (
    "Columns: id, instruction, output_a, output_b. Human labels are optional: relevance_preference, "
    "relevance_explanation, and so on for naturalness, truthfulness, safety and overall_quality, or for the "
    "criteria of the rubric that is chosen at the head of the window. "
    "A label is A, B, both_good or both_bad. If your file has other columns, you are asked which is which."
)
_FORMATS = "Files: .tsv, .csv, .json, .jsonl, .ndjson and .parquet, each also packed as .gz."
NEW_FROM_OUTPUTS = (
    "Make pairs of the responses of several models to the same instructions, one file per model"
)


class Welcome(QScrollArea):
    """What the page says while no dataset is open."""

    def __init__(self, *does: Callable[[], object]) -> None:
        """`does`: what its buttons do: ask for a file, make pairs of outputs, show the demo."""
        ask, pair, demo = does
        super().__init__()
        self.setWidgetResizable(True)
        self.open_button = choose = main_button("Open…")
        name(choose, "Open a dataset", "Choose a file on this computer")
        choose.clicked.connect(ask)
        of_demo = "240 short labelled items that come with Tiebreak"
        shown = button("Open the demo dataset", demo, what=of_demo)
        outputs = button("New from outputs…", pair, "New from outputs", NEW_FROM_OUTPUTS)
        buttons = as_row(choose, shown, outputs, STRETCH, margins=(0, 4, 0, 4))
        self._heading = heading("")
        self.show_reading(None)
        frame = panel(
            self._heading,
            label(f"{WHAT_IT_DOES} {_WHAT}"),
            buttons,
            hint("Or drop a file anywhere on this page."),
            hint(_COLUMNS),
            hint(_FORMATS),
        )
        frame.setMaximumWidth(self.fontMetrics().averageCharWidth() * 110)
        content = as_column(STRETCH, in_row(STRETCH, (frame, 8), STRETCH), 2, margins=None, role="content")
        self.setWidget(content)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_reading(self, file_name: str | None) -> None:
        """Say that a dataset is being read; None for none."""
        self._heading.setText(
            "No dataset is open" if file_name is None else f"Reading {one_line(short_name(file_name))} …"
        )


_CHOOSE = "Choose the columns of the instruction and the two responses."


class DatasetPage(Page):
    prompt_wanted = Signal(object)  # an Item: what the model is shown of it

    NAME = PageName.DATASET

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.items = ItemList(workspace)
        self.preview = ItemPreview()
        self.summary = SummaryPanel()
        show_demo = partial(workspace.open_dataset, demo_dataset())
        self.welcome = Welcome(self.choose_file, self.make_pairs, show_demo)
        self.busy = BusyLine()
        self.notice = Notice()
        self.asker = ColumnAsker(workspace, self)
        self._unread: ColumnsError | None = None  # of a file that other columns may read
        self._asked: dict[Path, ColumnMap] = {}  # what was chosen last, by file
        self._listed: Sequence[int] | None = None  # the rows of the listed items; None for all
        self._build_header()
        self._build_body()
        self._counting = TaskPanel(
            workspace.threads, ThreadName.FILES, self, self._show_summary, failed=workspace.failures
        )
        self._connect()
        self._show_dataset()

    def keep_layout(self) -> None:
        super().keep_layout()
        self.items.keep_layout()

    # Making

    def _build_header(self) -> None:
        self.outputs_dialog: OutputsDialog | None = None
        self.judge_button = main_button("Judge this dataset")
        begin, what = self.workspace.label_by_hand, "Let annotators label it on Review, without a judge"
        self.label_button = button("Label by &hand", begin, "Label this dataset by hand", what)
        changes = "Choose again which columns are the instruction, the responses and the labels"
        self.columns_button = button("Change &columns…", self.change_columns, "Change columns", changes)
        self.header.addWidget(self.columns_button)
        self.header.addWidget(self.label_button)
        self.header.addWidget(self.judge_button)

    def _build_body(self) -> None:
        parts = two_parts(Qt.Orientation.Horizontal, self.items, self.preview, stretches=(3, 2))
        self._splitter = self.remember("dataset/splitter", parts)
        opened = as_column(self.summary, (self._splitter, STRETCH), spacing=10)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.welcome)
        self._stack.addWidget(opened)
        self._other = self.notice.offer("Open another…")
        self._choose_columns = self.notice.offer("Choose columns…")
        self.body.addWidget(self.busy)
        self.body.addWidget(self.notice)
        self.body.addWidget(self._stack, 1)

    def _connect(self) -> None:
        space = self.workspace
        space.dataset_changed.connect(self._show_dataset)
        space.dataset_loading.connect(self._show_loading)
        space.dataset_failed.connect(self._show_failure)
        self.busy.cancelled.connect(space.cancel_loading)
        self._other.clicked.connect(self.choose_file)
        self._choose_columns.clicked.connect(self._ask_again)
        self.notice.closed.connect(self._end_failure)
        self.judge_button.clicked.connect(self._judge_listed)
        self.items.listed.connect(self._follow_list)
        self.items.selected.add_key_to(self)
        self.items.selected.judge_wanted.connect(self._judge_selected)
        self.items.item_chosen.connect(self._show_item)
        self.items.selected.prompt_wanted.connect(self._want_prompt)
        self.preview.prompt_wanted.connect(self._want_prompt)
        self.add_keys(search=self.items.start_search, prompt=self._want_prompt)

    # The dataset

    def choose_file(self) -> None:
        self.ask_file(self.workspace.open_dataset)

    def ask_file(self, take: Callable[[Path], object]) -> None:
        """Ask for a file, on whatever page, and let `take` have it."""
        folder = self.workspace.state.recent_folder("datasets")
        let_choose(self.window(), "Open dataset", folder, DATASETS, take)

    def make_pairs(self, outputs: Sequence[Path] = ()) -> None:
        """Open the dataset of pairs that is made of the outputs of several candidates, asked for if none are
        given.
        """
        self.outputs_dialog = dialog = OutputsDialog(self.workspace, self.window())
        dialog.made.connect(self.workspace.open_dataset)
        dialog.finished.connect(lambda: setattr(self, "outputs_dialog", None))
        open_dialog(dialog)
        if outputs:
            dialog.add(outputs)
        else:
            dialog.ask_files()

    # Files with other columns

    def change_columns(self) -> None:
        dataset = self.workspace.dataset
        if dataset is not None:
            self.ask_columns(dataset.path, dataset.columns)

    def _ask_again(self) -> None:
        if self._unread is not None:
            path = self._unread.path
            self.ask_columns(path, self._asked.get(path), self._unread.unknown)

    def ask_columns(self, path: Path, columns: ColumnMap | None = None, unknown: Sequence[str] = ()) -> None:
        """Ask which columns of a file are which, and open it by them."""
        request = ColumnsRequest(path, self._open_by, columns, unknown, rubric=self.workspace.rubric.rubric)
        self.workspace.columns_wanted.emit(request)

    def _open_by(self, path: Path, columns: ColumnMap, remember: bool) -> None:
        self._asked = {path: columns}
        self.workspace.open_dataset(path, columns, remember)

    def _show_dataset(self) -> None:
        dataset = self.workspace.dataset
        self._stack.setCurrentIndex(0 if dataset is None else 1)
        self._listed = None
        self._show_judge_button()
        self.columns_button.setVisible(dataset is not None and dataset.columns is not None)
        self.label_button.setVisible(dataset is not None)
        self.setFocusProxy(self.welcome.open_button if dataset is None else self.items.view)
        if dataset is None:
            return
        self._end_failure()
        self.summary.begin(dataset)
        self.items.show_dataset(dataset)
        self._counting.start(dataset_jobs.summary(dataset))

    def _show_summary(self, counted: Counted) -> None:
        if self._listed is None:
            self.summary.show_summary(counted)
        else:
            self.summary.show_listed(counted)

    def _follow_list(self, rows: Sequence[int] | None) -> None:
        """Count what is listed, and let the main button judge just that."""
        self._listed = rows
        self._show_judge_button()
        if self.workspace.dataset is not None:
            self._counting.start(dataset_jobs.summary(self.workspace.dataset, rows))

    def _show_judge_button(self) -> None:
        rows = self._listed
        text = "Judge this dataset" if rows is None else judge_words(len(rows))
        self.judge_button.setText(text)
        which = "this dataset" if rows is None else "only the listed items"
        name(self.judge_button, text, f"Choose a model for {which}")
        self.judge_button.setEnabled(self.workspace.dataset is not None and (rows is None or len(rows) > 0))

    def _judge_listed(self) -> None:
        if self._listed is None:
            self.workspace.page_wanted.emit(PageName.JUDGE)
        else:
            self._judge_selected(self._listed)

    def _show_item(self, item: int | None) -> None:
        dataset = self.workspace.dataset
        if dataset is None or item is None:
            self.preview.show_item(None)
            return
        others = {column: str(dataset.texts(column)[item].as_py()) for column in dataset.other_columns}
        self.preview.show_item(dataset[item], self.items.shown.words, others)

    def _want_prompt(self) -> None:
        if self.preview.item is not None:
            self.prompt_wanted.emit(self.preview.item)

    def _judge_selected(self, rows: Sequence[int]) -> None:
        dataset = self.workspace.dataset
        if dataset is not None:
            ids = dataset.ids
            chosen = tuple(ids[row] for row in rows)
            self.workspace.items_wanted.emit(dataset.path, chosen, dataset.columns)

    def _show_loading(self, loading: Loading | None) -> None:
        self.welcome.show_reading(loading.path.name if loading else None)
        if loading is None:
            self.busy.end()
        elif loading.rows:
            self.busy.go_on(f"Reading {one_line(loading.path.name)}: {loading.rows:,} rows")
        else:
            self._end_failure()
            self.busy.begin(f"Reading {one_line(loading.path.name)} …")

    def _show_failure(self, error: EngineError) -> None:
        if isinstance(error, WrongKindError):  # said where a button opens it in its own place
            self.workspace.problem.emit(error)
            return
        self.summary.hide()  # its numbers are not those of the file that the notice is about
        self._unread = error if isinstance(error, ColumnsError) else None
        self._choose_columns.setVisible(self._unread is not None)
        if isinstance(error, ColumnsError) and error.foreign:
            self.notice.show_note(
                f"{short_name(error.path.name)}: its columns have other names than a dataset's.", _CHOOSE
            )
            self.ask_columns(error.path)
        else:
            self.notice.show_error(error)

    def _end_failure(self) -> None:
        self.notice.hide()
        self.summary.show()
