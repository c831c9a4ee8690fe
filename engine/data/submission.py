r"""Write a dataset to a file, as TSV, JSON or Parquet: `load_dataset` reads the same cells back.

Write, read and check the task's two TSV formats.

Sub-task 1: `id`, then `<criterion>_preference` for each criterion. Sub-task 2: the same with
`<criterion>_explanation` after each preference. Whoever scores a submission may read it with a plain
`pandas.read_csv(path, sep="\t")`; what is written here comes back from that unchanged.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO, StringIO
from pathlib import Path

import pyarrow as pa

from engine.core import items
from engine.core.errors import FileKind, InputError, SetupError
from engine.core.formatting import listed, quoted
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.arrow_arrays import text_array
from engine.data.column_content import read_sample
from engine.data.column_guess import guess_columns
from engine.data.dataset import Dataset, check_id, column_problems, label_problem
from engine.data.file_format import FileFormat, plain_stem
from engine.data.file_kinds import expecting
from engine.data.outputs import single_outputs
from engine.data.tables import SourceTable, open_table
from engine.system.files import write_json, write_whole
from engine.system.sandbox import sandboxed

_PREFERENCE = "_preference"
_EXPLANATION = "_explanation"
_MOST_COLUMNS_SHOWN = 20

_SAY_WHICH_TIE = "Label it on Review: a submission says whether both responses are good, or both are bad."


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    id: str
    predictions: Mapping[str, items.Prediction]


@dataclass(frozen=True)
class Submission:
    """Predictions for the `criteria`, in the order of their columns; `path` is where they were read."""

    rows: tuple[SubmissionRow, ...]
    criteria: tuple[str, ...]
    with_explanations: bool
    path: Path | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return submission_columns(self.criteria, self.with_explanations)

    def labels_only(self) -> "Submission":
        """The same predictions without explanations: what sub-task 1 asks for."""
        return replace(self, with_explanations=False)


def submission_columns(criteria: Iterable[str], with_explanations: bool) -> tuple[str, ...]:
    """The columns of a submission for these criteria, in order."""
    parts = (_PREFERENCE, _EXPLANATION) if with_explanations else (_PREFERENCE,)
    return ("id", *(f"{name}{part}" for name in criteria for part in parts))


def write_submission(path: Path, submission: Submission) -> None:
    """Write a submission whole or not at all; an unscored prediction is an empty cell.

    Raises SetupError where the file cannot be written, an id or explanation would not come back, or a label
    is none that a judge may give.
    """
    rows = [tuple(_cells(row, submission)) for row in submission.rows]
    _refuse_unsafe(submission.columns, rows)
    lines = ["\t".join(submission.columns)]
    lines += ["\t".join(map(quoted_cell, row)) for row in rows]
    write_whole(path, "".join(f"{line}\n" for line in lines).encode("utf-8"))


def read_submission(path: Path, ties: bool = False) -> Submission:
    """The submission in a TSV file, for whichever criteria its columns name; an empty cell is unscored.
    `ties`: a label may be a mere tie, as those of other judges are.

    Raises SetupError where the file cannot be read, InputError with all problems found in it: another
    format, a dataset, columns out of order, missing or foreign, an unknown label, an id that is empty or
    used twice.
    """
    with expecting(path, FileKind.SUBMISSION):
        columns, rows = _sound_rows(path, ties)
    criteria, with_explanations = _named_in(columns)
    at = columns.index("id")
    known: dict[tuple[str, ...], Mapping[str, items.Prediction]] = {}  # once for all rows that say the same
    made = []
    for cells in rows:
        item_id, said = cells[at], cells[:at] + cells[at + 1 :]
        predictions = known.get(said) or predictions_in(dict(zip(columns, cells, strict=True)), criteria)
        if not with_explanations:
            known[said] = predictions
        made.append(SubmissionRow(item_id, predictions))
    return Submission(tuple(made), criteria, with_explanations, path)


@sandboxed
def _sound_rows(path: Path, ties: bool) -> tuple[Sequence[str], Sequence[tuple[str, ...]]]:
    """The columns of a submission and the cells of each row, nothing of which is wrong."""
    # Texts alone: to send the rows made of them from process to process takes as long as to make them.
    table = open_table(path, exact=True)
    if not any(name.endswith(_PREFERENCE) for name in table.first_columns()):
        sample = read_sample(table)
        if (single := single_outputs(sample, guess_columns(sample, ELOQUENT))) is not None:
            raise single
    if table.data_format is not FileFormat.TSV:
        raise InputError(
            table.path,
            [f"is {table.data_format}; a submission is TSV, with tabs between its columns."],
            "Export it as .tsv, or choose the .tsv file.",
        )
    table.problems += _header_problems(table, submission_columns(*_named_in(table.columns)))
    first_rows: dict[str, int] = {}
    rows = []
    for row in table.rows():
        for name, text in row.cells.items():
            if name.endswith(_PREFERENCE) and text and (problem := _label_problem(text, ties)):
                table.report(row.number, problem, name)
        check_id(table, row, first_rows)
        if not table.problems:
            rows.append(tuple(row.cells.values()))
    table.raise_problems()
    if not rows:
        raise table.no_rows()
    return table.columns, rows


def check_submission(submission: Submission, dataset: Dataset, rubric: Rubric | None = None) -> list[str]:
    """What keeps a submission from being complete for this dataset; nothing if all is well.

    `rubric`: whose criteria it must have; None for those of the task, and the official one. Unknown labels
    cannot occur here: read_submission refuses them.
    """
    return [
        *_column_differences(submission, rubric or ELOQUENT),
        *_id_differences([row.id for row in submission.rows], dataset.ids),
        *_empty_cells(submission),
    ]


def quoted_cell(cell: str, between: str = "\t") -> str:
    """A cell as a submission writes it: in quotes where it would else end the cell or the row.

    `between`: what stands between two cells.
    """
    # csv.writer leaves a lone carriage return bare before Python 3.13, and pandas then ends the row there.
    if not any(mark in cell for mark in (between, "\n", "\r", '"')):
        return cell
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'


def _cells(row: SubmissionRow, submission: Submission) -> Iterator[str]:
    yield row.id
    for name in submission.criteria:
        prediction = row.predictions.get(name, items.Prediction())
        yield prediction.preference or ""
        if submission.with_explanations:
            yield prediction.explanation or ""


def _refuse_unsafe(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    labels = [place for place, column in enumerate(columns) if column.endswith(_PREFERENCE)]
    for row in rows:
        for place in labels:
            if row[place] and (problem := _label_problem(row[place])):
                raise SetupError(f"{columns[place]} of id {quoted(row[0])}: {problem}", _SAY_WHICH_TIE)
    if lost := items.unwritable_ids([item_id for item_id, *_ in rows]):
        raise SetupError(
            f"pandas would not read back these ids: {listed(lost, shown=quoted)}.",
            "Rename these ids in the dataset.",
        )
    unsafe = [
        f"{column} of id {quoted(row[0])} ({quoted(cell)})"
        for row in rows
        for column, cell in zip(columns, row, strict=True)
        if cell and column.endswith(_EXPLANATION) and items.unsafe_explanation(cell)
    ]
    if unsafe:
        raise SetupError(
            f"pandas would not read back these explanations: {listed(unsafe, shown=str)}.",
            "Use a sentence as explanation.",
        )


def _header_problems(table: SourceTable, expected: Sequence[str]) -> list[str]:
    problems = column_problems(table, ["id"], list(dict.fromkeys(table.columns)))
    if len(expected) == 1:
        return [*problems, "no column names a criterion (such as 'relevance_preference')."]
    if not problems and tuple(table.columns) != tuple(expected):
        found, wanted = listed(table.columns, _MOST_COLUMNS_SHOWN), listed(expected, _MOST_COLUMNS_SHOWN)
        problems.append(f"the columns are {found}; in a submission they are {wanted}.")
    return problems


def _label_problem(text: str, ties: bool = False) -> str | None:
    if text == items.Tie.TIE:
        if ties:
            return None
        return f"{quoted(str(text))} is not a prediction: write which tie, {' or '.join(items.TIES)}."
    return label_problem(text, items.PREFERENCES)


def _named_in(columns: Iterable[str]) -> tuple[tuple[str, ...], bool]:
    """The criteria that columns name, and whether there are explanations."""
    columns = list(columns)
    criteria = tuple(name.removesuffix(_PREFERENCE) for name in columns if name.endswith(_PREFERENCE))
    return criteria, any(name.endswith(_EXPLANATION) for name in columns)


def predictions_in(
    cells: Mapping[str, str], criteria: Iterable[str], sure: float | None = None
) -> Mapping[str, items.Prediction]:
    """What the cells of a row say, by criterion; `sure`: how sure whoever gave its labels is of them."""
    said = ((name, cells.get(name + _PREFERENCE), cells.get(name + _EXPLANATION)) for name in criteria)
    return {
        name: items.Prediction(
            items.written_label(label) if label else None, told or None, sure if label else None
        )
        for name, label, told in said
    }


def _column_differences(submission: Submission, rubric: Rubric) -> Iterator[str]:
    """Of criteria of the task the official columns, in their order; of a rubric of one's own its columns."""
    of_task = set(rubric.names) <= set(ELOQUENT.names)
    wanted = submission_columns((ELOQUENT if of_task else rubric).names, submission.with_explanations)
    whose = "official columns" if of_task else f"columns of the rubric {rubric.name}"
    if missing := [name for name in wanted if name not in submission.columns]:
        yield f"{whose} are missing: {listed(missing, len(missing))}."
    if foreign := [name for name in submission.columns if name not in wanted]:
        yield f"columns are not {'official' if of_task else 'of the rubric'}: {listed(foreign)}."
    shared = [name for name in wanted if name in submission.columns]
    if of_task and shared != [name for name in submission.columns if name in wanted]:
        yield f"columns are out of order; the official order is {', '.join(wanted)}."


