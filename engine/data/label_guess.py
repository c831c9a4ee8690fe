"""Which columns of a foreign file are labels, whose they are, and what their values mean."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.core.column_map import ANNOTATOR, CANDIDATES, OMIT, OUTPUTS, RANKED, Confidence, of_annotators
from engine.core.items import HUMAN_LABELS
from engine.core.rubric import Rubric, default_criterion
from engine.data import column_words as naming
from engine.data.column_content import MOST_VALUES, Sample, meanings_of, one_hot_meanings, said_meanings
from engine.data.column_source import EQUAL
from engine.data.column_words import ColumnPair, column_pairs, first_named, is_id, plain_name, tokens_of


@dataclass
class FoundColumns:
    """What was found so far: `sources` by column of ours, `confidence` in them, columns that are `taken`."""

    sources: dict[str, str] = field(default_factory=dict)
    confidence: dict[str, Confidence] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    def set(self, name: str, source: str, sure: Confidence, *taken: str) -> None:
        """`taken`: the columns that are used up by it; none for the source itself."""
        self.sources[name] = source
        self.confidence[name] = sure
        self.taken.update(taken or (source,))

    def free(self, columns: Sequence[str]) -> list[str]:
        return [column for column in columns if column not in self.taken]

    def belongs(self, pair: ColumnPair) -> bool:
        """Whether numbers are of the same two entries of a list as the responses."""
        places = (self.sources.get(OUTPUTS[0], ""), pair.columns[0])
        one, other = (re.match(r".*?\[\d+\]", place) for place in places)
        return (one and one[0]) == (other and other[0])


class LabelGuess:
    """`labels`: what values seem to mean; `values`: those whose meaning only the user knows, with how often
    each occurs; `scale`: the label of ours that holds more numbers than could be named, empty for none.
    """

    def __init__(self, sample: Sample, rubric: Rubric, found: FoundColumns) -> None:
        self._sample = sample
        self._rubric = rubric
        self._found = found
        self.labels: dict[str, str] = {}
        self.values: Mapping[str, int] = {}
        self.scale = ""

    def guess(self) -> None:
        """Labels and an explanation; beside a chosen and a rejected response the scores that are equal."""
        if RANKED[0] not in self._found.sources:
            self._guess_labels()
        elif (equal := self._equal_scores()) is not None:
            self._found.set(self._overall, equal, Confidence.LIKELY)
        target = self._overall.replace("_preference", "_explanation")
        free = self._found.free(self._sample.scalars)
        named = first_named(free, naming.EXPLANATIONS, self._sample.holds_texts)
        if named is not None and any(name.endswith("_preference") for name in self._found.sources):
            self._found.set(target, named, Confidence.LIKELY)

    def _guess_labels(self) -> None:
        own = [name for name in self._rubric.names if f"{name}_preference" in self._sample.columns]
        if own:
            self._take_values([f"{name}_preference" for name in own])
            for name in own:
                self._found.set(f"{name}_preference", f"{name}_preference", Confidence.SURE)
            return
        steps: Sequence[Callable[[], bool]] = (
            *(self._one_hot, self._annotations, self._named_labels, self._scores, self._odd_labels),
        )
        any(step() for step in steps)

    def _one_hot(self) -> bool:
        """Columns of 0 and 1, one for each side, perhaps a third one for a tie."""
        free = [column for column in self._found.free(self._sample.scalars) if self._sample.is_flag(column)]
        winning = [name for name in free if naming.WINNING & set(tokens_of(name))]
        ties = [name for name in free if {"tie", "draw", "equal", "same"} & set(tokens_of(name))]
        for pair in column_pairs(winning, naming.SIDES):
            columns = (*pair.columns, *ties[:1])
            labels = one_hot_meanings([self._sample.joined_values(columns)], bool(ties))
            if labels is not None:
                self.labels = labels
                self._found.set(self._overall, "+".join(columns), Confidence.SURE, *columns)
                return True
        return False

    def _annotations(self) -> bool:
        """A list in each row with what each annotator said, and beside it who that was."""
        for place in self._sample.lists:
            words = {*tokens_of(place.rpartition("]")[2] or place)}
            is_other = {*tokens_of(place)} & naming.SUGGESTED or words & {*naming.PEOPLE, "id", "by"}
            if is_other or not self._says_who_wins(place):
                continue
            self._take_values([place])
            whole = place.rpartition("[]")[0]
            beside = {
                name: tokens_of(name[len(whole) :])
                for name in self._sample.lists
                if name != place and name.startswith(whole)
            }
            called = (*naming.PEOPLE, "users", "completed", "by")
            who = next((name for word in called for name, words in beside.items() if word in words), None)
            said = {"status", "cancelled"}
            omit = next((name for name, words in beside.items() if said & {*words}), None)
            if who is not None:
                self._found.set(ANNOTATOR, who, Confidence.SURE)
            if omit is not None:
                self._found.set(OMIT, omit, Confidence.SURE)
            self._found.set(self._overall, place, Confidence.SURE if who is not None else Confidence.LIKELY)
            return True
        return False

    def _says_who_wins(self, place: str) -> bool:
        """Whether all values of a list are words for labels; numbers may be anything."""
        values = self._sample.source_values(place)
        if not values or len(values) > MOST_VALUES:
            return False
        meant = {**said_meanings(values), **(self._names_of_sides(values) or {})}
        said = {meant.get(value, value) for value in values}
        writers = {*values} & {*self._sample.distinct(self._found.sources.get(CANDIDATES[0], ""))}
        is_choice = {"A", "B"} <= said or len(writers) > 1
        return is_choice and {*values} <= {*meant, *HUMAN_LABELS}

    def _named_labels(self) -> bool:
        for column in self._label_columns():
            target = self._criterion_of(column)
            columns = self._annotators_like(column)
            numbers = self._sample.numbers(column)  # from 1 to 2, as AlpacaEval writes shares
            if self._sample.values(column) is None and numbers and 1 <= min(numbers) <= max(numbers) <= 2:
                self.scale = target
            elif not self._take_values(columns):
                continue
            plain = plain_name(column)
            is_named = plain in naming.LABELS
            is_sure = plain in naming.LABELS[: naming.SURE_LABELS]
            sure = Confidence.SURE if is_sure else Confidence.LIKELY if is_named else Confidence.UNCERTAIN
            self._found.set(target, of_annotators(columns), sure, *columns)
            return True
        return False

    def _odd_labels(self) -> bool:
        """A column that is called a label and whose few values nobody knows: all of them are asked about."""
        for column in self._label_columns():
            if not {*tokens_of(column)} & naming.VERDICTS:
                continue
            values, numbers = self._sample.values(column) or {}, self._sample.numbers(column)
            if numbers and (not values or any(number != int(number) for number in numbers)):
                self.scale = self._criterion_of(column)
            elif 2 <= len(values) <= naming.MOST_STEPS:
                self.labels = said_meanings(values)
                self.values = {value: count for value, count in values.items() if value not in self.labels}
            else:
                continue
            self._found.set(self._criterion_of(column), column, Confidence.UNCERTAIN)
            return True
        return False

    def _annotators_like(self, column: str) -> list[str]:
        """The column, and those of other annotators: of the same name but for its number, in their order."""
        words = tokens_of(column)
        if not naming.ANNOTATORS & set(words) or not words[-1].isdigit():
            return [column]
        free = {name: tokens_of(name) for name in self._found.free(self._sample.scalars)}
        alike = [name for name, of in free.items() if of[:-1] == words[:-1] and of[-1].isdigit()]
        return [name for name in alike if name == column or self._sample.values(name)]

    def _label_columns(self) -> Iterator[str]:
        scalars = self._found.free(self._sample.scalars)
        free = [name for name in scalars if not {*tokens_of(name)} & naming.SUGGESTED]
        named = [column for word in naming.LABELS for column in free if plain_name(column) == word]
        words = {token for word in naming.LABELS for token in tokens_of(word) if token.isalpha()}
        words -= naming.NO_VERDICT
        yield from named
        for name in free:
            if name not in named and words & {*tokens_of(name)} and self._sample.is_short(name):
                yield name

    def _take_values(self, columns: Sequence[str]) -> bool:
        """Take what the values of label columns seem to mean; False where they seem to be no labels."""
        counts: Counter[str] = Counter()
        for column in columns:
            found = self._sample.source_values(column) if "[]" in column else self._sample.values(column)
            counts.update(found or {})
        if len(counts) > MOST_VALUES:
            return False
        meant = self._names_of_sides(counts) or meanings_of(counts)
        if meant is None:
            return False
        self.labels = {value: label for value, label in meant.items() if label != value}
        known = {*meant, *HUMAN_LABELS}
        self.values = {value: count for value, count in counts.most_common() if value not in known}
        return True

    def _names_of_sides(self, values: Collection[str]) -> dict[str, str] | None:
        """What values mean that are the names of the columns of the two responses, or of the two models."""
        columns = [re.split(r"[@\[]", self._found.sources.get(name, ""))[0] for name in OUTPUTS]
        own = [column.rpartition(".")[2] for column in columns]
        sides = {own[0]: HUMAN_LABELS[0].value, own[1]: HUMAN_LABELS[1].value}
        if {*own} & {*values} and all(own):
            return {**said_meanings(values), **{value: sides[value] for value in values if value in sides}}
        writers = [self._sample.distinct(self._found.sources.get(name, "")) for name in CANDIDATES]
        if all(writers) and {*values} & (writers[0] | writers[1]):
            named = {value: value for value in values if value in writers[0] | writers[1]}
            return {**said_meanings(values), **named}
        return None

    def _scores(self) -> bool:
        """Two numbers, one for each response."""
        for pair, named in self._score_pairs(naming.SIDES):
            target = f"{named}_preference" if named else self._overall
            if target not in self._found.sources:
                self._found.set(target, ">".join(pair.columns), Confidence.LIKELY)
        found = [source for name, source in self._found.sources.items() if name.endswith("_preference")]
        if ties := sum(map(self._sample.ties, found)):
            self.values = {EQUAL: ties}
        return bool(found)

    def _equal_scores(self) -> str | None:
        """Of a chosen and a rejected response the scores, where some are equal: those are asked about."""
        for pair, _ in self._score_pairs(naming.RANKS):
            source = ">".join(pair.columns)
            if count := self._sample.ties(source):
                self.values = {EQUAL: count}
                return source
        return None

    def _score_pairs(self, sides: Sequence[tuple[str, str]]) -> Iterator[tuple[ColumnPair, str | None]]:
        numbers = [place for place in self._found.free(self._sample.places) if self._sample.is_number(place)]
        for pair in column_pairs(numbers, sides):
            words = set(pair.tokens)
            named = next((name for name in self._rubric.names if name in words), None)
            is_score = named is not None or words & naming.SCORES
            if is_score and not words & naming.LESS_IS_BETTER and self._found.belongs(pair):
                yield pair, named

    @property
    def _overall(self) -> str:
        return f"{default_criterion(self._rubric.names)}_preference"

    def _criterion_of(self, column: str) -> str:
        named = next((name for name in self._rubric.names if name in plain_name(column)), None)
        return f"{named}_preference" if named else self._overall


def may_be_label(sample: Sample, name: str) -> bool:
    """Whether a column of few values could be a label that nobody named: by its name, or by its values."""
    values = sample.source_values(name) if "[]" in name else sample.values(name) or {}
    is_key = is_id(name) or (len(sample.short) > naming.MOST_STEPS and sample.is_unique(name))
    if not 2 <= len(values) <= naming.MOST_STEPS or is_key:
        return False
    words = {*tokens_of(name)} & (naming.VERDICTS | {"rating", "score", "strength"})
    return bool(words) or {"A", "B"} <= {*said_meanings(values).values(), *values}
