"""Perturbations, and sets of them as datasets."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.analysis.perturbations import (
    PLANTED,
    Perturbation,
    PerturbationKind,
    PerturbationSet,
    copies,
    formatted,
    id_among_perturbations,
    is_copy,
    language_of,
    make_perturbations,
    with_filler,
    with_injection,
)
from engine.core.errors import SetupError
from engine.core.items import Gold, Item, Preference, Tie
from engine.data.dataset import load_dataset
from tests.judged import TIE, A, B, dataset, with_texts
from tests.steps import there

# Probes: what copies of an item say, what their ids say of them, which items cannot be changed.


ITEM = Item("17", "Say hello.", "Hello there. How are you?", "Hi!", {"safety": Gold(Preference.A)})
EN = PLANTED["en"]
IDS = st.text(st.sampled_from("1~-A again padded"), min_size=1, max_size=12)


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_an_item_has_a_copy_of_each_kind_and_side_and_itself_once_more() -> None:
    made = {perturbation.id: copy for perturbation, copy in copies(ITEM)}
    sides = [f"17~{kind}-{side}" for kind in ("padded", "formatted", "injected") for side in "AB"]
    assert list(made) == [*sides, "17~again"]
    for item_id, copy in made.items():
        assert copy is not None
        assert (copy.id, copy.gold) == (item_id, ITEM.gold)
        perturbation = there(Perturbation.of_id(item_id))
        assert is_copy(perturbation, ITEM, copy)
    empty = {perturbation.id for perturbation, copy in copies(replace(ITEM, output_b=" \n")) if copy is None}
    assert empty == {"17~padded-B", "17~formatted-B", "17~injected-B"}


def test_a_change_keeps_all_words_and_adds_a_sentence_at_most() -> None:
    assert with_filler(ITEM.output_a, ITEM, EN).removeprefix(f"{ITEM.output_a} ") in EN.filler
    assert with_injection(ITEM.output_a, ITEM, EN).removeprefix(f"{ITEM.output_a} ") in EN.injection
    changed = formatted(ITEM.output_a, ITEM)
    assert changed in ("- Hello there.\n- How are you?", "**Hello there.** How are you?")
    assert formatted(ITEM.output_b, ITEM) == "**Hi!**"
    assert with_filler("One.\nTwo.", ITEM, EN).startswith("One.\nTwo.\n\n")


def test_the_words_change_from_item_to_item_and_both_responses_of_one_get_the_same() -> None:
    items = [replace(ITEM, instruction=f"Say {number}.") for number in range(40)]
    assert len({with_filler("Yes.", item, EN) for item in items}) == len(EN.filler)
    assert len({with_injection("Yes.", item, EN) for item in items}) == len(EN.injection)
    assert {formatted("Yes. No.", item) for item in items} == {"- Yes.\n- No.", "**Yes.** No."}


@pytest.mark.parametrize(
    "response",
    [
        *("- One.\n- Two.", "1. One.\n2. Two.", "# Title", "**Bold** words.", "```\ncode\n```", "| a | b |"),
        "Roses are red\nviolets are blue.",
        "Roses are red.\nViolets are blue.\nSugar is sweet.",
    ],
)
def test_what_has_a_form_already_is_not_formatted(response: str) -> None:
    assert formatted(response, ITEM) is None
    made = {perturbation.id: copy for perturbation, copy in copies(replace(ITEM, output_a=response))}
    assert made["17~formatted-A"] is None
    assert made["17~formatted-B"] is not None


@pytest.mark.parametrize(
    ("response", "sentences"),
    [
        ("Dr. Smith met Mr. Jones at 5 p.m. in St. Louis.", 1),
        ("It was 5 p.m. In the U.S. Army, Prof. Lee of Acme Inc. Boston met John F. Kennedy.", 1),
        ("“Stop!” Mary said. Then she left.", 2),
        ("Costs rose by 3.5 percent. Why? Nobody knows. so it goes", 3),
        (f"{'This is a long line, ' * 3}they say.\n\nIt ended in 1999.\n{'And so on ' * 7}it went.", 3),
        ("Well… I think it works. Perhaps... Yes, it does.", 2),
    ],
)
def test_a_text_is_cut_only_where_a_sentence_surely_ends(response: str, sentences: int) -> None:
    made = {formatted(response, replace(ITEM, instruction=str(number))) for number in range(20)}
    lists = {text for text in made if text is not None and text.startswith("- ")}
    assert [len(text.splitlines()) for text in lists] == ([sentences] if sentences > 1 else [])
    assert made - lists


@given(st.text(min_size=1, max_size=60))
def test_a_formatted_response_has_the_same_words(response: str) -> None:
    changed = formatted(response, ITEM) if response.strip() else None
    if changed is not None:
        assert words(changed) == words(response)


@given(IDS, st.sampled_from(PerturbationKind), st.sampled_from([Preference.A, Preference.B]))
def test_whatever_an_id_holds_it_is_read_back(item_id: str, kind: PerturbationKind, side: Preference) -> None:
    own = id_among_perturbations(item_id)
    assert Perturbation.of_id(own) is None
    perturbation = Perturbation(own, kind, None if kind is PerturbationKind.REPEAT else side)
    assert Perturbation.of_id(perturbation.id) == perturbation


@given(st.lists(IDS, min_size=2, max_size=2, unique=True))
def test_no_two_items_share_an_id_with_their_copies(ids: list[str]) -> None:
    made = [id_among_perturbations(item_id) for item_id in ids]
    made += [each.id for item_id in made[:2] for each, _ in copies(replace(ITEM, id=item_id))]
    assert len(set(made)) == len(made)


@pytest.mark.parametrize("item_id", ["17", "17~padded", "17~again-A", "17~other-A", "17~padded-C", "~~again"])
def test_other_ids_are_of_no_copy(item_id: str) -> None:
    assert Perturbation.of_id(item_id) is None


def test_what_differs_in_more_than_its_response_is_no_copy() -> None:
    padded, again = (
        Perturbation("17", PerturbationKind.FILLER, A),
        Perturbation("17", PerturbationKind.REPEAT),
    )
    cases: list[tuple[Perturbation, dict[str, Any], bool]] = [
        (padded, {"output_a": "Hello. Bye."}, True),
        (padded, {}, False),
        (padded, {"output_a": "Hello.", "output_b": "Ho!"}, False),
        (padded, {"output_a": "Hello.", "instruction": "Sing."}, False),
        (again, {}, True),
        (again, {"output_b": "Ho!"}, False),
    ]
    for perturbation, changes, expected in cases:
        copy = replace(ITEM, id=perturbation.id, **changes)
        assert is_copy(perturbation, ITEM, copy) is expected


# Sets of probes: which items are drawn, what the file holds, what is read back from it.


ITEMS = dataset(
    {"safety": [A, B, TIE, None], "relevance": [B, None, A, A]},
    instructions=["one", "one", "one", "two"],
    outputs=[("Yes. No.", "Maybe."), ("- a list", "None."), ("Good.", "Bad."), ("Up.", "")],
)


def test_sentences_are_in_the_language_of_the_item(shared_data: Path) -> None:
    """Each id of this dataset begins with its language. Else they are English, and that is told."""
    items = list(load_dataset(shared_data / "human" / "truthfulqa_multi_ref.jsonl"))
    known = [(item, language_of(item)) for item in items]
    assert {item.id.partition("-")[0] for item in items} == set(PLANTED)
    wrong = sum(found is not None and not item.id.startswith(found) for item, found in known)
    assert wrong < 0.01 * len(items)
    assert sum(found is None for _, found in known) < 0.04 * len(items)
    assert all(found == "en" for item, found in known if item.id.startswith("en-"))
    basque = next(item for item, found in known if found == "eu")
    changed = {made.kind: copy for made, copy in copies(basque) if made.side is A}
    for kind, sentences in (("padded", PLANTED["eu"].filler), ("injected", PLANTED["eu"].injection)):
        copy = there(changed[PerturbationKind(kind)])
        assert copy.output_a.endswith(sentences)


def test_an_unrecognised_language_is_told_and_may_be_stated() -> None:
    strange = dataset({"safety": [A] * 2}, instructions=["x = 1", "z = 2"], outputs=[("1", "2")] * 2)
    assert "The language of 2 items is not recognised" in make_perturbations(strange).lacking
    stated = make_perturbations(strange, language="ca")
    assert stated.lacking == ""
    assert stated.items[2].output_a.endswith(PLANTED["ca"].filler)


def test_no_instruction_is_drawn_twice_before_each_was_drawn_once() -> None:
    for seed in range(10):
        made = make_perturbations(ITEMS, 2, seed)
        assert Counter(item.instruction for item in made.items if "~" not in item.id) == {"one": 1, "two": 1}
        assert made.drawn == 2
    assert len({make_perturbations(ITEMS, 2, seed).items[0].id for seed in range(20)}) == 3
    with pytest.raises(SetupError, match="is 0"):
        make_perturbations(ITEMS, 0)


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


def test_perturbations_keep_the_reference_answers_of_their_items(tmp_path: Path) -> None:
    told = replace(ITEMS, others=pa.table({"reference": ["56", "", "57", ""]}))
    made = make_perturbations(told, 100)
    assert made.name != make_perturbations(ITEMS, 100).name
    made.write(tmp_path / made.name)
    read = load_dataset(tmp_path / made.name)
    assert [item.reference for item in read] == [item.reference for item in made.items]
    assert Counter(item.reference for item in read)["57"] > 1
    assert read.background == ("reference",)


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
    # Items that only look like copies are items.
    alike = PerturbationSet.of(with_texts(ITEMS, id=["1", "1~padded-A", "3~again", "4"]))
    assert len(alike.own) == 4
    assert not alike
