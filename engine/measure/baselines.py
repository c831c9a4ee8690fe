"""What judges reach that read nothing: the most frequent label, always A, the longer response, chance.

Knows: pairs and folds. Does not know: systems, files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.core.items import PREFERENCES, Item, Preference, agree, agreeing
from engine.measure.accuracy import Labels, most_frequent_label
from engine.measure.folds import LEAST_GROUPS, grouped_folds
from engine.measure.matching import Pair


@dataclass(frozen=True)
class Baselines:
    """Accuracies (0 to 1) of baselines on the same items.

    `most_frequent`: of the label that agrees with most of these very human labels: that of the other folds is
    too easy to beat where labels are about equally frequent. `longer`: the response with more characters, A
    where they are equal. `random`: what guessing among the four labels reaches on average: two of them agree
    with a `tie`.
    """

    most_frequent: float
    always_a: float
    longer: float
    random: float


def baselines(pairs: Sequence[Pair]) -> Baselines:
    """The baselines on these pairs, of which there is at least one."""
    return Baselines(**{name: sum(right) / len(right) for name, right in baseline_judges(pairs).items()})


def baseline_judges(pairs: Sequence[Pair]) -> dict[str, list[float]]:
    """By the names of Baselines, for each pair whether that judge is right (1 or 0; of guessing the
    chance).
    """
    gold = [pair.gold.label for pair in pairs]
    frequent = most_frequent_label([label for label in gold if label is not None])
    longer = [longer_response(pair.item) or Preference.A for pair in pairs]
    given: dict[str, Labels] = {
        "most_frequent": [frequent] * len(gold),
        "longer": longer,
        "always_a": [Preference.A] * len(gold),
    }
    right = {
        name: [float(agree(label, human)) for label, human in zip(labels, gold, strict=True)]
        for name, labels in given.items()
    }
    guessing = [len(agreeing(human)) / len(PREFERENCES) if human else 0.0 for human in gold]
    return {**right, "random": guessing}


def best_baseline(judges: Mapping[str, Sequence[float]]) -> tuple[str, float]:
    """The name of the one that is right most often, of equally good ones the first; its accuracy (0 to 1)."""
    name = max(judges, key=lambda each: sum(judges[each]))
    return name, sum(judges[name]) / len(judges[name])


def most_frequent_by_fold(pairs: Sequence[Pair]) -> list[Preference | None]:
    """For each pair the most frequent label of the folds it is not in; empty for a single instruction."""
    groups = [pair.item.group for pair in pairs]
    if len(set(groups)) < LEAST_GROUPS:
        return []
    guessed: list[Preference | None] = [None] * len(pairs)
    for train, test in grouped_folds(groups):
        labels = [pairs[index].gold.label for index in train]
        label = most_frequent_label([label for label in labels if label is not None])
        for index in test:
            guessed[index] = label
    return guessed


def longer_response(item: Item) -> Preference | None:
    """The response with more characters, None where both have as many."""
    difference = len(item.output_a) - len(item.output_b)
    if difference == 0:
        return None
    return Preference.A if difference > 0 else Preference.B
