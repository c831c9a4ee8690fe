"""A foreign table read by a ColumnMap: its rows have our columns, its problems name the file's own.

The columns of a table that no dataset needs, kept as text next to those that it does.

A label that several annotators gave has a column for each of them, next to that of their majority. A file may
have such columns by itself, as `safety_preference|Ada`; where it has one of the label too, that is the label.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import pyarrow as pa

from engine.core.column_map import (
    CANDIDATES,
    GAP,
    ID,
    INSTRUCTION,
    MEANINGS_IN_WORDS,
    NO_LABEL,
    OUTPUTS,
    RANKED,
    ColumnMap,
    annotator_column,
    annotator_of,
    annotators_of,
    label_column,
    targets,
)
from engine.core.errors import ColumnsError, Hint, Setting, Step
from engine.core.formatting import counted, listed, quoted
from engine.core.items import HUMAN_LABELS, Preference, digest, majority, written_label
from engine.core.rubric import Rubric, default_criterion
from engine.data.arrow_arrays import text_array
from engine.data.column_content import MOST_VALUES, said_meanings, values_in_words
from engine.data.column_source import CellSource, RowReader, SourceProblem, parse_source
from engine.data.tables import SourceRow, SourceTable

MOST_OTHER_COLUMNS = 100
_BEFORE_A_CLASH = "dataset_"

_MOST_SHOWN = 20


def distinct_names(others: Sequence[str], taken: Collection[str]) -> dict[str, str]:
    """What the other columns of a dataset are called next to columns that have names already: as in the file,
    with `dataset_` before a name that is one of these or empty, as often as it takes.
    """
    names: dict[str, str] = {}
    for name in others:
        shown, not_these = name, {"", *taken, *names.values()}
        while shown.strip() in not_these:
            shown, not_these = f"{_BEFORE_A_CLASH}{shown}", {*not_these, *others}
        names[name] = shown
    return names


class OtherColumns:
    """Collects them while the rows of a table are read: those that hold text and occur once, the first ones.

    A cell of theirs that is no text does not keep a file from being read.
    """

    def __init__(self, table: SourceTable, known: Collection[str]) -> None:
        self._table = table
        self._known = known
        self._chunks: dict[str, list[pa.Array]] = {}
        self._sizes: list[int] = []  # how many rows each chunk has
        self._met = 0
        self._why_not: dict[str, str] = {}
        self._look()
        table.must_be_text = known

    @property
    def names(self) -> list[str]:
        """Those that are stored of the columns met so far."""
        if not self._table.has_header and len(self._table.columns) != self._met:  # further ones may come
            self._look()
        return list(islice((name for name, why in self._why_not.items() if not why), MOST_OTHER_COLUMNS))

    def pack(self, rows: Sequence[Mapping[str, str]]) -> None:
        """Take the cells of further rows in; what came late was empty before."""
        for name in self.names:
            chunks = self._chunks.setdefault(name, [])
            if len(chunks) < len(self._sizes):
                chunks += [text_array([""] * size) for size in self._sizes]
            chunks.append(text_array([cells.get(name, "") for cells in rows]))
        self._sizes.append(len(rows))

    def table(self) -> pa.Table | None:
        """All of them; None where there are none."""
        if not self._chunks:
            return None
        return pa.table({name: pa.chunked_array(chunks) for name, chunks in self._chunks.items()})

    def left_out_in_words(self) -> Iterator[str]:
        """A sentence for the columns that are not kept, and why."""
        kept = set(self.names)
        left_out = {name: why for name, why in self._why_not.items() if name not in kept}
        if left_out:
            most = f"at most {MOST_OTHER_COLUMNS} are stored"
            reasons = "; ".join(dict.fromkeys(why or most for why in left_out.values()))
            were = counted(len(left_out), "column was", "columns were")
            yield f"{were} omitted ({reasons}): {listed(list(left_out), _MOST_SHOWN, quoted)}."

    def _look(self) -> None:
        """Which columns there are next to the known ones, and why one cannot be kept."""
        columns = self._table.columns
        counts = Counter(columns) if self._table.has_header else {}
        self._met = len(columns)
        for name in columns:
            if name not in self._known and name not in self._why_not:
                twice = counts.get(name, 1) > 1
                why = "" if self._table.holds_text(name) else "they contain bytes, not text"
                self._why_not[name] = "several have the same name" if twice else why


_OF_SIDES = ("_preference", "_explanation")
_BETWEEN_IDS, _BETWEEN_LABELS, _BETWEEN_TEXTS = "-", "/", "\n\n"
_MOST_VALUES_SHOWN = 8
_LONGEST_SOURCE = 120


class MappedTable(SourceTable):
    """Reads `inner` once. `columns` are ours that are mapped, and those of the file that stay next to
    them.
    """

    def __init__(self, inner: SourceTable, columns: ColumnMap, rubric: Rubric) -> None:
        super().__init__(inner.path, inner.data_format)
        self.row_word = inner.row_word
        self.problems = inner.problems
        self._inner = inner
        self._map = columns
        self._names = inner.first_columns()
        self._unknown: Counter[str] = Counter()  # labels, in the order in which they were met
        self._bad_ids = False
        self._sources = self._resolved(rubric)
        self._annotated = _annotated(self._sources)
        self._by_majority = [name for name in self._annotated if name not in self._sources]
        self._ranked = RANKED[0] in self._sources
        self._verdict = f"{default_criterion(rubric.names)}_preference"
        self._meanings = columns.meaning_of
        self._ours = self._our_columns()
        self._taken = self._taken_columns()
        self._name_columns(self._names)

    # What is read

    def _resolved(self, rubric: Rubric) -> dict[str, CellSource]:
        """The sources by column of ours. ColumnsError where one cannot be found, or something is missing."""
        named = self._map.source_of
        ranked = any(named.get(name) for name in RANKED)
        left_out = OUTPUTS if ranked else RANKED
        own = (name for name in own_annotators(self._names, rubric) if label_column(name) not in named)
        texts = {
            name: named.get(name, name if name in self._names and name not in RANKED else "")
            for name in (*targets(rubric), *own)
            # Labels and candidates that nobody named speak of other sides than those that a hash gives.
            if name in named or not (name in left_out or (ranked and _is_of_sides(name)))
        }
        sources: dict[str, CellSource] = {}
        problems: list[str] = []
        for name, text in texts.items():
            try:
                if text:
                    sources.update(self._parsed(name, text))
            except SourceProblem as problem:
                problems.append(f"{name}: {problem}")
        problems += [
            f"{name!r} has no column."
            for name in (INSTRUCTION, *(RANKED if ranked else OUTPUTS))
            if not texts.get(name)
        ]
        lone = [name for name in CANDIDATES if name in sources]
        if len(lone) == 1 and named.get(lone[0]):
            problems.append(f"only {lone[0]} is named; name both, {' and '.join(CANDIDATES)}, or none.")
        if ranked and any(name in sources for name in OUTPUTS):
            problems.append("name either output_a and output_b, or chosen and rejected.")
        used = {name for source in sources.values() for name in source.columns}
        problems += [
            f"column {quoted(name)} occurs {self._names.count(name)} times."
            for name in sorted(used)
            if self._names.count(name) > 1
        ]
        if problems:
            raise ColumnsError(self.path, problems, self._advice())
        return sources

    def _parsed(self, name: str, text: str) -> Iterator[tuple[str, CellSource]]:
        """What is read for a column of ours: for a label of several annotators a column for each of them."""
        is_one = text in self._names or not _is_label(name)
        annotators = (text,) if is_one else annotators_of(text)
        twice = [annotator for annotator, times in Counter(annotators).items() if times > 1]
        if twice:
            raise SourceProblem(f"{quoted(twice[0])} is named twice; each annotator counts once.")
        for annotator in annotators:
            several = len(annotators) > 1
            column = annotator_column(name, annotator) if several else name
            yield column, parse_source(annotator, self._names)

    def _name_columns(self, names: Sequence[str]) -> None:
        """Ours that are there, then the file's that stay next to them."""
        self.columns = [*self._ours, *(name for name in names if name not in self._taken)]

    def _our_columns(self) -> tuple[str, ...]:
        ours = [name for name in self._sources if name not in RANKED]
        ours += [*OUTPUTS, self._verdict] if self._ranked else []
        ours += self._annotated
        return tuple(dict.fromkeys([ID, *ours]))

    def _taken_columns(self) -> frozenset[str]:
        """The file's that need not stand next to ours: of texts, and what is one of ours as it is."""
        taken = set(self._ours)
        for name, source in self._sources.items():
            taken.update(source.whole)
            if name in (INSTRUCTION, *OUTPUTS, *RANKED):
                taken.update(source.texts)
        return frozenset(taken)

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:
        """Our cells of each row, and those of the `wanted` columns of the file that stay next to them."""
        needed = {name for source in self._sources.values() for name in source.columns}
        if self.must_be_text is not None:
            self._inner.must_be_text = needed
        read = None if wanted is None else {*needed, *wanted}
        for count, row in enumerate(self._inner.rows(read), start=1):
            before = len(self.problems)
            cells = self._cells(count, row)
            if len(self.problems) == before:
                beside = {name: text for name, text in row.cells.items() if name not in self._taken}
                yield SourceRow(row.number, {**cells, **beside})
        self._name_columns(self._inner.columns)

    def holds_text(self, column: str) -> bool:
        """As the file says of its own columns."""
        return column in self._ours or self._inner.holds_text(column)

    def _cells(self, count: int, row: SourceRow) -> dict[str, str]:
        """Our cells of a row; what is wrong is reported."""
        reader = RowReader(row.cells)
        cells = {ID: str(count)} if ID not in self._sources else {}
        for name, source in self._sources.items():
            try:
                cells[name] = self._cell(name, source, reader, row.number)
            except SourceProblem as problem:
                super().report(row.number, str(problem))
        for name in self._by_majority:
            annotators = self._annotated[name]
            cells[name] = _majority_cell([cells.get(column, NO_LABEL) for column in annotators])
        if self._ranked and all(name in cells for name in (ID, INSTRUCTION, *RANKED)):
            self._place(cells)
        return cells

    def _cell(self, name: str, source: CellSource, reader: RowReader, number: int) -> str:
        if _is_label(name):
            return self._label(source, reader, number)
        if name.endswith("_explanation"):
            return reader.text(source, _BETWEEN_TEXTS)
        if not reader.has(source):
            raise SourceProblem(f"no {' and no '.join(map(quoted, source.columns))}.")
        return reader.text(source, _BETWEEN_IDS if name == ID else _BETWEEN_TEXTS)

    def _label(self, source: CellSource, reader: RowReader, number: int) -> str:
        """The label that a row gives; empty for none."""
        if source.than is not None:
            value = reader.text(source, "")
            return self._meanings.get(value, value if value in HUMAN_LABELS else NO_LABEL)
        texts = reader.texts(source)
        if not any(texts):
            return NO_LABEL
        value = _BETWEEN_LABELS.join(texts)
        label = self._meanings.get(value, value)
        if label != NO_LABEL and label not in HUMAN_LABELS:
            self._unknown[value] += 1
            super().report(number, f"unknown label {quoted(value)}.", _BETWEEN_LABELS.join(source.columns))
        return label

    def _place(self, cells: dict[str, str]) -> None:
        """Put the chosen response first or second, as a hash of the item says, and label it."""
        chosen, rejected = (cells.pop(name) for name in RANKED)
        first = int(digest([cells[ID], cells[INSTRUCTION], *sorted((chosen, rejected))]), 16) % 2 == 0
        first = first == (chosen <= rejected)
        cells[OUTPUTS[0]], cells[OUTPUTS[1]] = (chosen, rejected) if first else (rejected, chosen)
        if not first:  # A of a label is the response that was named first: the chosen one
            written = [cells[name] for name in CANDIDATES if name in cells]
            if len(written) == len(CANDIDATES):
                cells.update(zip(CANDIDATES, reversed(written), strict=True))
            for name, label in cells.items():
                if _is_label(name) and label in HUMAN_LABELS:
                    cells[name] = written_label(label).swapped.value
        if not cells.get(self._verdict):
            cells[self._verdict] = (Preference.A if first else Preference.B).value

    @property
    def annotator_columns(self) -> Sequence[str]:
        """Of `columns` those with what one of several annotators of a label said."""
        return [column for columns in self._annotated.values() for column in columns]

    # What is said

    def report(self, number: int, problem: str, column: str | None = None) -> None:
        """Add a problem of one row; a column of ours is named as the file names it."""
        self._bad_ids = self._bad_ids or column == ID
        theirs = column and self._map.source_of.get(column, column)
        super().report(number, problem, theirs)

    def raise_problems(self) -> None:
        """Raise ColumnsError with all problems, if there are any; of bytes that are no text InputError."""
        if self.problems and self._inner.has_bad_bytes:
            self._inner.raise_problems()
        if self.problems:
            if self._unknown:
                raise unknown_labels(self, self._unknown, self._meanings)
            raise ColumnsError(self.path, self.problems, self._advice())

    def _advice(self) -> Hint:
        text = self._map.columns_text
        if self._bad_ids:
            unnumbered = ColumnMap.of({**self._map.source_of, ID: ""}, self._map.meaning_of)
            return Hint(
                "Name a column whose values differ, or none, so that the rows are numbered: ",
                Setting.COLUMNS.at(unnumbered.columns_text),
            )
        if not text:
            return Hint(Step.MAP_COLUMNS, ".")
        return Hint("Fix the problems above, or name other columns in: ", Setting.COLUMNS.at(text))

    @property
    def notices(self) -> Sequence[str]:
        """How the file was read, in sentences for users."""
        texts, read = self._map.source_of, dict.fromkeys(map(label_column, self._sources))
        renamed = [f"{name} is {_shown(texts[name])}" for name in read if texts.get(name, name) != name]
        said = [*self._inner.notices]
        if renamed:
            said.append(f"Its columns are mapped: {'; '.join(renamed)}.")
        if self._meanings:
            labels = [f"{quoted(value)} is {label or 'no label'}" for value, label in self._map.labels]
            said.append(f"Label values are mapped: {listed(labels, 20, str)}.")
        said += [
            f"The {name.replace('_', ' ')} of an item is the label of more than half of its annotators, or"
            " none."
            for name in self._by_majority
        ]
        if ID not in self._sources:
            said.append("No id column: the items are numbered in the order of the file.")
        if self._ranked:
            said.append(
                "A hash of the item decides whether the chosen response is A or B, and the label of"
                " {self._verdict.removesuffix('_preference').replace('_', ' ')} is set accordingly."
            )
        return said


