"""What changed between two judgments of the same items: labels, probabilities, flips, accuracy.

The earlier ones are `then`, the later ones `now`. What is read together decides how sums are rounded, and
with quantised weights that moves probabilities by points. So one of the two judges may have read the items
once more, in another batch shape. A sentence claims no more than that and the intervals say; that they hold
is drawn in `bench/coverage/drift.py`.

Knows: what was said then, now and again, human labels, intervals. Does not know: runs, datasets, tables.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from engine.core.formatting import counted, interval, percent, words
from engine.core.items import PREFERENCES, HumanLabel, Preference, agree
from engine.core.numeric import ROUNDING_AT_WORST, ROUNDING_ON_AVERAGE
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, holm
from engine.metrics.rounding import Noise, Opinion, Three, noise_of, strangers

_UNLIKELY = 0.05
_DIRECTION = {1: "rose", -1: "fell"}

Move = tuple[Preference | None, Preference | None]
"""The label then and the label now; None is unscored."""


@dataclass(frozen=True)
class EarlierItem:
    """An item on a criterion, as both runs judged it; `human`: its human label, if it has one.

    `then_again`, `now_again`: what each judge said of it when it read it once more, in another batch shape;
    None where it did not.
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
        """By how much each label became likelier (-1 to 1), in the order of `PREFERENCES`; None where one
        side is unscored.
        """
        return _shifted(self.then.probabilities, self.now.probabilities)

    @property
    def distance(self) -> float | None:
        """How far apart its probabilities are, 0 to 1: the total variation, half the sum of the absolute
        differences. None where one side is unscored.
        """
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
    """What changed on one criterion; without one on all: then shares are means over those that have any, and
    counts are sums.

    `items`: that both judged. `unscored`: how many then and now. `changed`: the share with another label.
    `distance`: the mean of what both scored, `shifts`: by how much each label became likelier there; None,
    and empty, where there is nothing; `distance_read`: that mean without a calibration. `flips`: the share
    of what both read in both orders that these decide. `accuracy`: of the items with a human label; unscored
    counts as wrong. `moves`: how often each label became each other one; `far`: how many of these with
    probabilities further apart than rounding moves them anywhere. `noise`: None where no item was read again.
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
    """What changed between two runs, called `then` and `now`: by criterion, and on the `whole`.

    `drawn`: whether one of them draws what its labels depend on, so that these differ by chance as well.
    `decided`: a sentence on what decides both; empty where nothing but their raw predictions does.
    `left_out`: criteria that one of the two has alone. `elsewhere`: a sentence on what computed the two,
    where that is not the same: rounding as it is measured on one says nothing of the other; else empty.
    `p_moved`, `p_labels`: that the probabilities, the labels of the one run are no strangers among the two
    raw predictions of the other; None where no item was read again.
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

    @property
    def may_be_rounding(self) -> bool:
        """Whether it is worth knowing how far the same judge is moved by the shape of its batches."""
        return self.whole.moved and not self.drawn and not self.elsewhere

    @property
    def knows_rounding(self) -> bool:
        return self.p_moved is not None and not self.elsewhere

    @property
    def moved_significantly(self) -> bool:
        """Whether probabilities moved by more than chance and rounding; where that was not measured, by more
        on average than any sound device may be away from another.
        """
        read = self.whole.distance_read
        if self.drawn or read is None:
            return False
        if self.knows_rounding:
            return self.p_moved is not None and self.p_moved <= _UNLIKELY
        return read.ends is not None and read.ends[0] > ROUNDING_ON_AVERAGE

    @property
    def labels_changed_significantly(self) -> bool:
        """Whether labels changed by more than chance and rounding. Asked only once probabilities moved, so
        that both together are wrong in 5 %. No rounding makes a judgment that could not be made.
        """
        if self.drawn:
            return False
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
    threes = [
        [
            (earlier_item.instruction, three)
            for earlier_item in column
            if (three := earlier_item.three) is not None
        ]
        for column in columns.values()
    ]
    p_moved, p_labels = strangers(threes)
    return Drift(
        then, now, each, whole, drawn, decided, elsewhere=elsewhere, p_moved=p_moved, p_labels=p_labels
    )


