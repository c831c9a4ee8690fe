"""The readings of many items as arrays: un-swapped, averaged, and by the parts that a calibration looks at.

Each judge of a panel counts alike; of a judge each order counts alike, and within an order each way.
Knows: readings, the two orders, parts. Does not know: labels, decisions, where readings come from.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from engine.core.head_parts import LENGTHS, HeadPart, PartKind
from engine.core.items import PREFERENCES, Order, Way
from engine.core.judgments import JudgedItem, Reading
from engine.core.log_probs import FloatArray, log_softmax

SWAPPED = [PREFERENCES.index(preference.swapped) for preference in PREFERENCES]
"""Where each label's column is once the responses have changed places."""

_LABELS = len(PREFERENCES)


class ReadBy(NamedTuple):
    """By which judge, in which way and order a reading was made."""

    judge: int
    way: Way
    order: Order


IsIn = Callable[[ReadBy], bool]


def of_order(order: Order) -> IsIn:
    """Readings in one order."""
    return lambda asked: asked.order is order


def of_part(part: HeadPart) -> IsIn:
    """Readings that a part is made of."""
    return lambda asked: (
        asked.judge == part.judge
        and (part.way is None or asked.way is part.way)
        and (part.order is None or asked.order is part.order)
    )


class ReadItems:
    """What was read of items on one criterion; nothing of those that were not judged on it."""

    def __init__(self, judged: Sequence[JudgedItem], criterion: str) -> None:
        self._items = len(judged)
        alike: dict[tuple[ReadBy, ...], list[int]] = {}
        readings: list[tuple[Reading, ...]] = []
        for place, item in enumerate(judged):
            own = item.readings.get(criterion, ()) if criterion not in item.unscored else ()
            readings.append(own)
            if own:
                asked = tuple(ReadBy(each.judge, each.way, each.order) for each in own)
                alike.setdefault(asked, []).append(place)
        # Together by what was asked, so that numpy has thousands at once.
        self._groups = [
            (asked, np.array(places), _unswapped([readings[place] for place in places], asked))
            for asked, places in alike.items()
        ]

    def average(self, is_in: IsIn | None = None) -> FloatArray:
        """Mean of the un-swapped log-probabilities, normalised again, shape (items, 4), of all readings or of
        some. NaN where there is none of these, or where one is not finite.

        What is found of an item does not depend on the others, not even by rounding.
        """
        found = np.full((self._items, _LABELS), np.nan)
        for asked, places, log_probs in self._groups:
            shares = _shares(asked, is_in)
            chosen = np.flatnonzero(shares)
            if len(chosen):
                mean = (shares[chosen, None] * log_probs[:, chosen]).sum(axis=1)
                found[places] = log_softmax(mean)
        return found


def average(readings: Sequence[Reading]) -> FloatArray:
    """The same mean of the readings of one item, shape (4,)."""
    (found,) = ReadItems([JudgedItem(0, "", "", {"": tuple(readings)})], "").average()
    return np.asarray(found)


def part_values(
    judged: Sequence[JudgedItem], criterion: str, parts: Sequence[HeadPart], exchanged: bool = False
) -> FloatArray:
    """What each part says beside the mean of all readings, shape (items, parts, 4); each row sums to 0.

    Of readings: by how much they differ from that mean; of another criterion: its own mean, both as
    log-probabilities less their mean over the labels; of lengths: log((characters of A + 1) / (of B + 1)) for
    A, its negative for B. What is missing says nothing: 0. `exchanged`: as it would be had the responses
    changed places.
    """
    values = np.zeros((len(judged), len(parts), _LABELS))
    if not parts:
        return values
    own = ReadItems(judged, criterion)
    mean = _centred(own.average())
    for place, part in enumerate(parts):
        if part.kind is PartKind.LENGTHS:
            values[:, place] = _lengths(judged)
        elif part.kind is PartKind.CRITERION:
            values[:, place] = _centred(ReadItems(judged, part.criterion).average())
        else:
            values[:, place] = _centred(own.average(of_part(_exchanged(part) if exchanged else part))) - mean
    values[np.isnan(values)] = 0
    return values[..., SWAPPED] if exchanged else values


def parts_of(
    judged: Sequence[JudgedItem], criterion: str, others: Sequence[str], by_order: bool, lengths: bool
) -> tuple[HeadPart, ...]:
    """The parts that items have: each judge and way, each order too where asked, where there are several;
    the `others` of their criteria; the lengths of the responses if wanted.
    """
    asked = {
        ReadBy(each.judge, each.way, each.order)
        for item in judged
        for each in item.readings.get(criterion, ())
    }
    read = {(each.judge, each.way, each.order if by_order else None) for each in asked}
    places = sorted(read, key=lambda each: (each[0], list(Way).index(each[1]), each[2] or ""))
    readings = [HeadPart(PartKind.READINGS, *place) for place in places] if len(places) > 1 else []
    beside = [HeadPart(PartKind.CRITERION, criterion=name) for name in others]
    return (*readings, *beside, *((LENGTHS,) if lengths else ()))


def _exchanged(part: HeadPart) -> HeadPart:
    """What would be the same part, had the responses changed places: what AB was is BA then."""
    if part.order is None:
        return part
    order = Order.BA if part.order is Order.AB else Order.AB
    return HeadPart(part.kind, part.judge, part.way, order)


def _lengths(judged: Sequence[JudgedItem]) -> FloatArray:
    known = np.array([item.lengths or (0, 0) for item in judged], dtype=np.float64).reshape(-1, 2)
    longer = np.log1p(known[:, 0]) - np.log1p(known[:, 1])
    nothing = np.zeros(len(longer))
    return np.column_stack([longer, -longer, nothing, nothing])


def _centred(log_probs: FloatArray) -> FloatArray:
    return np.asarray(log_probs - log_probs.mean(axis=-1, keepdims=True))


def _unswapped(readings: Sequence[Sequence[Reading]], asked: Sequence[ReadBy]) -> FloatArray:
    """Log-probabilities among the four labels alone, of the items' own A and B: (items, readings, 4)."""
    values = np.array([[each.log_probs for each in own] for own in readings], dtype=np.float64)
    # Among the four alone: what else the model might have said takes no part in the label.
    values[~np.isfinite(values).all(axis=2)] = np.nan
    values = log_softmax(values)
    swapped = [place for place, each in enumerate(asked) if each.order is Order.BA]
    values[:, swapped] = values[:, swapped][..., SWAPPED]
    return values


def _shares(asked: Sequence[ReadBy], is_in: IsIn | None) -> FloatArray:
    """How much of the mean each reading is, shape (readings,); 0 for those that are not in it."""
    chosen = [each for each in asked if is_in is None or is_in(each)]
    judges = len({each.judge for each in chosen})
    shares = []
    for each in asked:
        if each not in chosen:
            shares.append(0.0)
            continue
        own = [other for other in chosen if other.judge == each.judge]
        orders = len({other.order for other in own})
        ways = sum(other.order is each.order for other in own)
        shares.append(1 / (judges * orders * ways))
    return np.array(shares)
