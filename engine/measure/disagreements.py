"""The labels of which a judge was most confident, and that are not the human ones.

Knows: matched pairs, their probabilities. Does not know: how disagreements are shown.
"""

import math
from dataclasses import dataclass

from engine.core.items import PREFERENCES, HumanLabel, Preference, agree, probability_of
from engine.measure.evaluation import Evaluation
from engine.measure.matching import Pair


@dataclass(frozen=True)
class Disagreement:
    """One judgment whose label does not agree with the human one.

    `lead`: how much likelier (0 to 1; for a `tie` it may be negative) the judge took its own label than what
    agrees with the human one; None for a submission, which has no probabilities.
    """

    criterion: str
    pair: Pair
    human: HumanLabel
    predicted: Preference
    lead: float | None


def largest_disagreements(evaluation: Evaluation, most: int = 20) -> list[Disagreement]:
    """The `most` disagreements with the greatest lead, of equal ones the first in the dataset.

    Those without a lead come last, in the order of the dataset. What is unscored has no label, and is none.
    Nor is what an annotator labelled in the judge's place, whether or not it is the judge's label: omitted.
    """
    places = {item_id: place for place, item_id in enumerate(evaluation.matched.dataset.ids)}
    found = [
        disagreement
        for criterion, pairs in evaluation.matched.pairs.items()
        for pair in pairs
        if (disagreement := _disagreement(criterion, pair))
    ]
    # Sorting keeps the order of the criteria within an item.
    found.sort(
        key=lambda entry: (math.inf if entry.lead is None else -entry.lead, places[entry.pair.item.id])
    )
    return found[: max(0, most)]


def _disagreement(criterion: str, pair: Pair) -> Disagreement | None:
    human, predicted = pair.gold.label, pair.prediction.preference
    if pair.labelled_by_annotator or human is None or predicted is None or agree(predicted, human):
        return None
    return Disagreement(criterion, pair, human, predicted, _lead(pair, human, predicted))


def _lead(pair: Pair, human: HumanLabel, predicted: Preference) -> float | None:
    if pair.judgment is None:
        return None
    probabilities = pair.judgment.probabilities
    return probabilities[PREFERENCES.index(predicted)] - probability_of(human, probabilities)
