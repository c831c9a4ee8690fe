"""The weighted judge on what a system predicted: response scores, decisions, agreement with annotators. Also
on each slice of the items, and whether scores carry anything about the items at all: else a weighing would
make a preference out of nothing.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from engine.core.errors import Hint, Setting, SetupError
from engine.core.formatting import counted, words
from engine.core.health import HealthVerdict
from engine.core.items import HumanLabel, Method, Preference, certain
from engine.core.judgments import JudgmentKey
from engine.core.methods import mean_grades
from engine.core.rubric import OVERALL
from engine.data.dataset import Dataset
from engine.data.slices import OfSlices, Slice, Slicing
from engine.metrics.intervals import FEW, Interval, OverInstructions, share_interval
from engine.metrics.matching import Matched, System
from engine.ranking.weighted_judge import (
    TIE,
    WINNERS,
    not_zero,
    pairwise_preference_judge,
    response_scores,
    score_of,
    winner_of,
)

_SAME = 1e-9  # points: scores that differ by rounding only
_SIDES: Mapping[HumanLabel, float] = {Preference.A: 1.0, Preference.B: -1.0}  # any other label: 0


@dataclass(frozen=True)
class Informativeness:
    """`nothing`: why scores of some of the `criteria` say nothing of single items; `unshown`: why it is not
    shown that they do; in words that follow “on safety”.
    """

    criteria: Sequence[str] = ()
    nothing: Mapping[str, str] = field(default_factory=dict)
    unshown: Mapping[str, str] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """Whether no criterion carries anything, so that there is nothing to weigh."""
        return bool(self.criteria) and all(name in self.nothing for name in self.criteria)

    @property
    def sentences(self) -> list[str]:
        """What must be said before anything that follows from the scores; empty where there is nothing."""
        if self.refused:
            return [f"No weighted scores, because no criterion is informative: {_listed(self.nothing)}"]
        said = []
        if self.nothing:
            said.append(f"Some criteria are not informative: {_listed(self.nothing)}")
        if self.unshown:
            said.append(f"Not shown to be informative: {_listed(self.unshown)}")
        return said

    def check(self) -> None:
        """SetupError where there is nothing to weigh."""
        if self.refused:
            raise SetupError(
                " ".join(self.sentences), "Give weight to other criteria, or choose another run."
            )

    def as_json(self) -> dict[str, Any]:
        """What there is to say, as plain values; empty where there is nothing."""
        found = {"carries_nothing": dict(self.nothing), "not_shown_to_carry": dict(self.unshown)}
        return {name: reasons for name, reasons in found.items() if reasons}


def informativeness_of(
    rows: Sequence[Mapping[str, Any]],
    criteria: Sequence[str],
    system: System,
    gold: Dataset | None = None,
    *,
    by_grades: bool = False,
) -> Informativeness:
    """`gold`: human labels. `by_grades`: the scores are grades, without a calibration. Without labels it is
    known that all scores are the same, or that a model does not judge by its health; of FEW labelled
    instructions or more, whether scores follow them, which outweighs a bad health.
    """
    nothing: dict[str, str] = {}
    unshown: dict[str, str] = {}
    calibration = system.results.calibration if system.results and not by_grades else None
    fitted = calibration.criteria if calibration else {}
    instructions = gold.groups if gold is not None else {}
    does_not_judge = bool(system.judgments) and system.health.verdict is HealthVerdict.DOES_NOT_JUDGE
    for name in criteria:
        own = [row for row in rows if JudgmentKey(row["id"], name) not in system.overrides]
        follows = _follows(own, name, gold.labels(name), instructions) if gold is not None else None
        if same := _same(own, name, read=bool(system.judgments)):
            by_frequencies = name in fitted and fitted[name].scale == 0
            how = " (calibrated to the class prior)" if by_frequencies else ""
            (nothing if system.judgments else unshown)[name] = same + how
        elif follows:
            unshown[name] = follows
        elif follows is None and name not in fitted and does_not_judge:
            nothing[name] = "the health check says that the model does not judge"
        elif follows is None and calibration and _no_better(calibration.measured.get(name)):
            unshown[name] = "its calibration, cross-validated, is no better than the class prior"
    return Informativeness(tuple(criteria), nothing, unshown)


def _same(rows: Sequence[Mapping[str, Any]], name: str, read: bool) -> str:
    """What to say where all scores are the same; `read`: probabilities, of which no two are by chance."""
    if len(rows) < (2 if read else FEW):
        return ""
    a, b = (np.array([row[side][name] for row in rows], np.float64) for side in ("scores_a", "scores_b"))
    if max(np.ptp(a), np.ptp(b)) > _SAME:
        return ""
    lead = float(a[0] - b[0])
    points = f", {abs(lead):.1f} points for {'A' if lead > 0 else 'B'}" if abs(lead) > _SAME else ""
    what = "the scores are the same" if read else "there is one label"
    return f"{what} for all {len(rows):,} items{points}"


def _no_better(measured: Any) -> bool:
    """Whether a calibration says of itself that it does no better than frequencies."""
    try:
        after, frequencies = (float(measured[of]["log_loss"]) for of in ("after", "most_frequent_label"))
    except (KeyError, TypeError, ValueError):  # a file may hold anything there, or nothing
        return False
    return after >= frequencies


def _follows(
    rows: Sequence[Mapping[str, Any]],
    name: str,
    annotators: Mapping[str, HumanLabel],
    instructions: Mapping[str, str],
) -> str | None:
    """What is to be said where scores do not significantly follow human labels, else empty; None for fewer
    than FEW labelled instructions, and where labels or scores are all alike.
    """
    known = [row for row in rows if row["id"] in annotators]
    groups = [instructions[row["id"]] for row in known]
    if len(set(groups)) < FEW:
        return None
    of_system = np.array([row["scores_a"][name] - row["scores_b"][name] for row in known])
    of_annotators = np.array([_SIDES.get(annotators[row["id"]], 0.0) for row in known])
    if np.ptp(of_system) <= _SAME or np.ptp(of_annotators) == 0:
        return None
    # The correlation is the mean of the products of both standardised: its interval is that of a difference.
    one, other = ((values - values.mean()) / values.std() for values in (of_system, of_annotators))
    found = OverInstructions.of_one((one * other).tolist(), groups)
    assert found is not None
    if found.difference_interval().low > 0:
        return ""
    labels = counted(len(known), "human label does", "human labels do")
    return f"{labels} not show that its scores agree with annotators (correlation {found.mean:.2f})"


def _listed(reasons: Mapping[str, str]) -> str:
    found: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        found.setdefault(reason, []).append(words(name))
    return "; ".join(f"on {', '.join(names)} {reason}" for reason, names in found.items()) + "."


ScoredPair = dict[str, Any]  # what pairwise_preference_judge takes: id, scores_a, scores_b


@dataclass(frozen=True)
class ScoredPairs:
    """`left_out`: ids without a judgment on some criterion. `by_grades`: scores are the model's grades."""

    rows: list[ScoredPair]
    left_out: tuple[str, ...] = ()
    by_grades: bool = False


