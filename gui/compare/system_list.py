"""The runs of the store and submission files in one list, with a tick at each that is compared.

Knows: runs, files, ticks. Does not know: what is done with them.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QPalette
from PySide6.QtWidgets import (
    QListWidgetItem,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from engine.core.formatting import counted
from engine.core.settings import Mode
from gui.compare.compare_jobs import Examined
from gui.kit.actions import add_key
from gui.kit.foreign_text import one_line, plain_label, tip
from gui.kit.labels import name, show_text
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.views import ListView

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun

_LINES_SHOWN = 7  # at the least
_LETTERS_SHOWN = 28


class _TickDelegate(QStyledItemDelegate):
    """Draws entries with ticks whose frame can be seen on a dark ground too."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt frames a tick in a darker shade of the ground of windows."""
        super().initStyleOption(option, index)
        option.palette.setColor(QPalette.ColorRole.Window, option.palette.placeholderText().color())


class SystemList(QWidget):
    """What can be compared. A file that is lost, or does not fit, keeps its place but cannot be chosen."""

    changed = Signal()
    files_wanted = Signal()  # the button that adds submissions was pressed

    def __init__(self) -> None:
        super().__init__()
        self._known_runs: Sequence[StoredRun] = ()
        self._open_run: int | None = None
        self._ticked_runs: set[int] = set()
        self._files: dict[Path, bool] = {}
        self._examined = Examined()
        self._build()

    # What is chosen

    @property
    def runs(self) -> tuple[int, ...]:
        """The ids of the ticked runs, the oldest first."""
        return tuple(sorted(run.id for run in self._known_runs if run.id in self._ticked_runs))

    @property
    def files(self) -> tuple[Path, ...]:
        """The ticked submission files that can be compared."""
        return tuple(path for path, ticked in self._files.items() if ticked and self._why_not(path) == "")

    @property
    def all_files(self) -> tuple[Path, ...]:
        """All submission files of the list."""
        return tuple(self._files)

    def as_json(self) -> dict[str, Any]:
        """The ticks and files as plain values."""
        files = [[str(path), ticked] for path, ticked in self._files.items()]
        return {"runs": sorted(self._ticked_runs), "files": files}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Take ticks and files that were remembered; what is damaged is left out."""
        runs, files = values.get("runs"), values.get("files")
        self._ticked_runs = (
            {run_id for run_id in runs if isinstance(run_id, int)} if isinstance(runs, list) else set()
        )
        pairs = [entry for entry in files if _is_file_entry(entry)] if isinstance(files, list) else []
        self._files = {Path(path): ticked for path, ticked in pairs}
        self._fill()

    # What there is

    def show_runs(self, runs: "Sequence[StoredRun]") -> None:
        """List these runs; ticks stay."""
        self._known_runs = [run for run in runs if not run.archived or run.id in self._ticked_runs]
        self._fill()

    def mark_open(self, run: int | None) -> None:
        """Say which run is shown on the other pages."""
        if run != self._open_run:
            self._open_run = run
            self._fill()

    def tick_only(self, run: int) -> None:
        """Propose this run, before the user has chosen."""
        if self._ticked_runs != {run}:
            self._ticked_runs = {run}
            self._fill()

    def tick(self, run: int) -> None:
        """Tick this run too, once it is listed."""
        self._ticked_runs.add(run)
        self._fill()
        self.changed.emit()

    def add_files(self, paths: Iterable[Path]) -> None:
        """List these submission files too, and tick them."""
        self._files |= {path.absolute(): True for path in paths}
        self._fill()
        self.changed.emit()

    def remove_current(self) -> None:
        """Take the current file off the list; runs stay."""
        path = self._current_file()
        if path is None:
            return
        row = self.view.currentRow()
        del self._files[path]
        self._fill()
        self.view.setCurrentRow(min(row, self.view.count() - 1))
        self.changed.emit()

    @Slot(object)
    def show_examined(self, examined: Examined) -> None:
        """Mark the files that cannot be compared by now, and say why."""
        before = {path: self._why_not(path) for path in self._files}
        self._examined = examined
        if before != {path: self._why_not(path) for path in self._files}:
            self._fill()
            self.changed.emit()
        gone = ", ".join(path.name for path in self._files if path in examined.missing)
        lines = [f"Not found: {gone}. Put it back, or remove it from the list."] if gone else []
        unfit = [examined.unfit[path] for path in self._files if path in examined.unfit]
        lines += [error.problem.partition("\n")[0] for error in unfit]
        show_text(self._gone, "\n".join(lines))

    def _why_not(self, path: Path) -> str:
        """Why a file cannot be compared, in two words; empty where it can."""
        if path in self._examined.missing:
            return "not found"
        return "does not fit" if path in self._examined.unfit else ""

    # Making

    def _build(self) -> None:
        self.view = ListView()
        self.view.setItemDelegate(_TickDelegate(self.view))
        name(self.view, "Runs and submissions to compare")
        self.view.setSpacing(2)
        self.view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.itemChanged.connect(self._take_tick)
        self.view.currentRowChanged.connect(self._follow_current)
        add_key(self.view, QKeySequence.StandardKey.Delete, self.remove_current)
        self._gone = plain_label(role="warning")
        self._gone.hide()
        self._add = QPushButton("&Add submission…")
        name(self._add, "Add submission files", "Submissions are .tsv files. They can be dropped here too.")
        self._add.clicked.connect(self.files_wanted)
        self._remove = QPushButton("Re&move")
        name(self._remove, "Remove the submission from the list", "The file itself stays.")
        self._remove.clicked.connect(self.remove_current)
        buttons = in_row((self._add, STRETCH), self._remove)
        in_column((self.view, STRETCH), self._gone, buttons, on=self)
        self.fit()
        self._follow_current()

    def fit(self) -> None:
        """Make room for a few rows in the text size of now."""
        metrics = self.fontMetrics()
        self.view.setMinimumSize(
            QSize(metrics.averageCharWidth() * _LETTERS_SHOWN, metrics.height() * _LINES_SHOWN)
        )

    def _fill(self) -> None:
        row = self.view.currentRow()
        with QSignalBlocker(self.view):
            self.view.clear()
            for run in self._known_runs:
                text = _words_on(run, run.id == self._open_run)
                self._add_row(
                    text, run.id in self._ticked_runs, f"{text}\n{run.created.astimezone():%Y-%m-%d %H:%M}"
                )
            for path, ticked in self._files.items():
                why_not = self._why_not(path)
                shown = f"{path.name} ({why_not})" if why_not else path.name
                self._add_row(shown, ticked and not why_not, str(path), not why_not)
            self.view.setCurrentRow(min(row, self.view.count() - 1))
        self._follow_current()

    def _add_row(self, text: str, ticked: bool, more: str, there: bool = True) -> None:
        entry = QListWidgetItem("\n".join(map(one_line, text.split("\n"))))
        entry.setToolTip(tip(more))
        flags = Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEnabled
        entry.setFlags(flags | Qt.ItemFlag.ItemIsUserCheckable if there else flags)
        entry.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
        self.view.addItem(entry)

    def _current_file(self) -> Path | None:
        place = self.view.currentRow() - len(self._known_runs)
        return self.all_files[place] if 0 <= place < len(self._files) else None

    @Slot(QListWidgetItem)
    def _take_tick(self, entry: QListWidgetItem) -> None:
        row = self.view.row(entry)
        ticked = entry.checkState() is Qt.CheckState.Checked
        if row >= len(self._known_runs):
            self._files[self.all_files[row - len(self._known_runs)]] = ticked
        elif ticked:
            self._ticked_runs.add(self._known_runs[row].id)
        else:
            self._ticked_runs.discard(self._known_runs[row].id)
        self.changed.emit()

    @Slot()
    def _follow_current(self) -> None:
        self._remove.setEnabled(self._current_file() is not None)


def _words_on(run: "StoredRun", is_open: bool) -> str:
    """What tells a run from others, on two lines."""
    identity = run.identity
    parts = [identity.dataset_path.name, counted(run.judged, "item", "items")]
    if not run.complete:
        parts[-1] = f"{run.judged:,} of {identity.items:,} items"
    if len(identity.settings["orders"]) == 1:
        parts.append("one order")
    elif "second_order_below" in identity.settings:
        parts.append("second order if uncertain")
    if identity.methods_in_words:
        parts.append(f"method: {identity.methods_in_words}")
    if identity.settings["mode"] == Mode.LABELS:
        parts.append("labels only")
    shown = " (shown)" if is_open else ""
    model = "" if run.submitted else f": {one_line(identity.model_name)}"
    return f"{run.title}{shown}{model}\n{one_line(', '.join(parts))}"


def _is_file_entry(value: object) -> bool:
    """True for a path and its tick."""
    return isinstance(value, list) and [type(part) for part in value] == [str, bool]
