"""Load a dataset: items as text, never repaired, with the human labels that are there.

Long because the rows of a table are checked, packed by column and told in one pass.
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.core.column_map import (
    CANDIDATES,
    GENERATED_WITH,
    RECORDS,
    ColumnMap,
    annotators_among,
    label_columns,
    parted,
)
from engine.core.errors import ColumnsError, FileKind, Hint, HintPart, InputError, Setting, Step
from engine.core.events import CancelToken
from engine.core.formatting import counted, listed, quoted
from engine.core.items import (
    BACKGROUND,
    HUMAN_LABELS,
    Gold,
    HumanLabel,
    Item,
    content_hash,
    digest_of_lists,
    written_label,
)
from engine.core.numeric import FloatArray, IntArray
from engine.core.rubric import ELOQUENT, Rubric
from engine.data.arrow_arrays import number_array, text_array, to_numpy
from engine.data.catalogue import Known
from engine.data.column_content import Sample, read_sample
from engine.data.column_guess import guess_columns
from engine.data.file_kinds import RunCsvTable, expecting, is_run_csv
from engine.data.mapped_table import MappedTable, own_annotators, unknown_labels
from engine.data.other_columns import OtherColumns
from engine.data.outputs import single_outputs
from engine.data.recognition import known_as, remembered, unread
from engine.data.signs import ReadingSign, Signs
from engine.data.tables import SourceRow, SourceTable, open_table
from engine.system.sandbox import sandboxed

TEXT_COLUMNS = ("instruction", "output_a", "output_b")
REQUIRED_COLUMNS = ("id", *TEXT_COLUMNS)
_REQUIRED = frozenset(REQUIRED_COLUMNS)
_SOUND_LABELS = frozenset(("", *HUMAN_LABELS))

_ROWS_AT_ONCE = 2048
_MOST_GOLDS = 4096  # combinations of labels of one item that are kept
_CHECKED_AT_ONCE = 256  # whose problems are never as many as keep a table from being read on
_MOST_COLUMNS_SHOWN = 20
_MOST_SKIPPED_SHOWN = 5
_NEAR = 0.7
# Above the likeness of two criteria's columns: those of naturalness and truthfulness come to 0.81.
_NEAR_AMONG_CRITERIA = 0.82
# Bytes 0x80 to 0xBF as Windows programs show them: what follows the first byte of a UTF-8 character.
_TAIL = f"[\x80-\x9f{re.escape(bytes(range(0x80, 0xC0)).decode('cp1252', errors='ignore'))}]"
# Begins with one set of characters: searched four times faster than plain alternatives (measured).
_MISDECODED = re.compile(
    f"[ÂÃâ-ð\ufffd](?:(?<=[ÂÃ]){_TAIL}|(?<=[â-ï]){_TAIL}{{2}}|(?<=ð){_TAIL}{{3}}|(?<=\ufffd))"
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """The items of one file, in its order.

    `table` holds text (large_string) only, a column for each of REQUIRED_COLUMNS and for each
    `<criterion>_preference` and `<criterion>_explanation` that the file has, and for each of several
    annotators of a label; an empty cell is no label. `notices` are sentences about the file for users: what
    is stored in addition, what looks odd. `others`: further columns of the file as text, a row for each of
    `table`; None where there are none. They are for users, to read and to divide the items by: no judge sees
    them, but BACKGROUND where settings show it, and they take no part in `hash`. `columns`: by which map a
    foreign file was read. `file_columns`: the file's own columns, by which maps are remembered.
    `read_as`: a sentence on how a file was read that is no dataset by itself; empty for any other. `signs`:
    what speaks against how a foreign file was read.
    """

    path: Path
    table: pa.Table
    rubric: Rubric = ELOQUENT
    notices: tuple[str, ...] = ()
    others: pa.Table | None = None
    columns: ColumnMap | None = None
    file_columns: tuple[str, ...] = ()
    read_as: str = ""
    signs: tuple[ReadingSign, ...] = ()

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return self.path.name

    @property
    def ids(self) -> list[str]:
        """The ids in order, as the file writes them."""
        ids: list[str] = self.table["id"].to_pylist()
        return ids

    @cached_property
    def criteria(self) -> tuple[str, ...]:
        """The names of the rubric's criteria with at least one label, in the rubric's order."""
        lengths = {name: pc.binary_length(self.texts(f"{name}_preference")) for name in self.rubric.names}
        return tuple(name for name, length in lengths.items() if pc.max(length).as_py())

    @property
    def names_candidates(self) -> bool:
        """Whether it says which models wrote the responses: `texts` of CANDIDATES gives their names."""
        return set(CANDIDATES) <= set(self.other_columns)

    @cached_property
    def candidates(self) -> Mapping[str, str]:
        """The candidates that it names, each with what `generate` notes of how it wrote; empty if nothing."""
        found: dict[str, str] = {}
        for name, made_with in zip(CANDIDATES, GENERATED_WITH, strict=True) if self.names_candidates else ():
            both = pa.table([self.texts(name), self.texts(made_with)], ["name", "made_with"])
            for row in both.group_by(["name", "made_with"]).aggregate([]).to_pylist():
                found[row["name"]] = found.get(row["name"]) or row["made_with"]
        return dict(sorted(found.items()))

    @property
    def groups(self) -> dict[str, str]:
        """By the id of each item what it is grouped by: its instruction, see `Item.group`."""
        return dict(zip(self.ids, self.group_column, strict=True))

    @property
    def group_column(self) -> list[str]:
        """The same of all items, in order."""
        groups: list[str] = self.texts("instruction").to_pylist()
        blank = [place for place, instruction in enumerate(groups) if not instruction.strip()]
        for place, item in zip(blank, self.at(blank), strict=True):
            groups[place] = item.group
        return groups

    def labels(self, criterion: str) -> dict[str, HumanLabel]:
        """The human labels of a criterion by item id, of the items that have one."""
        written = self.texts(f"{criterion}_preference").to_pylist()
        return {
            item_id: written_label(label) for item_id, label in zip(self.ids, written, strict=True) if label
        }

    @cached_property
    def annotators(self) -> Mapping[str, Mapping[str, str]]:
        """By criterion that several annotators labelled, each of them with their column of `table`."""
        columns = self.table.column_names
        found = {name: annotators_among(columns, f"{name}_preference") for name in self.rubric.names}
        return {name: of_one for name, of_one in found.items() if of_one}

    @cached_property
    def hash(self) -> str:
        """SHA-256 (hex) of the ids and texts in order; neither labels nor the file's format take part."""
        texts = self._cells(REQUIRED_COLUMNS)
        return digest_of_lists([item_id, content_hash(*of_item)] for item_id, *of_item in texts)

    @property
    def background(self) -> tuple[str, ...]:
        """Those of BACKGROUND that it has: they are among its other columns."""
        return tuple(name for name in BACKGROUND if name in self.other_columns)

    def background_hash(self, names: Sequence[str]) -> str:
        """SHA-256 (hex) of these texts of BACKGROUND of all items, in order."""
        return digest_of_lists(zip(*(self.texts(name).to_pylist() for name in names), strict=True))

    @property
    def other_columns(self) -> tuple[str, ...]:
        return () if self.others is None else tuple(self.others.column_names)

    @property
    def value_columns(self) -> tuple[str, ...]:
        """Those over whose values items can be spread: human labels, then the file's further columns."""
        return (*(f"{name}_preference" for name in self.criteria), *self.other_columns)

    @property
    def label_names(self) -> tuple[str, ...]:
        """The columns that may name its labels: its own and its file's, without those that are read for
        others of ours.
        """
        mapped = [ours for ours, theirs in self.columns.sources if theirs] if self.columns else []
        found = (*self.file_columns, *self.table.column_names, *self.other_columns, *mapped)
        return tuple(dict.fromkeys(unread(found, self.columns)))

    @property
    def letters(self) -> FloatArray:
        """The length of each item's instruction and responses together: shape (items,)."""
        together: FloatArray = np.sum([self.lengths(name) for name in TEXT_COLUMNS], axis=0, dtype=np.float64)
        return together

    @cached_property
    def series(self) -> frozenset[int]:
        """The places of the items that have the instruction of the item before or after."""
        instructions = self.texts("instruction").combine_chunks()
        same = pc.equal(instructions[1:], instructions[:-1]).to_numpy(zero_copy_only=False)
        later = np.flatnonzero(same) + 1
        return frozenset(np.concatenate([later - 1, later]).tolist())

    def head(self, count: int) -> "Dataset":
        """The first `count` items; the notices stay those of the whole file."""
        others = None if self.others is None else self.others.slice(0, count)
        return replace(self, table=self.table.slice(0, count), others=others)

    def only(self, ids: Container[str]) -> "Dataset":
        """The items with these ids; the notices stay those of the whole file."""
        return self.at(np.flatnonzero([item_id in ids for item_id in self.ids]))

    def at(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> "Dataset":
        """The items at these places, from 0; the notices stay those of the whole file."""
        taken = number_array(np.asarray(rows, np.int64))
        others = None if self.others is None else self.others.take(taken)
        return replace(self, table=self.table.take(taken), others=others)

    def same_items(self, content_hashes: Mapping[str, str]) -> Iterator[Item]:
        """The items whose id is known here with this very content hash: those judged elsewhere, unchanged."""
        return (item for item in self if content_hashes.get(item.id) == item.content_hash)

    def cells_beside(self) -> Iterator[Mapping[str, str]]:
        """The cells of `other_columns` of each item, in order."""
        if self.others is None:
            yield from repeat({}, len(self))
            return
        for part in self.others.to_batches(_ROWS_AT_ONCE):
            yield from part.to_pylist()

    def texts(self, column: str) -> pa.ChunkedArray:
        """One column, one of `others` too, as Arrow text (large_string), for fast work on all items; empty
        where it is absent.
        """
        if column in self.table.column_names:
            return self.table[column]
        if self.others is not None and column in self.others.column_names:
            return self.others[column]
        return pa.chunked_array([text_array([""] * len(self))])

    def lengths(self, column: str) -> IntArray:
        """The length of the texts of one column, in characters: shape (items,)."""
        return to_numpy(pc.utf8_length(self.texts(column))).astype(np.int64)

    def label_counts(self, criterion: str) -> Counter[str]:
        """How often each human label occurs on a criterion; those that have none are not counted."""
        counts = pc.value_counts(self.texts(f"{criterion}_preference")).to_pylist()
        return Counter({entry["values"]: int(entry["counts"]) for entry in counts if entry["values"]})

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, index: int) -> Item:
        item_id, instruction, output_a, output_b, *said = (
            str(self.table[name][index].as_py()) for name in (*REQUIRED_COLUMNS, *self._said)
        )
        background = {name: str(self.texts(name)[index].as_py()) for name in self.background}
        return Item(item_id, instruction, output_a, output_b, self._gold(tuple(said)), **background)

    def __iter__(self) -> Iterator[Item]:
        texts, said = self._cells(REQUIRED_COLUMNS), self._cells(self._said)
        names = self.background
        for own, cells, beside in zip(texts, said, self._cells(names, self.others), strict=False):
            item_id, instruction, output_a, output_b = own
            background = dict(zip(names, beside, strict=True))
            yield Item(item_id, instruction, output_a, output_b, self._gold(cells), **background)

    def items_in_short(self) -> Iterator[Item]:
        """The same in a third of the memory: responses are read from the table when they are wanted."""
        known: dict[str, str] = {}
        texts = zip(self._cells(("id", "instruction")), self._cells(self._said), strict=False)
        for place, ((item_id, instruction), said) in enumerate(texts):
            yield _ItemInShort(
                item_id, known.setdefault(instruction, instruction), self._gold(said), self, place
            )

    @cached_property
    def _said(self) -> tuple[str, ...]:
        """The columns of labels and explanations."""
        return tuple(name for name in self.table.column_names if name not in _REQUIRED)

    def _cells(self, names: Sequence[str], table: pa.Table | None = None) -> Iterator[tuple[str, ...]]:
        """The texts of some columns of each item, in order; without columns nothing, without end."""
        table = self.table if table is None else table
        for part in table.select(names).to_batches(_ROWS_AT_ONCE) if names else ():
            yield from zip(*part.to_pydict().values(), strict=True)
        yield from () if names else repeat(())

    @cached_property
    def _golds(self) -> dict[tuple[str, ...], Mapping[str, Gold]]:
        return {}

    def _gold(self, said: tuple[str, ...]) -> Mapping[str, Gold]:
        """What the cells of `_said` say: once for all items that have the same, for labels are few."""
        if (known := self._golds.get(said)) is not None:
            return known
        gold, cells = {}, dict(zip(self._said, said, strict=True))
        for name in self.rubric.names:
            label, explanation = cells.get(f"{name}_preference"), cells.get(f"{name}_explanation")
            given = {who: cells[column] for who, column in self.annotators.get(name, {}).items()}
            if label or explanation or any(given.values()):
                by_name = {who: written_label(cell) for who, cell in given.items() if cell}
                gold[name] = Gold(written_label(label) if label else None, explanation or None, by_name)
        if len(self._golds) < _MOST_GOLDS:
            self._golds[said] = gold
        return gold

    @cached_property
    def response_lengths(self) -> tuple[IntArray, IntArray]:
        """In characters, each of shape (items,)."""
        return self.lengths("output_a"), self.lengths("output_b")


