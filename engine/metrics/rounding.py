"""Rounding, as it is measured: a judge reads the same items once more, in another batch shape."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.core.formatting import counted
from engine.core.items import HumanLabel
from engine.core.judgments import AnyJudgment, Judgment, label_of
from engine.core.numeric import FloatArray
from engine.metrics.intervals import group_numbers

_DRAWS = 1_999
_LEAST = 0.001  # what is less likely counts as so likely: its logarithm moves far, and no label with it
_SHOWN = 0.01  # labels as likely as this are told of
_FEWEST = 5  # instructions: on fewer the permutation test is not exact enough (simulated)
# The score of a stranger: as if the judge had changed on a tenth of the items, each moved three times as far
# (in variance) as by rounding. In simulation that finds more than the sum of squares.
_MOVED, _FAR = 0.1, 3.0
_MEDIAN = 2.366  # of a sum of three squares of normal values


@dataclass(frozen=True)
class Opinion:
    """What a run says of an item on a criterion; all None where it is unscored. `probabilities`: of the four
    labels, as PREFERENCES. `read`: those without a calibration; None where none decides.
    """

    label: HumanLabel | None = None
    probabilities: tuple[float, ...] | None = None
    flipped: bool | None = None
    read: tuple[float, ...] | None = None

    @property
    def as_read(self) -> tuple[float, ...] | None:
        return self.read or self.probabilities

    @classmethod
    def of(cls, judgment: AnyJudgment, read: AnyJudgment | None = None) -> "Opinion":
        """What a judgment says; `read`: the same without a calibration, where one decides."""
        if not isinstance(judgment, Judgment):
            return cls(label_of(judgment))
        as_read = read.probabilities if isinstance(read, Judgment) else None
        return cls(judgment.preference, judgment.probabilities, judgment.flipped, as_read)


Three = tuple[Opinion, Opinion, Opinion]
"""The prediction of one run for an item, and two of the judge of another run, in two batch shapes."""


@dataclass(frozen=True)
class Noise:
    """How far apart two raw predictions of the same items by the same judge are, in two batch shapes: of
    `labels`, `changed` are others. `distance`: of what was read, the mean total variation (0 to 1); `nats`,
    `most`: by how much the natural-log probabilities differ, root mean square and at most, of labels of a
    point or more; None where nothing was scored twice.
    """

    labels: int
    changed: int
    distance: float | None
    nats: float | None
    most: float | None

    @property
    def in_words(self) -> str:
        """As a sentence; empty where nothing was scored twice."""
        if self.distance is None:
            return ""
        by = f" (log-probabilities by {self.nats:.3f} in root mean square, {self.most:.3f} at most)"
        nats = by if self.nats is not None else ""
        others = f"{self.changed:,} of {counted(self.labels, 'label', 'labels')}"
        return (
            "Rounding, as measured: the same items read in another batch shape gave probabilities"
            f" {100 * self.distance:.1f} points apart on average{nats} and changed {others}."
        )


def noise_of(threes: Sequence[Three]) -> Noise | None:
    """Of items that one of the judges read twice; None for none."""
    twice = [three[1:] for three in threes]
    if not twice:
        return None
    changed = sum(one.label is not other.label for one, other in twice)
    scored = [(one.as_read, other.as_read) for one, other in twice]
    read = np.array([pair for pair in scored if None not in pair], np.float64)
    if not len(read):
        return Noise(len(twice), changed, None, None, None)
    distance = float(np.abs(read[:, 0] - read[:, 1]).sum(axis=1).mean() / 2)
    likely = read.min(axis=1) >= _SHOWN
    if not likely.any():
        return Noise(len(twice), changed, distance, None, None)
    apart = np.abs(np.log(read[:, 0][likely]) - np.log(read[:, 1][likely]))
    return Noise(len(twice), changed, distance, float(np.sqrt(np.mean(apart**2))), float(apart.max()))


# With what another run says there are three raw predictions of each item. Where the judge is the same, none
# of them is more of a stranger than the others.
def strangers(criteria: Iterable[Sequence[tuple[str, Three]]]) -> tuple[float | None, float | None]:
    """That the probabilities, and that the labels of the run that read the items once are as near to the two
    raw predictions of the other as these are to each other: two p-values, None where no item was scored three
    times. `criteria`: of each its items, with their instructions.
    """
    labels, *moved = _Scores(), _Scores(), _Scores()
    for threes in criteria:
        for instruction, three in threes:
            said = [each.label for each in three]
            labels.add([[sum(one is not other for other in said) for one in said]], [instruction])
        scored = [
            (instruction, [each.as_read for each in three])
            for instruction, three in threes
            if all(each.as_read is not None for each in three)
        ]
        if scored:
            read = np.array([probabilities for _, probabilities in scored], np.float64)
            for scores, in_common in zip(moved, (True, False), strict=True):
                scores.add(_apart_from_others(read, in_common), [instruction for instruction, _ in scored])
    if not moved[0].instructions:
        return None, None
    # Both: with what all items have in common the test is exact where that is nothing; without it, it holds
    # where that is something, and is a little too often below .05 on few instructions.
    return max(_likelier_moved(scores).p_value for scores in moved), labels.p_value


def _likelier_moved(squares: "_Scores") -> "_Scores":
    """Squares of distances as the logarithm of how much likelier it is that the item may have moved."""
    values = np.array(squares.scores)
    values /= max(float(np.median(values)) / _MEDIAN, 1e-12)  # of rounding: most items did not move
    likely = values / 2 * _FAR / (1 + _FAR) - 1.5 * np.log1p(_FAR)
    return _Scores(list(np.logaddexp(np.log1p(-_MOVED), np.log(_MOVED) + likely)), squares.instructions)


def _apart_from_others(read: FloatArray, in_common: bool) -> FloatArray:
    """How far each of three raw predictions is from the mean of the two others: of probabilities, shape
    (items, 3, 4), squares of shape (items, 3), in natural logarithms. `in_common`: with what all items have
    in common: they share the beginning of their prompts, and its rounding.
    """
    logs = np.log(np.maximum(read, _LEAST))
    logs -= logs.mean(axis=2, keepdims=True)
    if not in_common:
        logs -= logs.mean(axis=0, keepdims=True)
    others = (logs.sum(axis=1, keepdims=True) - logs) / 2
    return np.asarray(((logs - others) ** 2).sum(axis=2))


@dataclass
class _Scores:
    """How much of a stranger each of three raw predictions of an item is, and the instruction of the item."""

    scores: list[Sequence[float]] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)

    def add(self, scores: Iterable[Sequence[float]], instructions: Sequence[str]) -> None:
        self.scores.extend(scores)
        self.instructions.extend(instructions)

    @property
    def p_value(self) -> float:
        """That the first reading is no more of a stranger than the others; 1 for too few instructions."""
        # A permutation test: where the judge is the same, each of the three may be the first, by instruction,
        # however rounding is distributed, also where some items have more of it.
        places = group_numbers(self.instructions)
        table = np.zeros((int(places.max()) + 1, 3))
        np.add.at(table, places, np.array(self.scores, np.float64))
        if len(table) < _FEWEST:
            return 1.0
        random = np.random.default_rng(0)
        drawn = np.zeros(_DRAWS)
        for row in table:
            drawn += random.choice(row, _DRAWS)
        found = float(table[:, 0].sum())
        least = found - 1e-9 * max(abs(found), 1.0)  # equal ones may be added up in another order
        return (1 + int(np.count_nonzero(drawn >= least))) / (1 + _DRAWS)
