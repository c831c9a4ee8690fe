"""How often an annotator gives the label that most of the other annotators give, and a judge instead.

Two annotators agree less often with each other than a good judge may with both: where three of them split two
to one, each two agree in a third of the items, and a judge can be with the two in all of them. So each
annotator is taken out in turn, and both they and the judge are compared with the majority of those who are
left, on the same items. That a judge is measured as the annotator whom it could replace is the idea of
Calderon, Reichart and Dror, The Alternative Annotator Test for LLM-as-a-Judge (2025); theirs asks how often
others agree with it, here it is the majority, as in the human labels of a dataset.

Knows: labels by annotator, judgment. Does not know: where they come from, what is shown of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.core.items import HumanLabel, agree, majority
from engine.core.judgments import JudgmentKey
from engine.core.value_tables import Estimate
from engine.measure.intervals import difference, share

LabelsByKey = Mapping[JudgmentKey, HumanLabel]
JudgeLabels = Mapping[JudgmentKey, HumanLabel | None]
"""The label of a judge; None for unscored."""


@dataclass(frozen=True)
class AgainstOthers:
    """`annotator`: who is compared with the others; None for each in turn. `criterion`: None for all
    together.

    `items`: how many of their labels are of items where the others have a majority, at least 1; `undecided`:
    how many are of items that others labelled without one: these take no part. `own`: the share of `items`
    in which the annotator gives the label of the others. `judge`: that in which the judge does, where
    unscored counts as wrong; `lead`: by how much the judge does more often; both None without a judge.
    `differing`: the ids of the items where the annotator gives another label, or the others have no majority.
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


def against_others(
    annotators: Mapping[str, LabelsByKey],
    judge: JudgeLabels | None,
    instructions: Mapping[str, str],
    criteria: Sequence[str | None],
) -> list[AgainstOthers]:
    """By criterion (None: all together) all annotators in turn, then each; those without such an item are
    omitted.

    `judge`: only items that it knows take part; None for no judge. `instructions`: by item id; items whose
    instruction is not known count as being of one, so that no interval is too narrow.
    """
    held = list(_held(annotators, judge))
    names: Sequence[str | None] = (None, *annotators)
    found = (
        _measured(
            name,
            criterion,
            [
                each
                for each in held
                if name in (None, each.annotator) and criterion in (None, each.key.criterion)
            ],
            instructions,
        )
        for criterion in criteria
        for name in names
    )
    return [one for one in found if one is not None]


def differing_items(equal: Mapping[JudgmentKey, float]) -> frozenset[str]:
    """The ids of the items of the judgments on which two sides do not agree, which is 0 there."""
    return frozenset(key.item_id for key, each in equal.items() if not each)


def _held(annotators: Mapping[str, LabelsByKey], judge: JudgeLabels | None) -> Iterator[_Held]:
    given: dict[JudgmentKey, dict[str, HumanLabel]] = {}
    for name, labels in annotators.items():
        for key, label in labels.items():
            if judge is None or key in judge:
                given.setdefault(key, {})[name] = label
    for key, of_item in given.items():
        for name, own in of_item.items() if len(of_item) > 1 else ():
            most = majority([label for other, label in of_item.items() if other != name])
            if most is None:
                yield _Held(name, key, None, None)
            else:
                with_judge = None if judge is None else agree(judge[key], most)
                yield _Held(name, key, agree(own, most), with_judge)


def _measured(
    annotator: str | None, criterion: str | None, held: Sequence[_Held], instructions: Mapping[str, str]
) -> AgainstOthers | None:
    decided = [each for each in held if each.right is not None]
    if not decided:
        return None
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
        lead=difference([one - other for one, other in zip(judge, own, strict=True)], groups)
        if judge
        else None,
    )
