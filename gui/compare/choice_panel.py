"""What is to be compared: runs and files of judges to tick, which column of such a file holds verdicts, human
labels; what is missing before it can be.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6 import QtWidgets
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QPalette

from engine.annotations.records import LabelSource, LabelSourceKind
from engine.core.codec import record_or
from engine.core.column_map import NO_COLUMN, JudgeColumn, JudgeFile
from engine.core.errors import EngineError, JudgeColumnError, SetupError, WrongKindError
from engine.core.formatting import counted, short_name, visible
from engine.settings.identity import StoredRun
from engine.settings.rows import Mode, settings_in_words
from engine.system.paths import current_folder, home
from gui.compare.compare_jobs import CompareRequest, Examined, columns_of_judges, examine
from gui.widgets import labels
from gui.widgets.actions import add_key
from gui.widgets.fields import ComboBox
from gui.widgets.files import ALL_FILES, DATASETS, ask_source
from gui.widgets.foreign_text import one_line, plain_label, tip
from gui.widgets.label_mark import MEANINGS
from gui.widgets.notice import IN_THE_WINDOW
from gui.widgets.views import Index, ListView
from gui.workspace.page import SourceBox
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_LINES_SHOWN, _LETTERS_SHOWN = 7, 28  # at the least
_ELSEWHERE = "To compare its runs, choose that dataset at the head of the window."


class _TickDelegate(QtWidgets.QStyledItemDelegate):
    def initStyleOption(self, option: QtWidgets.QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        # Qt frames a tick in a darker shade of the ground of windows, which is not seen on a dark one.
        option.palette.setColor(QPalette.ColorRole.Window, option.palette.placeholderText().color())


class SystemList(QtWidgets.QWidget):
    """What can be compared. A file that is lost, or does not fit, keeps its place but cannot be chosen."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._known_runs: Sequence[StoredRun] = ()
        self._other_runs: Sequence[StoredRun] = ()
        self._open_run: int | None = None
        self._rows: list[tuple[str, bool | None, str, bool]] = []
        self._ticked_runs: set[int] = set()
        self._files: dict[JudgeFile, bool] = {}
        self._examined = Examined()
        self.view = ListView()
        self.view.setItemDelegate(_TickDelegate(self.view))
        labels.name(self.view, "Runs and files to compare")
        self.view.setSpacing(2)
        self.view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.itemChanged.connect(self._take_tick)
        self.view.currentRowChanged.connect(self._follow_current)
        add_key(self.view, QKeySequence.StandardKey.Delete, self.remove_current)
        self._gone = plain_label(role="warning")
        self._gone.hide()
        self.add_button = QtWidgets.QPushButton("&Add file…")
        dropped = "Submissions and files with the verdicts of other judges. They can be dropped here too."
        labels.name(self.add_button, "Add files of judges", dropped)
        remove = "Remove the file from the list"
        self._remove = labels.button("Re&move", self.remove_current, remove, "The file itself stays.")
        buttons = labels.in_row((self.add_button, labels.STRETCH), self._remove)
        labels.in_column((self.view, labels.STRETCH), self._gone, buttons, on=self)
        self.restyle()
        self._follow_current()

    # What is chosen

    @property
    def runs(self) -> tuple[int, ...]:
        """The ids of the ticked runs, the oldest first."""
        return tuple(sorted(run.id for run in self._known_runs if run.id in self._ticked_runs))

    @property
    def files(self) -> tuple[JudgeFile, ...]:
        """The ticked files that can be compared."""
        return tuple(file for file, ticked in self._files.items() if ticked and self._why_not(file) == "")

    @property
    def all_files(self) -> tuple[JudgeFile, ...]:
        return tuple(self._files)

    def as_json(self) -> dict[str, Any]:
        files = [
            [str(path), ticked, *([column.name, dict(column.labels)] if column.key else ())]
            for (path, column), ticked in self._files.items()
        ]
        return {"runs": sorted(self._ticked_runs), "files": files}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Take ticks and files that were remembered; what is damaged is left out."""
        runs, files = record_or(values.get("runs"), list, []), record_or(values.get("files"), list, [])
        self._ticked_runs = {run_id for run_id in runs if isinstance(run_id, int)}
        kinds = ([str, bool], [str, bool, str, dict])
        known = (entry for entry in files if isinstance(entry, list) and [*map(type, entry)] in kinds)
        self._files = {
            JudgeFile(Path(path), JudgeColumn(*told[:1], *(tuple(each.items()) for each in told[1:]))): ticked
            for path, ticked, *told in known
        }
        self._fill()

    # What there is

    def show_runs(
        self,
        runs: "Sequence[StoredRun]",
        opened: int | None,
        propose: bool,
        fits: "Callable[[StoredRun], bool]",
    ) -> None:
        """`opened`: the run that is open; to `propose` it alone, before the user has chosen. `fits`: whether
        a run is of the current dataset; the others are listed last, and cannot be ticked.
        """
        self._open_run = opened
        if propose and opened is not None:
            self._ticked_runs = {opened}
        shown = [run for run in runs if not run.archived or run.id in self._ticked_runs]
        self._known_runs, self._other_runs = [*filter(fits, shown)], [*filterfalse(fits, shown)]
        self._fill()

    def tick(self, run: int) -> None:
        self._ticked_runs.add(run)
        self._fill()
        self.changed.emit()

    def add_files(self, files: Iterable[JudgeFile]) -> None:
        self._files |= {file._replace(path=file.path.absolute()): True for file in files}
        self._fill()
        self.changed.emit()

    def remove_current(self) -> None:
        if (file := self._current_file()) is not None:
            del self._files[file]
            self._fill()  # which keeps the place
            self.changed.emit()

    def show_examined(self, examined: Examined) -> None:
        before = [*map(self._why_not, self._files)]
        self._examined = examined
        if before != [*map(self._why_not, self._files)]:
            self._fill()
            self.changed.emit()
        gone = ", ".join(file.path.name for file in self._files if file in examined.missing)
        lines = [f"Not found: {gone}. Put it back, or remove it from the list."] if gone else []
        unfit = (examined.unfit[file] for file in self._files if file in examined.unfit)
        labels.show_text(self._gone, "\n".join([*lines, *(error.problem.split("\n")[0] for error in unfit)]))

    def _why_not(self, file: JudgeFile) -> str:
        """Why a file cannot be compared, in two words; empty where it can."""
        if file in self._examined.missing:
            return "not found"
        return "does not fit" if file in self._examined.unfit else ""

    # Making

    def restyle(self) -> None:
        width, height = self.fontMetrics().averageCharWidth(), self.fontMetrics().height()
        self.view.setMinimumSize(width * _LETTERS_SHOWN, height * _LINES_SHOWN)

    def _fill(self) -> None:
        rows = [*self._rows_to_show()]
        if rows != self._rows:  # dataset and run change together: what stays need not be made anew
            self._rows = rows
            # Entries stay: a list cleared while a screen reader listens broke down once, inside Qt.
            with QSignalBlocker(self.view):
                for place, each in enumerate(rows):
                    self._show_row(self.view.item(place) or QtWidgets.QListWidgetItem(self.view), *each)
                while self.view.count() > len(rows):
                    self.view.takeItem(len(rows))
        self._follow_current()

    def _rows_to_show(self) -> Iterator[tuple[str, bool | None, str, bool]]:
        """As `_show_row` takes them."""
        for run in self._known_runs:
            text, made = _words_on(run, run.id == self._open_run), run.created.astimezone()
            yield text, run.id in self._ticked_runs, f"{text}\n{made:%Y-%m-%d %H:%M}", True
        for file, ticked in self._files.items():
            why_not = self._why_not(file)
            shown = f"{file.name} ({why_not})" if why_not else file.name
            yield shown, ticked and not why_not, str(file.path), not why_not
        for path in dict.fromkeys(run.identity.dataset_path for run in self._other_runs):
            yield f"Of another dataset, {short_name(path.name)}:", None, f"{path}\n{_ELSEWHERE}", True
            for run in (each for each in self._other_runs if each.identity.dataset_path == path):
                yield _words_on(run, False), None, _ELSEWHERE, True

    def _show_row(
        self, entry: QtWidgets.QListWidgetItem, text: str, ticked: bool | None, more: str, there: bool
    ) -> None:
        """`ticked`: None where nothing can be ticked."""
        entry.setText("\n".join(map(one_line, text.split("\n"))))
        entry.setToolTip(tip(more))
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        entry.setFlags(flags | Qt.ItemFlag.ItemIsUserCheckable if there and ticked is not None else flags)
        tick = Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked
        entry.setData(Qt.ItemDataRole.CheckStateRole, None if ticked is None else tick)
        shade = self.palette().placeholderText() if ticked is None else None
        entry.setData(Qt.ItemDataRole.ForegroundRole, shade)

    def _current_file(self) -> JudgeFile | None:
        place = self.view.currentRow() - len(self._known_runs)
        return self.all_files[place] if 0 <= place < len(self._files) else None

    def _take_tick(self, entry: QtWidgets.QListWidgetItem) -> None:
        row = self.view.row(entry)
        ticked = entry.checkState() is Qt.CheckState.Checked
        self._rows = []  # they are not as they were made any more
        if row >= len(self._known_runs):
            self._files[self.all_files[row - len(self._known_runs)]] = ticked
        else:
            (self._ticked_runs.add if ticked else self._ticked_runs.discard)(self._known_runs[row].id)
        self.changed.emit()

    def _follow_current(self) -> None:
        self._remove.setEnabled(self._current_file() is not None)


def _words_on(run: "StoredRun", is_open: bool) -> str:
    identity = run.identity
    parts = [counted(run.judged, "item", "items")]
    if not run.complete:
        parts = [f"{run.judged:,} of {identity.items:,} items"]
    if run.by_a_model:
        parts += filter(None, [settings_in_words(identity.judge_settings)])
    elif identity.mode is Mode.LABELS:
        parts.append("labels only")
    shown = " (shown)" if is_open else ""
    model = "" if run.submitted else f": {one_line(identity.model_name)}"
    return f"{run.title}{shown}{model}\n{one_line(', '.join(parts))}"


_CHOOSE = "choose …"


class JudgeColumnDialog(labels.Dialog):
    """`accepted`: `column` may be read. `columns`: that may be it, what each value means or None."""

    def __init__(
        self, path: Path, columns: Mapping[str, Mapping[str, str | None]], parent: QtWidgets.QWidget
    ) -> None:
        super().__init__("A judge's verdicts", parent, 60, 18)
        self._columns = columns
        self.choice = ComboBox()
        self.choice.addItems([*map(visible, columns)])
        labels.name(self.choice, "Column of the judge's verdicts")
        self.meanings: dict[str, ComboBox] = {}
        meant = QtWidgets.QWidget()
        self._rows = QtWidgets.QFormLayout(meant)
        self.buttons = labels.ok_and_cancel(self)
        self.ok_button = self.buttons.button(QtWidgets.QDialogButtonBox.StandardButton.Ok)
        self.ok_button.setText("&Add")
        asked = f"Which column of {short_name(path.name)} holds the judge's verdicts?"
        none = [] if columns else [plain_label("No column of few values is in this file.")]
        inside = labels.scrolling(labels.as_column(meant, labels.STRETCH)), labels.STRETCH
        question = plain_label(asked)
        labels.in_column(
            question, self.choice, *none, inside, self.buttons, on=self, margins=None, spacing=10
        )
        self.choice.setVisible(bool(columns))
        self.choice.currentIndexChanged.connect(self._show_values)
        self._show_values()
        self.choice.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def column(self) -> JudgeColumn:
        chosen = ((value, field.currentData()) for value, field in self.meanings.items())
        return JudgeColumn(self._name, tuple((value, label) for value, label in chosen if value != label))

    @property
    def _name(self) -> str:
        return [*self._columns][self.choice.currentIndex()] if self._columns else ""

    def _show_values(self) -> None:
        while self._rows.rowCount():
            self._rows.removeRow(0)
        self.meanings = {}
        for value, meaning in self._columns.get(self._name, {}).items():
            field = self.meanings[value] = ComboBox()
            field.offer([(_CHOOSE, None), *MEANINGS], meaning)
            labels.name(field, f"Meaning of {visible(value)}")
            field.currentIndexChanged.connect(self._enable)
            self._rows.addRow(f"{visible(value)} means", field)
        self._enable()

    def _enable(self) -> None:
        known = all(field.currentData() is not None for field in self.meanings.values())
        self.ok_button.setEnabled(bool(self.meanings) and known)


_KEPT = "compare"  # the name under which the choice is remembered
LEAST_SYSTEMS = 2
_IN_USE = "dataset with the human labels of Compare"
_VERDICTS = f"Submissions and verdicts (*.tsv *.csv *.json *.jsonl *.parquet *.gz);;{ALL_FILES}"


class ChoicePanel(labels.DownScroll):
    """Systems to tick, labels to choose, options. `compare_button`, which starts, stands in the header."""

    changed = Signal()
    gold_changed = Signal()
    compare_wanted = Signal()
    refused = Signal(object)  # an EngineError: files that cannot be compared were not added

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(accessible="What is compared")
        self._workspace = workspace
        self._busy = False
        self._chosen: Dataset | None = None
        self._examined_with: Dataset | None = None  # the labels that the files were last compared with
        self._reading = workspace.reader(self)
        self.systems = SystemList()
        self._looking = TaskPanel(workspace.threads, ThreadName.FILES, self, self.systems.show_examined)
        self.gold_text = plain_label()
        self.whose = SourceBox()
        named = "Compare the ticked systems"
        self.compare_button = labels.main_button("&Compare", self.compare_wanted.emit, named, "Ctrl+Enter")
        self._lacking = labels.hint("")
        self.panel_button = QtWidgets.QPushButton("Make a jur&y…")
        what = "Combines them into one judge, stored as a run of its own"
        labels.name(self.panel_button, "Make a jury of the ticked systems", what)
        other = labels.button("Choose &labels…", self._ask_gold, "Choose a dataset with human labels")
        own = "Use the human labels of the open run's own dataset again"
        self._own_button = labels.button("Run's o&wn", self.use_default_labels, own)
        buttons = labels.in_row((other, labels.STRETCH), self._own_button)
        systems = (labels.heading("Systems"), (self.systems, labels.STRETCH), self.panel_button)
        chosen = (*systems, labels.heading("Human labels"), self.gold_text)
        self.setWidget(labels.panel(*chosen, buttons, self.whose, self._lacking))
        self.systems.add_button.clicked.connect(self._ask_submissions)
        self._reading.finished.connect(self._take_gold)
        self._reading.failed.connect(self._refuse_gold)
        self._reading.put_off.connect(self.bring_up_to_date)
        for signal in (workspace.runs_changed, workspace.run_changed, workspace.dataset_changed):
            signal.connect(self._list_runs)
        for signal in (self.systems.changed, self.whose.changed):
            signal.connect(self._remember)
        values = workspace.state.record(_KEPT)
        with QSignalBlocker(self.whose):
            if values.get("labels_of") in list(LabelSourceKind):
                self.whose.choose(LabelSource(LabelSourceKind(values["labels_of"])))
        self.systems.restore(values)
        self._list_runs()

    @property
    def choice(self) -> CompareRequest:
        return CompareRequest(self.systems.runs, self.systems.files, self.whose.source.kind)

    @property
    def gold(self) -> "Dataset | None":
        """The human labels: those chosen here, the open run's own, or those of the open dataset."""
        opened = self._workspace.dataset
        labelled = opened if opened is not None and opened.criteria else None
        return self._chosen or self._workspace.own_gold or labelled

    @property
    def lacking(self) -> list[str]:
        steps, gold, chosen = [], self.gold, self.choice.systems
        if chosen < LEAST_SYSTEMS:
            more = "Tick two systems or more" if not chosen else "Tick one more system"
            steps.append(f"{more}: runs from the Judge page, or files of other judges.")
        if gold is None:
            steps.append("Choose a dataset with human labels.")
        elif not gold.criteria:
            steps.append(f"{one_line(gold.name)} has no human labels: choose another dataset.")
        return steps

    @property
    def folder(self) -> Path:
        """Where files are likely to be: beside the last submission, else beside the labels."""
        if self.systems.all_files:
            return self.systems.all_files[-1].path.parent
        return self.gold.path.parent if self.gold else Path(current_folder() or home())

    def add_files(self, paths: Sequence[Path], column: JudgeColumn = NO_COLUMN) -> None:
        """List files of judges and tick them, once it is known that they can be compared."""
        files = [JudgeFile(path, column) for path in paths]
        job = examine(files, self.gold)
        self._workspace.threads.start(ThreadName.FILES, job, self._add, self.refused.emit)

    def _add(self, examined: Examined) -> None:
        absolute = {file._replace(path=file.path.absolute()): file.name for file in examined.fit}
        listed = [name for file, name in absolute.items() if file in self.systems.all_files]
        if examined.fit:
            self.systems.add_files(examined.fit)
        if listed:
            self._workspace.note.emit(f"Already in the list: {', '.join(listed)}")
        errors = [
            SetupError(f"{file.path} does not exist.", "Check the folder.") for file in examined.missing
        ]
        for file, error in examined.unfit.items():
            if isinstance(error, JudgeColumnError):
                self._ask_column(file.path)
            elif isinstance(error, WrongKindError):  # said where a button opens it in its own place
                self._workspace.problem.emit(error)
            else:
                errors.append(error)
        if errors:
            hints = dict.fromkeys(IN_THE_WINDOW.of(error.hint) for error in errors)
            self.refused.emit(SetupError("\n".join(error.problem for error in errors), "\n".join(hints)))
        self.look_for_files()

    def _ask_column(self, path: Path) -> None:
        """Ask which column of a file holds a judge's verdicts, and what its values mean, and add it so."""
        job, show = columns_of_judges(path), partial(self._show_columns, path)
        self._workspace.threads.start(ThreadName.FILES, job, show, self.refused.emit)

    def _show_columns(self, path: Path, columns: Mapping[str, Mapping[str, str | None]]) -> None:
        asked = JudgeColumnDialog(path, columns, self)
        asked.accepted.connect(lambda: self.add_files([path], asked.column))
        labels.open_dialog(asked)

    def choose_gold(self, path: Path) -> None:
        """Read a labelled dataset to hold the systems against; other pages keep theirs."""
        self.gold_text.setText(visible(f"Reading {path.name} …"))
        ticked = [run for run in self._workspace.runs if run.id in self.systems.runs]
        self._reading.read_labels(path, ticked)

    def use_default_labels(self) -> None:
        self._reading.drop()
        self._take_gold(None)

    def _take_gold(self, dataset: "Dataset | None") -> None:
        self._workspace.failures.end(self)
        self._chosen = dataset
        if dataset is not None:
            self._workspace.in_use[_IN_USE] = dataset.path
        else:
            self._workspace.in_use.pop(_IN_USE, None)
        self.bring_up_to_date()
        self.gold_changed.emit()

    def _refuse_gold(self, error: EngineError) -> None:
        self.bring_up_to_date()
        self._workspace.failures.fail(self, error)

    def look_for_files(self) -> None:
        self._examined_with = self.gold
        self._looking.start(examine(self.systems.all_files, self.gold))

    def set_busy(self, busy: bool) -> None:
        self._busy = busy
        self.bring_up_to_date()

    def bring_up_to_date(self) -> None:
        gold, lacking, space = self.gold, self.lacking, self._workspace
        if gold is not self._examined_with and self.systems.all_files:
            self.look_for_files()
        said = "None yet."
        if gold:
            own = f"the labels of run {space.run.id}, which is open" if space.run and space.own_gold else ""
            source = "chosen here" if self._chosen is not None else own or "the open dataset"
            items, criteria = counted(len(gold), "item", "items"), len(gold.criteria)
            labelled = f"{counted(criteria, 'criterion', 'criteria')} with labels ({source})"
            said = f"{one_line(gold.name)}: {items}, {labelled}"
        self.gold_text.setText(visible(said))
        self._own_button.setVisible(self._chosen is not None)
        self.compare_button.setEnabled(not lacking and not self._busy)
        self.panel_button.setEnabled(self.choice.systems >= LEAST_SYSTEMS)
        labels.show_text(self._lacking, "\n".join(lacking))
        self.changed.emit()

    # What happens

    def _remember(self) -> None:
        chosen = {**self.systems.as_json(), "labels_of": self.whose.source.kind.value}
        self._workspace.state.set_record(_KEPT, chosen)
        self.bring_up_to_date()

    def _list_runs(self) -> None:
        space = self._workspace
        opened = space.run.id if space.run else None
        self.systems.show_runs(space.runs, opened, not space.state.record(_KEPT), space.is_of_dataset)
        self.bring_up_to_date()

    def _ask_submissions(self) -> None:
        ask = QtWidgets.QFileDialog.getOpenFileNames
        names, _ = ask(self, "Add submissions and other judges' files", str(self.folder), _VERDICTS)
        if names:
            self.add_files([Path(path) for path in names])

    def _ask_gold(self) -> None:
        path = ask_source(self, "Choose a dataset with human labels", self.folder, DATASETS)
        if path is not None:
            self.choose_gold(path)
