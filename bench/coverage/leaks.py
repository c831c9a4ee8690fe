"""Whether a judge without information stays one where it is scored on the items that it was calibrated on.

Knows: how a calibration is fitted, kept and decides. Does not know: datasets, runs, stores.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import starmap

import numpy as np

from bench.coverage.claims import Claim, Promise
from engine.calibration.fitting import calibrate_criterion
from engine.calibration.run_calibration import with_folds
from engine.core.items import PREFERENCES, Order, digest
from engine.core.judgments import JudgedItem, Judgment, RawPrediction
from engine.core.numeric import BoolArray, FloatArray, IntArray, log_softmax
from engine.metrics.intervals import least_interval
from engine.results.decision import decide_all

MOST_FALSE_YES = 0.03
_BETTER = Promise("calibrated here: better? yes", 0.025, MOST_FALSE_YES, at_most=True)
_POSITION_BIAS = np.array([0.7, 0.0, 0.0, -0.7])  # the model's own, in nats, whatever the item


@dataclass(frozen=True)
class World:
    """Items of `instructions`, `each` of every one; `shares`: how frequent people's labels are."""

    instructions: int
    each: int
    shares: tuple[float, float, float, float]

    def __str__(self) -> str:
        shares = " ".join(f"{share:g}" for share in self.shares)
        return f"{self.instructions} instructions of {self.each}, labels {shares}"

    def scored_on_its_fit(self, random: np.random.Generator) -> tuple[BoolArray, IntArray, list[int]]:
        """Calibrate readings that say nothing, and decide the same items: which labels are right, the human
        ones as places in PREFERENCES, and the instructions: shape (items,) each.
        """
        groups: list[int] = np.repeat(np.arange(self.instructions), self.each).tolist()
        human = random.choice(len(PREFERENCES), len(groups), p=self.shares)
        read = log_softmax(random.normal(_POSITION_BIAS, 1.0, (len(groups), len(PREFERENCES))))
        hashes = [digest(place) for place in range(len(groups))]
        report = calibrate_criterion("safety", read, human, groups)
        fitted = with_folds(report.calibration, report.folds, hashes)
        items = [
            JudgedItem(place, str(place), hashes[place], {"safety": _raw_predictions(row)})
            for place, row in reversed(list(enumerate(read)))  # an item is known in any order
        ]
        chosen = np.empty(len(groups), dtype=np.int64)
        for judgment in decide_all(items, "safety", fitted):
            assert isinstance(judgment, Judgment)
            chosen[int(judgment.item_id)] = PREFERENCES.index(judgment.preference)
        return chosen == human, human, groups


def _raw_predictions(row: FloatArray) -> tuple[RawPrediction, ...]:
    a, b, both_good, both_bad = row.tolist()
    return (RawPrediction(Order.AB, (a, b, both_good, both_bad)),)


WORLDS = (
    World(12, 1, (0.25, 0.25, 0.25, 0.25)),
    World(24, 1, (0.25, 0.25, 0.25, 0.25)),
    World(12, 4, (0.25, 0.25, 0.25, 0.25)),
    World(60, 1, (0.4, 0.4, 0.1, 0.1)),
    World(24, 1, (0.6, 0.2, 0.1, 0.1)),
)


def leaks_kept_out(times: int) -> Iterator[Claim]:
    """A score on the items of the fit, and what it is called."""
    for seed, world in enumerate(WORLDS):
        random = np.random.default_rng(seed)
        drawn = [world.scored_on_its_fit(random) for _ in range(times)]
        most = max(world.shares)
        # One item of each world: those of one world are right or wrong together.
        right = sum(int(found[0][0]) for found in drawn)
        no_better = Promise("an item of the fit is right", most, most, at_most=True)
        yield Claim(no_better, str(world), right, times)
        better = sum(starmap(_is_called_better, drawn))
        yield Claim(_BETTER, str(world), better, times)


def _is_called_better(right: BoolArray, human: IntArray, groups: list[int]) -> bool:
    """Than always giving one label, whichever."""
    leads = [(1.0 * right - 1.0 * (human == place)).tolist() for place in range(len(PREFERENCES))]
    found = least_interval(leads, groups)
    return found is not None and found.low > 0
