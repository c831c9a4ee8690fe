"""A run's raw predictions made into a calibration by human labels.

Knows: which labels a run's criteria have, in which order its steps are made. Does not know: the mathematics,
how raw predictions become arrays, files.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from engine.calibrate.cross_validation import Ablation, CalibrationReport, mean_accuracies
from engine.calibrate.labelled import STEPS, FittedCriterion, Labelled
from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import MeasureProgress, Reports, followed
from engine.core.fitted_on import FittedOn
from engine.core.head_parts import LENGTHS
from engine.core.items import Item
from engine.core.remedies import Hint, Step
from engine.core.run_records import refuse_submitted
from engine.decisions.calibration import Calibration, judge_of_run, lengths_unknown
from engine.decisions.one_label import one_label_sentence
from engine.decisions.run_results import RunResults
from engine.measure.baselines import baseline_judges, best_baseline
from engine.measure.matching import Matched, Pair


@dataclass(frozen=True)
class CalibratedRun:
    """A calibration with the report of each of its criteria.

    `unscored`: by criterion, labelled items without a reading; they take no part. `left_out`: the reason by
    criterion, for those that could not be calibrated. `best_baselines`: the best baseline on the same
    items, named as in Baselines, and its accuracy (0 to 1). `without`: what is lost without each source of
    raw predictions, by the source's words and the criterion; empty where there is one source only.
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
    """What an annotator lets a calibration look at.

    `places_matter`: whether it means something in the data which response is A, so that A and B are free, and
    each order counts by itself. `lengths`: whether the lengths of the responses may count.
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
        """Those of a run; `what_for`: as `refuse_submitted` takes it. SetupError for a system that has none,
        and for one that lacks the lengths wished.
        """
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

    def labelled(self, criterion: str, read: Sequence[Pair]) -> Labelled:
        """The items of one criterion that were read and have a label."""
        return Labelled.of(criterion, read, self.results, self.alike, self.lengths)


def scored(pairs: Sequence[Pair]) -> list[Pair]:
    """Those with a judgment: the others have no raw predictions."""
    return [pair for pair in pairs if pair.judgment is not None]


def calibrate_run(
    matched: Matched, cancel: CancelToken | None = None, wishes: Wishes = DEFAULT
) -> CalibratedRun:
    """`calibrating` to its end."""
    return followed(calibrating(matched, cancel, wishes), lambda _: None)


def calibrating(
    matched: Matched, cancel: CancelToken | None = None, wishes: Wishes = DEFAULT
) -> Generator[MeasureProgress, None, CalibratedRun]:
    """Fit a calibration to a run's own raw predictions, whatever it is calibrated with now.

    It looks at the mean of all raw predictions of an item and at what each method, each judge of a jury and
    the other criteria say next to it. It treats A and B alike, unless the places matter. In a run of one
    order, and in a jury with one, they are free too: what the model leans to must be corrected, and nothing
    tells it from what the data do. Raises SetupError for a submission file, which has no raw predictions, and
    where no criterion has labels enough; Cancelled between two steps.
    """
    raw_predictions = CalibrationInputs.of(matched, wishes, "be calibrated")
    results, alike = raw_predictions.results, raw_predictions.alike
    whole = len(matched.pairs) * STEPS
    reports, criteria, unscored, left_out, best_baselines = {}, {}, {}, {}, {}
    without: dict[str, dict[str, Ablation]] = {}
    took_part: dict[str, Item] = {}
    yield MeasureProgress(0, whole)
    for place, (name, pairs) in enumerate(matched.pairs.items()):
        read = scored(pairs)
        unscored[name] = len(pairs) - len(read)
        try:
            fitting = raw_predictions.labelled(name, read).fitting(cancel)
            made = yield from _counted(fitting, place * STEPS, whole)
        except SetupError as error:
            left_out[name] = error.problem
            continue
        reports[name], criteria[name] = made.report, made.calibration
        for source, lost in made.without.items():
            without.setdefault(source, {})[name] = lost
        took_part |= {pair.item.id: pair.item for pair in read}
        best_baselines[name] = best_baseline(baseline_judges(_in_all_places(read) if alike else read))
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


def _counted(
    work: Generator[None, None, FittedCriterion], before: int, whole: int
) -> Generator[MeasureProgress, None, FittedCriterion]:
    """The steps of one criterion as progress of all, `before` of which are done."""
    steps = Reports(work)
    for done, _ in enumerate(steps, start=1):
        yield MeasureProgress(before + min(done, STEPS), whole)
    return steps.result


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


def _measured(report: CalibrationReport) -> dict[str, Any]:
    return {
        "items": report.items,
        "instructions": report.instructions,
        "before": asdict(report.before),
        "after": asdict(report.after),
        "most_frequent_label": asdict(report.baseline),
        "gain": {"nats": report.gain, "interval": report.gain_interval, "surely": report.helps_significantly},
    }
