"""Items made to fit: the middle of long responses left out, both by the same measure.

Knows: characters. Does not know: tokens, models; whether an item fits is asked of the caller.
"""

from collections.abc import Callable
from dataclasses import replace

from engine.core.items import Item
from engine.core.judgments import Shortening

_LEAST = 200  # characters of each response that always stay


def shorten(item: Item, fits: Callable[[Item], bool], most: int) -> tuple[Item, Shortening] | None:
    """The item with as much of its responses as fits; None where the rest alone is too long.

    Both responses are held to the same length, so that only those above it lose their middle. `most`:
    characters of a response that cannot fit in any case, so that no more are tried.
    """
    least = _LEAST
    most = min(most, max(len(item.output_a), len(item.output_b)))
    if least >= most or not fits(_held_to(item, least)):
        return None
    while most - least > 1:
        limit = (least + most) // 2
        if fits(_held_to(item, limit)):
            least = limit
        else:
            most = limit
    left_out = (max(len(text) - least, 0) for text in (item.output_a, item.output_b))
    return _held_to(item, least), Shortening(*left_out)


def _held_to(item: Item, limit: int) -> Item:
    return replace(
        item, output_a=_without_middle(item.output_a, limit), output_b=_without_middle(item.output_b, limit)
    )


def _without_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = (limit + 1) // 2
    tail = limit - head
    return f"{text[:head]}\n[... {len(text) - limit:,} characters left out ...]\n{text[len(text) - tail :]}"
