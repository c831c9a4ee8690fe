"""Whether a calibration keeps what helps, prefers no place, keeps what `orders` promises, and leaves a judge
without information what it is on the very items that it was fitted on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from bench.coverage.claims import Claim, Kind, Promise, at_most, part, simulated
from bench.coverage.fits import calibrate_criterion, fit_calibration, fit_with_penalty
from bench.coverage.intervals import holds
from bench.coverage.readings import CRITERION, judged_items
from engine.calibration.fitting import STRENGTHS
from engine.calibration.learning import margin_report
from engine.calibration.run_calibration import with_folds
from engine.calibration.scaling import log_likelihood
from engine.core.items import PREFERENCES, Method, Order
from engine.core.judgments import CriterionCalibration, Judgment
from engine.core.numeric import BoolArray, FloatArray, IntArray, log_softmax
from engine.metrics.intervals import grouped_folds, least_interval
from engine.results.decision import SWAPPED, calibrated, decide_all, likeliest
from engine.results.second_order import KEEP, BothOrders, both_orders

MOST_LOST = 0.01  # nats
MOST_FALSE_YES = 0.03
MOST_LABELS_LOST = 0.015  # of 0.01 that are promised: a margin is chosen by the items at hand
_NEW = 500  # items that nothing was fitted on
_TRAINED = 150  # items from which `orders` learns
_MARGIN = 0.5
_FREQUENCIES = ((0.38, 0.32, 0.2, 0.1), (0.57, 0.26, 0.13, 0.04), (0.06, 0.06, 0.86, 0.02))
_POSITION_BIAS = np.array([0.7, 0.0, 0.0, -0.7])  # a model's own, in nats, whatever the item


@dataclass(frozen=True)
class Judge(Kind):
    """`frequent` labels, readings signal x (1 for the label) + N(0, 1); in two orders with a `token_bias` to
    the first place, and noise of each order.
    """

    frequent: Sequence[float]
    signal: float
    token_bias: float = 0.0
    of_order: float = 0.0

    def labels(self, random: np.random.Generator, items: int) -> IntArray:
        """Places in PREFERENCES, shape (items,)."""
        return random.choice(len(PREFERENCES), items, p=np.asarray(self.frequent))

    def read(self, random: np.random.Generator, labels: IntArray) -> FloatArray:
        """What it says of them whatever the place, shape (items, 4)."""
        read = random.normal(size=(len(labels), len(PREFERENCES)))
        read[np.arange(len(labels)), labels] += self.signal
        return log_softmax(read)

    def in_both_orders(self, random: np.random.Generator, labels: IntArray) -> tuple[FloatArray, FloatArray]:
        """AB and BA as they are seen, each of shape (items, 4)."""
        own = 2 * self.read(random, labels)
        token_bias = np.array([2 * self.token_bias, 0, 0, 0])
        noise = self.of_order * random.normal(size=(2, *own.shape))
        return log_softmax(own + token_bias + noise[0]), log_softmax(own[:, SWAPPED] + token_bias + noise[1])


@part("calibration")
def nothing_is_lost(times: int) -> Iterator[Claim]:
    """Log-loss on new items against the better of the frequencies and the best fit without a question."""
    promise = at_most("calibration: nats lost", 0.0, MOST_LOST, is_mean=True)
    for seed, (frequent, signal, items) in enumerate(
        product(_FREQUENCIES, (0.0, 0.4, 0.8, 1.5, 3.0), (20, 50, 100, 200))
    ):
        judge, random = Judge(frequent, signal), np.random.default_rng(seed)
        worlds = max(times // 20, 2)  # each fits sixty times, and says more than yes or no
        losses = np.array([_losses(judge, items, random) for _ in range(worlds)])
        chosen, *rivals = losses.T
        lost = chosen - min(rivals, key=lambda each: float(each.mean()))
        yield Claim.of_values(promise, f"{judge}, {items} labels", lost)


def _losses(judge: Judge, items: int, random: np.random.Generator) -> list[float]:
    """Of what is chosen, of the frequencies, and of the best fit."""
    labels, new = judge.labels(random, items), judge.labels(random, _NEW)
    read, asked = judge.read(random, labels), judge.read(random, new)
    known = read, labels, range(items), read[:, SWAPPED]
    fitted = [fit_calibration(*known), fit_with_penalty(None, *known), _best_fit(*known)]
    return [-float(log_likelihood(calibrated(asked, each), new).mean()) for each in fitted]


def _best_fit(
    read: FloatArray, labels: IntArray, groups: Sequence[int], others: FloatArray
) -> CriterionCalibration:
    """With the strength of the least cross-validated loss: no frequencies alone."""
    losses = dict.fromkeys(STRENGTHS, 0.0)
    for train, test in grouped_folds(groups, 5):
        for strength in STRENGTHS:
            made = fit_with_penalty(strength, read[train], labels[train], train.tolist(), others[train])
            losses[strength] -= float(log_likelihood(calibrated(read[test], made), labels[test]).sum())
    return fit_with_penalty(min(losses, key=lambda each: losses[each]), read, labels, groups, others)


@simulated(
    "gain",
    at_most("surely helps? yes", 0.025, MOST_FALSE_YES),
    [(Judge(frequent, 0.0), items) for frequent, items in product(_FREQUENCIES, (20, 50, 100))],
    "{0}, {1} labels",
    costs=10,  # each fits five hundred times
    least=2,
)
def _helps_significantly(random: np.random.Generator, judge: Judge, items: int) -> bool:
    """A judge without information."""
    labels = judge.labels(random, items)
    read = judge.read(random, labels)
    return calibrate_criterion(CRITERION, read, labels, range(items), read[:, SWAPPED]).helps_significantly


@simulated(
    "places",
    at_most("labels by their place", 0.0),
    [
        (Judge(frequent, signal), items)
        for frequent, signal, items in product(_FREQUENCIES, (0.0, 1.5), (8, 20, 100))
    ],
    "{0}, {1} labels",
    costs=10,
    least=2,
)
def depend_on_place(random: np.random.Generator, judge: Judge, items: int) -> BoolArray:
    """Which calibrated labels are others once the responses have changed places."""
    labels = judge.labels(random, items)
    read, asked = judge.read(random, labels), judge.read(random, judge.labels(random, _NEW))
    made = fit_calibration(read, labels, range(items), read[:, SWAPPED])
    here, there = (likeliest(calibrated(each, made), each) for each in (asked, asked[:, SWAPPED]))
    return np.asarray(here != np.asarray(SWAPPED)[there])


_HOW = ("as read", "calibrated")


@simulated(
    "orders",
    (
        *(Promise(f"labels kept {how}") for how in _HOW),
        *(at_most(f"labels lost {how}", 1 - KEEP, MOST_LABELS_LOST, is_mean=True) for how in _HOW),
    ),
    [
        Judge(_FREQUENCIES[0], signal, token_bias, of_order=0.3)
        for signal, token_bias in product((0.8, 1.5, 3.0), (0.0, 1.5))
    ],
    costs=40,
    least=2,
)
def labels_kept(random: np.random.Generator, judge: Judge) -> list[float]:
    """Whether intervals of `orders` hold for new items, and what the least margin loses, in both of _HOW."""
    labels = judge.labels(random, _TRAINED)
    first, second = judge.in_both_orders(random, labels)
    together = log_softmax((first + second[:, SWAPPED]) / 2)
    made = fit_calibration(together, labels, range(_TRAINED), together[:, SWAPPED])
    of_first = fit_with_penalty(made.strength, first, labels, range(_TRAINED), second)
    calibration = replace(made, first_order=of_first)
    report = margin_report(_both_orders(first, second, calibration), range(_TRAINED), KEEP)
    new = _both_orders(*judge.in_both_orders(random, judge.labels(random, 2 * _NEW)), calibration)
    (row,) = [point for point in report.points if point.below == _MARGIN]
    held = [
        holds(point.interval_of_equal if point else None, kept)
        for point, kept in zip((row, row.calibrated), _shares_kept(new, _MARGIN), strict=True)
    ]
    return [*held, *(1 - kept for kept in _shares_kept(new, report.least.below or 1.0))]


def _shares_kept(read: BothOrders, below: float) -> list[float]:
    """As read and calibrated."""
    known = (read.kept(below), read.kept_calibrated(below))
    return [float(kept.mean()) for kept in known if kept is not None]


def _both_orders(first: FloatArray, second: FloatArray, calibration: CriterionCalibration) -> BothOrders:
    read = dict(zip(((order, Method.LABEL_TOKENS, 0) for order in Order), (first, second), strict=True))
    return both_orders(judged_items(read), [CRITERION], {CRITERION: calibration})


@dataclass(frozen=True)
class Uninformed(Kind):
    """Items of `instructions`, `each` of every one; `shares`: how frequent people's labels are."""

    instructions: int
    each: int
    shares: tuple[float, float, float, float]

    def scored_on_its_fit(self, random: np.random.Generator) -> tuple[BoolArray, IntArray, list[int]]:
        """Readings that say nothing: which labels are right, the human ones, the instructions, (items,)."""
        groups: list[int] = np.repeat(np.arange(self.instructions), self.each).tolist()
        human = random.choice(len(PREFERENCES), len(groups), p=self.shares)
        read = log_softmax(random.normal(_POSITION_BIAS, 1.0, (len(groups), len(PREFERENCES))))
        items = judged_items({(Order.AB, Method.LABEL_TOKENS, 0): read})
        report = calibrate_criterion(CRITERION, read, human, groups)
        fitted = with_folds(report.calibration, report.folds, [item.content_hash for item in items])
        chosen = np.empty(len(groups), dtype=np.int64)
        for judgment in decide_all(items[::-1], CRITERION, fitted):  # an item is known in any order
            assert isinstance(judgment, Judgment)
            chosen[int(judgment.item_id)] = PREFERENCES.index(judgment.preference)
        return chosen == human, human, groups


