"""How each annotator of a run labels: agreement with themself on hidden repeats, beside the judge's agreement
with them; accuracy on items with a human label; pace, and whether they tire; how far the judge's label moves
them where they see it.

Knows: what was said when. Does not know: files, what is shown.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.annotations.effective import Reviews
from engine.annotations.records import Annotation, AnnotationKind
from engine.core.items import HumanLabel, agree, majority
from engine.core.judgments import Judgment, JudgmentKey, label_of
from engine.core.tables import Estimate
from engine.metrics.intervals import FEW, OverInstructions, gap, share
from engine.results.run_results import RunResults
from engine.settings.sampling import hidden_place

BREAK = 600.0
"""Seconds: what took longer than this since the item before was a break, and no time of an item."""
Labels = Mapping[JudgmentKey, HumanLabel]
_Values = Sequence[tuple[str, float]]
"""The id of an item and a value, for each label."""


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
    repeats: int = 0
    own: Estimate | None = None
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
    hidden_labels: int
    seen: Estimate
    hidden: Estimate
    difference: Estimate


@dataclass(frozen=True)
class LabellingQuality:
    """`judge`: the judge against itself, None where it did not read in both orders. `by_choice`: annotators
    who labelled blind and otherwise, but not as a draw hid it: nothing is measured of their anchoring.
    """

    annotators: tuple[AnnotatorQuality, ...] = ()
    judge: AnnotatorQuality | None = None
    anchoring: tuple[Anchoring, ...] = ()
    by_choice: tuple[str, ...] = ()


def labelling_quality(results: RunResults, instructions: Mapping[str, str], gold: Labels) -> LabellingQuality:
    """Of a run's annotators. `instructions`: by item id, unknown ones count as one; `gold`: human labels."""
    alone = results.model_alone().answered
    judged = () if results.run.by_hand else [each for column in alone.judgments.values() for each in column]
    judge = {each.key: label for each in judged if (label := label_of(each)) is not None}
    flips = {each.key: each.flipped for each in judged if isinstance(each, Judgment)}
    in_orders = {key: flipped for key, flipped in flips.items() if flipped is not None}
    seed = results.run.review_seed
    return quality_of(results.reviews, judge, in_orders, instructions=instructions, gold=gold, seed=seed)


def quality_of(
    reviews: Reviews,
    judge: Labels,
    flipped: Mapping[JudgmentKey, bool],
    *,
    instructions: Mapping[str, str],
    gold: Labels,
    seed: int,
) -> LabellingQuality:
    """The same of annotations and the labels of a `judge`. `flipped`: whether its two orders differ; `seed`:
    by which items were drawn whose judgments were hidden.
    """
    repeats = {(each.author, each.key): each for each in reviews.repeats if each.undone is None}
    tests = max(len({author for author, _ in repeats}), 1)

    def over(values: _Values) -> OverInstructions | None:
        return OverInstructions.of_one(
            [value for _, value in values], [instructions.get(each, "") for each, _ in values]
        )

    def shared(values: _Values) -> Estimate | None:
        groups = [instructions.get(each, "") for each, _ in values]
        return share([value for _, value in values], groups) if values else None

    def of(author: str, labels: Labels) -> AnnotatorQuality:
        again = [(key, each.preference) for (name, key), each in repeats.items() if name == author]
        own = [(key.item_id, float(agree(labels[key], label))) for key, label in again if key in labels]
        with_judge = _equal(labels, judge)
        lead, strict = (gap(over(with_judge), over(own), count) for count in (1, tests))
        with_gold = _equal(labels, gold)
        times = _times(reviews, author)
        late = {item_id: 2 * place >= len(times) for place, (item_id, again) in enumerate(times) if not again}
        known = [(item_id, math.log(took)) for (item_id, again), took in times.items() if took and not again]
        right = [each for each in _equal(labels, _reference(reviews, author, gold)) if each[0] in late]
        first, last = ([each for each in right if late[each[0]] is is_late] for is_late in (False, True))
        return AnnotatorQuality(
            author,
            len(own),
            shared(own),
            shared(with_judge) if own else None,
            lead if own else None,
            strict is not None and strict.ends is not None and _is_apart(strict, over(own)),
            len(with_gold),
            shared(with_gold),
            len(known),
            _exponential(over(known)),
            _slower(known, late, instructions),
            gap(over(last), over(first)),
        )

    orders = [(key.item_id, float(not changed)) for key, changed in flipped.items()]
    itself = AnnotatorQuality(None, len(orders), shared(orders)) if orders else None
    found = tuple(of(name, labels) for name, labels in sorted(reviews.labels.items()) if labels)
    drawn, by_choice = _randomised(reviews, judge, seed)
    held = []
    for name, (seen, hidden) in drawn.items():
        difference = gap(over(seen), over(hidden))
        if difference is not None:
            both = [shared(seen), shared(hidden)]
            assert both[0] is not None
            assert both[1] is not None
            held.append(Anchoring(name, len(seen), len(hidden), both[0], both[1], difference))
    return LabellingQuality(found, itself, tuple(held), by_choice)


