"""One system against human labels: all measures in a record, as the task's JSON, the worst disagreements; and
the measures of the whole on the items of each slice.
"""

import math
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from engine.core.events import CancelToken, MeasureProgress, followed
from engine.core.formatting import words
from engine.core.items import PREFERENCES, HumanLabel, Preference, Tie, agree, labels_beside, probability_of
from engine.core.tables import Estimate
from engine.data.slices import OfSlices, Slice, Slicing
from engine.metrics.accuracy import (
    UNSCORED,
    LabelCounts,
    LabelMeasures,
    count_run,
    is_right,
    mean,
    mean_accuracy_of,
    measure_labels,
)
from engine.metrics.annotator_agreement import (
    AnnotatorAgreement,
    agreement_of_annotators,
    annotator_agreement,
)
from engine.metrics.beyond_chance import Measured
from engine.metrics.explanations import (
    EXPLANATION_MEASURES,
    ExplanationMeasures,
    ModelScores,
    add_model_scores,
    mean_explanation_interval,
    measure_explanations,
)
from engine.metrics.intervals import FEW, Interval, OverInstructions, mean_by_group
from engine.metrics.matching import Matched, Pair
from engine.metrics.mix import Mix
from engine.results.run_results import RunResults

_LABEL_KEYS = (  # the order in the JSON; what is not named here follows
    *("criterion", "items", "accuracy", "instructions", "interval", "rival", "lead"),
    *("kappa", "kappa_interval", "ac1", "ac1_interval", "macro_f1", "macro_f1_interval", "by_label"),
    *("confusion", "unscored", "predicted", "human", "flipped", "in_both_orders", "format_mass"),
    *("longer", "longer_human", "baselines"),
)
_MANY = 50_000  # items, whose criteria take more than a second each
_ACCURACY_DIGITS, _EXPLANATION_DIGITS = 2, 3  # as the task's script rounds them


@dataclass(frozen=True)
class Evaluation:
    """A system's measures by criterion; `explanations` is empty for a system that explains nothing."""

    matched: Matched
    labels: Mapping[str, LabelMeasures]
    explanations: Mapping[str, ExplanationMeasures]

    @property
    def name(self) -> str:
        return self.matched.system.name

    @cached_property
    def annotators(self) -> AnnotatorAgreement | None:
        """How far the annotators of a run and of the dataset agree; None where there are none."""
        system, dataset = self.matched.system, self.matched.dataset
        if system.results is not None:
            return agreement_of_annotators(system.results, dataset)
        # All labels of a large submission by their keys take more room than all else.
        return annotator_agreement(dataset, system.labels) if dataset.annotators else None

    @property
    def accuracy(self) -> float:
        """The mean accuracy (0 to 1) over the criteria."""
        return sum(measures.accuracy for measures in self.labels.values()) / len(self.labels)

    @cached_property
    def interval(self) -> Interval | None:
        """Of `accuracy`, over instructions; None for a single one."""
        over = self.mean_accuracy(self.labels)
        return over.share_interval() if over else None

    def mean_accuracy(self, criteria: Iterable[str]) -> OverInstructions | None:
        """What the mean accuracy over some criteria is a mean of; None for a single instruction."""
        return mean_accuracy_of({name: self.matched.pairs[name] for name in criteria})

    @cached_property
    def accuracy_by_instruction(self) -> Estimate | None:
        """The mean over the criteria of the mean over instructions of each one's accuracy (0 to 1): an
        instruction with six pairs counts as one with a single pair. None where all have as many pairs.
        """
        every = self.matched.pairs.items()
        groups = {name: [pair.item.group for pair in pairs] for name, pairs in every}
        if all(len({*Counter(of_one).values()}) < 2 for of_one in groups.values()):
            return None
        return mean_by_group(
            {name: np.array([is_right(pair) for pair in pairs], float) for name, pairs in every}, groups
        )

    @property
    def baseline(self) -> float:
        """The mean over the criteria of what the best baseline of each reaches (0 to 1)."""
        return sum(measures.rival_accuracy for measures in self.labels.values()) / len(self.labels)

    @property
    def values(self) -> dict[str, float | None]:
        """Measures of labels by name, 0 to 1 (kappa: -1 to 1): `accuracy` is the mean over the criteria,
        `safety:kappa` of one; `accuracy.low`, the lower end of its interval.
        """
        found = {"accuracy": Measured(self.accuracy, self.interval)}
        for name, one in self.labels.items():
            found[f"{name}:accuracy"] = Measured(one.accuracy, one.interval)
            found |= {f"{name}:{key}": getattr(one, key) for key in ("kappa", "ac1", "macro_f1")}
        lows = {f"{name}.low": each.interval and each.interval.low for name, each in found.items()}
        return {name: each.value for name, each in found.items()} | lows

    def explanation_mean(self, measure: str) -> float | None:
        """The mean over the criteria of a measure of ExplanationMeasures; None where one lacks it."""
        return mean_of(getattr(measures, measure) for measures in self.explanations.values())

    def explanation_interval(self, measure: str, criteria: Iterable[str] | None = None) -> Interval | None:
        """Of the mean of one of EXPLANATION_MEASURES (x 100) over `criteria`; None where one lacks it."""
        names = self.explanations if criteria is None else criteria
        found = [self.explanations[name] for name in names if name in self.explanations]
        return mean_explanation_interval(measure, found, self.matched.dataset.groups)


