"""Whether what is said of a run's anchors is so: what changed, and that it significantly did."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import product

import numpy as np

from bench.coverage.claims import Kind, Promise, at_most, simulated
from bench.coverage.intervals import holds
from engine.core.items import PREFERENCES, Preference
from engine.core.numeric import BoolArray, FloatArray, IntArray
from engine.metrics.drift import Drift, EarlierItem, Opinion, drift
from engine.metrics.intervals import FEW
from engine.metrics.run_drift import guideline_drift

_MOST_FALSE = 0.05
_MANY = 400_000  # items, to know what changes in the mean
_CHANGES = ("labels changed", "probabilities moved", "likelier label", "accuracy then and now")
_FOUND_ON = ((30, 1, 1), (50, 1, 1), (50, 1, 5), (60, 3, 3), (200, 1, 1), (200, 1, 3))
_RIGHT = 0.8  # of a judge's labels


@dataclass(frozen=True)
class Judge(Kind):
    """`items`, `each` of an instruction, on `criteria`. Of a `share` the probabilities are wholly new, and
    all get `noise` (standard deviation of log-probabilities). `alike`: of whole instructions. `biased`: new
    ones have more of the first label. `draws`: both runs are drawn.
    """

    items: int = 50
    each: int = 1
    criteria: int = 1
    share: float = 0.0
    noise: float = 0.0
    alike: bool = False
    biased: bool = False
    draws: bool = False

    def columns(self, random: np.random.Generator) -> dict[str, list[EarlierItem]]:
        """What it says of each item in both runs; the human label is what the judge is about."""
        groups = np.arange(self.items) // self.each
        luck = random.random(groups[-1] + 1)[groups] if self.alike else None
        return {str(name): self._column(random, groups, luck) for name in range(self.criteria)}

    def _column(
        self, random: np.random.Generator, groups: IntArray, luck: FloatArray | None
    ) -> list[EarlierItem]:
        sides = self.sides(random, random.random(self.items) if luck is None else luck)
        return [
            EarlierItem(f"{group}", _said(then), _said(now), PREFERENCES[right])
            for group, right, then, now in zip(groups, *sides, strict=True)
        ]

    def sides(self, random: np.random.Generator, luck: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """The right labels, shape (items,), the probabilities then and now, shape (items, labels); who has
        less `luck` than the share gets new ones.
        """
        about = random.normal(0, 2, (len(luck), len(PREFERENCES)))
        before, other, *noise = random.normal(0, 1, (4, *about.shape))
        then = about + 1.5 * before
        new = about + 1.5 * other
        new[:, 0] += 1.5 * self.biased
        now = np.where((luck < self.share)[:, None], new, then) + self.noise * noise[0]
        then = then + self.noise * noise[1] * self.draws
        return about.argmax(axis=1), _probabilities(then), _probabilities(now)

    def drift(self, random: np.random.Generator) -> Drift:
        return drift(self.columns(random), "then", "now", drawn=self.draws)


def _probabilities(logits: FloatArray) -> FloatArray:
    likely = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def _said(probabilities: FloatArray) -> Opinion:
    return Opinion(PREFERENCES[int(probabilities.argmax())], tuple(map(float, probabilities)))


def _judges() -> Iterator[Judge]:
    sizes = ((20, 1, 1), (50, 1, 5), (60, 3, 3), (200, 1, 1))
    for (items, each, criteria), share in product(sizes, (0.02, 0.1, 0.4)):
        yield Judge(items, each, criteria, share)
        yield Judge(items, each, criteria, share, noise=0.05, biased=True)
        if each > 1:
            yield Judge(items, each, criteria, share, alike=True, biased=True)
    yield from (Judge(items, noise=noise) for items, noise in product((20, 50, 200), (0.02, 0.3)))


@simulated("drift", [Promise(f"{name}: interval") for name in _CHANGES], _judges())
def _changes_held(random: np.random.Generator, judge: Judge) -> list[bool]:
    """Whether the intervals of the mean over criteria hold what changed in very many items."""
    found = judge.drift(random).whole
    said = (found.changed, found.distance, found.shifts[Preference.A], found.accuracy.difference)
    return [holds(each.ends, truth) for each, truth in zip(said, _truths(judge), strict=True)]


@cache
def _truths(judge: Judge) -> tuple[float, ...]:
    """What changed in so many items that chance is small beside the intervals."""
    random = np.random.default_rng(0)
    right, then, now = judge.sides(random, random.random(_MANY))
    before, after = then.argmax(axis=1), now.argmax(axis=1)
    return (
        float((before != after).mean()),
        float(np.abs(now - then).sum(axis=1).mean() / 2),
        float((now - then)[:, 0].mean()),
        float(((after == right) * 1.0 - (before == right)).mean()),
    )


_SIZES = ((FEW, 1, 1), (50, 1, 5), (60, 3, 3), (200, 1, 1))
_SAME = [
    Judge(*size, noise=noise, draws=draws)
    for size, (noise, draws) in product(
        _SIZES, ((0.0, False), (0.001, False), (0.2, False), (0.5, True), (1.5, True))
    )
]
"""Judges that are the same: repeated, rounded otherwise by an amount that nobody measured, drawn anew."""
_AS_OFTEN_RIGHT = [
    Judge(*size, share, alike=alike)
    for size, share, alike in product(_SIZES, (0.1, 0.5, 1.0), (False, True))
    if not alike or size[1] > 1
]


@simulated("nothing changed", at_most("“labels changed significantly” falsely", _MOST_FALSE), _SAME)
def _says_changed(random: np.random.Generator, judge: Judge) -> bool:
    return judge.drift(random).labels_changed_significantly


@simulated(
    "nothing changed",
    at_most("“accuracy moved” falsely", _MOST_FALSE),
    [*(each for each in _SAME if each.draws), *_AS_OFTEN_RIGHT],
)
def _says_moved(random: np.random.Generator, judge: Judge) -> bool:
    return bool(judge.drift(random).accuracy_moves)


@dataclass(frozen=True)
class Check(Kind):
    """A judge that is right on four of five items, of which a share is `drawn` anew in the second run."""

    items: int
    each: int
    criteria: int
    drawn: float

    def drift(self, random: np.random.Generator, lost: float = 0.0) -> Drift:
        """What is said where it truly loses so much of its accuracy."""
        columns = {str(name): self._column(random, lost) for name in range(self.criteria)}
        return drift(columns, "then", "now")

    def _column(self, random: np.random.Generator, lost: float) -> list[EarlierItem]:
        then, again = random.random((2, self.items)) < _RIGHT
        now = np.where(random.random(self.items) < self.drawn, again, then)
        now &= random.random(self.items) >= lost / _RIGHT
        opinions = (Opinion(Preference.B), Opinion(Preference.A))
        return [
            EarlierItem(f"{place // self.each}", opinions[before], opinions[after], Preference.A)
            for place, (before, after) in enumerate(zip(then.tolist(), now.tolist(), strict=True))
        ]


@simulated(
    "losses found",
    Promise("a loss that is found in four of five", 0.8, 0.75),
    [Check(*size, drawn) for size, drawn in product(_FOUND_ON, (0.0, 0.1))],
)
def _finds(random: np.random.Generator, check: Check) -> bool:
    """A judge truly lost so many labels as a check of the same judge unchanged says are found so often."""
    found = check.drift(random)
    lost = found.whole.accuracy.over.findable_difference(found.tests)
    return check.drift(random, lost).accuracy_moves.get(None) == -1


class Tails(StrEnum):
    """How the noise of rounding is distributed: `UNEVEN` is larger for some items, `SHARED` alike for all
    criteria of an item and all items of an instruction, `COMMON` to some extent for all items.
    """

    NORMAL = "normal"
    HEAVY = "heavy tails"
    UNEVEN = "more for some items"
    SHARED = "shared by instruction"
    COMMON = "in part common to all"


@dataclass(frozen=True)
class Rounding(Kind):
    """Items read three times with other rounding, once in one run, twice in the other. `noise`: standard
    deviation of each answer's log-probability in each order, anew for each reading; `spread`: of what is
    read. `moved`: of so many items probabilities truly moved by `points` (total variation), to one label.
    `again`: whether they are read again.
    """

    items: int
    each: int = 1
    criteria: int = 1
    noise: float = 0.2
    tails: Tails = Tails.NORMAL
    spread: float = 1.5
    moved: float = 0.0
    points: float = 0.1
    orders: int = 2
    again: bool = True

    def drift(self, random: np.random.Generator) -> Drift:
        moved = random.permutation(self.items) < round(self.moved * self.items)
        uneven = np.exp(random.normal(0, 0.7, (self.items, 1)) - 0.49)
        shared = [self._drawn(random)[np.arange(self.items) // self.each] for _ in range(3)]
        columns = {str(name): self._column(random, moved, uneven, shared) for name in range(self.criteria)}
        return drift(columns, "then", "now")

    def _column(
        self, random: np.random.Generator, moved: BoolArray, uneven: FloatArray, shared: Sequence[FloatArray]
    ) -> list[EarlierItem]:
        true = random.normal(0, self.spread, (self.items, len(PREFERENCES)))
        new = true.copy()
        for place in np.flatnonzero(moved):
            new[place] = self._moved(_probabilities(true[place : place + 1])[0], random)
        said = []
        for logits, alike in zip((true, new, new), shared, strict=True):
            noise = np.mean([self._drawn(random) for _ in range(self.orders)], axis=0)
            if self.tails is Tails.UNEVEN:
                noise = noise * uneven
            elif self.tails is Tails.SHARED:
                noise = (noise + alike / np.sqrt(self.orders)) / np.sqrt(2)
            elif self.tails is Tails.COMMON:
                noise = noise + random.normal(0, self.noise / 3, (1, len(PREFERENCES)))
            said.append(map(_said, _probabilities(logits + noise)))
        return [
            EarlierItem(f"{place // self.each}", then, now, now_again=again if self.again else None)
            for place, (then, now, again) in enumerate(zip(*said, strict=True))
        ]

    def _drawn(self, random: np.random.Generator) -> FloatArray:
        shape = self.items, len(PREFERENCES)
        if self.tails is Tails.HEAVY:
            return np.asarray(self.noise * random.standard_t(3, shape) / np.sqrt(3))
        return np.asarray(self.noise * random.normal(0, 1, shape))

    def _moved(self, said: FloatArray, random: np.random.Generator) -> FloatArray:
        """Log-probabilities of which so many points went to one label."""
        label = random.choice(np.flatnonzero(said < 1 - self.points))
        taken = self.points / (1 - said[label])
        later = (1 - taken) * said
        later[label] += taken
        return np.asarray(np.log(later))


_ROUNDED = [
    Rounding(*size, noise, tails)
    for size, noise, tails in product(
        ((15, 1, 1), (15, 3, 5), (30, 3, 1), (100, 1, 1), (200, 1, 5)), (0.01, 0.2), Tails
    )
]
_ROUNDED += [Rounding(items, again=False, orders=orders) for items, orders in product((30, 200), (1, 2))]


@simulated("rounding", at_most("labels or probabilities, falsely", _MOST_FALSE), _ROUNDED)
@simulated(
    "small changes",
    Promise("10 points in a tenth are found", 0.8, 0.8),
    [
        Rounding(100, noise=noise, spread=spread, moved=0.1)
        for noise, spread in product((0.0, 0.01, 0.05, 0.1, 0.2), (1.0, 1.5, 2.5))
    ],
)
def _says_anything(random: np.random.Generator, world: Rounding) -> bool:
    found = world.drift(random)
    return found.moved_significantly or found.labels_changed_significantly


@dataclass(frozen=True)
class WordingWorld(Kind):
    """Another wording moves a share `moved` of the labels, `more` of them on the first of three criteria. The
    two orders of either run differ on a share `flips`. `alike`: all of an instruction are, or are not.
    """

    items: int
    each: int
    flips: float
    moved: float
    more: float = 0.0
    alike: bool = False

    def columns(self, random: np.random.Generator) -> dict[str, list[EarlierItem]]:
        found = {}
        for number in range(3):
            luck = random.random((3, self.items))
            if self.alike:
                luck = luck[:, np.arange(self.items) // self.each * self.each]
            moves = luck[0] < self.moved + self.more * (number == 0)
            found[str(number)] = [
                EarlierItem(
                    f"{place // self.each}",
                    Opinion(PREFERENCES[0], flipped=bool(luck[1, place] < self.flips)),
                    Opinion(PREFERENCES[int(moves[place])], flipped=bool(luck[2, place] < self.flips)),
                )
                for place in range(self.items)
            ]
        return found


@simulated(
    "wordings",
    (Promise("labels moved beyond order"), at_most("moved beyond order, wrongly", 0.05)),
    [
        WordingWorld(*size, rate, rate, more, alike)
        for size, rate, more, alike in product(
            ((20, 1), (60, 3), (100, 1), (200, 4)), (0.1, 0.3, 0.02), (0.0, 0.2), (False, True)
        )
        if not (alike and size[1] == 1)
    ],
)
def _wordings_held(random: np.random.Generator, world: WordingWorld) -> list[object]:
    found = guideline_drift(world.columns(random), [])
    held = [holds(each.beyond.ends, world.more * (each.criterion == "0")) for each in found]
    return [held, any(each.is_beyond for each in found if not (world.more and each.criterion == "0"))]
