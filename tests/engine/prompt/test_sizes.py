"""Long responses lose their middle, by the same measure, and only as much as is needed."""

import pytest

from engine.core.items import Item
from engine.core.judgments import Shortening
from engine.prompt.tokens import shorten

MOST = 100_000
LONG = Item("1", "Question", "A" * 3000 + "Z" * 3000, "short")


def test_the_middle_goes_and_both_ends_stay() -> None:
    shortened = shorten(LONG, lambda item: len(item.output_a) <= 1000, MOST)
    assert shortened
    item, left_out = shortened
    assert item.output_a.startswith("AAAA")
    assert item.output_a.endswith("ZZZZ")
    assert f"[... {left_out.left_out_a:,} characters left out ...]" in item.output_a
    assert item.output_b == "short"
    assert left_out.left_out_b == 0


@pytest.mark.parametrize("limit", [700, 1000, 2500, 5000])
def test_as_much_as_fits_is_kept(limit: int) -> None:
    shortened = shorten(LONG, lambda item: len(item.output_a) <= limit, MOST)
    assert shortened
    assert limit - 50 < len(shortened[0].output_a) <= limit


def test_responses_are_held_to_the_same_length() -> None:
    item = Item("1", "Question", "a" * 5000, "b" * 4000)
    shortened = shorten(item, lambda short: len(short.output_a) <= 1000, MOST)
    assert shortened
    kept = [len(item.output_a) - shortened[1].left_out_a, len(item.output_b) - shortened[1].left_out_b]
    assert kept[0] == kept[1]


def test_what_cannot_be_made_to_fit_is_given_up() -> None:
    assert shorten(LONG, lambda _: False, MOST) is None


def test_short_responses_are_not_touched() -> None:
    assert shorten(Item("1", "long " * 5000, "a", "b"), lambda _: True, MOST) is None


def test_the_item_keeps_its_id_and_instruction() -> None:
    shortened = shorten(LONG, lambda item: len(item.output_a) <= 1000, MOST)
    assert shortened
    assert (shortened[0].id, shortened[0].instruction) == ("1", "Question")
    assert isinstance(shortened[1], Shortening)


def test_what_cannot_fit_is_not_even_tried() -> None:
    tried = []

    def fits(item: Item) -> bool:
        tried.append(len(item.output_a))
        return len(item.output_a) <= 1000

    assert shorten(Item("1", "Question", "x" * 5_000_000, ""), fits, most=4000)
    assert max(tried) < 5000
