"""What columns of a foreign file hold: texts, dialogues, numbers, a few values, and what these may mean."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from engine.core.column_map import NO_LABEL, annotators_of
from engine.core.events import CancelToken
from engine.core.formatting import counted, listed, quoted
from engine.core.items import HUMAN_LABELS
from engine.data.column_source import (
    ASSISTANT,
    EQUAL,
    CellSource,
    DialoguePart,
    RowReader,
    SourceProblem,
    Step,
    parse_source,
    turns_of,
    turns_of_value,
)
from engine.data.json_records import JsonProblem, parse_text
from engine.data.signs import is_no_prose
from engine.data.tables import SourceRow, SourceTable, open_table
from engine.system.sandbox import sandboxed

_ROWS_KEPT = 100
_ROWS_READ = 20_000
_ROWS_LOOKED_AT = 30
_MOST_COLUMNS = 300
_LONGEST_SHORT = 100  # characters of an id, a label, a number
MOST_VALUES = 12
_MOST_PLACES = 100  # of one nested column
_DEEPEST = 5
_MOST_ENTRIES = 4
_OF_ROUNDS = (DialoguePart.USERS, DialoguePart.REPLIES)
_FLAGS = {"0", "1", "true", "false", "0.0", "1.0"}
_SHORTEST_TEXT = 12  # characters, on average: below it a column is no text

_A, _B, _GOOD, _BAD, _TIE = (label.value for label in HUMAN_LABELS)
_SAID: Mapping[str, str] = {
    _A: "a model_a response_a output_a assistant_a [[a]] a_wins a_better left first model_1 response_1"
    " output_1 option_a option_1 a>b a>>b [[a>>b]] [[a>b]] 1>2 answer_1 left_better a_is_better"
    " a_is_slightly_better a_is_clearly_better a_is_much_better",
    _B: "b model_b response_b output_b assistant_b [[b]] b_wins b_better right second model_2 response_2"
    " output_2 option_b option_2 b>a b>>a a<b a<<b [[b>>a]] [[b>a]] 2>1 1<2 answer_2 right_better"
    " b_is_better b_is_slightly_better b_is_clearly_better b_is_much_better",
    _GOOD: "both_good bothgood tie_bothgood tie_both_good good_tie both_are_good both_good. a_and_b_are_good",
    _BAD: "both_bad bothbad tie_bothbad tie_both_bad bad_tie none_is_good both_are_bad neither_is_good"
    " both_bad.",
    _TIE: "1=2 b=a [[a=b]] about_the_same equally_good_or_bad tie tied draw equal equally_good same similar"
    " both [[c]] c a=b no_preference neither",
    NO_LABEL: "none null nan n/a na unknown invalid error ?",
}
_WORDS = {word: label for label, words in _SAID.items() for word in words.split()}
_NUMBERED = (*({1, 2}, {0, 1, 2}, {1, 1.5, 2}, {1, 2, 3}, {0, 1}, {0, 0.5, 1}, {-1, 1}, {-1, 0, 1}),)
"""The numbers that a column of labels may hold. What each stands for differs from dataset to dataset."""


@dataclass(frozen=True)
class Sample:
    """`rows`: the first of a file, whole. `short`: of all rows that were read, the cells that are short.
    `file_columns`: all that the file has, also beyond those that are looked at.
    """

    columns: tuple[str, ...]
    rows: tuple[SourceRow, ...]
    short: tuple[Mapping[str, str], ...]
    table: "SampleTable"
    file_columns: tuple[str, ...]

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The columns, and the places in those that hold nested values: `completions[0].response`."""
        nested = (place for column in self.columns for place in self._nested(column))
        return (*self.columns, *nested)

    @cached_property
    def offers(self) -> tuple[str, ...]:
        """Every source that is worth a choice: places, and the parts of dialogues."""
        rounds = [f":{name}" for name in ("turn", "turns") if self.counts_rounds(name)]
        parts = {
            "dialogue": (*DialoguePart, *(f"{part}{turn}" for turn in rounds for part in _OF_ROUNDS)),
            "texts": (DialoguePart.USERS, DialoguePart.REPLIES),
            "text": (),
        }
        columns = self.columns
        whole = [
            source for name in columns for source in (name, *(f"{name}@{p}" for p in parts[self.kind(name)]))
        ]
        return tuple(dict.fromkeys((*whole, *self.places[len(columns) :])))

    def cells(self, place: str) -> list[str]:
        """What the first rows hold there, as text; empty where they hold nothing."""
        return list(self._read(place, _ROWS_LOOKED_AT))

    def held(self, source: str) -> list[str]:
        """What the first rows hold at a source that may be a list, without what is empty. SourceProblem."""
        parsed = parse_source(source, self.columns)
        if not parsed.is_list:
            return [cell for cell in self.cells(source) if cell]
        return self._entries(parsed, _ROWS_LOOKED_AT)

    def kind_of(self, source: str) -> str:
        """`dialogue`, `texts`, `number`, `list`, `object` or `text`: what is held there."""
        cells = self.held(source)
        if cells and all(any(turn.role for turn in turns_of(cell) or ()) for cell in cells):
            return "dialogue"
        if cells and all(finite_number(cell) is not None for cell in cells):
            return "number"
        if cells and all(map(turns_of, cells)):
            return "texts"
        marks = {cell.lstrip()[:1] for cell in cells}
        return {"[": "list", "{": "object"}.get(marks.pop(), "text") if len(marks) == 1 else "text"

    def is_filled(self, column: str) -> bool:
        """True where a row has something there."""
        return any(self.cells(column))

    def kind(self, place: str) -> str:
        """`dialogue`, `texts` (a list of them) or `text`."""
        found = self.kind_of(place)
        return found if found in ("dialogue", "texts") else "text"

    def length(self, place: str) -> float:
        """The characters of a cell, on average."""
        cells = self.cells(place)
        return sum(map(len, cells)) / max(len(cells), 1)

    def holds_texts(self, place: str) -> bool:
        """True where there are texts or dialogues: neither numbers, nor ever the same few words."""
        cells = [cell for cell in self.cells(place) if cell]
        if not cells or all(finite_number(cell) is not None for cell in cells):
            return False
        if self.kind(place) != "text":
            return True
        if all(_is_nested(cell) for cell in cells):
            return False
        return len({*cells}) > min(3, len(cells) - 1) or self.length(place) >= _SHORTEST_TEXT

    def is_beside_text(self, place: str) -> bool:
        """True where most texts are ids, hashes, dates, verdicts, or objects of JSON: nothing to be read."""
        cells = [cell for cell in self.cells(place) if cell]
        return bool(cells) and sum(map(is_no_prose, cells)) > len(cells) / 2

    def is_constant(self, place: str) -> bool:
        """True where several rows, nearly all, say the same."""
        cells = [cell for cell in self.cells(place) if cell]
        return len(cells) > 2 and Counter(cells).most_common(1)[0][1] > 0.9 * len(cells)

    def distinct(self, source: str) -> set[str]:
        """The different texts that the first rows hold at a source; none where there is none."""
        return {*self._read(source, len(self.rows))} - {""} if source else set()

    def rounds(self, place: str) -> int:
        """How often others than the assistant speak in the longest of the first dialogues."""
        turns = (turns_of(cell) or [] for cell in self.cells(place) if cell)
        return max((sum(turn.role != ASSISTANT for turn in each) for each in turns), default=0)

    def repeats(self, *sources: str) -> bool:
        """True where several of the first rows hold the same texts at all of some sources."""
        if not all(sources):
            return False
        rows = Counter(zip(*(self.cells(re.split("@", source)[0]) for source in sources), strict=True))
        return any(times > 1 for times in rows.values())

    def ties(self, source: str) -> int:
        """How often a comparison of two numbers finds them equal, in the rows that were read."""
        return self.source_values(source).get(EQUAL, 0)

    @cached_property
    def lists(self) -> tuple[str, ...]:
        """The places in the entries of lists: `annotations[].label`; and lists of texts as such."""
        nested = (place for column in self.columns for place in self._nested(column, of_each=True))
        whole = (f"{name}[]" for name in self.columns if any(cell[:1] == "[" for cell in self.cells(name)))
        return tuple(dict.fromkeys((*whole, *(place for place in nested if "[]" in place))))

    @cached_property
    def scalars(self) -> tuple[str, ...]:
        """The columns, and the places that lie in objects, not in lists."""
        return tuple(place for place in self.places if place in self.columns or "[" not in place)

    def _short_cells(self, place: str) -> list[str | None]:
        """What all rows that were read hold there, of a nested place the first ones; None for a long text."""
        if place in self.columns:
            return [row.get(place) for row in self.short]
        texts = self._read(place, len(self.rows))
        return [text if len(text) <= _LONGEST_SHORT else None for text in texts]

    def is_short(self, column: str) -> bool:
        """True where every cell is short and one has something in it."""
        if column not in self.columns:
            cells = self._short_cells(column)
            return any(cells) and None not in cells
        return any(row.get(column) for row in self.short) and all(column in row for row in self.short)

    def is_unique(self, *columns: str) -> bool:
        """True where the cells of all columns together differ in every row that was read."""
        if not all(self.is_short(column) for column in columns):
            return False
        joined = list(zip(*map(self._short_cells, columns), strict=True))
        return all(cells[0] for cells in joined) and len(set(joined)) == len(joined)

    def values(self, column: str) -> dict[str, int] | None:
        """Each value that is not empty, and how often it occurs; None where there are many, or long ones."""
        if not self.is_short(column):
            return None
        counts = Counter(filter(None, self._short_cells(column)))
        return counts if len(counts) <= MOST_VALUES else None

    def joined_values(self, columns: Sequence[str]) -> set[str]:
        """What the cells of some columns say together, with a slash between them."""
        rows = zip(*map(self._short_cells, columns), strict=True)
        return {"/".join(text or "" for text in row) for row in rows}

    def source_values(self, text: str) -> dict[str, int]:
        """Each value that the source of a label gives in the rows that were read, and how often: of several
        annotators all together.
        """
        counts: Counter[str] = Counter()
        for annotator in (text,) if text in self.columns else annotators_of(text):
            with suppress(SourceProblem):
                source = parse_source(annotator, self.columns)
                if source.is_list:
                    counts.update(self._entries(source, len(self.rows)))
                    continue
                is_flat = all(getattr(place, "path", ()) == () for place in (*source.places, source.than))
                rows = self.short if is_flat else [row.cells for row in self.rows]
                for reader in map(RowReader, rows):
                    with suppress(SourceProblem):
                        texts = [reader.text(source, "")] if source.than is not None else reader.texts(source)
                        counts.update(["/".join(texts)] if any(texts) else ())
        return dict(counts.most_common())

    def numbers(self, column: str) -> list[float]:
        """The numbers in a column of nothing else; empty for any other."""
        found = [finite_number(text or "") for text in self._short_cells(column)]
        return [] if None in found else [number for number in found if number is not None]

    def is_number(self, place: str) -> bool:
        """True where the first rows hold numbers or nothing."""
        cells = [cell for cell in self.cells(place) if _WORDS.get(_plain(cell)) != NO_LABEL and cell]
        return bool(cells) and all(finite_number(cell) is not None for cell in cells)

    def is_flag(self, column: str) -> bool:
        """True for a column of 0 and 1, or of true and false."""
        found = self.values(column) or {}
        return bool(found) and {value.lower() for value in found} <= _FLAGS

    def counts_rounds(self, column: str) -> bool:
        """True for a column of whole numbers from 1 on."""
        found = self.numbers(column) if column in self.columns else []
        return bool(found) and all(number >= 1 and number == int(number) for number in found)

    def _nested(self, column: str, *, of_each: bool = False) -> Iterator[str]:
        cells = [row.cells.get(column, "") for row in self.rows[:3]]
        if not any(map(_is_nested, cells)) or (not of_each and any(turns_of(cell) for cell in cells if cell)):
            return
        for cell in cells:
            if not _is_nested(cell):
                continue
            try:
                value = parse_text(cell)
            except JsonProblem:
                return
            yield from islice(_paths(value, column, 0, of_each=of_each), _MOST_PLACES)
            return

    @cached_property
    def _readers(self) -> tuple[RowReader, ...]:
        """Of the rows that are kept: each nested value is parsed once, however many places are looked at."""
        return tuple(RowReader(row.cells) for row in self.rows)

    def _read(self, place: str, most: int) -> Iterator[str]:
        source = parse_source(place, self.columns)
        for reader in self._readers[:most]:
            try:
                yield reader.text(source, "")
            except SourceProblem:
                yield ""

    def _entries(self, source: CellSource, most: int) -> list[str]:
        """What the first `most` rows hold at a source that is a list, without what is empty."""
        found: list[str] = []
        for reader in self._readers[:most]:
            with suppress(SourceProblem):
                found += filter(None, reader.entries(source))
        return found


