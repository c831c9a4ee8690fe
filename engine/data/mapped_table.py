"""A foreign table read by a ColumnMap: its rows have our columns, its problems name the file's own.

A label that several annotators gave has a column for each of them, next to that of their majority. A file may
have such columns by itself, as `safety_preference|Ada`; where it has one of the label too, that is the label.

Long because texts, dialogues, labels and several responses are all read of one row, by the same map.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, takewhile

from engine.core.column_map import (
    ANNOTATOR,
    CANDIDATE,
    CANDIDATES,
    GAP,
    GROUP,
    ID,
    IF_NAMED,
    INSTRUCTION,
    MEANINGS_IN_WORDS,
    NO_LABEL,
    OMIT,
    OUTPUT,
    OUTPUTS,
    RANKED,
    RECORDS,
    SCORE,
    SYSTEM,
    ColumnMap,
    annotator_column,
    annotator_of,
    annotators_of,
    label_column,
    targets,
)
from engine.core.errors import ColumnsError, Hint, Setting, Step
from engine.core.formatting import counted, listed, quoted
from engine.core.items import BACKGROUND, HUMAN_LABELS, Preference, digest, grouped, majority, written_label
from engine.core.rubric import Rubric, overall_criterion
from engine.data.column_content import MOST_VALUES, finite_number, said_meanings, values_in_words
from engine.data.column_source import (
    ASSISTANT,
    EQUAL,
    PICTURE,
    USER,
    CellSource,
    RowReader,
    SourceProblem,
    Turn,
    asked_in,
    parse_source,
    written,
)
from engine.data.json_records import JsonProblem, cell_text, parse_text
from engine.data.tables import SourceRow, SourceTable

_OF_SIDES = ("_preference", "_explanation")
_BETWEEN_IDS, _BETWEEN_LABELS, _BETWEEN_TEXTS = "-", "/", "\n\n"
_MOST_VALUES_SHOWN = 8
_LONGEST_SOURCE = 120
_OMITTED = frozenset(("true", "1", "discarded", "cancelled", "canceled", "draft", "pending", "rejected"))
_LESS = "-"  # before the source of a score of which less is better
_MOST_PAIRS = 6  # of one row with several responses: more would let a few instructions outweigh the others
_OF_PERSONS = ("email", "username", "name", "id")
_MOST_ANNOTATORS = 100  # columns; of a crowd, whose workers label some items each, the names say little
_OF_RANKED = frozenset((ID, INSTRUCTION, *RANKED))
_OWN_TEXTS = (SYSTEM, INSTRUCTION, OUTPUT, *OUTPUTS, *RANKED)
_MAY_BE_DIALOGUES = (*_OWN_TEXTS, *BACKGROUND)
_OPTIONAL = (SYSTEM, *BACKGROUND)

Cells = dict[str, str]


class MappedTable(SourceTable):
    """Reads `inner` once. `columns` are ours that are mapped, and those of the file that stay next to
    them. Where a map names annotators or several responses, an item may come of several rows and a row may
    give several items: then all rows are read at once. `strict`: a value of a label whose meaning is not
    known is a problem; else it is no label, and counted in `unknown`. `with_texts`: its rows hold the texts
    of items; else they hold what a judge said of them. `keep_annotators`: each has a column, however few or
    many they are; where rows name them, rows stay rows.
    """

    def __init__(
        self,
        inner: SourceTable,
        columns: ColumnMap,
        rubric: Rubric,
        *,
        strict: bool = True,
        with_texts: bool = True,
        keep_annotators: bool = False,
    ) -> None:
        super().__init__(inner.path, inner.data_format)
        self.row_word = inner.row_word
        self.problems, self.bad_rows = inner.problems, inner.bad_rows
        self.counts: Counter[str] = Counter()
        """Of what was not read as it stands: rows omitted, dialogues that part early, pictures."""
        self._inner = inner
        self._map = columns
        self._names = inner.first_columns()
        score = columns.source_of.get(SCORE, "")
        self._is_rank = score.startswith(_LESS) and score not in self._names
        self.unknown: Counter[str] = Counter()
        """Values of labels whose meaning is not known, in the order in which they were met."""
        self._strict = strict
        self._with_texts, self._keep_annotators = with_texts, keep_annotators
        self._bad_ids = False
        self._sources = self._resolved(rubric)
        self._ranked = RANKED[0] in self._sources
        self._sides = RANKED if self._ranked else OUTPUTS
        own = (self._sources.get(name) for name in (INSTRUCTION, *OUTPUTS))
        are_own = [source and source.whole for source in own] == [INSTRUCTION, *OUTPUTS]
        self._own_texts = are_own and ID in self._names
        self._alternatives = self._ranked and any(self._sources[name].is_list for name in RANKED)
        self._verdict = f"{overall_criterion(rubric.names)}_preference"
        self._meanings = columns.meaning_of
        self._labels = dict.fromkeys(label_column(name) for name in self._sources if is_label(name))
        if self._ranked or OUTPUT in self._sources:
            self._labels[self._verdict] = None
        self._find_annotators(self._sources)
        self._made: list[SourceRow] | None = None
        self._ours = self._our_columns()
        self._taken = self._taken_columns()
        self._read = frozenset((*self._taken, *self._sources))
        self._name_columns(self._names)

    # What is read

    def _resolved(self, rubric: Rubric) -> dict[str, CellSource]:
        """The sources by column of ours. ColumnsError where one cannot be found, or something is missing."""
        named = self._map.source_of
        ways = [way for way in ((OUTPUT,), RANKED, OUTPUTS) if any(named.get(name) for name in way)]
        hashed = OUTPUTS not in ways[:1] and bool(ways)  # a hash places the responses
        own = (name for name in own_annotators(self._names, rubric) if label_column(name) not in named)
        texts = {
            name: named.get(name, name if name in self._names and name not in IF_NAMED else "")
            for name in dict.fromkeys((*targets(rubric), *own, *named))
            # Labels and candidates that nobody named speak of other sides than those that a hash gives.
            if name in named or not (hashed and _is_of_sides(name))
        }
        sources: dict[str, CellSource] = {}
        problems: list[str] = []
        for name, text in texts.items():
            try:
                if text and name != RECORDS:
                    sources.update(self._parsed(name, text))
            except SourceProblem as problem:
                problems.append(f"{name}: {problem}")
        needed = {(OUTPUT,): (OUTPUT, SCORE), RANKED: RANKED}.get(ways[0] if ways else OUTPUTS, OUTPUTS)
        if self._with_texts:
            problems += [f"{name!r} has no column." for name in (INSTRUCTION, *needed) if not texts.get(name)]
        lone = [name for name in CANDIDATES if name in sources]
        if len(lone) == 1 and named.get(lone[0]):
            problems.append(f"only {lone[0]} is named; name both, {' and '.join(CANDIDATES)}, or none.")
        if len(ways) > 1:
            problems.append("name either output_a and output_b, or chosen and rejected, or output and score.")
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
        may_be_several = is_label(name) or name in (ANNOTATOR, OMIT)
        is_one = text in self._names or not may_be_several
        if name == SCORE and self._is_rank:
            text = text.removeprefix(_LESS)
        annotators = (text,) if is_one else annotators_of(text)
        by_row = self._map.source_of.get(ANNOTATOR, "[]")  # where it names one, a list is what that one said
        twice = [annotator for annotator, times in Counter(annotators).items() if times > 1]
        if twice:
            raise SourceProblem(f"{quoted(twice[0])} is named twice; each annotator counts once.")
        for annotator in annotators:
            source = parse_source(annotator, self._names)
            several = len(annotators) > 1 or (source.is_list and is_label(name) and "[]" in by_row)
            yield annotator_column(label_column(name), annotator) if several else name, source

    def _find_annotators(self, names: Iterable[str]) -> None:
        self._annotated: dict[str, tuple[str, ...]] = {}  # by label the columns of its annotators
        for name in names:
            # Not of a column beside ours that has a bar in its name.
            if (label := label_column(name)) != name and label in self._labels:
                self._annotated[label] = (*self._annotated.get(label, ()), name)
        self._by_majority = [name for name in self._annotated if name not in self._sources]

    @property
    def _is_whole(self) -> bool:
        """Whether rows are joined or parted, so that all are read before the first is known."""
        sources = self._sources.items()
        return any(source.is_list or name in (ANNOTATOR, OUTPUT) for name, source in sources)

    def _name_columns(self, names: Sequence[str]) -> None:
        """Ours that are there, then the file's that stay next to them."""
        self.columns = [*self._ours, *(name for name in names if name not in self._taken)]

    def _our_columns(self) -> tuple[str, ...]:
        several = OUTPUT in self._sources
        ours = [name for name in self._sources if label_column(name) not in IF_NAMED]
        ours = [name for name in ours if name == label_column(name)]
        ours += [*OUTPUTS, self._verdict] if several or self._ranked else []
        ours += filter(self._sources.get, BACKGROUND)
        ours += CANDIDATES if several and CANDIDATE in self._sources else ()
        ours += [column for label, columns in self._annotated.items() for column in (label, *columns)]
        return tuple(dict.fromkeys([ID, *ours, *self._labels]))

    def _taken_columns(self) -> frozenset[str]:
        """The file's that need not stand next to ours: of texts, and what is one of ours as it is."""
        taken = set(self._ours)
        for name, source in self._sources.items():
            taken.update(source.texts if source.whole is not None else ())
            if name in _OWN_TEXTS:
                taken.update(source.texts)
        return frozenset(taken)

    def rows(self, wanted: Collection[str] | None = None) -> Iterator[SourceRow]:
        """Our cells of each row, and those of the `wanted` columns of the file that stay next to them."""
        if self._is_whole:
            yield from self._all_at_once() if self._made is None else self._made
            return
        yield from self._each(wanted)
        self.is_broken_off = self._inner.is_broken_off
        self._name_columns(self._inner.columns)

    def read_ahead(self) -> None:
        """Read all rows now where the columns depend on them."""
        if self._is_whole and self._made is None:
            self._made = self._all_at_once()

    def _all_at_once(self) -> list[SourceRow]:
        rows = list(self._each(None))
        if GROUP in self._sources:
            rows = list(self._of_groups(rows))
        annotator = self._sources.get(ANNOTATOR)
        if annotator is not None and not annotator.is_list and not self._keep_annotators:
            rows = self._of_items(rows)
        rows = rows if self._keep_annotators else _few_annotators(rows, self._labels)
        self._find_annotators(dict.fromkeys(name for row in rows for name in row.cells))
        for row in rows:
            self._decide(row.cells)
        self._ours = self._our_columns()
        self._name_columns(self._inner.columns)
        self.is_broken_off = self._inner.is_broken_off
        return rows

    def _each(self, wanted: Collection[str] | None) -> Iterator[SourceRow]:
        needed = {name for source in self._sources.values() for name in source.columns}
        if self.must_be_text is not None:
            self._inner.must_be_text = needed
        read = None if wanted is None else {*needed, *wanted}
        omit = self._sources.get(OMIT)
        for count, row in enumerate(self._inner.rows(read), start=1):
            before = len(self.problems)
            reader = RowReader(row.cells)
            try:
                if omit is not None and not omit.is_list and reader.text(omit, "").lower() in _OMITTED:
                    self.counts["omitted"] += 1
                    continue
                items = list(self._items(self._cells(count, row, reader), reader))
            except SourceProblem as problem:
                super().report(row.number, str(problem))
            if len(self.problems) == before:
                beside = {name: text for name, text in row.cells.items() if name not in self._read}
                for cells in items:
                    yield SourceRow(row.number, {**cells, **beside} if beside else cells)

    def holds_text(self, column: str) -> bool:
        """As the file says of its own columns."""
        return column in self._ours or self._inner.holds_text(column)

    def _cells(self, count: int, row: SourceRow, reader: RowReader) -> Cells:
        """Our cells of a row, without what is a list of responses; what is wrong is reported."""
        cells = {} if ID in self._sources else {ID: str(count)}
        dialogues: dict[str, list[Turn] | None] = {}
        for name, source in self._sources.items():
            try:
                if source.is_list:
                    cells |= self._of_list(name, source, reader, row.number)
                    continue
                # A file whose columns are ours holds the texts as they are, dialogues or not.
                if name in _MAY_BE_DIALOGUES and not self._own_texts:
                    dialogues[name] = reader.turns(source)
                cells[name] = self._cell(name, source, reader, row.number, dialogues.get(name))
            except SourceProblem as problem:
                super().report(row.number, str(problem))
        if self._sides[0] in cells and self._sides[1] in cells:
            self._read_dialogues(cells, dialogues)
        if system := cells.pop(SYSTEM, ""):
            said = cells.get(INSTRUCTION, "")
            asked = said if said.startswith(("User: ", "System: ")) else f"User: {said}"
            cells[INSTRUCTION] = f"System: {system}\n\n{asked}"
        if any(PICTURE in cells.get(name, "") for name in (INSTRUCTION, *self._sides)):
            self.counts["pictures"] += 1
        self._decide(cells)
        return cells

    def _decide(self, cells: Cells) -> None:
        """Fill labels in that are those of most of several annotators."""
        for name in self._by_majority:
            said = [cells.get(column, NO_LABEL) for column in self._annotated[name]]
            found = majority([written_label(cell) for cell in said if cell in HUMAN_LABELS])
            cells[name] = found.value if found else NO_LABEL

    def _cell(
        self, name: str, source: CellSource, reader: RowReader, number: int, turns: Sequence[Turn] | None
    ) -> str:
        if is_label(name):
            return self._label(source, reader, number)
        if name.endswith("_explanation"):
            return reader.text(source, _BETWEEN_TEXTS)
        if name not in _OPTIONAL and not reader.has(source):
            raise SourceProblem(f"no {' and no '.join(map(quoted, source.columns))}.")
        if turns and not source.parts:
            return written(asked_in(turns) if name == INSTRUCTION else turns)
        return reader.text(source, _BETWEEN_IDS if name in (ID, GROUP) else _BETWEEN_TEXTS)

    def _read_dialogues(self, cells: Cells, dialogues: Mapping[str, list[Turn] | None]) -> None:
        """Where both responses are dialogues: they begin where the two part. What was said before belongs to
        what was asked, unless a column of its own holds as much. Of two texts it is what both begin with, if
        what was asked is read from one of them.
        """
        sources = [self._sources[name] for name in self._sides]
        one, other = (dialogues.get(name) for name in self._sides)
        if not one or not other:
            if self._sources[INSTRUCTION] == sources[0]:
                _part_texts(cells, self._sides)
            return
        least = min(len(one), len(other)) - 1
        shared = next((at for at in range(least) if one[at] != other[at]), least)
        if all(source.parts for source in sources) and shared == len(one) - 1 == len(other) - 1:
            return  # they differ in the reply alone, which was read
        for name, turns in zip(self._sides, (one, other), strict=True):
            cells[name] = written(turns[shared:])
        self.counts["parted"] += max(len(one), len(other)) - shared > 1
        before, asked = written(one[:shared]), cells.get(INSTRUCTION, "")
        of_them = {name for source in sources for name in source.columns}
        is_part = asked in before and (shared > 1 or not asked)
        if shared and (is_part or of_them & {*self._sources[INSTRUCTION].columns}):
            cells[INSTRUCTION] = before
        elif shared and asked not in before:
            self.counts["asked otherwise"] += 1

    # Labels

    def _label(self, source: CellSource, reader: RowReader, number: int) -> str:
        """The label that a row gives; empty for none."""
        if source.than is not None:
            texts = reader.texts(source) if source.is_of_a_scale else []
            if texts and texts[0] in self._meanings:  # 0 for a tie next to a scale from 1 to 2
                return self._meanings[texts[0]]
            value = reader.text(source, "")
            return self._meanings.get(value, value if value in HUMAN_LABELS else NO_LABEL)
        texts = reader.texts(source)
        return self._meant(_BETWEEN_LABELS.join(texts), source, reader, number) if any(texts) else NO_LABEL

    def _meant(self, value: str, source: CellSource, reader: RowReader, number: int) -> str:
        """The label that a value stands for, the name of one of the candidates too; others are reported."""
        label = self._meanings.get(value, value)
        if label == NO_LABEL or label in HUMAN_LABELS:
            return label
        if all(name in self._sources for name in CANDIDATES):
            names = [reader.text(self._sources[name], _BETWEEN_TEXTS) for name in CANDIDATES]
            if names.count(value) == 1:
                return HUMAN_LABELS[names.index(value)].value
        self.unknown[value] += 1
        if not self._strict:
            return NO_LABEL
        super().report(number, f"unknown label {quoted(value)}.", _BETWEEN_LABELS.join(source.columns))
        return label

    def _of_list(self, name: str, source: CellSource, reader: RowReader, number: int) -> Cells:
        """What each annotator says whose labels, or explanations, are a list in the row, without those that
        do not count.
        """
        if name in BACKGROUND or name.endswith("_explanation"):
            return {name: reader.all_text(source)}
        if not is_label(name):
            return {}
        label = label_column(name)
        if name == label:  # in Label Studio's JSON_MIN: [{"selected": "left"}]
            said = list(dict.fromkeys(filter(None, reader.entries(source))))
            if len(said) > 1:
                raise SourceProblem(f"{listed(said, 3, quoted)} are said by one annotator.")
            return {name: self._meant(said[0], source, reader, number) if said else NO_LABEL}
        lists = [column for column in self._sources if label_column(column) == label and column != label]
        place = lists.index(name)
        values = reader.entries(source)
        who, omitted = (self._beside(kind, source, place, values, reader) for kind in (ANNOTATOR, OMIT))
        found = {}
        for at, value in enumerate(values):
            if omitted[at].lower() in _OMITTED:
                self.counts["annotations omitted"] += 1
            elif value:
                name = annotator_name(who[at]) or f"annotator {len(values) * place + at + 1}"
                found[annotator_column(label, name)] = self._meant(value, source, reader, number)
        return found

    def _beside(
        self, kind: str, labels: CellSource, place: int, values: Sequence[str], reader: RowReader
    ) -> list[str]:
        """What stands beside each of some annotations: who gave them, whether they count. It is read from
        their own list; where several are named and none is that, from the one at their place.
        """
        sources = [source for name, source in self._sources.items() if label_column(name) == kind]
        if not sources or not sources[0].is_list:
            return [""] * len(values)
        own = [source for source in sources if source.entries_of == labels.entries_of]
        found = reader.entries(own[0] if own else sources[min(place, len(sources) - 1)])
        return [*found, *[""] * len(values)][: len(values)]

    # Several responses, several rows

    def _items(self, cells: Cells, reader: RowReader) -> Iterator[Cells]:
        """What a row gives: an item, or one for each of some pairs of its responses."""
        if OUTPUT in self._sources:
            if GROUP in self._sources:
                yield cells
                return
            texts, scores, writers = (
                [] if source is None else reader.entries(source) if source.is_list else reader.texts(source)
                for source in map(self._sources.get, (OUTPUT, SCORE, CANDIDATE))
            )
            yield from self._scored(cells, texts, scores, writers)
        elif self._alternatives:
            chosen, rejected = (
                reader.entries(source) if source.is_list else [cells[name]]
                for name, source in ((name, self._sources[name]) for name in RANKED)
            )
            found = [{RANKED[0]: one, RANKED[1]: other} for one in chosen for other in rejected]
            yield from self._placed(cells, found)
        elif self._ranked:
            if cells.keys() >= _OF_RANKED:
                yield self._place(cells)
        else:
            yield cells

    def _scored(
        self, cells: Cells, texts: Sequence[str], scores: Sequence[str], writers: Sequence[str]
    ) -> Iterator[Cells]:
        """Pairs of responses by their scores; equal ones as the map says of EQUAL, else left out."""
        known = [
            (text, number, writers[at] if at < len(writers) else "")
            for at, text in enumerate(texts)
            if at < len(scores) and (number := _score(scores[at])) is not None
        ]
        found = []
        for one, other in combinations(known, 2):
            if one[1] == other[1] and EQUAL not in self._meanings:
                continue
            better, worse = (one, other) if (one[1] >= other[1]) != self._is_rank else (other, one)
            pair = {RANKED[0]: better[0], RANKED[1]: worse[0]}
            if CANDIDATE in self._sources:
                pair |= dict(zip(CANDIDATES, (better[2], worse[2]), strict=True))
            if one[1] == other[1]:
                pair[self._verdict] = self._meanings[EQUAL]
            found.append(pair)
        self.counts["no pair"] += not found
        rest = {n: text for n, text in cells.items() if n not in (OUTPUT, SCORE, CANDIDATE, GROUP)}
        yield from self._placed(rest, found)

    def _placed(self, cells: Cells, pairs: Sequence[Cells]) -> Iterator[Cells]:
        """An item for each pair of responses, of some where there are many, picked by a hash."""
        kept = list(range(len(pairs)))
        if len(pairs) > _MOST_PAIRS:
            self.counts["pairs left out"] += len(pairs) - _MOST_PAIRS
            picked = sorted(kept, key=lambda at: digest([cells[INSTRUCTION], *pairs[at].values()]))
            kept = sorted(picked[:_MOST_PAIRS])
        for number, at in enumerate(kept, start=1):
            own_id = cells[ID] if len(pairs) == 1 else f"{cells[ID]}-{number}"
            yield self._place({**cells, **pairs[at], ID: own_id})

    def _place(self, cells: Cells) -> Cells:
        """The same with the chosen response first or second, as a hash of the item says, and labelled."""
        chosen, rejected = (cells.pop(name) for name in RANKED)
        # By a hash, so that the place says nothing and is the same on every computer.
        item_id = () if ANNOTATOR in self._sources else (cells[ID],)  # of all annotators in the same places
        shown = digest([*item_id, cells[INSTRUCTION], *sorted((chosen, rejected))])
        first = (int(shown[-1], 16) % 2 == 0) == (chosen <= rejected)
        cells[OUTPUTS[0]], cells[OUTPUTS[1]] = (chosen, rejected) if first else (rejected, chosen)
        if not first:  # A of a label is the response that was named first: the chosen one
            _swap(cells)
        is_open = OUTPUT not in self._sources and self._verdict not in self._by_majority
        if self._verdict not in cells or (not cells[self._verdict] and is_open):
            cells[self._verdict] = (Preference.A if first else Preference.B).value
        return cells

    def _of_groups(self, rows: Iterable[SourceRow]) -> Iterator[SourceRow]:
        """Pairs of the responses in the rows of one group; all else is that of the group's first row. Where
        what was asked is read from where responses are, the rows are messages of trees.
        """
        groups = grouped(rows, key=lambda row: row.cells[GROUP])
        is_tree = self._sources[INSTRUCTION] == self._sources[OUTPUT]
        messages = {row.cells[ID]: row.cells for of_one in groups.values() for row in of_one}
        for of_group, of_one in groups.items():
            lists = [[row.cells.get(name, "") for row in of_one] for name in (OUTPUT, SCORE, CANDIDATE)]
            first = of_one[0].cells
            if is_tree and not (asked := _asked(of_group, messages)):
                continue
            if is_tree:
                first = {**first, INSTRUCTION: asked}
            for cells in self._scored(first, *lists):
                yield SourceRow(of_one[0].number, cells)

    def _of_items(self, rows: Iterable[SourceRow]) -> list[SourceRow]:
        """One row for the same texts, with a column for each annotator of each label."""
        items: dict[tuple[object, ...], SourceRow] = {}
        for row in rows:
            cells = row.cells
            who = annotator_name(cells.pop(ANNOTATOR, "")) or "unnamed"
            sides = [cells[name] for name in OUTPUTS]
            # Two models may have written the same: theirs is a pair of its own.
            whose = [(text, cells.get(name, "")) for text, name in zip(sides, CANDIDATES, strict=True)]
            key = (cells[INSTRUCTION], *whose)
            known = items.get((cells[INSTRUCTION], *whose[::-1]))
            if key in items or known is None:
                known = items.setdefault(key, row)
            else:
                _swap(cells)
            for name in [name for name in cells if name in self._labels]:
                column = annotator_column(name, who)
                self.counts["said twice"] += bool(known.cells.get(column)) and bool(cells[name])
                known.cells[column] = cells[name] or known.cells.get(column, NO_LABEL)
            for name in [name for name in cells if name.endswith("_explanation") and known is not row]:
                known.cells[name] = _BETWEEN_TEXTS.join(filter(None, (known.cells.get(name), cells[name])))
        labels = [name for name in self._sources if is_label(name)]
        for row in items.values():
            for name in labels:
                del row.cells[name]
        for name in labels:  # what the rows said are the annotators' labels now
            del self._sources[name]
        return list(items.values())

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
            if self.unknown:
                raise unknown_labels(self, self.unknown, self._meanings)
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
        half = "of an item is the label of more than half of its annotators, or none."
        said += [f"The {name.replace('_', ' ')} {half}" for name in self._by_majority]
        if ID not in self._sources:
            said.append("No id column: the items are numbered in the order of the file.")
        of_rows = ((self.counts[what], *words) for what, words in _TOLD.items())
        said += [f"{counted(count, one, several)} {rest}" for count, one, several, rest in of_rows if count]
        if self._ranked or OUTPUT in self._sources:
            said.append(
                "A hash of the item decides whether the chosen response is A or B, and the label of"
                f" {self._verdict.removesuffix('_preference').replace('_', ' ')} is set accordingly."
            )
        return said


