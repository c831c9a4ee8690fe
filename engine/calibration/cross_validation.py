"""What a calibration is worth: measured by nested cross-validation, with what each of its sources adds.

Knows: raw predictions with human labels, outer folds. Does not know: how what decides is fitted, runs, files.
"""

from collections.abc import Collection, Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from engine.calibration.fitting import LEAST_FOR_FITTING, Regularisation, Views, fitted, fitted_with, views_of
from engine.calibration.scaling import Quality
from engine.core.errors import SetupError
from engine.core.events import CancelToken, followed
from engine.core.judgments import CriterionCalibration
from engine.core.numeric import FloatArray, IntArray
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, LEAST_GROUPS, Interval, OverInstructions, grouped_folds
from engine.results.decision import likeliest

OUTER_FOLDS = 10


@dataclass(frozen=True)
class CalibrationReport:
    """What calibration does for one criterion.

    `before`: the raw predictions as they are. `after` and `baseline`: cross-validated on the same folds; the
    baseline gives the smoothed label frequencies of the training folds, and so their most frequent label.
    All three treat A and B as the calibration does. `gain`: by how many nats the log-loss after is below that
    of the baseline, and `gain_interval` over instructions; None where there is nothing to vary.
    `calibration`: fitted on all `items`, which have `instructions` different instructions.
    `log_probs_after`: shape (views, items, 4), each item by the calibration that was fitted without its fold.
    `one_label_out_of_fold`: whether all items, each calibrated by what was fitted without it, get one label.
    `right_before`, `right_after`: which labels (0 to 1) the accuracies are the shares of, shape (items,), and
    `groups` the instruction of each item.
    `folds`: the places of the items of each fold, with what was fitted without them.
    """

    criterion: str
    items: int
    instructions: int
    before: Quality
    after: Quality
    baseline: Quality
    gain: float
    gain_interval: Interval | None
    calibration: CriterionCalibration
    one_label_out_of_fold: bool
    log_probs_after: FloatArray = field(compare=False, repr=False)
    right_before: Sequence[float] = field(default=(), compare=False, repr=False)
    right_after: Sequence[float] = field(default=(), compare=False, repr=False)
    groups: Sequence[Hashable] = field(default=(), compare=False, repr=False)
    folds: Sequence[tuple[Sequence[int], CriterionCalibration]] = field(default=(), repr=False)

    @property
    def probabilities_after(self) -> FloatArray:
        """Of the items as they are, shape (items, 4)."""
        return np.asarray(np.exp(self.log_probs_after[0]))

    @property
    def helps_significantly(self) -> bool:
        """Whether raw predictions significantly say more than the class prior."""
        known = self.gain_interval
        return self.instructions >= FEW and known is not None and known.low > 0


def mean_accuracies(reports: Collection[CalibrationReport]) -> dict[str, Estimate]:
    """The shares of labels that are right `before` and `after`, and how many `more`: means over criteria."""
    before = {report.criterion: report.right_before for report in reports}
    after = {report.criterion: report.right_after for report in reports}
    groups = {report.criterion: report.groups for report in reports}
    more = {name: np.subtract(after[name], before[name]).tolist() for name in groups}
    was, is_now, gained = (OverInstructions.of(values, groups) for values in (before, after, more))
    shares = [fmean(getattr(report, when).accuracy for report in reports) for when in ("before", "after")]
    return {
        "before": Estimate(shares[0], was.share_interval() if was else None),
        "after": Estimate(shares[1], is_now.share_interval() if is_now else None),
        "more": Estimate(shares[1] - shares[0], gained.difference_interval() if gained else None),
    }


@dataclass(frozen=True)
class Ablation:
    """What is lost of one criterion where a source of raw predictions is omitted, by item, shape (items,).

    `nats`: by how much the loss is higher without it, cross-validated with the same folds and shrinkage;
    `right`: by how much less the label is right, -1 to 1.
    """

    nats: Sequence[float]
    right: Sequence[float]


