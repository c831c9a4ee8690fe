"""A dataset in numbers: items, labels by criterion as bars, what was noticed.

Knows: the engine's summary of a dataset. Does not know: how it was counted.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from engine.core.formatting import counted, words
from engine.core.items import PREFERENCES, HumanLabel, labels_beside
from gui.dataset.dataset_jobs import Counted
from gui.widgets.fields import Fold
from gui.widgets.foreign_text import plain_label
from gui.widgets.label_mark import LABEL_WORDS, ShareBar, paint_label
from gui.widgets.labels import (
    STRETCH,
    as_column,
    as_row,
    empty,
    hint,
    in_column,
    in_row,
    label,
    panel,
    set_role,
    show_text,
    take_out,
)
from gui.widgets.theme import colours

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.dataset_views import Summary

_OPENLY = 2  # this many notices are shown without a fold
_NO_LABELS = "No human labels: judgments of this dataset cannot be scored."


class LabelLegend(QWidget):
    """What the colours and letters of the labels mean, on one line."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_labels(PREFERENCES)

    def show_labels(self, labels: Sequence[HumanLabel]) -> None:
        """Name the squares of these labels."""
        self._entries = [(label, LABEL_WORDS[label]) for label in labels]
        self.setAccessibleName("Colours of the labels: " + ", ".join(text for _label, text in self._entries))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for all words and their squares."""
        metrics = self.fontMetrics()
        width = sum(
            metrics.horizontalAdvance(text) + 2.5 * metrics.ascent() for _label, text in self._entries
        )
        return QSize(math.ceil(width), metrics.height())

    def minimumSizeHint(self) -> QSize:
        """As much as it wants."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a square and a word for each label."""
        painter = QPainter(self)
        used, metrics = colours(self.palette()), self.fontMetrics()
        side = float(metrics.ascent())
        left = 0.0
        for preference, text in self._entries:
            paint_label(painter, QRectF(left, 1, side, side), preference, self.palette())
            painter.setPen(QColor(used.muted))
            painter.drawText(int(left + side + metrics.ascent() * 0.4), metrics.ascent(), text)
            left += metrics.horizontalAdvance(text) + 2.5 * metrics.ascent()
        painter.end()


class _Cells(QWidget):
    """Widgets of one size side by side, in as many lines as the width asks for."""

    def __init__(self) -> None:
        super().__init__()
        self._cells: list[QWidget] = []
        self._across = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def show_cells(self, cells: Sequence[QWidget]) -> None:
        """Show these widgets in the place of those before."""
        take_out(self._grid, self._cells)
        self._cells, self._across = list(cells), 0
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Arrange the cells anew where another number fits side by side."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        if not self._cells:
            return
        widest = max(cell.minimumSizeHint().width() for cell in self._cells) + self._grid.horizontalSpacing()
        across = min(max(1, self.width() // max(1, widest)), len(self._cells))
        if across == self._across:
            return
        for place in range(len(self._cells)):
            self._grid.setColumnStretch(place, 1 if place < across else 0)
        for place, cell in enumerate(self._cells):
            self._grid.addWidget(cell, place // across, place % across)
        self._across = across
        self.updateGeometry()


class SummaryPanel(QWidget):
    """A strip above the items."""

    def __init__(self) -> None:
        super().__init__()
        self._has_labels = False  # the whole dataset
        self._items, self._labelled = label("", "figure", wrap=False), hint("", wrap=False)
        self._cells = _Cells()
        self._legend = LabelLegend()
        self._lengths = hint("")
        self._agreement = hint("")
        self._no_labels = hint(_NO_LABELS)
        self._notices = QWidget()
        self._notice_lines = in_column(on=self._notices)
        figures = in_column(self._items, self._labelled, STRETCH, spacing=2)
        last = in_row(self._legend, (self._lengths, STRETCH), spacing=20)
        right = in_column(self._cells, self._agreement, self._no_labels, last, spacing=6)
        top = as_row(figures, (right, STRETCH), spacing=24)
        in_column(panel(top, self._notices), on=self)

    def begin(self, dataset: "Dataset") -> None:
        """Show what is known of a dataset before it is counted."""
        self._items.setText(counted(len(dataset), "item", "items"))
        self._labelled.setText("Counting …")
        self._has_labels = bool(dataset.criteria)
        self._lengths.setText("")
        self._cells.show_cells([])
        for part in (self._cells, self._legend, self._agreement, self._no_labels):
            part.setVisible(False)
        self._show_notices(dataset.notices)

    def show_summary(self, found: Counted) -> None:
        """Show the numbers of the whole dataset."""
        self._show_counts(found, "")
        self._show_notices(_all_notices(found.summary))

    def show_listed(self, found: Counted) -> None:
        """Show the numbers of the items that are listed; what was noticed stays that of the whole file."""
        self._show_counts(found, f" of {counted(found.summary.items, 'listed item', 'listed items')}")

    def _show_counts(self, found: Counted, of_what: str) -> None:
        summary = found.summary
        self._labelled.setText(f"{summary.any_label:,} labelled{of_what}")
        if self._has_labels:
            self._cells.show_cells([_criterion_cell(summary, criterion) for criterion in summary.labels])
        self._cells.setVisible(self._has_labels)
        self._legend.show_labels(
            labels_beside({label for counts in summary.labels.values() for label in counts})
        )
        self._legend.setVisible(self._has_labels)
        show_text(self._agreement, "\n".join(found.agreement))
        self._no_labels.setVisible(not self._has_labels)
        lengths = ", ".join(
            f"{title} {summary.lengths[column]:,.0f}"
            for column, title in (("instruction", "instruction"), ("output_a", "A"), ("output_b", "B"))
        )
        self._lengths.setText(f"Median length in characters{of_what}: {lengths}")

    def _show_notices(self, notices: Sequence[str]) -> None:
        empty(self._notice_lines)
        lines = [_notice(text) for text in notices]
        if len(lines) > _OPENLY:
            inside = as_column(*lines, margins=(20, 0, 0, 0))
            self._notice_lines.addWidget(Fold(f"{len(lines)} notices about this file", inside))
        for line in lines[:_OPENLY] if len(lines) <= _OPENLY else ():
            self._notice_lines.addWidget(line)
        self._notices.setVisible(bool(lines))


def _criterion_cell(summary: "Summary", criterion: str) -> QWidget:
    cell = QWidget()
    title = words(criterion).capitalize()
    labelled = summary.labelled[criterion]
    bar = ShareBar(title, without="no label")
    counts: dict[HumanLabel | None, int] = dict(summary.labels[criterion].items())
    bar.show_counts(counts | {None: summary.items - labelled})
    count = hint(f"{labelled:,}" if labelled else "no labels", wrap=False)
    count.setToolTip(f"{labelled:,} labels, {summary.explained[criterion]:,} explanations")
    above = in_row((label(title, wrap=False), STRETCH), count)
    in_column(above, bar, on=cell, spacing=3)
    return cell


def _all_notices(summary: "Summary") -> tuple[str, ...]:
    if not summary.equal_responses:
        return summary.notices
    have = "has" if summary.equal_responses == 1 else "have"
    items = counted(summary.equal_responses, "item", "items")
    return (*summary.notices, f"{items} {have} the same text as response A and response B.")


def _notice(text: str) -> QWidget:
    line = plain_label(text)
    set_role(line, "warning")
    return line
