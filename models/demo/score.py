"""How good the demo judge is on labelled items of its own world.

    python main.py judge examples/demo.tsv --model demo --out demo-submission.tsv --json demo-judged.json
    python -m models.demo.score examples/demo.tsv demo-judged.json

Knows: what `judge --json` writes, the explanations' grammar, ROUGE. Does not know: models, how they judge.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rouge_score.rouge_scorer import RougeScorer

from engine.dataset import load_dataset
from engine.errors import EngineError
from engine.records import Item, Preference
from models.demo.explanations import argued_label

_ROUGE = "rougeL"


@dataclass(frozen=True)
class DemoScore:
    """One criterion. `accuracy`, `flipped` and `agreeing` are shares (0 to 1) of the items.

    An unscored item is neither right nor flipped nor agreeing. `format_mass`: the mean. `agreeing`: the
    explanation argues for the label that the model gave. `rouge_l`: mean F-measure x 100 against the written
    explanations, without stemming.
    """

    criterion: str
    accuracy: float
    flipped: float
    format_mass: float
    agreeing: float
    rouge_l: float


def score_judged(items: Sequence[Item], judged: Mapping[str, Any]) -> list[DemoScore]:
    """Scores of what `judge --json` wrote on these items, by criterion; ValueError where it is of others."""
    found = [entry["content_hash"] for entry in judged["items"]]
    if found != [item.content_hash for item in items]:
        raise ValueError(
            f"{len(found)} judged items are not the {len(items)} of the dataset: judge all of it."
        )
    pairs = list(zip(items, judged["items"], strict=True))
    return [_score(criterion, pairs) for criterion in judged["items"][0]["judgments"]]


def _score(criterion: str, pairs: Sequence[tuple[Item, Mapping[str, Any]]]) -> DemoScore:
    scorer = RougeScorer([_ROUGE], use_stemmer=False)
    right = flipped = agreeing = 0
    mass = rouge = 0.0
    for item, entry in pairs:
        judgment, gold = entry["judgments"][criterion], item.gold[criterion]
        if judgment["preference"] is None:
            continue
        label = Preference(judgment["preference"])
        text = judgment["explanation"]["text"] if judgment["explanation"] else ""
        right += label is gold.preference
        flipped += bool(judgment["flipped"])
        mass += judgment["format_mass"]
        agreeing += argued_label(criterion, text) is label
        rouge += scorer.score(gold.explanation or "", text)[_ROUGE].fmeasure
    count = len(pairs)
    return DemoScore(
        criterion=criterion,
        accuracy=right / count,
        flipped=flipped / count,
        format_mass=mass / count,
        agreeing=agreeing / count,
        rouge_l=100 * rouge / count,
    )


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


def main() -> None:
    """Print the scores of a file that `judge --json` wrote."""
    parser = argparse.ArgumentParser(description="Score the demo judge on its own world.")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("judged", type=Path, help="what judge --json wrote on it")
    options = parser.parse_args()
    try:
        items = list(load_dataset(options.dataset))
        judged = json.loads(options.judged.read_text(encoding="utf-8"))
        print(as_table(score_judged(items, judged)))
    except (EngineError, OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