class SampleTable(SourceTable):
    """The first rows of a table again, as often as they are asked for."""

    def __init__(self, table: SourceTable, columns: Sequence[str], rows: Sequence[SourceRow]) -> None:
        super().__init__(table.path, table.data_format)
        self.row_word = table.row_word
        self.columns = list(columns)
        self._rows = rows

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:  # noqa: ARG002 - all at hand
        """The rows in order, whatever is wanted."""
        yield from self._rows

    def first(self, count: int) -> "SampleTable":
        """The same of the first few rows alone, without the problems that were found."""
        return SampleTable(self, self.columns, self._rows[:count])


def read_sample(table: SourceTable) -> Sample:
    """What a table holds in its first rows."""
    kept: list[SourceRow] = []
    short: list[Mapping[str, str]] = []
    names = table.first_columns()
    columns = [name for name in names if name.strip()][:_MOST_COLUMNS]
    for row in islice(table.rows(columns), _ROWS_READ):
        if len(kept) < _ROWS_KEPT:
            kept.append(row)
        texts = ((name, row.cells.get(name, "")) for name in columns)  # a record may lack a key
        short.append({name: text for name, text in texts if len(text) <= _LONGEST_SHORT})
    return Sample(tuple(columns), tuple(kept), tuple(short), SampleTable(table, columns, kept), tuple(names))


