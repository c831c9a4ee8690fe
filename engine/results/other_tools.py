"""A run for other tools: pairs to train by, annotations of AlpacaEval, a log of inspect_ai."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from engine.core import VERSION
from engine.core.column_map import CANDIDATES
from engine.core.errors import SetupError
from engine.core.formatting import counted, words
from engine.core.items import PREFERENCES, Gold, HumanLabel, Item, Order, Preference, agree
from engine.core.judgments import AnyJudgment, Judgment, Unscored
from engine.core.rubric import default_criterion
from engine.data.dataset import Dataset
from engine.data.submission import Cell, write_dataset
from engine.results.exports import run_json
from engine.results.run_results import RunResults
from engine.results.trust import without_label
from engine.system.files import whole_file

_TIE = 1.5
_SIDES = (Preference.A, Preference.B)


def alpaca_annotations(results: RunResults, dataset: Dataset, criterion: str) -> Sequence[Mapping[str, Any]]:
    """An annotation for each item with an effective label on a criterion, in the order of the run.

    `preference`: 1 where response A, `output_1`, is certainly better, 2 where B is: 1 + P(B), ties
    counting half; 1.5 where the label is a tie. `generator_1`, `generator_2`: who wrote the responses by the
    dataset, else A and B.
    """
    items = {item.id: item for item in dataset}
    writers = [
        [name or side.value for name in dataset.texts(column).to_pylist()]
        for column, side in zip(CANDIDATES, _SIDES, strict=True)
    ]
    names = dict(zip(dataset.ids, zip(*writers, strict=True), strict=True))
    annotator = results.run.identity.model_name
    made = []
    for judgment in results.judgments[criterion]:
        label, probabilities = results.label(judgment), results.probabilities(judgment)
        if label is None or probabilities is None:
            continue
        item, (first, second) = items[judgment.item_id], names[judgment.item_id]
        by_label = dict(zip(PREFERENCES, probabilities, strict=True))
        ties = by_label[Preference.BOTH_GOOD] + by_label[Preference.BOTH_BAD]
        made.append(
            {
                "instruction": item.instruction,
                "output_1": item.output_a,
                "generator_1": first,
                "output_2": item.output_b,
                "generator_2": second,
                "annotator": annotator,
                "preference": 1 + by_label[Preference.B] + ties / 2 if label in _SIDES else _TIE,
            }
        )
    return made


_VERSION = 2  # of the log's schema
_RIGHT, _WRONG, _NO_ANSWER = "C", "I", "N"
_TASK = "tiebreak"


# As inspect_ai's `read_eval_log` reads it from a JSON file. An item is a sample: the instruction, the two
# responses as choices, a score for each criterion. What is evaluated there is the judge: its answer is its
# label.
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
    places = enumerate(results.judged)
    samples = [_sample(results, items[judged.item_id], place, with_stale) for place, judged in places]
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
    """What was evaluated, and how: without the paths of files on this computer."""
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
    """The score of a criterion over all samples: its accuracy, where some have a human label."""
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


SUFFIXES = (".jsonl", ".parquet")


class PreferencePairs(NamedTuple):
    """`columns`: what is written, with a cell for each pair. `in_words`: how many, and what is omitted."""

    columns: Mapping[str, Sequence[Cell]]
    in_words: str


# The columns are those of TRL's preference data with an explicit prompt, in its standard form: texts alone.
def preference_pairs(results: RunResults, dataset: Dataset, criterion: str) -> PreferencePairs:
    """The items whose effective label on a criterion is A or B, in the order of the run. SetupError where
    none is. `margin`: the probability of the chosen response less that of the rejected one, 0 to 1; a label
    of an annotator or a submission has 1.
    """
    items = {item.id: item for item in dataset}
    rows: list[tuple[str, str, str, float, str]] = []
    ties = 0
    for judgment in results.judgments[criterion]:
        label, probabilities = results.label(judgment), results.probabilities(judgment)
        if label is None or probabilities is None:
            continue
        if label in _SIDES:
            item = items[judgment.item_id]
            order = Order.AB if label is Preference.A else Order.BA
            chosen, rejected = order.arrange(item.output_a, item.output_b)
            by_label: dict[HumanLabel, float] = dict(zip(PREFERENCES, probabilities, strict=True))
            margin = by_label[label] - by_label[label.swapped]
            rows.append((item.instruction, chosen, rejected, margin, item.id))
        else:
            ties += 1
    if not rows:
        raise SetupError(
            f"No item of {results.run.called} has the label A or B on {words(criterion)}: there are no"
            " preference pairs to write.",
            f"Name another criterion: {', '.join(results.judgments)}",
        )
    names = ("prompt", "chosen", "rejected", "margin", "id")
    pairs = counted(len(rows), "pair", "pairs")
    return PreferencePairs(
        dict(zip(names, zip(*rows, strict=True), strict=True)),
        f"{pairs} on {words(criterion)}; omitted: {counted(ties, 'tie', 'ties')},"
        f" {without_label(results, criterion)}",
    )


def write_preference_pairs(path: Path, pairs: PreferencePairs) -> None:
    """Write them as JSON Lines or as Parquet, by one of SUFFIXES, whole or not at all. SetupError."""
    if path.suffix.lower() == ".parquet":
        write_dataset(path, pairs.columns)
        return
    with whole_file(path) as file:
        for row in zip(*pairs.columns.values(), strict=True):
            line = json.dumps(dict(zip(pairs.columns, row, strict=True)), ensure_ascii=False)
            file.write(f"{line}\n".encode())