def _is_apart(difference: Estimate, over: OverInstructions | None) -> bool:
    few = over is None or over.instructions < FEW
    return not few and difference.ends is not None and not difference.ends[0] <= 0 <= difference.ends[1]


def _equal(labels: Labels, others: Labels) -> list[tuple[str, float]]:
    return [(key.item_id, float(agree(label, others[key]))) for key, label in labels.items() if key in others]


def _reference(reviews: Reviews, author: str, gold: Labels) -> dict[JudgmentKey, HumanLabel]:
    """The human label, else what most of the other annotators say, where they do."""
    others: dict[JudgmentKey, list[HumanLabel]] = {}
    for name, labels in reviews.labels.items():
        for key, label in labels.items() if name != author else ():
            others.setdefault(key, []).append(label)
    most = ((key, majority(said)) for key, said in others.items())
    return {**{key: label for key, label in most if label is not None}, **gold}


def _times(reviews: Reviews, author: str) -> dict[tuple[str, bool], float | None]:
    """The items of an annotator in the order in which they first labelled them, hidden repeats too (True):
    the seconds from their last label on another item to their last one there; None where that is not known.
    """
    said = [
        each
        for each in (*reviews.overrides, *reviews.confirmations, *reviews.repeats)
        if each.author == author and each.preference is not None and not each.settles
    ]
    visits: list[tuple[tuple[str, bool], float]] = []
    for each in sorted(said, key=lambda each: each.created):
        place = (each.item_id, each.kind is AnnotationKind.REPEAT)
        if visits and visits[-1][0] == place:
            visits.pop()
        visits.append((place, each.created.timestamp()))
    found: dict[tuple[str, bool], float | None] = {}
    for number, (place, at) in enumerate(visits):
        took = at - visits[number - 1][1] if number else 0.0
        found.setdefault(place, took if 0 < took <= BREAK else None)
    return found


def _exponential(over: OverInstructions | None) -> Estimate | None:
    """A geometric mean, of the mean of logarithms."""
    if over is None:
        return None
    # By mean_interval it holds the mean in 92 % of simulations where 25 instructions have 8 items each.
    ends = over.skewed_interval()
    return Estimate(math.exp(over.mean), ends and (math.exp(ends.low), math.exp(ends.high)))


def _slower(known: _Values, late: Mapping[str, bool], instructions: Mapping[str, str]) -> Estimate | None:
    """The times of the last half of the items divided by those of the first; `known`: their logarithms."""
    halves = [[took for item_id, took in known if late[item_id] is is_late] for is_late in (False, True)]
    if not all(halves):
        return None
    means = [sum(half) / len(half) for half in halves]
    sides = [(late[item_id], took) for item_id, took in known]
    pulls = [(1 if side else -1) * (took - means[side]) / len(halves[side]) for side, took in sides]
    weights = [0.5 / len(halves[side]) for side, _ in sides]
    groups = [instructions.get(item_id, "") for item_id, _ in known]
    return _exponential(OverInstructions.of_pulls(means[1] - means[0], pulls, weights, groups))


_Both = tuple[_Values, _Values]


def _randomised(
    reviews: Reviews, judge: Labels, seed: int
) -> tuple[dict[str | None, _Both], tuple[str, ...]]:
    """By annotator, all together (None) first, whether their first label is the judge's, on items whose
    judgments they saw and on those that were hidden; the annotators who hid some otherwise than by a draw.
    """
    first: dict[tuple[str, JudgmentKey], Annotation] = {}
    for each in sorted((*reviews.overrides, *reviews.confirmations), key=lambda each: each.created):
        if each.preference is not None and each.undone is None and not each.settles and each.key in judge:
            first.setdefault((each.author, each.key), each)
    found: dict[str | None, _Both] = {}
    by_choice = []
    for name in sorted({author for author, _ in first}):
        own = [each for (author, _), each in first.items() if author == name]
        hidden = [each for each in own if each.blind]
        # Who accepts the labels of an item has seen them; of other labels it may not be known.
        accepts = AnnotationKind.CONFIRMATION
        seen = [each for each in own if each.blind is False or (each.blind is None and each.kind is accepts)]
        if not seen or not hidden:
            continue
        places = [[hidden_place(each.item_id, seed) for each in some] for some in (seen, hidden)]
        if max(places[1]) < min(places[0]):
            found[name] = _with_judge(seen, judge), _with_judge(hidden, judge)
        else:
            by_choice.append(name)
    if len(found) > 1:
        whole = [[each for both in found.values() for each in both[side]] for side in (0, 1)]
        found = {None: (whole[0], whole[1]), **found}
    return found, tuple(by_choice)


def _with_judge(said: Iterable[Annotation], judge: Labels) -> _Values:
    return [(each.item_id, float(agree(each.preference, judge[each.key]))) for each in said]