class _ItemInShort(Item):
    __slots__ = ("_dataset", "_place")
    _dataset: Dataset
    _place: int

    def __init__(
        self, item_id: str, instruction: str, gold: Mapping[str, Gold], dataset: Dataset, place: int
    ) -> None:
        given = (item_id, instruction, gold, dataset, place)
        for name, value in zip(("id", "instruction", "gold", *self.__slots__), given, strict=True):
            object.__setattr__(self, name, value)

    @property
    def output_a(self) -> str:
        return str(self._dataset.texts("output_a")[self._place].as_py())

    @property
    def output_b(self) -> str:
        return str(self._dataset.texts("output_b")[self._place].as_py())

    @property
    def context(self) -> str:
        return self._dataset[self._place].context

    @property
    def reference(self) -> str:
        return self._dataset[self._place].reference

    @property
    def lengths(self) -> tuple[int, int]:
        one, other = self._dataset.response_lengths
        return int(one[self._place]), int(other[self._place])


def load_dataset(
    path: Path,
    rubric: Rubric = ELOQUENT,
    cancel: CancelToken | None = None,
    progress: Callable[[int], None] | None = None,
    columns: ColumnMap | None = None,
) -> Dataset:
    """The dataset in a TSV, CSV, JSON, JSON Lines or Parquet file, plain or gzip-compressed.

    `progress` is called every few thousand rows with the number of rows read so far. A smaller file
    ends without a call. `columns`: which columns of a foreign file are ours; None takes what is remembered
    for files with its columns. All data of a run as CSV are read too: what annotators labelled in it.
    Raises SetupError where the file cannot be read, InputError with all problems found in it (ColumnsError
    where other columns may read it, WrongKindError where it is a file of another kind), Cancelled within a
    few thousand rows once `cancel` is set.
    """
    parts: list[_Part] = []

    def take(event: "_Part | int") -> None:
        if isinstance(event, _Part):
            parts.append(event)
        elif progress is not None:
            progress(event)

    with expecting(path, FileKind.DATASET, FileKind.RUN_DATA):
        found = _read(path, rubric, columns, take, cancel)
    others = None if found.others is None else _joined(parts, found.others.column_names)
    return replace(found, table=_joined(parts, found.table.column_names), others=others)


