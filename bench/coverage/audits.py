"""Whether an audit finds out judges with planted faults, and lets fair ones pass.

A judge is a function in the place of a model. Each response has a worth on each criterion, which people see
with a noise of theirs and the judge with its own. Its noise belongs to the texts: what is asked once more
gets the same answer, unless that is the fault.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.coverage.claims import Kind, Promise, at_most, simulated
from engine.analysis import audit, perturbations
from engine.analysis.audit import SHIFTS, JudgePredictions
from engine.analysis.audit_run import Audit, audit_of
from engine.core.items import PREFERENCES, Gold, Item
from engine.core.judgments import JudgmentKey
from engine.core.numeric import FloatArray, IntArray, log_softmax
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset
from engine.results.decision import SWAPPED
from tests.judged import text_table

LEAST_FOUND = 0.95
MOST_FALSE = 0.05
_WORDS = ("river", "stone", "lamp", "garden", "winter", "paper", "bridge", "window", "ladder", "candle")
_CRITERIA, _LABELS = len(ELOQUENT.names), len(PREFERENCES)
_SENTENCE = 8  # words
_AUDITS = 20  # of fair judges, of whose lines all but one are taken


@dataclass(frozen=True)
class Planted:
    """`knows`: how loud the worth is beside an item's noise; `sharp`: what scores are multiplied by.
    `of_order`, `of_text`: noise of each order and text. `mass`: its format mass.

    Faults, added to scores: `first`, `letter`: in the first place, at the letter A; `longer`: for each e-fold
    of length; `with_filler`, `formatted`, `with_injection`: of responses changed so; `restless`: noise anew
    each time. `blind`: it cannot tell good ties from bad ones.
    """

    knows: float = 1.5
    sharp: float = 1.0
    of_order: float = 0.3
    of_text: float = 0.1
    mass: float = 0.98
    first: float = 0.0
    letter: float = 0.0
    longer: float = 0.0
    with_filler: float = 0.0
    formatted: float = 0.0
    with_injection: float = 0.0
    restless: float = 0.0
    blind: bool = False

    def won_by(self, kind: perturbations.PerturbationKind) -> float:
        return {
            perturbations.PerturbationKind.FILLER: self.with_filler,
            perturbations.PerturbationKind.FORMATTING: self.formatted,
            perturbations.PerturbationKind.PROMPT_INJECTION: self.with_injection,
        }.get(kind, 0.0)


FAIR = {
    "fair": Planted(),
    "fair and soft": Planted(sharp=0.4),
    "fair and sharp": Planted(sharp=3.0),
    "fair, knows less": Planted(knows=1.0),
    "fair, unsteady at any change": Planted(of_text=0.5),
    "fair, takes from what is changed": Planted(with_filler=-0.5, with_injection=-1.0, formatted=-0.3),
    "fair, leans half as far as it may": Planted(first=0.1, letter=0.15, longer=0.15, with_filler=0.03),
    "at nearly every bound": Planted(
        knows=0.58,
        first=0.15,
        letter=0.32,
        longer=0.23,
        with_filler=0.02,
        formatted=0.06,
        with_injection=0.01,
        restless=0.085,
        mass=0.901,
    ),
}
FAULTY: dict[str, tuple[str, Planted]] = {
    "always the first": ("flips", Planted(first=6.0)),
    "leans to the first place": ("place", Planted(first=1.0)),
    "prefers longer": ("length", Planted(longer=1.5)),
    "wins by padding": (perturbations.PerturbationKind.FILLER.value, Planted(with_filler=0.3)),
    "prefers lists": (perturbations.PerturbationKind.FORMATTING.value, Planted(formatted=0.3)),
    "obeys injections": (perturbations.PerturbationKind.PROMPT_INJECTION.value, Planted(with_injection=0.3)),
    "leans to the letter A": ("letters", Planted(letter=0.8)),
    "does not repeat itself": (perturbations.PerturbationKind.REPEAT.value, Planted(restless=0.8)),
    "mixes both_good with both_bad": ("ties", Planted(blind=True)),
    "loses the format": ("format_mass", Planted(mass=0.8)),
}
"""Judges, each with the line that must find it out."""


@dataclass(frozen=True)
class World:
    """`better_is_longer`: how many e-folds longer a response is for each unit of its worth."""

    items: int = perturbations.DEFAULT_ITEMS
    better_is_longer: float = 0.0

    def drawn(self, random: np.random.Generator) -> "DrawnFigure":
        shared, own = random.normal(size=(2, 1, self.items)), random.normal(size=(2, _CRITERIA, self.items))
        worth = 0.7 * shared + 0.7 * own + 0.4
        lengths = 0.5 * random.normal(size=(2, self.items)) + self.better_is_longer * worth.mean(axis=1)
        sizes = np.clip(30 * np.exp(lengths), 4, 300).astype(int).tolist()
        noise = random.normal(size=(_CRITERIA, self.items, _LABELS))
        human = (_scores(worth, (worth[0] + worth[1]) / 2) + 0.4 * noise).argmax(axis=2)
        texts = [[_text(random, size) for size in of_side] for of_side in sizes]
        items = [
            Item(
                str(place),
                f"question {place}",
                texts[0][place],
                texts[1][place],
                {name: Gold(PREFERENCES[label]) for name, label in zip(ELOQUENT.names, labels, strict=True)},
            )
            for place, labels in enumerate(human.T.tolist())
        ]
        return DrawnFigure(items, worth)


class DrawnFigure:
    """Items with their copies; `worth`: of the responses A and B, shape (2, criteria, items)."""

    def __init__(self, items: Sequence[Item], worth: FloatArray) -> None:
        self.items = perturbations.make_perturbations(_dataset(items), len(items)).items
        self.perturbations = [perturbations.Perturbation.of_id(item.id) for item in self.items]
        own = {item.id: place for place, item in enumerate(items)}
        found = [
            own[perturbation.of if perturbation else item.id]
            for perturbation, item in zip(self.perturbations, self.items, strict=True)
        ]
        self.item_of: IntArray = np.array(found)
        self.worth = worth[:, :, self.item_of]

    @cached_property
    def dataset(self) -> Dataset:
        return _dataset(self.items)

    @cached_property
    def _text_of(self) -> IntArray:
        """A number for each item and copy; what is asked once more has the number of its item."""
        again = [
            perturbation is not None and perturbation.kind is perturbations.PerturbationKind.REPEAT
            for perturbation in self.perturbations
        ]
        firsts = {place: number for number, place in reversed(list(enumerate(self.item_of.tolist())))}
        numbers = [
            firsts[place] if is_again else number
            for number, (place, is_again) in enumerate(zip(self.item_of.tolist(), again, strict=True))
        ]
        return np.array(numbers)

    def received(self, judge: Planted, random: np.random.Generator) -> JudgePredictions:
        seen = judge.knows * self.worth + self._added(judge) + self._noise(judge, random)
        level = (seen[0] + seen[1]) / 2
        if judge.blind:
            level = random.normal(size=level.shape)[:, self.item_of]
        # As the judge sees the responses: (criteria, items, orders, labels).
        scores = np.stack([_scores(seen, level), _scores(seen[::-1], level)], axis=2)
        each = random.normal(size=scores.shape)
        scores = scores + judge.of_order * each[:, self._text_of]
        scores = scores + judge.restless * random.normal(size=scores.shape)
        scores[..., 0] += judge.first
        letters = log_softmax(judge.sharp * _with_letters(scores, judge.letter))
        by_letters = log_softmax(judge.sharp * (scores + judge.letter * (np.arange(_LABELS) == 0)))
        read = log_softmax((by_letters + log_softmax(_by_label(letters))) / 2)
        read[:, :, 1] = read[:, :, 1][..., SWAPPED]
        mass = random.beta(50 * judge.mass, 50 * (1 - judge.mass), size=read.shape[:2])
        human = {
            JudgmentKey(item.id, name): gold.label
            for item in self.items
            for name, gold in item.gold.items()
            if gold.label is not None
        }
        count = len(self.items)
        return JudgePredictions(
            items=self.items,
            criteria=ELOQUENT.names,
            by_order=read,
            mean=log_softmax(read.mean(axis=2)),
            mass=mass,
            letters=letters,
            human=human,
            seconds=random.gamma(20, 0.05, count),
            tokens=np.full(count, 500.0),
        )

    def _added(self, judge: Planted) -> FloatArray:
        """What is no worth, to each response: shape (2, 1, items)."""
        added = np.zeros((len(perturbations.SIDES), 1, len(self.items)))
        for place, (item, perturbation) in enumerate(zip(self.items, self.perturbations, strict=True)):
            added[:, 0, place] = judge.longer * np.log(np.array(item.lengths) / 200)
            if perturbation is not None and perturbation.side is not None:
                added[perturbations.SIDES.index(perturbation.side), 0, place] += judge.won_by(
                    perturbation.kind
                )
        return added

    def _noise(self, judge: Planted, random: np.random.Generator) -> FloatArray:
        of_item, of_text = random.normal(size=(2, len(perturbations.SIDES), _CRITERIA, len(self.items)))
        noise: FloatArray = of_item[..., self.item_of] / 2**0.5 + judge.of_text * of_text[..., self._text_of]
        return noise


def _scores(seen: FloatArray, level: FloatArray) -> FloatArray:
    """Of the four labels, the first response being A: shape (criteria, items, 4)."""
    lead = seen[0] - seen[1]
    return np.stack([lead, -lead, 0.6 + level, 0.6 - level], axis=2)


def _with_letters(scores: FloatArray, token_bias: float) -> FloatArray:
    """Of the letters A to D in each question that permutes them: shape (..., 4 questions, 4 letters)."""
    questions = [np.roll(scores, -shift, axis=-1) for shift in range(SHIFTS)]
    return np.asarray(np.stack(questions, axis=-2) + token_bias * (np.arange(_LABELS) == 0))


def _by_label(letters: FloatArray) -> FloatArray:
    """The mean of what each label had at its letters."""
    turned = [np.roll(letters[..., shift, :], shift, axis=-1) for shift in range(SHIFTS)]
    return np.asarray(np.mean(turned, axis=0))


def _text(random: np.random.Generator, size: int) -> str:
    words = random.choice(_WORDS, size).tolist()
    sentences = [words[start : start + _SENTENCE] for start in range(0, size, _SENTENCE)]
    return " ".join(f"{' '.join(sentence).capitalize()}." for sentence in sentences)


def _dataset(items: Sequence[Item]) -> Dataset:
    columns = {
        "id": [item.id for item in items],
        "instruction": [item.instruction for item in items],
        "output_a": [item.output_a for item in items],
        "output_b": [item.output_b for item in items],
    }
    for name in ELOQUENT.names:
        columns[f"{name}_preference"] = [item.gold[name].label or "" for item in items]
    return Dataset(Path("drawn.tsv"), text_table(columns))


def audited(judge: Planted, world: World, random: np.random.Generator) -> Audit:
    drawn = world.drawn(random)
    return audit_of(drawn.received(judge, random), drawn.dataset, "drawn")


@simulated(
    "audit: planted faults",
    Promise("audit: a planted fault is found", 1.0, LEAST_FOUND),
    [(name, line, judge) for name, (line, judge) in FAULTY.items()],
    f"{{0}}, {perturbations.DEFAULT_ITEMS} items",
)
def _is_found(random: np.random.Generator, _name: str, line: str, judge: Planted) -> bool:
    return line in {fault.name for fault in audited(judge, World(), random).faults}


@simulated(
    "audit: fair judges",
    at_most("audit: a fair judge is called faulty", MOST_FALSE),
    [
        (name + where, judge, world)
        for name, judge in FAIR.items()
        for where, world in (
            ("", World()),
            (", better ones longer", World(better_is_longer=0.3)),
            (", 15 items", World(15)),
        )
    ],
)
def _has_fault(random: np.random.Generator, _name: str, judge: Planted, world: World) -> bool:
    return bool(audited(judge, world, random).faults)


# Harm on a few items, on all criteria: the other lines are those of fair judges, so that all hold together.


class Line(NamedTuple):
    """A line of an audit: how it is tested against its bound; `whole`: its values are 0 or 1."""

    kind: audit.MeanKind
    bound: float
    is_below: bool = False
    is_two_sided: bool = False
    whole: bool = False


_LINES = {
    "injected": Line(audit.WON, audit.MOST_WON),
    "place": Line(audit.WON, audit.MOST_TOKEN_BIAS, is_two_sided=True),
    "again": Line(audit.SHARE, audit.MOST_UNLIKE, whole=True),
    "format_mass": Line(audit.SCORE, audit.LEAST_MASS, is_below=True),
}


@dataclass(frozen=True)
class Harm(Kind):
    """What a line finds on all criteria of `items`: `much` in a `share` of them, `rest` in the others."""

    line: str
    items: int
    share: float
    much: float
    rest: float = 0.0

    def drawn(self, random: np.random.Generator) -> list[audit.AuditLine]:
        """The lines of an audit of a judge that has this one, and else no fault."""
        means = np.where(random.random(self.items) < self.share, self.much, self.rest)
        shape, line = (_CRITERIA, self.items), _LINES[self.line]
        noise = random.random(shape) < means if line.whole else means + random.normal(0, 0.005, shape)
        values: FloatArray = np.clip(noise, 0 if line.is_below else -1, 1).astype(np.float64)
        found = audit.over_criteria(values, list(range(self.items)))
        assert found is not None
        kind, bound, is_below, is_two_sided, _ = line
        rare = audit.held((self.line, ""), found, kind, bound, "", below=is_below, two_sided=is_two_sided)
        others = _fair_lines(self.items, int(random.integers(_AUDITS)))
        return list(audit.judged_together([rare, *(each for each in others if each.name != self.line)]))


@cache
def _fair_lines(items: int, seed: int) -> tuple[audit.AuditLine, ...]:
    return audited(FAIR["fair"], World(items), np.random.default_rng(seed)).lines


_BEYOND = (
    *(Harm("injected", items, 0.05, 0.6) for items in (15, 40, 60, 100)),
    *(Harm("injected", items, 0.03, 1.0) for items in (40, 100, 160)),
    *(Harm("place", items, 0.06, 1.0) for items in (15, 40, 80)),
    *(Harm("again", items, 0.06, 1.0, 0.005) for items in (15, 40, 80)),
    *(Harm("format_mass", items, 0.11, 1.0, 0.005) for items in (15, 40)),
)
_WITHIN = (
    *(Harm("injected", items, 0.04, -0.46, 0.04) for items in (15, 40, 100)),
    *(Harm("injected", items, 0.08, -0.44, 0.06) for items in (15, 40)),
    *(Harm("place", items, 0.04, -0.43, 0.07) for items in (15, 40)),
    *(Harm("format_mass", items, 0.05, 0.0, 0.105) for items in (15, 40)),
)


@simulated("audit: rare harm", at_most("audit: sound, but for rare harm", MOST_FALSE), _BEYOND)
def _is_called_sound(random: np.random.Generator, harm: Harm) -> bool:
    return harm.drawn(random)[0].verdict is audit.AuditVerdict.SOUND


@simulated("audit: rare harm", at_most("audit: a fault, but for rare losses", MOST_FALSE), _WITHIN)
def _is_called_faulty(random: np.random.Generator, harm: Harm) -> bool:
    return any(line.found for line in harm.drawn(random))
