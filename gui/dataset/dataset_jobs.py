"""Jobs on the items of a dataset: which of them a table shows, what they hold in numbers.

Knows: how items are found and counted for the page. Does not know: windows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.data.dataset_summary import Summary
    from engine.data.item_search import Rows


@dataclass(frozen=True)
class Counted:
    """What a dataset holds, in numbers, and how far its annotators agree, in sentences."""

    summary: "Summary"
    agreement: Sequence[str] = ()


@dataclass(frozen=True)
class ItemQuery:
    """Which items a table shows: those with every word of `text`, sorted by a column where one is named.

    `others`: further columns of the file that are searched. `part`: only items with these ids; None for all.
    """

    text: str = ""
    column: str = ""
    descending: bool = False
    others: tuple[str, ...] = ()
    part: frozenset[str] | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """What is searched for."""
        return tuple(self.text.split())

    @property
    def all_in_file_order(self) -> bool:
        """True where nothing has to be searched or sorted."""
        return not self.narrows and not self.column

    @property
    def narrows(self) -> bool:
        """True where not all items are shown."""
        return bool(self.words) or self.part is not None


def order(dataset: "Dataset", wanted: ItemQuery) -> "Job[Rows]":
    """The rows that a table shows, in its order."""

    def work(control: JobControl) -> "Rows":
        from engine.data.item_search import matching_rows, rows_of, sorted_rows

        rows = matching_rows(dataset, wanted.text, control.cancel, wanted.others)
        if wanted.part is not None:
            rows = rows_of(dataset, rows, wanted.part)
        control.cancel.raise_if_requested()
        return sorted_rows(dataset, rows, wanted.column, wanted.descending) if wanted.column else rows

    return work


def summary(dataset: "Dataset", rows: Sequence[int] | None = None) -> Job[Counted]:
    """What a dataset holds, in numbers; or what the items at some places hold."""

    def work(_control: JobControl) -> Counted:
        from engine.data.dataset_summary import summary_of

        part = dataset if rows is None else dataset.at(rows)
        if not dataset.annotators:
            return Counted(summary_of(part))
        from engine.measure.people_agreement import annotator_agreement
        from engine.report.people_tables import among_in_words

        agreement = annotator_agreement(part)
        return Counted(summary_of(part), among_in_words(agreement) if agreement else ())

    return work
