"""How far annotators, of runs and datasets, give the same labels, and the judge or the dataset theirs.
Whether a judge may stand in for an annotator: the alternative annotator test of Calderon, Reichart and Dror
(2025), arXiv 2501.10970, sections 3.1 to 3.4 and B.1.
"""

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain, combinations, product
from operator import sub
from typing import Any, NamedTuple

import numpy as np

from engine.core.items import HUMAN_LABELS, HumanLabel, Item, agree, majority
from engine.core.judgments import Judgment, JudgmentKey
from engine.core.tables import Estimate
from engine.data.dataset import Dataset
from engine.metrics.annotator_quality import (
    Anchoring,
    AnnotatorQuality,
    LabellingQuality,
    labelling_quality,
)
from engine.metrics.beyond_chance import Measured, MetLabels, alpha_of, kappa_of, mean_kappa_of
from engine.metrics.intervals import FEW, OverInstructions, difference, share
from engine.results.completeness import origins_in_words
from engine.results.run_dataset import human_labels
from engine.results.run_results import RunResults

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


class _LeftOut(NamedTuple):
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
        held = {name: _left_out(name, of_criterion, judge, instructions) for name in annotators}
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


def _left_out(
    annotator: str,
    given: Mapping[JudgmentKey, Mapping[str, HumanLabel]],
    judge: Mapping[JudgmentKey, HumanLabel | None],
    instructions: Mapping[str, str],
) -> _LeftOut:
    held = _LeftOut([], [], [])
    for key, said in given.items():
        others = [label for name, label in said.items() if name != annotator]
        if annotator in said and others:
            both = (judge[key], said[annotator])
            of_judge, own = (sum(agree(one, each) for each in others) for one in both)
            held.judge.append(float(of_judge >= own))
            held.own.append(float(own >= of_judge))
            held.instructions.append(instructions.get(key.item_id, ""))
    return held


def _tested(criterion: str | None, held: Mapping[str, _LeftOut]) -> AltTest:
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
def _against(annotator: str, held: _LeftOut) -> AgainstAnnotator:
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


LabelsByKey = Mapping[JudgmentKey, HumanLabel]
JudgeLabels = Mapping[JudgmentKey, HumanLabel | None]
"""The label of a judge; None for unscored."""


@dataclass(frozen=True)
class AgainstOthers:
    """`annotator` None: each in turn; `criterion` None: all together. `items`: labels of items where the
    others have a majority; `undecided`: of those without one, which take no part. `own`: the share of `items`
    in which they agree with the others, `judge`: in which the judge does (unscored is wrong), `lead`: by how
    much more, None without a judge. `differing`: ids where they do not agree, or there is no majority.
    """

    annotator: str | None
    criterion: str | None
    items: int
    undecided: int
    own: Estimate
    judge: Estimate | None
    lead: Estimate | None
    differing: frozenset[str] = frozenset()


class _Held(NamedTuple):
    """One label of an annotator, compared with the others; `right` is None where they have no majority."""

    annotator: str
    key: JudgmentKey
    right: bool | None
    judge: bool | None


# Two annotators agree less often with each other than a good judge may with both: where three of them split
# two to one, each two agree in a third of the items, and a judge can be with the two in all of them. So how
# often two agree is no limit for a judge, and each annotator is taken out in turn: they and the judge are
# compared with the majority of the others, on the same items. That a judge is measured as the annotator whom
# it could replace is the idea of Calderon, Reichart and Dror (2025); theirs asks how often others agree with
# it.
def against_others(
    annotators: Mapping[str, LabelsByKey],
    judge: JudgeLabels | None,
    instructions: Mapping[str, str],
    criteria: Sequence[str | None],
) -> list[AgainstOthers]:
    """By criterion (None: all) all annotators in turn, then each, if others labelled the same. `judge`: only
    items that it knows take part. `instructions`: by item id; unknown ones count as one.
    """
    held, found = list(_held(annotators, judge)), []
    for criterion, name in product(criteria, (None, *annotators)):
        of_name = [each for each in held if name in (None, each.annotator)]
        of_both = [each for each in of_name if criterion in (None, each.key.criterion)]
        if any(each.right is not None for each in of_both):
            found.append(_measured(name, criterion, of_both, instructions))
    return found


