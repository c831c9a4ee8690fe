"""Whether a judge may stand in for an annotator: the alternative annotator test of Calderon, Reichart and
Dror (2025), arXiv 2501.10970, sections 3.1 to 3.4 and B.1.
"""

from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from operator import sub
from typing import Any, NamedTuple

from engine.core.items import HumanLabel, agree
from engine.core.judgments import JudgmentKey
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions

LEAST_ITEMS = 30
"""The minimum number of an annotator's items that others labelled too: with fewer, the paper does not trust
its test."""
ENOUGH = 0.5
"""The share of annotators against whom a judge has to win."""
_RATE = 0.05
"""The expected share of false wins (false discovery rate)."""


class Annotators(Enum):
    """Who labelled; the epsilon that the paper proposes for them: by how much they may be better (0 to 1)."""

    EXPERTS = 0.2
    SKILLED = 0.15
    CROWD = 0.1

    @property
    def in_words(self) -> str:
        """`skilled annotators (.15)`."""
        names = {Annotators.EXPERTS: "experts", Annotators.SKILLED: "skilled annotators"}
        return f"{names.get(self, 'crowd workers')} ({f'{self.value:g}'.removeprefix('0')})"


@dataclass(frozen=True)
class AgainstAnnotator:
    """`annotator` is left out: they and the judge against the others on LEAST_ITEMS or more `items` of
    theirs. `judge`, `own`: the share (0 to 1) on which each agrees with as many of the others as the other
    does, or more. `p_values`: one-sided, that the annotator's is above the judge's by epsilon or more.
    `beaten`: for whom the judge wins, after Benjamini and Yekutieli's correction over all annotators.
    """

    annotator: str
    items: int
    judge: Estimate
    own: Estimate
    p_values: Mapping[Annotators, float]
    beaten: frozenset[Annotators] = frozenset()


@dataclass(frozen=True)
class AltTest:
    """On one criterion, None for all. `advantage`: the mean over annotators of the judge's, rho, 0 to 1, with
    its 95 % interval over instructions.
    """

    criterion: str | None
    annotators: tuple[AgainstAnnotator, ...]
    advantage: Estimate

    def wins(self, annotators: Annotators) -> int:
        return sum(annotators in held.beaten for held in self.annotators)

    def winning_rate(self, annotators: Annotators) -> float:
        """Against what part of the annotators it does: omega, 0 to 1."""
        return self.wins(annotators) / len(self.annotators)

    def may_replace(self, annotators: Annotators) -> bool:
        return self.winning_rate(annotators) >= ENOUGH

    def as_json(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "advantage_probability": self.advantage.value,
            "advantage_probability_interval": self.advantage.ends,
            "by_annotators": [
                {
                    "annotators": kind.name.lower(),
                    "epsilon": kind.value,
                    "winning_rate": self.winning_rate(kind),
                    "may_replace": self.may_replace(kind),
                }
                for kind in Annotators
            ],
            "people": [
                {
                    "person": held.annotator,
                    "items": held.items,
                    "judge_advantage": held.judge.value,
                    "own_advantage": held.own.value,
                    "p_values": {kind.name.lower(): p for kind, p in held.p_values.items()},
                    "beaten_as": [kind.name.lower() for kind in Annotators if kind in held.beaten],
                }
                for held in self.annotators
            ],
        }


class _Held(NamedTuple):
    """By item of an annotator: 1 where the judge agrees with as many others as they do or more, else 0; the
    reverse; the instruction.
    """

    judge: list[float]
    own: list[float]
    instructions: list[Hashable]

    @property
    def enough(self) -> bool:
        return len(self.own) >= LEAST_ITEMS and len(set(self.instructions)) >= FEW


