"""The judged items of one criterion with their human labels: what decides them, and what that is worth.

Knows: how raw predictions of items become arrays, which sources of raw predictions there are, both orders.
Does not know: the mathematics of a fit, other criteria's labels, files.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from engine.calibrate.cross_validation import (
    OUTER_FOLDS,
    Ablation,
    CalibrationReport,
    left_out,
    measuring,
    refuse_too_few,
)
from engine.calibrate.fitting import (
    LEAST_FOR_FITTING,
    FeatureValues,
    Regularisation,
    Views,
    fitted_with,
    views_of,
)
from engine.core.cancel import CancelToken
from engine.core.fitted_on import short_hash
from engine.core.head_parts import LENGTHS, Feature, FeatureKind
from engine.core.items import HUMAN_LABELS, PREFERENCES, Method, Order
from engine.core.judgments import CriterionCalibration
from engine.core.log_probs import FloatArray, IntArray
from engine.decisions.read_items import (
    SWAPPED,
    IsIn,
    PredictionSource,
    RunPredictions,
    exchanged,
    of_order,
    parts_of,
)
from engine.decisions.run_results import RunResults
from engine.measure.matching import Pair

OTHER_CRITERIA = "the other criteria"
SECOND_ORDER = "the second order"

_LABELS = len(PREFERENCES)
_MOST_SOURCES = 12  # that are counted in STEPS: more do not make it longer
STEPS = OUTER_FOLDS + 1 + _MOST_SOURCES
"""How many steps `Labelled.fitting` takes at most, but for sources beyond these."""

Fold = tuple[Sequence[int], CriterionCalibration]
"""The places of held-out items, and what was fitted without them."""


@dataclass(frozen=True)
class RawPredictionSource:
    """Readings or parts that may be omitted, to see what they add: which of the others stay; `others`: what
    is read were the responses in the other places, where that is not what stays.
    """

    name: str
    is_kept: IsIn | None = None
    others: IsIn | None = None
    keeps_part: Callable[[Feature], bool] = lambda _part: True


@dataclass(frozen=True)
class FittedCriterion:
    """What decides a criterion, with its own of the first order and of each fold; its report; and what is
    lost without each source of raw predictions, by the source's name.
    """

    calibration: CriterionCalibration
    report: CalibrationReport
    without: dict[str, Ablation]


@dataclass(frozen=True)
class Labelled:
    """Items with raw predictions and human labels on one criterion.

    `labels`: as places in HUMAN_LABELS, shape (items,); `groups`: the instruction of each. `parts`: what is
    looked at next to the mean of the raw predictions. `alike`: whether A and B are.
    """

    criterion: str
    read: RunPredictions
    labels: IntArray
    groups: tuple[str, ...]
    parts: tuple[Feature, ...]
    alike: bool

    @classmethod
    def of(
        cls, criterion: str, pairs: Sequence[Pair], results: RunResults, alike: bool, lengths: bool
    ) -> "Labelled":
        """The items of pairs with a judgment and a label, as a run judged them."""
        judged = {item.item_id: item for item in results.judged}
        read = RunPredictions([judged[pair.item.id] for pair in pairs], len(results.run.judges))
        others = [name for name in results.judgments if name != criterion]
        return cls(
            criterion,
            read,
            np.array([HUMAN_LABELS.index(pair.gold.label) for pair in pairs if pair.gold.label], np.int64),
            tuple(pair.item.group for pair in pairs),
            parts_of(read, criterion, others, by_order=not alike, lengths=lengths),
            alike,
        )

    @property
    def sources(self) -> Iterator[RawPredictionSource]:
        """What can be omitted so that something stays: each judge of several, each method, the second order,
        the other criteria, the lengths.
        """
        own = self.read.of(self.criterion).read_by
        judges = sorted({each.judge for each in own})
        methods = [method for method in Method if any(each.method is method for each in own)]
        if len(judges) > 1:
            yield from (
                RawPredictionSource(f"judge {judge}", partial(_is_not_of_judge, judge)) for judge in judges
            )
        if len(methods) > 1:
            yield from (
                RawPredictionSource(method.value, partial(_is_not_of_method, method)) for method in methods
            )
        if {each.order for each in own} == set(Order):
            yield RawPredictionSource(SECOND_ORDER, of_order(Order.AB), of_order(Order.BA))
        if any(part.kind is FeatureKind.CRITERION for part in self.parts):
            yield RawPredictionSource(
                OTHER_CRITERIA, keeps_part=lambda part: part.kind is not FeatureKind.CRITERION
            )
        if LENGTHS in self.parts:
            yield RawPredictionSource(LENGTHS.in_words, keeps_part=lambda part: part != LENGTHS)

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
        hashes = [item.content_hash for item in self.read.judged]
        return FittedCriterion(with_folds(whole, folds, hashes), report, without)

    def views(self, without: RawPredictionSource | None = None) -> Views:
        """The raw predictions and labels, with all raw predictions or without those of a source.

        In the other places stands what is left with A and B exchanged; without the second order what that
        said, as if it had been read first: so a leaning to the first place is mended as in a run of one
        order.
        """
        left = without or RawPredictionSource("")
        parts = tuple(filter(left.keeps_part, self.parts))
        read = self._mean(left.is_kept)
        values = self.read.part_values(self.criterion, parts, left.is_kept)
        there, in_others = left.others or left.is_kept, exchanged(parts)
        others = self.read.part_values(self.criterion, parts if left.others else in_others, there)
        beside = FeatureValues(parts, values, others[..., SWAPPED])
        shown = self._mean(there)[:, SWAPPED] if self.alike else None
        return views_of(read, self.labels, self.groups, shown, beside=beside)

    def _mean(self, is_kept: IsIn | None) -> FloatArray:
        """Of what is left of the raw predictions; where nothing is, each label is as likely."""
        mean = self.read.of(self.criterion).average(is_kept)
        return np.where(np.isfinite(mean), mean, -np.log(_LABELS))

    def _with_first_order(
        self, made: CriterionCalibration, without: Sequence[int] = ()
    ) -> CriterionCalibration:
        """The same with what decides items that were read in the first order alone, fitted to those raw
        predictions of the items that were read in both; unchanged where there are too few.

        Where A and B are alike, BA tells what AB were with the responses in the other places: so the leaning
        of the model to a place is mended, and what places mean in the data is not learned.
        """
        seen = self.in_first_order(tuple(made.parts), without)
        if seen is None:
            return made
        return replace(made, first_order=fitted_with(seen, Regularisation.of(made)))

    def in_first_order(
        self, looked_at: Sequence[Feature] | None = None, without: Sequence[int] = ()
    ) -> Views | None:
        """The items that were read in both orders, by what the first one said; `looked_at`: these parts
        alone, `without`: the places of items that take no part. None where too few instructions are left.
        """
        twice = self.read.of(self.criterion).twice
        absent = frozenset(without)
        places = [place for place, both in enumerate(twice) if both and place not in absent]
        groups = [self.groups[place] for place in places]
        if len(set(groups)) < LEAST_FOR_FITTING:
            return None
        known = self.parts if looked_at is None else looked_at
        parts = tuple(part for part in known if part.order is not Order.BA)
        first, second = (
            (
                self._mean(of_order(order))[places],
                self.read.part_values(self.criterion, parts, of_order(order))[places],
            )
            for order in Order
        )
        others = second[0][:, SWAPPED] if self.alike else None
        beside = FeatureValues(parts, first[1], second[1][..., SWAPPED])
        return views_of(first[0], self.labels[places], groups, others, beside=beside)


def with_folds(
    made: CriterionCalibration, folds: Sequence[Fold], content_hashes: Sequence[str]
) -> CriterionCalibration:
    """A calibration with those of its folds; `content_hashes`: of its items, which folds count by places."""
    fold_of = {
        short_hash(content_hashes[index]): place for place, (asked, _) in enumerate(folds) for index in asked
    }
    return replace(made, folds=tuple(fold for _, fold in folds), fold_of=fold_of)


def _is_not_of_judge(judge: int, read_by: PredictionSource) -> bool:
    return read_by.judge != judge


def _is_not_of_method(method: Method, read_by: PredictionSource) -> bool:
    return read_by.method is not method
