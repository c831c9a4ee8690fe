"""How good the demo judge is on labelled items of its own world.

python main.py judge examples/demo.tsv --model demo --out demo-submission.tsv --store demo.sqlite
python -m models.demo.score examples/demo.tsv demo.sqlite
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.core.errors import EngineError
from engine.core.items import Item
from engine.core.judgments import AnyJudgment, Unscored
from engine.data.dataset import Dataset, load_dataset
from engine.metrics.accuracy import Accuracy, LabelCounts, count_run, run_accuracy
from engine.metrics.explanations import rouge_l
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from models.demo.explanations import argued_label


@dataclass(frozen=True)
class DemoScore:
    """One criterion. `accuracy`, `flipped` and `answer_mass` are the engine's, of Accuracy and LabelCounts.

    `agreeing`: share (0 to 1) of the items whose explanation argues for the label that the model gave.
    `rouge_l`: mean F-measure x 100 against the written explanations, without stemming. Items without an
    explanation count as 0 in both.
    """

    criterion: str
    accuracy: float
    flipped: float
    answer_mass: float
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
        answer_mass=_known(counts.answer_mass, "format mass: nothing was scored"),
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
        f" | {score.answer_mass:.4f} | {score.agreeing:.1%} | {score.rouge_l:.1f} |"
        for score in scores
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the scores of a run."""
    parser = argparse.ArgumentParser(description="Score the demo judge on its own world.")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("store", type=Path, help="the run store that judge wrote")
    parser.add_argument("--run", type=int, default=1, help="which run of the store (%(default)s)")
    options = parser.parse_args()
    if not options.store.is_file():
        parser.error(f"there is no file {options.store}")
    try:
        with RunStore(options.store) as store:
            results = load_results(store, options.run).model_alone()
        print(as_table(score_run(results, load_dataset(options.dataset))))
    except (EngineError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