_UNINFORMED = (
    Uninformed(12, 1, (0.25, 0.25, 0.25, 0.25)),
    Uninformed(24, 1, (0.25, 0.25, 0.25, 0.25)),
    Uninformed(12, 4, (0.25, 0.25, 0.25, 0.25)),
    Uninformed(60, 1, (0.4, 0.4, 0.1, 0.1)),
    Uninformed(24, 1, (0.6, 0.2, 0.1, 0.1)),
)


@part("leaks")
def leaks_kept_out(times: int) -> Iterator[Claim]:
    """A score on the items of the fit, and what it is called."""
    called_better = at_most("calibrated here: better? yes", 0.025, MOST_FALSE_YES)
    for seed, world in enumerate(_UNINFORMED):
        random, right, better = np.random.default_rng(seed), [], []
        for _ in range(times):
            found, human, groups = world.scored_on_its_fit(random)
            right.append(bool(found[0]))  # of one world all are right or wrong together
            # Than always giving one label, whichever.
            leads = [(1.0 * found - 1.0 * (human == place)).tolist() for place in range(len(PREFERENCES))]
            interval = least_interval(leads, groups)
            better.append(interval is not None and interval.low > 0)
        no_better = at_most("an item of the fit is right", max(world.shares))
        for promise, values in ((no_better, right), (called_better, better)):
            yield Claim.of_values(promise, str(world), values)
