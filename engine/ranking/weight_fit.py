"""Weights and a tie threshold fitted to human overall labels, how sure they are, and files of both."""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.codec import record_of
from engine.core.errors import FileKind, InputError, SetupError
from engine.core.formatting import clipped, counted, quoted
from engine.core.judgments import FittedOn, KeptFit
from engine.core.numeric import FloatArray, IntArray
from engine.data.dataset import Dataset
from engine.data.file_kinds import expecting
from engine.data.json_records import JsonNumber, load_record
from engine.data.tables import read_json_records
from engine.metrics.intervals import Interval, group_numbers, grouped_folds, share_interval
from engine.ranking.weighted_judge import HIGHEST_SCORE, LARGEST_SCORE, WINNERS
from engine.system.sandbox import sandboxed

FOR_EACH = 10
"""Instructions with a human overall label per fitted parameter: the rule of thumb for regressions (Peduzzi et
al., A Simulation Study of the Number of Events per Variable in Logistic Regression Analysis, 1996).
"""

_SIGNS = dict(zip(WINNERS, (1, -1, 0), strict=True))
_DRAWS = 500
_SEED = 0  # the same labels have the same ranges
# Weights are not normal near 0 and 1, and a few instructions have no long tails: the usual percentiles, 2.5
# and 97.5, hold the true weight in .93 of simulated cases and in the worst in .89; these in .95.
_TAIL = 0.01


@dataclass(frozen=True)
class WeightFit:
    """Weights (not negative, sum 1), tie threshold (points), 95 % ranges. `agreement` (0 to 1): of `items`
    whose winner is the human one, cross-validated; `equal`: with equal weights and a fitted threshold;
    `most_frequent`: the others' most frequent winner. `intervals`: of these three, by name.
    """

    weights: Mapping[str, float]
    tie_threshold: float
    ranges: Mapping[str, Interval]
    threshold_range: Interval
    items: int
    instructions: int
    agreement: float
    equal: float
    most_frequent: float
    intervals: Mapping[str, Interval | None]


def fit_weights(
    pairs: Sequence[Mapping[str, Any]],
    human: Mapping[str, str],
    instructions: Mapping[str, str],
    criteria: Sequence[str],
) -> WeightFit:
    """Fit to the scored pairs whose id has a human winner; `instructions` by id keep folds apart. The weights
    minimise the squared distance between weighted score difference and human winner (10 for A, -10 for B, 0
    for a tie), none negative (Lawson and Hanson, Solving Least Squares Problems, 1974); the threshold then
    gives the most right winners. SetupError for fewer than FOR_EACH instructions for each of the `criteria`
    and the threshold, and where no criterion's scores rise with the human winner.
    """
    known = [pair for pair in pairs if pair["id"] in human]
    groups = [instructions[pair["id"]] for pair in known]
    _check_enough(len(set(groups)), len(criteria))
    differences = np.array(
        [[pair["scores_a"][name] - pair["scores_b"][name] for name in criteria] for pair in known]
    )
    winners = np.array([_SIGNS[human[pair["id"]]] for pair in known])
    weights = _weights(differences, winners)
    if not weights.any():
        raise SetupError(
            "No criterion's scores correlate positively with the human overall label, so no weights can"
            " be fitted.",
            "Check that the dataset belongs to these predictions.",
        )
    *of_weights, of_threshold = _ranges(differences, winners, group_numbers(groups))
    right = _cross_validated(differences, winners, groups)
    return WeightFit(
        weights={name: float(weight) for name, weight in zip(criteria, weights, strict=True)},
        tie_threshold=_threshold(differences @ weights, winners),
        ranges=dict(zip(criteria, of_weights, strict=True)),
        threshold_range=of_threshold,
        items=len(known),
        instructions=len(set(groups)),
        **{name: float(column.mean()) for name, column in right.items()},
        intervals={name: share_interval(column.tolist(), groups) for name, column in right.items()},
    )


def _check_enough(instructions: int, criteria: int) -> None:
    needed = FOR_EACH * (criteria + 1)
    if instructions < needed:
        raise SetupError(
            f"{instructions} instructions with a human overall label are too few to fit a tie threshold and"
            f" {counted(criteria, 'weight', 'weights')}: {FOR_EACH} for each are {needed}, so"
            f" {needed - instructions} are missing.",
            "Label more items, or give fewer criteria a weight.",
        )


def _ranges(differences: FloatArray, winners: IntArray, numbers: IntArray) -> list[Interval]:
    """The range of each weight, and of the threshold last: the whole fit on instructions drawn with
    replacement (the percentile bootstrap; Efron, Bootstrap Methods: Another Look at the Jackknife, 1979).
    """
    count = int(numbers.max()) + 1
    random = np.random.default_rng(_SEED)
    found = np.empty((_DRAWS, differences.shape[1] + 1))
    for place, times in enumerate(random.multinomial(count, np.full(count, 1 / count), size=_DRAWS)):
        drawn = np.repeat(np.arange(len(winners)), times[numbers])
        weights = _weights(differences[drawn], winners[drawn])
        found[place, :-1] = weights
        found[place, -1] = _threshold(differences[drawn] @ weights, winners[drawn])
    low, high = np.quantile(found, [_TAIL, 1 - _TAIL], axis=0)
    return [Interval(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True)]


def _cross_validated(
    differences: FloatArray, winners: IntArray, groups: Sequence[str]
) -> dict[str, FloatArray]:
    """1 for each right winner, else 0, by the names of WeightFit's shares: each of shape (items,)."""
    even = np.full(differences.shape[1], 1 / differences.shape[1])
    right = {name: np.zeros(len(winners)) for name in ("agreement", "equal", "most_frequent")}
    for train, test in grouped_folds(groups):
        frequent = max(_SIGNS.values(), key=winners[train].tolist().count)
        right["most_frequent"][test] = winners[test] == frequent
        for name, weights in (("agreement", _weights(differences[train], winners[train])), ("equal", even)):
            weighted = differences @ weights
            threshold = _threshold(weighted[train], winners[train])
            right[name][test] = _decide(weighted[test], threshold) == winners[test]
    return right


