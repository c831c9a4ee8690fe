"""What changed between two judgments of the same items: labels, probabilities, flips, accuracy.

The earlier ones are `then`, the later ones `now`. A sentence claims no more than the intervals say; that they
hold is drawn in `bench/coverage/drift.py`.

Knows: what was said then and now, human labels, intervals. Does not know: runs, datasets, tables.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from engine.core.formatting import counted, interval, percent, words
from engine.core.items import PREFERENCES, HumanLabel, Preference, agree
from engine.core.judgments import AnyJudgment, Judgment, label_of
from engine.core.value_tables import Estimate
from engine.measure.intervals import FEW, OverInstructions, holm

ROUNDING = 0.01
"""Probabilities (0 to 1) that moved by less may have done so by rounding alone: other processors and devices
add the same numbers in another order. A label that changed with them was in doubt.
"""

_UNLIKELY = 0.05
_DIRECTION = {1: "rose", -1: "fell"}

Move = tuple[Preference | None, Preference | None]
"""The label then and the label now; None is unscored."""


@dataclass(frozen=True)
class Opinion:
    """What a run says of an item on a criterion; all None where it is unscored.

    `probabilities`: of the four labels, in the order of `PREFERENCES`. `flipped`: as of a Judgment. `read`:
    the probabilities without a calibration; None where none decides.
    """

    label: Preference | None = None
    probabilities: tuple[float, ...] | None = None
    flipped: bool | None = None
    read: tuple[float, ...] | None = None

    @classmethod
    def of(cls, judgment: AnyJudgment, read: AnyJudgment | None = None) -> "Opinion":
        """What a judgment says; `read`: the same without a calibration, where one decides."""
        if not isinstance(judgment, Judgment):
            return cls(label_of(judgment))
        as_read = read.probabilities if isinstance(read, Judgment) else None
        return cls(judgment.preference, judgment.probabilities, judgment.flipped, as_read)


@dataclass(frozen=True)
class Anchor:
    """An item on a criterion, as both runs judged it; `human`: its human label, if it has one."""

    instruction: str
    then: Opinion
    now: Opinion
    human: HumanLabel | None = None

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
        then, now = (each.read or each.probabilities for each in (self.then, self.now))
        return _apart(_shifted(then, now))

    @property
    def was_in_doubt(self) -> bool:
        """Whether its label may have changed by rounding alone."""
        distance = self.distance_read
        return self.changed and distance is not None and distance < ROUNDING


def _shifted(then: Sequence[float] | None, now: Sequence[float] | None) -> tuple[float, ...] | None:
    if then is None or now is None:
        return None
    return tuple(later - before for before, later in zip(then, now, strict=True))


def _apart(shifts: Sequence[float] | None) -> float | None:
    return None if shifts is None else min(sum(map(abs, shifts)) / 2, 1.0)


Columns = Mapping[str, Sequence[Anchor]]
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
    counts as wrong. `moves`: how often each label became each other one; `in_doubt`: how many of these may be
    by rounding.
    """

    criterion: str | None
    items: int
    instructions: int
    unscored: tuple[int, int]
    changed: Estimate
    distance: Estimate | None
    distance_read: float | None
    shifts: Mapping[Preference, Estimate]
    flips: ThenAndNow | None
    accuracy: ThenAndNow | None
    moves: Mapping[Move, int]
    in_doubt: int

    @property
    def moved(self) -> bool:
        """Whether any probability was read otherwise."""
        return self.distance_read is not None and self.distance_read > 0

    @property
    def labels_changed(self) -> int:
        """How many labels are others."""
        return sum(self.moves.values())