_MARKED = "omitted: they are marked as discarded, cancelled or unfinished."
_FEWER = f"left out: of the responses to one instruction at most {_MOST_PAIRS} pairs are read."
_PARTED = "before the last reply: the responses begin there, with all that follows."
_NO_PAIR = "no pair: fewer than two of its responses have a score, or all scores are equal."
_TWICE = "given twice by the same annotator to the same texts: the last one counts."
_TOLD = {
    "omitted": ("row is", "rows are", _MARKED),
    "annotations omitted": ("annotation is", "annotations are", _MARKED),
    "parted": ("pair of dialogues parts", "pairs of dialogues part", _PARTED),
    "pictures": ("item holds", "items hold", f"a picture, which no judge here sees: {PICTURE}."),
    "pairs left out": ("pair is", "pairs are", _FEWER),
    "no pair": ("instruction gives", "instructions give", _NO_PAIR),
    "said twice": ("label is", "labels are", _TWICE),
}


def unknown_labels(
    table: SourceTable, values: Mapping[str, int], known: Mapping[str, str] | None = None
) -> ColumnsError:
    """The error of a table with values of labels that are none; `known`: what other values mean.

    `values`: with how often each occurs. Only the user can say what numbers mean: for these a gap is left.
    """
    shown = list(values)[:_MOST_VALUES_SHOWN]
    comparison = "such as 1.5>preference: A if it is below 1.5."
    hint = Hint(f"Name a column with fewer values, or write a comparison, {comparison}")
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