@dataclass(frozen=True)
class _Part:
    """The texts of `size` rows, by column; a column that it lacks is empty."""

    size: int
    texts: Mapping[str, pa.Array]


def _joined(parts: Sequence[_Part], names: Iterable[str]) -> pa.Table:
    empty = {size: text_array([""] * size) for size in {part.size for part in parts}}
    return pa.table(
        {name: pa.chunked_array([part.texts.get(name, empty[part.size]) for part in parts]) for name in names}
    )


@sandboxed
def _read(
    path: Path,
    rubric: Rubric,
    columns: ColumnMap | None,
    progress: Callable[[_Part | int], None],
    cancel: CancelToken | None = None,  # noqa: ARG001 - of the gate
) -> Dataset:
    """The same without a row: they are told as they are read, so that no process holds them twice."""
    table = open_table(path, columns.source_of.get(RECORDS, "") if columns else "")
    names = table.first_columns()
    # What values mean, or that bad rows are left out, may be said of a file that is remembered or known, too.
    columns, said = parted(columns)
    columns = columns or remembered(names)
    read_as = ""
    if columns is None and is_run_csv(names):
        table = of_run = RunCsvTable(table)
        names, read_as = of_run.columns, of_run.read_as
    if columns is None and names and (missing := [name for name in REQUIRED_COLUMNS if name not in names]):
        sample = read_sample(table)
        known = known_as(sample)
        if known is None or known.kind != "pairs":
            raise _foreign(sample, known, missing, rubric)
        columns, read_as = known.map_for(rubric), f"Read as {known.name}. {known.lost}".strip()
        table = table.again()
    columns = said.over(columns) if said else columns
    if columns is not None:
        table = mapped = MappedTable(table, columns, rubric)
        mapped.read_ahead()
    elif own_annotators(names, rubric):
        table = MappedTable(table, ColumnMap(), rubric)
    skips = columns is not None and columns.skip_bad_rows
    loading = _Loading(table, rubric, progress, skip_bad_rows=skips)
    for count, row in enumerate(table.rows(loading.wanted)):
        if count and count % _ROWS_AT_ONCE == 0:
            progress(count)
        loading.add(row)
    return replace(loading.finish(), columns=columns, file_columns=tuple(names), read_as=read_as)