def _weights(differences: FloatArray, winners: IntArray) -> FloatArray:
    """Weights that sum to 1; all 0 where no criterion's scores rise with the winner."""
    from scipy.optimize import nnls  # noqa: PLC0415 - commands start without what only a fit needs

    weights: FloatArray = nnls(differences, HIGHEST_SCORE * winners.astype(np.float64))[0]
    total = weights.sum()
    return weights / total if total > 0 else weights


def _decide(weighted: FloatArray, threshold: float) -> IntArray:
    """1 for A, -1 for B, 0 for a tie, as pairwise_preference_judge decides but for rounding noise."""
    return np.where(np.abs(weighted) <= threshold, 0, np.sign(weighted)).astype(np.int64)


def _threshold(weighted: FloatArray, winners: IntArray) -> float:
    """The threshold with the most right winners, of equally good ones the lowest, between two margins."""
    margins = np.unique(np.abs(weighted))
    between = (margins[:-1] + margins[1:]) / 2
    candidates = np.concatenate([[0.0], between, margins[-1:]])
    order = np.argsort(np.abs(weighted), kind="stable")
    sides = np.sign(weighted[order]) == winners[order]
    ties = winners[order] == 0
    # Right winners with the k smallest margins as ties: ties among these, sides among the rest.
    right = np.concatenate([[0], np.cumsum(ties)]) + np.concatenate([np.cumsum(sides[::-1])[::-1], [0]])
    within = np.searchsorted(np.abs(weighted[order]), candidates, side="right")
    return float(candidates[int(np.argmax(right[within]))])


@dataclass(frozen=True)
class FittedWeights:
    """Weights (not negative), a tie threshold in points; `kept`: None in a file of an earlier version."""

    weights: Mapping[str, float]
    tie_threshold: float
    kept: KeptFit | None = None


def kept_of(fit: WeightFit, gold: Dataset, ids: Collection[str]) -> KeptFit:
    """What is kept of a fit to the items with these ids."""
    return KeptFit(
        dataset=gold.name,
        agreement=fit.agreement,
        agreement_interval=fit.intervals["agreement"],
        fitted_on=FittedOn.of(item for item in gold if item.id in ids),
    )


@sandboxed
def load_fitted_weights(path: Path, hint: str) -> FittedWeights:
    """The fitted weights in a file that `weigh` wrote. SetupError with this hint where it has none."""

    def made_of(values: Any) -> FittedWeights:
        fitted = values["fitted"]
        kept = record_of(fitted, KeptFit) if "took_part" in fitted else None
        return replace(record_of(fitted, FittedWeights), kept=kept)

    with expecting(path, FileKind.WEIGHTS):
        return load_record(path, "a file of fitted weights", made_of, hint)


_HINT = (
    'Each record needs "id", "scores_a" and "scores_b"; '
    "the last two hold one finite number for each criterion."
)


@sandboxed
def load_comparisons(path: Path, criteria: Sequence[str]) -> list[dict[str, Any]]:
    """The comparisons in a JSON list, or in the one list of an object, in the file's order. Each is {"id":
    str, "scores_a": {criterion: float}, "scores_b": {criterion: float}} with exactly the given criteria;
    other keys of the file are omitted. Raises SetupError where the file cannot be read, InputError with all
    problems: a key, criterion or id missing, a score that is not a finite number up to LARGEST_SCORE either
    way (true and false are none), an id used twice.
    """
    with expecting(path, FileKind.COMPARISONS):
        records = list(read_json_records(path))
        problems: list[str] = []
        comparisons = []
        first_records: dict[str, int] = {}
        for number, value in records:
            if not isinstance(value, dict):
                problems.append(f"record {number}: not an object.")
                continue
            given = value.get("id")
            item_id = str(given) if isinstance(given, str) and given else None
            place = f"record {number} (id {quoted(item_id)})" if item_id else f"record {number}"
            if item_id is None:
                problems.append(f"{place}: no id, or one that is neither text nor a number.")
            elif (first := first_records.setdefault(item_id, number)) != number:
                problems.append(f"{place}: the id is already used by record {first}.")
            scores = {key: _scores(value, key, criteria, place, problems) for key in ("scores_a", "scores_b")}
            comparisons.append({"id": item_id, **scores})
        if problems:
            raise InputError(path, problems, _HINT)
        if not comparisons:
            raise InputError(path, ["has no records."], _HINT)
        return comparisons


def _scores(
    record: Mapping[str, object], key: str, criteria: Sequence[str], place: str, problems: list[str]
) -> dict[str, float]:
    """The scores of one response; what is wrong with them is added to `problems`."""
    given = record.get(key)
    if not isinstance(given, dict):
        problems.append(f"{place}: {key!r} is {'missing' if key not in record else 'not an object'}.")
        return {}
    scores = {}
    for name in criteria:
        value = given.get(name)
        number = float(value) if isinstance(value, JsonNumber) else math.nan
        if name not in given:
            problems.append(f"{place}: {key} has no score for {name!r}.")
        elif not abs(number) <= LARGEST_SCORE:
            wrong = f"beyond {LARGEST_SCORE:g}" if math.isfinite(number) else "not a finite number"
            problems.append(f"{place}: {key}, {name}: {_shown(value)} is {wrong}.")
        scores[name] = number
    return scores


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return clipped(value if isinstance(value, JsonNumber) else json.dumps(value))
