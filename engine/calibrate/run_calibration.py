"""A run's readings made into a calibration by human labels.

Knows: where readings come from, where labels. Does not know: the mathematics, files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from engine.calibrate.cross_validation import (
    LEAST_FOR_FITTING,
    CalibrationReport,
    calibrate_criterion,
    fit_with_strength,
    mean_accuracies,
)
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.fitted_on import FittedOn, short_hash
from engine.core.items import HUMAN_LABELS, Item, Order
from engine.core.judgments import CriterionCalibration, Reading
from engine.core.log_probs import FloatArray, IntArray
from engine.core.remedies import Remedy, Step
from engine.core.run_records import refuse_submitted
from engine.decisions.calibration import Calibration, judge_of_run
from engine.decisions.decision import SWAPPED, average
from engine.decisions.one_label import one_label_sentence
from engine.decisions.run_results import RunResults
from engine.measure.baselines import best_trivial, trivial_judges
from engine.measure.matching import Matched, Pair


@dataclass(frozen=True)
class CalibratedRun:
    """A calibration with the report of each of its criteria.

    `unscored`: by criterion, labelled items without a reading; they take no part. `left_out`: the reason by
    criterion, for those that could not be calibrated. `trivial`: the best of the trivial judges on the same
    items, named as in Baselines, and its accuracy (0 to 1).
    """

    calibration: Calibration
    reports: Mapping[str, CalibrationReport]
    unscored: Mapping[str, int]
    left_out: Mapping[str, str]
    trivial: Mapping[str, tuple[str, float]]

    def one_label_sentence(self, results: RunResults) -> str:
        """What is to be said where it gives one label to everything, of a run that it would decide."""
        out_of_fold = {name for name, report in self.reports.items() if report.one_label_out_of_fold}
        return one_label_sentence(results.calibrated(self.calibration).one_labels, out_of_fold)


def calibrate_run(
    matched: Matched, cancel: CancelToken | None = None, places_matter: bool = False
) -> CalibratedRun:
    """Fit a calibration to a run's own readings, whatever it is calibrated with now.

    It treats A and B alike, unless the places matter: where it means something in the data which response is
    A. In a run of one order they are free too: what the model leans to must be mended, and nothing tells it
    from what the data do.
    Raises SetupError for a submission file, which has no readings, and where no criterion has labels enough;
    Cancelled between two criteria.
    """
    results = matched.system.results
    if results is None:
        raise SetupError(
            f"{matched.system.name} is a submission: it holds labels, no probabilities.",
            Remedy(Step.CHOOSE_RUN),
        )
    refuse_submitted(results.run, "be calibrated")
    in_both = len(results.run.identity.settings["orders"]) > 1
    alike = in_both and not places_matter
    reports, criteria, unscored, left_out, trivial = {}, {}, {}, {}, {}
    took_part: dict[str, Item] = {}
    for name, pairs in matched.pairs.items():
        if cancel is not None:
            cancel.raise_if_requested()
        read = [pair for pair in pairs if pair.judgment is not None]
        unscored[name] = len(pairs) - len(read)
        try:
            reports[name] = _report(name, read, alike)
            criteria[name] = _in_each_order(reports[name], read, alike)
            took_part |= {pair.item.id: pair.item for pair in read}
            trivial[name] = best_trivial(trivial_judges(_in_all_places(read) if alike else read))
        except SetupError as error:
            left_out[name] = error.problem
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
    return CalibratedRun(calibration, reports, unscored, left_out, trivial)


Fold = tuple[Sequence[int], CriterionCalibration]
"""The places of items that were left out, and what was fitted without them."""


def with_folds(
    made: CriterionCalibration, folds: Sequence[Fold], content_hashes: Sequence[str]
) -> CriterionCalibration:
    """A calibration with those of its folds; `content_hashes`: of its items, which folds count by places."""
    fold_of = {
        short_hash(content_hashes[index]): place
        for place, (left_out, _) in enumerate(folds)
        for index in left_out
    }
    return replace(made, folds=tuple(fold for _, fold in folds), fold_of=fold_of)


def _in_each_order(report: CalibrationReport, pairs: Sequence[Pair], alike: bool) -> CriterionCalibration:
    """The calibration and those of its folds, each with its own of the first order alone."""
    folds = [
        (left_out, _with_first_order(fold, _without(pairs, left_out), alike))
        for left_out, fold in report.folds
    ]
    whole = _with_first_order(report.calibration, pairs, alike)
    return with_folds(whole, folds, [pair.item.content_hash for pair in pairs])


def _without(pairs: Sequence[Pair], left_out: Sequence[int]) -> list[Pair]:
    absent = frozenset(left_out)
    return [pair for place, pair in enumerate(pairs) if place not in absent]


def _report(criterion: str, pairs: Sequence[Pair], alike: bool) -> CalibrationReport:
    together = _averages([_readings(pair) for pair in pairs])
    others = together[:, SWAPPED] if alike else None
    return calibrate_criterion(criterion, together, _labels(pairs), _instructions(pairs), others)


def _with_first_order(made: CriterionCalibration, pairs: Sequence[Pair], alike: bool) -> CriterionCalibration:
    """The same with what decides items that were read in the first order alone, fitted to those readings of
    the items that were read in both; unchanged where there are too few.

    Where A and B are alike, BA tells what AB were with the responses in the other places: so the leaning of
    the model to a place is mended, and what places mean in the data is not learned.
    """
    twice = [pair for pair in pairs if {each.order for each in _readings(pair)} == set(Order)]
    groups = _instructions(twice)
    if len(set(groups)) < LEAST_FOR_FITTING:
        return made
    first, second = (
        _averages([[each for each in _readings(pair) if each.order is order] for pair in twice])
        for order in Order
    )
    others = second[:, SWAPPED] if alike else None
    of_first = fit_with_strength(made.strength, first, _labels(twice), groups, others)
    return replace(made, first_order=of_first)


def _in_all_places(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, and each again with its responses in the other places, as a calibration sees them to which A
    and B are alike.
    """
    exchanged = [
        replace(
            pair,
            item=replace(pair.item, output_a=pair.item.output_b, output_b=pair.item.output_a),
            gold=replace(pair.gold, label=pair.gold.label and pair.gold.label.swapped),
        )
        for pair in pairs
    ]
    return [*pairs, *exchanged]


def _readings(pair: Pair) -> Sequence[Reading]:
    return pair.judgment.readings if pair.judgment else ()


def _averages(readings: Sequence[Sequence[Reading]]) -> FloatArray:
    return np.array([average(own) for own in readings]).reshape(-1, 4)


def _labels(pairs: Sequence[Pair]) -> IntArray:
    return np.array([HUMAN_LABELS.index(pair.gold.label) for pair in pairs if pair.gold.label])


def _instructions(pairs: Sequence[Pair]) -> list[str]:
    return [pair.item.instruction for pair in pairs]


def _measured(report: CalibrationReport) -> dict[str, Any]:
    return {
        "items": report.items,
        "instructions": report.instructions,
        "before": asdict(report.before),
        "after": asdict(report.after),
        "most_frequent_label": asdict(report.baseline),
        "gain": {"nats": report.gain, "interval": report.gain_interval, "surely": report.surely_helps},
    }
