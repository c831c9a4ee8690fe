"""How often judgments that may stand agree with people less than was promised, and how many may stand; beside
rules that look right: the lowest threshold that reached the target in the labels, a 90 % bound at each
threshold, the fixed sequence of binomial tests of Jung et al., and the confidence itself.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv
from scipy.stats import binom

from bench.coverage.claims import Kind, Promise, at_most, simulated
from engine.core.numeric import FloatArray, IntArray
from engine.metrics import trust
from engine.metrics.trust import JudgedConfidence, Trust, TrustSample

_JUDGED = 3000
_ALIKE = 0.25  # the intraclass correlation of agreement in PandaLM's labels is .245
_TAIL = 1.2  # heavy: the largest of 600 instructions has about 90 times the items of the least


@dataclass(frozen=True)
class World(Kind):
    """`sizes`: of instructions. `slope`: from the least to the highest confidence the chance of agreement
    rises by so much; its mean is `mean`, and where that is 0, it is the target less one in a hundred.
    `skew`: the share of items on which the judge says its one label, at the highest confidence. `second`:
    the mean agreement of a second judge, 0 for none. `looks`: after so many labels the user looks again.
    """

    sizes: str = "one"
    labels: int = 200
    target: float = 0.8
    risk: float = 0.1
    mean: float = 0.0
    slope: float = 0.0
    skew: float = 0.0
    second: float = 0.0
    looks: int = 0

    def groups(self, random: np.random.Generator) -> IntArray:
        if self.sizes == "one":
            return np.arange(_JUDGED)
        if self.sizes == "five":
            return np.arange(_JUDGED) // 5
        weights = (np.arange(_JUDGED // 5) + 1.0) ** -_TAIL
        return np.sort(random.choice(len(weights), _JUDGED, p=weights / weights.sum()))

    @property
    def promise(self) -> trust.Promise:
        return trust.Promise(self.target, self.risk, anytime=bool(self.looks))

    @property
    def means(self) -> list[float]:
        return [self.mean or self.target - 0.01, *([self.second] if self.second else [])]


class Drawn(NamedTuple):
    """`chance`: that each judge agrees on each judged item, shape (judges, items)."""

    judged: JudgedConfidence
    chance: FloatArray
    part: TrustSample

    @property
    def confidence(self) -> FloatArray:
        return np.asarray(self.judged.confidence[0])

    def agreement(self, threshold: float) -> float:
        """The true agreement of what is decided from a threshold on."""
        enough = self.judged.confidence >= threshold
        decided = enough.any(axis=0)
        by = enough[:, decided].argmax(axis=0)
        return float(self.chance[by, np.flatnonzero(decided)].mean())


def _draw(world: World, random: np.random.Generator) -> Drawn:
    groups = world.groups(random)
    labelled = random.choice(_JUDGED, world.labels, replace=False)
    luck = random.random(int(groups.max()) + 1)[groups[labelled]]
    rows = []
    for mean in world.means:
        known = random.random(_JUDGED)
        confidence = np.where(random.random(_JUDGED) < world.skew, 1.0, known)
        chance = np.clip(mean + world.slope * (confidence - confidence.mean()), 0.01, 0.99)
        own = chance[labelled]
        if world.sizes != "one":  # an instruction is easy, or hard, to judges
            spread = (1 - _ALIKE) / _ALIKE
            own = np.asarray(betaincinv(own * spread, (1 - own) * spread, luck))
        # Of a judge that another one follows, confidence is the calibrated probability: both have one scale.
        sure = chance if world.second else confidence
        rows.append((sure, chance, (random.random(world.labels) < own).astype(np.float64)))
    confidence, chance, agreement = (np.array(each) for each in zip(*rows, strict=True))
    part = TrustSample(confidence[:, labelled], agreement, groups[labelled].tolist())
    return Drawn(JudgedConfidence(confidence, groups.tolist()), chance, part)


Rule = Callable[[World, Drawn], float | None]


def _ours(world: World, drawn: Drawn) -> float | None:
    part = drawn.part
    for labels in range(world.looks or world.labels, world.labels + 1, world.looks or world.labels):
        seen = TrustSample(
            part.confidence[:, :labels], part.agreement[:, :labels], part.instructions[:labels]
        )
        taken = Trust.of(drawn.judged, seen, world.promise).taken
        if taken:
            return taken.confidence
    return None


def _least(world: World, errors: int) -> int:
    counts = np.arange(1, 1000)
    return int(counts[binom.cdf(errors, counts, 1 - world.target) <= world.risk][0])


def _lowest(passes: Callable[[World, FloatArray], bool], in_sequence: bool = False) -> Rule:
    def rule(world: World, drawn: Drawn) -> float | None:
        taken = None
        for at in drawn.judged.thresholds:
            above = drawn.part.above(at)
            if above.labels and passes(world, above.agreement[0]):
                taken = at
            elif in_sequence and above.labels >= _least(world, 0):  # it could have passed
                break
        return taken

    return rule


def _seen(world: World, agreement: FloatArray) -> bool:
    return float(agreement.mean()) >= world.target


def _binomial(world: World, agreement: FloatArray) -> bool:
    return float(binom.sf(agreement.sum() - 1, len(agreement), world.target)) <= world.risk


def _walk(world: World, part: TrustSample, least: int) -> float | None:
    """From the surest label on, each one more is a test, from the first `least` on, until one fails."""
    order = np.argsort(-part.confidence[0], kind="stable")
    taken = None
    for count in range(least, len(order) + 1):
        if not _binomial(world, part.agreement[0][order[:count]]):
            break
        taken = float(part.confidence[0][order[count - 1]])
    return taken


def _kunko(world: World, drawn: Drawn) -> float | None:
    """As kunko-judge-audit 0.5.1: from the first labels on that could pass with two errors."""
    return _walk(world, drawn.part, _least(world, 2))


def _potato(world: World, drawn: Drawn) -> float | None:
    """As the last tier of Potato 2.12.1: one half of the labels chooses where the other begins its walk."""
    part, half = drawn.part, world.labels // 2
    first, second = (
        TrustSample(part.confidence[:, own], part.agreement[:, own], part.instructions[own])
        for own in (slice(half), slice(half, None))
    )
    least = 1.5 * _least(world, 0)
    order = np.argsort(-first.confidence[0], kind="stable")
    for count in range(math.ceil(least), half + 1):
        wrong = float((1 - first.agreement[0][order[:count]]).sum())
        if (wrong + 0.5) / (count + 1) <= (1 - world.target) / 2:
            start = float(first.confidence[0][order[count - 1]])
            return _walk(world, second, max(int((second.confidence[0] >= start).sum()), 1))
    return None


_NAIVE: Mapping[str, Rule] = {
    "the lowest that reached it": _lowest(_seen),
    "a bound at each": _lowest(_binomial),
    "binomial, in sequence": _lowest(_binomial, in_sequence=True),
    "kunko-judge-audit's walk": _kunko,
    "Potato's two halves": _potato,
    "confidence itself": lambda world, _: world.target,
}


def _is_broken(rule: Rule, random: np.random.Generator, world: World) -> bool:
    drawn = _draw(world, random)
    at = rule(world, drawn)
    return at is not None and drawn.agreement(at) < world.target


def _worlds() -> Iterator[World]:
    sizes = ("one", "five", "heavy")
    for size, labels, target, risk in product(sizes, (50, 100, 200, 400), (0.8, 0.85, 0.9), (0.1, 0.05)):
        yield World(size, labels, target, risk)
    for size, labels in product(sizes, (100, 400)):
        yield World(size, labels, slope=0.2)
        yield World(size, labels, skew=0.9)
        yield World(size, labels, mean=0.74, slope=0.35)
        yield World(size, labels, looks=25)
        for mean, second, target in (
            (0.76, 0.9, 0.85),
            (0.76, 0.9, 0.9),
            (0.62, 0.9, 0.85),
            (0.7, 0.72, 0.8),
        ):
            yield World(size, labels, target, mean=mean, second=second, slope=0.3)


def _broken(random: np.random.Generator, world: World) -> bool:
    return _is_broken(_ours, random, world)


for _risk in (0.1, 0.05):
    simulated(
        "trust",
        at_most(f"what may stand agrees less (risk {100 * _risk:.0f} %)", _risk),
        [world for world in _worlds() if world.risk == _risk],
    )(_broken)


def _naive(rule: Rule) -> Callable[[np.random.Generator, World], bool]:
    return lambda random, world: _is_broken(rule, random, world)


# No bar: what the rules do that peers and papers use.
for _name, _rule in _NAIVE.items():
    simulated(
        "trust",
        at_most(f"  by {_name}", 0.1, 1.0),
        [World(size, labels, mean=0.79) for size, labels in product(("one", "five", "heavy"), (100, 400))],
    )(_naive(_rule))


def _accepted(random: np.random.Generator, world: World) -> float:
    drawn = _draw(world, random)
    at = _ours(world, drawn)
    return 0.0 if at is None else float(drawn.judged.decided_by(at).sum())


for _labels, _bar in ((100, 0.55), (200, 0.8)):
    simulated(
        "trust",
        Promise(f"share that may stand, {_labels} labels", _bar, _bar, is_mean=True),
        [World(labels=_labels, mean=0.86, slope=0.25)],
    )(_accepted)


def _forecast_holds(random: np.random.Generator, world: World) -> bool | None:
    """Whether what stands with 200 labels lies in what was forecast by fewer."""
    drawn = _draw(world, random)
    found = {each.labels: each for each in trust.forecast(drawn.judged, drawn.part, world.promise)}
    stands = _accepted(random, replace(world, labels=200))
    return found[200].low - 1e-9 <= stands <= found[200].high + 1e-9


simulated(
    "trust",
    Promise("forecast of 200 labels", 0.8, 0.8),
    [
        World(size, labels, mean=mean, slope=slope)
        for size, labels in product(("one", "five"), (40, 100))
        for mean, slope in ((0.86, 0.25), (0.74, 0.35), (0.79, 0.0))
    ],
    costs=5,
)(_forecast_holds)