def _foreign(sample: Sample, known: Known | None, missing: Sequence[str], rubric: Rubric) -> InputError:
    """The error of a file with other columns; its hint is what they seem to be."""
    path = sample.table.path
    if known is not None and known.kind == "refused":
        return InputError(path, [f"is {known.name}. {known.lost}"], "Use a file of pairs of responses.")
    guess = guess_columns(sample, rubric)
    if (single := single_outputs(sample, guess)) is not None:
        return single
    parts: list[HintPart] = [
        Step.MAP_COLUMNS,
        f", {guess.in_words}: ",
        Setting.COLUMNS.at(guess.columns_text),
    ]
    if guess.labels_text:
        parts += [" ", Setting.LABELS.at(guess.labels_text)]
    return ColumnsError(path, _missing_columns(sample.file_columns, missing), Hint(*parts), foreign=True)


def known_columns(rubric: Rubric) -> tuple[str, ...]:
    """The columns that a dataset may have, in their default order."""
    return (*REQUIRED_COLUMNS, *label_columns(rubric.names))


def label_problem(text: str, labels: Collection[HumanLabel] = HUMAN_LABELS) -> str | None:
    """What is wrong with a label that is not empty; None if it is one of some."""
    if text in labels:
        return None
    near = _nearest(text, labels)
    hint = f"the nearest is {near!r}" if near else f"labels are {', '.join(labels)}"
    return f"unknown label {quoted(text)}; {hint}."


