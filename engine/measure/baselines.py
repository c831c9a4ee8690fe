"""What judges reach that read nothing: the most frequent label, always A, the longer response, chance.

Knows: pairs and folds. Does not know: systems, files.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.core.items import PREFERENCES, Item, Preference, agreeing
from engine.measure.accuracy import most_frequent_label, share_right
from engine.measure.folds import LEAST_GROUPS, grouped_folds
from engine.measure.matching import Pair


@dataclass(frozen=True)
class Baselines:
    """Accuracies (0 to 1) of trivial judges on the same items.

    `most_frequent`: cross-validated, each item is given the most frequent label of the other folds; None
    for a single instruction. `longer`: the response with more characters, A where they are equal. `random`:
    what guessing among the four labels reaches on average: two of them agree with a `tie`.
    """

    most_frequent: float | None
    always_a: float
    longer: float
    random: float = 1 / len(PREFERENCES)


def baselines(pairs: Sequence[Pair]) -> Baselines:
    """The baselines on these pairs, of which there is at least one."""
    gold = [pair.gold.label for pair in pairs]
    guessed = most_frequent_by_fold(pairs)
    return Baselines(
        most_frequent=share_right(guessed, gold) if guessed else None,
        always_a=share_right([Preference.A] * len(gold), gold),
        longer=share_right([longer_response(pair.item) or Preference.A for pair in pairs], gold),
        random=sum(len(agreeing(label)) for label in gold if label) / (len(PREFERENCES) * len(gold)),
    )


def most_frequent_by_fold(pairs: Sequence[Pair]) -> list[Preference | None]:
    """For each pair the most frequent label of the folds it is not in; empty for a single instruction."""
    groups = [pair.item.instruction for pair in pairs]
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