def _id_differences(ids: Sequence[str], expected: Sequence[str]) -> Iterator[str]:
    known, present = set(expected), set(ids)
    if missing := [item_id for item_id in expected if item_id not in present]:
        yield f"ids missing ({len(missing):,} of {len(expected):,}): {listed(missing)}."
    if extra := [item_id for item_id in dict.fromkeys(ids) if item_id not in known]:
        yield f"ids that are not in the dataset ({len(extra):,}): {listed(extra)}."
    if twice := [item_id for item_id, count in Counter(ids).items() if count > 1]:
        yield f"ids that occur more than once ({len(twice):,}): {listed(twice)}."


def _empty_cells(submission: Submission) -> Iterator[str]:
    for name in submission.criteria:
        made = [(row.id, row.predictions.get(name, items.Prediction())) for row in submission.rows]
        if unscored := [item_id for item_id, prediction in made if prediction.preference is None]:
            yield f"empty cells in {name}{_PREFERENCE} ({len(unscored):,}): ids {listed(unscored)}."
        unexplained = [item_id for item_id, prediction in made if not prediction.explanation]
        if submission.with_explanations and unexplained:
            yield f"empty cells in {name}{_EXPLANATION} ({len(unexplained):,}): ids {listed(unexplained)}."


Cell = str | float | None
"""What stands in one: a text, a number, or nothing, which is read as an empty text."""
Columns = Mapping[str, Sequence[Cell]]