def check_id(table: SourceTable, row: SourceRow, first_rows: dict[str, int]) -> None:
    """Report an id that is empty or was met before; `first_rows` (number by id) remembers them."""
    item_id = row.cells.get("id")
    if item_id == "":
        table.report(row.number, "the id is empty.", "id")
    elif item_id is not None and (first := first_rows.setdefault(item_id, row.number)) != row.number:
        table.report(row.number, f"id {quoted(item_id)} is already used by {table.row_word} {first}.", "id")


def column_problems(table: SourceTable, required: Iterable[str], known: Iterable[str]) -> list[str]:
    """What is wrong with the columns of a table: a required one is missing, a known one occurs twice."""
    missing = _missing_columns(table.columns, [name for name in required if name not in table.columns])
    counts = Counter(table.columns)
    twice = [f"column {name!r} occurs {counts[name]} times." for name in known if counts[name] > 1]
    return missing + twice


def _missing_columns(found: Sequence[str], names: Iterable[str]) -> list[str]:
    """What is said of columns that are not among those found; the last of them tells what is."""
    problems = []
    for name in names:
        near = _nearest(name, [column for column in found if column not in REQUIRED_COLUMNS])
        problems.append(f"no column {name!r}." + (f" The nearest is {quoted(near)}." if near else ""))
    if problems:
        problems[-1] += f" Columns found: {listed(found, _MOST_COLUMNS_SHOWN, quoted)}."
    return problems


def _nearest(text: str, choices: Iterable[str], cutoff: float = _NEAR) -> str | None:
    """The choice that reads most like `text`, letter case and spaces aside; None where none comes near."""
    by_plain = {_plain(choice): str(choice) for choice in choices}
    found = difflib.get_close_matches(_plain(text), by_plain, n=1, cutoff=cutoff)
    return by_plain[found[0]] if found else None


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip()).lower()


