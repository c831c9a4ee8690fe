"""Which columns of a foreign file are ours: guessed from their names and from what the first rows hold."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.column_map import (
    ANNOTATOR,
    CANDIDATES,
    GAP,
    ID,
    INSTRUCTION,
    MEANINGS_IN_WORDS,
    OUTPUTS,
    RANKED,
    SYSTEM,
    ColumnMap,
    Confidence,
)
from engine.core.formatting import quoted
from engine.core.items import BACKGROUND
from engine.core.rubric import Rubric
from engine.data import column_words as naming
from engine.data.column_content import Sample, values_in_words
from engine.data.column_source import DialoguePart, Turn, part_of, turns_of
from engine.data.column_words import ColumnPair, column_pairs, first_named, is_id, plain_name, tokens_of
from engine.data.label_guess import FoundColumns, LabelGuess


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
        self._found = FoundColumns()
        self._of_labels = LabelGuess(sample, rubric, self._found)

    def guess(self) -> Guess:
        found, of_labels = self._found, self._of_labels
        if {ID, INSTRUCTION, *OUTPUTS} <= {*self._sample.columns}:  # the texts as they are, dialogues or not
            for name in (INSTRUCTION, *OUTPUTS):
                found.set(name, name, Confidence.SURE, name)
        else:
            # Responses first: what else there is depends on which columns they take.
            self._guess_responses()
            self._guess_instruction()
        self._guess_candidates()
        self._guess_annotator()
        self._guess_id()
        of_labels.guess()
        self._guess_background()
        responses = RANKED if RANKED[0] in found.sources else OUTPUTS
        needed = tuple(name for name in (INSTRUCTION, *responses) if not found.sources.get(name))
        columns = ColumnMap.of(found.sources, of_labels.labels)
        return Guess(columns, found.confidence, needed, of_labels.values, of_labels.scale)

    # The two responses

    def _guess_responses(self) -> None:
        sample = self._sample
        found = column_pairs(sample.places, (*naming.RANKS, *naming.SIDES))
        pairs = sorted(filter(self._may_be_responses, found), key=self._merit, reverse=True)
        if not pairs:
            return
        best = pairs[0]
        targets = RANKED if best.ranked else OUTPUTS
        sure = Confidence.SURE if self._is_named_response(best) else Confidence.UNCERTAIN
        if "[" in best.columns[0] and sure is Confidence.SURE:
            sure = Confidence.LIKELY  # two of several
        rivals = [pair for pair in pairs[1:] if not {*pair.columns} & {*best.columns}][:1]
        if self._has_further(best) or any(map(self._comes_near, rivals, [best])):
            sure = Confidence.UNCERTAIN
        left, right = best.columns
        kind = sample.kind(left)
        if kind == "texts" and best.ranked and not sample.counts_rounds("turn"):
            for target, column in zip(targets, best.columns, strict=True):  # alternatives
                each = f"{column}[]" if sample.kind(column) == "texts" else column
                self._found.set(target, each, sure, column)
            return
        before, part = self._dialogue_parts(left, right, best.ranked)
        has_replies = kind == "dialogue" and part.startswith(f"@{DialoguePart.REPLIES}")
        if has_replies and sample.rounds(left) > 1:
            sure = Confidence.LIKELY  # which rounds count is for a person to say
        if best.ranked and {*tokens_of(left)} & naming.WEAK_RANKS:
            sure = Confidence.LIKELY
        for target, column in zip(targets, best.columns, strict=True):
            self._found.set(target, column + part, sure, column)
        if before:
            self._found.set(INSTRUCTION, left + before, Confidence.SURE, left)

    def _comes_near(self, rival: ColumnPair, best: ColumnPair) -> bool:
        """Whether two other columns hold prose, and nearly as much speaks for them."""
        name = rival.columns[0]
        is_prose = self._sample.holds_texts(name) and not self._sample.is_beside_text(name)
        return is_prose and self._merit(best)[0] - self._merit(rival)[0] < naming.AHEAD

    def _may_be_responses(self, pair: ColumnPair) -> bool:
        """Whether both hold texts; what is called responses may be as short as numbers."""
        holds = self._sample.is_filled if self._is_named_response(pair) else self._sample.holds_texts
        if not all(map(holds, pair.columns)) or any(map(self._sample.is_beside_text, pair.columns)):
            return False
        return len({*map(self._sample.kind, pair.columns)} - {"text"}) < 2

    def _merit(self, pair: ColumnPair) -> tuple[float, float]:
        words = set(pair.tokens)
        named = 2.0 * bool(words & naming.RESPONSES or pair.ranked)
        named -= 3.0 * bool(words & naming.BESIDE_RESPONSES)
        dialogue = self._sample.kind(pair.columns[0]) != "text"
        return named + dialogue, math.log1p(self._sample.length(pair.columns[0]))

    def _is_named_response(self, pair: ColumnPair) -> bool:
        words = set(pair.tokens)
        return bool(words & naming.RESPONSES or pair.ranked) and not words & naming.BESIDE_RESPONSES

    def _has_further(self, pair: ColumnPair) -> bool:
        """Whether a third response stands beside the two: response_3."""
        others = [tokens_of(name) for name in self._sample.columns if name not in pair.columns]
        words = tokens_of(pair.columns[1])
        sides = [
            (at, naming.FURTHER_SIDES[word]) for at, word in enumerate(words) if word in naming.FURTHER_SIDES
        ]
        return any([*words[:at], side, *words[at + 1 :]] in others for at, side in sides)

    def _dialogue_parts(self, left: str, right: str, ranked: bool) -> tuple[str, str]:
        """What of two dialogues is the instruction, and what the responses; empty for plain texts, and for
        replies alone, without what was asked.
        """
        kind = self._sample.kind(left)
        if kind == "text":
            return "", ""
        if kind == "texts":
            return "", f"@{DialoguePart.REPLIES}"
        if not any(map(self._sample.rounds, (left, right))):
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
        free = self._found.free(self._sample.columns)
        system = next((name for name in naming.SYSTEMS if name in free), None)
        if system is not None and self._sample.is_filled(system) and INSTRUCTION not in self._found.sources:
            self._found.set(SYSTEM, system, Confidence.SURE)
        if INSTRUCTION in self._found.sources:
            return
        places = self._found.free(self._sample.places)
        found = [(merit, name) for name in places if (merit := self._instruction_merit(name)) is not None]
        if not found:
            return
        (best, named), *others = sorted(found, key=lambda pair: -pair[0])
        sure = Confidence.LIKELY if best >= naming.NAMED else Confidence.UNCERTAIN
        if best >= naming.NAMED and (not others or best - others[0][0] >= naming.AHEAD / 2):
            sure = Confidence.SURE
        kind = self._sample.kind(named)
        if kind != "text":
            part = DialoguePart.USERS if kind == "texts" else DialoguePart.DIALOGUE
            self._found.set(INSTRUCTION, f"{named}@{part}", sure, named)
            return
        more = first_named(self._found.free(self._sample.columns), naming.INPUTS, self._sample.is_filled)
        if more is not None and more != named and best >= naming.NAMED:
            self._found.set(INSTRUCTION, f"{named}+{more}", Confidence.LIKELY, named, more)
        else:
            self._found.set(INSTRUCTION, named, sure)

    def _instruction_merit(self, name: str) -> float | None:
        """How much speaks for a text as the instruction; None where it cannot be it."""
        words = tokens_of(name)
        plain = "_".join(tokens_of(name.rpartition(".")[2])) or plain_name(name)
        if not self._sample.is_filled(name) or is_id(name) or words[-1:] == ["type"]:
            return None
        of_name = 0.0
        if plain in naming.INSTRUCTIONS:
            of_name = naming.NAMED + 2 - 0.15 * naming.INSTRUCTIONS.index(plain)
        elif {*naming.INSTRUCTIONS[:6]} & {*words} and not {*words} & (naming.BESIDE_RESPONSES - {"prompt"}):
            of_name = naming.NAMED + 0.2
        if not of_name and "." in name.removeprefix("Input."):
            return None  # what is nested and not named could be anything
        is_other = {*words} & (naming.BESIDE_RESPONSES | naming.RESPONSES)
        if not of_name and (is_other or not self._sample.holds_texts(name)):
            return None
        if self._sample.is_beside_text(name) or self._holds_responses(name):
            return None
        constant = self._sample.is_constant(name)
        cells = self._sample.cells(name)
        empty = cells.count("") / len(cells)
        length = min(self._sample.length(name), 200) / 400
        return of_name + length - 4.0 * constant - 2.0 * empty - 0.5 * name.count(".") - 1.0 * ("[" in name)

    def _holds_responses(self, name: str) -> bool:
        """Whether the texts contain both responses: the prompt of another judge."""
        pair = [self._found.sources.get(target, "") for target in OUTPUTS]
        if not all(pair) or any("@" in source or "[]" in source for source in pair):
            return False
        rows = zip(self._sample.cells(name), *map(self._sample.cells, pair), strict=True)
        return any(
            len(one) > 9 and len(other) > 9 and one in text and other in text for text, one, other in rows
        )

    def _guess_id(self) -> None:
        free = self._found.free(self._sample.columns)
        if ANNOTATOR in self._found.sources:  # what differs from annotation to annotation is no id of an item
            self._found.confidence[ID] = Confidence.SURE
            return
        named = [column for word in naming.IDS for column in free if plain_name(column) == word]
        named += [column for column in free if column not in named and is_id(column)]
        unique = next((column for column in named if self._sample.is_unique(column)), None)
        if unique is not None:
            sure = Confidence.SURE if plain_name(unique) in naming.IDS else Confidence.LIKELY
            self._found.set(ID, unique, sure)
            return
        telling = [
            name for name in free if {*tokens_of(name)} & naming.TELLING and self._sample.is_short(name)
        ]
        for base in named[:2]:
            for count in range(1, naming.MOST_OF_AN_ID + 1):
                joined = [base, *telling[:count]]
                if len(joined) == count + 1 and self._sample.is_unique(*joined):
                    self._found.set(ID, "+".join(joined), Confidence.LIKELY, "")
                    return
        self._found.confidence[ID] = Confidence.SURE  # the rows are numbered
        if ID in self._sample.columns:
            self._found.sources[ID] = ""

    def _guess_annotator(self) -> None:
        """Who labelled, where several rows hold the same texts."""
        sources = self._found.sources
        responses = [sources[name] for name in (*OUTPUTS, *RANKED) if sources.get(name)]
        if len(responses) != len(OUTPUTS):
            return
        if not self._sample.repeats(sources.get(INSTRUCTION, ""), *responses):
            return
        free = self._found.free(self._sample.columns)
        named = [name for word in naming.PEOPLE for name in free if word in tokens_of(name)]
        who = next((name for name in named if len(self._sample.distinct(name)) > 1), None)
        if who is not None:
            self._found.set(ANNOTATOR, who, Confidence.SURE)

    def _guess_background(self) -> None:
        """Context and reference answer, in columns that nothing else is read from."""
        for target, words in zip(BACKGROUND, (naming.CONTEXTS, naming.REFERENCES), strict=True):
            free = self._found.free(self._sample.columns)
            name = first_named(free, words, self._sample.is_filled)
            if name is not None:
                each = f"{name}[]" if self._sample.kind_of(name) in ("texts", "list") else name
                self._found.set(target, each, Confidence.LIKELY, name)

    # The candidates

    def _guess_candidates(self) -> None:
        """Who wrote each response; the columns stay free, for ids are made of them too."""
        ranked = RANKED[0] in self._found.sources
        if not ranked and OUTPUTS[0] not in self._found.sources:
            return
        for pair in column_pairs(self._sample.places, naming.RANKS if ranked else naming.SIDES):
            if self._names_candidates(pair):
                for name, source in zip(CANDIDATES, pair.columns, strict=True):
                    self._found.set(name, source, Confidence.SURE, "")
                return

    def _names_candidates(self, pair: ColumnPair) -> bool:
        """Whether two columns, or two keys of the entries that hold the responses, have names of models."""
        first = pair.columns[0]
        words = set(pair.tokens) if first in self._sample.columns else {tokens_of(first)[-1]}
        if not words <= naming.NAMES_CANDIDATES or words <= {"name", "id"} or not self._found.belongs(pair):
            return False
        hold = (self._sample.is_filled(name) and not self._sample.is_number(name) for name in pair.columns)
        return all(hold) and all(self._sample.length(name) <= naming.LONGEST_NAME for name in pair.columns)


def _prompt(turns: Sequence[Turn]) -> str | None:
    return part_of(turns, DialoguePart.PROMPT) if any(turn.role == "assistant" for turn in turns) else None