@dataclass(frozen=True)
class SourceGain:
    """What a source adds to all others, as the mean over criteria: what is lost without it.

    `nats`: of the log-loss; `interval`: its own over instructions, None where nothing varies; `right`: as a
    share of labels.
    """

    nats: float
    interval: Interval | None
    right: Estimate


def added(lost: Mapping[str, Ablation], reports: Mapping[str, CalibrationReport]) -> SourceGain:
    """The mean over the criteria of which something is known, at least one."""
    groups = {name: reports[name].groups for name in lost}
    nats = OverInstructions.of({name: each.nats for name, each in lost.items()}, groups)
    right = OverInstructions.of({name: each.right for name, each in lost.items()}, groups)
    return SourceGain(
        fmean(fmean(each.nats) for each in lost.values()),
        nats.mean_interval() if nats else None,
        Estimate(
            fmean(fmean(each.right) for each in lost.values()), right.difference_interval() if right else None
        ),
    )


def calibrate_criterion(
    criterion: str,
    log_probs: FloatArray,
    labels: IntArray,
    groups: Sequence[Hashable],
    others: FloatArray | None = None,
) -> CalibrationReport:
    """Fit one criterion's calibration to raw predictions and measure it; arguments as of `views_of`.
    SetupError for fewer than two instructions.
    """
    refuse_too_few(criterion, groups)
    return followed(measuring(criterion, views_of(log_probs, labels, groups, others)), lambda _: None)


def refuse_too_few(criterion: str, groups: Sequence[Hashable]) -> None:
    """SetupError for labels of fewer than two instructions."""
    instructions = len(set(groups))
    if instructions < LEAST_GROUPS:
        raise SetupError(
            f"Criterion {criterion}: {len(groups)} human labels, {instructions} different instructions. That"
            " is too few to calibrate.",
            f"Use a dataset with human labels for {LEAST_FOR_FITTING} different instructions or more.",
        )


def measuring(
    criterion: str, seen: Views, cancel: CancelToken | None = None
) -> Generator[None, None, CalibrationReport]:
    """Fit one criterion's calibration and measure it by nested cross-validation, step by step; there are two
    instructions or more. Cancelled between two folds.
    """
    after, baseline = np.empty_like(seen.log_probs), np.empty_like(seen.log_probs)
    folds = []
    for train, test in grouped_folds(seen.groups, OUTER_FOLDS):
        known = seen.only(train)
        found = fitted(known, cancel)
        folds.append((test.tolist(), found))
        after[:, test] = seen.only(test).decided(found)
        baseline[:, test] = known.frequencies
        yield
    calibration = fitted(seen, cancel)
    yield
    gain = seen.gain(baseline, after)
    return CalibrationReport(
        criterion=criterion,
        items=len(seen.groups),
        instructions=seen.instructions,
        before=seen.quality(seen.log_probs),
        after=seen.quality(after, seen.log_probs),
        baseline=seen.quality(baseline),
        gain=gain.mean,
        gain_interval=gain.mean_interval(),
        calibration=calibration,
        one_label_out_of_fold=len(np.unique(likeliest(after[0], seen.log_probs[0]))) == 1,
        log_probs_after=after,
        right_before=seen.right(seen.log_probs, seen.log_probs),
        right_after=seen.right(after, seen.log_probs),
        groups=seen.groups,
        folds=folds,
    )


def left_out(report: CalibrationReport, seen: Views, without: Views) -> Ablation:
    """What is lost where a source is omitted: `seen` with it and `without` it are the items of a report."""
    after = np.empty_like(without.log_probs)
    for asked, fold in report.folds:
        test = np.array(asked)
        train = np.setdiff1d(np.arange(len(seen.groups)), test)
        found = fitted_with(without.only(train), Regularisation.of(fold))
        after[:, test] = without.only(test).decided(found)
    nats = np.round(seen.losses(after) - seen.losses(report.log_probs_after), 12)
    right = np.subtract(report.right_after, without.right(after, without.log_probs))
    return Ablation(nats.tolist(), right.tolist())