@sandboxed
def look_into(
    path: Path,
    *,
    may_be_empty: bool,
    cancel: CancelToken | None = None,  # noqa: ARG001 - of the gate
) -> Sample:
    """What the table in a file holds in its first rows.

    The errors are those of open_table; without `may_be_empty` also that no row could be read, and why.
    """
    table = open_table(path)
    return read_sample(table) if may_be_empty else filled_sample(table)


def filled_sample(table: SourceTable) -> Sample:
    """What a table holds in its first rows; InputError where no row could be read."""
    sample = read_sample(table)
    if not sample.rows:
        table.raise_problems()
        raise table.no_rows()
    return sample


def meanings_of(values: Collection[str]) -> dict[str, str] | None:
    """What those values of a label column mean that say so by themselves; None where it seems to be none.

    Values that are labels of ours already need no meaning, and numbers have none that could be known.
    """
    meant = said_meanings(values)
    unsaid = [value for value in values if value not in meant and value not in HUMAN_LABELS]
    numbers = {finite_number(value) for value in unsaid}
    said = {meant.get(value, value) for value in values}
    if {_A, _B} <= said or None in numbers:  # further values are asked about
        may_be = {_A, _B} <= said
    elif numbers:
        may_be = any(numbers <= known for known in _NUMBERED) and (len(numbers) > 1 or 1 in numbers)
    else:
        may_be = bool({_A, _B} & said)
    return meant if may_be else None