def write_dataset(path: Path, columns: Columns) -> None:
    """Write columns of one length in the format that the suffix names, whole or not at all. SetupError."""
    check_suffix(path)
    match path.suffix.lower():
        case ".json":
            write_json(
                path, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
            )
        case ".parquet":
            from pyarrow import parquet  # noqa: PLC0415

            written = BytesIO()
            parquet.write_table(pa.table({name: _array(cells) for name, cells in columns.items()}), written)
            write_whole(path, written.getvalue())
        case _:
            with_header = [columns.keys(), *zip(*columns.values(), strict=True)]
            lines = ("\t".join(quoted_cell(_text(cell)) for cell in row) for row in with_header)
            write_whole(path, "".join(f"{line}\n" for line in lines).encode("utf-8"))


def check_suffix(path: Path) -> None:
    """Raise SetupError for a name that says none of the formats in which a dataset is written."""
    if path.suffix.lower() not in (".tsv", ".json", ".parquet"):
        stem = plain_stem(path)
        raise SetupError(
            f"{path.name}: a dataset is written as TSV, JSON or Parquet.",
            f"Name it {stem}.tsv, {stem}.json or {stem}.parquet.",
        )


def _array(cells: Sequence[Cell]) -> pa.Array:
    if any(isinstance(cell, float) for cell in cells):
        return pa.array(cells, pa.float64())
    return text_array([_text(cell) for cell in cells])


def _text(cell: Cell) -> str:
    return "" if cell is None else cell if isinstance(cell, str) else repr(cell)


def rewritten_ids(ids: Sequence[str]) -> list[str]:
    """The writable ids that a plain pandas.read_csv of the whole column gives back otherwise: 007 becomes 7.

    Whoever reads the dataset in the same way gets the same, so that such ids are no fault of a submission.
    """
    import pandas as pd  # noqa: PLC0415 - what reads and writes submissions need not wait for it

    lost = set(items.unwritable_ids(ids))
    written = [item_id for item_id in ids if item_id not in lost]
    # The second column keeps pandas from skipping an id of spaces as a blank line.
    text = "id\trest\n" + "".join(f"{quoted_cell(item_id)}\t\n" for item_id in written)
    read = pd.read_csv(StringIO(text), sep="\t", low_memory=False)["id"].astype(str)
    return [item_id for item_id, back in zip(written, read, strict=True) if item_id != back]
