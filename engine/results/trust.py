"""Which judgments of a run may stand: how confident its judge is of each, the thresholds that were found and
kept with the run, and the run by these labels alone, for exports. Does not know: how a threshold is found
(`engine/metrics/trust.py`).
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum

import msgspec
import numpy as np

from engine.core.codec import record_or
from engine.core.errors import Hint, SetupError, Step
from engine.core.formatting import capitalised, counted, number, percent, words
from engine.core.items import PREFERENCES, Method, Order, Preference
from engine.core.judgments import AnyJudgment, Judgment, JudgmentKey, RawPrediction, Share, Unscored
from engine.results.run_results import RunResults
from engine.settings.identity import TRUST, StoredRun
from engine.store.run_store import RunStore


class ConfidenceMeasure(StrEnum):
    """How sure a judge is of a label. PROBABILITY: of that label, calibrated where the run is. AGREEMENT: the
    same, times the share of its orders, methods, reasoning samples and judges that give the label alone.
    """

    PROBABILITY = "probability"
    AGREEMENT = "agreement"

    def of(self, judgment: Judgment) -> float:
        """0 to 1."""
        probability = max(judgment.probabilities)
        if self is ConfidenceMeasure.PROBABILITY:
            return probability
        labels = [label for reading in judgment.raw_predictions for label in _labels_alone(reading)]
        return probability * (labels.count(judgment.preference) / len(labels) if labels else 0.0)


BOTH = "both"
CONFIDENCES = (*ConfidenceMeasure, BOTH)


def confidences(choice: str) -> tuple[ConfidenceMeasure, ...]:
    """The measures of one of CONFIDENCES."""
    return tuple(ConfidenceMeasure) if choice == BOTH else (ConfidenceMeasure(choice),)


def _labels_alone(reading: RawPrediction) -> Iterator[Preference]:
    """The label of a raw prediction by itself; of reasoning that of each sample."""
    sampled = reading.method is Method.CHAIN_OF_THOUGHT and reading.answers
    for said in [each.log_probs for each in reading.answers] if sampled else [reading.log_probs]:
        if all(map(math.isfinite, said)):
            label = PREFERENCES[int(np.argmax(said))]
            yield label if reading.order is Order.AB else label.swapped


class KeptThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """Of a criterion. `confidence`: from which on labels may stand, None where none may; `accepted`: the
    share of all judged items whose label may; `agreement`: with people, of `labels` among these. `tested`:
    the same of each threshold that was looked at, from the highest to the lowest.
    """

    confidence: float | None
    measure: ConfidenceMeasure = ConfidenceMeasure.PROBABILITY
    accepted: Share = 0.0
    agreement: Share | None = None
    agreement_interval: tuple[Share, Share] | None = None
    labels: int = 0
    tested: tuple["KeptThreshold", ...] = ()

    @property
    def in_words(self) -> str:
        if self.confidence is None:
            return "none"
        seen = f"{percent(self.agreement)} agree in {counted(self.labels, 'human label', 'human labels')}"
        return f"from {number(self.confidence, 3)} on ({percent(self.accepted)} of all labels; {seen})"

    def accepts(self, judgment: Judgment) -> bool:
        return self.confidence is not None and self.measure.of(judgment) >= self.confidence


class KeptTrust(msgspec.Struct, frozen=True, kw_only=True):
    """`target`: the share of labels that agree with people; `risk`: of being wrong about that, of each
    criterion, or of all where `jointly`. `dataset`: whose labels these are. `calibration`: the hash of that
    of the run; the thresholds hold for no other.
    """

    target: Share
    risk: Share
    dataset: str
    calibration: str | None
    criteria: Mapping[str, KeptThreshold]
    jointly: bool = False
    anytime: bool = False

    @property
    def in_words(self) -> str:
        agree = f"at least {percent(self.target)} of these labels agree with people"
        of = "all criteria together" if self.jointly else "each criterion"
        return f"{agree}, at a risk of {percent(self.risk)} for {of}"

    @property
    def thresholds_in_words(self) -> str:
        return "; ".join(f"{words(name)} {at.in_words}" for name, at in self.criteria.items())

    def keep(self, store: RunStore, run_id: int) -> StoredRun:
        """With the run, in the place of earlier ones. RunBusyError, StoreError."""
        with store.hold(run_id) as run:
            store.describe(run.id, {**run.manifest, TRUST: msgspec.to_builtins(self)})
        return store.run(run_id)


def kept_trust(results: RunResults) -> KeptTrust:
    """SetupError where none are kept with a run, or where it is calibrated otherwise by now."""
    run = results.run
    kept: KeptTrust | None = record_or(run.manifest.get(TRUST), KeptTrust, None)
    if kept is None:
        raise SetupError(f"Which labels of {run.called} may stand is not known.", Hint(Step.TRUST))
    if kept.calibration != (results.calibration and results.calibration.hash):
        raise SetupError(
            f"{run.title} is calibrated otherwise than when it was found which of its labels may stand.",
            Hint(Step.TRUST),
        )
    # The store sorts names; a run has its own order.
    named = {name: kept.criteria[name] for name in run.identity.criteria if name in kept.criteria}
    return msgspec.structs.replace(kept, criteria=named)


def may_stand(results: RunResults, kept: KeptTrust) -> frozenset[JudgmentKey]:
    """The judgments of a confidence that is enough, and those whose label annotators gave or accepted."""
    return frozenset(
        judgment.key
        for name, column in results.judgments.items()
        for judgment in column
        if results.label_by(judgment)
        or (
            isinstance(judgment, Judgment) and name in kept.criteria and kept.criteria[name].accepts(judgment)
        )
    )


def escalated(results: RunResults, kept: KeptTrust) -> tuple[str, ...]:
    """The ids of the items of which not every judgment may stand, in the order of the run."""
    stand = may_stand(results, kept)
    return tuple(
        item.item_id
        for item in results.judged
        if any(JudgmentKey(item.item_id, name) not in stand for name in results.judgments)
    )


_MAY_NOT_STAND = "the label may not stand: the judge is not confident enough"


def valid_trust(results: RunResults) -> KeptTrust | None:
    """What is kept with a run of its labels that may stand; None where nothing is, or it holds no more."""
    with suppress(SetupError):
        return kept_trust(results)
    return None


def accepted_only(results: RunResults) -> RunResults:
    """The same where what may not stand is unscored. SetupError as `kept_trust` raises it."""
    stand = may_stand(results, kept_trust(results))

    def kept(judgment: AnyJudgment) -> AnyJudgment:
        if judgment.key in stand or isinstance(judgment, Unscored):
            return judgment
        return Unscored(judgment.item_id, judgment.criterion, _MAY_NOT_STAND)

    judgments = {name: tuple(map(kept, column)) for name, column in results.judgments.items()}
    return replace(results, judgments=judgments, whole=results.whole or results)


def without_label(results: RunResults, criterion: str) -> str:
    """`2 without a label`; of `accepted_only` results `2 without a label, 40 whose label may not stand`."""
    lacking = [each for each in results.judgments[criterion] if results.label(each) is None]
    barred = sum(map(_is_barred, lacking))
    also = f", {barred:,} whose label may not stand" if barred else ""
    return f"{len(lacking) - barred:,} without a label{also}"


def accepted_in_words(results: RunResults) -> Iterator[str]:
    """Of `accepted_only` results, what was promised, and how many labels are left out by which threshold."""
    kept = kept_trust(results)
    yield f"Only labels that may stand: {kept.in_words}."
    for name, column in results.judgments.items():
        found, barred = kept.criteria.get(name), sum(map(_is_barred, column))
        left = counted(barred, "label is", "labels are")
        yield f"{capitalised(words(name))}: {found.in_words if found else 'none'}; {left} left out."


def _is_barred(judgment: AnyJudgment) -> bool:
    return isinstance(judgment, Unscored) and judgment.reason == _MAY_NOT_STAND
