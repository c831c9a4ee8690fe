"""Which items people labelled in the random sample of a run, in whichever order they labelled some of these.

A random sample is the beginning of a drawn order, as far as a person came in it. An item of that beginning
is in the sample also where he had labelled it before, in order of doubt: else the hardest ones would be
missing.

Knows: what people said of a run, how texts are drawn. Does not know: the run's judgments, windows.
"""

from collections.abc import Iterable

from engine.core.judgments import Confirmation, Origin, Override
from engine.core.people import Reviews
from engine.data.sampling import drawn_place


def random_part(reviews: Reviews, seed: int, author: str | None = None) -> frozenset[str]:
    """The ids of the labelled items up to the last one that anybody, or an `author`, came to in the order
    that `seed` draws.
    """
    said: list[Override | Confirmation] = [*reviews.overrides, *reviews.confirmations]
    came_to = {
        each.item_id
        for each in said
        if each.origin is Origin.RANDOM and each.preference is not None and author in (None, each.author)
    }
    if not came_to:
        return frozenset()
    last = max(drawn_place(item_id, seed) for item_id in came_to)
    labelled = {
        key.item_id for name, labels in reviews.labels.items() if author in (None, name) for key in labels
    }
    return frozenset(item_id for item_id in labelled if drawn_place(item_id, seed) <= last)


def origins_beside_sample(
    said: Iterable[tuple[str, Origin | None]], reviews: Reviews, seed: int
) -> list[Origin | None]:
    """How people came to some labels, each after its item: to all items of the random part by the sample."""
    part = random_part(reviews, seed)
    return [Origin.RANDOM if item_id in part else origin for item_id, origin in said]
