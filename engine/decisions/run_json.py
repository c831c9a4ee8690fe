"""All that is known of a run, as plain values for JSON.

Knows: the names in the JSON. Does not know: files, terminals, windows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core.items import PREFERENCES, Gold
from engine.core.judgments import (
    AnswerLogProbs,
    AnyJudgment,
    Confirmation,
    Explanation,
    JudgedItem,
    Override,
    RawPrediction,
    SubmittedLabel,
    Unscored,
)
from engine.core.people import Annotation, EffectiveAnnotation, tags_together
from engine.data.dataset import Dataset
from engine.decisions.health import run_health
from engine.decisions.random_part import random_part
from engine.decisions.run_dataset import cells_beside
from engine.decisions.run_results import RunResults


def as_json(results: RunResults, dataset: Dataset | None = None) -> dict[str, Any]:
    """All that is known of a run, as plain values: how it was made, and every judgment with its raw
    predictions.

    A judgment is the model's own; next to it stand the effective override, or null, and the labels that
    annotators gave or confirmed, by name; in `annotators_said` all that they ever said of it, the oldest
    first, also what is undone. `notes`, `reviews`: the same of what they noted of the item, and how far they
    were with it; `tags`: those that stand. `all_explanations`: the model's first text, then those that it
    wrote for other labels later. `random_sample`: `labelled` or `skipped` in one, else null. `human`: the
    dataset's label, with what each of its annotators said where it has several. `other_columns`: the item's
    cells in the further columns of the dataset. Both are null without a dataset that has them. The `model` of
    a submission is its file.
    """
    beside: Mapping[str, Mapping[str, str]] = {}
    human: Mapping[str, Mapping[str, Gold]] = {}
    if dataset is not None:
        human = {item.id: item.gold for item in dataset.same_items(results.content_hashes)}
        beside = cells_beside(dataset, human)
    columns, part = results.judgments.items(), random_part(results.reviews)
    return {
        "run": run_json(results),
        "health": run_health(results).as_json(),
        "items": [
            {
                **_item_json(item, results),
                "random_sample": part.of(item.item_id) or None,
                "other_columns": beside.get(item.item_id),
                "judgments": {
                    name: _with_annotators(results, column[index], human.get(item.item_id, {}).get(name))
                    for name, column in columns
                },
            }
            for index, item in enumerate(results.judged)
        ],
    }


def run_json(results: RunResults) -> dict[str, Any]:
    """How a run was made, as plain values."""
    run, identity = results.run, results.run.identity
    return {
        "id": run.id,
        "name": run.name,
        "note": run.note,
        "created": run.created.isoformat(),
        "complete": not results.left,
        "sample": run.sample_in_words or None,
        "items": identity.items,
        "judged": run.judged,
        "dataset": {"path": str(identity.dataset_path), "hash": identity.dataset_hash},
        "kind": identity.kind.value,
        "model": {"name": identity.model_name, "sha256": identity.model_hash},
        "prompt_version": identity.prompt_version,
        "rubric": None if run.submitted else identity.asked.as_json(),
        "settings": dict(identity.settings),
        "made_with": dict(run.manifest),
        "labels_of": results.source.in_words,
        "calibration": results.calibration and results.calibration.as_json(),
    }


def _item_json(item: JudgedItem, results: RunResults) -> dict[str, Any]:
    shortening, notes = item.shortening, results.notes.get(item.content_hash, ())
    return {
        "id": item.item_id,
        "position": item.position,
        "content_hash": item.content_hash,
        "seconds": round(item.seconds, 4),
        "tokens_read": item.tokens_read,
        "tokens_generated": item.tokens_generated,
        "shortened": shortening and {"a": shortening.left_out_a, "b": shortening.left_out_b},
        "reviews": [_said_json(mark, "state") for mark in results.reviews.marks_on(item.item_id)],
        "notes": [_said_json(note, "text", "tags") for note in notes],
        "tags": list(tags_together(results.notes_on(item.content_hash))),
    }


def _with_annotators(results: RunResults, judgment: AnyJudgment, human: Gold | None) -> dict[str, Any]:
    key = judgment.key
    override = results.overrides.get(key)
    return {
        **_judgment_json(judgment),
        "override": override and _override_json(override),
        "people": {
            author: labels[key].value for author, labels in results.reviews.labels.items() if key in labels
        },
        "people_said": [_label_said_json(each) for each in results.reviews.said_on(key)],
        "human": human and human.said_json(),
    }


def _judgment_json(judgment: AnyJudgment) -> dict[str, Any]:
    if isinstance(judgment, Unscored):
        return {"preference": None, "unscored": judgment.reason}
    if isinstance(judgment, SubmittedLabel):
        return {"preference": judgment.preference.value, "explanation": judgment.text}
    return {
        "preference": judgment.preference.value,
        "probabilities": _by_label(judgment.probabilities),
        "flipped": judgment.flipped,
        "judges": judgment.judges,
        "judges_missing": judgment.judges_missing,
        "judges_differ": judgment.judges_differ,
        "place_decides": judgment.place_decides,
        "format_mass": judgment.answer_mass,
        "readings": [_reading_json(reading) for reading in judgment.raw_predictions],
        "explanation": _explanation_json(judgment.explanation),
        "explanation_outdated": judgment.stale,
        "all_explanations": [_explanation_json(explanation) for explanation in judgment.explanations],
    }


def _override_json(override: EffectiveAnnotation) -> dict[str, Any]:
    return {
        "preference": override.preference,
        "explanation": override.explanation,
        "label_by": list(override.label_by),
        "explanation_by": override.text_by,
        "explanation_for": override.written_for,
        "created": override.created.isoformat(),
        "origin": override.origin,
        "seed": override.seed,
        "settled": override.adjudicated,
    }


def _label_said_json(said: Override | Confirmation) -> dict[str, Any]:
    """An annotation of a judgment: what overrides another's value, or what it accepts."""
    fields = ("preference", "origin", "seed", "blind")
    if isinstance(said, Confirmation):
        return {"kind": "confirmed"} | _said_json(said, *fields)
    return {"kind": "said"} | _said_json(said, *fields, "explanation", "written_for", "settles")


def _said_json(said: Annotation, *fields: str) -> dict[str, Any]:
    """Who said it and when, whether it is taken back, and some of its fields."""
    return {
        "author": said.author,
        "created": said.created.isoformat(),
        "undone": said.undone and said.undone.isoformat(),
        **{name: getattr(said, name) for name in fields},
    }


def _reading_json(reading: RawPrediction) -> dict[str, Any]:
    if reading.label_alone:
        return {"judge": reading.judge, "label_taken_as": _by_label(reading.log_probs)}
    return {
        **({"judge": reading.judge} if reading.judge else {}),
        "order": reading.order.value,
        "way": reading.method.value,
        "log_probabilities_as_seen": _by_label(reading.log_probs),
        "format_mass": reading.answer_mass,
        "answers": [_answer_json(answer) for answer in reading.answers],
    }


def _answer_json(answer: AnswerLogProbs) -> dict[str, Any]:
    return {
        "question": answer.question,
        "log_probabilities": list(answer.log_probs),
        "thought": answer.thought or None,
        "thought_cut": answer.cut,
    }


def _explanation_json(explanation: Explanation | None) -> dict[str, Any] | None:
    if explanation is None:
        return None
    return {"text": explanation.text, "for": explanation.preference.value, "cut": explanation.cut}


def _by_label(values: Sequence[float]) -> dict[str, float]:
    return {label.value: value for label, value in zip(PREFERENCES, values, strict=True)}
