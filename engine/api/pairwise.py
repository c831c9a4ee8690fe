"""A judge in the shape that trainers of the library TRL expect: which of two completions is better.

Knows: that shape. Does not know: TRL, how anything is judged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, overload

import pandas as pd

from engine.api.judge import Judge
from engine.api.refused import in_python
from engine.commands.shared.order_arguments import BOTH
from engine.core.errors import SetupError
from engine.core.items import PREFERENCES, Preference
from engine.core.label_sources import Whose
from engine.core.rubric import ELOQUENT, usual_criterion
from engine.data.rubrics.offered import find_rubric

_WINNERS = {Preference.A.value: 0, Preference.B.value: 1}
_NONE = -1
_CANDIDATES = ("first completion", "second completion")


@dataclass(frozen=True)
class PairwiseJudge:
    """Says of pairs of completions which is better, on one criterion: None for the overall quality.

    Each call is an ordinary run of the judge's store: the same call again judges nothing twice. Unless the
    judge says otherwise, labels alone are judged. `progress`: show a bar for each call.
    """

    judge_with: Judge
    criterion: str | None = None
    progress: bool = False

    @overload
    def judge(
        self,
        prompts: Sequence[str],
        completions: Sequence[Sequence[str]],
        shuffle_order: bool = True,
        return_scores: Literal[False] = False,
    ) -> list[int]: ...
    @overload
    def judge(
        self,
        prompts: Sequence[str],
        completions: Sequence[Sequence[str]],
        shuffle_order: bool = True,
        *,
        return_scores: Literal[True],
    ) -> list[float]: ...
    @in_python()
    def judge(
        self,
        prompts: Sequence[str],
        completions: Sequence[Sequence[str]],
        shuffle_order: bool = True,
        return_scores: bool = False,
    ) -> list[int] | list[float]:
        """For each prompt the place of the better one of its two completions, 0 or 1; -1 for none: a tie, or
        unscored.

        `shuffle_order`: let chance say, by the judge's seed, which completion is read first; a judge that
        reads both orders needs no chance. `return_scores`: in place of the winner the probability, 0 to 1,
        that the first completion wins, with a tie counted half; not a number for unscored.

        Refused where the two lists do not fit each other.

        >>> PairwiseJudge(judge).judge(["Name a colour."], [["Blue.", "Blue."]])
        [-1]
        """
        _check(prompts, completions)
        if not prompts:
            return []
        with_one = self._with_one_criterion()
        swaps = [False] * len(prompts)
        if shuffle_order and with_one.orders not in {None, BOTH}:
            chance = Random(with_one.seed or 0)  # the same each time, so that the run is the same
            swaps = [chance.random() < 0.5 for _ in prompts]
        pairs = [
            (second, first) if swap else (first, second)
            for swap, (first, second) in zip(swaps, completions, strict=True)
        ]
        frame = pd.DataFrame(
            {
                "id": [str(number) for number in range(1, len(pairs) + 1)],
                "instruction": list(prompts),
                "output_a": [first for first, _ in pairs],
                "output_b": [second for _, second in pairs],
                # So that nobody is told of a prompt that occurs again: trainers ask so.
                "candidate_a": [_CANDIDATES[swap] for swap in swaps],
                "candidate_b": [_CANDIDATES[not swap] for swap in swaps],
            }
        )
        judgments = with_one.run(frame, progress=self.progress).by(Whose.JUDGE.value).judgments
        if return_scores:
            return [_turned(score, swap) for score, swap in zip(_scores(judgments), swaps, strict=True)]
        winners = (_WINNERS.get(label, _NONE) for label in judgments["label"].astype(object))
        return [
            1 - winner if swap and winner != _NONE else winner
            for winner, swap in zip(winners, swaps, strict=True)
        ]

    def _with_one_criterion(self) -> Judge:
        rubric = self.judge_with.rubric
        known = (ELOQUENT if rubric is None else find_rubric(str(rubric))).names
        criterion = self.criterion or usual_criterion(self.judge_with.criteria or known)
        return replace(self.judge_with, criteria=(criterion,), mode=self.judge_with.mode or "labels")


def _scores(judgments: pd.DataFrame) -> list[float]:
    """How probably A wins each item, with half of what is left to ties."""
    ties = [label for label in PREFERENCES if label not in {Preference.A, Preference.B}]
    half = sum(judgments[f"probability_{label}"] for label in ties) / 2
    return [float(score) for score in judgments[f"probability_{Preference.A}"] + half]


def _turned(score: float, swapped: bool) -> float:
    return 1 - score if swapped and not math.isnan(score) else score


def _check(prompts: Sequence[str], completions: Sequence[Sequence[str]]) -> None:
    if len(prompts) != len(completions):
        raise SetupError(
            f"There are {len(prompts):,} prompts and {len(completions):,} pairs of completions.",
            "Give a pair for each prompt.",
        )
    for number, pair in enumerate(completions, start=1):
        if isinstance(pair, str) or len(pair) != 2:
            raise SetupError(f"Prompt {number} has no pair of completions.", "Give two texts for each.")
