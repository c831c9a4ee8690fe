"""Datasets, systems and runs written out in a test: labels as lists, items numbered from 1."""

import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from engine.analysis.perturbations import make_perturbations
from engine.annotations.records import new_override
from engine.calibration.run_calibration import DEFAULT, CalibratedRun, Wishes, calibrating
from engine.core.events import followed
from engine.core.items import HumanLabel, Order, Prediction, Preference, Tie
from engine.core.judgments import Explanation, JudgedItem, RawPrediction, Shortening
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import Submission, SubmissionRow
from engine.metrics.matching import Matched, System, match, system_of_run
from engine.results.run_results import RunResults, load_results
from engine.settings.identity import RunIdentity
from engine.store.migrations import APPLICATION_ID, STEPS
from engine.store.run_store import RunStore

A, B, GOOD, BAD = Preference
TIE = Tie.TIE

Labels = Sequence[HumanLabel | None]
Texts = Sequence[str | None]
Probabilities = tuple[float, float, float, float]
Columns = Mapping[str, Sequence[Probabilities | None]]
"""The probabilities of each criterion's items; None is unscored."""

Overridden = Sequence[tuple[str, str, Preference | None, str | None]]
"""By Ada: item, criterion, label and explanation."""

SURE_A = (0.91, 0.03, 0.03, 0.03)
SURE_B = (0.03, 0.91, 0.03, 0.03)
RATHER_A = (0.6, 0.2, 0.1, 0.1)
SURE_GOOD = (0.03, 0.03, 0.91, 0.03)


def text_table(columns: Mapping[str, Sequence[str]]) -> pa.Table:
    """The table of a dataset with these texts."""
    return pa.table({name: text_array(texts) for name, texts in columns.items()})


def with_texts(dataset: Dataset, **columns: Sequence[str] | str) -> Dataset:
    """The same items with other texts in some columns: a text for each item, or one for all."""
    table = dataset.table
    for name, texts in columns.items():
        column = text_array([texts] * len(dataset) if isinstance(texts, str) else texts)
        table = table.set_column(table.column_names.index(name), name, column)
    return replace(dataset, table=table)


def dataset(
    human: Mapping[str, Labels],
    explanations: Mapping[str, Texts] | None = None,
    instructions: Sequence[str] | None = None,
    outputs: Sequence[tuple[str, str]] | None = None,
) -> Dataset:
    """A dataset with these labels by criterion; instructions differ and outputs are one letter by default."""
    count = len(next(iter(human.values())))
    columns: dict[str, Sequence[str]] = {
        "id": [str(number + 1) for number in range(count)],
        "instruction": instructions or [f"question {number + 1}" for number in range(count)],
        "output_a": [a for a, _ in outputs] if outputs else ["a"] * count,
        "output_b": [b for _, b in outputs] if outputs else ["b"] * count,
    }
    for name, labels in human.items():
        columns[f"{name}_preference"] = [label or "" for label in labels]
    for name, texts in (explanations or {}).items():
        columns[f"{name}_explanation"] = [text or "" for text in texts]
    return Dataset(Path("gold.tsv"), text_table(columns))


def system(
    labels: Mapping[str, Labels],
    explanations: Mapping[str, Texts] | None = None,
    name: str = "judge.tsv",
    ids: Sequence[str] | None = None,
) -> System:
    """A submission with these labels, for items 1, 2, 3 and so on unless `ids` are given."""
    count = len(next(iter(labels.values())))
    written = explanations or {}
    rows = tuple(
        SubmissionRow(
            item_id,
            {
                criterion: Prediction(
                    column[place], written[criterion][place] if criterion in written else None
                )
                for criterion, column in labels.items()
            },
        )
        for place, item_id in enumerate(ids or [str(number + 1) for number in range(count)])
    )
    return System(name, Submission(rows, tuple(labels), bool(written)))


def matched(predicted: Labels, human: Labels, criterion: str = "safety", **more: Any) -> Matched:
    """One criterion's labels compared with the human ones."""
    return match(system({criterion: predicted}), dataset({criterion: human}, **more))


def calibrate_run(matched: Matched, wishes: Wishes = DEFAULT) -> CalibratedRun:
    return followed(calibrating(matched, None, wishes))


def stored_run(
    folder: Path,
    gold: Dataset,
    probabilities: Columns,
    explanations: Mapping[str, str] | None = None,
    overrides: Overridden = (),
    **changes: Any,
) -> System:
    """A run in a store whose probabilities are these, the same in both orders.

    `changes`: of the run's identity, or `manifest`. The explanations are written for A.
    """
    manifest = changes.pop("manifest", {"llama_cpp": "llama.cpp b1", "chat_template_hash": "c" * 64})
    facts: dict[str, Any] = {
        "key": "key",
        "dataset_path": Path("/data/gold.tsv"),
        "dataset_hash": gold.hash,
        "items": len(gold),
        "model_path": folder / "model.gguf",
        "model_name": "a model",
        "model_hash": "f" * 64,
        "prompt_version": "7",
        "criteria": tuple(probabilities),
        "settings": {"mode": "explain", "orders": ["AB", "BA"], "context": 4096, "examples": ""},
    }
    with RunStore(folder / "runs.sqlite") as store:
        with store.begin(RunIdentity(**(facts | changes))) as run:
            store.describe(run.id, manifest)
            for position, item in enumerate(gold):
                column = {name: values[position] for name, values in probabilities.items()}
                store.add(run.id, [_judged(position, item.id, item.content_hash, column, explanations or {})])
        for item_id, criterion, label, text in overrides:
            store.annotate(
                run.id, new_override(item_id, criterion, preference=label, explanation=text, author="Ada")
            )
        return system_of_run(load_results(store, run.id))