@dataclass(frozen=True)
class Drift:
    """What changed between two runs, called `then` and `now`: by criterion, and on the `whole`.

    `drawn`: whether one of them draws what its labels depend on, so that these differ by chance as well.
    `decided`: a sentence on what decides both; empty where nothing but their readings does. `left_out`:
    criteria that one of the two has alone.
    """

    then: str
    now: str
    by_criterion: tuple[LabelDrift, ...]
    whole: LabelDrift
    drawn: bool = False
    decided: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def labels_surely_changed(self) -> bool:
        """Whether labels changed by more than chance and rounding: a judge that draws nothing gives the same
        labels as long as it is the same.
        """
        return self.whole.labels_changed > self.whole.in_doubt and not self.drawn

    @cached_property
    def accuracy_moves(self) -> Mapping[str | None, int]:
        """Where the accuracy surely rose (1) or fell (-1): by None in the mean, by name on one of several
        criteria. Together these are wrong in 5 % of cases at most. Empty on fewer than FEW instructions.
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
        """How many changes of accuracy are tested together."""
        return len(self._tested)

    @property
    def verdict(self) -> tuple[str, ...]:
        """Sentences that say no more than the intervals do."""
        return tuple(filter(None, (self._of_labels, self._of_probabilities, self._of_accuracy)))

    @property
    def _of_labels(self) -> str:
        found, ends = self.whole, self.whole.changed.ends
        labels = counted(found.items, "label", "labels")
        if not found.labels_changed:
            least = f"; so many can show a change of {percent(ends[1])} of them or more" if ends else ""
            return f"Nothing surely changed in the labels: none of {labels} is another{least}."
        share = f"{found.labels_changed:,} of {labels}, {percent(found.changed.value)}"
        share += f" ({interval(ends, 100)})" if ends else ""
        if self.drawn:
            return (
                f"Labels changed: {share}. That may be chance, for thoughts are drawn: how much of it is,"
                " another check tells that changes the seed alone."
            )
        if not self.labels_surely_changed:
            return (
                f"Nothing surely changed in the labels: {share} are others, but these were in doubt: as"
                f" they were read, their probabilities moved by less than {100 * ROUNDING:g} point, as by"
                " rounding."
            )
        return f"Labels surely changed: {share}."

    @property
    def _of_probabilities(self) -> str:
        distance = self.whole.distance
        if distance is None:
            return ""
        if not self.whole.moved:
            return "No probability changed."
        said = f"Probabilities moved by {100 * distance.value:.1f} points on average"
        said += f" ({interval(distance.ends, 100)})" if distance.ends else ""
        read = self.whole.distance_read
        if read is not None and read != distance.value:
            said += f"; as they were read, without the calibration, by {100 * read:.1f}"
        return f"{said}."

    @property
    def _of_accuracy(self) -> str:
        mean = self.whole.accuracy
        if mean is None:
            return ""
        by = f"from {percent(mean.then)} to {percent(mean.now)}"
        if mean.over is None or mean.instructions < FEW:
            return f"Accuracy: {by}. Fewer than {FEW} instructions do not say whether it surely changed."
        by += f", by {_points(mean)}"
        moves = self.accuracy_moves
        if None in moves:
            said = f"Accuracy surely {_DIRECTION[moves[None]]}: {by}."
        else:
            least = 100 * mean.over.findable_difference(self.tests)
            where = " in the mean" if moves else ""
            said = (
                f"Accuracy did not surely change{where}: {by}. So many items show a change of"
                f" {least:.0f} points in at least four of five checks, a smaller one perhaps less often."
            )
        on = (
            f"On {words(name)} it surely {_DIRECTION[moves[name]]}, by {_points(each.accuracy)}."
            for each in self.by_criterion
            if (name := each.criterion) is not None and name in moves and each.accuracy is not None
        )
        return " ".join((said, *on))


def _points(change: ThenAndNow) -> str:
    """A difference, for people: `-6.0 points (-11.2 to -0.8)`."""
    ends = change.difference.ends
    return f"{100 * change.difference.value:+.1f} points" + (f" ({interval(ends, 100)})" if ends else "")


def drift(columns: Columns, then: str, now: str, *, drawn: bool = False, decided: str = "") -> Drift:
    """What changed on some criteria, at least one, each with at least one item."""
    each = tuple(_measured(name, {name: column}) for name, column in columns.items())
    whole = _measured(None, columns) if len(each) > 1 else replace(each[0], criterion=None)
    return Drift(then, now, each, whole, drawn, decided)


def _measured(criterion: str | None, columns: Columns) -> LabelDrift:
    every = [anchor for column in columns.values() for anchor in column]
    changed = _mean(columns, lambda anchor: float(anchor.changed))
    distance = _mean(columns, lambda anchor: anchor.distance)
    read = _mean(columns, lambda anchor: anchor.distance_read)
    assert changed is not None  # there is an item
    return LabelDrift(
        criterion=criterion,
        items=len(every),
        instructions=len({anchor.instruction for anchor in every}),
        unscored=(
            sum(anchor.then.label is None for anchor in every),
            sum(anchor.now.label is None for anchor in every),
        ),
        changed=changed.share,
        distance=None if distance is None else distance.share,
        distance_read=None if read is None else read.value,
        shifts=_shifts(columns),
        flips=_change(columns, _flips),
        accuracy=_change(columns, _right),
        moves=Counter((anchor.then.label, anchor.now.label) for anchor in every if anchor.changed),
        in_doubt=sum(anchor.was_in_doubt for anchor in every),
    )


def _shifts(columns: Columns) -> dict[Preference, Estimate]:
    found = {}
    for place, label in enumerate(PREFERENCES):

        def shift(anchor: Anchor, place: int = place) -> float | None:
            return anchor.shifts[place] if anchor.shifts is not None else None

        if (mean := _mean(columns, shift)) is not None:
            found[label] = mean.difference
    return found


def _flips(anchor: Anchor) -> tuple[float, float] | None:
    then, now = anchor.then.flipped, anchor.now.flipped
    return None if then is None or now is None else (float(then), float(now))


def _right(anchor: Anchor) -> tuple[float, float] | None:
    human = anchor.human
    if human is None:
        return None
    return float(agree(anchor.then.label, human)), float(agree(anchor.now.label, human))


def _change(columns: Columns, both: Callable[[Anchor], tuple[float, float] | None]) -> ThenAndNow | None:
    """Of what is known then and now; None where nothing is."""

    def of(value: Callable[[float, float], float]) -> "_Mean | None":
        def of_anchor(anchor: Anchor) -> float | None:
            known = both(anchor)
            return None if known is None else value(*known)

        return _mean(columns, of_anchor)

    then, now = of(lambda then, _now: then), of(lambda _then, now: now)
    difference = of(lambda then, now: now - then)
    if then is None or now is None or difference is None:
        return None
    items = sum(both(anchor) is not None for column in columns.values() for anchor in column)
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
        """The mean."""
        means = [sum(of_one) / len(of_one) for of_one in self.values.values()]
        return sum(means) / len(means)

    @cached_property
    def over(self) -> OverInstructions | None:
        """The same over instructions; None where there is one."""
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


def _mean(columns: Columns, value: Callable[[Anchor], float | None]) -> _Mean | None:
    """Of a value where it is known; None where it is of no item."""
    values: dict[str, list[float]] = {}
    groups: dict[str, list[str]] = {}
    for name, column in columns.items():
        for anchor in column:
            if (known := value(anchor)) is not None:
                values.setdefault(name, []).append(known)
                groups.setdefault(name, []).append(anchor.instruction)
    return _Mean(values, groups) if values else None
