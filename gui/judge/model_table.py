"""The model files to choose from, for a view: those that can judge first, then those that cannot.

Knows: candidates, Qt's item models. Does not know: how they are found.
"""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QSortFilterProxyModel, Qt
from PySide6.QtGui import QPalette

from engine.core.formatting import amount, counted, short_count, visible
from gui.judge.model_jobs import Candidate
from gui.kit.foreign_text import one_line, tip
from gui.kit.notice import problem_of
from gui.kit.pill_delegate import PILL_ROLE
from gui.kit.value_table import SORT_ROLE, Index

COLUMNS = ("Model", "Memory", "Format", "Params", "Size", "Context")
MODEL, MEMORY, FORMAT, PARAMETERS, SIZE, CONTEXT = range(len(COLUMNS))
_TIPS = (
    "The name of the file; the name in its header, where it says more, is in the tool tip of its row",
    "Whether the model fits the free memory with the context that is set",
    "How its weights are stored",
    "Parameters",
    "Size of the file, of all parts where it is split",
    "The context that it was trained with, in tokens",
)
USABLE_ROLE = SORT_ROLE + 1
FIT_ROLES = {"fits": "good", "tight": "warning", "does not fit": "bad"}
_NUMBERS = (PARAMETERS, SIZE, CONTEXT)


class ModelTableModel(QAbstractTableModel):
    """One row for each file that was found."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Candidate] = []
        self._palette = QPalette()

    @property
    def candidates(self) -> list[Candidate]:
        """All rows."""
        return list(self._rows)

    def candidate(self, row: int) -> Candidate:
        """One row."""
        return self._rows[row]

    def row_of(self, path: Path) -> int | None:
        """Where a file is; None where it is not there."""
        wanted = path.absolute()
        return next(
            (row for row, candidate in enumerate(self._rows) if candidate.path.absolute() == wanted), None
        )

    def clear(self) -> None:
        """Show nothing."""
        self.beginResetModel()
        self._rows = []
        self.endResetModel()

    def put(self, candidate: Candidate) -> None:
        """Add a file, or describe one anew that is there."""
        row = self.row_of(candidate.path)
        if row is not None:
            self._rows[row] = candidate
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(COLUMNS) - 1))
            return
        end = len(self._rows)
        self.beginInsertRows(QModelIndex(), end, end)
        self._rows.append(candidate)
        self.endInsertRows()

    def use_palette(self, palette: QPalette) -> None:
        """Draw with other colours from now on."""
        self._palette = palette

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many files there are."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """How many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The names of the columns."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section in _NUMBERS else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return _TIPS[section] if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows, its pill, its value for sorting."""
        if not index.isValid():
            return None
        candidate, column = self._rows[index.row()], index.column()
        answer: Any = None
        if role == Qt.ItemDataRole.DisplayRole:
            answer = one_line(_text(candidate, column))
        elif role == SORT_ROLE:
            answer = _value(candidate, column)
        elif role == USABLE_ROLE:
            answer = candidate.found.model is not None
        elif role == PILL_ROLE:
            answer = _pill(candidate, column)
        elif role == Qt.ItemDataRole.ToolTipRole:
            answer = tip(about(candidate))
        elif role == Qt.ItemDataRole.TextAlignmentRole and column in _NUMBERS:
            answer = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        elif role == Qt.ItemDataRole.ForegroundRole and candidate.found.model is None:
            answer = self._palette.placeholderText()
        return answer


def _text(candidate: Candidate, column: int) -> str:
    model = candidate.found.model
    if column == MODEL:
        return candidate.name
    if model is None:
        return "not usable" if column == MEMORY else ""
    return {
        MEMORY: str(candidate.fit),
        FORMAT: model.quantisation,
        PARAMETERS: short_count(model.parameters),
        SIZE: amount(model.size_bytes),
        CONTEXT: f"{model.trained_context:,}",
    }[column]


def _value(candidate: Candidate, column: int) -> float | str:
    model = candidate.found.model
    if column in (MODEL, FORMAT):
        return _text(candidate, column).casefold()
    if model is None or candidate.estimate is None:
        return -1.0
    return float(
        {
            MEMORY: candidate.estimate.total,
            PARAMETERS: model.parameters,
            SIZE: model.size_bytes,
            CONTEXT: model.trained_context,
        }[column]
    )


def _pill(candidate: Candidate, column: int) -> tuple[str, str] | None:
    if column == MODEL and candidate.is_demo:
        return "demo", "plain"
    if column != MEMORY:
        return None
    return (
        ("not usable", "plain")
        if candidate.fit is None
        else (str(candidate.fit), FIT_ROLES[str(candidate.fit)])
    )


def in_short(candidate: Candidate) -> str:
    """The whole name of a model that can judge, and what to know of it before a run, else its other name."""
    model = candidate.found.model
    if model is None:
        return candidate.name
    other = f", called {model.other_name} in its header" if model.other_name else ""
    return "\n".join(f"{model.name}: {remark}" for remark in model.remarks) or f"{model.name}{other}"


def about(candidate: Candidate) -> str:
    """All that a person may want to know of a file before choosing it."""
    model = candidate.found.model
    more = len(model.more_files) if model else 0
    parts = f" and {counted(more, 'other part', 'other parts')}" if more else ""
    lines = [visible(candidate.name), f"{candidate.path}{parts}, found in {candidate.found.source}"]
    if model is not None and model.other_name:
        lines.append(f"Called {visible(model.other_name)} in its header.")
    if model is None:
        if candidate.found.error is not None:
            lines += problem_of(candidate.found.error)
        return "\n".join(lines)
    if candidate.estimate is not None:
        lines.append(
            f"Needs about {amount(candidate.estimate.total)} with a context of {candidate.context:,} tokens"
            f" (weights {amount(candidate.estimate.weights)},"
            f" KV cache {amount(candidate.estimate.kv_cache)},"
            f" buffers {amount(candidate.estimate.buffers)}); {amount(candidate.free)} are free."
        )
    lines.append(
        f"{model.architecture}, parameters: {model.size_in_words}, trained with"
        f" {model.trained_context:,} tokens of context."
    )
    lines += [remark[:1].upper() + remark[1:] for remark in model.remarks]
    return "\n".join(lines)


class ModelOrder(QSortFilterProxyModel):
    """Rows filtered by their texts and sorted by values; what is not usable is last in any order."""

    def __init__(self, source: ModelTableModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.setSourceModel(source)
        self.setSortRole(SORT_ROLE)
        self.setFilterKeyColumn(-1)
        self.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)

    def lessThan(self, left: Index, right: Index) -> bool:
        """By the value of the column, among the usable and among the others."""
        usable = [bool(side.data(USABLE_ROLE)) for side in (left, right)]
        if usable[0] != usable[1]:
            return usable[0] is (self.sortOrder() is Qt.SortOrder.AscendingOrder)
        return bool(left.data(SORT_ROLE) < right.data(SORT_ROLE))
