"""Jobs that measure slice by slice: a run by itself, or systems side by side.

Knows: which tables show slices. Does not know: windows, how slices are chosen.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.tables import Column, Estimate, Kind, Row, Table
from gui.workspace.open_run import measured_mark
from gui.workspace.threads import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.slices import Slice, Slicing
    from engine.metrics.matching import Matched
    from engine.metrics.slices import SlicedMeasures
    from engine.ranking.weighted_scoring import SlicedWeightedScoring
    from engine.results.run_results import RunResults

DRAWN = "drawn"
"""The key of the column in which the window draws accuracies and their intervals."""

_DRAWN = Column(
    DRAWN,
    "0 to 100 %",
    Kind.ESTIMATE,
    "The accuracy as a point, its 95 % interval as a line.",
)


@dataclass(frozen=True)
class Sliced:
    """Systems on each slice of a division.

    `table`: a row for each slice; `below`: as many rows for each of them, None where there is nothing to show
    so. `measured`, `weighed`: of each system, by its place and by
    its name. `of`: what was measured, by value or itself. `said`: what is to be known of the best slice.
    """

    division: "Slicing"
    table: Table
    below: Table | None
    of: "Hashable | Sequence[Matched]"
    measured: "Sequence[SlicedMeasures]"
    weighed: "Mapping[str, SlicedWeightedScoring]" = field(default_factory=dict)
    said: Sequence[str] = ()

    @property
    def parts(self) -> "Sequence[Slice]":
        """The slices in the order of the rows."""
        return [found.part for found in self.measured[0].slices]


def measure_slices(
    results: "RunResults", gold: "Dataset | None", slicing: "Slicing", known: Sliced | None = None
) -> Job[Sliced]:
    """All slices of a run, against human labels where they fit: below, each criterion's accuracies.

    What is `known` where that would be the same.
    """

    def work(control: JobControl) -> Sliced:
        from engine.report.slices import criterion_slice_table, slice_table, slices_in_words

        mark = measured_mark(results, gold)
        if known is not None and (known.of, known.division) == (mark, slicing):
            return known
        measured = _measured(results, gold, slicing, control)
        table, below = slice_table(measured), None
        if any(found.measures for found in measured.slices):
            below = criterion_slice_table(measured)
            table = _with_drawing(table, measured)
        return Sliced(slicing, table, below, mark, [measured], said=slices_in_words(measured))

    return work


def compare_slices(
    matched: "Sequence[Matched]", slicing: "Slicing", known: Sliced | None = None
) -> Job[Sliced]:
    """All slices of systems that are compared with the same human labels: below, how often A and B win.

    What is `known` where it is of these very systems.
    """

    def work(control: JobControl) -> Sliced:
        from engine.metrics.slices import measure_slices
        from engine.ranking.weighted_scoring import weigh_by_default
        from engine.report.slices import compared_slice_table, compared_slices_in_words, compared_win_table

        if known is not None and known.of is matched and known.division == slicing:
            return known
        measured = [measure_slices(one, slicing, control.cancel) for one in matched]
        weighed = {}
        for one in matched:
            control.cancel.raise_if_requested()
            if (found := weigh_by_default(one, slicing)) is not None:
                weighed[one.system.name] = found
        table = compared_slice_table(matched, measured)
        below = compared_win_table(measured[0], weighed) if weighed else None
        said = compared_slices_in_words(matched, measured)
        return Sliced(slicing, table, below, matched, measured, weighed, said)

    return work


def _measured(
    results: "RunResults", gold: "Dataset | None", slicing: "Slicing", control: JobControl
) -> "SlicedMeasures":
    from engine.metrics import slices
    from engine.metrics.matching import match, system_of_run

    if gold is not None and results.judged:
        try:
            matched = match(system_of_run(results), gold, partial=True)
        except SetupError:  # the scores say why
            return slices.count_slices(results.answered, slicing)
        return slices.measure_slices(matched, slicing, control.cancel)
    return slices.count_slices(results.answered, slicing)


def _with_drawing(table: Table, measured: "SlicedMeasures") -> Table:
    """The table with a column to draw in, after the interval."""
    place = [column.key for column in table.columns].index("interval") + 1
    rows: list[Row] = []
    for row, found in zip(table.rows, measured.slices, strict=True):
        drawn = None if found.accuracy is None else Estimate(found.accuracy, found.interval)
        rows.append([*row[:place], drawn, *row[place:]])
    return replace(table, columns=(*table.columns[:place], _DRAWN, *table.columns[place:]), rows=rows)
