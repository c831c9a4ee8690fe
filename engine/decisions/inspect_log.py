"""A run as an evaluation log of inspect_ai, as its `read_eval_log` reads it from a JSON file.

An item is a sample: the instruction, the two responses as choices, a score for each criterion. What is
evaluated there is the judge: its answer is its label, the target is the human label.

Knows: the names in such a log. Does not know: how items are judged, files, inspect_ai itself.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from engine.core import VERSION
from engine.core.items import PREFERENCES, Gold, Item, agree
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.core.rubric import default_criterion
from engine.data.dataset import Dataset
from engine.decisions.run_json import run_json
from engine.decisions.run_results import RunResults

_VERSION = 2  # of the log's schema
_RIGHT, _WRONG, _NO_ANSWER = "C", "I", "N"
_TASK = "tiebreak"


def inspect_log(results: RunResults, dataset: Dataset, with_stale: bool = False) -> Mapping[str, Any]:
    """The log, with the effective labels.

    A score's `value` is C where the label agrees with the human one, I where it does not, and the label
    itself where there is no human one; N without a label. `answer`: the label. `explanation`: the one in
    force, `with_stale` also where it was written for another label; of an unscored judgment the reason.
    `metadata`: the human label, the probabilities of the four labels, `flipped`, `answer_mass`, and which
    annotators gave the label. A sample's `target` is the human label on the overall criterion, else the last
    one; empty without one. Items that an opened submission does not answer are omitted, as in all measures.
    """
    results = results.answered
    items = {item.id: item for item in dataset}
    samples = [
        _sample(results, items[judged.item_id], place, with_stale)
        for place, judged in enumerate(results.judged)
    ]
    found = [_found(name, [sample["scores"][name] for sample in samples]) for name in results.judgments]
    return {
        "version": _VERSION,
        "status": "cancelled" if results.left else "success",
        "eval": _eval(results, [sample["id"] for sample in samples]),
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": results.run.identity.items,
            "completed_samples": len(samples),
            "scores": found,
        },
        "stats": {"started_at": results.run.created.isoformat()},
        "samples": samples,
    }


def _eval(results: RunResults, ids: Sequence[str]) -> dict[str, Any]:
    """What was evaluated, and how: without the places of files on this computer."""
    run, identity = results.run, results.run.identity
    dataset = {"name": identity.dataset_path.name, "hash": identity.dataset_hash}
    made = f"{_TASK}-run-{run.id}"
    return {
        "eval_id": made,
        "run_id": made,
        "created": run.created.isoformat(),
        "task": _TASK,
        "task_id": made,
        "task_version": 0,
        "task_display_name": run.title,
        "dataset": {"name": dataset["name"], "samples": len(ids), "sample_ids": ids, "shuffled": False},
        "model": identity.model_name,
        "config": {},
        "packages": {_TASK: VERSION},
        "metadata": run_json(results) | {"dataset": dataset},
    }


def _sample(results: RunResults, item: Item, place: int, with_stale: bool) -> dict[str, Any]:
    columns = results.judgments
    target = item.gold.get(default_criterion(tuple(columns)), Gold()).label
    return {
        "id": item.id,
        "epoch": 1,
        "input": item.instruction,
        "choices": [item.output_a, item.output_b],
        "target": target or "",
        "scores": {
            name: _score(results, column[place], item.gold.get(name, Gold()), with_stale)
            for name, column in columns.items()
        },
        "metadata": {"position": results.judged[place].position},
        "total_time": results.judged[place].seconds,
    }


def _score(results: RunResults, judgment: AnyJudgment, gold: Gold, with_stale: bool) -> dict[str, Any]:
    label = results.label(judgment)
    told = results.explanation if with_stale else results.fitting_explanation
    text = judgment.reason if label is None and isinstance(judgment, Unscored) else told(judgment)
    value = label.value if label is not None else _NO_ANSWER
    if label is not None and gold.label is not None:
        value = _RIGHT if agree(gold.label, label) else _WRONG
    probabilities = results.probabilities(judgment)
    override = results.overrides.get(judgment.key)
    own = judgment if isinstance(judgment, Judgment) else None
    return {
        "value": value,
        "answer": label,
        "explanation": text,
        "metadata": {
            "human": gold.label,
            "probabilities": probabilities and dict(zip(PREFERENCES, probabilities, strict=True)),
            "flipped": own and own.flipped,
            "format_mass": own and own.answer_mass,
            "label_by": list(override.label_by) if override and override.preference else [],
        },
    }


def _found(criterion: str, scores: list[dict[str, Any]]) -> dict[str, Any]:
    """The score of a criterion over all samples: its accuracy, where annotators labelled some of them."""
    held = [score["value"] == _RIGHT for score in scores if score["metadata"]["human"] is not None]
    accuracy = {"name": "accuracy", "value": sum(held) / len(held), "params": {}} if held else None
    return {
        "name": criterion,
        "scorer": criterion,
        "scored_samples": len(held),
        "unscored_samples": len(scores) - len(held),
        "params": {},
        "metrics": {"accuracy": accuracy} if accuracy else {},
    }
