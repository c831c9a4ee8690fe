"""Which columns of a foreign file are ours: guessed from their names and from what the first rows hold."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.core.column_map import (
    CANDIDATES,
    GAP,
    ID,
    INSTRUCTION,
    MEANINGS_IN_WORDS,
    OUTPUTS,
    RANKED,
    ColumnMap,
    Confidence,
    of_annotators,
)
from engine.core.formatting import quoted
from engine.core.items import HUMAN_LABELS
from engine.core.rubric import Rubric, default_criterion
from engine.data.column_content import Sample, meanings_of, one_hot_meanings, values_in_words
from engine.data.column_source import DialoguePart, Turn, part_of, turns_of

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
)
_EXPLANATIONS = ("explanation", "rationale", "reason", "reasoning", "justification", "feedback", "comment")
_RESPONSES = frozenset(
    ("response", "output", "answer", "completion", "reply", "conversation", "generation", "summary", "chosen")
)
_BESIDE_RESPONSES = frozenset(
    (
        *("model", "models", "generator", "score", "scores", "rating", "id", "name", "source", "length"),
        *("len", "tokens", "token", "logprob", "logprobs", "reward", "annotator", "judge", "rank"),
        *("reason", "critique"),
    )
)
_SCORES = frozenset(("score", "scores", "rating", "reward", "overall", "quality"))
_LESS_IS_BETTER = frozenset(("rank", "loss", "perplexity", "ppl", "error", "errors", "distance"))
_WINNING = frozenset(("winner", "win", "wins", "won", "better", "preferred", "preference", "chosen", "best"))
_NO_VERDICT = frozenset(("annotator", "annotation", "human", "answer", "rating", "overall"))
_TOKEN = re.compile(r"[a-z]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MOST_OF_AN_ID = 4
_SURE_LABELS = 6  # of the names in _LABELS
_ANNOTATORS = frozenset(("annotator", "annotation", "annotators", "rater", "evaluator", "expert", "worker"))
_NAMES_CANDIDATES = frozenset(("model", "generator", "system", "candidate", "llm", "name", "id"))
_LONGEST_NAME = 100  # characters, on average
_BOTH_CANDIDATES = {"cmp_key": "_"}  # PandaLM: one name, the mark, the other
_TELLING = frozenset(("model", "generator", "judge", "annotator", "turn", "system"))


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
        self._guess_id()
        self._guess_candidates()
        if RANKED[0] not in self._sources:
            self._guess_labels()
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
        pairs = [pair for pair in pairs if self._may_be_responses(pair)]
        if not pairs:
            return
        best = max(pairs, key=self._merit)
        targets = RANKED if best.ranked else OUTPUTS
        sure = Confidence.SURE if self._is_named_response(best) else Confidence.UNCERTAIN
        if "[" in best.columns[0] and sure is Confidence.SURE:
            sure = Confidence.LIKELY  # two of several
        left, right = best.columns
        parts = self._dialogue_parts(left, right, best.ranked)
        for target, column in zip(targets, best.columns, strict=True):
            self._set(target, column + parts[1], sure, column)
        if parts[0]:
            self._set(INSTRUCTION, left + parts[0], Confidence.SURE, left)

    def _may_be_responses(self, pair: "_Pair") -> bool:
        """Whether both hold texts; what is called responses may be as short as numbers."""
        holds = self._sample.is_filled if self._is_named_response(pair) else self._sample.holds_texts
        return all(map(holds, pair.columns))

    def _merit(self, pair: "_Pair") -> tuple[float, float]:
        words = set(pair.tokens)
        named = 2.0 * bool(words & _RESPONSES or pair.ranked) - 3.0 * bool(words & _BESIDE_RESPONSES)
        dialogue = self._sample.kind(pair.columns[0]) != "text"
        return named + dialogue, math.log1p(self._sample.length(pair.columns[0]))

    def _is_named_response(self, pair: "_Pair") -> bool:
        words = set(pair.tokens)
        return bool(words & _RESPONSES or pair.ranked) and not words & _BESIDE_RESPONSES

    def _dialogue_parts(self, left: str, right: str, ranked: bool) -> tuple[str, str]:
        """What of two dialogues is the instruction, and what the responses; empty for plain texts."""
        kind = self._sample.kind(left)
        if kind == "text":
            return "", ""
        if kind == "texts":
            return "", f"@{DialoguePart.REPLIES}"
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
        if INSTRUCTION in self._sources:
            return
        free = self._free(self._sample.columns)
        named = _first_named(free, _INSTRUCTIONS, self._sample.is_filled)
        if named is None:
            texts = [name for name in free if self._sample.holds_texts(name) and not _is_id(name)]
            if texts:
                self._set(INSTRUCTION, max(texts, key=self._sample.length), Confidence.UNCERTAIN)
            return
        kind = self._sample.kind(named)
        if kind != "text":
            part = DialoguePart.USERS if kind == "texts" else DialoguePart.DIALOGUE
            self._set(INSTRUCTION, f"{named}@{part}", Confidence.SURE, named)
            return
        more = _first_named(self._free(free), _INPUTS, self._sample.is_filled)
        if more is not None and more != named and _plain(named) in ("instruction", "task", "question"):
            self._set(INSTRUCTION, f"{named}+{more}", Confidence.LIKELY, named, more)
        else:
            first = _plain(named) in _INSTRUCTIONS[:5]
            self._set(INSTRUCTION, named, Confidence.SURE if first else Confidence.LIKELY)

    def _guess_id(self) -> None:
        free = self._free(self._sample.columns)
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
        steps: Sequence[Callable[[], bool]] = (self._one_hot, self._named_labels, self._scores)
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

    def _annotators_like(self, column: str) -> list[str]:
        """The column, and those of other annotators: of the same name but for its number, in their order."""
        words = _tokens(column)
        if not _ANNOTATORS & set(words) or not words[-1].isdigit():
            return [column]
        free = {name: _tokens(name) for name in self._free(self._sample.columns)}
        alike = [name for name, of in free.items() if of[:-1] == words[:-1] and of[-1].isdigit()]
        return [name for name in alike if name == column or self._sample.values(name)]

    def _label_columns(self) -> Iterator[str]:
        free = self._free(self._sample.columns)
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
            counts.update(self._sample.values(column) or {})
        meant = meanings_of(counts)
        if meant is None:
            return False
        self._labels = meant
        self._values = {
            value: count for value, count in counts.most_common() if value not in {*meant, *HUMAN_LABELS}
        }
        return True

    def _scores(self) -> bool:
        """Two numbers, one for each response."""
        numbers = [place for place in self._free(self._sample.places) if self._sample.is_number(place)]
        for pair in _pairs(numbers, SIDES):
            words = set(pair.tokens)
            named = next((name for name in self._rubric.names if name in words), None)
            if words & _LESS_IS_BETTER or (named is None and not words & _SCORES):
                continue
            target = f"{named}_preference" if named else self._overall
            if target not in self._sources and self._belongs(pair):
                self._set(target, ">".join(pair.columns), Confidence.LIKELY)
        return any(name.endswith("_preference") for name in self._sources)

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
