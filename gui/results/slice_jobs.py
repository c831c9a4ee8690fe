"""Jobs that measure a run slice by slice.

Knows: which tables show slices. Does not know: windows, how slices are chosen.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.measure_words import NO_WIDTH
from engine.core.value_tables import Column, Estimate, Kind, Row, Table
from gui.work.lanes import Job, JobControl
from gui.work.marks import measured_mark

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.slices import Slicing
    from engine.decisions.run_results import RunResults
    from engine.measure.slice_measures import SlicedMeasures

DRAWN = "drawn"
"""The key of the column in which the window draws accuracies and their intervals."""

_DRAWN = Column(
    DRAWN,
    "0 to 100 %",
    Kind.ESTIMATE,
    f"The accuracy as a point, its 95 % interval as a line, where it has any width. {NO_WIDTH}",
)


@dataclass(frozen=True)
class SliceScores:
    """A run slice by slice. `tables`: all slices, then, with human labels, each criterion's accuracies.

    `note`: what is to be said of many slices. `mark`: what all of it depends on, by value.
    """

    measured: "SlicedMeasures"
    tables: tuple[Table, ...]
    note: str
    mark: Hashable = None


def measure_slices(
    results: "RunResults", gold: "Dataset | None", slicing: "Slicing", known: SliceScores | None = None
) -> Job[SliceScores]:
    """All slices of a division, against human labels where they fit; what is `known` where it is the same."""

    def work(control: JobControl) -> SliceScores:
        from engine.report.slice_tables import criterion_slice_table, slice_table, slices_note

        mark = measured_mark(results, gold), slicing
        if known is not None and known.mark == mark:
            return known
        measured = _measured(results, gold, slicing, control)
        whole = slice_table(measured)
        if not any(found.measures for found in measured.slices):
            return SliceScores(measured, (whole,), slices_note([whole]), mark)
        tables = (_with_drawing(whole, measured), criterion_slice_table(measured))
        return SliceScores(measured, tables, slices_note(tables), mark)

    return work


def _measured(
    results: "RunResults", gold: "Dataset | None", slicing: "Slicing", control: JobControl
) -> "SlicedMeasures":
    from engine.measure import slice_measures
    from engine.measure.matching import match
    from engine.measure.systems import system_of_run

    if gold is not None and results.judged:
        try:
            matched = match(system_of_run(results), gold, partial=True)
        except SetupError:  # the scores say why
            return slice_measures.count_slices(results, slicing)
        return slice_measures.measure_slices(matched, slicing, control.cancel)
    return slice_measures.count_slices(results, slicing)


def _with_drawing(table: Table, measured: "SlicedMeasures") -> Table:
    """The table with a column to draw in, after the interval."""
    place = [column.key for column in table.columns].index("interval") + 1
    rows: list[Row] = []
    for row, found in zip(table.rows, measured.slices, strict=True):
        drawn = None if found.accuracy is None else Estimate(found.accuracy, found.interval)
        rows.append([*row[:place], drawn, *row[place:]])
    return replace(table, columns=(*table.columns[:place], _DRAWN, *table.columns[place:]), rows=rows)
