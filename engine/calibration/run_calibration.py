"""A run's raw predictions made into a calibration by human labels, and what that is worth."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from engine.calibration.fitting import (
    LEAST_FOR_FITTING,
    OUTER_FOLDS,
    Ablation,
    CalibrationReport,
    FeatureValues,
    Regularisation,
    Views,
    fitted_with,
    left_out,
    mean_accuracies,
    measuring,
    refuse_too_few,
    views_of,
)
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, MeasureProgress, Reports
from engine.core.items import HUMAN_LABELS, PREFERENCES, Item, Method, Order
from engine.core.judgments import LENGTHS, CriterionCalibration, Feature, FeatureKind, FittedOn, short_hash
from engine.core.numeric import FloatArray, IntArray
from engine.metrics.accuracy import baseline_judges, best_baseline
from engine.metrics.matching import Matched, Pair
from engine.results.calibration import Calibration, judge_of_run, lengths_unknown
from engine.results.decision import (
    SWAPPED,
    IsIn,
    PredictionSource,
    RunPredictions,
    exchanged,
    of_order,
    parts_of,
)
from engine.results.run_results import RunResults, one_label_sentence
from engine.settings.identity import refuse_submitted

OTHER_CRITERIA = "the other criteria"
SECOND_ORDER = "the second order"

_LABELS = len(PREFERENCES)
_MOST_SOURCES = 12  # that are counted in STEPS: more do not make it longer
STEPS = OUTER_FOLDS + 1 + _MOST_SOURCES
"""How many steps `Labelled.fitting` takes at most, but for sources beyond these."""


@dataclass(frozen=True)
class RawPredictionSource:
    """What may be omitted; `others`: what is read in the other places, where that is not what stays."""

    name: str
    is_kept: IsIn | None = None
    others: IsIn | None = None
    keeps_part: Callable[[Feature], bool] = lambda _part: True


@dataclass(frozen=True)
class FittedCriterion:
    """What decides a criterion, with its folds; its report; by source what is lost without it."""

    calibration: CriterionCalibration
    report: CalibrationReport
    without: dict[str, Ablation]


@dataclass(frozen=True)
class Labelled:
    """`labels`: places in HUMAN_LABELS, (items,); `groups`: the instructions. `parts`: what is looked at next
    to the mean of the raw predictions. `alike`: whether A and B are.
    """

    criterion: str
    read: RunPredictions
    labels: IntArray
    groups: tuple[str, ...]
    parts: tuple[Feature, ...]
    alike: bool

    @property
    def sources(self) -> Iterator[RawPredictionSource]:
        """What can be omitted: each judge of several, each method, the second order, criteria, lengths."""
        own = self.read.of(self.criterion).read_by
        judges = sorted({each.judge for each in own})
        methods = [method for method in Method if any(each.method is method for each in own)]
        for judge in judges if len(judges) > 1 else ():
            yield RawPredictionSource(f"judge {judge}", partial(_is_not_of, "judge", judge))
        for method in methods if len(methods) > 1 else ():
            yield RawPredictionSource(method.value, partial(_is_not_of, "method", method))
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
        """The raw predictions and labels, with all raw predictions or without those of a source. In the other
        places stands what is left with A and B exchanged; without the second order what that said, as if it
        had been read first: so a leaning to the first place is mended as in a run of one order.
        """
        left = without or RawPredictionSource("")
        parts, there = tuple(filter(left.keeps_part, self.parts)), left.others or left.is_kept
        values = self.read.part_values(self.criterion, parts, left.is_kept)
        others = self.read.part_values(self.criterion, parts if left.others else exchanged(parts), there)
        beside = FeatureValues(parts, values, others[..., SWAPPED])
        shown = self._mean(there)[:, SWAPPED] if self.alike else None
        return views_of(self._mean(left.is_kept), self.labels, self.groups, shown, beside=beside)

    def _mean(self, is_kept: IsIn | None) -> FloatArray:
        """Where nothing is left of the raw predictions, each label is as likely."""
        mean = self.read.of(self.criterion).average(is_kept)
        return np.where(np.isfinite(mean), mean, -np.log(_LABELS))

    def _with_first_order(
        self, made: CriterionCalibration, without: Sequence[int] = ()
    ) -> CriterionCalibration:
        """The same with what decides items that were read in the first order alone, fitted to those raw
        predictions of the items that were read in both; unchanged where there are too few.
        """
        # Where A and B are alike, BA tells what AB were with the responses in the other places: so the
        # leaning of the model to a place is mended, and what places mean in the data is not learned.
        seen = self.in_first_order(tuple(made.parts), without)
        return made if seen is None else replace(made, first_order=fitted_with(seen, Regularisation.of(made)))

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
        first, second = (self._mean(of_order(order))[places] for order in Order)
        by_order = (self.read.part_values(self.criterion, parts, of_order(order)) for order in Order)
        values, there = (each[places] for each in by_order)
        others = second[:, SWAPPED] if self.alike else None
        beside = FeatureValues(parts, values, there[..., SWAPPED])
        return views_of(first, self.labels[places], groups, others, beside=beside)


def with_folds(
    made: CriterionCalibration,
    folds: Sequence[tuple[Sequence[int], CriterionCalibration]],
    content_hashes: Sequence[str],
) -> CriterionCalibration:
    """With those that were fitted without the items at these places; `content_hashes`: of all items."""
    fold_of = {short_hash(content_hashes[at]): fold for fold, (asked, _) in enumerate(folds) for at in asked}
    return replace(made, folds=tuple(fold for _, fold in folds), fold_of=fold_of)


def _is_not_of(what: str, value: object, read_by: PredictionSource) -> bool:
    return bool(getattr(read_by, what) != value)


@dataclass(frozen=True)
class CalibratedRun:
    """`unscored`: labelled items without a reading, by criterion; `left_out`: why one is not calibrated.
    `best_baselines`: named as in Baselines, with its accuracy (0 to 1). `without`: what is lost without each
    source of raw predictions, by its words and the criterion.
    """

    calibration: Calibration
    reports: Mapping[str, CalibrationReport]
    unscored: Mapping[str, int]
    left_out: Mapping[str, str]
    best_baselines: Mapping[str, tuple[str, float]]
    without: Mapping[str, Mapping[str, Ablation]] = field(default_factory=dict)

    def one_label_sentence(self, results: RunResults) -> str:
        """What is to be said where it gives one label to everything, of a run that it would decide."""
        out_of_fold = {name for name, report in self.reports.items() if report.one_label_out_of_fold}
        return one_label_sentence(results.calibrated(self.calibration).one_labels, out_of_fold)


@dataclass(frozen=True)
class Wishes:
    """`places_matter`: which response is A means something in the data, so that A and B are free and each
    order counts by itself. `lengths`: those of the responses may count.
    """

    places_matter: bool = False
    lengths: bool = False

    @classmethod
    def of(cls, calibration: Calibration | None) -> "Wishes":
        """What a calibration looks at; for none the usual."""
        return DEFAULT if calibration is None else cls(not calibration.alike, LENGTHS in calibration.parts)


DEFAULT = Wishes()


@dataclass(frozen=True)
class CalibrationInputs:
    """The raw predictions of a run that a calibration may be fitted to, without human overrides, and how:
    whether A and B are `alike` to what is fitted, and whether the `lengths` of the responses may count.
    """

    results: RunResults
    alike: bool
    lengths: bool

    @classmethod
    def of(cls, matched: Matched, wishes: Wishes, what_for: str) -> "CalibrationInputs":
        """`what_for`: as of `refuse_submitted`. SetupError without raw predictions, or the lengths wished."""
        results = matched.system.results
        if results is None:
            raise SetupError(
                f"{matched.system.name} is a submission: it holds labels, no probabilities.",
                Hint(Step.CHOOSE_RUN),
            )
        refuse_submitted(results.run, what_for)
        if wishes.lengths and any(item.lengths is None for item in results.judged):
            raise lengths_unknown(results.run.title)
        alike = results.run.in_both_orders and not wishes.places_matter
        return cls(results.model_alone(), alike, wishes.lengths)

    def labelled(self, criterion: str, pairs: Sequence[Pair]) -> Labelled:
        """The items of pairs with a judgment and a label, as the run judged them."""
        judged = {item.item_id: item for item in self.results.judged}
        panel = self.results.run.deciding_together
        read = RunPredictions([judged[pair.item.id] for pair in pairs], panel)
        labels = [HUMAN_LABELS.index(pair.gold.label) for pair in pairs if pair.gold.label]
        groups = tuple(pair.item.group for pair in pairs)
        others = [name for name in self.results.judgments if name != criterion]
        parts = parts_of(read, criterion, others, by_order=not self.alike, lengths=self.lengths)
        return Labelled(criterion, read, np.array(labels, np.int64), groups, parts, self.alike)


def scored(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.judgment is not None]


def calibrating(
    matched: Matched, cancel: CancelToken | None = None, wishes: Wishes = DEFAULT
) -> Generator[MeasureProgress, None, CalibratedRun]:
    """Fit a calibration to a run's own raw predictions, whatever it is calibrated with now: to the mean of
    all of an item, and what each method, each judge of a jury and the other criteria say next to it. It
    treats A and B alike, unless the places matter. SetupError for a submission file, which has no raw
    predictions, and where no criterion has labels enough; Cancelled between two steps.
    """
    # In a run of one order, and in a jury with one, A and B are free too: what the model leans to must be
    # corrected, and nothing tells it from what the data do.
    inputs = CalibrationInputs.of(matched, wishes, "be calibrated")
    results, alike = inputs.results, inputs.alike
    whole = len(matched.pairs) * STEPS
    reports, criteria, unscored, left_out, best_baselines = {}, {}, {}, {}, {}
    without: dict[str, dict[str, Ablation]] = {}
    took_part: dict[str, Item] = {}
    yield MeasureProgress(0, whole)
    for place, (name, pairs) in enumerate(matched.pairs.items()):
        read = scored(pairs)
        unscored[name] = len(pairs) - len(read)
        try:
            fitting = inputs.labelled(name, read).fitting(cancel)
            for done, _ in enumerate(steps := Reports(fitting), start=1):
                yield MeasureProgress(place * STEPS + min(done, STEPS), whole)
        except SetupError as error:
            left_out[name] = error.problem
            continue
        made = steps.result
        reports[name], criteria[name] = made.report, made.calibration
        for source, lost in made.without.items():
            without.setdefault(source, {})[name] = lost
        took_part |= {pair.item.id: pair.item for pair in read}
        best_baselines[name] = best_baseline(baseline_judges(_in_all_places(read) if alike else read))
    yield MeasureProgress(whole, whole)  # a criterion without a fit, or with a quick one, leaves steps undone
    if not reports:
        raise SetupError(
            "No criterion can be calibrated:\n" + "\n".join(f"  {reason}" for reason in left_out.values()),
            "Use a dataset with more human labels.",
        )
    calibration = Calibration(
        judge=judge_of_run(results.run.identity),
        dataset=matched.dataset.name,
        dataset_hash=matched.dataset.hash,
        criteria=criteria,
        measured={name: _measured(report) for name, report in reports.items()},
        alike=alike,
        fitted_on=FittedOn.of(took_part.values()),
        accuracies=mean_accuracies(reports.values()),
    )
    return CalibratedRun(calibration, reports, unscored, left_out, best_baselines, without)


def _in_all_places(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, and each with A and B exchanged, as a calibration sees them that treats these alike."""
    exchanged = [
        replace(
            pair,
            item=replace(pair.item, output_a=pair.item.output_b, output_b=pair.item.output_a),
            gold=replace(pair.gold, label=pair.gold.label and pair.gold.label.swapped),
        )
        for pair in pairs
    ]
    return [*pairs, *exchanged]


def _measured(report: CalibrationReport) -> dict[str, Any]:
    return {
        "items": report.items,
        "instructions": report.instructions,
        "before": asdict(report.before),
        "after": asdict(report.after),
        "most_frequent_label": asdict(report.baseline),
        "gain": {"nats": report.gain, "interval": report.gain_interval, "surely": report.helps_significantly},
    }