def differing_items(equal: Mapping[JudgmentKey, float]) -> frozenset[str]:
    """The ids of the items of the judgments on which two sides do not agree, which is 0 there."""
    return frozenset(key.item_id for key, each in equal.items() if not each)


def _held(annotators: Mapping[str, LabelsByKey], judge: JudgeLabels | None) -> Iterator[_Held]:
    for key, of_item in labels_by_item(annotators, judge).items():
        for name, own in of_item.items() if len(of_item) > 1 else ():
            most = majority([label for other, label in of_item.items() if other != name])
            if most is None:
                yield _Held(name, key, None, None)
            else:
                with_judge = None if judge is None else agree(judge[key], most)
                yield _Held(name, key, agree(own, most), with_judge)


def _measured(
    annotator: str | None, criterion: str | None, held: Sequence[_Held], instructions: Mapping[str, str]
) -> AgainstOthers:
    decided = [each for each in held if each.right is not None]
    groups = [instructions.get(each.key.item_id, "") for each in decided]
    own = [float(each.right or 0) for each in decided]
    judge = [float(each.judge) for each in decided if each.judge is not None]
    return AgainstOthers(
        annotator,
        criterion,
        items=len(decided),
        undecided=len(held) - len(decided),
        own=share(own, groups),
        judge=share(judge, groups) if judge else None,
        differing=differing_items({each.key: each.right or 0.0 for each in held}),
        lead=difference(list(map(sub, judge, own)), groups) if judge else None,
    )


JUDGE, HUMAN = "the judge", "the human labels"
"""The sides besides annotators; an annotator with such a name is still an annotator."""


@dataclass(frozen=True)
class _Side:
    """Whose labels are compared. `of_dataset`: an annotator of the dataset, or their majority."""

    name: str
    labels: LabelsByKey
    is_annotator: bool = True
    of_dataset: bool = False


@dataclass(frozen=True)
class SharedLabels:
    """`items` that both labelled (judgments, where `criterion` is None, all together). `kappa`: Cohen's, -1
    to 1, None where both gave one label only. `differing`: the ids of the items on which they do.
    """

    one: str
    other: str
    criterion: str | None
    items: int
    equal: Estimate
    kappa: Measured
    between_annotators: bool
    differing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class AmongAnnotators:
    """`pairs`: of two with items in common; `items`: that two or more labelled. `equal`, `kappa`: means over
    the pairs by their items, `kappa` over those that have one. `alpha`: Krippendorff's, nominal, 1 complete,
    0 by chance, None for one label only. `differing`: the ids of the items on which any two differ.
    """

    criterion: str | None
    annotators: int
    pairs: int
    items: int
    equal: Estimate
    kappa: Measured
    alpha: Measured
    differing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class AnnotatorAgreement:
    """`pairs`: each two sides that share items, annotators first, by criterion and at last all together.
    `among`: by criterion, None for all, without those on which no two share an item. `picked`: sentences on
    labels whose items are no sample.
    """

    pairs: tuple[SharedLabels, ...]
    among: Mapping[str | None, AmongAnnotators]
    against_others: tuple[AgainstOthers, ...] = ()
    alt_tests: tuple[AltTest, ...] = ()
    picked: Sequence[str] = ()
    quality: LabellingQuality = field(default_factory=LabellingQuality)

    def as_json(self) -> dict[str, Any]:
        quality = self.quality
        each = [*([quality.judge] if quality.judge else ()), *quality.annotators]
        return {
            "among_people": [_plain(found) for found in self.among.values()],
            "pairs": [_plain(pair) for pair in self.pairs],
            "against_others": [_plain(found) for found in self.against_others],
            "alternative_annotator_test": [found.as_json() for found in self.alt_tests],
            "picked": list(self.picked),
            "quality": [_plain(found) for found in each],
            "anchoring": [_plain(found) for found in quality.anchoring],
        }


_KEYS = {"annotators": "people", "annotator": "person", "between_annotators": "between_people"}
"""Keys in JSON files that are older than the names of the fields."""