def _few_annotators(rows: Sequence[SourceRow], known: Collection[str]) -> list[SourceRow]:
    """The same rows; where no item has two annotators of one of the `known` labels without their columns, and
    with their places for names where there are too many.
    """
    named = (name for row in rows for name in row.cells if annotator_of(name))
    columns = {name: label for name in named if (label := label_column(name)) in known}
    of_items = (Counter(columns[name] for name in row.cells if name in columns) for row in rows)
    most = max((count for counts in of_items for count in counts.values()), default=0)
    labels = {*columns.values()}
    if most > 1 and len(columns) <= _MOST_ANNOTATORS * len(labels):
        return list(rows)
    found = []
    for row in rows:
        cells = {name: text for name, text in row.cells.items() if name not in columns}
        for label in labels:
            names = [name for name in row.cells if columns.get(name) == label]
            if most <= 1:
                cells[label] = cells.get(label) or "".join(row.cells[name] for name in names)
                continue
            for at, name in enumerate(names, start=1):
                cells[annotator_column(label, f"annotator {at}")] = row.cells[name]
        found.append(row._replace(cells=cells))
    return found


def _swap(cells: Cells) -> None:
    """Exchange the candidates, and what labels say of the two sides."""
    writers = [cells[name] for name in CANDIDATES if name in cells]
    if len(writers) == len(CANDIDATES):
        cells.update(zip(CANDIDATES, reversed(writers), strict=True))
    for name, label in cells.items():
        if is_label(name) and label in HUMAN_LABELS:
            cells[name] = written_label(label).swapped.value