def unknown_labels(
    table: SourceTable, values: Mapping[str, int], known: Mapping[str, str] | None = None
) -> ColumnsError:
    """The error of a table with values of labels that are none; `known`: what other values mean.

    `values`: with how often each occurs. Only the user can say what numbers mean: for these a gap is left.
    """
    shown = list(values)[:_MOST_VALUES_SHOWN]
    hint = Hint(
        "Name a column with fewer values, or write a comparison, such as 1.5>preference: A if it is below"
        " 1.5."
    )
    if len(values) <= MOST_VALUES:
        meant = {**dict.fromkeys(values, GAP), **said_meanings(values)}
        setting = Setting.LABELS.at(ColumnMap.of({}, {**(known or {}), **meant}).labels_text)
        what = f"give the label of each value ({MEANINGS_IN_WORDS}), for {values_in_words(values)}: "
        hint = Hint(f"Fix the problems above, or {what}", setting)
    return ColumnsError(table.path, table.problems, hint, unknown=shown)


def own_annotators(columns: Iterable[str], rubric: Rubric) -> list[str]:
    """Those of a file's columns that are named as what one annotator said on a criterion of a rubric."""
    labels = {f"{name}_preference" for name in rubric.names}
    return [name for name in columns if label_column(name) in labels and annotator_of(name)]


def _annotated(columns: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """By column of a label that several annotators gave the columns of these."""
    found: dict[str, tuple[str, ...]] = {}
    for name in columns:
        if (label := label_column(name)) != name:
            found[label] = (*found.get(label, ()), name)
    return found


def _is_of_sides(column: str) -> bool:
    return column in CANDIDATES or label_column(column).endswith(_OF_SIDES)


def _is_label(column: str) -> bool:
    return label_column(column).endswith("_preference")


def _majority_cell(cells: Sequence[str]) -> str:
    """What most annotators say; the others' cells are of those who said nothing, or what is no label."""
    return majority([written_label(cell) for cell in cells if cell in HUMAN_LABELS]) or NO_LABEL


def _shown(source: str) -> str:
    return repr(source if len(source) <= _LONGEST_SOURCE else f"{source[:_LONGEST_SOURCE]}…")
