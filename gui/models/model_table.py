"""The model files that were found: those that can judge in a table, the others folded away."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QSortFilterProxyModel, Qt
from PySide6.QtWidgets import QWidget

from engine.core.errors import ModelFileError
from engine.core.formatting import amount, capitalised, counted, percent, short_count, visible, without_middle
from gui.models.model_jobs import PROCESSOR, Candidate
from gui.widgets.fields import Fold
from gui.widgets.foreign_text import OneLine, one_line, plain_label, set_tip, tip
from gui.widgets.label_mark import PILL_ROLE
from gui.widgets.labels import empty, in_column
from gui.widgets.notice import problem_of
from gui.widgets.views import SORT_ROLE, Head, HeadedModel, Index

_HEADS = (
    Head("Model", "The file name; another name in its header is in the tool tip of its row"),
    Head("Memory", "Whether the model fits the free memory with the context that is set"),
    Head(
        "Tokens/s",
        "Prompt tokens per second on this computer, with the device of"
        " “Compute on” under Advanced; shown once measured",
        is_number=True,
    ),
    Head(
        "Mass",
        "The mean answer mass of its newest run: well below 100 %, the model does not give valid answers",
        is_number=True,
    ),
    Head("Format", "How its weights are stored"),
    Head("Params", "Parameters", is_number=True),
    Head("Size", "Size of the file, of all parts where it is split", is_number=True),
    Head("Folder", "The program or the folder where it is stored"),
)
MODEL, MEMORY, SPEED, MASS, FORMAT, PARAMETERS, SIZE, FOLDER = range(len(_HEADS))
USABLE_ROLE = SORT_ROLE + 1
_LONGEST_NAME = 80  # characters, below the list
FIT_ROLES = {"fits": "good", "tight": "warning", "does not fit": "bad", "not known": "plain"}
_MOST_NAMED = 20  # files with one reason
_GAP = 6  # pixels above the next reason


class ModelTableModel(HeadedModel):
    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_HEADS, parent)
        self._shown: list[Candidate] = []

    @property
    def candidates(self) -> list[Candidate]:
        return list(self._shown)

    def candidate(self, row: int) -> Candidate:
        return self._shown[row]

    def knows(self, column: int) -> bool:
        return any(_text(candidate, column) for candidate in self._shown if candidate.usable)

    def row_of(self, path: Path) -> int | None:
        wanted = path.absolute()
        return next((row for row, each in enumerate(self._shown) if each.path.absolute() == wanted), None)

    def clear(self) -> None:
        with self._changing():
            self._shown = []

    def keep_only(self, paths: Collection[Path]) -> None:
        for row in reversed(range(len(self._shown))):
            if self._shown[row].path not in paths:
                self.beginRemoveRows(QModelIndex(), row, row)
                del self._shown[row]
                self.endRemoveRows()

    def put(self, candidate: Candidate) -> None:
        row = self.row_of(candidate.path)
        if row is not None:
            self._shown[row] = candidate
            self._tell_changed(row, row)
            return
        end = len(self._shown)
        self.beginInsertRows(QModelIndex(), end, end)
        self._shown.append(candidate)
        self.endInsertRows()

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        shown = _SHOWN.get(role)
        return shown(self._shown[index.row()], index.column()) if shown else super().data(index, role)


def _text(candidate: Candidate, column: int) -> str:
    model = candidate.found.model
    if column == MODEL:
        return candidate.name
    if column == FOLDER:
        return candidate.found.folder
    if model is None:
        return "not usable" if column == MEMORY else ""
    return {
        MEMORY: str(candidate.fit),
        SPEED: rate(candidate.speed.reading) if candidate.speed else "",
        MASS: f"{100 * candidate.run.mass:.0f} %" if candidate.run else "",
        FORMAT: model.quantisation,
        PARAMETERS: short_count(model.parameters),
        SIZE: amount(model.size_bytes),
    }[column]


def _value(candidate: Candidate, column: int) -> float | str:
    model = candidate.found.model
    if column in (MODEL, FORMAT, FOLDER):
        return _text(candidate, column).casefold()
    if model is None or candidate.estimate is None:
        return -1.0
    return float(
        {
            MEMORY: candidate.estimate.total,
            SPEED: candidate.speed.reading if candidate.speed else -1,
            MASS: candidate.run.mass if candidate.run else -1,
            PARAMETERS: model.parameters,
            SIZE: model.size_bytes,
        }[column]
    )


def _pill(candidate: Candidate, column: int) -> tuple[str, str] | None:
    if column == MODEL and candidate.is_demo:
        return "demo", "plain"
    if column != MEMORY:
        return None
    fit = str(candidate.fit) if candidate.fit is not None else "not usable"
    return fit, FIT_ROLES.get(fit, "plain")


_SHOWN: dict[int, Callable[[Candidate, int], object]] = {
    Qt.ItemDataRole.DisplayRole: lambda candidate, column: one_line(_text(candidate, column)),
    Qt.ItemDataRole.ToolTipRole: lambda candidate, _column: tip(about(candidate)),
    SORT_ROLE: _value,
    USABLE_ROLE: lambda candidate, _column: candidate.usable,
    PILL_ROLE: _pill,
}


def rate(tokens: float) -> str:
    """Tokens a second, with no more digits than a second measure would give again."""
    rounded = float(f"{tokens:.3g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def in_short(candidate: Candidate) -> str:
    """The name of a model that can judge, and what to know of it before a run, else its other name."""
    model, shown = candidate.found.model, without_middle(candidate.name, _LONGEST_NAME)
    if model is None:
        return shown
    if model.remarks:
        return "\n".join(f"{shown}: {remark}" for remark in model.remarks)
    title = without_middle(model.other_name, _LONGEST_NAME)
    other = f", called {title} in its header" if title else ""
    return f"{shown}{other}; trained with {model.trained_context:,} tokens of context"


def about(candidate: Candidate) -> str:
    model = candidate.found.model
    more = len(model.more_files) if model else 0
    parts = f" and {counted(more, 'other part', 'other parts')}" if more else ""
    lines = [visible(candidate.name), f"{candidate.path}{parts}, found in {candidate.found.source}"]
    if model is None:
        error = candidate.found.error
        return "\n".join([*lines, *(problem_of(error) if error is not None else ())])
    if model.other_name:
        lines.append(f"Called {visible(model.other_name)} in its header.")
    if (needed := candidate.estimate) is not None:
        free = f"; {amount(candidate.memory.available)} are free" if candidate.memory else ""
        lines.append(
            f"Needs about {amount(needed.total)} with a context of {candidate.context:,} tokens (weights"
            f" {amount(needed.weights)}, KV cache {amount(needed.kv_cache)}, buffers"
            f" {amount(needed.buffers)}){free}."
        )
    lines.append(
        f"{model.architecture}, parameters: {model.size_in_words}, trained with"
        f" {model.trained_context:,} tokens of context."
    )
    speed, run = candidate.speed, candidate.run
    if speed is not None:
        lines.append(
            f"Here it reads {rate(speed.reading)} tokens a second, and writes {rate(speed.writing_one)} of"
            f" one text, {rate(speed.writing_ten)} of ten texts together, with"
            f" {candidate.speed_on or PROCESSOR}."
        )
        if speed.disturbed:
            lines.append("Other programs used the processor while that was measured.")
    if run is not None:
        lines.append(f"Its newest run, {run.run_id}, has a mean answer mass of {percent(run.mass)}.")
    lines += [capitalised(remark) for remark in model.remarks]
    return "\n".join(lines)


class ModelOrder(QSortFilterProxyModel):
    """The rows that can judge, filtered by their texts and sorted by values."""

    def __init__(self, source: ModelTableModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setSourceModel(source)
        self.setSortRole(SORT_ROLE)
        self.setFilterKeyColumn(-1)
        self.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        # Only what can judge; why others cannot is told elsewhere.
        usable = self.sourceModel().index(row, MODEL, parent).data(USABLE_ROLE)
        return bool(usable) and super().filterAcceptsRow(row, parent)


class UnusableModels(Fold):
    """Why the others cannot be used, each reason once; hidden while there are none."""

    def __init__(self) -> None:
        self._list = QWidget()
        self._rows = in_column(on=self._list, margins=(22, 0, 0, 4), spacing=3)
        self._shown: list[Candidate] = []
        super().__init__("", self._list)
        self.opened.connect(self._fill)
        self.hide()

    def show_candidates(self, candidates: Iterable[Candidate]) -> None:
        shown = [candidate for candidate in candidates if not candidate.usable]
        if shown != self._shown:
            self._shown = shown
            self.set_title(f"{counted(len(shown), 'file', 'files')} that cannot be used")
            self.setVisible(bool(shown))
            if self.open:
                self._fill()

    def _fill(self) -> None:
        empty(self._rows)
        groups: dict[str, list[Candidate]] = {}
        for candidate in self._shown:
            groups.setdefault(_reason(candidate), []).append(candidate)
        for reason, candidates in groups.items():
            if self._rows.count():
                self._rows.addSpacing(_GAP)
            self._rows.addWidget(plain_label(reason, "hint"))
            for candidate in candidates[:_MOST_NAMED]:
                line = OneLine(f"{candidate.name} ({candidate.found.folder})", role="")
                set_tip(line, about(candidate))
                line.setAccessibleName(candidate.name)
                self._rows.addWidget(line)
            if more := candidates[_MOST_NAMED:]:
                rest = OneLine(f"and {len(more):,} more")
                set_tip(rest, "\n".join(str(candidate.path) for candidate in more))
                self._rows.addWidget(rest)


def _reason(candidate: Candidate) -> str:
    error = candidate.found.error
    if error is None:
        return ""
    _problem, hint = problem_of(ModelFileError(error.problem, error.hint))
    return f"{capitalised(candidate.found.reason)} {hint}"
