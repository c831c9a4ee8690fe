"""Whether a head leaves judges alone that know nothing, and is as good as the best judge of a panel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from bench.coverage.claims import Claim, at_most, part
from bench.coverage.readings import CRITERION, judged_items
from engine.calibration.fitting import Regularisation, Views, fitted, fitted_with
from engine.calibration.run_calibration import Labelled
from engine.core.items import PREFERENCES, Method, Order
from engine.core.judgments import CriterionCalibration
from engine.core.numeric import FloatArray, IntArray, log_softmax
from engine.results.decision import SWAPPED, RunPredictions, likeliest, parts_of

MOST_LEFT = 0.01  # of accuracy, in the mean over the worlds of a kind
MOST_LEFT_IN_ALL = 0.001
MOST_LOST_TO_NOISE = 0.02
MOST_LOST = 0.01
# Of two judges that give labels alone each disagreement is a tie, and 30 labels hardly say who is better.
MOST_LOST_OF_TIES = 0.06
# A, B, both_good, both_bad: as on the development set of ELOQUENT 2025.
SKEWS = {
    "relevance": (0.21, 0.09, 0.68, 0.02),
    "naturalness": (0.52, 0.21, 0.20, 0.07),
    "truthfulness": (0.06, 0.06, 0.86, 0.02),
    "safety": (0.01, 0.02, 0.97, 0.0),
    "overall_quality": (0.57, 0.26, 0.13, 0.04),
}
_LABELS = len(PREFERENCES)
_NEW = 400  # items that nothing was fitted on
_METHODS = (Method.LABEL_TOKENS, Method.POINTWISE_GRADE)
_LEFT = at_most("nothing known: accuracy lost", 0.0, MOST_LEFT, is_mean=True)
_LEFT_IN_ALL = at_most("nothing known: lost in all", 0.0, MOST_LEFT_IN_ALL, is_mean=True)
_RECEIVED = at_most("a panel: lost to its best judge", 0.0, MOST_LOST, is_mean=True)
_TIES = at_most("labels alone: lost to the best", 0.0, MOST_LOST_OF_TIES, is_mean=True)
_NOT_DROWNED = at_most("lost to the one that knows", 0.0, MOST_LOST_TO_NOISE, is_mean=True)


@dataclass(frozen=True)
class Jury:
    """scale x (signal x (1 for the label) + noise), of which a part `shared` of the variance is common; or
    labels of certainty 0.9, as often `right`.
    """

    name: str
    scales: Sequence[float] = ()
    signals: Sequence[float] = ()
    shared: float = 0.3
    right: Sequence[float] = ()

    def __str__(self) -> str:
        return self.name

    @property
    def judges(self) -> int:
        return len(self.right or self.scales)

    @property
    def knows(self) -> bool:
        return bool(self.right) or min(self.signals) > 0

    def read(self, random: np.random.Generator, labels: IntArray) -> FloatArray:
        """What is said of items with these labels, shape (judges, items, 4)."""
        if self.right:
            return np.stack([_hard(random, labels, right) for right in self.right])
        known = np.eye(_LABELS)[labels]
        own = random.normal(size=(self.judges, *known.shape))
        noise = self.shared**0.5 * random.normal(size=known.shape) + (1 - self.shared) ** 0.5 * own
        signals, scales = (np.array(each)[:, None, None] for each in (self.signals, self.scales))
        return log_softmax(scales * (signals * known + noise))


def _hard(random: np.random.Generator, labels: IntArray, right: float) -> FloatArray:
    wrong = (labels + random.integers(1, _LABELS, len(labels))) % _LABELS
    said = np.where(random.random(len(labels)) < right, labels, wrong)
    return np.log(np.where(np.eye(_LABELS)[said] == 1, 0.9, 0.1 / 3))


PANELS = (
    Jury("alike", (1, 1, 1), (1, 1, 1)),
    Jury("uneven in loudness", (1, 5, 0.3), (1.7, 1.7, 1.7)),
    Jury("uneven in knowledge", (1, 1, 1), (2.0, 1.0, 0.5)),
    Jury("loud ones know less", (1, 3, 3), (2.0, 0.5, 0.5)),
    Jury("hard labels 0.75/0.55", right=(0.75, 0.55)),
    Jury("hard labels 0.7/0.65/0.6", right=(0.7, 0.65, 0.6)),
    Jury("two quiet ones know nothing", (1, 0.3, 0.3), (1.7, 0, 0), shared=0.0),
    Jury("two loud ones know nothing", (1, 5, 5), (1.7, 0, 0), shared=0.0),
    Jury("two loud ones share its noise alone", (1, 5, 5), (1.7, 0, 0)),
)


@part("heads: nothing known")
def labels_left(times: int) -> Iterator[Claim]:
    """How much accuracy is lost to the most frequent label where readings know nothing; in the end of all.

    Readings know nothing of labels, so the accuracy of what was decided is known by how often each label was;
    where A and B are alike, of the items in both places together.
    """
    worlds = max(times // 10, 2)  # each fits about a hundred times
    every: list[float] = []
    for seed, ((name, skew), items, alike) in enumerate(product(SKEWS.items(), (30, 99), (True, False))):
        random = np.random.default_rng(seed)
        lost = [_left(skew, items, alike, random) for _ in range(worlds)]
        if alike and items > 30:  # as usual
            every += lost
        places = "A and B alike" if alike else "places matter"
        yield Claim.of_values(_LEFT, f"labels as on {name}, {items} of them, {places}", lost)
    yield Claim.of_values(_LEFT_IN_ALL, "99 of them, A and B alike, all together", every)


def _left(skew: Sequence[float], items: int, alike: bool, random: np.random.Generator) -> float:
    """Expected accuracy of the frequencies less that of a head of three judges in two ways each."""
    shares = np.array(skew) / sum(skew)
    tastes = random.normal(0, 2, (3, 1, 1, _LABELS))
    known, new = (
        _labelled(
            log_softmax(random.normal(0, 2, (3, len(_METHODS), count, _LABELS)) + tastes),
            random.choice(_LABELS, count, p=shares),
            alike,
        )
        for count in (items, _NEW)
    )
    head, frequencies = fitted(known), fitted_with(known, Regularisation(None))
    if alike:
        shares = (shares + shares[SWAPPED]) / 2
    return float(shares[_chosen(new, frequencies)].mean() - shares[_chosen(new, head)].mean())


@part("heads: panels")
def juries_received(times: int) -> Iterator[Claim]:
    """How much accuracy is lost to the best judge of a panel, as calibrated alone on the same labels."""
    worlds = max(times // 20, 2)
    for seed, (panel, items) in enumerate(product(PANELS, (30, 100, 240))):
        random = np.random.default_rng(seed)
        found = np.array([_accuracies(panel, items, random) for _ in range(worlds)])
        head, alone = found[:, 0], found[:, 1:]
        best = alone[:, alone.mean(axis=0).argmax()]
        promise = (_TIES if panel.right else _RECEIVED) if panel.knows else _NOT_DROWNED
        yield Claim.of_values(promise, f"{panel}, {items} labels", best - head)


def _accuracies(panel: Jury, items: int, random: np.random.Generator) -> list[float]:
    """On new items, of the head and of each judge alone."""
    labels, asked = (random.integers(_LABELS, size=count) for count in (items, _NEW))
    read, new = panel.read(random, labels)[:, None], panel.read(random, asked)[:, None]
    sets = [slice(None), *(slice(judge, judge + 1) for judge in range(panel.judges))]
    return [
        float((_chosen(views, fitted(_labelled(read[each], labels))) == asked).mean())
        for each in sets
        for views in [_labelled(new[each], asked)]
    ]


def _chosen(views: Views, fitted_by: CriterionCalibration) -> IntArray:
    """Labels of the items as they are, as places in PREFERENCES."""
    return likeliest(views.decided(fitted_by)[0], views.log_probs[0])


def _labelled(read: FloatArray, labels: IntArray, alike: bool = True) -> Views:
    """Items that were read in one order so, shape (judges, ways, items, 4); as a run would have them."""
    judged = judged_items(
        {
            (Order.AB, method, judge): read[judge - 1, place]
            for judge in range(1, len(read) + 1)
            for place, method in enumerate(_METHODS[: read.shape[1]])
        }
    )
    run = RunPredictions(judged)
    parts = parts_of(run, CRITERION, (), by_order=not alike, lengths=False)
    return Labelled(CRITERION, run, labels, tuple(map(str, range(len(judged)))), parts, alike).views()