def wordless_in_words(explanations: Iterable[ExplanationMeasures]) -> str:
    """What is to be said of explanations that hold no word that ROUGE-L knows; empty where all hold one."""
    found = list(explanations)
    human, own = sum(one.wordless for one in found), sum(one.own_wordless for one in found)
    if not human + own:
        return ""
    of_human, given = sum(one.items for one in found), sum(one.items - one.unexplained for one in found)
    said = (
        f"ROUGE-L compares words of unaccented Latin characters and digits: {human:,} of {of_human:,}"
        f" human explanations and {own:,} of {given:,} of the system's have none, and score 0."
    )
    if left_out := ", ".join(words(one.criterion) for one in found if one.rouge_l is None):
        said += f" It is not measured on {left_out}, where most human ones hold none."
    return said


def evaluate(matched: Matched, model_scores: Mapping[str, ModelScores] | None = None) -> Evaluation:
    """Measure all criteria; `model_scores`: by criterion the scores that needed a model."""
    return followed(evaluating(matched, model_scores))


def evaluating(
    matched: Matched,
    model_scores: Mapping[str, ModelScores] | None = None,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, Evaluation]:
    """The same; of many items it tells how far it is. Raises Cancelled."""
    evaluation = yield from _measuring_labels(matched, cancel)
    for grown in explanation_steps(evaluation):
        evaluation = grown
    return with_model_scores(evaluation, model_scores) if model_scores else evaluation


def evaluate_labels(matched: Matched, cancel: CancelToken | None = None) -> Evaluation:
    """Measure the labels of all criteria alone: some seconds for thousands of items. Raises Cancelled."""
    return followed(_measuring_labels(matched, cancel))


def _measuring_labels(
    matched: Matched, cancel: CancelToken | None
) -> Generator[MeasureProgress, None, Evaluation]:
    labels = {}
    for done, (name, pairs) in enumerate(matched.pairs.items()):
        if matched.items >= _MANY:
            yield MeasureProgress(done, len(matched.pairs))
        if cancel is not None:
            cancel.raise_if_requested()
        labels[name] = measure_labels(name, pairs)
    return Evaluation(matched, labels, {})


def explanation_steps(evaluation: Evaluation) -> Iterator[Evaluation]:
    """The evaluation as it grows by the explanations of each criterion; nothing without explanations."""
    if evaluation.matched.system.explains:
        for name, pairs in evaluation.matched.pairs.items():
            measured = measure_explanations(name, pairs)
            if measured:
                evaluation = replace(evaluation, explanations={**evaluation.explanations, name: measured})
            yield evaluation


def with_model_scores(evaluation: Evaluation, model_scores: Mapping[str, ModelScores]) -> Evaluation:
    explanations, pairs = dict(evaluation.explanations), evaluation.matched.pairs
    for name in explanations.keys() & model_scores.keys():
        explanations[name] = add_model_scores(explanations[name], pairs[name], model_scores[name])
    return replace(evaluation, explanations=explanations)