def _measured(criterion: str | None, columns: Columns) -> LabelDrift:
    every = [earlier_item for column in columns.values() for earlier_item in column]
    changed = _mean(columns, lambda earlier_item: float(earlier_item.changed))
    distance = _mean(columns, lambda earlier_item: earlier_item.distance)
    read = _mean(columns, lambda earlier_item: earlier_item.distance_read)
    assert changed is not None  # there is an item
    return LabelDrift(
        criterion=criterion,
        items=len(every),
        instructions=len({earlier_item.instruction for earlier_item in every}),
        unscored=(
            sum(earlier_item.then.label is None for earlier_item in every),
            sum(earlier_item.now.label is None for earlier_item in every),
        ),
        changed=changed.share,
        distance=None if distance is None else distance.share,
        distance_read=None if read is None else read.share,
        shifts=_shifts(columns),
        flips=_change(columns, _flips),
        accuracy=_change(columns, _right),
        moves=Counter(
            (earlier_item.then.label, earlier_item.now.label)
            for earlier_item in every
            if earlier_item.changed
        ),
        far=sum(
            earlier_item.changed and (earlier_item.distance_read or 0) > ROUNDING_AT_WORST
            for earlier_item in every
        ),
        noise=noise_of([three for earlier_item in every if (three := earlier_item.three) is not None]),
    )


def _shifts(columns: Columns) -> dict[Preference, Estimate]:
    found = {}
    for place, label in enumerate(PREFERENCES):

        def shift(earlier_item: EarlierItem, place: int = place) -> float | None:
            return earlier_item.shifts[place] if earlier_item.shifts is not None else None

        if (mean := _mean(columns, shift)) is not None:
            found[label] = mean.difference
    return found


def _flips(earlier_item: EarlierItem) -> tuple[float, float] | None:
    then, now = earlier_item.then.flipped, earlier_item.now.flipped
    return None if then is None or now is None else (float(then), float(now))


def _right(earlier_item: EarlierItem) -> tuple[float, float] | None:
    human = earlier_item.human
    if human is None:
        return None
    return float(agree(earlier_item.then.label, human)), float(agree(earlier_item.now.label, human))


def _change(columns: Columns, both: Callable[[EarlierItem], tuple[float, float] | None]) -> ThenAndNow | None:
    """Of what is known then and now; None where nothing is."""

    def of(value: Callable[[float, float], float]) -> "_Mean | None":
        def of_earlier_item(earlier_item: EarlierItem) -> float | None:
            known = both(earlier_item)
            return None if known is None else value(*known)

        return _mean(columns, of_earlier_item)

    then, now = of(lambda then, _now: then), of(lambda _then, now: now)
    difference = of(lambda then, now: now - then)
    if then is None or now is None or difference is None:
        return None
    items = sum(both(earlier_item) is not None for column in columns.values() for earlier_item in column)
    over = difference.over
    instructions, p_value = (over.instructions, over.p_value) if over else (1, None)
    return ThenAndNow(items, instructions, then.value, now.value, difference.difference, p_value, over)


@dataclass(frozen=True)
class _Mean:
    """The mean over criteria of the mean of `values`, of which each has its group: its instruction."""

    values: Mapping[str, Sequence[float]]
    groups: Mapping[str, Sequence[str]]

    @property
    def value(self) -> float:
        means = [sum(of_one) / len(of_one) for of_one in self.values.values()]
        return sum(means) / len(means)

    @cached_property
    def over(self) -> OverInstructions | None:
        return OverInstructions.of(self.values, self.groups)

    @property
    def share(self) -> Estimate:
        """Of values from 0 to 1.

        Also of distances: a narrower interval, by how much these vary, would not see that a few items in a
        hundred are wholly others (`bench/coverage/drift.py`).
        """
        return Estimate(self.value, self.over.share_interval() if self.over else None)

    @property
    def difference(self) -> Estimate:
        """Of values from -1 to 1."""
        return Estimate(self.value, self.over.difference_interval() if self.over else None)


def _mean(columns: Columns, value: Callable[[EarlierItem], float | None]) -> _Mean | None:
    """Of a value where it is known; None where it is of no item."""
    values: dict[str, list[float]] = {}
    groups: dict[str, list[str]] = {}
    for name, column in columns.items():
        for earlier_item in column:
            if (known := value(earlier_item)) is not None:
                values.setdefault(name, []).append(known)
                groups.setdefault(name, []).append(earlier_item.instruction)
    return _Mean(values, groups) if values else None
