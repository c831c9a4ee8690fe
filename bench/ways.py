"""What each way of asking, and each part of the permuted letters, is worth on a stored run: a table.

    python main.py judge DATASET --model MODEL --mode labels --out OUT \
        --method label-tokens,permuted-labels,pointwise-yes-no,pointwise-grade
    python -m bench.ways STORE RUN DATASET

For each way, the ways together, and for choices of the four permutations: the mean accuracy over the criteria
and its 95 % interval, the share of judgments that the order alone decides, and the mean format mass; at last
how far a label's probability differs between the permutations (spread).
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np

from engine.core.items import Method
from engine.core.judgments import RawPrediction
from engine.core.methods import raw_prediction_of
from engine.core.tables import Estimate
from engine.data.dataset import Dataset, load_dataset
from engine.metrics.accuracy import count_run, mean_accuracy, run_accuracy
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore

_PERMUTATIONS = (
    *(("ABCD",), ("BCDA",), ("CDAB",), ("DABC",)),
    *(("ABCD", "CDAB"), ("BCDA", "DABC"), ("ABCD", "BCDA", "CDAB", "DABC")),
)

Change = Callable[[RawPrediction], RawPrediction | None]
"""What is made of a reading; None leaves it out."""


def changed(results: RunResults, change: Change) -> RunResults:
    """The run decided by other readings, without a calibration and without what people said."""
    judged = tuple(
        replace(
            item,
            raw_predictions={
                name: tuple(made for reading in own if (made := change(reading)) is not None)
                for name, own in item.raw_predictions.items()
            },
        )
        for item in results.judged
    )
    return replace(results.model_alone(), judged=judged).calibrated(None)


def only_method(method: Method) -> Change:
    return lambda reading: reading if reading.method is method else None


def only_permutations(names: Sequence[str]) -> Change:
    """The permuted letters of some questions, as a way of their own."""

    def change(reading: RawPrediction) -> RawPrediction | None:
        if reading.method is not Method.PERMUTED_LABELS:
            return None
        return raw_prediction_of(
            reading.method, reading.order, [a for a in reading.answers if a.question in names]
        )

    return change


def with_permutations(names: Sequence[str]) -> Change:
    permuted = only_permutations(names)
    return lambda reading: reading if reading.method is Method.LABEL_TOKENS else permuted(reading)


def choices(results: RunResults) -> Iterator[tuple[str, Change]]:
    methods = results.methods
    yield "all together", lambda reading: reading
    for method in methods:
        yield method.value, only_method(method)
    if Method.PERMUTED_LABELS in methods:
        for names in _PERMUTATIONS:
            yield f"permuted: {' '.join(names)}", only_permutations(names)
        if Method.LABEL_TOKENS in methods:
            for names in (("CDAB",), _PERMUTATIONS[-1]):
                yield f"letters and {' '.join(names)}", with_permutations(names)


def row(name: str, results: RunResults, dataset: Dataset) -> list[str]:
    counts = count_run(results)
    accuracy = mean_accuracy(run_accuracy(results, dataset))
    flips = [count.flipped for count in counts if count.flipped is not None]
    mass = [count.answer_mass for count in counts if count.answer_mass is not None]
    return [
        name,
        str(Estimate(accuracy.mean, accuracy.share_interval())),
        f"{100 * fmean(flips):.1f}" if flips else "-",
        f"{fmean(mass):.3f}",
    ]


def spread(results: RunResults) -> float | None:
    """How far a label's probability differs between the permutations: standard deviation, in the mean."""
    found = []
    for item in results.judged:
        for own in item.raw_predictions.values():
            for reading in own:
                if reading.method is Method.PERMUTED_LABELS:
                    each = [raw_prediction_of(reading.method, reading.order, [a]) for a in reading.answers]
                    shares = [np.exp(np.array(one.log_probs)) / one.answer_mass for one in each]
                    found.append(float(np.std(shares, axis=0).mean()))
    return fmean(found) if found else None


def table(rows: Sequence[Sequence[str]], titles: Sequence[str]) -> str:
    lines = [f"| {' | '.join(titles)} |", f"|---|{'---:|' * (len(titles) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in rows)])


def measured(results: RunResults, dataset: Dataset) -> Mapping[str, RunResults]:
    return {name: changed(results, change) for name, change in choices(results)}


def main() -> None:
    parser = argparse.ArgumentParser(description="What the ways of asking are worth on a stored run.")
    parser.add_argument("store", type=Path)
    parser.add_argument("run", type=int)
    parser.add_argument("dataset", type=Path)
    options = parser.parse_args()
    with RunStore(options.store) as store:
        results = load_results(store, options.run)
    dataset = load_dataset(options.dataset, rubric=results.run.identity.asked)
    rows = [row(name, found, dataset) for name, found in measured(results, dataset).items()]
    print(table(rows, ("way", "accuracy, %", "flipped, %", "format mass")))
    print(f"\n{len(results.judged)} items; spread over the permutations: {spread(results)}")


if __name__ == "__main__":
    main()
