"""A run's readings made into a calibration by human labels.

Knows: where readings come from, where labels. Does not know: the mathematics, files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from engine.calibrate.cross_validation import CalibrationReport, calibrate_criterion
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.fitted_on import FittedOn, short_hash
from engine.core.items import HUMAN_LABELS, Item
from engine.core.judgments import CriterionCalibration
from engine.core.remedies import Remedy, Step
from engine.core.run_records import refuse_submitted
from engine.decisions.calibration import Calibration, judge_of_run
from engine.decisions.decision import average
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


def calibrate_run(matched: Matched, cancel: CancelToken | None = None) -> CalibratedRun:
    """Fit a calibration to a run's own readings, whatever it is calibrated with now.

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
    reports, fitted, unscored, left_out, trivial = {}, {}, {}, {}, {}
    took_part: dict[str, Item] = {}
    for name, pairs in matched.pairs.items():
        if cancel is not None:
            cancel.raise_if_requested()
        read = [pair for pair in pairs if pair.judgment is not None]
        unscored[name] = len(pairs) - len(read)
        try:
            reports[name] = _report(name, read)
            fitted[name] = kept(reports[name], [pair.item.content_hash for pair in read])
            took_part |= {pair.item.id: pair.item for pair in read}
            trivial[name] = best_trivial(trivial_judges(read))
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
        criteria=fitted,
        measured={name: _measured(report) for name, report in reports.items()},
        fitted_on=FittedOn.of(took_part.values()),
    )
    return CalibratedRun(calibration, reports, unscored, left_out, trivial)


def kept(report: CalibrationReport, content_hashes: Sequence[str]) -> CriterionCalibration:
    """The calibration with those of its folds; `content_hashes`: of the items of the report, in its order."""
    fold_of = {
        short_hash(content_hashes[index]): place
        for place, (left_out, _) in enumerate(report.folds)
        for index in left_out
    }
    return replace(report.calibration, folds=tuple(fold for _, fold in report.folds), fold_of=fold_of)


def _report(criterion: str, pairs: list[Pair]) -> CalibrationReport:
    return calibrate_criterion(
        criterion,
        log_probs=np.array([average(pair.judgment.readings) for pair in pairs if pair.judgment]).reshape(
            -1, 4
        ),
        labels=np.array([HUMAN_LABELS.index(pair.gold.label) for pair in pairs if pair.gold.label]),
        groups=[pair.item.instruction for pair in pairs],
    )


def _measured(report: CalibrationReport) -> dict[str, Any]:
    return {
        "items": report.items,
        "instructions": report.instructions,
        "before": asdict(report.before),
        "after": asdict(report.after),
        "most_frequent_label": asdict(report.baseline),
    }
