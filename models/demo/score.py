"""How good the demo judge is on labelled items of its own world.

    python main.py judge examples/demo.tsv --model demo --out demo-submission.tsv --store demo.sqlite
    python -m models.demo.score examples/demo.tsv demo.sqlite

With `--ways` it shows instead how good each way of asking is that the run asked in.

Knows: stored runs and their scores, the explanations' grammar. Does not know: models, how they judge.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from engine.core.errors import EngineError
from engine.core.items import Item, Way
from engine.core.judgments import AnyJudgment, JudgedItem, Unscored
from engine.data.dataset import Dataset, load_dataset
from engine.decisions.run_results import RunResults, load_results
from engine.measure.accuracy import Accuracy, run_accuracy
from engine.measure.label_counts import LabelCounts, count_run
from engine.measure.rouge import rouge_l
from engine.store.run_store import RunStore
from models.demo.explanations import argued_label


@dataclass(frozen=True)
class DemoScore:
    """One criterion. `accuracy`, `flipped` and `format_mass` are the engine's, of Accuracy and LabelCounts.

    `agreeing`: share (0 to 1) of the items whose explanation argues for the label that the model gave.
    `rouge_l`: mean F-measure x 100 against the written explanations, without stemming. Items without an
    explanation count as 0 in both.
    """

    criterion: str
    accuracy: float
    flipped: float
    format_mass: float
    agreeing: float
    rouge_l: float


def score_run(results: RunResults, dataset: Dataset) -> list[DemoScore]:
    """Scores of a run in both orders, by criterion; ValueError where it is not of these labelled items."""
    items = list(dataset)
    if [one.content_hash for one in results.judged] != [item.content_hash for item in items]:
        raise ValueError(f"the run's {len(results.judged)} items are not the {len(items)} of {dataset.name}")
    accuracies = run_accuracy(results, dataset)
    return [
        _score(counts, accuracies.get(counts.criterion), results.judgments[counts.criterion], items)
        for counts in count_run(results)
    ]


def _score(
    counts: LabelCounts,
    accuracy: Accuracy | None,
    column: Sequence[AnyJudgment],
    items: Sequence[Item],
) -> DemoScore:
    agreeing, rouge = 0, 0.0
    for item, judgment in zip(items, column, strict=True):
        if isinstance(judgment, Unscored) or judgment.explanation is None:
            continue
        text = judgment.explanation.text
        agreeing += argued_label(counts.criterion, text) is judgment.preference
        rouge += rouge_l(text, item.gold[counts.criterion].explanation or "")
    return DemoScore(
        criterion=counts.criterion,
        accuracy=_known(accuracy.share if accuracy else None, "accuracy: the items have no labels"),
        flipped=_known(counts.flipped, "share flipped: judge in both orders"),
        format_mass=_known(counts.format_mass, "format mass: nothing was scored"),
        agreeing=agreeing / len(items),
        rouge_l=100 * rouge / len(items),
    )


def _known(value: float | None, what: str) -> float:
    if value is None:
        raise ValueError(f"no {what}")
    return value


def as_table(scores: Sequence[DemoScore]) -> str:
    """The scores as a Markdown table, as the model card shows them."""
    lines = [
        "| criterion | accuracy | flipped | format mass | explanation agrees | ROUGE-L |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {score.criterion.replace('_', ' ')} | {score.accuracy:.1%} | {score.flipped:.1%}"
        f" | {score.format_mass:.4f} | {score.agreeing:.1%} | {score.rouge_l:.1f} |"
        for score in scores
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class WayScore:
    """One way of asking in a run: its `accuracies` (0 to 1) by criterion, the means of all else."""

    way: str
    accuracies: Mapping[str, float]
    flipped: float
    format_mass: float


def score_ways(results: RunResults, dataset: Dataset) -> list[WayScore]:
    """Scores of each way by itself, and of all together where the run asked in several."""
    ways = list(dict.fromkeys(way for way in Way for item in results.judged if way in _ways_of(item)))
    alone = [_score_way(way.value, _of_way(results, way), dataset) for way in ways]
    return [*alone, _score_way("together", results, dataset)] if len(alone) > 1 else alone


def _ways_of(item: JudgedItem) -> set[Way]:
    return {reading.way for readings in item.readings.values() for reading in readings}


def _of_way(results: RunResults, way: Way) -> RunResults:
    """The same run as if it had been asked in one way alone."""
    judged = []
    for item in results.judged:
        readings = {
            name: tuple(reading for reading in own if reading.way is way)
            for name, own in item.readings.items()
        }
        judged.append(replace(item, readings=readings))
    return replace(results, judged=tuple(judged)).calibrated(None)


def _score_way(name: str, results: RunResults, dataset: Dataset) -> WayScore:
    counts = count_run(results)
    return WayScore(
        way=name,
        accuracies={criterion: one.share for criterion, one in run_accuracy(results, dataset).items()},
        flipped=fmean(_known(one.flipped, "share flipped: judge in both orders") for one in counts),
        format_mass=fmean(_known(one.format_mass, "format mass: nothing was scored") for one in counts),
    )


def as_way_table(scores: Sequence[WayScore]) -> str:
    """The scores of ways as a Markdown table, as the model card shows them."""
    criteria = [name.replace("_", " ") for name in scores[0].accuracies]
    lines = [
        f"| way | {' | '.join(criteria)} | flipped | format mass |",
        f"|---|{'---:|' * (len(criteria) + 2)}",
    ]
    for score in scores:
        shares = " | ".join(f"{share:.1%}" for share in score.accuracies.values())
        lines.append(f"| {score.way} | {shares} | {score.flipped:.1%} | {score.format_mass:.4f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the scores of a run."""
    parser = argparse.ArgumentParser(description="Score the demo judge on its own world.")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("store", type=Path, help="the run store that judge wrote")
    parser.add_argument("--run", type=int, default=1, help="which run of the store (%(default)s)")
    parser.add_argument("--ways", action="store_true", help="each way of asking by itself")
    options = parser.parse_args()
    if not options.store.is_file():
        parser.error(f"there is no file {options.store}")
    try:
        with RunStore(options.store) as store:
            results = load_results(store, options.run).model_alone()
        dataset = load_dataset(options.dataset, results.run.identity.asked)
        if options.ways:
            print(as_way_table(score_ways(results, dataset)))
        else:
            print(as_table(score_run(results, dataset)))
    except (EngineError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
