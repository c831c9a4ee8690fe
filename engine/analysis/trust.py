"""Which judgments of a system may stand, by human labels of a random part of its items; what more labels
would let stand. Does not know: how anything is shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np
from msgspec import structs

from engine.core.codec import record_or
from engine.core.errors import Given, Hint, SetupError, Step
from engine.core.events import CancelToken
from engine.core.formatting import counted, listed, words
from engine.core.items import HUMAN_LABELS, HumanLabel, agree, digest
from engine.core.judgments import FittedOn, Judgment, short_hash
from engine.core.numeric import FloatArray
from engine.core.tables import Estimate
from engine.data.dataset import Dataset
from engine.data.label_origins import in_drawn_order
from engine.metrics.annotator_agreement import annotators_against_others
from engine.metrics.intervals import share
from engine.metrics.matching import System
from engine.metrics.trust import (
    UNSCORED,
    JudgedConfidence,
    Promise,
    Threshold,
    Trust,
    TrustForecast,
    TrustSample,
    forecast,
)
from engine.ranking.labelled_part import labelled_already, labelled_part
from engine.results.trust import ConfidenceMeasure, KeptThreshold, KeptTrust
from engine.settings.identity import EXAMPLES_SHOWN
from engine.settings.sampling import DEFAULT_SEED


@dataclass(frozen=True)
class TrustRequest:
    """`systems`: the judge, then those that an item reaches where the one before is not confident enough.
    `gold`: the dataset, with or without labels. `confidences`: how sure the judge is, each measure at its
    part of the risk. `jointly`: the risk is of all criteria together, else of each.
    """

    systems: Sequence[System]
    gold: Dataset
    promise: Promise = field(default_factory=Promise)
    confidences: Sequence[ConfidenceMeasure] = (ConfidenceMeasure.PROBABILITY,)
    jointly: bool = False
    forecasts: bool = False

    def check(self) -> None:
        """SetupError for numbers that promise nothing."""
        for name, value in (("target", self.promise.target), ("risk", self.promise.risk)):
            if not 0 < value < 1:
                raise SetupError(Hint(Given(name), f" is {value:g}."), "It is between 0 and 1.")


@dataclass(frozen=True)
class CriterionTrust:
    """`trust`: by the measure of confidence that lets most stand. `by_judge`: the share of all judged items
    that each judge decides, 0 to 1. `most_frequent`: how often the most frequent label of people agrees with
    them on what may stand; `people`: how often one of them agrees with the others, None without several.
    `remarks`: sentences on the labels; `refused`: why none of them count. `labelled`: see `labelled_already`.
    """

    trust: Trust | None
    confidence: ConfidenceMeasure = ConfidenceMeasure.PROBABILITY
    by_judge: tuple[float, ...] = ()
    most_frequent: Estimate | None = None
    people: Estimate | None = None
    forecasts: Sequence[TrustForecast] = ()
    remarks: tuple[str, ...] = ()
    refused: SetupError | None = None
    labelled: frozenset[str] = frozenset()

    @property
    def taken(self) -> Threshold | None:
        return self.trust.taken if self.trust else None

    @property
    def accepted(self) -> float:
        return self.trust.accepted if self.trust else 0.0

    @property
    def kept(self) -> KeptThreshold:
        tested = tuple(self._kept(each) for each in self.trust.thresholds) if self.trust else ()
        return structs.replace(self._kept(self.taken), tested=tested)

    def _kept(self, at: Threshold | None) -> KeptThreshold:
        if at is None:
            return KeptThreshold(confidence=None)
        return KeptThreshold(
            confidence=at.confidence,
            measure=self.confidence,
            accepted=at.accepted,
            agreement=at.agreement.value if at.agreement else None,
            agreement_interval=at.agreement.ends if at.agreement else None,
            labels=at.labels,
        )


@dataclass(frozen=True)
class Trusted:
    request: TrustRequest
    criteria: Mapping[str, CriterionTrust]

    @property
    def kept(self) -> KeptTrust:
        """As it is kept with the run of the only judge."""
        results, promise = self.request.systems[0].results, self.request.promise
        return KeptTrust(
            target=promise.target,
            risk=promise.risk,
            dataset=self.request.gold.name,
            calibration=results.calibration.hash if results and results.calibration else None,
            criteria={name: found.kept for name, found in self.criteria.items()},
            jointly=self.request.jointly,
            anytime=promise.anytime,
        )


def trust_of(request: TrustRequest, cancel: CancelToken) -> Trusted:
    """By criterion of the judge. SetupError for a judge that does not say how confident it is; where no
    criterion has labels that count, the reason. Cancelled.
    """
    request.check()
    first = request.systems[0]
    names = [name for name in first.criteria if all(name in each.criteria for each in request.systems)]
    if not names:
        systems = listed([each.name for each in request.systems])
        raise SetupError(f"{systems} have no criterion in common.", Hint(Step.CHOOSE_JUDGES, "."))
    tests = len(request.confidences) * (len(names) if request.jointly else 1)
    promise = replace(request.promise, risk=request.promise.risk / tests)
    answered = set.intersection(*({*system.rows} for system in request.systems))
    dataset = request.gold.only(answered)
    leaked = frozenset(chain.from_iterable(_shown_to(system, dataset) for system in request.systems))
    found = {}
    for name in names:
        cancel.raise_if_requested()
        try:
            found[name] = _of_criterion(request, name, promise, dataset, leaked)
        except SetupError as error:
            found[name] = CriterionTrust(None, refused=error)
    refused = [each.refused for each in found.values() if each.refused]
    if len(refused) == len(found):
        raise refused[0]
    return Trusted(request, found)


def _of_criterion(
    request: TrustRequest, name: str, promise: Promise, dataset: Dataset, leaked: frozenset[str]
) -> CriterionTrust:
    """By the labels of a `dataset` of what all judges answered, but for the `leaked` ids."""
    first = request.systems[0]
    part = labelled_part(first, dataset, name)
    if part is None:
        raise SetupError(
            f"There are no human labels on {words(name)} that count.",
            Hint("Label items of a random sample: ", Step.LABEL_AT_RANDOM),
        )
    labelled = {
        item_id for item_id, said in zip(dataset.ids, part.said, strict=True) if not np.isnan(said[0])
    }
    ids = in_drawn_order((labelled | part.missing) - leaked, DEFAULT_SEED)
    sample = _Sample(dataset, ids, part.said)
    found = [_by_measure(request, name, measure, sample, promise) for measure in request.confidences]
    best, judged, labels = max(found, key=lambda each: each[0].accepted)
    annotators = annotators_against_others(first.results, dataset, [name])
    return replace(
        best,
        forecasts=forecast(judged, labels, promise) if request.forecasts else (),
        labelled=frozenset(labelled_already(first, dataset, name, part)),
        people=annotators[0].own if annotators else None,
        remarks=(*part.remarks, *_remarks(len(part.missing - leaked), len(leaked & labelled))),
    )


@dataclass(frozen=True)
class _Sample:
    """The labelled items of a dataset by their `ids`; `said`: of all items of it, shape (items, 5)."""

    dataset: Dataset
    ids: Sequence[str]
    said: FloatArray

    @cached_property
    def places(self) -> list[int]:
        place_of = {item_id: place for place, item_id in enumerate(self.dataset.ids)}
        return [place_of[item_id] for item_id in self.ids]

    def agreement(self, labels: Sequence[HumanLabel | None]) -> list[float]:
        """The share of each item's people who gave its label; 0 for an item that nobody labelled, as if all
        had said something else.
        """
        found = []
        for place, given in zip(self.places, labels, strict=True):
            agreeing = [agree(given, label) for label in HUMAN_LABELS]
            found.append(float(np.nan_to_num(self.said[place])[agreeing].sum()))
        return found


def _by_measure(
    request: TrustRequest, name: str, measure: ConfidenceMeasure, sample: _Sample, promise: Promise
) -> tuple[CriterionTrust, JudgedConfidence, TrustSample]:
    confidence, agreement = [], []
    for system in request.systems:
        labels, sure = _answers(system, name, measure)
        confidence.append([sure.get(item_id, UNSCORED) for item_id in sample.dataset.ids])
        agreement.append(sample.agreement([labels.get(item_id) for item_id in sample.ids]))
    groups, every = list(sample.dataset.group_column), np.array(confidence)
    judged = JudgedConfidence(every, groups)
    instructions = [groups[place] for place in sample.places]
    part = TrustSample(every[:, sample.places], np.array(agreement), instructions)
    trust = Trust.of(judged, part, promise)
    taken = trust.taken
    by_judge = tuple(judged.decided_by(taken.confidence).tolist()) if taken else ()
    most_frequent = _most_frequent(sample, part, taken) if taken else None
    return CriterionTrust(trust, measure, by_judge, most_frequent), judged, part


def _answers(
    system: System, criterion: str, measure: ConfidenceMeasure
) -> tuple[dict[str, HumanLabel], dict[str, float]]:
    """By item, the judge's own label, and how sure it is of it. SetupError where it does not say that."""
    results = system.results
    if results is not None and not results.run.submitted:
        given = [each for each in results.judgments[criterion] if isinstance(each, Judgment)]
        sure = {each.item_id: measure.of(each) for each in given}
        return {each.item_id: each.preference for each in given}, sure
    labels, confidence = dict[str, HumanLabel](), dict[str, float]()
    for item_id, row in system.rows.items():
        said = row.predictions[criterion]
        if said.preference and said.confidence is not None:
            labels[item_id], confidence[item_id] = said.preference, said.confidence
    if not labels:
        raise SetupError(
            f"{system.name} does not say how confident its judge is, so which of its labels may stand is not"
            " known.",
            Hint(Step.CHOOSE_RUN, ", or a file with a column “confidence”."),
        )
    return labels, confidence


