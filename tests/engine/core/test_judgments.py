"""What a fit learned from is known again by its content, in plain words."""

from collections.abc import Sequence

import pytest

from engine.core.codec import plain, record_of
from engine.core.items import Item
from engine.core.judgments import FittedOn, Overlap


def items(*numbers: int) -> list[Item]:
    """Two items of each instruction; ids and order say nothing."""
    return [Item(f"of {numbers}: {n}", f"question {n // 2}", "a", f"b {n}") for n in numbers]


@pytest.mark.parametrize(
    ("scored", "found"),
    [
        (items(5, 1, 0), Overlap(2, 0, 3)),
        (items(7, 3, 0), Overlap(1, 1, 3)),
        (items(8, 9), Overlap(0, 0, 2)),
        (items(0) * 2, Overlap(2, 0, 2)),
    ],
)
def test_items_are_known_by_their_texts_and_others_by_their_instruction(
    scored: Sequence[Item], found: Overlap
) -> None:
    assert FittedOn.of(items(0, 1, 2)).overlap(scored) == found


@pytest.mark.parametrize("blank", ["", " \n"])
def test_items_without_an_instruction_have_none_in_common(blank: str) -> None:
    learned = FittedOn.of([Item("1", "", "a", "b")])
    assert learned.overlap([Item("9", "", "a", "b"), Item("1", blank, "c", "b")]) == Overlap(1, 0, 2)


@pytest.mark.parametrize(
    ("overlap", "said"),
    [
        (
            Overlap(59, 1, 60),
            "59 of these 60 items took part in the fit of the weights. 1 more has an instruction that did.",
        ),
        (
            Overlap(0, 1200, 1300),
            "1,200 of these 1,300 items have an instruction that took part in the fit of the weights.",
        ),
        (Overlap(0, 0, 60), ""),
    ],
)
def test_an_overlap_is_said(overlap: Overlap, said: str) -> None:
    assert overlap.in_words("the weights") == said


def test_what_took_part_comes_back_and_nothing_else_is_taken() -> None:
    fitted_on = FittedOn.of(items(3, 1))
    value = plain(fitted_on)
    assert record_of(value, FittedOn) == fitted_on
    for odd in ({"items": ["x" * 12]}, {"items": value["items"][:1] * 2}, {"instructions": [None]}):
        with pytest.raises(ValueError, match=r"found|twice"):
            record_of(value | odd, FittedOn)
