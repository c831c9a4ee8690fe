"""Pairs out of the outputs of several candidates: all of them, each against a baseline, or a balanced part.

Which candidate is A is drawn by a hash of the instruction and the two names, so that none keeps a place; of
an instruction that stands with several contexts, by its id too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import lcm
from pathlib import Path
from typing import Literal, NamedTuple

from engine.core.column_map import CANDIDATE, CANDIDATES, GAP, GENERATED_WITH, ID, INSTRUCTION, OUTPUTS
from engine.core.errors import Hint, InputError, Setting, SetupError
from engine.core.formatting import did_you_mean, listed, named, quoted
from engine.core.items import digest
from engine.data.file_format import plain_stem
from engine.data.label_origins import in_drawn_order
from engine.data.outputs import OF_PROMPT, Outputs, Response
from engine.data.submission import write_dataset
from engine.settings.sampling import PairsPlan

SEED_COLUMN = "pairs_seed"
"""The column that says by which seed a part of the pairs was drawn."""
_EXAMPLE = f"{ID}={GAP},{INSTRUCTION}={GAP}"
_MOST_LETTERS = 1 << 30
_BETWEEN = "~"  # in an id: stands in no name of a candidate there
_WORDS_OF_ID, _LETTERS_OF_WORDS, _DIGITS_OF_HASH = 4, 32, 8


@dataclass(frozen=True)
class UsedOutputs:
    """What of a file is in pairs.

    `left_out`: the ids, or instructions, that other files do not answer, or with another text. `lacking`: how
    many that others answer are not in it. `repeated`: responses to an instruction after the first.
    """

    outputs: Outputs
    left_out: tuple[str, ...]
    lacking: int
    repeated: int


@dataclass(frozen=True)
class MatchedOutputs:
    """The instructions that every candidate answered, in the order of the first file.

    `keys`: by what each is known, its id or its text; `by_id` says which. `responses`: for each candidate one
    to each instruction. `background`: those of OF_PROMPT that some file has, a text to each instruction,
    empty where they have several: no judge can be shown what one candidate alone saw; `differing`: how often.
    """

    by_id: bool
    keys: tuple[str, ...]
    instructions: tuple[str, ...]
    responses: Mapping[str, tuple[str, ...]]
    kept: tuple[UsedOutputs, ...]
    background: Mapping[str, tuple[str, ...]]
    differing: Mapping[str, int]

    @property
    def candidates(self) -> tuple[str, ...]:
        return tuple(self.responses)


class PlacedPair(NamedTuple):
    """The place of an instruction, and the candidates of responses A and B."""

    instruction: int
    a: str
    b: str


@dataclass(frozen=True)
class Pairs:
    """What was made. `possible`: how many pairs there would be without a number that was asked for."""

    matched: MatchedOutputs
    plan: PairsPlan
    pairs: tuple[PlacedPair, ...]
    possible: int

    @property
    def is_part(self) -> bool:
        return len(self.pairs) < self.possible

    @cached_property
    def of_candidate(self) -> Counter[str]:
        return Counter(name for pair in self.pairs for name in pair[1:])

    @cached_property
    def as_a(self) -> Counter[str]:
        return Counter(pair.a for pair in self.pairs)

    def write(self, path: Path) -> None:
        """Write them as a dataset. SetupError."""
        found = self.matched
        names = [
            _in_id(key, text, found.by_id) for key, text in zip(found.keys, found.instructions, strict=True)
        ]
        texts = found.responses
        columns = {
            ID: [pair_id(names[at], a, b) for at, a, b in self.pairs],
            INSTRUCTION: [found.instructions[pair.instruction] for pair in self.pairs],
            **{name: [text[pair[0]] for pair in self.pairs] for name, text in found.background.items()},
            OUTPUTS[0]: [texts[pair.a][pair.instruction] for pair in self.pairs],
            OUTPUTS[1]: [texts[pair.b][pair.instruction] for pair in self.pairs],
            CANDIDATES[0]: [pair.a for pair in self.pairs],
            CANDIDATES[1]: [pair.b for pair in self.pairs],
        }
        made_with = {one.outputs.candidate: one.outputs.made_with for one in found.kept}
        if any(made_with.values()):
            columns[GENERATED_WITH[0]] = [made_with[pair.a] for pair in self.pairs]
            columns[GENERATED_WITH[1]] = [made_with[pair.b] for pair in self.pairs]
        if self.is_part:
            columns[SEED_COLUMN] = [str(self.plan.seed)] * len(self.pairs)
        write_dataset(path, columns)


def match_outputs(files: Sequence[Outputs], questions: Mapping[str, str] | None = None) -> MatchedOutputs:
    """What several files have in common; `questions`: instructions by id, for files that have ids alone.

    Instructions are matched by id, where the texts that are known are the same, or by their exact text:
    by what matches more of them. Raises SetupError for fewer than two files and for two candidates of one
    name, InputError where the files have no instruction in common or nothing says what it was.
    """
    if len(files) < 2:
        raise SetupError(
            "Pairs need the outputs of two candidates or more.",
            "Name a file for each, on the same instructions.",
        )
    taken: dict[str, Path] = {}
    for file in files:
        called = _of_candidate(file.candidate)
        if called in taken:
            other = taken[called]
            where = other if other.name == file.path.name else other.name
            raise InputError(
                file.path,
                [f"its candidate is called {named(file.candidate)}, like that of {where}."],
                _to_tell_apart(file.path, other),
            )
        taken[called] = file.path
    methods = (_matched(files, "id", questions or {}), _matched(files, "instruction", {}))
    known = [method for method in methods if method is not None]
    if not known:
        raise _no_instructions(files)
    found = max(known, key=lambda method: len(method.keys))
    if not found.keys:
        raise _nothing_in_common(files, found, questions or {})
    return found


def make_pairs(matched: MatchedOutputs, plan: PairsPlan) -> Pairs:
    """The pairs of a plan, by instruction and then in the order of the candidates.

    Of a number of pairs every candidate (but for the baseline), every two that meet, and every instruction
    have as many as any other, or one fewer; a larger number by the same seed holds the smaller one.
    SetupError for a baseline that is no candidate, and for more text than a dataset may have.
    """
    names = matched.candidates
    if plan.baseline is not None and plan.baseline not in names:
        raise SetupError(
            f"No candidate is called {named(plan.baseline)}.",
            f"{did_you_mean(plan.baseline, names)}There are {listed(names, len(names))}.",
        )
    meetings = [two for two in combinations(names, 2) if plan.baseline in (None, *two)]
    possible = plan.possible(len(names), len(matched.keys))
    of_instructions = matched.instructions, *matched.background.values()
    shared = [sum(map(len, texts)) for texts in zip(*of_instructions, strict=True)]
    if plan.pairs is None or plan.pairs >= possible:
        # Counted by candidate: the texts of all pairs need not be made for that.
        met = Counter(name for two in meetings for name in two)
        letters = len(meetings) * sum(shared)
        letters += sum(met[name] * sum(map(len, texts)) for name, texts in matched.responses.items())
        _refuse_too_much(possible, letters)
        places = [divmod(at, len(meetings)) for at in range(possible)]
    else:
        places = sorted(_drawn(matched, meetings, plan))
        texts_of = matched.responses
        of_outputs = (len(texts_of[name][at]) for at, two in places for name in meetings[two])
        letters = sum(shared[at] for at, _ in places) + sum(of_outputs)
        _refuse_too_much(len(places), letters)
    pairs, times = [], Counter(matched.instructions)
    for at, two in places:
        first, second = sorted(meetings[two])
        asked = matched.instructions[at]
        own_id = [matched.keys[at]] if times[asked] > 1 else []
        is_first = int(digest([asked, *own_id, first, second]), 16) % 2 == 0
        pairs.append(PlacedPair(at, *((first, second) if is_first else (second, first))))
    return Pairs(matched, plan, tuple(pairs), possible)


# Matching


def _matched(
    files: Sequence[Outputs], by: Literal["id", "instruction"], questions: Mapping[str, str]
) -> MatchedOutputs | None:
    """By what responses have as `by`. None where one lacks it, or nothing says the instructions."""
    first: list[dict[str, Response]] = []  # of each file the first response to each key
    said: dict[str, set[str]] = {key: {text} for key, text in questions.items()}
    for file in files:
        first.append({})
        for one in file.responses:
            if (key := getattr(one, by)) is None:
                return None
            if first[-1].setdefault(key, one) is one and one.instruction is not None:
                said.setdefault(key, set()).add(one.instruction)
    if not said:
        return None
    shared = [key for key in first[0] if len(said.get(key, ())) == 1 and all(key in one for one in first)]
    texts = {key: next(iter(said[key])) for key in shared}
    everywhere = set().union(*first)
    kept = tuple(
        UsedOutputs(
            file,
            tuple(key for key in of_file if key not in texts),
            len(everywhere) - len(of_file),
            len(file.responses) - len(of_file),
        )
        for file, of_file in zip(files, first, strict=True)
    )
    responses = {
        file.candidate: tuple(of_file[key].output for key in shared)
        for file, of_file in zip(files, first, strict=True)
    }
    background, differing = {}, {}
    for place, name in enumerate(OF_PROMPT):
        known = [{one[key].background[place] for one in first} - {""} for key in shared]
        if any(known):
            background[name] = tuple(next(iter(each)) if len(each) == 1 else "" for each in known)
            differing[name] = sum(len(each) > 1 for each in known)
    instructions = tuple(texts.values())
    return MatchedOutputs(by == "id", tuple(shared), instructions, responses, kept, background, differing)


def _to_tell_apart(path: Path, other: Path) -> Hint:
    if path == other:
        return Hint("Remove one of them.")
    if plain_stem(path) == plain_stem(other):
        return Hint(
            "Remove one; if they are two candidates, rename one of the files, or name the column with the"
            " candidate: ",
            Setting.COLUMNS.at(f"{CANDIDATE}={GAP}"),
        )
    return Hint(
        "Remove one; if they are two candidates, name the files after them: ",
        Setting.COLUMNS.at(f"{CANDIDATE}="),
    )


def _no_instructions(files: Sequence[Outputs]) -> InputError:
    lacks = next(file for file in files if any(one.instruction is None for one in file.responses))
    without = next((file for file in files if any(one.id is None for one in file.responses)), None)
    if without is not None:
        return InputError(
            lacks.path,
            [f"has no instructions, and {without.path.name} has no ids to match them by."],
            Hint("Name the columns: ", Setting.COLUMNS.at(_EXAMPLE)),
        )
    return InputError(
        lacks.path,
        ["has no instructions, and neither has any other file."],
        Hint("Name the file that has them by id: ", Setting.INSTRUCTIONS.at("question.jsonl")),
    )


def _other_texts(
    files: Sequence[Outputs], found: MatchedOutputs, shared: Set[str], questions: Mapping[str, str]
) -> InputError:
    """Of files with the same ids, none of which stands for one instruction."""
    for key in (key for key in found.kept[0].left_out if key in shared):
        known = {"the file of the instructions": questions[key]} if key in questions else {}
        for file in files:
            text = next((one.instruction for one in file.responses if one.id == key), None)
            other = next((name for name, said in known.items() if text not in (None, said)), None)
            if other is not None:
                return InputError(
                    file.path,
                    [
                        f"has other instructions under the same ids than {other}, for instance under"
                        f" {quoted(key)}."
                    ],
                    Hint(
                        "If these are not ids of instructions, match by the texts: ",
                        Setting.COLUMNS.at(f"{ID}="),
                    ),
                )
            if text is not None:
                known[file.path.name] = text
    return InputError(
        files[0].path,
        [f"has the ids {listed(sorted(shared), 2)} and so on, but no instructions for them."],
        Hint("Name the file that has these instructions by id: ", Setting.INSTRUCTIONS.at("question.jsonl")),
    )


def _nothing_in_common(
    files: Sequence[Outputs], found: MatchedOutputs, questions: Mapping[str, str]
) -> InputError:
    keys = {id(kept): frozenset(kept.left_out) for kept in found.kept}
    if shared := frozenset.intersection(*keys.values()):
        return _other_texts(files, found, shared, questions)
    worst = min(found.kept, key=lambda one: sum(len(keys[id(one)] & keys[id(other)]) for other in found.kept))
    shown = listed(worst.left_out, 2)
    other = next(file for file in files if file is not worst.outputs)
    return InputError(
        worst.outputs.path,
        [f"has no instruction in common with all other files. It has {shown}; compare {other.path.name}."],
        Hint(
            "Remove that file, or name the columns by which instructions are matched: ",
            Setting.COLUMNS.at(_EXAMPLE),
        ),
    )


def _refuse_too_much(pairs: int, letters: int) -> None:
    if letters > _MOST_LETTERS:
        raise SetupError(
            f"{pairs:,} pairs would have {letters:,} characters.",
            "Make fewer: each against a baseline, or a balanced subset of the pairs.",
        )


# Which pairs


def _drawn(
    matched: MatchedOutputs, meetings: Sequence[tuple[str, str]], plan: PairsPlan
) -> Iterator[tuple[int, int]]:
    """The places of instructions and meetings of a balanced part."""
    number = {frozenset(two): place for place, two in enumerate(meetings)}
    candidates = in_drawn_order((name for name in matched.candidates if name != plan.baseline), plan.seed)
    if plan.baseline is not None:
        order = [number[frozenset((plan.baseline, name))] for name in candidates]
    else:
        order = [number[frozenset(candidates[at] for at in two)] for two in _evenly_met(len(candidates))]
    place_of = {key: place for place, key in enumerate(matched.keys)}
    asked = [place_of[key] for key in in_drawn_order(matched.keys, plan.seed)]
    # Both go round and round. Once they come back to where they began together, instructions move on by one:
    # so each of them meets every pair of candidates once, and none twice.
    together = lcm(len(asked), len(order))
    for turn in range(plan.pairs or 0):
        yield asked[(turn + turn // together) % len(asked)], order[turn % len(order)]


def _evenly_met(count: int) -> Iterator[tuple[int, int]]:
    """Every two of this many, in an order of which any first part has each as often as any other, or once
    less.

    Of an even number: the rounds of a tournament, each of which has all. Of an odd one: Walecki's circles, in
    each of which every second meeting comes first.
    """
    last = count - 1
    if count % 2 == 0:
        for turn in range(last):
            yield turn, last
            yield from (((turn + by) % last, (turn - by) % last) for by in range(1, count // 2))
        return
    for turn in range(last // 2):
        zigzag = [turn]
        for by in range(1, last // 2 + 1):
            zigzag += [(turn + by) % last, (turn - by) % last]
        circle = [last, *zigzag[:last]]
        meetings = [(circle[at], circle[(at + 1) % count]) for at in range(count)]
        yield from (*meetings[::2], *meetings[1::2])


def pair_id(instruction: str, one: str, other: str) -> str:
    """The id of a pair of two candidates' responses to an instruction, in whichever order."""
    return _BETWEEN.join((instruction, *map(_of_candidate, sorted((one, other)))))


def _in_id(key: str, instruction: str, by_id: bool) -> str:
    """What an instruction is called in ids: its own id, or its first words and a hash."""
    if by_id:
        return key
    words = "-".join(re.findall(r"\w+", instruction.lower())[:_WORDS_OF_ID])[:_LETTERS_OF_WORDS]
    return "-".join(filter(None, (words, digest(instruction)[:_DIGITS_OF_HASH])))


def _of_candidate(name: str) -> str:
    return re.sub(rf"[\s{_BETWEEN}]+", "-", name)
