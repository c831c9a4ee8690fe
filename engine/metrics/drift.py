"""What changed between two judgments of the same items: labels, probabilities, flips, accuracy; the earlier
are `then`, the later `now`. A sentence claims no more than the intervals say; that these hold is drawn in
`bench/coverage/drift.py`. Rounding is measured, too: a judge reads the same items once more, in another batch
shape.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from engine.core.formatting import counted, interval, percent, words
from engine.core.items import PREFERENCES, HumanLabel, Preference, agree
from engine.core.judgments import AnyJudgment, Judgment, label_of
from engine.core.numeric import ROUNDING_AT_WORST, ROUNDING_ON_AVERAGE, FloatArray
from engine.core.tables import Estimate
from engine.metrics.guidelines import GuidelineDrift
from engine.metrics.intervals import (
    FEW,
    OverInstructions,
    group_numbers,
    holm,
    mean_difference,
    mean_share,
)

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


_UNLIKELY = 0.05
_DIRECTION = {1: "rose", -1: "fell"}

Move = tuple[HumanLabel | None, HumanLabel | None]
"""The label then and the label now; None is unscored."""


# What is read together decides how sums are rounded, and with quantised weights that moves probabilities by
# points. So one of the two judges may have read the items once more, in another batch shape.
@dataclass(frozen=True)
class EarlierItem:
    """An item on a criterion, as both runs judged it; `human`: its label, if it has one; `then_again`,
    `now_again`: what each judge said in another batch shape, None where it did not read it once more.
    """

    instruction: str
    then: Opinion
    now: Opinion
    human: HumanLabel | None = None
    then_again: Opinion | None = None
    now_again: Opinion | None = None

    @property
    def changed(self) -> bool:
        """Whether it has another label; unscored is one of its own."""
        return self.then.label is not self.now.label

    @cached_property
    def shifts(self) -> tuple[float, ...] | None:
        """By how much each of `PREFERENCES` became likelier (-1 to 1); None where one side is unscored."""
        return _shifted(self.then.probabilities, self.now.probabilities)

    @property
    def distance(self) -> float | None:
        """The total variation of the probabilities, 0 to 1; None where one side is unscored."""
        return _apart(self.shifts)

    @property
    def distance_read(self) -> float | None:
        """The same of what was read: a calibration makes it smaller or larger."""
        return _apart(_shifted(self.then.as_read, self.now.as_read))

    @property
    def three(self) -> Three | None:
        """What one run said, and what the other did, twice; None where neither read the item again."""
        if self.now_again is not None:
            return self.then, self.now, self.now_again
        return None if self.then_again is None else (self.now, self.then, self.then_again)


def _shifted(then: Sequence[float] | None, now: Sequence[float] | None) -> tuple[float, ...] | None:
    if then is None or now is None:
        return None
    return tuple(later - before for before, later in zip(then, now, strict=True))


def _apart(shifts: Sequence[float] | None) -> float | None:
    return None if shifts is None else min(sum(map(abs, shifts)) / 2, 1.0)


Value = TypeVar("Value")
Columns = Mapping[str, Sequence[EarlierItem]]
"""The items of each criterion."""


@dataclass(frozen=True)
class ThenAndNow:
    """A share (0 to 1) of so many `items`, of so many `instructions`, then and now, and the difference (-1 to
    1). `p_value`: that it is 0; `over`: the same over instructions; both None for a single instruction.
    """

    items: int
    instructions: int
    then: float
    now: float
    difference: Estimate
    p_value: float | None
    over: OverInstructions | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class LabelDrift:
    """What changed on one criterion of `items` that both judged; without one on all: then shares are means
    over those that have any, and counts are sums. `unscored`: how many then and now. `changed`: the share
    with another label. `distance`: the mean of what both scored, `distance_read`: without a calibration;
    `shifts`: by how much each label became likelier there. `flips`: the share of what both read in both
    orders that these decide. `accuracy`: of the items with a human label; unscored counts as wrong. `moves`:
    how often each label became each other one; `far`: how many of these with probabilities further apart than
    rounding moves them anywhere. `noise`: None where no item was read again.
    """

    criterion: str | None
    items: int
    instructions: int
    unscored: tuple[int, int]
    changed: Estimate
    distance: Estimate | None
    distance_read: Estimate | None
    shifts: Mapping[Preference, Estimate]
    flips: ThenAndNow | None
    accuracy: ThenAndNow | None
    moves: Mapping[Move, int]
    far: int
    noise: Noise | None

    @property
    def moved(self) -> bool:
        return self.distance_read is not None and self.distance_read.value > 0

    @property
    def labels_changed(self) -> int:
        return sum(self.moves.values())


@dataclass(frozen=True)
class Drift:
    """`drawn`: whether a run draws what its labels depend on, so that these differ by chance as well.
    `decided`: a sentence on what decides both, empty for raw predictions. `left_out`: criteria of one of the
    two alone. `elsewhere`: a sentence on what computed the two, where that is not the same, else empty.
    `p_moved`, `p_labels`: that probabilities, labels of the one run are no strangers among the two raw
    predictions of the other; None where no item was read again.
    """

    then: str
    now: str
    by_criterion: tuple[LabelDrift, ...]
    whole: LabelDrift
    drawn: bool = False
    decided: str = ""
    left_out: tuple[str, ...] = ()
    elsewhere: str = ""
    p_moved: float | None = None
    p_labels: float | None = None
    guidelines: tuple[GuidelineDrift, ...] = ()

    @property
    def may_be_rounding(self) -> bool:
        """Whether it is worth knowing how far the same judge is moved by the shape of its batches."""
        return self.whole.moved and not self.drawn and not self.elsewhere

    @property
    def knows_rounding(self) -> bool:
        return self.p_moved is not None and not self.elsewhere

    @property
    def moved_significantly(self) -> bool:
        """Whether probabilities moved by more than chance and rounding, be that measured or assumed."""
        read = self.whole.distance_read
        if self.drawn or read is None:
            return False
        if self.knows_rounding:
            return self.p_moved is not None and self.p_moved <= _UNLIKELY
        return read.ends is not None and read.ends[0] > ROUNDING_ON_AVERAGE

    @property
    def labels_changed_significantly(self) -> bool:
        """Whether labels did too; asked once probabilities moved: both are wrong in 5 % together."""
        if self.drawn:
            return False
        # No rounding makes a judgment that could not be made.
        if any(None in move for move in self.whole.moves):
            return True
        if not self.moved_significantly or not self.knows_rounding:
            return self.moved_significantly and self.whole.far > 0
        return self.p_labels is not None and self.p_labels <= _UNLIKELY

    @cached_property
    def accuracy_moves(self) -> Mapping[str | None, int]:
        """Where the accuracy significantly rose (1) or fell (-1): by None on average, by name on one of
        several criteria. Together these are wrong in 5 % of cases at most. Empty on fewer than FEW
        instructions.
        """
        tested = self._tested
        corrected = holm([p_value for *_, p_value in tested])
        return {
            name: 1 if change > 0 else -1
            for (name, change, _), p_value in zip(tested, corrected, strict=True)
            if p_value < _UNLIKELY
        }

    @property
    def _tested(self) -> list[tuple[str | None, float, float]]:
        """By what name which change of accuracy is tested, and its p-value."""
        parts = (self.whole, *(self.by_criterion if len(self.by_criterion) > 1 else ()))
        return [
            (each.criterion, each.accuracy.difference.value, each.accuracy.p_value)
            for each in parts
            if each.accuracy is not None and each.accuracy.p_value is not None
            if each.accuracy.instructions >= FEW
        ]

    @property
    def tests(self) -> int:
        return len(self._tested)

    @property
    def verdict(self) -> tuple[str, ...]:
        """Sentences that say no more than the intervals do."""
        said = (self._of_labels, self._of_probabilities, self._of_rounding, self._of_accuracy)
        return tuple(filter(None, said))

    @property
    def _of_labels(self) -> str:
        found, ends = self.whole, self.whole.changed.ends
        labels = counted(found.items, "label", "labels")
        if not found.labels_changed:
            least = f"; this number of items can show a change of {percent(ends[1])} or more" if ends else ""
            return f"The labels did not change significantly: none of {labels} changed{least}."
        share = f"{found.labels_changed:,} of {labels}, {percent(found.changed.value)}"
        share += f" ({interval(ends, 100)})" if ends else ""
        if self.drawn:
            return (
                f"Labels changed: {share}. That may be chance, because reasoning is sampled. To measure"
                " this, run another check that changes only the seed."
            )
        if self.labels_changed_significantly:
            return f"Labels changed significantly: {share}."
        if self.knows_rounding:
            return f"The labels did not change significantly: {share} changed, as by rounding."
        return f"Labels changed: {share}. That may be rounding."

    @property
    def _of_probabilities(self) -> str:
        distance = self.whole.distance
        if distance is None:
            return ""
        if not self.whole.moved:
            return "No probability changed."
        said = f"Probabilities changed by {100 * distance.value:.1f} points on average"
        said += f" ({interval(distance.ends, 100)})" if distance.ends else ""
        read = self.whole.distance_read
        if read is not None and read.value != distance.value:
            said += f"; the raw ones, without the calibration, by {100 * read.value:.1f}"
        if self.moved_significantly:
            said += ": significantly more than by rounding"
        elif self.knows_rounding and not self.drawn:
            said += ": not significantly more than by rounding"
        return f"{said}."

    @property
    def _of_rounding(self) -> str:
        if self.drawn or not self.whole.moved:
            return ""
        said, noise = [self.elsewhere], self.whole.noise
        if noise is not None:
            said.append(noise.in_words)
        elif not self.elsewhere:
            said.append("To measure the part due to rounding, check the earlier run.")
        if not self.knows_rounding:
            said.append(
                f"Only more than {100 * ROUNDING_ON_AVERAGE:g} points on average are called significant"
                " here: two correct devices may differ by this much."
            )
        return " ".join(filter(None, said))

    @property
    def _of_accuracy(self) -> str:
        mean = self.whole.accuracy
        if mean is None:
            return ""
        by = f"from {percent(mean.then)} to {percent(mean.now)}"
        if mean.over is None or mean.instructions < FEW:
            return (
                f"Accuracy: {by}. Fewer than {FEW} instructions do not show whether it changed significantly."
            )
        by += f", by {_points(mean)}"
        moves = self.accuracy_moves
        if None in moves:
            said = f"Accuracy {_DIRECTION[moves[None]]} significantly: {by}."
        else:
            least = 100 * mean.over.findable_difference(self.tests)
            where = " on average" if moves else ""
            said = (
                f"Accuracy did not change significantly{where}: {by}. This number of items detects a"
                f" change of {least:.0f} points with at least 80 % power; a smaller one may be missed"
                " more often."
            )
        on = (
            f"On {words(name)} it {_DIRECTION[moves[name]]} significantly, by {_points(each.accuracy)}."
            for each in self.by_criterion
            if (name := each.criterion) is not None and name in moves and each.accuracy is not None
        )
        return " ".join((said, *on))


def _points(change: ThenAndNow) -> str:
    """A difference, for display: `-6.0 points (-11.2 to -0.8)`."""
    ends = change.difference.ends
    return f"{100 * change.difference.value:+.1f} points" + (f" ({interval(ends, 100)})" if ends else "")


def drift(
    columns: Columns, then: str, now: str, *, drawn: bool = False, decided: str = "", elsewhere: str = ""
) -> Drift:
    """What changed on some criteria, at least one, each with at least one item."""
    each = tuple(_measured(name, {name: column}) for name, column in columns.items())
    whole = _measured(None, columns) if len(each) > 1 else replace(each[0], criterion=None)
    threes, instructions = _known(columns, lambda item: item.three)
    p_moved, p_labels = strangers(
        list(zip(instructions[name], own, strict=True)) for name, own in threes.items()
    )
    return Drift(then, now, each, whole, drawn, decided, (), elsewhere, p_moved, p_labels)


def _measured(criterion: str | None, columns: Columns) -> LabelDrift:
    every = [each for column in columns.values() for each in column]
    distance = _known(columns, lambda each: each.distance)
    read = _known(columns, lambda each: each.distance_read)
    shifts, groups = _known(columns, lambda each: each.shifts)
    return LabelDrift(
        criterion=criterion,
        items=len(every),
        instructions=len({each.instruction for each in every}),
        unscored=(sum(not each.then.label for each in every), sum(not each.now.label for each in every)),
        changed=mean_share(*_known(columns, lambda each: float(each.changed))),
        distance=mean_share(*distance) if distance[0] else None,
        distance_read=mean_share(*read) if read[0] else None,
        shifts={
            label: mean_difference(
                {name: [each[place] for each in own] for name, own in shifts.items()}, groups
            )
            for place, label in enumerate(PREFERENCES if shifts else ())
        },
        flips=_change(columns, _flips),
        accuracy=_change(columns, _right),
        moves=Counter((each.then.label, each.now.label) for each in every if each.changed),
        far=sum(each.changed and (each.distance_read or 0) > ROUNDING_AT_WORST for each in every),
        noise=noise_of([three for each in every if (three := each.three) is not None]),
    )


def _flips(each: EarlierItem) -> tuple[float, float] | None:
    then, now = each.then.flipped, each.now.flipped
    return None if then is None or now is None else (float(then), float(now))


def _right(each: EarlierItem) -> tuple[float, float] | None:
    if each.human is None:
        return None
    return float(agree(each.then.label, each.human)), float(agree(each.now.label, each.human))


def _change(columns: Columns, both: Callable[[EarlierItem], tuple[float, float] | None]) -> ThenAndNow | None:
    """Of what is known then and now; None where nothing is."""
    known, groups = _known(columns, both)
    if not known:
        return None
    then, now = ({name: [pair[side] for pair in column] for name, column in known.items()} for side in (0, 1))
    difference = {name: [after - before for before, after in column] for name, column in known.items()}
    over = OverInstructions.of(difference, groups)
    return ThenAndNow(
        sum(map(len, known.values())),
        over.instructions if over else 1,
        mean_share(then, groups).value,
        mean_share(now, groups).value,
        mean_difference(difference, groups),
        over.p_value if over else None,
        over,
    )


def _known(
    columns: Columns, value: Callable[[EarlierItem], Value | None]
) -> tuple[dict[str, list[Value]], dict[str, list[str]]]:
    """A value and the instruction of each item of which it is known, by criterion."""
    values: dict[str, list[Value]] = {}
    groups: dict[str, list[str]] = {}
    for name, column in columns.items():
        for each in column:
            if (known := value(each)) is not None:
                values.setdefault(name, []).append(known)
                groups.setdefault(name, []).append(each.instruction)
    return values, groups