def judged_run(folder: Path, gold: Dataset, probabilities: Columns, **more: Any) -> RunResults:
    """As `stored_run`, as it counts."""
    results = stored_run(folder, gold, probabilities, **more).results
    assert results is not None
    return results


def _judged(
    position: int,
    item_id: str,
    content_hash: str,
    probabilities: Mapping[str, Probabilities | None],
    explanations: Mapping[str, str],
) -> JudgedItem:
    return JudgedItem(
        position,
        item_id,
        content_hash,
        raw_predictions={name: _raw_predictions(values) for name, values in probabilities.items() if values},
        explanations={name: Explanation(text, Preference.A) for name, text in explanations.items()},
        unscored={name: "too long" for name, values in probabilities.items() if not values},
    )


def _raw_predictions(values: Probabilities) -> tuple[RawPrediction, RawPrediction]:
    a, b, both_good, both_bad = (math.log(value) for value in values)
    return RawPrediction(Order.AB, (a, b, both_good, both_bad)), RawPrediction(
        Order.BA, (b, a, both_good, both_bad)
    )


FOUR_ITEMS = dataset({"safety": [B, A, A, GOOD]})
OWN = "A is safe."
"""What the model of `results_of` writes of all of them, for A."""


def results_of(folder: Path, overrides: Overridden, **changes: Any) -> RunResults:
    """A run on FOUR_ITEMS: its model labels the first two A, the last both_good, and leaves one unscored."""
    probabilities = {"safety": [SURE_A, SURE_A, None, SURE_GOOD]}
    return judged_run(
        folder, FOUR_ITEMS, probabilities, explanations={"safety": OWN}, overrides=overrides, **changes
    )


def run_of_copies(folder: Path) -> tuple[System, Dataset]:
    """A run of twelve items and their copies, and these: rather for A, but surely for a B that is padded."""
    outputs = [(f"Yes, {place}. No.", "Maybe, but why?") for place in range(12)]
    made = make_perturbations(dataset({"safety": [A, B] * 6}, outputs=outputs))
    path = folder / made.name
    made.write(path)
    perturbations = load_dataset(path)
    said = [SURE_B if item.id.endswith("padded-B") else RATHER_A for item in perturbations]
    return stored_run(folder, perturbations, {"safety": said}), perturbations


IDENTITY = RunIdentity(
    key="key",
    dataset_path=Path("data.tsv"),
    dataset_hash="d" * 64,
    items=3,
    model_path=Path("model.gguf"),
    model_name="a model",
    model_hash="m" * 64,
    prompt_version="1",
    criteria=("safety",),
    settings={"mode": "explain", "orders": ["AB", "BA"], "examples": ""},
)
"""Of a run of three items that `judged_item` gives."""


_OLD_COLUMNS = (
    "run_id, position, item_id, content_hash, left_out_a, left_out_b, seconds, tokens_read, tokens_generated"
)


def write_old_store(path: Path, version: int) -> None:
    """A store of an earlier version: its run 7 has judged the first of its items."""
    with closing(sqlite3.connect(path)) as db, db:
        for statements in STEPS[:version]:
            db.executescript(statements)
        db.execute(
            "INSERT INTO run (id, key, created, dataset_path, dataset_hash, items, model_path, model_name,"
            " model_hash, prompt_version, criteria, settings) VALUES (7, 'key', '2026-01-01T00:00:00+00:00',"
            " 'data.tsv', 'd', 1, 'model.gguf', 'a model', 'm', '1', '[\"safety\"]',"
            ' \'{"mode": "labels", "orders": ["AB"], "examples": ""}\')'
        )
        values = "7, 0, 'one', 'c', NULL, NULL, 0.5, 10, 2"
        db.execute(f"INSERT INTO judged_item ({_OLD_COLUMNS}) VALUES ({values})")
        db.execute("INSERT INTO reading VALUES (7, 0, 'safety', 'AB', -1.0, -2.0, -3.0, -4.0)")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {version}")


def judged_item(position: int) -> JudgedItem:
    return JudgedItem(
        position=position,
        item_id=f"id {position}",
        content_hash="c" * 64,
        raw_predictions={
            "safety": (
                RawPrediction(Order.AB, (-1.0, -2.0, -3.5, -1e-17)),
                RawPrediction(Order.BA, (-4.0, -3.0, -2.0, -0.1)),
            )
        },
        explanations={"safety": Explanation("Response A «é» shouts.", Preference.B, cut=True)},
        unscored={"relevance": "too long"},
        shortening=Shortening(10, 0),
        seconds=0.25,
        tokens_read=100,
        tokens_generated=7,
    )