class _Loading:
    """Checks the rows of a table, tells their texts part by part, and collects what is worth a notice."""

    def __init__(
        self,
        table: SourceTable,
        rubric: Rubric,
        tell: Callable[[_Part], None],
        *,
        skip_bad_rows: bool = False,
    ) -> None:
        self._table = table
        self._tell = tell
        self._skips = skip_bad_rows
        self._rubric = rubric
        self._labels = [f"{name}_preference" for name in rubric.names]
        self._waiting: list[SourceRow] = []  # not checked yet
        self._texts: dict[str, list[str]] = {}  # of so many rows, by column, not told yet
        self._held = 0
        self._is_mapped = isinstance(table, MappedTable)
        of_annotators = table.annotator_columns if isinstance(table, MappedTable) else ()
        self._known = tuple(dict.fromkeys((*known_columns(rubric), *of_annotators)))
        self._others = OtherColumns(table, self._known)
        self._first_rows: dict[str, int] = {}
        self._unknown: Counter[str] = Counter()  # labels, in the order in which they were met
        self._lacking: dict[str, list[int]] = {name: [] for name in REQUIRED_COLUMNS}
        self._signs = Signs()
        self._skipped: list[str] = []
        self._stored = 0
        self._count = self._empty = self._misdecoded = 0
        if table.has_header:
            table.problems += column_problems(table, REQUIRED_COLUMNS, known_columns(rubric))

    @property
    def wanted(self) -> Collection[str] | None:
        """The columns to read; None for all that a row has."""
        return (*self._known, *self._others.names) if self._table.has_header else None

    def add(self, row: SourceRow) -> None:
        """Take a row in, or report what is wrong with it, with the rows after it or before."""
        if self._table.problems:
            if self._waiting:  # they stand before the row that has the problem
                self._check_waiting()
            self._check(row)
            return
        self._waiting.append(row)
        if len(self._waiting) == _CHECKED_AT_ONCE:
            self._check_waiting()

    def _check_waiting(self) -> None:
        """Together in a tenth of the time; one by one where something is wrong."""
        rows, self._waiting = self._waiting, []
        table = self._table
        columns = {} if table.problems else self._columns_of([row.cells for row in rows])
        if columns.keys() >= _REQUIRED and all(row.cells.keys() >= _REQUIRED for row in rows):
            numbers = dict(zip(columns["id"], (row.number for row in rows), strict=True))
            is_known = len(numbers) < len(rows) or not self._first_rows.keys().isdisjoint(numbers)
            labels = set().union(*(columns.get(name, ()) for name in self._labels))
            if not is_known and "" not in numbers and labels <= _SOUND_LABELS:
                self._first_rows |= numbers
                self._count += len(rows)
                self._store(rows, columns)
                return
        later, of_later = table.problems[:], table.bad_rows[:]
        table.problems.clear()
        table.bad_rows.clear()
        for row in rows:
            self._check(row)
        table.problems += later
        table.bad_rows += of_later

    def _columns_of(self, rows: Sequence[Mapping[str, str]]) -> dict[str, Sequence[str]]:
        """The texts of some rows by column that is stored and that any of them has."""
        named = set().union(*rows)
        names = [name for name in (*self._known, *self._others.names) if name in named]
        try:
            # An itemgetter of one name alone would give no tuple.
            cells = zip(*map(itemgetter(*names, *names[:1]), rows), strict=True) if names else ()
            return dict(zip(names, cells, strict=False))
        except KeyError:
            return {name: [cells.get(name, "") for cells in rows] for name in names}

    def _check(self, row: SourceRow) -> None:
        before = len(self._table.problems)
        self._count += 1
        lacks = not row.cells.keys() >= _REQUIRED
        for name in REQUIRED_COLUMNS if lacks else ():
            if name not in row.cells:
                self._lacking[name].append(row.number)
        check_id(self._table, row, self._first_rows)
        for name in self._labels:
            text = row.cells.get(name)
            if text and (problem := label_problem(text)):
                self._table.report(row.number, problem, name)
                self._unknown[text] += 1
        if not (self._skips and (lacks or len(self._table.problems) > before)):
            self._store([row], self._columns_of([row.cells]))

    def _store(self, rows: Sequence[SourceRow], columns: Mapping[str, Sequence[str]]) -> None:
        if self._is_mapped:
            for row in rows:
                self._signs.add(row.cells)
        else:
            self._signs.count_instructions(columns.get("instruction", ()))
        self._empty += sum(columns.get(name, ()).count("") for name in ("output_a", "output_b"))
        for name in {*columns, *self._texts}:
            texts = self._texts.setdefault(name, [""] * self._held)
            texts += columns.get(name) or [""] * len(rows)
        self._held += len(rows)
        self._stored += len(rows)
        if self._held >= _ROWS_AT_ONCE:
            self._pack()

    def finish(self) -> Dataset:
        """The dataset without its rows, which are told; InputError where there were problems, or no rows."""
        table = self._table
        self._check_waiting()
        if not table.has_header:
            self._report_lacking()
        if self._skips and self._stored and not table.is_broken_off:
            self._skipped, table.problems = table.problems, []
            self._unknown.clear()
        if self._unknown and not table.has_bad_bytes:
            raise unknown_labels(table, self._unknown)
        table.raise_problems()
        if not self._count:
            raise table.no_rows()
        self._pack()
        none = _Part(0, {})
        texts = _joined([none], (name for name in self._known if name in table.columns))
        others = _joined([none], names) if (names := self._others.names) else None
        signs = tuple(self._signs.found()) if self._is_mapped else ()
        doubts = tuple(f"Is it read right? {sign.text}." for sign in signs if sign.strong)
        return Dataset(table.path, texts, self._rubric, (*doubts, *self._notices()), others, signs=signs)

    def _pack(self) -> None:
        for name, texts in self._texts.items():
            if name in self._known and not all(map(str.isascii, texts)):
                # isascii is a flag of the string; most texts need no search.
                unlike = (text for text in texts if not text.isascii())
                self._misdecoded += sum(_MISDECODED.search(text) is not None for text in unlike)
        # Arrow keeps UTF-8: a Python string takes four bytes a letter where it holds one emoji.
        self._tell(_Part(self._held, {name: text_array(texts) for name, texts in self._texts.items()}))
        self._texts, self._held = {}, 0

    def _report_lacking(self) -> None:
        nowhere = [name for name, rows in self._lacking.items() if 0 < len(rows) == self._count]
        self._table.problems += _missing_columns(self._table.columns, nowhere)
        for name, numbers in self._lacking.items():
            for number in numbers if name not in nowhere else ():
                self._table.report(number, f"no {name!r}.")

    def _notices(self) -> Iterator[str]:
        yield from self._table.notices
        if self._skipped:
            rows = counted(len(self._skipped), "row that cannot be read is", "rows that cannot be read are")
            yield f"{rows} left out: {listed(self._skipped, _MOST_SKIPPED_SHOWN, str)}"
        # Of pairs of candidates it is meant so that an instruction occurs in several.
        names_candidates = {*CANDIDATES} <= {*self._others.names}
        known = (*CANDIDATES, *GENERATED_WITH) if names_candidates else ()
        others = [name for name in self._others.names if name not in known]
        # Those with a hint first, so that the end of a long list hides none.
        meant = {name: self._meant(name) for name in others}
        shown = [f"{quoted(name)} (did you mean {near!r}?)" for name, near in meant.items() if near]
        shown += [quoted(name) for name, near in meant.items() if not near]
        if shown:
            are = counted(len(shown), "other column is", "other columns are")
            yield f"{are} stored: {listed(shown, _MOST_COLUMNS_SHOWN, str)}."
        yield from self._others.left_out_in_words()
        if self._empty:
            yield f"{counted(self._empty, 'response is', 'responses are')} empty."
        if uninstructed := self._signs.uninstructed:
            items = counted(uninstructed, "item has no instruction", "items have no instruction")
            yield f"{items}: in intervals each of them is a cluster of its own."
        repeated = self._signs.repeated
        if repeated and not names_candidates:
            yield f"{counted(repeated, 'instruction occurs', 'instructions occur')} more than once."
        if self._misdecoded:
            looks = counted(self._misdecoded, "text looks", "texts look")
            yield f"{looks} wrongly decoded (such as 'â€™' for '’'); left as in the file."

    def _meant(self, other: str) -> str | None:
        """The label column that the file lacks and that another column seems to stand for."""
        choices = {name: name for name in known_columns(self._rubric)}
        choices |= {name: f"{name}_preference" for name in self._rubric.names}
        near = _nearest(other, choices, _NEAR_AMONG_CRITERIA)
        meant = near and choices[near]
        return None if meant in self._table.columns else meant