def official_json(evaluation: Evaluation, judge_name: str | None = None) -> dict[str, Any]:
    """The scores under the keys of the task's script, in percent and rounded as there, and `details`.
    `judge_name`: the model that was asked for agreement, whose name is the key, as in the script.
    """
    scores: dict[str, Any] = {
        f"{name}_accuracy": round(100 * measures.accuracy, _ACCURACY_DIGITS)
        for name, measures in evaluation.labels.items()
    }
    for name, measures in evaluation.explanations.items():
        keys = {"rougeL": "rouge_l", "bertscore_f1": "bertscore", judge_name: "agreement"}
        for key, measure in keys.items():
            if (value := getattr(measures, measure)) is not None:
                scores[f"{name}_{key}"] = round(value, _EXPLANATION_DIGITS)
    return {**scores, "details": _details(evaluation, judge_name)}


def _details(evaluation: Evaluation, judge_name: str | None) -> dict[str, Any]:
    matched = evaluation.matched
    said: dict[str, dict[str, Any]] = {}
    for item in matched.dataset if matched.dataset.annotators else ():
        for criterion, gold in item.gold.items():
            if gold.annotators:
                said.setdefault(criterion, {})[item.id] = gold.said_json()
    return {
        "system": matched.system.name,
        "health": matched.system.health.as_json(),
        "caveats": [*([matched.joined] if matched.joined else []), *matched.caveats],
        "dataset": matched.dataset.name,
        "slice": matched.part or None,
        "items": matched.items,
        "missing_ids": list(matched.missing),
        "extra_ids": list(matched.extra),
        "judge_model": judge_name,
        "mean_accuracy": evaluation.accuracy,
        "mean_accuracy_interval": evaluation.interval,
        **_by_instruction_json(evaluation.accuracy_by_instruction),
        "mean_rougeL": evaluation.explanation_mean("rouge_l"),
        "mean_bertscore_f1": evaluation.explanation_mean("bertscore"),
        "mean_agreement": evaluation.explanation_mean("agreement"),
        "mean_explanation_intervals": {
            measure: evaluation.explanation_interval(measure)
            for measure in (EXPLANATION_MEASURES if evaluation.explanations else ())
        },
        "people": evaluation.annotators and evaluation.annotators.as_json(),
        **({"annotators": said} if said else {}),
        "labels": {name: _label_details(measures) for name, measures in evaluation.labels.items()},
        "wordless": wordless_in_words(evaluation.explanations.values()) or None,
        "explanations": {name: _plain(measures) for name, measures in evaluation.explanations.items()},
    }


def _by_instruction_json(found: Estimate | None) -> dict[str, Any]:
    return {} if found is None else {"mean_accuracy_by_instruction": [found.value, found.ends]}


def _plain(measures: LabelMeasures | ExplanationMeasures) -> dict[str, Any]:
    values = asdict(measures)
    # The key is older than the name.
    return {"format_mass" if name == "answer_mass" else name: value for name, value in values.items()}