def scored_pairs_of(
    system: System, criteria: Sequence[str], ids: Container[str] | None = None, *, by_grades: bool = False
) -> ScoredPairs:
    """On some criteria, with `ids` only of these items. A label without probabilities, of a submission or an
    override, has probability 1. `by_grades`: by the model's mean grades, 0 for grade 1 and 10 for 5.
    SetupError for a system without grades.
    """
    if by_grades and (system.results is None or Method.POINTWISE_GRADE not in system.results.methods):
        judge_so = "Judge with pointwise grades (`graded`) among the "
        raise SetupError(
            f"{system.name} has no pointwise grades.",
            Hint(judge_so, Setting.METHODS, ", or use probabilities as scores."),
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
        a, b = ({name: of[side] for name, of in zip(criteria, known, strict=True)} for side in (0, 1))
        rows.append({"id": row.id, "scores_a": a, "scores_b": b})
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
    """All labels that prefer neither response are a tie. `accuracy`: share (0 to 1) of `items` with the human
    winner; `most_frequent`: of the most frequent one; `own_label`: of the system's overall label, None where
    one lacks. `confusion`: rows human, columns weighted, as WINNERS. `intervals`: by these names.
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
    """`result`: of pairwise_preference_judge, of none where scores carry nothing. `agreement`: None without
    labels. `intervals`: of the shares by WINNERS, None for unknown instructions or a single one.
    `fit_in_words`: how many items took part in the fit of the weights; or empty.
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
    """ValueError as of pairwise_preference_judge. `gold`: human labels. `system`: whose scores; nothing is
    decided where none carries anything. `items`: give instructions where there is no `gold`.
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
    if system is not None and OVERALL in system.criteria:
        labels = {item_id: system.rows[item_id].predictions[OVERALL].preference for item_id in human}
        if None not in labels.values():
            right["own_label"] = [
                winner_of(label) == human[item_id] for item_id, label in labels.items() if label is not None
            ]
    shares = {name: sum(column) / len(human) for name, column in right.items()}
    return OverallAgreement(
        items=len(human),
        accuracy=shares["accuracy"],
        most_frequent=shares["most_frequent"],
        own_label=shares.get("own_label"),
        confusion=tuple(tuple(pairs[row, column] for column in WINNERS) for row in WINNERS),
        intervals={name: _interval(column, human, instructions) for name, column in right.items()},
    )


def _interval(
    happened: Sequence[bool], ids: Iterable[str], instructions: Mapping[str, str]
) -> Interval | None:
    """Of the share of items where something happened; None where the instruction of some is not known."""
    asked = [instructions.get(item_id) for item_id in ids]
    return None if None in asked else share_interval([float(each) for each in happened], asked)


@dataclass(frozen=True)
class SliceScoring:
    """`rates`: the share (0 to 1) that A wins, B wins, and that is a tie, by WINNERS, with intervals;
    `agreement` with human overall labels.
    """

    part: Slice
    items: int
    instructions: int
    rates: Mapping[str, tuple[float, Interval | None]]
    agreement: OverallAgreement | None
    interval: Interval | None

    def as_json(self) -> dict[str, Any]:
        rates = {name: {"share": share, "interval": ends} for name, (share, ends) in self.rates.items()}
        agreement = self.agreement and asdict(self.agreement)
        own = {"items": self.items, "rates": rates, "agreement": agreement, "interval": self.interval}
        return self.part.as_json(own)


SlicedWeightedScoring = OfSlices[SliceScoring]
"""The slices of a division in which anything is decided."""


def weigh_slices(
    pairs: ScoredPairs, weighted_scoring: WeightedScoring, gold: Dataset, division: Slicing
) -> SlicedWeightedScoring:
    """What was decided of `pairs`, slice by slice; slices without a decision are omitted."""
    instructions = gold.groups
    rows = {row["id"]: row for row in pairs.rows}
    found = []
    weights, tie_threshold = weighted_scoring.weights, weighted_scoring.tie_threshold
    for part in division.slices:
        if of_slice := [rows[item_id] for item_id in part.ids if item_id in rows]:
            decided = weigh(ScoredPairs(of_slice), weights, tie_threshold, gold)
            agreement, asked = decided.agreement, {instructions[row["id"]] for row in of_slice}
            interval = agreement.intervals["accuracy"] if agreement else None
            found.append(SliceScoring(part, len(of_slice), len(asked), decided.rates, agreement, interval))
    return SlicedWeightedScoring(division, tuple(found))


def weigh_by_default(matched: Matched, division: Slicing) -> SlicedWeightedScoring | None:
    """By the weights of a run's own rubric, of a submission by that of the labels; None where there is
    nothing to decide, or scores that are not informative.
    """
    system = matched.system
    rubric = system.asked or matched.dataset.rubric
    weights = not_zero(rubric.weights(system.criteria))
    known = frozenset(matched.dataset.ids)
    pairs = scored_pairs_of(system, list(weights), known) if weights else ScoredPairs([])
    if not pairs.rows:
        return None
    found = weigh(pairs, weights, rubric.tie_threshold, matched.dataset, system)
    return None if found.informative.refused else weigh_slices(pairs, found, matched.dataset, division)
