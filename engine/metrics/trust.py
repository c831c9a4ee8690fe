"""Which judgments may stand: the threshold of a judge's confidence above which its labels agree with people's
in at least a target share, at a stated risk of being wrong about that.

The thresholds are tested on labels of a random part, each by an exact binomial test of as many independent
labels as the clustered ones are worth (`intervals.py`), in the order of the fallback procedure (Wiens 2003;
Wiens and Dmitrienko 2005), which keeps the risk of all tests together. The idea: Jung, Brahman and Choi,
Trust or Escalate (arXiv 2407.18370). Simulated: `bench/coverage/trust.py`.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Self

import numpy as np

from engine.core.errors import Hint, SetupError, Step
from engine.core.items import Gold, HumanLabel, agree
from engine.core.judgments import Origin
from engine.core.numeric import FloatArray, chance_of_share
from engine.core.tables import Estimate
from engine.data.label_origins import label_origins
from engine.metrics.intervals import FEW, OverInstructions, share
from engine.metrics.matching import Matched, Pair, System

TARGET, RISK = 0.85, 0.1
_QUANTILES = tuple(place / 10 for place in range(9, -1, -1))
_MOST_TIMES = 1e4  # so many times the labels are no answer to how many more are needed


@dataclass(frozen=True)
class LabelledPart:
    """The labelled items, drawn at random. `confidence`: the judge's, from a calibration that saw none of
    their labels; `agreement`: which share of an item's people gave the judge's label, 0 to 1; `instructions`:
    of each. All of shape (items,).
    """

    confidence: FloatArray
    agreement: FloatArray
    instructions: Sequence[Hashable]

    def above(self, confidence: float) -> "LabelledPart":
        kept = np.flatnonzero(self.confidence >= confidence).tolist()
        groups = [self.instructions[place] for place in kept]
        return LabelledPart(self.confidence[kept], self.agreement[kept], groups)

    @property
    def over_instructions(self) -> OverInstructions | None:
        return OverInstructions.of_one(self.agreement.tolist(), self.instructions)


@dataclass(frozen=True)
class Threshold:
    """What may stand if all from `confidence` on may. `accepted`: the share of all judged items; `labels`:
    how many of these are labelled; `agreement`: of those. `p`: how probable so much agreement is if the true
    one is just below the target. `level`: at which it was tested; None if the labels are too few for a test.
    """

    confidence: float
    accepted: float
    labels: int
    agreement: Estimate | None
    p: float
    level: float | None = None
    more_labels: int | None = None

    @property
    def passed(self) -> bool:
        return self.level is not None and self.p <= self.level


@dataclass(frozen=True)
class Trust:
    """`thresholds`: from the highest confidence to the lowest. `taken`: the lowest that passed its test."""

    target: float
    risk: float
    labels: int
    thresholds: tuple[Threshold, ...]

    @property
    def taken(self) -> Threshold | None:
        return next((each for each in reversed(self.thresholds) if each.passed), None)

    @property
    def more_labels(self) -> int | None:
        """How many more labels would let something stand, if agreement stays as seen; None if none would."""
        return min(
            (each.more_labels for each in self.thresholds if each.more_labels is not None), default=None
        )

    @classmethod
    def of(cls, judged: FloatArray, part: LabelledPart, target: float = TARGET, risk: float = RISK) -> Self:
        """`judged`: the confidence of all judged items, labelled ones too, shape (items,). The thresholds are
        quantiles of these, so no label has a part in which they are.
        """
        places = dict.fromkeys(float(np.quantile(judged, each, method="higher")) for each in _QUANTILES)
        tested = [_tested(at, judged, part, target, risk) for at in sorted(places, reverse=True)]
        return cls(target, risk, len(part.agreement), tuple(_with_levels(tested, risk)))


@dataclass(frozen=True)
class _Tested:
    threshold: Threshold
    can_pass: bool


def _tested(at: float, judged: FloatArray, part: LabelledPart, target: float, risk: float) -> _Tested:
    above = part.above(at)
    found = above.over_instructions
    accepted = float(np.mean(judged >= at))
    labels = len(above.agreement)
    if found is None:
        return _Tested(Threshold(at, accepted, labels, None, 1.0), can_pass=False)
    at_best = OverInstructions.of_one([1.0] * labels, above.instructions)
    assert at_best is not None
    # By counts alone: how the labels turned out has no part in which thresholds are tested.
    can_pass = found.instructions >= FEW and at_best.p_share_above(target) <= risk / 2
    threshold = Threshold(
        at,
        accepted,
        labels,
        Estimate(found.mean, found.share_interval()),
        found.p_share_above(target),
        more_labels=_more_labels(found, len(part.agreement), target, risk / 2),
    )
    return _Tested(threshold, can_pass)


def _more_labels(found: OverInstructions, labels: int, target: float, level: float) -> int | None:
    """How many more labels of all items make a test pass, if what was accepted agrees as these do."""
    worth = found.worth_of_share

    def passes(times: float) -> bool:
        return chance_of_share(found.mean, worth * times, target) <= level

    if found.mean <= target or not passes(_MOST_TIMES):
        return None
    low, high = 1.0, _MOST_TIMES
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if passes(middle) else (middle, high)
    return max(math.ceil(labels * (high - 1)), 1)


def _with_levels(tested: Sequence[_Tested], risk: float) -> list[Threshold]:
    """The fallback procedure: half of the risk is for the first threshold that can be tested, half for the
    middle one; each is tested at its own share and what the one before handed on, which is all if it passed.
    """
    able = [place for place, each in enumerate(tested) if each.can_pass]
    found, handed_on = [], 0.0
    for place, each in enumerate(tested):
        threshold = each.threshold
        if each.can_pass:
            own = risk / 2 * ((place == able[0]) + (place == able[len(able) // 2]))
            level = own + handed_on
            handed_on = level if threshold.p <= level else 0.0
            threshold = replace(threshold, level=level)
        found.append(threshold)
    return found


@dataclass(frozen=True)
class CriterionTrust:
    """`trust`: None with fewer labels than can be tested. `most_frequent`: how often the most frequent label
    of people would agree on the accepted items. `picked`: labels that annotators gave to items of their
    choice, which no part of a random sample are and do not count.
    """

    trust: Trust
    most_frequent: Estimate | None
    picked: int


def trust_of(matched: Matched, target: float = TARGET, risk: float = RISK) -> dict[str, CriterionTrust]:
    """By criterion, of a run's or jury's own labels, or those of another judge that says how confident it is.
    SetupError where its confidence is not known, or was fitted to these labels without leaving each out.
    """
    _check_fit(matched)
    found = {}
    for name, pairs in matched.pairs.items():
        confidence = _confidences(matched.system, name)
        origins = label_origins(matched.dataset, name) or {}
        known = [pair for pair in pairs if pair.gold.label and pair.item.id in confidence]
        drawn = [pair for pair in known if origins.get(pair.item.id, Origin.RANDOM) is Origin.RANDOM]
        part = LabelledPart(
            np.array([confidence[pair.item.id] for pair in drawn]),
            np.array([_agreement(pair.prediction.preference, pair.gold) for pair in drawn]),
            [pair.item.group for pair in drawn],
        )
        trust = Trust.of(np.array([*confidence.values()]), part, target, risk)
        found[name] = CriterionTrust(trust, _most_frequent(drawn, confidence, trust), len(known) - len(drawn))
    return found


def _confidences(system: System, criterion: str) -> dict[str, float]:
    """By item, how confident the judge is of the label that it gave, 0 to 1."""
    if system.judgments:
        return {
            key.item_id: max(judgment.probabilities)
            for key, judgment in system.judgments.items()
            if key.criterion == criterion
        }
    said = ((row.id, row.predictions.get(criterion)) for row in system.submission.rows)
    sure = {item_id: given.confidence for item_id, given in said if given and given.preference}
    if not any(value is not None for value in sure.values()):
        raise SetupError(
            f"{system.name} does not say how confident its judge is, so which of its labels may stand is not"
            " known.",
            Hint(Step.CHOOSE_RUN, ", or a file with a column “confidence”."),
        )
    return {item_id: value for item_id, value in sure.items() if value is not None}


def _agreement(given: HumanLabel | None, gold: Gold) -> float:
    """The share of an item's people who agree with a label, 0 to 1."""
    return fmean(agree(given, label) for label in gold.annotators.values() or (gold.label,))


def _most_frequent(pairs: Sequence[Pair], confidence: Mapping[str, float], trust: Trust) -> Estimate | None:
    if trust.taken is None:
        return None
    kept = [pair for pair in pairs if confidence[pair.item.id] >= trust.taken.confidence]
    label = Counter(pair.gold.label for pair in kept).most_common(1)[0][0]
    return share([_agreement(label, pair.gold) for pair in kept], [pair.item.group for pair in kept])


def _check_fit(matched: Matched) -> None:
    results = matched.system.results
    calibration = results.calibration if results is not None else None
    if calibration is None or all(fitted.folds for fitted in calibration.criteria.values()):
        return
    overlap = calibration.fitted_on and calibration.fitted_on.overlap(matched.items_of_both)
    if overlap is None or overlap.items or overlap.instructions:
        raise SetupError(
            f"The calibration of {matched.system.name} was fitted to these labels: its confidence on them is"
            " too good.",
            Hint("Calibrate it again, or take labels of other items."),
        )
