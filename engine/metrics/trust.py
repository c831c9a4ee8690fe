"""Which judgments may stand: the threshold of a judge's confidence above which its labels agree with people's
in at least a target share, at a stated risk of being wrong about that.

The thresholds are tested on labels of a random part, each by an exact binomial test of as many independent
labels as the clustered ones are worth (`intervals.py`), in the order of the fallback procedure (Wiens 2003;
Wiens and Dmitrienko 2005), which keeps the risk of all tests together. The idea: Jung, Brahman and Choi,
Trust or Escalate (arXiv 2407.18370). Simulated: `bench/coverage/trust.py`.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import betaincinv

from engine.core.numeric import FloatArray, IntArray, chance_of_share
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, group_numbers

TARGET, RISK = 0.85, 0.1
FORECAST = (50, 100, 200, 400)
"""Numbers of labels for which it is forecast what may stand."""
UNSCORED = -1.0
"""The confidence of what is not judged: no threshold accepts it."""
_QUANTILES = tuple(place / 10 for place in range(9, -1, -1))
_MORE = 1.02  # times the labels, step by step
_MOST_TIMES = 1e4  # so many times the labels are no answer to how many more are needed
_BETS = np.arange(0.1, 1, 0.2)  # shares of all that can be lost; the mean of several bets is a bet, too
_DRAWS = 100
ALIKE = 0.25  # the intraclass correlation of agreement within an instruction: .245 in PandaLM's labels
_TENTHS = (0.1, 0.5, 0.9)
_CHANCES = (0.01, 0.99)


@dataclass(frozen=True)
class JudgedConfidence:
    """All judged items, labelled or not. `confidence`: 0 to 1, UNSCORED without a label, of one judge, or of
    each that an item reaches where the one before is not confident enough, shape (judges, items).
    `instructions`: of each item.
    """

    confidence: FloatArray
    instructions: Sequence[Hashable]

    @cached_property
    def thresholds(self) -> list[float]:
        """From the highest to the lowest: quantiles of all items, so no label has a part in them."""
        highest = self.confidence.max(axis=0)
        places = dict.fromkeys(float(np.quantile(highest, each, method="higher")) for each in _QUANTILES)
        return [each for each in places if each >= 0]

    def decided_by(self, threshold: float) -> FloatArray:
        """The share of the items that each judge decides, 0 to 1, shape (judges,)."""
        enough = self.confidence >= threshold
        first = enough & (enough.cumsum(axis=0) == 1)
        return np.asarray(first.mean(axis=1))


@dataclass(frozen=True)
class TrustSample:
    """The labelled items, drawn at random, in the order in which they were drawn. `confidence`: each judge's,
    from a calibration that saw none of their labels; `agreement`: which share of an item's people gave the
    judge's label, 0 to 1; both of shape (judges, items). `instructions`: of each item.
    """

    confidence: FloatArray
    agreement: FloatArray
    instructions: Sequence[Hashable]

    @property
    def labels(self) -> int:
        return len(self.instructions)

    def above(self, threshold: float) -> "TrustSample":
        """The items that are decided, each by the first judge who is confident enough."""
        enough = self.confidence >= threshold
        kept = np.flatnonzero(enough.any(axis=0))
        by = enough[:, kept].argmax(axis=0)
        groups = [self.instructions[place] for place in kept.tolist()]
        return TrustSample(self.confidence[by, kept][None], self.agreement[by, kept][None], groups)

    @property
    def over_instructions(self) -> OverInstructions | None:
        return OverInstructions.of_one(self.agreement[0].tolist(), self.instructions)

    @property
    def by_instruction(self) -> FloatArray:
        """The agreement of the first item of each instruction, in the order in which they were drawn."""
        _, first = np.unique(group_numbers(self.instructions), return_index=True)
        return np.asarray(self.agreement[0][np.sort(first)])


class _Tested:
    p: float
    level: float | None

    @property
    def passed(self) -> bool:
        return self.level is not None and self.p <= self.level


@dataclass(frozen=True)
class Threshold(_Tested):
    """What may stand if all from `confidence` on may. `accepted`: the share of all judged items; `labels`:
    how many of these are labelled; `agreement`: of those. `p`: how probable so much agreement is if the true
    one is just below the target. `level`: at which it was tested; None if the labels are too few for a test.
    """

    confidence: float
    accepted: float
    labels: int
    agreement: Estimate | None
    p: float
    level: float | None = None


@dataclass(frozen=True)
class Promise:
    """`target`: the share of labels that stand which agree with people; `risk`: of being wrong about that.
    `anytime`: by bets, one an instruction, which may be looked at after each label (Ville 1939; Waudby-Smith
    and Ramdas, Estimating means of bounded random variables by betting, 2024); else at a number of labels
    that was fixed before.
    """

    target: float = TARGET
    risk: float = RISK
    anytime: bool = False


@dataclass(frozen=True)
class Trust:
    """`thresholds`: from the highest confidence to the lowest. `taken`: the lowest that passed its test.
    `more_labels`: how many more would let something stand, if agreement stays as seen; None if none would, or
    something does.
    """

    promise: Promise
    labels: int
    thresholds: tuple[Threshold, ...]
    more_labels: int | None = None

    @property
    def taken(self) -> Threshold | None:
        return next((each for each in reversed(self.thresholds) if each.passed), None)

    @property
    def accepted(self) -> float:
        return self.taken.accepted if self.taken else 0.0

    @classmethod
    def of(cls, judged: JudgedConfidence, part: TrustSample, promise: Promise) -> Self:
        tested = _tested(judged, part, promise)
        nothing = not promise.anytime and not any(each.passed for each in tested)
        more = _more_labels(tested, part.labels, promise) if nothing else None
        return cls(promise, part.labels, tuple(_threshold(each, judged) for each in tested), more)


@dataclass(frozen=True)
class _Test(_Tested):
    confidence: float
    above: TrustSample
    found: OverInstructions | None
    best: float = 0.0  # of how many labels it were, did all agree
    p: float = 1.0
    level: float | None = None
    can_pass: bool = False


def _tested(judged: JudgedConfidence, part: TrustSample, promise: Promise) -> list[_Test]:
    """By the fallback procedure: half of the risk is for the first threshold that can be tested, half for the
    middle one; each is tested at its own share and what the one before handed on, which is all if it passed.
    """
    tests = [_test(at, part.above(at), promise) for at in judged.thresholds]
    levels = _levels([(each.can_pass, each.p) for each in tests], promise.risk)
    return [replace(test, level=level) for test, level in zip(tests, levels, strict=True)]


def _levels(tests: Sequence[tuple[bool, float]], risk: float) -> list[float | None]:
    """At which level each is tested: of whether it can pass, and its p; None for what cannot."""
    able, handed_on = [place for place, (can_pass, _) in enumerate(tests) if can_pass], 0.0
    levels: list[float | None] = [None] * len(tests)
    for place in able:
        own = (place == able[0]) + (place == able[len(able) // 2])
        levels[place] = level = risk / 2 * own + handed_on
        handed_on = level if tests[place][1] <= level else 0.0
    return levels


def _test(at: float, above: TrustSample, promise: Promise) -> _Test:
    """With whether it can be passed, by counts alone: how the labels turned out has no part in that."""
    found = above.over_instructions
    if found is None:
        return _Test(at, above, None)
    if promise.anytime:
        values = above.by_instruction
        p, at_best = _p_by_bets(values, promise.target), _p_by_bets(np.ones_like(values), promise.target)
        best = 0.0
    else:
        best = replace(found, mean=1.0, pulls=np.zeros_like(found.pulls), sides=0).worth_of_share
        p, at_best = found.p_share_above(promise.target), chance_of_share(1.0, best, promise.target)
    can_pass = found.instructions >= FEW and at_best <= promise.risk / 2
    return _Test(at, above, found, best, p, can_pass=can_pass)


def _threshold(test: _Test, judged: JudgedConfidence) -> Threshold:
    found, accepted = test.found, float(judged.decided_by(test.confidence).sum())
    agreement = Estimate(found.mean, found.share_interval()) if found is not None else None
    return Threshold(test.confidence, accepted, test.above.labels, agreement, test.p, test.level)


def _p_by_bets(values: FloatArray, target: float) -> float:
    """That the mean of values from 0 to 1 is `target` or less: 1 / the most that bets against it ever had."""
    had = np.cumprod(1 + _BETS[:, None] / target * (values - target), axis=1).mean(axis=0)
    return min(1.0, 1 / float(had.max(initial=1.0)))


def _more_labels(tests: Sequence[_Test], labels: int, promise: Promise) -> int | None:
    """How many more labels of all items make any test pass, by the same procedure: more thresholds can be
    tested then, and each at its own level.
    """
    known = [(each.found, each.found.worth_of_share, each.best) for each in tests if each.found is not None]
    target, times = promise.target, 1.0
    if all(found.mean <= target for found, *_ in known):
        return None
    while (times := times * _MORE) < _MOST_TIMES:
        tried = [
            (
                found.instructions * times >= FEW
                and chance_of_share(1.0, best * times, target) <= promise.risk / 2,
                chance_of_share(found.mean, worth * times, target),
            )
            for found, worth, best in known
        ]
        levels = _levels(tried, promise.risk)
        if any(level is not None and p <= level for (_, p), level in zip(tried, levels, strict=True)):
            return max(math.ceil(labels * (times - 1)), 1)
    return None


@dataclass(frozen=True)
class TrustForecast:
    """With so many labels in all: how probable it is that some labels may stand, and the share of all that
    may, 0 to 1: in the middle, and between what only a tenth of draws are below and above.
    """

    labels: int
    something: float
    low: float
    middle: float
    high: float


def forecast(
    judged: JudgedConfidence, part: TrustSample, promise: Promise, seed: int = 0
) -> list[TrustForecast]:
    """What may stand with each of FORECAST labels of the judged items, drawn anew. Each agrees with the
    chance that a line over the ranks of confidence has in a bootstrap sample of the labels so far; those of
    one instruction are alike. Empty for fewer labels than a test takes.
    """
    if part.labels < FEW:
        return []
    random, items = np.random.default_rng(seed), judged.confidence.shape[1]
    judges = list(zip(judged.confidence, part.confidence, part.agreement, strict=True))
    found = []
    for labels in (each for each in FORECAST if each <= items):
        shares = []
        for _ in range(_DRAWS):
            drawn = random.choice(items, labels, replace=False)
            groups = [judged.instructions[place] for place in drawn.tolist()]
            again = random.integers(part.labels, size=part.labels)
            chance = np.array([_line(*judge, again)[drawn] for judge in judges])
            agreement = random.random(labels) < _alike_within(groups, chance, random)
            sample = TrustSample(judged.confidence[:, drawn], agreement.astype(np.float64), groups)
            passed = [each.confidence for each in _tested(judged, sample, promise) if each.passed]
            shares.append(float(judged.decided_by(passed[-1]).sum()) if passed else 0.0)
        low, middle, high = np.quantile(shares, _TENTHS).tolist()
        found.append(TrustForecast(labels, float(np.mean(np.array(shares) > 0)), low, middle, high))
    return found


def _line(confidence: FloatArray, labelled: FloatArray, agreement: FloatArray, again: IntArray) -> FloatArray:
    """The chance of agreement of each judged item, shape (items,), by the labelled ones `again`; one more
    that agrees and one that does not keep it from being certain.
    """
    ordered = np.sort(confidence)
    ranks = np.searchsorted(ordered, labelled[again]) / len(ordered)
    slope, start = np.polyfit([*ranks, 0.5, 0.5], [*agreement[again], 0.0, 1.0], 1)
    found = start + slope * np.searchsorted(ordered, confidence) / len(ordered)
    return np.asarray(np.clip(found, *_CHANCES))


def _alike_within(groups: Sequence[Hashable], chance: FloatArray, random: np.random.Generator) -> FloatArray:
    """The chances of items whose instructions are easier or harder than others; as they are for one each."""
    numbers = group_numbers(groups)
    if len(set(numbers.tolist())) == len(numbers):
        return chance
    spread, luck = (1 - ALIKE) / ALIKE, random.random(len(numbers))[numbers]
    return np.asarray(betaincinv(chance * spread, (1 - chance) * spread, luck))
