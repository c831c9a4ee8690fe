"""How each annotator of a run labels: agreement with themself on hidden repeats, and the judge's with them;
accuracy; pace, and whether they tire; how far the judge's label moves them where they see it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from engine.annotations.effective import Reviews
from engine.annotations.records import Annotation, AnnotationKind
from engine.core.items import HumanLabel, agree, majority
from engine.core.judgments import JudgmentKey
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, gap
from engine.metrics.intervals import share as share_of
from engine.settings.sampling import hidden_place

BREAK = 600.0
"""Seconds: what took longer than this since the item before was a break, and no time of an item."""
Labels = Mapping[JudgmentKey, HumanLabel]
_Values = Sequence[tuple[str, float]]
"""For each label the id of its item and a value."""


@dataclass(frozen=True)
class AnnotatorQuality:
    """All criteria together, `annotator` None: the judge; shares from 0 to 1. `own`: of the labels of so many
    `repeats`, those that are as at first; of the judge, those that are the same in both orders. `judge`: how
    often the judge gives their label, on all their items; `lead`: that minus `own`, `differs`: whether it
    differs significantly, for all annotators together. `gold`: how often they give the human label, of
    `gold_labels`. `seconds`: the geometric mean of the times of `timed` items, without repeats; `slower`:
    that of the last half of their items divided by that of the first; `later`: by how much more often they
    give the human label there, or that of most others.
    """

    annotator: str | None
    repeats: int
    own: Estimate | None
    judge: Estimate | None = None
    lead: Estimate | None = None
    differs: bool = False
    gold_labels: int = 0
    gold: Estimate | None = None
    timed: int = 0
    seconds: Estimate | None = None
    slower: Estimate | None = None
    later: Estimate | None = None


@dataclass(frozen=True)
class Anchoring:
    """How often an annotator, None for all of them, gives the judge's label first: where they saw it and
    where it was hidden, on items drawn at random; `difference`: the first minus the second.
    """

    annotator: str | None
    labels: int
    seen: Estimate | None
    hidden_labels: int
    hidden: Estimate | None
    difference: Estimate | None


@dataclass(frozen=True)
class LabellingQuality:
    """`judge`: against itself. `anchoring`: of those alone for whom items were hidden by a draw."""

    annotators: tuple[AnnotatorQuality, ...] = ()
    judge: AnnotatorQuality | None = None
    anchoring: tuple[Anchoring, ...] = ()


def labelling_quality(
    reviews: Reviews,
    judge: Labels,
    flipped: Mapping[JudgmentKey, bool],
    *,
    instructions: Mapping[str, str],
    gold: Labels,
    seed: int,
) -> LabellingQuality:
    """Of annotations, and the labels of a `judge`. `flipped`: whether its two orders differ; `instructions`:
    by item id, unknown ones count as one; `gold`: human labels; `seed`: by which a draw hid judgments.
    """
    again: dict[str, dict[JudgmentKey, HumanLabel]] = {}
    for each in reviews.repeats:
        if each.undone is None and each.preference is not None:
            again.setdefault(each.author, {})[each.key] = each.preference
    strictly = partial(OverInstructions.share_interval, tests=max(len(again), 1))

    def over(values: _Values) -> OverInstructions | None:
        groups = [instructions.get(item_id, "") for item_id, _ in values]
        return OverInstructions.of_one([value for _, value in values], groups)

    def share(values: _Values) -> Estimate | None:
        groups = [instructions.get(item_id, "") for item_id, _ in values]
        return share_of([value for _, value in values], groups) if values else None

    def of(author: str, labels: Labels) -> AnnotatorQuality:
        own = _equal(again.get(author, {}), labels)
        with_judge, with_gold = _equal(labels, judge) if own else [], _equal(labels, gold)
        strict = gap(over(with_judge), over(own), strictly)
        low, high = (strict and strict.ends) or (0, 0)
        enough = len({instructions.get(item_id) for item_id, _ in own}) >= FEW
        others = [of_one for name, of_one in reviews.labels.items() if name != author]
        most = {key: majority([each[key] for each in others if key in each]) for key in labels}
        right = _equal(labels, {**{key: label for key, label in most.items() if label}, **gold})
        times = _times(reviews, author)
        late = {item_id: 2 * place >= len(times) for place, (item_id, again) in enumerate(times) if not again}
        took = [(item_id, math.log(time)) for (item_id, again), time in times.items() if time and not again]

        def halves(values: _Values) -> tuple[OverInstructions | None, OverInstructions | None]:
            first, last = ([each for each in values if late.get(each[0]) is half] for half in (False, True))
            return over(last), over(first)

        ends, timed = OverInstructions.skewed_interval, over(took)
        return AnnotatorQuality(
            *(author, len(own), share(own), share(with_judge), gap(over(with_judge), over(own))),
            *(enough and not low <= 0 <= high, len(with_gold), share(with_gold), len(took)),
            _exponential(None if timed is None else Estimate(timed.mean, ends(timed))),
            *(_exponential(gap(*halves(took), ends)), gap(*halves(right))),
        )

    orders = [(key.item_id, float(not changed)) for key, changed in flipped.items()]
    return LabellingQuality(
        tuple(of(name, labels) for name, labels in sorted(reviews.labels.items()) if labels),
        AnnotatorQuality(None, len(orders), share(orders)) if orders else None,
        tuple(
            Anchoring(name, len(seen), share(seen), len(hidden), share(hidden), gap(over(seen), over(hidden)))
            for name, seen, hidden in _randomised(reviews, judge, seed)
        ),
    )


def _equal(labels: Labels, others: Labels) -> list[tuple[str, float]]:
    return [(key.item_id, float(agree(label, others[key]))) for key, label in labels.items() if key in others]


def _exponential(found: Estimate | None) -> Estimate | None:
    if found is None:
        return None
    return Estimate(math.exp(found.value), found.ends and (math.exp(found.ends[0]), math.exp(found.ends[1])))


def _times(reviews: Reviews, author: str) -> dict[tuple[str, bool], float | None]:
    """The items of an annotator in the order in which they first labelled them, hidden repeats too (True):
    the seconds from their last label on another item to their last one there; None where that is not known.
    """
    said = (*reviews.overrides, *reviews.confirmations, *reviews.repeats)
    found: dict[tuple[str, bool], float | None] = {}
    visits: list[tuple[tuple[str, bool], float]] = [(("", False), 0.0)]
    for each in sorted(said, key=lambda each: each.created):
        if each.author == author and each.preference is not None and not each.settles:
            place = (each.item_id, each.kind is AnnotationKind.REPEAT)
            if visits[-1][0] == place:
                visits.pop()
            visits.append((place, each.created.timestamp()))
    for (_, before), (place, at) in pairwise(visits):
        found.setdefault(place, at - before if 0 < at - before <= BREAK else None)
    return found


def _randomised(reviews: Reviews, judge: Labels, seed: int) -> Iterator[tuple[str | None, _Values, _Values]]:
    """Each annotator, at last all together (None), and whether their first labels are the judge's, on items
    whose judgments they saw and on those that a draw hid; without annotators who hid others, too.
    """
    first: dict[tuple[str, JudgmentKey], Annotation] = {}
    for each in sorted((*reviews.overrides, *reviews.confirmations), key=lambda each: each.created):
        # Also one taken back: who gives another then has seen the judge's label.
        if each.preference is not None and not each.settles and each.key in judge:
            first.setdefault((each.author, each.key), each)
    whole: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
    names = sorted({author for author, _ in first})
    for name in names:
        sides: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
        for (author, key), each in first.items():
            # Who accepts the labels of an item has seen them; of other labels it may not be known.
            if author == name and (each.blind is not None or each.kind is AnnotationKind.CONFIRMATION):
                sides[bool(each.blind)].append((key.item_id, float(agree(each.preference, judge[key]))))
        seen, hidden = ([hidden_place(item_id, seed) for item_id, _ in side] for side in sides)
        if seen and hidden and max(hidden) < min(seen):
            for together, side in zip(whole, sides, strict=True):
                together.extend(side)
            yield name, *sides
    if len(names) > 1 and all(whole):
        yield None, *whole
