"""Labelled examples: varied, short, and never the item that is judged."""

import pytest

from engine.commands.shared.remedies import OPTIONS
from engine.core.errors import SetupError
from engine.core.items import Gold, Item, Preference
from engine.core.rubric import ELOQUENT
from engine.prompt.examples import choose_examples


def labelled(number: int, label: Preference = Preference.A, instruction: str | None = None) -> Item:
    text = instruction or f"Question {number}"
    return Item(str(number), text, "x" * number, "y", {"safety": Gold(label)})


ITEMS = [labelled(number) for number in range(1, 8)] + [labelled(20, Preference.B)]


def test_examples_show_different_labels_before_more_of_the_same() -> None:
    pool = choose_examples(ITEMS, ELOQUENT, shots=2)
    labels = {example.gold["safety"].preference for example in pool.for_item(labelled(99))}
    assert labels == {Preference.A, Preference.B}


def test_an_item_is_never_its_own_example() -> None:
    pool = choose_examples(ITEMS, ELOQUENT, shots=2)
    for item in ITEMS:
        shown = pool.for_item(item)
        assert len(shown) == 2
        assert item.id not in {example.id for example in shown}


@pytest.mark.parametrize("instruction", ["Question 1", "question  1", " QUESTION 1\n"])
def test_an_example_with_the_same_instruction_is_not_shown(instruction: str) -> None:
    pool = choose_examples(ITEMS, ELOQUENT, shots=2)
    shown = pool.for_item(labelled(99, instruction=instruction))
    assert "1" not in {example.id for example in shown}
    assert len(shown) == 2


def test_items_without_a_label_are_no_examples() -> None:
    unlabelled = Item("0", "?", "", "", {"safety": Gold(None, "said nothing")})
    pool = choose_examples([unlabelled, *ITEMS], ELOQUENT, shots=7)
    assert "0" not in {example.id for example in pool.ranked}


def test_too_few_labelled_items_are_refused_with_what_is_possible() -> None:
    with pytest.raises(SetupError, match="only 8 different instructions") as caught:
        choose_examples(ITEMS, ELOQUENT, shots=8)
    assert "--shots 7" in OPTIONS.of(caught.value.remedy)


def test_what_can_be_shown_is_part_of_the_hash() -> None:
    pool = choose_examples(ITEMS, ELOQUENT, shots=2)
    changed = [labelled(1, Preference.BOTH_BAD), *ITEMS[1:]]
    assert pool.hash != choose_examples(changed, ELOQUENT, shots=2).hash
    assert pool.hash == choose_examples(list(reversed(ITEMS)), ELOQUENT, shots=2).hash
