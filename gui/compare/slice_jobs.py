"""Jobs that measure compared systems slice by slice.

Knows: which tables show slices of several systems. Does not know: windows, how slices are chosen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.core.value_tables import Table
    from engine.data.slices import Slice, Slicing
    from engine.measure.matching import Matched
    from engine.measure.slice_measures import SlicedMeasures
    from engine.weigh.slice_weighing import SlicedWeighing


@dataclass(frozen=True)
class ComparedSlices:
    """Several systems on each slice of the items that `whole` holds.

    `parts`: the slices in the order of the rows of both tables. `wins`: None where no system can be weighed.
    `measured`, `weighed`: of each system, by its place and by its name.
    """

    whole: "Sequence[Matched]"
    division: "Slicing"
    parts: "Sequence[Slice]"
    accuracy: "Table"
    wins: "Table | None"
    note: str
    measured: "Sequence[SlicedMeasures]"
    weighed: "dict[str, SlicedWeighing]"


def compare_slices(matched: "Sequence[Matched]", slicing: "Slicing") -> Job[ComparedSlices]:
    """All slices of a division, of systems that are held against the same human labels."""

    def work(control: JobControl) -> ComparedSlices:
        from engine.measure.slice_measures import measure_slices
        from engine.report.slice_tables import compared_slice_table, compared_win_table, slices_note
        from engine.weigh.slice_weighing import weigh_as_usual

        measured = [measure_slices(one, slicing, control.cancel) for one in matched]
        weighed = {}
        for one in matched:
            control.cancel.raise_if_requested()
            if (found := weigh_as_usual(one, slicing)) is not None:
                weighed[one.system.name] = found
        accuracy = compared_slice_table(matched, measured)
        wins = compared_win_table(measured[0], weighed) if weighed else None
        return ComparedSlices(
            whole=matched,
            division=slicing,
            parts=[found.part for found in measured[0].slices],
            accuracy=accuracy,
            wins=wins,
            note=slices_note([accuracy, *([wins] if wins else [])]),
            measured=measured,
            weighed=weighed,
        )

    return work
