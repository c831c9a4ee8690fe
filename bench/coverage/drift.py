"""Whether what is said of a run's anchors is so: the intervals of what changed, and that it surely did.

Knows: `engine/measure/drift.py`, judges that change by a known share. Does not know: models, runs, files.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from bench.coverage.claims import Claim, Promise
from bench.coverage.intervals import holds
from engine.core.items import PREFERENCES, Preference
from engine.core.log_probs import FloatArray
from engine.core.value_tables import Estimate
from engine.measure.drift import ROUNDING, Anchor, Drift, Said, drift
from engine.measure.intervals import FEW, Interval

_NOMINAL, _BAR, _MOST_FALSE = 0.95, 0.94, 0.05
_THOUSANDS = 40  # items are drawn so often to know what their mean is
_LABELS = Promise("labels changed: interval", _NOMINAL, _BAR)
_DISTANCE = Promise("probabilities moved: interval", _NOMINAL, _BAR)
_SHIFT = Promise("likelier label: interval", _NOMINAL, _BAR)
_ACCURACY = Promise("accuracy then and now: interval", _NOMINAL, _BAR)
_FALSELY = Promise("“labels surely changed” falsely", _MOST_FALSE, _MOST_FALSE, at_most=True)
_MOVED_FALSELY = Promise("“accuracy surely moved” falsely", _MOST_FALSE, _MOST_FALSE, at_most=True)


@dataclass(frozen=True)
class Judge:
    """How a judge changes between two runs.

    `items`, of which `each` belong to an instruction; `criteria` that it is asked. Of each label's
    probability a `share` of items gets wholly new ones, and all get so much `noise` more (a standard
    deviation of log-probabilities). `alike`: whether it changes whole instructions. `biased`: what is new has
    more of the first label. `draws`: both runs are drawn, the former no less than the latter.
    """

    items: int = 50
    each: int = 1
    criteria: int = 1
    share: float = 0.0
    noise: float = 0.0
    alike: bool = False
    biased: bool = False
    draws: bool = False

    def __str__(self) -> str:
        said = f"{self.items} items, {self.each} each, {self.criteria} criteria, {self.share:g} new"
        more = (("whole instructions", self.alike), ("biased", self.biased), ("drawn", self.draws))
        return ", ".join((said, f"noise {self.noise:g}", *(word for word, so in more if so)))

    def columns(self, random: np.random.Generator) -> dict[str, list[Anchor]]:
        """What it says of each item in both runs; the human label is the likeliest one of a third judge."""
        groups = np.arange(self.items) // self.each
        of_instruction = random.random(groups[-1] + 1)
        return {str(name): self._column(random, groups, of_instruction) for name in range(self.criteria)}

    def _column(
        self, random: np.random.Generator, groups: FloatArray, of_instruction: FloatArray
    ) -> list[Anchor]:
        truth = random.normal(0, 2, (self.items, len(PREFERENCES)))
        before = truth + self._new(random, self.items)
        luck = of_instruction[groups] if self.alike else random.random(self.items)
        new = (luck < self.share)[:, None]
        after = np.where(new, truth + self._new(random, self.items, self.biased), before)
        after = after + random.normal(0, 1, after.shape) * self.noise
        if self.draws:
            before = before + random.normal(0, 1, after.shape) * self.noise
        sides = zip(_probabilities(before), _probabilities(after), strict=True)
        return [
            Anchor(f"{groups[place]}", _said(then), _said(now), PREFERENCES[int(truth[place].argmax())])
            for place, (then, now) in enumerate(sides)
        ]

    def _new(self, random: np.random.Generator, items: int, biased: bool = False) -> FloatArray:
        drawn = random.normal(0, 1.5, (items, len(PREFERENCES)))
        drawn[:, 0] += 1.5 * biased
        return drawn

    def drift(self, random: np.random.Generator) -> Drift:
        """What is said of it."""
        return drift(self.columns(random), "then", "now", drawn=self.draws)


def _probabilities(logits: FloatArray) -> FloatArray:
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def _said(probabilities: FloatArray) -> Said:
    return Said(PREFERENCES[int(probabilities.argmax())], tuple(map(float, probabilities)))


def _judges() -> Iterator[Judge]:
    """From nothing that changes to most of it, on 20 to 200 items."""
    sizes = ((20, 1, 1), (50, 1, 1), (50, 1, 5), (60, 3, 1), (60, 3, 5), (200, 1, 1))
    for (items, each, criteria), share in product(sizes, (0.02, 0.1, 0.4)):
        yield Judge(items, each, criteria, share)
        yield Judge(items, each, criteria, share, noise=0.05, biased=True)
        if each > 1:
            yield Judge(items, each, criteria, share, alike=True, biased=True)
    yield from (Judge(items, noise=noise) for items, noise in product((20, 50, 200), (0.02, 0.3)))


def changes_held(times: int) -> Iterator[Claim]:
    """Whether the intervals of the mean over criteria hold what changed in very many items."""
    for seed, judge in enumerate(_judges()):
        truth = _truth(judge)
        for promise, measured in _MEASURED.items():
            held = partial(_holds, judge, measured, measured(truth).value)
            yield Claim.drawn(promise, str(judge), held, times, seed)


def _truth(judge: Judge) -> Drift:
    random = np.random.default_rng(len(str(judge)))
    many = Judge(_THOUSANDS * 1000, 1, 1, judge.share, judge.noise, False, judge.biased, judge.draws)
    return many.drift(random)


def _distance(found: Drift) -> Estimate:
    assert found.whole.distance is not None
    return found.whole.distance


def _accuracy(found: Drift) -> Estimate:
    assert found.whole.accuracy is not None
    return found.whole.accuracy.difference


_MEASURED: dict[Promise, Callable[[Drift], Estimate]] = {
    _LABELS: lambda found: found.whole.changed,
    _DISTANCE: _distance,
    _SHIFT: lambda found: found.whole.shifts[Preference.A],
    _ACCURACY: _accuracy,
}


def _holds(
    judge: Judge, measured: Callable[[Drift], Estimate], truth: float, random: np.random.Generator
) -> bool:
    ends = measured(judge.drift(random)).ends
    return ends is not None and holds(Interval(*ends), truth)


def nothing_changed(times: int) -> Iterator[Claim]:
    """Judges that are the same: repeated, rounded otherwise, drawn anew; and others that are as often right."""
    sizes = ((FEW, 1, 1), (20, 1, 1), (50, 1, 5), (60, 3, 5), (200, 1, 1))
    same = [
        Judge(items, each, criteria, noise=noise, draws=draws)
        for (items, each, criteria), (noise, draws) in product(
            sizes, ((0.0, False), (ROUNDING / 10, False), (0.5, True), (1.5, True))
        )
    ]
    for seed, judge in enumerate(same):
        yield Claim.drawn(_FALSELY, str(judge), partial(_says_changed, judge), times, seed)
    others = [
        Judge(items, each, criteria, share, alike=alike)
        for (items, each, criteria), share, alike in product(sizes, (0.1, 0.5, 1.0), (False, True))
        if not alike or each > 1
    ]
    for seed, judge in enumerate([*(each for each in same if each.draws), *others]):
        yield Claim.drawn(_MOVED_FALSELY, str(judge), partial(_says_moved, judge), times, seed)


def _says_changed(judge: Judge, random: np.random.Generator) -> bool:
    return judge.drift(random).labels_surely_changed


def _says_moved(judge: Judge, random: np.random.Generator) -> bool:
    return bool(judge.drift(random).accuracy_moves)
