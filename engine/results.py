"""A stored run in the forms that leave the store: judgments, a submission, JSON.

Knows: judged items and what each form holds. Does not know: SQL, how files are written, models.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from engine.calibration_file import Calibration, calibration_of
from engine.core.items import PREFERENCES, Prediction, Preference
from engine.core.judgments import Explanation, JudgedItem, Judgment, Override, Reading, Unscored
from engine.core.overrides import OverrideCount, count_overrides, in_force
from engine.core.run_records import StoredRun
from engine.core.settings import Mode
from engine.data.dataset import Dataset
from engine.data.submission import Submission, SubmissionRow
from engine.metrics import CriterionScore, score_criterion
from engine.preference import decide_all
from engine.run_store import RunStore


@dataclass(frozen=True)
class RunResults:
    """A run with all its judged items, decided; `calibration` is the one that its decisions are made with.

    `judgments`: the model's own, by criterion, in the order of `judged`. `overrides`: those in force, by
    criterion and item id. A label or explanation is in force where it is a person's, or the model's own and
    no person's stands in its place. Of what the model wrote, the text for the label in force counts, and its
    first one where there is none.
    """

    run: StoredRun
    judged: tuple[JudgedItem, ...]
    judgments: Mapping[str, tuple[Judgment | Unscored, ...]]
    calibration: Calibration | None = None
    overrides: Mapping[tuple[str, str], Override] = field(default_factory=dict)

    def label(self, judgment: Judgment | Unscored) -> Preference | None:
        """The label in force for one of `judgments`; None where it is unscored and no person gave one."""
        override = self._override(judgment)
        if override is not None and override.preference is not None:
            return override.preference
        return judgment.preference if isinstance(judgment, Judgment) else None

    def explanation(self, judgment: Judgment | Unscored) -> str | None:
        """The explanation in force for one of `judgments`, if any."""
        override = self._override(judgment)
        if override is not None and override.explanation is not None:
            return override.explanation
        own = self.model_explanation(judgment)
        return own.text if own else None

    def model_explanation(self, judgment: Judgment | Unscored) -> Explanation | None:
        """What the model wrote for the label in force, else its first text, also where a person's stands."""
        return judgment.explanation_for(self.label(judgment)) if isinstance(judgment, Judgment) else None

    def is_outdated(self, judgment: Judgment | Unscored) -> bool:
        """True where the model's explanation is in force, and written for another label than is in force."""
        override, own = self._override(judgment), self.model_explanation(judgment)
        if own is None or (override is not None and override.explanation is not None):
            return False
        return own.preference is not self.label(judgment)

    def _override(self, judgment: Judgment | Unscored) -> Override | None:
        return self.overrides.get((judgment.criterion, judgment.item_id))

    def _all(self) -> Iterator[Judgment | Unscored]:
        return chain.from_iterable(self.judgments.values())

    @property
    def unscored(self) -> int:
        """How many judgments have no label in force."""
        return sum(self.label(one) is None for one in self._all())

    @property
    def overridden(self) -> OverrideCount:
        """How many labels and explanations are a person's."""
        return count_overrides(self.overrides.values())

    @property
    def explains(self) -> bool:
        """True for a run that writes explanations."""
        return Mode(self.run.identity.settings["mode"]) is Mode.EXPLAIN

    @property
    def unexplained(self) -> int:
        """How many judgments of an explaining run have a label in force and no explanation."""
        if not self.explains:
            return 0
        return sum(self.label(one) is not None and self.explanation(one) is None for one in self._all())

    @property
    def outdated(self) -> int:
        """How many of the model's explanations in force were written for another label than is in force."""
        return sum(self.is_outdated(one) for one in self._all())

    def model_alone(self) -> "RunResults":
        """The same without what people overrode."""
        return replace(self, overrides={})

    def calibrated(self, calibration: Calibration | None) -> "RunResults":
        """The same readings and overrides, decided with another calibration, or with none."""
        by_criterion = calibration.criteria if calibration else {}
        judgments = {
            name: decide_all(self.judged, name, by_criterion.get(name)) for name in self.run.identity.criteria
        }
        return replace(self, judgments=judgments, calibration=calibration)


def load_results(store: RunStore, run_id: int) -> RunResults:
    """A run's judged items with their decisions, calibrated where the run is. Raises StoreError."""
    run = store.run(run_id)
    calibration = calibration_of(run.calibration) if run.calibration else None
    # Read before the items, so that each override has its item while the run goes on.
    overrides = in_force(store.overrides(run_id))
    return RunResults(run, tuple(store.judged(run_id)), {}, overrides=overrides).calibrated(calibration)


def submission_of(results: RunResults) -> Submission:
    """The run's predictions as they are in force; those without a label are empty.

    With explanations where the run makes them; what people wrote for a run of labels alone is left out.
    """
    rows = []
    for index, item in enumerate(results.judged):
        predictions = {
            name: Prediction(results.label(column[index]), results.explanation(column[index]))
            for name, column in results.judgments.items()
        }
        rows.append(SubmissionRow(item.item_id, predictions))
    return Submission(
        rows=tuple(rows),
        criteria=results.run.identity.criteria,
        with_explanations=results.explains,
    )


def score_results(results: RunResults, dataset: Dataset | None) -> list[CriterionScore]:
    """Scores of each criterion's labels in force against human ones; without a dataset, what needs none."""
    wanted = {item.item_id for item in results.judged}
    gold: dict[str, dict[str, Preference]] = {criterion: {} for criterion in results.judgments}
    for item in dataset or ():
        if item.id not in wanted:
            continue
        for criterion, label in item.gold.items():
            if criterion in gold and label.preference is not None:
                gold[criterion][item.id] = label.preference
    return [
        score_criterion(criterion, column, gold[criterion], [results.label(one) for one in column])
        for criterion, column in results.judgments.items()
    ]


def as_json(results: RunResults) -> dict[str, Any]:
    """All that is known of a run, as plain values: how it was made, and every judgment with its readings.

    A judgment is the model's own; beside it stands the override in force, or null. `all_explanations`: the
    model's first text, then those that it wrote for other labels later.
    """
    run = results.run
    identity, columns = run.identity, results.judgments.items()
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
            _item_json(item, {name: _with_override(results, column[index]) for name, column in columns})
            for index, item in enumerate(results.judged)
        ],
    }


def _item_json(item: JudgedItem, judgments: Mapping[str, Any]) -> dict[str, Any]:
    shortening = item.shortening
    return {
        "id": item.item_id,
        "position": item.position,
        "content_hash": item.content_hash,
        "seconds": round(item.seconds, 4),
        "tokens_read": item.tokens_read,
        "tokens_generated": item.tokens_generated,
        "shortened": shortening and {"a": shortening.left_out_a, "b": shortening.left_out_b},
        "judgments": judgments,
    }


def _with_override(results: RunResults, judgment: Judgment | Unscored) -> dict[str, Any]:
    override = results.overrides.get((judgment.criterion, judgment.item_id))
    return {**_judgment_json(judgment), "override": override and _override_json(override)}


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
        "all_explanations": [_explanation_json(one) for one in judgment.explanations],
    }


def _override_json(override: Override) -> dict[str, Any]:
    return {
        "preference": override.preference,
        "explanation": override.explanation,
        "author": override.author,
        "created": override.created.isoformat(),
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
