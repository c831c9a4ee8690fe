"""How long the measures take that need no model, for as many items as the task's test set has.

    python -m bench.measuring DATASET SUBMISSION.tsv --items 1248

The items of a labelled dataset and a submission on it are repeated under new ids, each time with other
instructions and explanations, until there are enough.

Knows: datasets, submissions, the measures. Does not know: models.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa

from engine.calibration.fitting import calibrate_criterion
from engine.core.items import PREFERENCES
from engine.core.numeric import log_softmax
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import SubmissionRow
from engine.metrics.comparison import compare, match_all
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import System, system_of_file
from engine.ranking.weight_fit import fit_weights
from engine.ranking.weighted_scoring import human_winners, scored_pairs_of, weigh

Result = TypeVar("Result")


def repeated(dataset: Dataset, system: System, items: int) -> tuple[Dataset, System]:
    """The items and their predictions again and again, `items` in all."""
    rounds = -(-items // len(dataset))
    tables, rows = [], []
    for number in range(rounds):
        columns = {name: dataset.texts(name).to_pylist() for name in dataset.table.column_names}
        columns["id"] = [f"{item_id}/{number}" for item_id in columns["id"]]
        for name, texts in columns.items():
            if name == "instruction" or name.endswith("_explanation"):
                columns[name] = [f"{text} {number}" for text in texts]
        tables.append(pa.table({name: text_array(texts) for name, texts in columns.items()}))
        rows += [_numbered(system.rows[item.id], number) for item in dataset]
    submission = replace(system.submission, rows=tuple(rows[:items]))
    whole = replace(dataset, table=pa.concat_tables(tables)).head(items)
    return whole, System(system.name, submission)


def _numbered(row: SubmissionRow, number: int) -> SubmissionRow:
    predictions = {
        name: replace(prediction, explanation=f"{prediction.explanation} {number}")
        for name, prediction in row.predictions.items()
    }
    return SubmissionRow(f"{row.id}/{number}", predictions)


def timed(what: str, action: Callable[[], Result]) -> Result:
    """Do it and print how long it took."""
    started = time.perf_counter()
    result = action()
    print(f"{what:44}{time.perf_counter() - started:8.2f} s", flush=True)
    return result


def calibrate_noise(dataset: Dataset) -> None:
    """Calibrate readings drawn at random, all criteria."""
    items = list(dataset)
    random = np.random.default_rng(0)
    for name in dataset.criteria:
        labelled = [item for item in items if name in item.gold]
        labels = [PREFERENCES.index(label) for item in labelled if (label := item.gold[name].label)]
        log_probs = log_softmax(random.standard_normal((len(labels), len(PREFERENCES))))
        calibrate_criterion(name, log_probs, np.array(labels), [item.instruction for item in labelled])


def main() -> None:
    """Time each measure."""
    parser = argparse.ArgumentParser(description="Time the measures that need no model.")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("submission", type=Path)
    parser.add_argument("--items", type=int, default=1248)
    options = parser.parse_args()
    dataset, system = repeated(
        load_dataset(options.dataset), system_of_file(options.submission), options.items
    )
    print(f"{len(dataset):,} items x {len(dataset.criteria)} criteria")
    other = replace(system, name="the same again")
    matched, matched_other = timed(
        "join two systems with the labels", lambda: match_all([system, other], dataset)
    )
    evaluation = timed("evaluate, with ROUGE-L and all baselines", lambda: evaluate(matched))
    again = timed("evaluate the other", lambda: evaluate(matched_other))
    timed("compare", lambda: compare([evaluation, again]))
    timed("calibrate, nested cross-validation", lambda: calibrate_noise(dataset))
    comparisons = timed("score the responses", lambda: scored_pairs_of(system, list(dataset.criteria)))
    weights = dict.fromkeys(dataset.criteria, 1.0)
    timed("weigh", lambda: weigh(comparisons, weights, 0.5, dataset, system))
    human = human_winners(dataset)
    timed(
        "fit weights",
        lambda: fit_weights(comparisons.rows, human, dataset.groups, dataset.criteria),
    )


if __name__ == "__main__":
    main()
