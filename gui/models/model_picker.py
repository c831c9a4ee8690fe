"""The choice of a model file: found, added, watched while files come and go, measured or audited."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QMenu, QPushButton, QWidget

from engine.core.errors import SetupError
from engine.core.formatting import counted, visible, without_middle
from engine.settings.rows import KvType
from engine.system.paths import demo_model, home
from gui.models import model_jobs, model_table
from gui.models.model_jobs import Candidate, ModelRequest, SpeedsMeasured, Stamps
from gui.widgets.actions import BusyLine, add_entry, timer
from gui.widgets.fields import FlowLayout
from gui.widgets.files import ask_folder, ask_source
from gui.widgets.foreign_text import set_tip
from gui.widgets.label_mark import PillDelegate
from gui.widgets.labels import STRETCH, button, heading, in_column, in_row, label, name, set_role
from gui.widgets.notice import problem_of
from gui.widgets.views import FillingView, dressed
from gui.workspace.state import State
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, ThreadName
from gui.workspace.workspace import Workspace

_SEARCHED = "models"
_FILES, _FOLDERS = "files", "folders"
_LONGEST_ENTRY = 70  # characters
PAUSE_MS = 3_000
"""Between two listings of the model files."""
_SHARE = 20  # times as long as a listing took is the pause after it


class SearchedPlaces(QObject):
    """What was added, and the button that takes it away again; it is hidden while there is nothing."""

    removed = Signal(object)  # the path

    def __init__(self, state: State, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.button = QPushButton("Remove")
        named = "Remove an added folder or file from the list"
        gone = "Which folders are searched no more, and which files are listed no more; nothing is deleted"
        name(self.button, named, gone)
        self._menu = QMenu(self.button, toolTipsVisible=True)
        self._menu.aboutToShow.connect(self._fill)
        self.button.setMenu(self._menu)
        self._show_button()

    @property
    def files(self) -> list[Path]:
        return self._kept(_FILES)

    @property
    def folders(self) -> list[Path]:
        return self._kept(_FOLDERS)

    def add(self, kind: str, path: Path) -> None:
        self._keep({kind: [*self._kept(kind), path]})

    def remove(self, path: Path) -> None:
        kept = {_FILES: self.files, _FOLDERS: self.folders}
        self._keep({kind: [each for each in paths if each != path] for kind, paths in kept.items()})
        self.removed.emit(path)

    def _kept(self, kind: str) -> list[Path]:
        kept = self._state.record_of_all(_SEARCHED).get(kind, [])
        return [Path(path) for path in kept if isinstance(path, str)] if isinstance(kept, list) else []

    def _keep(self, paths: Mapping[str, Sequence[Path]]) -> None:
        # Each path once, where it came last.
        new = {kind: [*reversed(dict.fromkeys(map(str, reversed(each))))] for kind, each in paths.items()}
        self._state.set_record(_SEARCHED, {**self._state.record_of_all(_SEARCHED), **new})
        self._show_button()

    def _show_button(self) -> None:
        self.button.setVisible(bool(self.files or self.folders))

    def _fill(self) -> None:
        self._menu.clear()
        for paths, kind in ((self.folders, "Folders"), (self.files, "Files")):
            if paths:
                self._menu.addSection(kind)
            for path in paths:
                at_home = path.is_relative_to(home())
                shown = visible(f"~/{path.relative_to(home())}" if at_home else str(path))
                short = without_middle(" ".join(shown.split()), _LONGEST_ENTRY)
                add_entry(self._menu, short.replace("&", "&&"), partial(self.remove, path), what=str(path))


class FolderWatch(QObject):
    """Lists the files again every few seconds while somebody sees them, for no system tells of all changes.
    What is still written to, a download, is `growing`, until two listings find it alike.
    """

    changed = Signal()  # other files are there, whole, than when they were looked at last

    def __init__(self, threads: EngineThreads, picker: "ModelPicker") -> None:
        super().__init__(picker)
        self._picker = picker
        self._seen: Mapping[Path, object] = {}
        self._offered: Mapping[Path, object] | None = None  # as they were looked at; None before that
        self.growing: frozenset[Path] = frozenset()
        self._listing = TaskPanel(threads, ThreadName.SCAN, self, self._take)
        self._rest = timer(self, 0, self.look)

    def take_looked_at(self, stamps: Stamps) -> None:
        self._seen = stamps.files
        self._offered = self._whole

    @property
    def _whole(self) -> Mapping[Path, object]:
        return {path: stamp for path, stamp in self._seen.items() if path not in self.growing}

    def look(self) -> None:
        self._rest.stop()
        if not self._listing.busy:
            self._listing.start(model_jobs.list_files(*self._picker.looked_at()))

    def _take(self, stamps: Stamps) -> None:
        now, before = stamps.files, self._seen
        self._seen = now
        if self._offered is not None:
            self.growing = frozenset(path for path, stamp in now.items() if before.get(path) != stamp)
            if self._whole != self._offered:
                self.changed.emit()
        if self._picker.isVisible():
            # On a slow disk less often: the listing never takes more than a small part of the time.
            self._rest.start(max(PAUSE_MS, int(1000 * _SHARE * stamps.seconds)))


class ModelActions(QObject):
    """The menu of the list, and the work that it starts: one at a time, which can be stopped."""

    measured = Signal(object)  # Candidates with their speeds
    ended = Signal()  # all that was to be measured is, or the work was stopped
    audit_wanted = Signal()  # of the judge that the page describes

    def __init__(self, workspace: Workspace, picker: "ModelPicker") -> None:
        super().__init__(picker)
        self._workspace, self._picker = workspace, picker
        self.menu = QMenu(picker)
        self.button = QPushButton("Measure or audit")
        speed = "Measure how fast models read and write on this computer with “Compute on”"
        audit = "audit the chosen model as a judge of the open dataset"
        name(self.button, "Measure the speed of models, or audit one", f"{speed}; {audit}")
        self.button.setMenu(self.menu)
        self.menu.aboutToShow.connect(self._fill)
        threads, failures, take, hear = workspace.threads, workspace.failures, self._take, self._follow
        self._working = TaskPanel(threads, ThreadName.MODEL, self, take, follow=hear, failed=failures)
        self._working.busy_changed.connect(self._follow_busy)
        self.line = self._working.line

    def measure(self, candidates: Sequence[Candidate]) -> None:
        self._working.begin(model_jobs.measure(candidates, self._picker.request), "Loading the model …")

    def measure_chosen(self) -> None:
        if (chosen := self._picker.candidate) is not None and chosen.usable:
            self.measure([chosen])

    def measure_all(self) -> None:
        self.measure(self._picker.usable)

    def _follow(self, event: object) -> None:
        if isinstance(event, Candidate):
            self.measured.emit([event])
        else:
            self._working.show_progress(event)

    def _take(self, result: SpeedsMeasured) -> None:
        disturbed = [each for each in result.measured if each.speed is not None and each.speed.disturbed]
        if result.failed:
            first, *others = result.failed
            together = "\n".join(error.problem for error in result.failed)
            self._workspace.problem.emit(SetupError(together, first.hint) if others else first)
        elif disturbed:
            models = counted(len(disturbed), "model was", "models were")
            disturbing = f"Other programs used the processor while {models} measured"
            self._workspace.note.emit(f"{disturbing}: close them, and measure again.")

    def _follow_busy(self, busy: bool) -> None:
        if not busy:
            self.ended.emit()

    def _fill(self) -> None:
        chosen, number = self._picker.candidate, len(self._picker.usable)
        can_judge = chosen is not None and chosen.usable
        self.menu.clear()
        one = self.menu.addAction("&Measure the speed of this model", self.measure_chosen)
        every = self.menu.addAction(f"Measure the speed of &all {number:,} models", self.measure_all)
        every.setVisible(number > 1)
        for action in (one, every):
            action.setEnabled(can_judge and not self._working.busy)
        self.menu.addSeparator()
        text = "Add a robustness a&udit of this judge to the queue"
        audit = self.menu.addAction(text, self.audit_wanted.emit)
        audit.setToolTip("Items of the open dataset and rule-based perturbations of them, judged as a run")
        audit.setEnabled(can_judge and self._workspace.dataset is not None)


_FEWEST_ROWS, _MOST_ROWS = 3, 7
_MANY = 8  # files; a filter is offered above that
_NAME_WIDTH, _FOLDER_WIDTH = 25, 11  # characters, at the least: of the demo model with its mark
_LONGEST_NAME = 80  # characters, of a file that is not found yet
_ARROW = 3  # characters, for the arrow of the sorted column
_LAST = "last/model"


class ModelPicker(QWidget):
    """Chooses one model file. It looks for files when `scan` is called first."""

    changed = Signal()  # another file is chosen
    measured = Signal()  # speeds were

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace, self._state = workspace, workspace.state
        self.request = ModelRequest(None, KvType.F16, store=workspace.store_path)
        self._choose_none = False  # rows go; the view selects a neighbour, which nobody chose
        self.places = SearchedPlaces(self._state, self)
        self.places.removed.connect(self._leave)
        self.watch = FolderWatch(workspace.threads, self)
        self.watch.changed.connect(self._search)
        self._high = _FEWEST_ROWS  # rows that have room
        self._there: set[Path] = set()  # what a search has found so far

        self.path = Path(self._state.text(_LAST) or demo_model())
        self._remembered = True  # from last time; whether it is still there is not known yet
        threads, failures, scan = workspace.threads, workspace.failures, ThreadName.SCAN
        self._searching = TaskPanel(threads, scan, self, self._take_all, follow=self._take, failed=failures)
        for signal in (self._searching.failed, self._searching.cancelled):
            signal.connect(self._end_search)
        self._fitting = TaskPanel(threads, scan, self, self._take_fits, failed=failures)
        self.doing = ModelActions(workspace, self)
        self.doing.measured.connect(self._take_fits)
        self.doing.ended.connect(self.measured)
        self.table = model_table.ModelTableModel(self)
        self._order = model_table.ModelOrder(self.table, self)
        self.view = dressed(FillingView(), self._order, "Model files")
        self.view.setItemDelegate(PillDelegate(self.view))
        self.view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(model_table.MODEL, Qt.SortOrder.AscendingOrder)
        header = self.view.horizontalHeader()
        order, sorted_by = self._order, header.sortIndicatorChanged
        for signal in (order.rowsInserted, order.rowsRemoved, order.modelReset, order.dataChanged, sorted_by):
            signal.connect(self.restyle)
        self.view.selectionModel().selectionChanged.connect(self._choose_row)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self._busy = BusyLine()
        self._busy.cancelled.connect(self._searching.cancel)
        self._about = label("")
        self.unusable = model_table.UnusableModels()
        below = (self._about, self._busy, self.doing.line, self.unusable, self._buttons())
        in_column(self._heading(), self.view, *below, on=self)
        self.restyle()

    @property
    def candidate(self) -> Candidate | None:
        """The chosen file as it was found; None before the search has come to it."""
        row = self.table.row_of(self.path)
        return None if row is None else self.table.candidate(row)

    @property
    def usable(self) -> Sequence[Candidate]:
        return [candidate for candidate in self.table.candidates if candidate.usable]

    def scan(self) -> None:
        self.table.clear()
        self._busy.begin("Looking for model files …")
        self._search()

    def _search(self) -> None:
        self._there.clear()
        self._searching.start(model_jobs.find(*self.looked_at(), self.request, self.watch.growing))

    def looked_at(self) -> tuple[list[Path], list[Path]]:
        """The files and folders beside the defaults: those that were added, and the chosen file."""
        files = self.places.files
        return [*([] if self.path in files else [self.path]), *files], self.places.folders

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.watch.look()

    def choose_file(self, path: Path) -> None:
        self._remembered = False
        self.places.add(_FILES, path.absolute())
        self._select(path.absolute())
        self.scan()

    def add_folder(self, path: Path) -> None:
        self.places.add(_FOLDERS, path.absolute())
        self.scan()

    def set_request(self, request: ModelRequest, anew: bool = False) -> None:
        """Say for which settings memory and speed are meant; `anew`: more is known of these by now."""
        request = replace(request, store=self.request.store)
        if anew or request != self.request:
            self.request = request
            if self._searching.busy:
                self.scan()
            else:
                self._fitting.start(model_jobs.fits(self.table.candidates, request))

    def restyle(self) -> None:
        rows, header = self.view.verticalHeader(), self.view.horizontalHeader()
        bars = header.sizeHint().height() + self.view.horizontalScrollBar().sizeHint().height()
        inside = self._high * rows.defaultSectionSize() + 2 * self.view.frameWidth()
        self.view.setFixedHeight(bars + inside)
        letter = self.view.fontMetrics().averageCharWidth()
        for column in (model_table.SPEED, model_table.MASS):
            self.view.setColumnHidden(column, not self.table.knows(column))
        for column in range(self.table.columnCount()):
            if self.view.isColumnHidden(column):
                continue
            arrow = _ARROW * letter if column == header.sortIndicatorSection() else 0
            wanted = max(self.view.title_width(column) + arrow, self.view.sizeHintForColumn(column) + 4)
            header.resizeSection(column, wanted)
        self.view.fill({model_table.MODEL: _NAME_WIDTH * letter, model_table.FOLDER: _FOLDER_WIDTH * letter})

    def _heading(self) -> QHBoxLayout:
        self._filter = QLineEdit(placeholderText="Filter", clearButtonEnabled=True)
        name(self._filter, "Show only model files with this text")
        self._filter.textChanged.connect(self._filter_by)
        self._filter.hide()
        return in_row(heading("Model"), STRETCH, self._filter)

    def _buttons(self) -> FlowLayout:
        browse = button("Browse…", self._browse, "Choose a model file")
        add = button("Add folder…", self._add_folder, "Look for model files in one more folder")
        again = button("Rescan", self.scan, "Look for model files again")
        return FlowLayout(browse, add, again, self.places.button, self.doing.button)

    def _browse(self) -> None:
        chosen = ask_source(self, "Choose a model file", self.path.parent, "Models (*.gguf)")
        if chosen is not None:
            self.choose_file(chosen)

    def _add_folder(self) -> None:
        chosen = ask_folder(self, "Look for model files in this folder too", self.path.parent)
        if chosen is not None:
            self.add_folder(chosen)

    def _leave(self, path: Path) -> None:
        # Choose the demo model where the chosen file was taken out of the list, or lies in such a folder.
        if self.path == path or path in self.path.parents:
            self._state.set_text(_LAST, str(demo_model()))
            self._select(demo_model())
        self.scan()

    def _select(self, path: Path) -> None:
        if path != self.path:
            self._remembered = False
            self.path = path
            self.changed.emit()
        self._show_choice()

    def _take(self, event: object) -> None:
        if isinstance(event, Stamps):
            self.watch.take_looked_at(event)
        elif isinstance(event, Candidate):
            self._there.add(event.path)
            self.table.put(event)
            count = self._order.rowCount()
            if not self._busy.isHidden():
                self._busy.go_on(f"Looking for model files … {count} found")
            self._filter.setVisible(count > _MANY or bool(self._filter.text()))
            if event.path != self.path and self.path in event.files:
                self.path = event.path  # a part of a split model was chosen: the whole is meant
                self.changed.emit()
            if event.path == self.path:
                self._show_choice()
                error = event.found.error
                if self._remembered and error is not None:  # the file of last time can be used no more
                    self._workspace.note.emit(f"{error.problem} The demo model is chosen instead.")
                    self._select(demo_model())
                self._remembered = False

    def _take_all(self) -> None:
        # What was not found is gone.
        self._choose_none = True
        self.table.keep_only(self._there)
        self._choose_none = False
        self._end_search()

    def _end_search(self) -> None:
        if not self._busy.isHidden():
            # Only after a search that the user waits for: what comes by itself moves nothing below.
            self._high = min(max(self._order.rowCount(), _FEWEST_ROWS), _MOST_ROWS)
            self.restyle()
        self._busy.end()
        self.unusable.show_candidates(self.table.candidates)
        self._show_choice()
        self.view.doItemsLayout()  # else there may be nowhere to scroll to yet
        self.view.scrollTo(self.view.currentIndex())

    def _take_fits(self, candidates: Sequence[Candidate]) -> None:
        for candidate in candidates:
            self.table.put(candidate)
        self._show_choice()

    def _open_menu(self, place: QPoint) -> None:
        self.doing.menu.popup(self.view.viewport().mapToGlobal(place))

    def _choose_row(self) -> None:
        rows = self.view.selectionModel().selectedRows()
        if rows and not self._choose_none:
            candidate = self.table.candidate(self._order.mapToSource(rows[0]).row())
            if candidate.found.model is not None:
                self._state.set_text(_LAST, str(candidate.path))
            self._select(candidate.path)

    def _filter_by(self, text: str) -> None:
        self._choose_none = True
        self._order.setFilterFixedString(text)
        self._choose_none = False
        self.view.clearSelection()
        self._show_choice()

    def _show_choice(self) -> None:
        """Mark the chosen row, and say below the table what must be known of it."""
        row = self.table.row_of(self.path)
        if row is None:
            self._about.setText(visible(f"Chosen: {without_middle(self.path.name, _LONGEST_NAME)}"))
            set_tip(self._about, str(self.path))
            return
        place = self._order.mapFromSource(self.table.index(row, 0))
        selection = self.view.selectionModel()
        if place.isValid() and not selection.isRowSelected(place.row()):
            flags = QItemSelectionModel.SelectionFlag
            selection.setCurrentIndex(place, flags.ClearAndSelect | flags.Rows)
        candidate = self.table.candidate(row)
        error = candidate.found.error
        said = " ".join(problem_of(error)) if error else model_table.in_short(candidate)
        self._about.setText(visible(said))
        set_tip(self._about, model_table.about(candidate))
        set_role(self._about, "bad" if error else "hint")
