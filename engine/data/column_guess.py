"""Which columns of a foreign file are ours: guessed from their names and from what the first rows hold."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.core.column_map import (
    ANNOTATOR,
    CANDIDATES,
    GAP,
    ID,
    INSTRUCTION,
    MEANINGS_IN_WORDS,
    OMIT,
    OUTPUTS,
    RANKED,
    SYSTEM,
    ColumnMap,
    Confidence,
    of_annotators,
)
from engine.core.formatting import quoted
from engine.core.items import HUMAN_LABELS
from engine.core.rubric import Rubric, default_criterion
from engine.data.column_content import (
    MOST_VALUES,
    Sample,
    meanings_of,
    one_hot_meanings,
    said_meanings,
    values_in_words,
)
from engine.data.column_source import EQUAL, DialoguePart, Turn, part_of, turns_of

SIDES: Sequence[tuple[str, str]] = (
    *(("a", "b"), ("1", "2"), ("0", "1"), ("left", "right"), ("first", "second"), ("one", "two")),
)
_RANKS: Sequence[tuple[str, str]] = (
    *(("chosen", "rejected"), ("preferred", "dispreferred"), ("better", "worse")),
    *(("winner", "loser"), ("win", "lose"), ("good", "bad"), ("accepted", "rejected")),
)
_INSTRUCTIONS = (
    *(
        "instruction",
        "prompt",
        "question",
        "query",
        "input",
        "user_prompt",
        "request",
        "task",
        "user",
        "context",
    ),
    *("history", "post", "source", "message", "messages", "text"),
)
_INPUTS = ("input", "context", "inputs")
IDS = (
    *(
        "id",
        "uid",
        "uuid",
        "item_id",
        "example_id",
        "sample_id",
        "prompt_id",
        "question_id",
        "conversation_id",
    ),
    *("instruction_id", "pair_id", "idx", "index", "key", "qid", "row_id"),
)
_LABELS = (
    *("winner", "preference", "preferred", "label", "choice", "verdict", "vote", "gold", "human_preference"),
    *("better", "overall", "overall_preference", "annotator1", "annotation", "answer", "rating"),
    *("comparison", "judgment", "judgement", "decision", "selected", "sentiment", "pref", "result"),
)
_EXPLANATIONS = ("explanation", "rationale", "reason", "reasoning", "justification", "feedback", "comment")
_RESPONSES = frozenset(
    (
        *("response", "output", "answer", "completion", "reply", "conversation", "generation", "summary"),
        *("chosen", "assistant", "message"),
    )
)
_BESIDE_RESPONSES = frozenset(
    (
        *("model", "models", "generator", "score", "scores", "rating", "id", "name", "source", "length"),
        *("len", "tokens", "token", "logprob", "logprobs", "reward", "annotator", "judge", "rank", "safe"),
        *("reason", "critique", "feedback", "sha", "sha256", "hash", "md5", "quotes", "refusal", "category"),
        *("rationale", "explanation", "comment", "note", "metadata", "system", "prompt", "severity", "url"),
    )
)
_SCORES = frozenset(("score", "scores", "rating", "reward", "overall", "quality"))
_LESS_IS_BETTER = frozenset(("rank", "loss", "perplexity", "ppl", "error", "errors", "distance"))
_WINNING = frozenset(("winner", "win", "wins", "won", "better", "preferred", "preference", "chosen", "best"))
_NO_VERDICT = frozenset(("annotator", "annotation", "human", "answer", "rating", "overall", "result"))
_TOKEN = re.compile(r"[a-z]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MOST_OF_AN_ID = 4
_SURE_LABELS = 6  # of the names in _LABELS
_ANNOTATORS = frozenset(("annotator", "annotation", "annotators", "rater", "evaluator", "expert", "worker"))
_PEOPLE = ("annotator", "worker", "workerid", "rater", "evaluator", "labeler", "labeller", "judge", "user")
_SUGGESTED = frozenset(("suggestion", "suggestions", "prediction", "predictions", "predicted", "confidence"))
_NAMES_CANDIDATES = frozenset(("model", "generator", "system", "candidate", "llm", "name", "id"))
_LONGEST_NAME = 100  # characters, on average
_BOTH_CANDIDATES = {"cmp_key": "_"}  # PandaLM: one name, the mark, the other
_TELLING = frozenset(("model", "generator", "judge", "annotator", "turn", "system"))
_SYSTEMS = ("system", "system_prompt", "system_message")
_FURTHER_SIDES = {"b": "c", "2": "3", "1": "2", "second": "third", "two": "three"}
_VERDICTS = frozenset(
    (
        *("winner", "preference", "preferences", "preferred", "pref", "better", "verdict", "choice", "label"),
        *("labels", "vote", "comparison", "judgment", "judgement", "decision", "selected", "gold"),
    )
)
_NAMED = 2.0  # the merit of an instruction whose name says what it is
_AHEAD = 1.0  # of the merit of a second reading, so that the first one is certain
_MOST_STEPS = 11  # of a scale from one response to the other


@dataclass(frozen=True)
class Guess:
    """`map`: what seems to be what. `confidence`: by column of ours.

    `open`: columns that a dataset needs and that nothing seems to be. `values`: those of the label columns
    whose meaning only the user knows, with how often each occurs in the rows that were looked at. `scale`:
    the label column of ours that holds more numbers than could be named; empty where none does.
    """

    map: ColumnMap
    confidence: Mapping[str, Confidence]
    open: tuple[str, ...]
    values: Mapping[str, int]
    scale: str = ""

    @property
    def columns_text(self) -> str:
        """What to write for it; a column of ours that is open has a gap to fill."""
        known = {name: source for name, source in self.map.sources if name != self.scale}
        gaps = [f"{name}={GAP}" for name in (*self.open, self.scale) if name]
        return ",".join(filter(None, [ColumnMap.of(known).columns_text, *gaps]))

    @property
    def labels_text(self) -> str:
        """What to write for the values of labels, with a gap for each that only the user knows."""
        meant = {**self.map.meaning_of, **dict.fromkeys(self.values, GAP)}
        return ColumnMap.of({}, meant).labels_text

    @property
    def in_words(self) -> str:
        """How far it may be trusted, and what is left to the user."""
        said = [f"{GAP} marks what could not be guessed"] if self.open else []
        uncertain = [name for name, sure in self.confidence.items() if sure is Confidence.UNCERTAIN]
        if not self.open:
            said.append(f"as guessed (uncertain: {', '.join(uncertain)})" if uncertain else "as guessed")
        if self.values:
            said.append(f"fill in what the labels {values_in_words(self.values)} mean: {MEANINGS_IN_WORDS}")
        if self.scale:
            source = self.map.source_of[self.scale]
            said.append(f"fill in the direction of {quoted(source)}: 1.5>{source} is A below 1.5")
        return "; ".join(said)


def guess_columns(sample: Sample, rubric: Rubric) -> Guess:
    """What the columns of a file seem to be; a column that is named as one of ours is taken for it."""
    return _Guessing(sample, rubric).guess()


class _Guessing:
    def __init__(self, sample: Sample, rubric: Rubric) -> None:
        self._sample = sample
        self._rubric = rubric
        self._sources: dict[str, str] = {}
        self._confidence: dict[str, Confidence] = {}
        self._labels: dict[str, str] = {}
        self._values: Mapping[str, int] = {}
        self._scale = ""
        self._taken: set[str] = set()

    def guess(self) -> Guess:
        """All of it, what others build on first."""
        self._guess_responses()
        self._guess_instruction()
        self._guess_candidates()
        self._guess_annotator()
        self._guess_id()
        if RANKED[0] not in self._sources:
            self._guess_labels()
        elif (equal := self._equal_scores()) is not None:
            self._set(self._overall, equal, Confidence.LIKELY)
        self._guess_explanation()
        responses = RANKED if RANKED[0] in self._sources else OUTPUTS
        needed = tuple(name for name in (INSTRUCTION, *responses) if not self._sources.get(name))
        columns = ColumnMap.of(self._sources, self._labels)
        return Guess(columns, self._confidence, needed, self._values, self._scale)

    def _set(self, name: str, source: str, sure: Confidence, *taken: str) -> None:
        self._sources[name] = source
        self._confidence[name] = sure
        self._taken.update(taken or (source,))

    def _free(self, columns: Sequence[str]) -> list[str]:
        return [column for column in columns if column not in self._taken]

    # The two responses

    def _guess_responses(self) -> None:
        pairs = list(_pairs(self._sample.places, (*_RANKS, *SIDES)))
        pairs = sorted(
            (pair for pair in pairs if self._may_be_responses(pair)), key=self._merit, reverse=True
        )
        if not pairs:
            return
        best = pairs[0]
        targets = RANKED if best.ranked else OUTPUTS
        sure = Confidence.SURE if self._is_named_response(best) else Confidence.UNCERTAIN
        if "[" in best.columns[0] and sure is Confidence.SURE:
            sure = Confidence.LIKELY  # two of several
        rival = next((pair for pair in pairs[1:] if not {*pair.columns} & {*best.columns}), None)
        if self._has_further(best) or (
            rival is not None
            and self._merit(best)[0] - self._merit(rival)[0] < _AHEAD
            and self._sample.is_prose(rival.columns[0])
        ):
            sure = Confidence.UNCERTAIN
        left, right = best.columns
        kind = self._sample.kind(left)
        if kind == "texts" and best.ranked and not self._sample.counts_rounds("turn"):
            for target, column in zip(targets, best.columns, strict=True):  # alternatives
                self._set(
                    target, f"{column}[]" if self._sample.kind(column) == "texts" else column, sure, column
                )
            return
        before, part = self._dialogue_parts(left, right, best.ranked)
        for target, column in zip(targets, best.columns, strict=True):
            self._set(target, column + part, sure, column)
        if before:
            self._set(INSTRUCTION, left + before, Confidence.SURE, left)

    def _may_be_responses(self, pair: "_Pair") -> bool:
        """Whether both hold texts; what is called responses may be as short as numbers."""
        holds = self._sample.is_filled if self._is_named_response(pair) else self._sample.holds_texts
        alike = {self._sample.kind(name) for name in pair.columns}
        return (
            all(map(holds, pair.columns))
            and len(alike - {"text"}) < 2
            and (not any(map(self._sample.is_beside_text, pair.columns)))
        )

    def _merit(self, pair: "_Pair") -> tuple[float, float]:
        words = set(pair.tokens)
        named = 2.0 * bool(words & _RESPONSES or pair.ranked) - 3.0 * bool(words & _BESIDE_RESPONSES)
        dialogue = self._sample.kind(pair.columns[0]) != "text"
        return named + dialogue, math.log1p(self._sample.length(pair.columns[0]))

    def _is_named_response(self, pair: "_Pair") -> bool:
        words = set(pair.tokens)
        return bool(words & _RESPONSES or pair.ranked) and not words & _BESIDE_RESPONSES

    def _has_further(self, pair: "_Pair") -> bool:
        """Whether a third response stands beside the two: response_3."""
        columns = {tuple(_tokens(name)) for name in self._sample.columns}
        words = _tokens(pair.columns[1])
        further = (
            (*words[:at], _FURTHER_SIDES[word], *words[at + 1 :])
            for at, word in enumerate(words)
            if word in _FURTHER_SIDES
        )
        own = {tuple(_tokens(name)) for name in pair.columns}
        return any(each in columns - own for each in further)

    def _dialogue_parts(self, left: str, right: str, ranked: bool) -> tuple[str, str]:
        """What of two dialogues is the instruction, and what the responses; empty for plain texts, and for
        replies alone, without what was asked.
        """
        kind = self._sample.kind(left)
        if kind == "text":
            return "", ""
        if kind == "texts":
            return "", f"@{DialoguePart.REPLIES}"
        if not any(self._sample.asks(column) for column in (left, right)):
            return "", ""
        if ranked or self._share_their_prompts(left, right):
            return f"@{DialoguePart.PROMPT}", f"@{DialoguePart.REPLY}"
        rounds = next((f":{name}" for name in ("turn", "turns") if self._sample.counts_rounds(name)), "")
        return f"@{DialoguePart.USERS}{rounds}", f"@{DialoguePart.REPLIES}{rounds}"

    def _share_their_prompts(self, left: str, right: str) -> bool:
        """True where dialogues of several rounds differ in the last reply alone."""
        several = False
        for one, other in zip(self._sample.cells(left), self._sample.cells(right), strict=True):
            first, second = turns_of(one), turns_of(other)
            if not first or not second or _prompt(first) != _prompt(second):
                return False
            several = several or len(first) > 2 + (first[0].role == "system")
        return several

    # The instruction and the id

    def _guess_instruction(self) -> None:
        """The best of all texts that are free; certain where its name says so and no other comes near."""
        system = next((name for name in _SYSTEMS if name in self._free(self._sample.columns)), None)
        if system is not None and self._sample.is_filled(system) and INSTRUCTION not in self._sources:
            self._set(SYSTEM, system, Confidence.SURE)
        if INSTRUCTION in self._sources:
            return
        found = [
            (merit, name)
            for name in self._free(self._sample.places)
            if (merit := self._instruction_merit(name)) is not None
        ]
        if not found:
            return
        (best, named), *others = sorted(found, key=lambda pair: -pair[0])
        sure = Confidence.LIKELY if best >= _NAMED else Confidence.UNCERTAIN
        if best >= _NAMED and (not others or best - others[0][0] >= _AHEAD / 2):
            sure = Confidence.SURE
        kind = self._sample.kind(named)
        if kind != "text":
            part = DialoguePart.USERS if kind == "texts" else DialoguePart.DIALOGUE
            self._set(INSTRUCTION, f"{named}@{part}", sure, named)
            return
        more = _first_named(self._free(self._sample.columns), _INPUTS, self._sample.is_filled)
        if more is not None and more != named and _plain(named) in ("instruction", "task", "question"):
            self._set(INSTRUCTION, f"{named}+{more}", Confidence.LIKELY, named, more)
        else:
            self._set(INSTRUCTION, named, sure)

    def _instruction_merit(self, name: str) -> float | None:
        """How much speaks for a text as the instruction; None where it cannot be it."""
        words = _tokens(name)
        plain = "_".join(_tokens(name.rpartition(".")[2])) or _plain(name)
        if not self._sample.is_filled(name) or _is_id(name) or words[-1:] == ["type"]:
            return None
        of_name = next(
            (_NAMED + 2 - 0.15 * at for at, word in enumerate(_INSTRUCTIONS) if plain == word), None
        )
        if of_name is None:
            inner = {*_INSTRUCTIONS[:6]} & {*words}
            of_name = _NAMED + 0.2 if inner and not {*words} & (_BESIDE_RESPONSES - {"prompt"}) else 0.0
        if not of_name and "." in name.removeprefix("Input."):
            return None  # what is nested and not named could be anything
        if not of_name and (
            not self._sample.holds_texts(name) or {*words} & (_BESIDE_RESPONSES | _RESPONSES)
        ):
            return None
        if self._sample.is_beside_text(name) or self._holds_responses(name):
            return None
        constant = self._sample.is_constant(name)
        length = min(self._sample.length(name), 200) / 400
        return of_name + length - 4.0 * constant - 0.5 * name.count(".") - 1.0 * ("[" in name)

    def _holds_responses(self, name: str) -> bool:
        """Whether the texts contain both responses: the prompt of another judge."""
        pair = [self._sources.get(target, "") for target in OUTPUTS]
        if not all(pair) or any("@" in source or "[]" in source for source in pair):
            return False
        rows = zip(self._sample.cells(name), *map(self._sample.cells, pair), strict=True)
        return any(
            len(one) > 9 and len(other) > 9 and one in text and other in text for text, one, other in rows
        )

    def _guess_id(self) -> None:
        free = self._free(self._sample.columns)
        if ANNOTATOR in self._sources:  # what differs from annotation to annotation is no id of an item
            self._confidence[ID] = Confidence.SURE
            return
        named = [column for word in IDS for column in free if _plain(column) == word]
        named += [column for column in free if column not in named and _is_id(column)]
        unique = next((column for column in named if self._sample.is_unique(column)), None)
        if unique is not None:
            self._set(ID, unique, Confidence.SURE if _plain(unique) in IDS else Confidence.LIKELY)
            return
        telling = [
            column for column in free if set(_tokens(column)) & _TELLING and self._sample.is_short(column)
        ]
        for base in named[:2]:
            for count in range(1, _MOST_OF_AN_ID + 1):
                joined = [base, *telling[:count]]
                if len(joined) == count + 1 and self._sample.is_unique(*joined):
                    self._set(ID, "+".join(joined), Confidence.LIKELY, "")
                    return
        self._confidence[ID] = Confidence.SURE  # the rows are numbered
        if ID in self._sample.columns:
            self._sources[ID] = ""

    def _guess_annotator(self) -> None:
        """Who labelled, where several rows hold the same texts."""
        responses = [self._sources.get(name, "") for name in (*OUTPUTS, *RANKED) if self._sources.get(name)]
        if len(responses) != len(OUTPUTS) or not self._sample.repeats(
            self._sources.get(INSTRUCTION, ""), *responses
        ):
            return
        free = self._free(self._sample.columns)
        named = [name for word in _PEOPLE for name in free if word in _tokens(name)]
        who = next((name for name in named if len(self._sample.distinct(name)) > 1), None)
        if who is not None:
            self._set(ANNOTATOR, who, Confidence.SURE)

    # The candidates

    def _guess_candidates(self) -> None:
        """Who wrote each response; the columns stay free, for ids are made of them too."""
        ranked = RANKED[0] in self._sources
        if not ranked and OUTPUTS[0] not in self._sources:
            return
        for pair in _pairs(self._sample.places, _RANKS if ranked else SIDES):
            if self._names_candidates(pair):
                self._set_candidates(*pair.columns)
                return
        for column, mark in _BOTH_CANDIDATES.items():
            cells = self._sample.cells(column) if column in self._sample.columns else []
            if cells and all(cell.count(mark) == 1 for cell in cells):
                self._set_candidates(f"{column}@before:{mark}", f"{column}@after:{mark}")

    def _names_candidates(self, pair: "_Pair") -> bool:
        """Whether two columns, or two keys of the entries that hold the responses, have names of models."""
        first = pair.columns[0]
        words = set(pair.tokens) if first in self._sample.columns else {_tokens(first)[-1]}
        if not words <= _NAMES_CANDIDATES or words <= {"name", "id"} or not self._belongs(pair):
            return False
        hold = (self._sample.is_filled(name) and not self._sample.is_number(name) for name in pair.columns)
        return all(hold) and all(self._sample.length(name) <= _LONGEST_NAME for name in pair.columns)

    def _set_candidates(self, *sources: str) -> None:
        for name, source in zip(CANDIDATES, sources, strict=True):
            self._set(name, source, Confidence.SURE, "")

    # Labels and explanations

    def _guess_labels(self) -> None:
        own = [name for name in self._rubric.names if f"{name}_preference" in self._sample.columns]
        if own:
            self._take_values([f"{name}_preference" for name in own])
            for name in own:
                self._set(f"{name}_preference", f"{name}_preference", Confidence.SURE)
            return
        steps: Sequence[Callable[[], bool]] = (
            *(self._one_hot, self._annotations, self._named_labels, self._scores, self._odd_labels),
        )
        any(step() for step in steps)

    def _one_hot(self) -> bool:
        """Columns of 0 and 1, one for each side, perhaps a third one for a tie."""
        free = [column for column in self._free(self._sample.columns) if self._sample.is_flag(column)]
        for pair in _pairs([name for name in free if _WINNING & set(_tokens(name))], SIDES):
            ties = [name for name in free if {"tie", "draw", "equal", "same"} & set(_tokens(name))]
            columns = (*pair.columns, *ties[:1])
            labels = one_hot_meanings([self._sample.joined_values(columns)], bool(ties))
            if labels is not None:
                self._labels = labels
                self._set(self._overall, "+".join(columns), Confidence.SURE, *columns)
                return True
        return False

    def _annotations(self) -> bool:
        """A list in each row with what each annotator said, and beside it who that was."""
        for place in self._sample.lists:
            words = {*_tokens(place.rpartition("]")[2] or place)}
            if (
                {*_tokens(place)} & _SUGGESTED
                or words & {*_PEOPLE, "id", "by"}
                or not self._says_who_wins(place)
            ):
                continue
            self._take_values([place])
            whole = place.rpartition("[]")[0]
            beside = [name for name in self._sample.lists if name != place and name.startswith(whole)]
            who = next(
                (
                    name
                    for word in (*_PEOPLE, "users", "completed", "by")
                    for name in beside
                    if word in _tokens(name[len(whole) :])
                ),
                None,
            )
            omit = next(
                (name for name in beside if {"status", "cancelled"} & {*_tokens(name[len(whole) :])}), None
            )
            if who is not None:
                self._set(ANNOTATOR, who, Confidence.SURE)
            if omit is not None:
                self._set(OMIT, omit, Confidence.SURE)
            self._set(self._overall, place, Confidence.SURE if who is not None else Confidence.LIKELY)
            return True
        return False

    def _says_who_wins(self, place: str) -> bool:
        """Whether all values of a list are words for labels; numbers may be anything."""
        values = self._sample.source_values(place)
        if not values or len(values) > MOST_VALUES:
            return False
        meant = {**said_meanings(values), **(self._names_of_sides(values) or {})}
        said = {meant.get(value, value) for value in values}
        writers = {*values} & {*self._sample.distinct(self._sources.get(CANDIDATES[0], ""))}
        return bool({"A", "B"} & said or writers) and all(
            value in meant or value in HUMAN_LABELS for value in values
        )

    def _named_labels(self) -> bool:
        for column in self._label_columns():
            target = self._criterion_of(column)
            columns = self._annotators_like(column)
            if self._sample.values(column) is None and _is_scale(self._sample.numbers(column)):
                self._scale = target
            elif not self._take_values(columns):
                continue
            place = _LABELS.index(_plain(column)) if _plain(column) in _LABELS else len(_LABELS)
            sure = Confidence.SURE if place < _SURE_LABELS else Confidence.LIKELY
            sure = Confidence.UNCERTAIN if place == len(_LABELS) else sure
            self._set(target, of_annotators(columns), sure, *columns)
            return True
        return False

    def _odd_labels(self) -> bool:
        """A column that is called a label and whose few values nobody knows: all of them are asked about."""
        for column in self._label_columns():
            if not {*_tokens(column)} & _VERDICTS:
                continue
            values, numbers = self._sample.values(column) or {}, self._sample.numbers(column)
            if numbers and (not values or any(number != int(number) for number in numbers)):
                self._scale = self._criterion_of(column)
            elif 2 <= len(values) <= _MOST_STEPS:
                self._labels = said_meanings(values)
                self._values = {value: count for value, count in values.items() if value not in self._labels}
            else:
                continue
            self._set(self._criterion_of(column), column, Confidence.UNCERTAIN)
            return True
        return False

    def _annotators_like(self, column: str) -> list[str]:
        """The column, and those of other annotators: of the same name but for its number, in their order."""
        words = _tokens(column)
        if not _ANNOTATORS & set(words) or not words[-1].isdigit():
            return [column]
        free = {name: _tokens(name) for name in self._free(self._sample.columns)}
        alike = [name for name, of in free.items() if of[:-1] == words[:-1] and of[-1].isdigit()]
        return [name for name in alike if name == column or self._sample.values(name)]

    def _label_columns(self) -> Iterator[str]:
        free = [name for name in self._free(self._sample.columns) if not {*_tokens(name)} & _SUGGESTED]
        named = [column for word in _LABELS for column in free if _plain(column) == word]
        words = {token for word in _LABELS for token in _tokens(word) if token.isalpha()} - _NO_VERDICT
        yield from named
        yield from (
            c for c in free if c not in named and words & set(_tokens(c)) and self._sample.is_short(c)
        )

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
        self._labels = {value: label for value, label in meant.items() if label != value}
        known = {*meant, *HUMAN_LABELS}
        self._values = {value: count for value, count in counts.most_common() if value not in known}
        return True

    def _names_of_sides(self, values: Collection[str]) -> dict[str, str] | None:
        """What values mean that are the names of the columns of the two responses, or of the two models."""
        columns = [re.split(r"[@\[]", self._sources.get(name, ""))[0] for name in OUTPUTS]
        own = [column.rpartition(".")[2] for column in columns]
        sides = {own[0]: HUMAN_LABELS[0].value, own[1]: HUMAN_LABELS[1].value}
        if {*own} & {*values} and all(own):
            return {**said_meanings(values), **{value: sides[value] for value in values if value in sides}}
        writers = [self._sample.distinct(self._sources.get(name, "")) for name in CANDIDATES]
        if all(writers) and {*values} & (writers[0] | writers[1]):
            named = {value: value for value in values if value in writers[0] | writers[1]}
            return {**said_meanings(values), **named}
        return None

    def _scores(self) -> bool:
        """Two numbers, one for each response."""
        for pair, named in self._score_pairs(SIDES):
            target = f"{named}_preference" if named else self._overall
            if target not in self._sources:
                self._set(target, ">".join(pair.columns), Confidence.LIKELY)
        found = [name for name in self._sources if name.endswith("_preference")]
        if any(self._sample.ties(self._sources[name]) for name in found):
            self._values = {EQUAL: sum(self._sample.ties(self._sources[name]) for name in found)}
        return bool(found)

    def _equal_scores(self) -> str | None:
        """Of a chosen and a rejected response the scores, where some are equal: those are asked about."""
        for pair, _ in self._score_pairs(_RANKS):
            source = ">".join(pair.columns)
            if count := self._sample.ties(source):
                self._values = {EQUAL: count}
                return source
        return None

    def _score_pairs(self, sides: Sequence[tuple[str, str]]) -> Iterator[tuple["_Pair", str | None]]:
        numbers = [place for place in self._free(self._sample.places) if self._sample.is_number(place)]
        for pair in _pairs(numbers, sides):
            words = set(pair.tokens)
            named = next((name for name in self._rubric.names if name in words), None)
            if words & _LESS_IS_BETTER or (named is None and not words & _SCORES) or not self._belongs(pair):
                continue
            yield pair, named

    def _belongs(self, pair: "_Pair") -> bool:
        """Whether numbers are of the same two entries of a list as the responses."""
        entries = [
            re.match(r".*?\[\d+\]", place) for place in (self._sources.get(OUTPUTS[0], ""), pair.columns[0])
        ]
        return (entries[0] and entries[0][0]) == (entries[1] and entries[1][0])

    @property
    def _overall(self) -> str:
        return f"{default_criterion(self._rubric.names)}_preference"

    def _criterion_of(self, column: str) -> str:
        named = next((name for name in self._rubric.names if name in _plain(column)), None)
        return f"{named}_preference" if named else self._overall

    def _guess_explanation(self) -> None:
        target = self._overall.replace("_preference", "_explanation")
        named = _first_named(self._free(self._sample.columns), _EXPLANATIONS, self._sample.holds_texts)
        if named is not None and any(name.endswith("_preference") for name in self._sources):
            self._set(target, named, Confidence.LIKELY)


def may_be_label(sample: Sample, name: str) -> bool:
    """Whether a column of few values could be a label that nobody named: by its name, or by its values."""
    values = sample.values(name) or {}
    if not 2 <= len(values) <= _MOST_STEPS or _is_id(name) or sample.is_unique(name):
        return False
    said = {*said_meanings(values).values(), *values}
    return bool({*_tokens(name)} & (_VERDICTS | {"rating", "score", "strength"})) or {"A", "B"} <= said


@dataclass(frozen=True)
class _Pair:
    """Two columns whose names differ in one word alone; `tokens`: the words that they share."""

    columns: tuple[str, str]
    tokens: tuple[str, ...]
    ranked: bool


def _pairs(columns: Sequence[str], sides: Sequence[tuple[str, str]]) -> Iterator[_Pair]:
    """The pairs among some columns, in their order."""
    by_tokens: dict[tuple[str, ...], str] = {}
    for column in columns:
        by_tokens.setdefault(tuple(_tokens(column)), column)
    others = dict(reversed(sides))
    for tokens, column in by_tokens.items():
        for place, token in enumerate(tokens):
            other = others.get(token)
            partner = by_tokens.get((*tokens[:place], other, *tokens[place + 1 :])) if other else None
            if partner is not None:
                shared = (*tokens[:place], *tokens[place + 1 :])
                yield _Pair((column, partner), shared, (token, other) in _RANKS)


def _tokens(name: str) -> list[str]:
    return _TOKEN.findall(_CAMEL.sub("_", name).lower())


def _plain(name: str) -> str:
    return "_".join(_tokens(name)) if re.search(r"[A-Z\s.-]", name) else name


def _is_id(name: str) -> bool:
    return _plain(name) in IDS or _tokens(name)[-1:] == ["id"]


def _first_named(columns: Sequence[str], words: Sequence[str], fits: Callable[[str], bool]) -> str | None:
    return next((c for word in words for c in columns if _plain(c) == word and fits(c)), None)


def _prompt(turns: Sequence[Turn]) -> str | None:
    return part_of(turns, DialoguePart.PROMPT) if any(turn.role == "assistant" for turn in turns) else None


def _is_scale(numbers: Sequence[float]) -> bool:
    """True for shares between one response and the other, from 1 to 2, as AlpacaEval writes them."""
    return bool(numbers) and all(1 <= number <= 2 for number in numbers)
