"""Whether a learning curve says what more labels bring, and what labels of the least sure items are worth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from bench.coverage.claims import NOMINAL, Claim, Kind, Promise, at_most, part, simulated
from bench.coverage.intervals import holds
from bench.coverage.readings import CRITERION
from engine.calibration.fitting import Views, fitted, views_of
from engine.calibration.learning import LearningCurve, learning
from engine.core.events import followed
from engine.core.items import PREFERENCES
from engine.core.numeric import FloatArray, IntArray, log_softmax
from engine.results.decision import SWAPPED

MOST_LOST_TO_RANDOM = 0.005  # nats
_HELD = 0.90
_LABELS = len(PREFERENCES)
_NEW = 400  # items that nothing was fitted on
_TRAINED = 300  # draws of labels that teach, for what is true, at most: two for each world that is wanted
_LEAST_WORLDS = 3  # with two, nothing that could happen would surely miss a bar
_ON_A_QUESTION = 2  # items with one instruction, where there are several
_START, _MORE, _POOL = 30, 40, 240
_GAINED = Promise("learning: gain of a doubling", NOMINAL, _HELD)
_LOSS = Promise("learning: log-loss of a point", NOMINAL, _HELD)
_RIGHT = Promise("learning: labels right of a point", NOMINAL, _HELD)
_NO_MORE = Promise("learning: the next brings no more", 0.975, _HELD)
_AHEAD = at_most("learning: falsely ahead", 0.025, 0.05)


@dataclass(frozen=True)
class World(Kind):
    """Labels as `frequent` as that; readings signal x (1 for the label) + noise N(0, 1), half of the noise
    shared by items of one instruction, of which there are two where `repeated`.
    """

    frequent: Sequence[float]
    signal: float
    items: int
    repeated: bool = False

    def draw(self, random: np.random.Generator, items: int) -> Views:
        each = _ON_A_QUESTION if self.repeated else 1
        groups = np.arange(items) // each
        labels = random.choice(_LABELS, items, p=self.frequent)
        own, shared = random.normal(size=(2, items, _LABELS))
        noise = np.sqrt(0.5) * (own + shared[groups]) if self.repeated else own
        read = log_softmax(self.signal * np.eye(_LABELS)[labels] + noise)
        return views_of(read, labels, groups.tolist(), read[:, SWAPPED])

    def curve(self, random: np.random.Generator) -> LearningCurve:
        return followed(learning({CRITERION: self.draw(random, self.items)}), lambda _: None)


@dataclass(frozen=True)
class Truth:
    """What labels teach in a world, measured on items of its own: of `sizes` that double."""

    world: World
    sizes: Sequence[int]
    seed: int
    draws: int = _TRAINED

    @cached_property
    def means(self) -> FloatArray:
        """Loss, and share of labels right, in the mean over draws of the labels that teach: (sizes, 2)."""
        random, found = np.random.default_rng(self.seed), []
        for _ in range(self.draws):
            trained_on, asked = self.world.draw(random, max(self.sizes)), self.world.draw(random, _NEW)
            found.append([_worth(trained_on, np.arange(size), asked) for size in self.sizes])
        means: FloatArray = np.mean(found, axis=0)
        return means


def _worth(trained_on: Views, places: IntArray, asked: Views) -> tuple[float, float]:
    """Loss and share of labels right of other items by some of those that teach."""
    after = asked.decided(fitted(trained_on.only(places)))
    return float(asked.losses(after).mean()), float(np.mean(asked.right(after, asked.log_probs)))


_WORLDS = (
    World((0.25, 0.25, 0.25, 0.25), 0.0, 60),
    World((0.38, 0.32, 0.2, 0.1), 1.0, 30),
    World((0.38, 0.32, 0.2, 0.1), 1.0, 100),
    World((0.38, 0.32, 0.2, 0.1), 1.0, 100, repeated=True),
    World((0.06, 0.06, 0.86, 0.02), 1.5, 60),
    World((0.57, 0.26, 0.13, 0.04), 2.0, 200),
)


@part("learning curves")
def curves_held(times: int) -> Iterator[Claim]:
    """How often the intervals of a curve hold what is true of such labels, those of its last point and of its
    last doubling; how often the next doubling brings no more than the interval's upper end; and, where
    readings know nothing, how often they are called surely better than the frequencies.
    """
    worlds = max(times // 10, _LEAST_WORLDS)  # each fits fifty times
    draws = min(2 * times, _TRAINED)
    for seed, world in enumerate(_WORLDS):
        random = np.random.default_rng(seed)
        curves = [world.curve(random) for _ in range(worlds)]
        last = curves[0].last
        sizes = (last.from_labels, last.to_labels, 2 * last.to_labels)
        (before, _), (loss, right), (next_loss, _) = Truth(world, sizes, seed, draws).means.tolist()
        gained = [curve.last.gained.interval for curve in curves]
        points = [curve.points[-1] for curve in curves]
        for promise, values in (
            (_GAINED, [holds(ends, before - loss) for ends in gained]),
            (_LOSS, [holds(point.log_loss.interval, loss) for point in points]),
            (_RIGHT, [holds(point.right.ends, right) for point in points]),
            (_NO_MORE, [ends is not None and loss - next_loss <= ends[1] for ends in gained]),
            (_AHEAD, [point.ahead.significantly_above for point in points if not world.signal]),
        ):
            if values:
                yield Claim.of_values(promise, str(world), values)


_FREQUENT = ((0.38, 0.32, 0.2, 0.1), (0.57, 0.26, 0.13, 0.04), (0.06, 0.06, 0.86, 0.02))


@simulated(
    "least sure first",
    at_most("least sure first: lost to random", 0.0, MOST_LOST_TO_RANDOM, is_mean=True),
    [World(frequent, signal, _POOL) for frequent, signal in product(_FREQUENT, (1.0, 2.0))],
    costs=10,
    least=2,
)
def _lost_to_random(random: np.random.Generator, world: World) -> float:
    """By how much log-loss on new items is higher with the labels of which a fit is least sure."""
    pool, asked = world.draw(random, _POOL), world.draw(random, _NEW)
    start, rest = np.split(np.arange(_POOL), [_START])
    decided = pool.decided(fitted(pool.only(start)))[0, rest]
    uncertainty = -(np.exp(decided) * decided).sum(axis=1)
    most_uncertain = rest[np.argsort(-uncertainty)[:_MORE]]
    losses = [
        _worth(pool, np.concatenate([start, more]), asked)[0] for more in (most_uncertain, rest[:_MORE])
    ]
    return losses[0] - losses[1]