def _plain(
    found: AmongAnnotators | SharedLabels | AgainstOthers | AnnotatorQuality | Anchoring,
) -> dict[str, Any]:
    """The fields of a record; of a share its value, and its interval under a name of its own."""
    plain: dict[str, Any] = {}
    for name, value in vars(found).items():
        key = _KEYS.get(name, name)
        if isinstance(value, Estimate):
            plain |= {key: value.value, f"{key}_interval": value.ends}
        elif isinstance(value, Measured):
            plain |= {key: value.value, f"{key}_interval": value.interval}
        elif not isinstance(value, frozenset):  # a list of items is a matter of tables
            plain[key] = value
    return plain


def agreement_of_annotators(
    results: RunResults, gold: Dataset | None = None, own: Dataset | None = None
) -> AnnotatorAgreement | None:
    """How far the annotators of a run agree, those of a dataset with them, and the model as it judged,
    whatever was overridden; None without labels. `gold`: human labels of items with the same id and texts,
    with which their own annotators are not compared. `own`: the run's dataset, for instructions that `gold`
    lacks.
    """
    items = [] if gold is None else list(gold.same_items(results.content_hashes))
    annotators = _all_annotators(results, items)
    alone = results.model_alone().answered
    judge = {each.key: alone.label(each) for column in alone.judgments.values() for each in column}
    scored = {key: label for key, label in judge.items() if label is not None}
    others = [] if results.run.by_hand else [_Side(JUDGE, scored, is_annotator=False)]
    if gold is not None:
        others.append(_Side(HUMAN, human_labels(results, gold), is_annotator=False, of_dataset=True))
    if not annotators:
        return None
    beside = [] if own is None or own is gold else own.same_items(results.content_hashes)
    held = None if results.run.by_hand else judge
    facts = _Facts((*results.judgments, None), [*beside, *items])
    found = _agreement(annotators, others, held, facts)
    picked = origins_in_words(results.reviews.origins, results.reviews)
    quality = labelling_quality(
        results.reviews,
        {} if held is None else scored,
        {} if held is None else _flipped(alone),
        instructions=facts.instructions,
        gold={} if gold is None else human_labels(results, gold),
        seed=results.run.review_seed,
    )
    return found and replace(found, picked=picked, quality=quality)


def _flipped(results: RunResults) -> dict[JudgmentKey, bool]:
    judged = (each for column in results.judgments.values() for each in column)
    flips = {each.key: each.flipped for each in judged if isinstance(each, Judgment)}
    return {key: flipped for key, flipped in flips.items() if flipped is not None}


def annotators_against_others(
    results: RunResults | None, gold: Dataset, criteria: Sequence[str]
) -> list[AgainstOthers]:
    """Each of a run's and a dataset's annotators, all in turn first, on some criteria together."""
    items = list(gold.same_items(results.content_hashes) if results else gold)
    annotators = {
        side.name: {key: label for key, label in side.labels.items() if key.criterion in criteria}
        for side in _all_annotators(results, items)
    }
    return against_others(annotators, None, {item.id: item.group for item in items}, [None])


def annotator_agreement(dataset: Dataset, judge: JudgeLabels | None = None) -> AnnotatorAgreement | None:
    """How far the annotators of a dataset, or a `judge` as one of them, agree; None without several."""
    if not dataset.annotators:
        return None
    items = list(dataset)
    return _agreement(_annotators(items), [], judge, _Facts((*dataset.annotators, None), items))


class _Facts:
    """By what labels are told apart: `criteria`, None for all together, and the instruction of each item."""

    def __init__(self, criteria: Sequence[str | None], items: Iterable[Item]) -> None:
        self.criteria = criteria
        self.instructions = {item.id: item.group for item in items}

    def of(self, keys: Iterable[JudgmentKey]) -> list[str]:
        """The instructions of some labels; those that are not known count as one."""
        return [self.instructions.get(key.item_id, "") for key in keys]


