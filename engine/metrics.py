"""How well predictions agree with human labels, and what a trivial judge would reach.

Knows: preferences on both sides. Does not know: files, models, runs.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.records import PREFERENCES, Judgment, Preference, Unscored


@dataclass(frozen=True)
class CriterionScore:
    """One criterion over the items that were judged.

    `accuracy`: share (0 to 1) of the `labelled` items whose prediction equals the human label; an unscored
    one counts as wrong. `most_frequent`: the most frequent human label on these items, of equally common ones
    the first, and `baseline` the accuracy of always giving it. These three are None where no item has a
    label. `flipped`: share of the judgments with two orders that the orders alone would decide
    differently, None where there is none. `format_mass`: mean, None where nothing was scored.
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
    criterion: str, judgments: Sequence[Judgment | Unscored], gold: Mapping[str, Preference]
) -> CriterionScore:
    """Score one criterion's judgments; `gold` has the human label by item id, where there is one."""
    scored = [judgment for judgment in judgments if isinstance(judgment, Judgment)]
    in_both_orders = [judgment.flipped for judgment in scored if judgment.flipped is not None]
    labels = [gold[judgment.item_id] for judgment in judgments if judgment.item_id in gold]
    right = sum(gold.get(judgment.item_id) is judgment.preference for judgment in scored)
    most_frequent = most_frequent_label(labels)
    return CriterionScore(
        criterion=criterion,
        judged=len(judgments),
        labelled=len(labels),
        unscored=len(judgments) - len(scored),
        predicted=Counter(judgment.preference for judgment in scored),
        accuracy=right / len(labels) if labels else None,
        most_frequent=most_frequent,
        baseline=labels.count(most_frequent) / len(labels) if most_frequent else None,
        flipped=mean(in_both_orders),
        format_mass=mean([judgment.format_mass for judgment in scored]),
    )


def most_frequent_label(labels: Sequence[Preference]) -> Preference | None:
    """The most frequent label, of equally common ones the first in `PREFERENCES`; None without labels."""
    return max(PREFERENCES, key=labels.count) if labels else None


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None without values."""
    return sum(values) / len(values) if values else None