def annotator_name(text: str) -> str:
    """Who an annotator is: what a cell says, or what an object of JSON says of a person."""
    if text.startswith("{"):
        try:
            person = parse_text(text)
        except JsonProblem:
            person = None
        if isinstance(person, dict):
            text = next((cell_text(person[key]) for key in _OF_PERSONS if person.get(key)), text)
    return text.replace("|", "/").strip()


def _part_texts(cells: Cells, names: Sequence[str]) -> None:
    """Take what two texts begin with, in whole words, for what was asked."""
    texts = [cells[name] for name in names]
    same = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(*texts, strict=False)))
    end = len(same) - len(re.split(r"\s", same)[-1])
    cells[INSTRUCTION] = same[:end].strip()
    cells.update((name, text[end:]) for name, text in zip(names, texts, strict=True))


def _asked(of_group: str, messages: Mapping[str, Cells]) -> str:
    """All that was said before the responses of a group, which is the id of the message that they answer;
    empty where no user said it last, or where the first message is not there.
    """
    said: list[str] = []
    while of_group in messages and len(said) < len(messages):
        said.append(messages[of_group][OUTPUT])
        of_group = messages[of_group][GROUP]
    if of_group or len(said) % 2 == 0:
        return ""
    return written([Turn((USER, ASSISTANT)[place % 2], text) for place, text in enumerate(reversed(said))])


def _score(text: str) -> tuple[float, ...] | None:
    """What responses are compared by, the first number first; None where one is none."""
    numbers = [_number(part) for part in text.split(_BETWEEN_TEXTS)]
    return None if None in numbers else tuple(number for number in numbers if number is not None)


def _number(text: str) -> float | None:
    """A number, a truth value, or the mean of a list of numbers."""
    if text[:1] == "[":
        found = [finite_number(part) for part in text.strip("[]").split(",")]
        return None if None in found else sum(number or 0.0 for number in found) / len(found)
    return float(text.lower() == "true") if text.lower() in ("true", "false") else finite_number(text)


def _is_of_sides(column: str) -> bool:
    return column in (*OUTPUTS, *CANDIDATES) or label_column(column).endswith(_OF_SIDES)


@lru_cache  # asked of the few columns of each of many rows
def is_label(column: str) -> bool:
    return label_column(column).endswith("_preference")


def _shown(source: str) -> str:
    return repr(source if len(source) <= _LONGEST_SOURCE else f"{source[:_LONGEST_SOURCE]}…")
