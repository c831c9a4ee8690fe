"""The weighted judge on what a system predicted: response scores, decisions, and agreement with annotators.

Knows: systems, the scores of a response, human overall labels. Does not know: how weights are fitted, files.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import SetupError
from engine.core.items import Method, certain
from engine.core.judgments import JudgmentKey
from engine.core.remedies import Hint, Setting
from engine.core.rubric import OVERALL
from engine.core.ways.graded import mean_grades
from engine.data.dataset import Dataset
from engine.measure.intervals import Interval, share_interval
from engine.measure.systems import System
from engine.weigh.carried import Informativeness, informativeness_of
from engine.weigh.item_winner import response_scores, score_of, winner_of
from engine.weigh.weighted_judge import TIE, WINNERS, pairwise_preference_judge

ScoredPair = dict[str, Any]  # what pairwise_preference_judge takes: id, scores_a, scores_b


@dataclass(frozen=True)
class ScoredPairs:
    """What the weighted judge decides. `left_out`: ids of items without a judgment on some criterion.
    `by_grades`: the scores are the model's grades.
    """

    rows: list[ScoredPair]
    left_out: tuple[str, ...] = ()
    by_grades: bool = False


def scored_pairs_of(
    system: System,
    criteria: Sequence[str],
    ids: Container[str] | None = None,
    *,
    by_grades: bool = False,
) -> ScoredPairs:
    """The response scores of a system's items (with `ids` only of these) on some of its criteria.

    A label without probabilities, of a submission or of an annotator who overrode the run, has probability 1.
    `by_grades`: the scores are the model's mean grades of the responses, 0 for grade 1 and 10 for grade 5, in
    the place of its probabilities. SetupError for a system that gave no grades.
    """
    if by_grades and (system.results is None or Method.POINTWISE_GRADE not in system.results.methods):
        raise SetupError(
            f"{system.name} has no pointwise grades.",
            Hint(
                "Judge with pointwise grades (`graded`) among the ",
                Setting.METHODS,
                ", or use probabilities as scores.",
            ),
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
    return ScoredPairs(rows, tuple(left_out), by_grades)


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
        grades = mean_grades(judgment.raw_predictions)
        return None if grades is None else (score_of(grades[0]), score_of(grades[1]))
    return response_scores(judgment.probabilities)


@dataclass(frozen=True)
class OverallAgreement:
    """Weighted winners compared with human overall labels, of which all that prefer neither response are a
    tie.

    `accuracy`: share (0 to 1) of the `items` where they are the same. `most_frequent`: share of the most
    frequent human winner. `own_label`: share where the system's own overall label, taken in the same way, is
    the human one; None where it gave none for some item. `confusion`: rows human, columns weighted, in the
    order of WINNERS. `intervals`: of these shares, by their names here.
    """

    items: int
    accuracy: float
    most_frequent: float
    own_label: float | None
    confusion: tuple[tuple[int, ...], ...]
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)

    @property
    def ties(self) -> int:
        """How many of the items are a tie by the human label."""
        return sum(self.confusion[WINNERS.index(TIE)])


@dataclass(frozen=True)
class WeightedScoring:
    """What the weighted judge made of some pairs of scores; of none where these carry nothing.

    `result` is what pairwise_preference_judge returned. `agreement`: None without human labels. `intervals`:
    of the shares that A wins, B wins, and that are a tie, by the names of WINNERS; None where the
    instructions of the items are not known, or a single one. `fit_in_words`: how many of the items took part
    in the fit of the weights; empty where none did.
    """

    weights: Mapping[str, float]
    tie_threshold: float
    result: Mapping[str, Any]
    left_out: tuple[str, ...]
    agreement: OverallAgreement | None
    intervals: Mapping[str, Interval | None] = field(default_factory=dict)
    informative: Informativeness = field(default_factory=Informativeness)
    fit_in_words: str = ""

    @property
    def margins(self) -> list[float]:
        """The margin of each comparison, in score points."""
        return [float(decision["margin"]) for decision in self.result["results"]]

    @property
    def rates(self) -> dict[str, tuple[float, Interval | None]]:
        """The share (0 to 1) of comparisons that A wins, B wins, and that are a tie, with its interval."""
        shares = (self.result[name] for name in ("win_rate_a", "win_rate_b", "tie_rate"))
        return {name: (share, self.intervals.get(name)) for name, share in zip(WINNERS, shares, strict=True)}


def weigh(
    pairs: ScoredPairs,
    weights: Mapping[str, float],
    tie_threshold: float,
    gold: Dataset | None = None,
    system: System | None = None,
    *,
    items: Dataset | None = None,
) -> WeightedScoring:
    """Decide the pairs; ValueError as pairwise_preference_judge raises it.

    `gold`: human labels. `system`: whose scores they are; where none of them carries anything, nothing is
    decided. `items`: what gives the items' instructions, and so the intervals, where there is no `gold`.
    """
    informative = Informativeness()
    if system is not None:
        weighed = [name for name, weight in weights.items() if weight > 0]
        informative = informativeness_of(pairs.rows, weighed, system, gold, by_grades=pairs.by_grades)
    decided = [] if informative.refused else pairs.rows
    result = pairwise_preference_judge(decided, dict(weights), tie_threshold)
    winners = {decision["id"]: decision["winner"] for decision in result["results"]}
    known = items if gold is None else gold
    instructions = known.groups if known is not None else {}
    agreement = _agreement(winners, gold, instructions, system) if gold is not None else None
    won = {name: [winner == name for winner in winners.values()] for name in WINNERS}
    intervals = {name: _interval(column, winners, instructions) for name, column in won.items()}
    return WeightedScoring(weights, tie_threshold, result, pairs.left_out, agreement, intervals, informative)


def human_winners(gold: Dataset) -> dict[str, str]:
    """The winner by the human overall label, of each item that has one."""
    return {item_id: winner_of(label) for item_id, label in gold.labels(OVERALL).items()}


def _agreement(
    winners: Mapping[str, str], gold: Dataset, instructions: Mapping[str, str], system: System | None
) -> OverallAgreement | None:
    human = {item_id: winner for item_id, winner in human_winners(gold).items() if item_id in winners}
    if not human:
        return None
    pairs = Counter((label, winners[item_id]) for item_id, label in human.items())
    frequent = Counter(human.values()).most_common(1)[0][0]
    right = {
        "accuracy": [winners[item_id] == label for item_id, label in human.items()],
        "most_frequent": [label == frequent for label in human.values()],
    }
    if system is not None and (own := _own_label(human, system)) is not None:
        right["own_label"] = own
    shares = {name: sum(column) / len(human) for name, column in right.items()}
    return OverallAgreement(
        items=len(human),
        accuracy=shares["accuracy"],
        most_frequent=shares["most_frequent"],
        own_label=shares.get("own_label"),
        confusion=tuple(tuple(pairs[row, column] for column in WINNERS) for row in WINNERS),
        intervals={name: _interval(column, human, instructions) for name, column in right.items()},
    )


def _own_label(human: Mapping[str, str], system: System) -> list[bool] | None:
    """Where the system's own overall label, as a winner, is the human one."""
    if OVERALL not in system.criteria:
        return None
    labels = {item_id: system.rows[item_id].predictions[OVERALL].preference for item_id in human}
    same = [label and winner_of(label) == human[item_id] for item_id, label in labels.items()]
    return None if None in same else [bool(each) for each in same]


def _interval(
    happened: Sequence[bool], ids: Iterable[str], instructions: Mapping[str, str]
) -> Interval | None:
    """Of the share of items where something happened; None where the instruction of some is not known."""
    asked = [instructions.get(item_id) for item_id in ids]
    return None if None in asked else share_interval([float(each) for each in happened], asked)
