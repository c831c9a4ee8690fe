"""How often labels agree with human ones, also beyond chance, and what the most frequent label would reach.

Light, for judging prints it: scikit-learn is not needed here.

Knows: labels on both sides. Does not know: files, models, what else is measured.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap

import numpy as np

from engine.core.items import PREFERENCES, HumanLabel, Preference, agree
from engine.data.dataset import Dataset
from engine.decisions.run_dataset import human_labels
from engine.decisions.run_results import RunResults
from engine.measure.intervals import Interval, OverInstructions, share_interval

UNSCORED = "unscored"

Labels = Sequence[Preference | None]
HumanLabels = Sequence[HumanLabel | None]


@dataclass(frozen=True)
class Accuracy:
    """One criterion over the items that have a human label.

    `right`: for each of them 1 where its label agrees with the human one, else 0; an unscored one counts as
    wrong. `instructions`: the instruction of each. `most_frequent`: the label that agrees with most human
    ones on these items, of equally common ones the first, and `baseline` the share that always giving it
    reaches.
    """

    right: tuple[float, ...]
    instructions: tuple[str, ...]
    most_frequent: Preference
    baseline: float

    @property
    def items(self) -> int:
        """How many items have a human label."""
        return len(self.right)

    @property
    def share(self) -> float:
        """The share of them (0 to 1) that is right."""
        return sum(self.right) / len(self.right)

    @cached_property
    def interval(self) -> Interval | None:
        """Of the share; None for a single instruction."""
        return share_interval(self.right, self.instructions)


def accuracy(predicted: Labels, human: Sequence[HumanLabel], instructions: Sequence[str]) -> Accuracy:
    """The accuracy of labels, None for unscored, against human ones of the same items; at least one."""
    frequent = most_frequent_label(human)
    assert frequent is not None  # there is at least one
    right = tuple(map(float, starmap(agree, zip(predicted, human, strict=True))))
    return Accuracy(right, tuple(instructions), frequent, share_right([frequent] * len(human), human))


def mean_accuracy(accuracies: Mapping[str, Accuracy]) -> OverInstructions | None:
    """The mean over the criteria of their accuracies; None for a single instruction, or without criteria."""
    return OverInstructions.of(
        {name: found.right for name, found in accuracies.items()},
        {name: found.instructions for name, found in accuracies.items()},
    )


def run_accuracy(results: RunResults, dataset: Dataset) -> dict[str, Accuracy]:
    """The accuracy of a run's effective labels, by criterion; criteria without human labels are omitted."""
    human = human_labels(results, dataset)
    instructions = dataset.groups if human else {}
    found = {}
    for name, column in results.judgments.items():
        labelled = [judgment for judgment in column if judgment.key in human]
        if labelled:
            found[name] = accuracy(
                [results.label(judgment) for judgment in labelled],
                [human[judgment.key] for judgment in labelled],
                [instructions[judgment.item_id] for judgment in labelled],
            )
    return found


def accuracy_by_method(
    by_method: Mapping[str, RunResults], dataset: Dataset | None
) -> dict[str, dict[str, Accuracy]]:
    """The accuracy of each of the results that `RunResults.by_method` gave; without human labels of none."""
    return {name: {} if dataset is None else run_accuracy(each, dataset) for name, each in by_method.items()}


def share_right(predicted: HumanLabels, human: HumanLabels) -> float:
    """The share (0 to 1) of items on which the labels of both sides agree; there is at least one item."""
    return sum(starmap(agree, zip(predicted, human, strict=True))) / len(human)


def kappa(labels: HumanLabels, other: HumanLabels) -> float | None:
    """Cohen's kappa (-1 to 1), None as a label of its own; None where chance alone makes all labels agree.

    1 - (share that disagrees) / (share that would by chance). Where labels are no mere names, because a `tie`
    agrees with two others, it is the weighted kappa with weight 0 for what agrees and 1 for what does not.
    Sources: Cohen, A Coefficient of Agreement for Nominal Scales (1960); Cohen, Weighted Kappa (1968).
    """
    rows = sorted({*labels, *other}, key=label_name)
    places = {label: place for place, label in enumerate(rows)}
    together = np.zeros((len(rows), len(rows)), dtype=np.int64)
    for one, two in zip(labels, other, strict=True):
        together[places[one], places[two]] += 1
    unlike = np.array([[not agree(one, two) for two in rows] for one in rows])
    by_chance = np.outer(together.sum(axis=0), together.sum(axis=1)) / len(labels)
    expected = (unlike * by_chance).sum()
    return float(1 - (unlike * together).sum() / expected) if expected else None


def label_name(label: HumanLabel | None) -> str:
    """A label as text, also where there is none."""
    return UNSCORED if label is None else label.value


def most_frequent_label(human: Sequence[HumanLabel]) -> Preference | None:
    """The label that agrees with most human ones, of equally common ones the first in `PREFERENCES`; None
    without labels.
    """
    counts = Counter(human)
    right = {
        label: sum(count for other, count in counts.items() if agree(label, other)) for label in PREFERENCES
    }
    return max(PREFERENCES, key=lambda label: right[label]) if human else None


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None without values."""
    return sum(values) / len(values) if values else None
