"""Jobs on datasets: a foreign file's columns, which items a table shows, numbers, pairs out of outputs."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.column_map import NO_LABEL, OF_OUTPUTS, ColumnMap, Confidence, parse_columns
from engine.core.errors import ColumnsError
from engine.core.items import HUMAN_LABELS
from engine.core.rubric import Rubric
from engine.core.tables import Sheet
from engine.settings.sampling import PairsPlan
from engine.system.files import check_targets
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.data.column_content import Sample
    from engine.data.dataset import Dataset
    from engine.data.dataset_views import Rows, Summary
    from engine.data.pairs import MatchedOutputs

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
    those mean that say so by themselves. `doubts`: what speaks against the map, the strongest first.
    """

    items: Sequence[Mapping[str, str]]
    problems: Sequence[str]
    values: Mapping[str, int] | None
    meant: Mapping[str, str]
    doubts: Sequence[str] = ()


@job
def look_into(control: JobControl, path: Path, rubric: Rubric) -> Foreign:
    """What a file holds, and what its columns seem to be; labels on the criteria of a rubric.

    SetupError, Cancelled.
    """
    from engine.data import column_content
    from engine.data.column_guess import guess_columns
    from engine.data.recognition import known_as, remembered

    sample = column_content.look_into(path, may_be_empty=False, cancel=control.cancel)
    of_labels = [column for column in sample.columns if sample.values(column)]
    columns = remembered(sample.file_columns)  # as they are looked up where the file is read
    confidence: Mapping[str, Confidence] = {}
    if columns is None and (known := known_as(sample)) is not None and known.kind == "pairs":
        columns = known.map_for(rubric)
        confidence = dict.fromkeys(columns.source_of, Confidence.SURE)
    if columns is None:
        guess = guess_columns(sample, rubric)
        columns, confidence = guess.map, guess.confidence
    return Foreign(sample.columns, sample.offers, of_labels, columns, confidence, sample)


@job
def preview(_control: JobControl, foreign: Foreign, columns: ColumnMap, rubric: Rubric) -> FirstItems:
    """The first rows of a file by a map, and the values of its labels."""
    from engine.data.column_content import MOST_VALUES, said_meanings
    from engine.data.mapped_table import MappedTable
    from engine.data.reading import signs_of_columns
    from engine.data.signs import Signs

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
    signs = Signs()
    for cells in items:
        signs.add(cells)
    found = [*signs.found(), *signs_of_columns(foreign.sample, columns)]
    doubts = [f"{sign.text}." for sign in sorted(found, key=lambda sign: not sign.strong)]
    problems = [f"{len(values):,} values of labels are too many to name."] if shown is None else []
    if not columns.skip_bad_rows or not items:
        problems += mapped.problems
    return FirstItems(items[:ITEMS_SHOWN], problems, shown, meant, doubts)


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
        return tuple(self.text.split())

    @property
    def narrows(self) -> bool:
        return bool(self.words) or self.part is not None


@job
def order(control: JobControl, dataset: "Dataset", wanted: ItemQuery) -> "Rows":
    from engine.data.dataset_views import matching_rows, rows_of, sorted_rows

    rows = matching_rows(dataset, wanted.text, control.cancel, wanted.others)
    if wanted.part is not None:
        rows = rows_of(dataset, rows, wanted.part)
    control.cancel.raise_if_requested()
    return sorted_rows(dataset, rows, wanted.column, wanted.descending) if wanted.column else rows


@job
def with_tabs(control: JobControl, dataset: "Dataset", rows: Sequence[int], columns: Sequence[str]) -> str:
    """Cells for a spreadsheet; one of several lines is in quotes."""
    text = io.StringIO()
    writer = csv.writer(text, csv.excel_tab, lineterminator="\n")
    texts = [dataset.texts(column) for column in columns]
    for row in rows:
        control.cancel.raise_if_requested()
        writer.writerow([each[row].as_py() for each in texts])
    return text.getvalue()


@job
def summary(_control: JobControl, dataset: "Dataset", rows: Sequence[int] | None = None) -> Counted:
    """What a dataset holds, in numbers; or what the items at some places hold."""
    from engine.data.dataset_views import summary_of

    part = dataset if rows is None else dataset.at(rows)
    if not dataset.annotators:
        return Counted(summary_of(part))
    from engine.metrics.annotator_agreement import annotator_agreement
    from engine.report.annotators import among_in_words

    agreement = annotator_agreement(part)
    return Counted(summary_of(part), among_in_words(agreement) if agreement else ())


@dataclass(frozen=True)
class FoundOutputs:
    """What files have in common, and how it is shown. `read`: the files, by what they are."""

    matched: "MatchedOutputs"
    sheet: Sheet
    read: Mapping[str, Path]


@job
def match_files(
    control: JobControl, paths: Sequence[Path], columns: str, instructions: Path | None
) -> FoundOutputs:
    """What the outputs in some files have in common.

    `columns`: what is read of them, as it is written on one line; what it leaves out is guessed. SetupError.
    """
    from engine.data.outputs import read_instructions, read_outputs
    from engine.data.pairs import match_outputs
    from engine.report.pairs import found_sections

    sources = parse_columns(columns, OF_OUTPUTS)
    asked = read_instructions(instructions, sources, control.cancel) if instructions else None
    matched = match_outputs([read_outputs(path, sources, control.cancel) for path in paths], asked)
    sheet = Sheet("Outputs", found_sections(matched))
    read = {f"file of {one.outputs.candidate}": one.outputs.path for one in matched.kept}
    if instructions is not None:
        read["file of the instructions"] = instructions
    return FoundOutputs(matched, sheet, read)


@job
def write_pairs(_control: JobControl, found: FoundOutputs, plan: PairsPlan, path: Path) -> Path:
    """Make the pairs and write them as a dataset; where it is. SetupError."""
    from engine.data.pairs import make_pairs
    from engine.data.submission import check_suffix

    check_suffix(path)
    check_targets({"The dataset": path}, found.read)
    make_pairs(found.matched, plan).write(path)
    return path