def _label_details(measures: LabelMeasures) -> dict[str, Any]:
    columns = [*(label.value for label in labels_beside(measures.predicted)), UNSCORED]
    found = {"kappa": measures.kappa, "ac1": measures.ac1, "macro_f1": measures.macro_f1}
    details = {
        **_plain(measures),
        **{name: each.value for name, each in found.items()},
        **{f"{name}_interval": each.interval for name, each in found.items()},
        "by_label": {
            label.value: {
                f"{name}{suffix}": value
                for name, each in quality._asdict().items()
                for suffix, value in (("", each and each.value), ("_interval", each and each.ends))
            }
            for label, quality in measures.by_label.items()
        },
        "confusion": {
            human.value: dict(zip(columns, row, strict=True)) for human, row in measures.confusion.items()
        },
        "predicted": {label.value: count for label, count in measures.predicted.items()},
        "human": {label.value: count for label, count in measures.human.items()},
    }
    return {key: details[key] for key in (*_LABEL_KEYS, *details)}


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of values of which each may be None; None where one is, or there is none."""
    known = list(values)
    return None if None in known else mean(known)


@dataclass(frozen=True)
class Disagreement:
    """`lead`: how much likelier (0 to 1; of a `tie` it may be negative) the judge took its label than what
    agrees with the human one; None for a submission.
    """

    criterion: str
    pair: Pair
    human: HumanLabel
    predicted: HumanLabel
    lead: float | None


def largest_disagreements(evaluation: Evaluation, most: int = 20) -> list[Disagreement]:
    """The `most` with the greatest lead, then those without one, in the order of the dataset; none that are
    unscored, or labelled by annotators in the judge's place.
    """
    places = {item_id: place for place, item_id in enumerate(evaluation.matched.dataset.ids)}
    found = []
    for criterion, pairs in evaluation.matched.pairs.items():
        for pair in pairs:
            human, predicted, lead = pair.gold.label, pair.prediction.preference, None
            if pair.labelled_by_annotator or human is None or predicted is None or agree(predicted, human):
                continue
            if pair.judgment is not None and isinstance(predicted, Preference):
                probabilities = pair.judgment.probabilities
                lead = probabilities[PREFERENCES.index(predicted)] - probability_of(human, probabilities)
            found.append(Disagreement(criterion, pair, human, predicted, lead))
    # Sorting keeps the order of the criteria within an item.
    found.sort(
        key=lambda entry: (math.inf if entry.lead is None else -entry.lead, places[entry.pair.item.id])
    )
    return found[: max(0, most)]


@dataclass(frozen=True)
class SliceMeasures:
    """One slice. `items`: how many of its items the system answers, `labelled`: those with a human label, of
    so many `instructions`. `counts`: what its labels say by themselves, by criterion, and `measures` how they
    agree with annotators', empty without human labels. `over`: what `accuracy` is a mean of; None for one
    instruction.
    """

    part: Slice
    items: int
    labelled: int
    instructions: int
    counts: Mapping[str, LabelCounts]
    measures: Mapping[str, LabelMeasures]
    over: OverInstructions | None = None

    @property
    def accuracy(self) -> float | None:
        """The mean accuracy (0 to 1) over the criteria that have labels here."""
        return mean([found.accuracy for found in self.measures.values()])

    @property
    def interval(self) -> Interval | None:
        """Of `accuracy`, over instructions; None for a single one."""
        return self.over.share_interval() if self.over else None

    @property
    def most_frequent(self) -> float | None:
        """The mean over the criteria of the most-frequent-label baseline; None where one lacks it."""
        return mean_of(found.baselines.most_frequent for found in self.measures.values())

    @property
    def kappa(self) -> float | None:
        """The mean kappa over the criteria where there is one; none where everybody gives one label."""
        return mean(found.kappa.value for found in self.measures.values())

    @property
    def ties(self) -> float | None:
        """The share (0 to 1) of the system's labels that prefer neither response."""
        return _share_of_ties(found.predicted for found in self.counts.values())

    @property
    def human_ties(self) -> float | None:
        return _share_of_ties(found.human for found in self.measures.values())

    @property
    def flipped(self) -> float | None:
        """The share of judgments that the order of the responses decides, as the mean over the criteria."""
        return mean(found.flipped for found in self.counts.values())

    @property
    def in_both_orders(self) -> tuple[int, int]:
        """How many judgments were read in two orders, and how many the model scored."""
        pairs = [found.in_both_orders for found in self.counts.values()]
        return sum(twice for twice, _ in pairs), sum(scored for _, scored in pairs)

    @property
    def few(self) -> bool:
        """True where the labelled items have too few different instructions to say much."""
        return bool(self.measures) and self.instructions < FEW

    def as_json(self) -> dict[str, Any]:
        measured = ("accuracy", "interval", "kappa")
        own = ("items", "labelled", "few", *measured, "ties", "human_ties", "flipped")
        criteria = {
            name: {
                "labels": found.items,
                "accuracy": found.accuracy,
                "interval": found.interval,
                "kappa": found.kappa.value,
            }
            for name, found in self.measures.items()
        }
        more = {"in_both_orders": list(self.in_both_orders), "criteria": criteria}
        return self.part.as_json({**{each: getattr(self, each) for each in own}, **more})


