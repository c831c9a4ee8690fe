"""All that is known of a run, as plain values for JSON.

Knows: the names in the JSON. Does not know: files, terminals, windows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.items import PREFERENCES
from engine.core.judgments import Explanation, JudgedItem, Judgment, Override, Reading, Unscored
from engine.decisions.health import run_health
from engine.decisions.run_results import RunResults


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
        "health": run_health(results).as_json(),
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
        "all_explanations": [_explanation_json(explanation) for explanation in judgment.explanations],
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
