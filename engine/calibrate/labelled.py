"""The judged items of one criterion with their human labels: what decides them, and what that is worth.

Knows: how readings of items become arrays, which sources of readings there are, both orders.
Does not know: the mathematics of a fit, other criteria's labels, files.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from engine.calibrate.cross_validation import (
    OUTER_FOLDS,
    CalibrationReport,
    Without,
    left_out,
    measuring,
    refuse_too_few,
)
from engine.calibrate.fitting import (
    LEAST_FOR_FITTING,
    PartReadings,
    Shrinkage,
    Views,
    fitted_with,
    views_of,
)
from engine.core.cancel import CancelToken
from engine.core.fitted_on import short_hash
from engine.core.head_parts import LENGTHS, HeadPart, PartKind
from engine.core.items import HUMAN_LABELS, PREFERENCES, Order, Way
from engine.core.judgments import CriterionCalibration, JudgedItem, Reading
from engine.core.log_probs import FloatArray, IntArray
from engine.decisions.read_items import SWAPPED, ReadItems, part_values, parts_of
from engine.decisions.run_results import RunResults
from engine.measure.matching import Pair

OTHER_CRITERIA = "the other criteria"
SECOND_ORDER = "the second order"

_LABELS = len(PREFERENCES)
_MOST_SOURCES = 12  # that are counted in STEPS: more do not make it longer
STEPS = OUTER_FOLDS + 1 + _MOST_SOURCES
"""How many steps `Labelled.fitting` takes at most, but for sources beyond these."""

Fold = tuple[Sequence[int], CriterionCalibration]
"""The places of items that were left out, and what was fitted without them."""


@dataclass(frozen=True)
class ReadingSource:
    """Readings that may be left out, to see what they add: `is_kept` says which of the others stay."""

    name: str
    is_kept: Callable[[Reading], bool] = lambda _reading: True
    keeps_part: Callable[[HeadPart], bool] = lambda _part: True


@dataclass(frozen=True)
class FittedCriterion:
    """What decides a criterion, with its own of the first order and of each fold; its report; and what is
    lost without each source of readings, by the source's name.
    """

    calibration: CriterionCalibration
    report: CalibrationReport
    without: dict[str, Without]


@dataclass(frozen=True)
class Labelled:
    """Items with readings and human labels on one criterion.

    `labels`: as places in HUMAN_LABELS, shape (items,); `groups`: the instruction of each. `parts`: what is
    looked at beside the mean of the readings. `alike`: whether A and B are.
    """

    criterion: str
    items: tuple[JudgedItem, ...]
    labels: IntArray
    groups: tuple[str, ...]
    parts: tuple[HeadPart, ...]
    alike: bool

    @classmethod
    def of(
        cls, criterion: str, pairs: Sequence[Pair], results: RunResults, alike: bool, lengths: bool
    ) -> "Labelled":
        """The items of pairs with a judgment and a label, as a run judged them."""
        judged = {item.item_id: item for item in results.judged}
        items = tuple(judged[pair.item.id] for pair in pairs)
        others = [name for name in results.judgments if name != criterion]
        return cls(
            criterion,
            items,
            np.array([HUMAN_LABELS.index(pair.gold.label) for pair in pairs if pair.gold.label], np.int64),
            tuple(pair.item.instruction for pair in pairs),
            parts_of(items, criterion, others, by_order=not alike, lengths=lengths),
            alike,
        )

    @property
    def sources(self) -> Iterator[ReadingSource]:
        """What can be left out so that something stays: each judge of several, each way, the second order,
        the other criteria, the lengths.
        """
        own = {reading for item in self.items for reading in item.readings.get(self.criterion, ())}
        judges = sorted({reading.judge for reading in own})
        ways = [way for way in Way if any(reading.way is way for reading in own)]
        if len(judges) > 1:
            yield from (ReadingSource(f"judge {judge}", partial(_is_not_of_judge, judge)) for judge in judges)
        if len(ways) > 1:
            yield from (ReadingSource(way.value, partial(_is_not_of_way, way)) for way in ways)
        if {reading.order for reading in own} == set(Order):
            yield ReadingSource(SECOND_ORDER, partial(_is_of_order, Order.AB))
        if any(part.kind is PartKind.CRITERION for part in self.parts):
            yield ReadingSource(OTHER_CRITERIA, keeps_part=lambda part: part.kind is not PartKind.CRITERION)
        if LENGTHS in self.parts:
            yield ReadingSource(LENGTHS.in_words, keeps_part=lambda part: part != LENGTHS)

    def fitting(self, cancel: CancelToken | None = None) -> Generator[None, None, FittedCriterion]:
        """Fit and measure, step by step. SetupError for too few labels; Cancelled."""
        refuse_too_few(self.criterion, self.groups)
        seen = self.views()
        report = yield from measuring(self.criterion, seen, cancel)
        without = {}
        for source in self.sources:
            if cancel is not None:
                cancel.raise_if_requested()
            without[source.name] = left_out(report, seen, self.views(source))
            yield
        whole = self._with_first_order(report.calibration)
        folds = [(asked, self._with_first_order(fold, asked)) for asked, fold in report.folds]
        hashes = [item.content_hash for item in self.items]
        return FittedCriterion(with_folds(whole, folds, hashes), report, without)

    def views(self, without: ReadingSource | None = None) -> Views:
        """The readings and labels, with all readings or without those of a source."""
        left = without or ReadingSource("")
        items = [item.keeping(left.is_kept) for item in self.items]
        parts = tuple(filter(left.keeps_part, self.parts))
        read = self._mean(items)
        others = read[:, SWAPPED] if self.alike else None
        values, exchanged = (part_values(items, self.criterion, parts, each) for each in (False, True))
        beside = PartReadings(parts, values, exchanged)
        return views_of(read, self.labels, self.groups, others, beside=beside)

    def _mean(self, items: Sequence[JudgedItem]) -> FloatArray:
        """Of what is left of the readings; where nothing is, each label is as likely."""
        mean = ReadItems(items, self.criterion).average()
        return np.where(np.isfinite(mean), mean, -np.log(_LABELS))

    def _with_first_order(
        self, made: CriterionCalibration, without: Sequence[int] = ()
    ) -> CriterionCalibration:
        """The same with what decides items that were read in the first order alone, fitted to those readings
        of the items that were read in both; unchanged where there are too few.

        Where A and B are alike, BA tells what AB were with the responses in the other places: so the leaning
        of the model to a place is mended, and what places mean in the data is not learned.
        """
        absent = frozenset(without)
        places = [
            place
            for place, item in enumerate(self.items)
            if place not in absent and _in_both(item.readings.get(self.criterion, ()))
        ]
        groups = [self.groups[place] for place in places]
        if len(set(groups)) < LEAST_FOR_FITTING:
            return made
        first, second = (
            [self.items[place].keeping(partial(_is_of_order, order)) for place in places] for order in Order
        )
        parts = tuple(part for part in made.parts if part.order is not Order.BA)
        beside = PartReadings(
            parts,
            part_values(first, self.criterion, parts),
            part_values(second, self.criterion, parts)[..., SWAPPED],
        )
        others = self._mean(second)[:, SWAPPED] if self.alike else None
        seen = views_of(self._mean(first), self.labels[places], groups, others, beside=beside)
        return replace(made, first_order=fitted_with(seen, Shrinkage.of(made)))


def with_folds(
    made: CriterionCalibration, folds: Sequence[Fold], content_hashes: Sequence[str]
) -> CriterionCalibration:
    """A calibration with those of its folds; `content_hashes`: of its items, which folds count by places."""
    fold_of = {
        short_hash(content_hashes[index]): place for place, (asked, _) in enumerate(folds) for index in asked
    }
    return replace(made, folds=tuple(fold for _, fold in folds), fold_of=fold_of)


def _is_not_of_judge(judge: int, reading: Reading) -> bool:
    return reading.judge != judge


def _is_not_of_way(way: Way, reading: Reading) -> bool:
    return reading.way is not way


def _is_of_order(order: Order, reading: Reading) -> bool:
    return reading.order is order


def _in_both(readings: Sequence[Reading]) -> bool:
    """Whether a run's only judge read both orders."""
    return {each.order for each in readings} == set(Order) and not any(each.judge for each in readings)
