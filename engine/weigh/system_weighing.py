"""The weighted judge on what a system predicted: response scores, decisions, and agreement with people.

Knows: systems, the scores of a response, human overall labels. Does not know: how weights are fitted, files.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.core.errors import SetupError
from engine.core.items import Way
from engine.core.judgments import JudgmentKey
from engine.core.remedies import Remedy, Setting
from engine.core.ways.graded import mean_grades
from engine.data.dataset import Dataset
from engine.measure.systems import System
from engine.weigh.item_winner import OVERALL, certain, response_scores, score_of, winner_of
from engine.weigh.weighted_judge import TIE, WINNERS, pairwise_preference_judge

ScoredPair = dict[str, Any]  # what pairwise_preference_judge takes: id, scores_a, scores_b


@dataclass(frozen=True)
class ScoredPairs:
    """What the weighted judge decides. `left_out`: ids of items without a judgment on some criterion."""

    rows: list[ScoredPair]
    left_out: tuple[str, ...] = ()


def scored_pairs_of(
    system: System,
    criteria: Sequence[str],
    ids: Container[str] | None = None,
    *,
    by_grades: bool = False,
) -> ScoredPairs:
    """The response scores of a system's items (with `ids` only of these) on some of its criteria.

    A label without probabilities, of a submission or of a person who overrode the run, has probability 1.
    `by_grades`: the scores are the model's mean grades of the responses, 0 for grade 1 and 10 for grade 5, in
    the place of its probabilities. SetupError for a system that gave no grades.
    """
    if by_grades and (system.results is None or Way.GRADED not in system.results.ways):
        raise SetupError(
            f"{system.name} gave no grades to its responses.",
            Remedy("Judge with `graded` among the ", Setting.WAYS, ", or weigh by probabilities."),
        )
    rows, left_out = [], []
    for row in system.submission.rows:
        if ids is not None and row.id not in ids:
            continue
        scores = [_scores(system, row.id, name, by_grades) for name in criteria]
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            left_out.append(row.id)
            continue
        rows.append(
            {
                "id": row.id,
                "scores_a": {name: a for name, (a, _) in zip(criteria, known, strict=True)},
                "scores_b": {name: b for name, (_, b) in zip(criteria, known, strict=True)},
            }
        )
    return ScoredPairs(rows, tuple(left_out))


def _scores(system: System, item_id: str, criterion: str, by_grades: bool) -> tuple[float, float] | None:
    """The scores of A and B; None where the system made no judgment."""
    preference = system.rows[item_id].predictions[criterion].preference
    if preference is None:
        return None
    key = JudgmentKey(item_id, criterion)
    judgment, override = system.judgments.get(key), system.overrides.get(key)
    if judgment is None or (override is not None and override.preference is not None):
        return response_scores(certain(preference))
    if by_grades:
        grades = mean_grades(judgment.readings)
        return None if grades is None else (score_of(grades[0]), score_of(grades[1]))
    return response_scores(judgment.probabilities)


@dataclass(frozen=True)
class OverallAgreement:
    """Weighted winners held against human overall labels, of which all that prefer neither response are a
    tie.

    `accuracy`: share (0 to 1) of the `items` where they are the same. `most_frequent`: share of the most
    frequent human winner. `own_label`: share where the system's own overall label, taken in the same way, is
    the human one; None where it gave none for some item. `confusion`: rows human, columns weighted, in the
    order of WINNERS.
    """

    items: int
    accuracy: float
    most_frequent: float
    own_label: float | None
    confusion: tuple[tuple[int, ...], ...]

    @property
    def ties(self) -> int:
        """How many of the items are a tie by the human label."""
        return sum(self.confusion[WINNERS.index(TIE)])


@dataclass(frozen=True)
class Weighing:
    """What the weighted judge made of some pairs of scores.

    `result` is what pairwise_preference_judge returned. `agreement`: None without human labels.
    `fit_in_words`: how many of the items took part in the fit of the weights; empty where none did.
    """

    weights: Mapping[str, float]
    tie_threshold: float
    result: Mapping[str, Any]
    left_out: tuple[str, ...]
    agreement: OverallAgreement | None
    fit_in_words: str = ""

    @property
    def margins(self) -> list[float]:
        """The margin of each comparison, in score points."""
        return [float(decision["margin"]) for decision in self.result["results"]]


def weigh(
    pairs: ScoredPairs,
    weights: Mapping[str, float],
    tie_threshold: float,
    gold: Dataset | None = None,
    system: System | None = None,
) -> Weighing:
    """Decide the pairs; ValueError as pairwise_preference_judge raises it."""
    result = pairwise_preference_judge(pairs.rows, dict(weights), tie_threshold)
    winners = {decision["id"]: decision["winner"] for decision in result["results"]}
    agreement = _agreement(winners, gold, system) if gold is not None else None
    return Weighing(weights, tie_threshold, result, pairs.left_out, agreement)


def human_winners(gold: Dataset) -> dict[str, str]:
    """The winner by the human overall label, of each item that has one."""
    labels = {item.id: item.gold[OVERALL].label for item in gold if OVERALL in item.gold}
    return {item_id: winner_of(label) for item_id, label in labels.items() if label is not None}


def _agreement(winners: Mapping[str, str], gold: Dataset, system: System | None) -> OverallAgreement | None:
    human = {item_id: winner for item_id, winner in human_winners(gold).items() if item_id in winners}
    if not human:
        return None
    pairs = Counter((label, winners[item_id]) for item_id, label in human.items())
    return OverallAgreement(
        items=len(human),
        accuracy=sum(pairs[name, name] for name in WINNERS) / len(human),
        most_frequent=Counter(human.values()).most_common(1)[0][1] / len(human),
        own_label=_own_label(human, system) if system else None,
        confusion=tuple(tuple(pairs[row, column] for column in WINNERS) for row in WINNERS),
    )


def _own_label(human: Mapping[str, str], system: System) -> float | None:
    if OVERALL not in system.criteria:
        return None
    labels = {item_id: system.rows[item_id].predictions[OVERALL].preference for item_id in human}
    same = [label and winner_of(label) == human[item_id] for item_id, label in labels.items()]
    return None if None in same else sum(map(bool, same)) / len(same)