def said_meanings(values: Collection[str]) -> dict[str, str]:
    """What each value means whose words say so, without those that are written as the label itself."""
    meant = {value: _WORDS.get(_plain(value)) for value in values}
    return {value: label for value, label in meant.items() if label is not None and label != value}


def values_in_words(values: Mapping[str, int]) -> str:
    """Some values of labels, each with how often it occurs: `'0' (12 times), '1' (1 time)`."""
    often = [f"{quoted(value)} ({counted(count, 'time', 'times')})" for value, count in values.items()]
    return listed(often, MOST_VALUES, str)


def one_hot_meanings(found: Collection[Collection[str]], with_tie: bool) -> dict[str, str] | None:
    """What the values of flags joined with a slash mean, one of which is set in each row; None for others."""
    labels: dict[str, str] = {}
    for value in {value for values in found for value in values}:
        flags = [
            finite_number(part) if finite_number(part) is not None else float(part.lower() == "true")
            for part in value.split("/")
        ]
        set_flags = [place for place, flag in enumerate(flags) if flag]
        if len(set_flags) > 1 or (with_tie and not set_flags):
            return None
        labels[value] = (_A, _B, _TIE)[set_flags[0]] if set_flags else _TIE
    return labels or None


def _paths(value: object, path: str, depth: int, *, of_each: bool = False) -> Iterator[str]:
    """The places in a nested value. `of_each`: of the first list on the way, those in each entry."""
    if depth >= _DEEPEST:
        return
    if depth and any(turn.role for turn in turns_of_value(value) or ()):
        yield path  # a dialogue is read as a whole
        return
    steps: list[tuple[Step, object]] = []
    if isinstance(value, dict):
        steps = [(key, inner) for key, inner in value.items() if key and not set(key) & set(".[]@+>")]
    elif isinstance(value, list):
        steps = list(enumerate(value[:_MOST_ENTRIES]))
        if of_each and "[]" not in path:
            steps = [(None, inner) for _, inner in steps[:1]]
    for step, inner in steps:
        place = f"{path}.{step}" if isinstance(step, str) else f"{path}[{'' if step is None else step}]"
        if isinstance(inner, dict | list):
            yield from _paths(inner, place, depth + 1, of_each=of_each)
        else:
            yield place


def _is_nested(cell: str) -> bool:
    return cell.lstrip()[:1] in ("{", "[")


def finite_number(text: str) -> float | None:
    """The number that a cell holds; None for other texts, and for what is no finite number."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _plain(value: str) -> str:
    return "_".join(value.lower().replace("(", " ").replace(")", " ").replace("-", " ").split()).replace(
        "__", "_"
    )