SlicedMeasures = OfSlices[SliceMeasures]
"""The slices of a division in which a system answers any item."""


def measure_slices(matched: Matched, division: Slicing, cancel: CancelToken | None = None) -> SlicedMeasures:
    """The measures of each slice, of items that the system answers. Raises Cancelled."""
    slices_of: dict[str, list[int]] = {}
    for place, part in enumerate(division.slices):
        for item_id in part.ids:
            slices_of.setdefault(item_id, []).append(place)
    pairs: list[dict[str, list[Pair]]] = [{} for _ in division.slices]
    for name, found in matched.pairs.items():
        for pair in found:
            for place in slices_of.get(pair.item.id, ()):
                pairs[place].setdefault(name, []).append(pair)
    answered = {item_id for item_id in matched.dataset.ids if item_id in matched.system.rows}
    measured = []
    for part, of_slice in zip(division.slices, pairs, strict=True):
        if cancel is not None:
            cancel.raise_if_requested()
        if items := sum(item_id in answered for item_id in part.ids):
            measured.append(_measured(part, items, of_slice))
    return SlicedMeasures(division, tuple(measured))


def count_slices(results: RunResults, division: Slicing) -> SlicedMeasures:
    """What the labels of a run say by themselves in each slice, where there are no human ones."""
    counted = []
    for part in division.slices:
        alone = results.only(part.known)
        if alone.judged:
            counts = {count.criterion: count for count in count_run(alone)}
            counted.append(SliceMeasures(part, len(alone.judged), 0, 0, counts, {}))
    return SlicedMeasures(division, tuple(counted))


MEAN = "mean"


def mixed_accuracies(matched: Matched, mix: Mix) -> dict[str, Estimate]:
    """The accuracy on each criterion, and their mean, for a stated mix. SetupError for a slice of it without
    human labels.
    """
    values = {
        name: [(pair.item.id, pair.item.group, float(is_right(pair))) for pair in pairs]
        for name, pairs in matched.pairs.items()
    }
    of_each = {name: mix.rate({name: of_one}, f"label on {words(name)}") for name, of_one in values.items()}
    return {**of_each, MEAN: mix.rate(values)}


class AccuracyLead(NamedTuple):
    """How much more accurate one of two systems is, -1 to 1; `over`: None for a single instruction."""

    value: float
    over: OverInstructions | None

    @property
    def interval(self) -> Interval | None:
        return self.over.difference_interval() if self.over else None


def lead(one: Matched, other: Matched, part: Slice) -> AccuracyLead | None:
    """The lead on a slice, as the mean over the criteria of both; None where it has no human label."""
    differences: dict[str, list[float]] = {}
    instructions: dict[str, list[str]] = {}
    for name in one.pairs:
        theirs = {pair.item.id: is_right(pair) for pair in other.pairs.get(name, ())}
        both = [pair for pair in one.pairs[name] if pair.item.id in part.known and pair.item.id in theirs]
        if both:
            differences[name] = [float(is_right(pair)) - theirs[pair.item.id] for pair in both]
            instructions[name] = [pair.item.group for pair in both]
    found = mean([sum(values) / len(values) for values in differences.values()])
    if found is None:
        return None
    return AccuracyLead(found, OverInstructions.of(differences, instructions))


def _measured(part: Slice, items: int, pairs: Mapping[str, Sequence[Pair]]) -> SliceMeasures:
    measures = {name: measure_labels(name, of_one) for name, of_one in pairs.items()}
    labelled = {pair.item.id: pair.item.group for of_one in pairs.values() for pair in of_one}
    return SliceMeasures(
        part=part,
        items=items,
        labelled=len(labelled),
        instructions=len(set(labelled.values())),
        counts=measures,
        measures=measures,
        over=mean_accuracy_of(pairs),
    )


def _share_of_ties(counts: Iterable[Mapping[Preference, int] | Mapping[HumanLabel, int]]) -> float | None:
    """The mean over the criteria, of those with any label."""
    shares = []
    for of_one in counts:
        if total := sum(of_one.values()):
            ties = sum(count for label, count in of_one.items() if agree(label, Tie.TIE))
            shares.append(ties / total)
    return mean(shares)
