"""The page of the dataset: open one, see what it holds, read its items; a new one out of outputs of several
candidates.
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QScrollArea, QWidget

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, EngineError, Setting, WrongKindError
from engine.core.formatting import counted, short_name, visible
from engine.settings.rows import LARGEST
from engine.settings.sampling import PairsPlan
from engine.system.paths import demo_dataset
from gui.dataset import dataset_jobs
from gui.dataset.columns_dialog import ColumnAsker
from gui.dataset.dataset_jobs import Counted, FoundOutputs
from gui.dataset.item_list import ItemList, judge_words
from gui.dataset.item_preview import ItemPreview, SummaryPanel
from gui.widgets import labels
from gui.widgets.actions import BusyLine, ReadingOrder, add_key
from gui.widgets.fields import Fold, SpinBox, narrow_box
from gui.widgets.files import DATASETS, FileChoice, ask_target, let_choose, let_choose_several
from gui.widgets.foreign_text import one_line, set_tip
from gui.widgets.glossary import WHAT_IT_DOES
from gui.widgets.labels import STRETCH
from gui.widgets.notice import FIELDS, Notice, problem_of
from gui.widgets.text_views import SheetView
from gui.widgets.views import ListView
from gui.workspace.dataset_reader import ColumnsRequest
from gui.workspace.file_jobs import Loading
from gui.workspace.page import Page, PageSplitter
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

_WHAT_OUTPUTS = (
    "Choose one file of model outputs per candidate model. Each row holds an instruction"
    " and an output, as in AlpacaEval, Arena-Hard and MT-Bench."
)
_FOLDER = "last/outputs"
_FEWEST = 2  # candidates
_LINES_OF_FILES = 4
_MOST_DEFAULT = 300  # pairs


class OutputsDialog(ReadingOrder, labels.Dialog):
    """`made`: where the dataset is that was written."""

    made = Signal(object)

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__("New dataset from outputs", parent, 130, 42)
        self._workspace = workspace
        self.paths: list[Path] = []
        self.found: FoundOutputs | None = None
        self.files = ListView()
        self.add_button = labels.button("&Add files…", self.ask_files)
        self.remove_button = labels.button("&Remove", self._remove)
        self.columns = QtWidgets.QLineEdit(
            placeholderText="guessed; or write: instruction=prompt,output=response"
        )
        self.instructions = FileChoice("instructions", DATASETS)
        self.sheet = SheetView()
        self.all_meet = QtWidgets.QRadioButton("Round &robin")
        self.with_baseline = QtWidgets.QRadioButton("Against the &baseline")
        self.baseline = narrow_box("The baseline, compared with each other candidate", 24)
        self.part = QtWidgets.QRadioButton("&Balanced subset:")
        self.all_pairs = QtWidgets.QRadioButton("A&ll pairs")
        self.count = SpinBox(minimum=1, maximum=LARGEST, value=_MOST_DEFAULT)
        self.seed = SpinBox(maximum=LARGEST)
        self.status = labels.label("")
        self.buttons, self.save = labels.cancel_or(self, "&Save and open…", self._save)
        self._writing = False
        self._lay_out()
        self._looking = TaskPanel(workspace.threads, ThreadName.FILES, self, self._show, failed=self._refuse)
        self._connect()
        self._look()
        self.add_button.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def request(self) -> PairsPlan:
        baseline = str(self.baseline.currentData()) if self.with_baseline.isChecked() else None
        return PairsPlan(baseline, self.count.value() if self.part.isChecked() else None, self.seed.value())

    # Making

    def _lay_out(self) -> None:
        labels.name(self.files, "Files of model outputs", "Delete removes the selected files from the list")
        self.files.setSelectionMode(QtWidgets.QAbstractItemView.SelectionMode.ExtendedSelection)
        self.files.setFixedHeight(self.fontMetrics().height() * (_LINES_OF_FILES + 1))
        labels.name(
            self.columns, FIELDS[Setting.COLUMNS], "Which columns of the files are id, instruction and output"
        )
        for field, accessible in ((self.count, "How many pairs"), (self.seed, "Seed of the subset")):
            labels.name(field, accessible)
        for pair in ((self.all_meet, self.with_baseline), (self.all_pairs, self.part)):
            group = QtWidgets.QButtonGroup(self)
            for button in pair:
                group.addButton(button)
            pair[0].setChecked(True)
        beside = labels.as_row(self.add_button, self.remove_button, STRETCH)
        other = labels.as_column(
            labels.in_row(labels.label(f"{FIELDS[Setting.COLUMNS]}:", wrap=False), (self.columns, STRETCH)),
            labels.in_row(
                labels.label(f"{FIELDS[Setting.INSTRUCTIONS]}:", wrap=False), (self.instructions, STRETCH)
            ),
        )
        self.other = Fold("Other columns, instructions in a separate file", other)
        self.choice = labels.panel(
            labels.heading("Pairs"),
            labels.in_row(self.all_meet, self.with_baseline, self.baseline, STRETCH),
            labels.in_row(
                self.all_pairs, self.part, self.count, labels.label("seed", wrap=False), self.seed, STRETCH
            ),
            labels.hint("For each pair it is drawn at random which candidate is response A."),
        )
        above = (labels.hint(_WHAT_OUTPUTS), self.files, beside, self.other, self.sheet, STRETCH)
        inside = labels.scrolling(labels.as_column(*above, spacing=8))
        parts = ((inside, STRETCH), self.choice, self.status, self.buttons)
        labels.in_column(*parts, on=self, margins=None, spacing=8)

    def _connect(self) -> None:
        add_key(self.files, QKeySequence.StandardKey.Delete, self._remove)
        self.files.itemSelectionChanged.connect(self._show_buttons)
        self.columns.editingFinished.connect(self._look_anew)
        self.instructions.changed.connect(self._look)
        for button in (self.all_meet, self.with_baseline, self.all_pairs, self.part):
            button.toggled.connect(self._show_count)
        self.count.valueChanged.connect(self._show_count)
        self.baseline.currentIndexChanged.connect(self._show_count)

    # The files

    def ask_files(self) -> None:
        kept = self._workspace.state.text(_FOLDER)
        let_choose_several(self, "Model outputs", kept, DATASETS, self.add)

    def add(self, paths: Sequence[Path]) -> None:
        if paths:
            self._workspace.state.set_text(_FOLDER, str(paths[0].absolute().parent))
        self.paths += [path for path in dict.fromkeys(paths) if path not in self.paths]
        self._look()

    def _remove(self) -> None:
        gone = {index.row() for index in self.files.selectedIndexes()}
        self.paths = [path for place, path in enumerate(self.paths) if place not in gone]
        self._look()

    def _look_anew(self) -> None:
        if self.columns.isModified():
            self.columns.setModified(False)
            self._look()

    def _look(self) -> None:
        """Read the files as they are chosen now."""
        self.files.clear()
        for path in self.paths:
            self.files.put(path.name, path, str(path))
        self._looking.drop()
        self._show(None)
        if len(self.paths) < _FEWEST:
            self._say("Pairs need at least two files.", "hint")
            return
        self._say("Reading the files …", "hint")
        self._looking.start(
            dataset_jobs.match_files(tuple(self.paths), self.columns.text(), self.instructions.path)
        )

    def _show(self, found: FoundOutputs | None) -> None:
        self.found = found
        self.sheet.show_sheet(found.sheet if found else None)
        self.choice.setVisible(found is not None)
        candidates = found.matched.candidates if found else ()
        self.baseline.offer([(one_line(each), each) for each in candidates], self.baseline.currentData())
        self._show_buttons()
        if found is not None:
            self._show_count()

    def _show_buttons(self) -> None:
        self.remove_button.setEnabled(bool(self.files.selectedIndexes()))
        self.save.setEnabled(self.found is not None and not self._writing)

    def _show_count(self) -> None:
        self.baseline.setEnabled(self.with_baseline.isChecked())
        set_tip(self.baseline, str(self.baseline.currentData() or ""))
        for field in (self.count, self.seed):
            field.setEnabled(self.part.isChecked())
        if self.found is None:
            return
        matched, wanted = self.found.matched, self.request.pairs
        possible = self.request.possible(len(matched.candidates), len(matched.keys))
        drawn = wanted is not None and wanted < possible
        pairs = counted(wanted if drawn and wanted else possible, "pair", "pairs")
        every = "each candidate" if self.request.baseline is None else "each candidate but the baseline"
        of = f" of {possible:,}, {every} and each instruction equally often or once more" if drawn else ""
        asked = counted(len(matched.keys), "instruction", "instructions")
        self._say(f"{pairs}{of}, on {asked} that every candidate answered.", "hint")

    # The dataset

    def _save(self) -> None:
        if self.found is None:
            return
        folder = self._workspace.state.export_folder(self.paths[0].parent)
        path = ask_target(self, "Save the dataset", folder / "pairs.tsv", "Datasets (*.tsv *.json *.parquet)")
        if path is None:
            return
        self._workspace.state.keep_export_folder(path.parent)
        self._writing = True
        self._show_buttons()
        job, start = dataset_jobs.write_pairs(self.found, self.request, path), self._workspace.threads.start
        task = start(ThreadName.FILES, job, self.made.emit, self._fail_to_write, must_end=True)
        task.finished.connect(self.accept)

    def _fail_to_write(self, error: EngineError) -> None:
        self._writing = False
        self._refuse(error)

    def _refuse(self, error: EngineError) -> None:
        self._say("\n".join(problem_of(error)), "warning")
        if self.found is None:  # where the hint may be
            self.other.set_open(True)
        self._show_buttons()

    def _say(self, text: str, role: str) -> None:
        labels.show_text(self.status, visible(text))
        labels.set_role(self.status, role)


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
        where = "Choose a file on this computer"
        self.open_button = choose = labels.main_button("Open…", ask, "Open a dataset", where)
        of_demo = "240 short labelled items that come with Tiebreak"
        shown = labels.button("Open the demo dataset", demo, what=of_demo)
        outputs = labels.button("New from outputs…", pair, "New from outputs", NEW_FROM_OUTPUTS)
        buttons = labels.as_row(choose, shown, outputs, STRETCH, margins=(0, 4, 0, 4))
        self._heading = labels.heading("")
        self.show_reading(None)
        frame = labels.panel(
            self._heading,
            labels.label(f"{WHAT_IT_DOES} {_WHAT}"),
            buttons,
            labels.hint("Or drop a file anywhere on this page."),
            labels.hint(_COLUMNS),
            labels.hint(_FORMATS),
        )
        frame.setMaximumWidth(self.fontMetrics().averageCharWidth() * 110)
        content = labels.as_column(
            STRETCH, labels.in_row(STRETCH, (frame, 8), STRETCH), 2, margins=None, role="content"
        )
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
        self.judge_button = labels.main_button("Judge this dataset", self._judge_listed)
        begin, what = self.workspace.label_by_hand, "Let annotators label it on Review, without a judge"
        self.label_button = labels.button("Label by &hand", begin, "Label this dataset by hand", what)
        changes = "Choose again which columns are the instruction, the responses and the labels"
        self.columns_button = labels.button(
            "Change &columns…", self.change_columns, "Change columns", changes
        )
        for part in (self.columns_button, self.label_button, self.judge_button):
            self.header.addWidget(part)

    def _build_body(self) -> None:
        parts = PageSplitter(Qt.Orientation.Horizontal, self.items, self.preview, stretches=(3, 2))
        self._splitter = self.remember("dataset/splitter", parts)
        opened = labels.as_column(self.summary, (self._splitter, STRETCH), spacing=10)
        self._stack = labels.stack(self.welcome, opened)
        self._other = self.notice.offer("Open another…", self.choose_file)
        self._choose_columns = self.notice.offer("Choose columns…", self._ask_again)
        self.body.addWidget(self.busy)
        self.body.addWidget(self.notice)
        self.body.addWidget(self._stack, 1)

    def _connect(self) -> None:
        space = self.workspace
        space.dataset_changed.connect(self._show_dataset)
        space.dataset_loading.connect(self._show_loading)
        space.dataset_failed.connect(self._show_failure)
        self.busy.cancelled.connect(space.cancel_loading)
        self.notice.closed.connect(self._end_failure)
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
        labels.open_dialog(dialog)
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
        labels.name(self.judge_button, text, f"Choose a model for {which}")
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
