"""How labelled items are divided, and the inquiry by which a run judges a part of them."""

import pickle
import time

import pytest

from engine.analysis.tuning_choice import LEAST, PartOfItems, columns_of_examples, parts_of
from engine.core.errors import SetupError
from engine.core.items import Preference
from engine.data.dataset import Dataset
from engine.data.label_origins import in_drawn_order
from tests.judged import A, dataset


def labelled(instructions: int, twice: int = 0, unlabelled: int = 0) -> Dataset:
    """So many instructions, the first of them with two items each; then items without labels."""
    asked = [f"question {place}" for place in (*range(instructions), *range(twice))]
    asked += [f"unlabelled {place}" for place in range(unlabelled)]
    labels: list[Preference | None] = [A] * (instructions + twice) + [None] * unlabelled
    return dataset({"safety": labels}, instructions=asked)


def test_instructions_stay_together_and_only_labelled_items_take_part() -> None:
    gold = labelled(100, twice=20, unlabelled=7)
    parts = parts_of(gold, ("safety",), 0, None, own_examples=True)
    named = {item.id: item.instruction for item in gold}
    by_part = [
        {named[item_id] for item_id in ids}
        for ids in (parts.examples, parts.first, parts.rest, parts.held_out)
    ]
    assert sum(map(len, by_part)) == len(set().union(*by_part)) == 100
    assert [len(part) for part in by_part] == [12, 18, 35, 35]
    assert len((*parts.examples, *parts.judged)) == 120


def test_the_order_is_that_in_which_runs_draw_instructions() -> None:
    gold = labelled(50)
    parts = parts_of(gold, ("safety",), 7, None, own_examples=False)
    named = {item.id: item.instruction for item in gold}
    assert [named[item_id] for item_id in parts.judged] == in_drawn_order(named.values(), 7)


def test_another_seed_draws_others_and_fewer_items_are_the_first_of_them() -> None:
    gold = labelled(80)
    whole, other = (parts_of(gold, ("safety",), seed, None, own_examples=False) for seed in (0, 1))
    assert whole.judged != other.judged
    fewer = parts_of(gold, ("safety",), 0, 40, own_examples=False)
    assert fewer.judged == whole.judged[:40]


def test_items_without_an_instruction_are_divided_each_by_itself() -> None:
    gold = dataset({"safety": [A] * 60}, instructions=[""] * 60)
    parts = parts_of(gold, ("safety",), 0, 40, own_examples=False)
    assert len(parts.judged) == 40


@pytest.mark.parametrize(("instructions", "most"), [(LEAST - 1, None), (60, LEAST - 1)])
def test_too_few_are_refused_with_their_number(instructions: int, most: int | None) -> None:
    with pytest.raises(SetupError, match=str(LEAST - 1)):
        parts_of(labelled(instructions), ("safety",), 0, most, own_examples=False)


def test_no_examples_are_put_aside_where_too_few_would_be_left() -> None:
    assert not parts_of(labelled(LEAST + 7), ("safety",), 0, None, own_examples=True).examples
    assert len(parts_of(labelled(LEAST + 8), ("safety",), 0, None, own_examples=True).examples) == 8


def test_examples_are_written_with_their_labels() -> None:
    gold = labelled(60)
    parts = parts_of(gold, ("safety",), 0, None, own_examples=True)
    columns = columns_of_examples(gold, parts)
    assert sorted(map(str, columns["id"])) == sorted(parts.examples)
    assert set(columns["safety_preference"]) == {"A"}


def test_a_part_is_wanted_until_it_is_judged_also_in_another_process() -> None:
    part = pickle.loads(pickle.dumps(PartOfItems({"1", "2"}, 0, "safety", 60)))
    assert part.wants("1")
    assert not part.wants("3")
    part.add({"1": A, "3": None})
    assert not part.wants("1")
    assert not part.is_answered
    part.add({"2": None})
    assert part.is_answered


def test_nothing_is_wanted_once_the_time_is_over() -> None:
    part = PartOfItems({"1"}, 0, "safety", 0.05)
    assert part.wants("1")
    time.sleep(0.1)
    assert part.is_answered
    assert not part.wants("1")
