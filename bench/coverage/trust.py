"""How often judgments that may stand agree with people less than was promised, and how many may stand; beside
rules that look right: the lowest threshold that reached the target in the labels, a 90 % bound at each
threshold, the calibrated probability itself, and the fixed sequence of binomial tests of Jung et al."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import betaincinv
from scipy.stats import binom

from bench.coverage.claims import Kind, Promise, at_most, simulated
from engine.core.numeric import FloatArray, IntArray
from engine.metrics.trust import LabelledPart, Trust

_JUDGED = 3000
_ALIKE = 0.25  # the intraclass correlation of agreement in PandaLM's labels is .245
_TAIL = 1.2  # heavy: the largest of 600 instructions has about 90 times the items of the least


@dataclass(frozen=True)
class World(Kind):
    """`sizes`: of instructions. `slope`: from the least to the highest confidence the chance of agreement
    rises by so much; its mean is `mean`, and where that is 0, it is the target less one in a hundred.
    `skew`: the share of items on which the judge says its one label, at the highest confidence.
    """

    sizes: str = "one"
    labels: int = 200
    target: float = 0.8
    risk: float = 0.1
    mean: float = 0.0
    slope: float = 0.0
    skew: float = 0.0

    def groups(self, random: np.random.Generator) -> IntArray:
        if self.sizes == "one":
            return np.arange(_JUDGED)
        if self.sizes == "five":
            return np.arange(_JUDGED) // 5
        weights = (np.arange(_JUDGED // 5) + 1.0) ** -_TAIL
        return np.sort(random.choice(len(weights), _JUDGED, p=weights / weights.sum()))

    def drawn(self, random: np.random.Generator) -> tuple[FloatArray, FloatArray, LabelledPart]:
        """The confidence of all judged items, the chance that each agrees, and the labelled ones."""
        confidence = np.where(random.random(_JUDGED) < self.skew, 1.0, random.random(_JUDGED))
        mean = self.mean or self.target - 0.01
        chance = np.clip(mean + self.slope * (confidence - confidence.mean()), 0.01, 0.99)
        groups = self.groups(random)
        labelled = random.choice(_JUDGED, self.labels, replace=False)
        own = chance[labelled]
        if self.sizes != "one":  # an instruction's own chance of agreement: easy, or hard, to the judge
            spread = (1 - _ALIKE) / _ALIKE
            luck = random.random(int(groups.max()) + 1)[groups[labelled]]
            own = np.asarray(betaincinv(own * spread, (1 - own) * spread, luck))
        agreement = (random.random(self.labels) < own).astype(np.float64)
        part = LabelledPart(confidence[labelled], agreement, groups[labelled].tolist())
        return confidence, chance, part


def _ours(world: World, confidence: FloatArray, part: LabelledPart) -> float | None:
    taken = Trust.of(confidence, part, world.target, world.risk).taken
    return taken.confidence if taken else None


def _lowest(
    passes: Callable[[World, LabelledPart], bool], in_sequence: bool = False
) -> Callable[..., float | None]:
    def rule(world: World, confidence: FloatArray, part: LabelledPart) -> float | None:
        taken = None
        for at in np.quantile(confidence, np.arange(0.9, -0.01, -0.1), method="higher"):
            above = part.above(float(at))
            if len(above.agreement) and passes(world, above):
                taken = float(at)
            elif in_sequence and taken is not None:
                break
        return taken

    return rule


def _seen(world: World, above: LabelledPart) -> bool:
    return float(above.agreement.mean()) >= world.target


def _binomial(world: World, above: LabelledPart) -> bool:
    count = len(above.agreement)
    return float(binom.sf(above.agreement.sum() - 1, count, world.target)) <= world.risk


_RULES: Mapping[str, Callable[..., float | None]] = {
    "as seen": _lowest(_seen),
    "a bound at each": _lowest(_binomial),
    "binomial, in sequence": _lowest(_binomial, in_sequence=True),
}


def _flat() -> Iterator[World]:
    for sizes, labels, target, risk in product(
        ("one", "five", "heavy"), (50, 100, 200, 400), (0.8, 0.85, 0.9), (0.1, 0.05)
    ):
        yield World(sizes, labels, target, risk)
    for sizes, labels in product(("one", "five", "heavy"), (100, 400)):
        yield World(sizes, labels, slope=0.2)
        yield World(sizes, labels, skew=0.9)
        yield World(sizes, labels, mean=0.74, slope=0.35)


@simulated(
    "trust", at_most("what may stand agrees less (risk 10 %)", 0.1), [w for w in _flat() if w.risk == 0.1]
)
def _broken(random: np.random.Generator, world: World) -> bool:
    return _is_broken(_ours, random, world)


@simulated(
    "trust", at_most("what may stand agrees less (risk 5 %)", 0.05), [w for w in _flat() if w.risk == 0.05]
)
def _broken_less(random: np.random.Generator, world: World) -> bool:
    return _is_broken(_ours, random, world)


def _is_broken(rule: Callable[..., float | None], random: np.random.Generator, world: World) -> bool:
    confidence, chance, part = world.drawn(random)
    at = rule(world, confidence, part)
    return at is not None and float(chance[confidence >= at].mean()) < world.target


@simulated(
    "trust",
    Promise("share that may stand", 0.55, 0.55, is_mean=True),
    [World(labels=100, mean=0.86, slope=0.25)],
)
def _accepted_of_100(random: np.random.Generator, world: World) -> float:
    return _accepted(random, world)


@simulated(
    "trust",
    Promise("share that may stand, 200 labels", 0.8, 0.8, is_mean=True),
    [World(labels=200, mean=0.86, slope=0.25)],
)
def _accepted_of_200(random: np.random.Generator, world: World) -> float:
    return _accepted(random, world)


def _accepted(random: np.random.Generator, world: World) -> float:
    confidence, _, part = world.drawn(random)
    at = _ours(world, confidence, part)
    return 0.0 if at is None else float(np.mean(confidence >= at))