# Each annotator is left out in turn. For each of their items, the share of the others with whom they agree is
# compared with that of the judge. Their advantage is the share of items on which they agree with as many as
# the judge or with more; the judge's is the reverse. The judge wins against them if their advantage is
# significantly less than epsilon above the judge's, for an annotator costs more; a judge that wins against
# half of the annotators or more may stand in for one.
def alt_tests(
    annotators: Mapping[str, Mapping[JudgmentKey, HumanLabel]],
    judge: Mapping[JudgmentKey, HumanLabel | None],
    instructions: Mapping[str, str],
    criteria: Sequence[str | None],
) -> Iterator[AltTest]:
    """On each of some criteria (None: all together) that two or more annotators labelled LEAST_ITEMS of, of
    items that the `judge` knows; None as a label is unscored. `instructions`: by item id; unknown ones count
    as one.
    """
    given = labels_by_item(annotators, judge)
    for criterion in criteria:
        of_criterion = {key: said for key, said in given.items() if criterion in (None, key.criterion)}
        held = {name: _held(name, of_criterion, judge, instructions) for name in annotators}
        held = {name: of_annotator for name, of_annotator in held.items() if of_annotator.enough}
        # All together, one criterion alone would be said twice.
        said_before = criterion is None and len({key.criterion for key in of_criterion}) == 1
        if len(held) > 1 and not said_before:
            yield _tested(criterion, held)


def labels_by_item(
    annotators: Mapping[str, Mapping[JudgmentKey, HumanLabel]], among: Container[JudgmentKey] | None
) -> dict[JudgmentKey, dict[str, HumanLabel]]:
    """The labels of each item by annotator, of all items or of those `among`."""
    given: dict[JudgmentKey, dict[str, HumanLabel]] = {}
    for name, labels in annotators.items():
        for key, label in labels.items():
            if among is None or key in among:
                given.setdefault(key, {})[name] = label
    return given


def _held(
    annotator: str,
    given: Mapping[JudgmentKey, Mapping[str, HumanLabel]],
    judge: Mapping[JudgmentKey, HumanLabel | None],
    instructions: Mapping[str, str],
) -> _Held:
    held = _Held([], [], [])
    for key, said in given.items():
        others = [label for name, label in said.items() if name != annotator]
        if annotator in said and others:
            both = (judge[key], said[annotator])
            of_judge, own = (sum(agree(one, each) for each in others) for one in both)
            held.judge.append(float(of_judge >= own))
            held.own.append(float(own >= of_judge))
            held.instructions.append(instructions.get(key.item_id, ""))
    return held


def _tested(criterion: str | None, held: Mapping[str, _Held]) -> AltTest:
    annotators = [_against(name, of_annotator) for name, of_annotator in held.items()]
    beaten = {kind: rejected([one.p_values[kind] for one in annotators]) for kind in Annotators}
    told = [
        replace(one, beaten=frozenset(kind for kind in Annotators if beaten[kind][place]))
        for place, one in enumerate(annotators)
    ]
    mean = OverInstructions.of(
        {name: of_annotator.judge for name, of_annotator in held.items()},
        {name: of_annotator.instructions for name, of_annotator in held.items()},
    )
    assert mean is not None  # of FEW instructions or more
    return AltTest(criterion, tuple(told), Estimate(mean.mean, mean.share_interval()))


# The paper's is the t-test of independent items. Here items of one instruction belong together, and the error
# is no less than the least possible one: where the judge is worse by epsilon and never better, the plain
# t-test on thirty items lets it win in 13 to 17 % of simulations, this one in 4 to 5 %
# (`bench/coverage/annotators.py`).
def _against(annotator: str, held: _Held) -> AgainstAnnotator:
    lead = OverInstructions.of_one(list(map(sub, held.own, held.judge)), held.instructions)
    assert lead is not None
    judge, own = (Estimate(sum(side) / len(side)) for side in held[:2])
    p_values = {kind: lead.p_below(kind.value) for kind in Annotators}
    return AgainstAnnotator(annotator, len(held.own), judge, own, p_values)


def rejected(p_values: Sequence[float]) -> list[bool]:
    """Which null hypotheses are given up, so that 5 % of these at most are true, however tests depend on each
    other. Benjamini and Yekutieli, The Control of the False Discovery Rate in Multiple Testing under
    Dependency (2001).
    """
    count = len(p_values)
    shrunk = _RATE / sum(1 / place for place in range(1, count + 1))
    ranked = sorted(p_values)
    last = max((p for place, p in enumerate(ranked, 1) if p <= place * shrunk / count), default=-1.0)
    return [p <= last for p in p_values]
