"""How often labels are the human ones, beside what always giving the most frequent label would reach.

Light, for judging prints it: scikit-learn is not needed here.

Knows: labels on both sides. Does not know: files, models, what else is measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.items import PREFERENCES, Preference
from engine.data.dataset import Dataset
from engine.decisions.run_dataset import human_labels
from engine.decisions.run_results import RunResults

Labels = Sequence[Preference | None]


@dataclass(frozen=True)
class Accuracy:
    """One criterion over the `items` that have a human label.

    `share`: of the items whose label is the human one, 0 to 1; an unscored one counts as wrong.
    `most_frequent`: the most frequent human label on these items, of equally common ones the first, and
    `baseline` the share that always giving it reaches.
    """

    items: int
    share: float
    most_frequent: Preference
    baseline: float


def accuracy(predicted: Labels, human: Sequence[Preference]) -> Accuracy:
    """The accuracy of labels, None for unscored, against human ones of the same items; at least one."""
    frequent = most_frequent_label(human)
    assert frequent is not None  # there is at least one
    return Accuracy(len(human), share_right(predicted, human), frequent, human.count(frequent) / len(human))


def run_accuracy(results: RunResults, dataset: Dataset) -> dict[str, Accuracy]:
    """The accuracy of a run's labels in force, by criterion; criteria without human labels are left out."""
    human = human_labels(results, dataset)
    found = {}
    for name, column in results.judgments.items():
        labelled = [judgment for judgment in column if (name, judgment.item_id) in human]
        if labelled:
            predicted = [results.label(judgment) for judgment in labelled]
            found[name] = accuracy(predicted, [human[name, judgment.item_id] for judgment in labelled])
    return found


def accuracy_by_way(
    by_way: Mapping[str, RunResults], dataset: Dataset | None
) -> dict[str, dict[str, Accuracy]]:
    """The accuracy of each of the results that `RunResults.by_way` gave; without human labels of none."""
    return {name: {} if dataset is None else run_accuracy(each, dataset) for name, each in by_way.items()}


def share_right(predicted: Labels, human: Labels) -> float:
    """The share (0 to 1) of items with the same label on both sides, of which there is at least one."""
    return sum(label is other for label, other in zip(predicted, human, strict=True)) / len(human)


def most_frequent_label(labels: Sequence[Preference]) -> Preference | None:
    """The most frequent label, of equally common ones the first in `PREFERENCES`; None without labels."""
    return max(PREFERENCES, key=labels.count) if labels else None


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None without values."""
    return sum(values) / len(values) if values else None
