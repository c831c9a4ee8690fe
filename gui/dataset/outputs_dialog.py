"""A new dataset out of the outputs of several candidates: the files, who meets whom, where it is kept.

Knows: what is asked. Does not know: how outputs are read and matched.
"""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QDialog,
    QLineEdit,
    QListWidgetItem,
    QPushButton,
    QRadioButton,
    QWidget,
)

from engine.core.errors import EngineError, Setting
from engine.core.formatting import counted, visible
from engine.settings.rows import LARGEST
from engine.settings.sampling import PairsPlan
from gui.dataset import dataset_jobs
from gui.dataset.dataset_jobs import FoundOutputs
from gui.widgets.actions import ReadingOrder, add_key
from gui.widgets.fields import Fold, SpinBox, narrow_box
from gui.widgets.files import DATASETS, FileChoice, ask_target, let_choose_several
from gui.widgets.foreign_text import one_line, set_tip, tip
from gui.widgets.labels import (
    STRETCH,
    as_column,
    as_row,
    cancel_or,
    heading,
    hint,
    in_column,
    in_row,
    label,
    make_room,
    name,
    panel,
    scrolling,
    set_role,
    show_text,
)
from gui.widgets.notice import FIELDS, problem_of
from gui.widgets.text_views import SheetView
from gui.widgets.views import ListView
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

_WHAT = (
    "Choose one file of model outputs per candidate model. Each row holds an instruction"
    " and an output, as in AlpacaEval, Arena-Hard and MT-Bench."
)
_FOLDER = "last/outputs"
_FEWEST = 2  # candidates
_LINES_OF_FILES = 4
_SIZE = (130, 42)  # characters, lines
_MOST_DEFAULT = 300  # pairs


class OutputsDialog(ReadingOrder, QDialog):
    """`made`: where the dataset is that was written."""

    made = Signal(object)

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self.paths: list[Path] = []
        self.found: FoundOutputs | None = None
        self.setWindowTitle("New dataset from outputs")
        self.files = ListView()
        self.add_button, self.remove_button = QPushButton("&Add files…"), QPushButton("&Remove")
        self.columns = QLineEdit(placeholderText="guessed; or write: instruction=prompt,output=response")
        self.instructions = FileChoice("instructions", DATASETS)
        self.sheet = SheetView()
        self.all_meet = QRadioButton("Round &robin")
        self.with_baseline = QRadioButton("Against the &baseline")
        self.baseline = narrow_box("The baseline, compared with each other candidate", 24)
        self.part = QRadioButton("&Balanced subset:")
        self.all_pairs = QRadioButton("A&ll pairs")
        self.count = SpinBox(minimum=1, maximum=LARGEST, value=_MOST_DEFAULT)
        self.seed = SpinBox(maximum=LARGEST)
        self.status = label("")
        self.buttons, self.save = cancel_or(self, "&Save and open…", self._save)
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
        name(self.files, "Files of model outputs", "Delete removes the selected files from the list")
        self.files.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.files.setFixedHeight(self.fontMetrics().height() * (_LINES_OF_FILES + 1))
        name(
            self.columns, FIELDS[Setting.COLUMNS], "Which columns of the files are id, instruction and output"
        )
        for field, accessible in ((self.count, "How many pairs"), (self.seed, "Seed of the subset")):
            name(field, accessible)
        for pair in ((self.all_meet, self.with_baseline), (self.all_pairs, self.part)):
            group = QButtonGroup(self)
            for button in pair:
                group.addButton(button)
            pair[0].setChecked(True)
        beside = as_row(self.add_button, self.remove_button, STRETCH)
        other = as_column(
            in_row(label(f"{FIELDS[Setting.COLUMNS]}:", wrap=False), (self.columns, STRETCH)),
            in_row(label(f"{FIELDS[Setting.INSTRUCTIONS]}:", wrap=False), (self.instructions, STRETCH)),
        )
        self.other = Fold("Other columns, instructions in a separate file", other)
        self.choice = panel(
            heading("Pairs"),
            in_row(self.all_meet, self.with_baseline, self.baseline, STRETCH),
            in_row(self.all_pairs, self.part, self.count, label("seed", wrap=False), self.seed, STRETCH),
            hint("For each pair it is drawn at random which candidate is response A."),
        )
        inside = QWidget()
        in_column(hint(_WHAT), self.files, beside, self.other, self.sheet, STRETCH, on=inside, spacing=8)
        parts = ((scrolling(inside), STRETCH), self.choice, self.status, self.buttons)
        in_column(*parts, on=self, margins=None, spacing=8)
        make_room(self, *_SIZE)

    def _connect(self) -> None:
        self.add_button.clicked.connect(self.ask_files)
        self.remove_button.clicked.connect(self._remove)
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
            entry = QListWidgetItem(one_line(path.name), self.files)
            entry.setToolTip(tip(str(path)))
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
        task = self._workspace.threads.start(
            ThreadName.FILES, dataset_jobs.write_pairs(self.found, self.request, path), must_end=True
        )
        task.finished.connect(self.made)
        task.finished.connect(self.accept)
        task.failed.connect(self._fail_to_write)

    def _fail_to_write(self, error: EngineError) -> None:
        self._writing = False
        self._refuse(error)

    def _refuse(self, error: EngineError) -> None:
        self._say("\n".join(problem_of(error)), "warning")
        if self.found is None:  # where the hint may be
            self.other.set_open(True)
        self._show_buttons()

    def _say(self, text: str, role: str) -> None:
        show_text(self.status, visible(text))
        set_role(self.status, role)