def _shown_to(system: System, dataset: Dataset) -> frozenset[str]:
    """The ids of the items whose labels, or those of their instruction, a judge saw as examples. SetupError
    where its calibration was fitted to labels of the dataset without leaving each out.
    """
    results = system.results
    if results is None or results.run.submitted:
        return frozenset()
    calibration = results.calibration
    if calibration is not None and not calibration.leaves_out:
        overlap = calibration.fitted_on and calibration.fitted_on.overlap(dataset)
        if overlap is None or overlap.items or overlap.instructions:
            raise SetupError(
                f"The calibration of {system.name} was fitted to these labels: its confidence on them is too"
                " good.",
                Hint("Calibrate it again, or take labels of other items."),
            )
    if not results.run.identity.examples:
        return frozenset()
    shown = record_or(results.run.manifest.get(EXAMPLES_SHOWN), FittedOn, None)
    if shown is None:
        raise SetupError(
            f"{system.name} was shown labelled examples, and an earlier version did not keep which.",
            "Judge again, or take a run without examples.",
        )
    instructions = frozenset(shown.instructions)  # those of its items are among them
    return frozenset(item.id for item in dataset if short_hash(digest(item.group)) in instructions)


def _most_frequent(sample: _Sample, part: TrustSample, taken: Threshold) -> Estimate:
    kept = np.flatnonzero((part.confidence >= taken.confidence).any(axis=0)).tolist()
    said = sample.said[[sample.places[place] for place in kept]]
    label = HUMAN_LABELS[int(np.nan_to_num(said).sum(axis=0).argmax())]
    agreement = sample.agreement([label] * len(sample.ids))
    return share([agreement[place] for place in kept], [part.instructions[place] for place in kept])


def _remarks(missing: int, leaked: int) -> Iterator[str]:
    if missing:
        items = counted(missing, "item of the sample has", "items of the sample have")
        yield f"{items} no label, and count as if people had said otherwise."
    if leaked:
        labels = counted(leaked, "label counts", "labels count")
        yield f"{labels} for nothing here: the judge saw labels of these instructions as examples."
