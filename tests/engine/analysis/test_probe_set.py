"""Sets of probes: which items are drawn, what the file holds, what is read back from it."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from engine.analysis.perturbations import PerturbationKind, PerturbationSet, make_perturbations
from engine.core.errors import SetupError
from engine.core.items import Tie
from engine.data.dataset import load_dataset
from tests.judged import TIE, A, B, dataset, with_texts

ITEMS = dataset(
    {"safety": [A, B, TIE, None], "relevance": [B, None, A, A]},
    instructions=["one", "one", "one", "two"],
    outputs=[("Yes. No.", "Maybe."), ("- a list", "None."), ("Good.", "Bad."), ("Up.", "")],
)


def test_no_instruction_is_drawn_twice_before_each_was_drawn_once() -> None:
    for seed in range(10):
        made = make_perturbations(ITEMS, 2, seed)
        assert Counter(item.instruction for item in made.items if "~" not in item.id) == {"one": 1, "two": 1}
        assert made.drawn == 2
    assert len({make_perturbations(ITEMS, 2, seed).items[0].id for seed in range(20)}) == 3


def test_items_keep_their_order_and_their_copies_come_after_the_last_of_them() -> None:
    made = make_perturbations(ITEMS, 100)
    assert made.drawn == 4
    assert [item.id for item in made.items if "~" not in item.id] == ["1", "2", "3", "4"]
    of_copies = ["1"] * 7 + ["2"] * 6 + ["3"] * 7 + ["4"] * 4
    assert [item.id.partition("~")[0] for item in made.items] == ["1", "2", "3", "4", *of_copies]
    assert made.left_out == {
        PerturbationKind.FILLER: 1,
        PerturbationKind.FORMATTING: 2,
        PerturbationKind.PROMPT_INJECTION: 1,
    }


def test_the_file_is_a_dataset_with_the_labels_of_people(tmp_path: Path) -> None:
    made = make_perturbations(ITEMS, 100)
    path = tmp_path / "audits" / made.name
    made.write(path)
    read = load_dataset(path)
    assert [replace(item, gold={}) for item in read] == [replace(item, gold={}) for item in made.items]
    safety = read.labels("safety")
    assert safety["1~padded-B"] is A
    assert safety["3"] is Tie.TIE
    assert "4" not in safety
    kinds = read.texts("probe").to_pylist()
    assert kinds[3:11] == ["item", *("padded",) * 2, *("formatted",) * 2, *("injected",) * 2, "again"]
    assert Counter(kinds)["item"] == 4


def test_the_same_items_make_the_same_file_and_other_labels_another() -> None:
    name = make_perturbations(ITEMS, 3).name
    assert make_perturbations(ITEMS, 3).name == name
    assert make_perturbations(ITEMS, 3, 1).name != name or make_perturbations(ITEMS, 3, 2).name != name
    others = dataset({"safety": [B, B, B, B]}, instructions=["one", "one", "one", "two"])
    assert make_perturbations(others, 3).name != name


def test_copies_are_found_again_whatever_ids_items_have() -> None:
    strange = with_texts(ITEMS, id=["1~padded-A", "~", "1", "a~again"])
    made = make_perturbations(strange, 100)
    found = PerturbationSet.of(made.items)
    assert [item.id for item in found.own] == ["1~~padded-A", "~~", "1", "a~~again"]
    assert sum(map(len, found.copies.values())) == len(made.items) - 4
    assert len(found.of_kind(PerturbationKind.REPEAT)) == 4


def test_items_that_only_look_like_copies_are_items() -> None:
    alike = with_texts(ITEMS, id=["1", "1~padded-A", "3~again", "4"])
    found = PerturbationSet.of(alike)
    assert len(found.own) == 4
    assert not found


def test_fewer_than_one_item_cannot_be_drawn() -> None:
    with pytest.raises(SetupError, match="is 0"):
        make_perturbations(ITEMS, 0)
