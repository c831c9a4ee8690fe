"""How well predictions agree with human labels, and what a trivial judge would reach.

Knows: preferences on both sides. Does not know: files, models, runs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import Judgment, Unscored
from engine.data.dataset import Dataset
from engine.decisions.run_results import RunResults


@dataclass(frozen=True)
class CriterionScore:
    """One criterion over the items that were judged.

    `predicted` counts the labels in force, which people may have given; `unscored`: those without one.
    `accuracy`: share (0 to 1) of the `labelled` items whose prediction equals the human label; an unscored
    one counts as wrong. `most_frequent`: the most frequent human label on these items, of equally common ones
    the first, and `baseline` the accuracy of always giving it. These three are None where no item has a
    label. `flipped`: share of the model's judgments with two orders that the orders alone would decide
    differently, None where there is none. `format_mass`: mean, None where the model scored nothing.
    """

    criterion: str
    judged: int
    labelled: int
    unscored: int
    predicted: Mapping[Preference, int]
    accuracy: float | None
    most_frequent: Preference | None
    baseline: float | None
    flipped: float | None
    format_mass: float | None


def score_criterion(
    criterion: str,
    judgments: Sequence[Judgment | Unscored],
    gold: Mapping[str, Preference],
    labels: Sequence[Preference | None],
) -> CriterionScore:
    """Score one criterion's judgments.

    `gold`: the human label by item id, where there is one. `labels`: the one in force for each judgment,
    None where there is none.
    """
    scored = [judgment for judgment in judgments if isinstance(judgment, Judgment)]
    in_both_orders = [judgment.flipped for judgment in scored if judgment.flipped is not None]
    human = [gold.get(judgment.item_id) for judgment in judgments]
    known = [label for label in human if label is not None]
    right = sum(label is not None and label is one for label, one in zip(labels, human, strict=True))
    most_frequent = most_frequent_label(known)
    return CriterionScore(
        criterion=criterion,
        judged=len(judgments),
        labelled=len(known),
        unscored=labels.count(None),
        predicted=Counter(label for label in labels if label is not None),
        accuracy=right / len(known) if known else None,
        most_frequent=most_frequent,
        baseline=known.count(most_frequent) / len(known) if most_frequent else None,
        flipped=mean(in_both_orders),
        format_mass=mean([judgment.format_mass for judgment in scored]),
    )


def most_frequent_label(labels: Sequence[Preference]) -> Preference | None:
    """The most frequent label, of equally common ones the first in `PREFERENCES`; None without labels."""
    return max(PREFERENCES, key=labels.count) if labels else None


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None without values."""
    return sum(values) / len(values) if values else None


def score_results(results: RunResults, dataset: Dataset | None) -> list[CriterionScore]:
    """Scores of each criterion's labels in force against human ones; without a dataset, what needs none."""
    wanted = {item.item_id for item in results.judged}
    gold: dict[str, dict[str, Preference]] = {criterion: {} for criterion in results.judgments}
    for item in dataset or ():
        if item.id not in wanted:
            continue
        for criterion, label in item.gold.items():
            if criterion in gold and label.preference is not None:
                gold[criterion][item.id] = label.preference
    return [
        score_criterion(criterion, column, gold[criterion], [results.label(one) for one in column])
        for criterion, column in results.judgments.items()
    ]