def _agreement(
    annotators: Sequence[_Side], others: Sequence[_Side], judge: JudgeLabels | None, facts: _Facts
) -> AnnotatorAgreement | None:
    if not annotators:
        return None
    pairs = [
        _Two(one, other, facts)
        for one, other in (*combinations(annotators, 2), *product(annotators, others))
        if not (one.of_dataset and other.of_dataset and not other.is_annotator)
    ]
    by_name = {side.name: side.labels for side in annotators}
    return AnnotatorAgreement(
        tuple(shared for pair in pairs for shared in pair.shared()),
        _among(by_name, pairs, facts),
        tuple(against_others(by_name, judge, facts.instructions, facts.criteria)),
        tuple(alt_tests(by_name, judge or {}, facts.instructions, facts.criteria)),
    )


def _all_annotators(results: RunResults | None, items: Sequence[Item]) -> list[_Side]:
    said = sorted(results.reviews.labels.items()) if results else ()
    own = [_Side(name, labels) for name, labels in said if labels]
    return [*own, *_annotators(items, {side.name for side in own})]


def _annotators(items: Iterable[Item], taken: Container[str] = ()) -> list[_Side]:
    """The annotators of some items; one whose name is `taken` is told apart."""
    labels: dict[str, dict[JudgmentKey, HumanLabel]] = {}
    for item in items:
        for criterion, gold in item.gold.items():
            for name, label in gold.annotators.items():
                labels.setdefault(name, {})[JudgmentKey(item.id, criterion)] = label
    return [
        _Side(f"{name} (dataset)" if name in taken else name, given, of_dataset=True)
        for name, given in labels.items()
    ]


class _Two:
    """`equal`: by criterion and label that both gave there, 1 where they agree, else 0."""

    def __init__(self, one: _Side, other: _Side, facts: _Facts) -> None:
        self._one, self._other, self._facts = one, other, facts
        self.is_of_annotators = other.is_annotator
        common = sorted(one.labels.keys() & other.labels.keys())
        equal = {key: float(agree(one.labels[key], other.labels[key])) for key in common}
        self.equal = {
            criterion: {key: each for key, each in equal.items() if criterion in (None, key.criterion)}
            for criterion in facts.criteria
        }

    def labels(self, criterion: str | None) -> Iterator[tuple[HumanLabel, HumanLabel]]:
        return ((self._one.labels[key], self._other.labels[key]) for key in self.equal[criterion])

    def shared(self) -> Iterator[SharedLabels]:
        for criterion, equal in self.equal.items():
            if equal:
                one, other = zip(*self.labels(criterion), strict=True)
                met = MetLabels.of(one, other, self._facts.of(equal))
                yield SharedLabels(
                    one=self._one.name,
                    other=self._other.name,
                    criterion=criterion,
                    items=len(equal),
                    equal=share(list(equal.values()), self._facts.of(equal)),
                    kappa=met.measured(kappa_of),
                    between_annotators=self.is_of_annotators,
                    differing=differing_items(equal),
                )


def _among(
    annotators: Mapping[str, LabelsByKey], pairs: Sequence[_Two], facts: _Facts
) -> dict[str | None, AmongAnnotators]:
    found, given = {}, labels_by_item(annotators, None)
    for criterion in facts.criteria:
        shared = [pair for pair in pairs if pair.is_of_annotators and pair.equal[criterion]]
        if shared:
            own = {key: said for key, said in given.items() if criterion in (None, key.criterion)}
            several = {key: [*said.values()] for key, said in own.items() if len(said) > 1}
            counts = [[labels.count(label) for label in HUMAN_LABELS] for labels in several.values()]
            equal = [of_label for pair in shared for of_label in pair.equal[criterion].items()]
            instructions = facts.of(key for key, _ in equal)
            one, other = zip(*chain.from_iterable(pair.labels(criterion) for pair in shared), strict=True)
            numbers = np.repeat(np.arange(len(shared)), [len(pair.equal[criterion]) for pair in shared])
            found[criterion] = AmongAnnotators(
                criterion,
                annotators=len(set().union(*own.values())),
                pairs=len(shared),
                items=len(counts),
                equal=share([each for _, each in equal], instructions),
                kappa=MetLabels.of(one, other, instructions, numbers).measured(mean_kappa_of),
                alpha=MetLabels.among(counts, facts.of(several)).measured(alpha_of),
                differing=frozenset(key.item_id for key, each in equal if not each),
            )
    return found
