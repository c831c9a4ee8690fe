"""Jobs on the columns of a foreign file: what they hold and seem to be, its first rows as they would be read.

Knows: how a file is looked into. Does not know: windows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.column_map import NO_LABEL, ColumnMap, Confidence
from engine.core.errors import ColumnsError
from engine.core.items import HUMAN_LABELS
from engine.core.rubric import Rubric
from gui.work.lanes import Job, JobControl

if TYPE_CHECKING:
    from engine.data.column_content import Sample

ITEMS_SHOWN = 3


@dataclass(frozen=True)
class Foreign:
    """What a file holds. `offers`: sources that may be chosen; `map`: what is remembered, else guessed.

    `of_labels`: columns of few values, as labels are. `confidence`: by column of ours, of those that were
    guessed.
    """

    columns: Sequence[str]
    offers: Sequence[str]
    of_labels: Sequence[str]
    map: ColumnMap
    confidence: Mapping[str, Confidence]
    sample: "Sample"


@dataclass(frozen=True)
class FirstItems:
    """The first rows by a map: our columns with their texts; what is wrong with it.

    `values`: of the label columns, with how often each occurs in the rows that were looked at; None where
    there are too many to name. Those that nobody has said anything of are read as no label. `meant`: what
    those mean that say so by themselves.
    """

    items: Sequence[Mapping[str, str]]
    problems: Sequence[str]
    values: Mapping[str, int] | None
    meant: Mapping[str, str]


def look_into(path: Path, rubric: Rubric) -> Job[Foreign]:
    """What a file holds, and what its columns seem to be; labels on the criteria of a rubric.

    SetupError, Cancelled.
    """

    def work(control: JobControl) -> Foreign:
        from engine.data import column_content
        from engine.data.column_guess import guess_columns
        from engine.system.column_memory import remembered

        sample = column_content.look_into(path, may_be_empty=False, cancel=control.cancel)
        of_labels = [column for column in sample.columns if sample.values(column)]
        columns = remembered(sample.file_columns)  # as they are looked up where the file is read
        confidence: Mapping[str, Confidence] = {}
        if columns is None:
            guess = guess_columns(sample, rubric)
            columns, confidence = guess.map, guess.confidence
        return Foreign(sample.columns, sample.offers, of_labels, columns, confidence, sample)

    return work


def preview(foreign: Foreign, columns: ColumnMap, rubric: Rubric) -> Job[FirstItems]:
    """The first rows of a file by a map, and the values of its labels."""

    def work(_control: JobControl) -> FirstItems:
        from engine.data.column_content import MOST_VALUES, said_meanings
        from engine.data.mapped_table import MappedTable

        values: dict[str, int] = {}
        for name, source in columns.sources:
            if name.endswith("_preference") and source and ">" not in source:
                for value, count in foreign.sample.source_values(source).items():
                    values[value] = values.get(value, 0) + count
        meant = said_meanings(values)
        shown = values if len(values) <= MOST_VALUES else None
        table = foreign.sample.table.first(len(foreign.sample.rows))
        unsaid = {value: NO_LABEL for value in values if value not in HUMAN_LABELS}
        try:
            mapped = MappedTable(table, ColumnMap.of(columns.source_of, unsaid | columns.meaning_of), rubric)
        except ColumnsError as error:
            return FirstItems((), error.problems, shown, meant)
        items = [row.cells for row in mapped.rows()]
        too_many = [f"{len(values):,} values of labels are too many to name."] if shown is None else []
        return FirstItems(items[:ITEMS_SHOWN], (*too_many, *mapped.problems), shown, meant)

    return work
