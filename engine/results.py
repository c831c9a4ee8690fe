"""A stored run in the forms that leave the store: judgments, a submission, JSON.

Knows: judged items and what each form holds. Does not know: SQL, how files are written, models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.calibration_file import Calibration, calibration_of
from engine.dataset import Dataset
from engine.metrics import CriterionScore, score_criterion
from engine.preference import decide
from engine.records import PREFERENCES, Explanation, JudgedItem, Judgment, Preference, Reading, Unscored
from engine.run_store import RunStore, StoredRun
from engine.settings import Mode
from engine.submission import Prediction, Submission, SubmissionRow


@dataclass(frozen=True)
class RunResults:
    """A run with all its judged items, decided; `calibration` is the one that its decisions are made with."""

    run: StoredRun
    judged: tuple[JudgedItem, ...]
    judgments: Mapping[str, tuple[Judgment | Unscored, ...]]  # by criterion, in the order of `judged`
    calibration: Calibration | None = None

    @property
    def unscored(self) -> int:
        """How many judgments could not be made."""
        return sum(isinstance(one, Unscored) for column in self.judgments.values() for one in column)

    @property
    def explains(self) -> bool:
        """True for a run that writes explanations."""
        return Mode(self.run.identity.settings["mode"]) is Mode.EXPLAIN

    @property
    def unexplained(self) -> int:
        """How many judgments of an explaining run have no explanation."""
        if not self.explains:
            return 0
        columns = self.judgments.values()
        return sum(
            isinstance(one, Judgment) and one.explanation is None for column in columns for one in column
        )

    @property
    def outdated(self) -> int:
        """How many explanations were written for another label than the one decided now."""
        columns = self.judgments.values()
        return sum(isinstance(one, Judgment) and one.outdated for column in columns for one in column)

    def calibrated(self, calibration: Calibration | None) -> "RunResults":
        """The same readings, decided with another calibration, or with none."""
        by_criterion = calibration.criteria if calibration else {}
        judgments = {
            name: tuple(decide(item, name, by_criterion.get(name)) for item in self.judged)
            for name in self.run.identity.criteria
        }
        return replace(self, judgments=judgments, calibration=calibration)


def load_results(store: RunStore, run_id: int) -> RunResults:
    """A run's judged items with their decisions, calibrated where the run is. Raises StoreError."""
    run = store.run(run_id)
    calibration = calibration_of(run.calibration) if run.calibration else None
    return RunResults(run, tuple(store.judged(run_id)), {}).calibrated(calibration)


def submission_of(results: RunResults) -> Submission:
    """The run's predictions: with explanations where it made them; unscored ones are empty."""
    rows = []
    for index, item in enumerate(results.judged):
        predictions = {name: _prediction(column[index]) for name, column in results.judgments.items()}
        rows.append(SubmissionRow(item.item_id, predictions))
    return Submission(
        rows=tuple(rows),
        criteria=results.run.identity.criteria,
        with_explanations=results.explains,
    )


def score_results(results: RunResults, dataset: Dataset | None) -> list[CriterionScore]:
    """Scores of each criterion against a dataset's human labels; without one, only what needs none."""
    wanted = {item.item_id for item in results.judged}
    gold: dict[str, dict[str, Preference]] = {criterion: {} for criterion in results.judgments}
    for item in dataset or ():
        if item.id not in wanted:
            continue
        for criterion, label in item.gold.items():
            if criterion in gold and label.preference is not None:
                gold[criterion][item.id] = label.preference
    return [
        score_criterion(criterion, column, gold[criterion]) for criterion, column in results.judgments.items()
    ]


def as_json(results: RunResults) -> dict[str, Any]:
    """All that is known of a run, as plain values: how it was made, and every judgment with its readings."""
    run = results.run
    identity = run.identity
    return {
        "run": {
            "id": run.id,
            "created": run.created.isoformat(),
            "complete": run.complete,
            "items": identity.items,
            "judged": run.judged,
            "dataset": {"path": str(identity.dataset_path), "hash": identity.dataset_hash},
            "model": {"name": identity.model_name, "sha256": identity.model_hash},
            "prompt_version": identity.prompt_version,
            "settings": dict(identity.settings),
            "made_with": dict(run.manifest),
            "calibration": results.calibration and results.calibration.as_json(),
        },
        "items": [
            _item_json(item, {name: column[index] for name, column in results.judgments.items()})
            for index, item in enumerate(results.judged)
        ],
    }


def _prediction(judgment: Judgment | Unscored) -> Prediction:
    if isinstance(judgment, Unscored):
        return Prediction(None, None)
    explanation = judgment.explanation
    return Prediction(judgment.preference, explanation.text if explanation else None)


def _item_json(item: JudgedItem, judgments: Mapping[str, Judgment | Unscored]) -> dict[str, Any]:
    shortening = item.shortening
    return {
        "id": item.item_id,
        "position": item.position,
        "content_hash": item.content_hash,
        "seconds": round(item.seconds, 4),
        "tokens_read": item.tokens_read,
        "tokens_generated": item.tokens_generated,
        "shortened": shortening and {"a": shortening.left_out_a, "b": shortening.left_out_b},
        "judgments": {name: _judgment_json(judgment) for name, judgment in judgments.items()},
    }


def _judgment_json(judgment: Judgment | Unscored) -> dict[str, Any]:
    if isinstance(judgment, Unscored):
        return {"preference": None, "unscored": judgment.reason}
    return {
        "preference": judgment.preference.value,
        "probabilities": _by_label(judgment.probabilities),
        "flipped": judgment.flipped,
        "format_mass": judgment.format_mass,
        "readings": [_reading_json(reading) for reading in judgment.readings],
        "explanation": _explanation_json(judgment.explanation),
        "explanation_outdated": judgment.outdated,
    }


def _reading_json(reading: Reading) -> dict[str, Any]:
    return {
        "order": reading.order.value,
        "log_probabilities_as_seen": _by_label(reading.log_probs),
        "format_mass": reading.format_mass,
    }


def _explanation_json(explanation: Explanation | None) -> dict[str, Any] | None:
    if explanation is None:
        return None
    return {"text": explanation.text, "for": explanation.preference.value, "cut": explanation.cut}


def _by_label(values: Sequence[float]) -> dict[str, float]:
    return {label.value: value for label, value in zip(PREFERENCES, values, strict=True)}
