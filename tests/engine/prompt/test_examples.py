"""Labelled examples: varied, short, and never the item that is judged."""

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import SetupError
from engine.core.items import Gold, HumanLabel, Item, Preference, Tie
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.prompt.examples import ExamplePool, WordLikeness, choose_examples, folded
from engine.settings.rows import ExampleKind
from tests.commands import ROOT


def labelled(number: int, label: HumanLabel = Preference.A, instruction: str | None = None) -> Item:
    text = instruction or f"Question {number}"
    return Item(str(number), text, "x" * number, "y", {"safety": Gold(label)})


ITEMS = [labelled(number) for number in range(1, 8)] + [labelled(20, Preference.B)]


def test_examples_show_different_labels_before_more_of_the_same() -> None:
    pool = choose_examples(ITEMS, ELOQUENT, shots=2)
    labels = {example.gold["safety"].label for example in pool.for_item(labelled(99))}
    assert labels == {Preference.A, Preference.B}


def test_a_tie_of_which_people_said_no_more_and_what_has_no_label_are_no_examples() -> None:
    others = [labelled(number, Tie.TIE) for number in range(30, 40)]
    with pytest.raises(SetupError):
        choose_examples(others, ELOQUENT, shots=1)
    others.append(Item("0", "?", "", "", {"safety": Gold(None, "said nothing")}))
    assert choose_examples([*ITEMS, *others], ELOQUENT, shots=7) == choose_examples(ITEMS, ELOQUENT, shots=7)


@pytest.mark.parametrize("instruction", ["Question 1", "question  1", " QUESTION 1\n"])
def test_an_example_with_the_same_instruction_is_not_shown(instruction: str) -> None:
    pool = choose_examples(ITEMS, ELOQUENT, shots=2)
    shown = pool.for_item(labelled(99, instruction=instruction))
    assert "1" not in {example.id for example in shown}
    assert len(shown) == 2


def test_an_item_is_never_its_own_example_not_even_one_without_an_instruction() -> None:
    for items in (ITEMS, [replace(item, instruction=" ") for item in ITEMS]):
        pool = choose_examples(items, ELOQUENT, shots=2)
        for item in items:
            shown = pool.for_item(replace(item, id="another"))
            assert len(shown) == 2
            assert item.output_a not in {example.output_a for example in shown}


def test_too_few_labelled_items_are_refused_with_what_is_possible() -> None:
    with pytest.raises(SetupError, match="only 8 different instructions") as caught:
        choose_examples(ITEMS, ELOQUENT, shots=8)
    assert "--few-shot 7" in OPTIONS.of(caught.value.hint)
    with pytest.raises(SetupError, match="only 4 different instructions"):
        near(4)
    with pytest.raises(SetupError, match="The number of examples is 0"):
        near(0)


def test_what_can_be_shown_is_part_of_the_hash() -> None:
    pool = choose_examples(ITEMS, ELOQUENT, shots=2)
    changed = [labelled(1, Preference.BOTH_BAD), *ITEMS[1:]]
    assert pool.hash != choose_examples(changed, ELOQUENT, shots=2).hash
    assert pool.hash == choose_examples(list(reversed(ITEMS)), ELOQUENT, shots=2).hash


def about(name: str, instruction: str, *criteria: str) -> Item:
    gold = {criterion: Gold(Preference.A) for criterion in criteria or ("safety",)}
    return Item(name, instruction, "x", "y", gold)


KITCHEN = [
    about("cake", "How do I bake a cake?"),
    about("bread", "How do I bake bread?"),
    about("poem", "Write a poem about the sea."),
    about("song", "Write a song about the sea and the wind."),
    about("bread again", "how do I  BAKE bread?", "safety", "relevance"),
    Item("unlabelled", "How do I bake a cake without eggs?", "", ""),
]
NEAR = ExampleKind.NEAR


def near(shots: int, items: list[Item] = KITCHEN) -> ExamplePool:
    return choose_examples(items, ELOQUENT, shots, NEAR)


def shown(pool: ExamplePool, instruction: str) -> list[str]:
    return [example.id for example in pool.for_item(Item("1", instruction, "", ""))]


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("How do I bake a cake without eggs?", ["bread again", "cake"]),
        ("how do i bake a  CAKE?", ["poem", "bread again"]),
        ("A poem about the wind", ["song", "poem"]),
        ("Xylophones", ["cake", "bread again"]),
    ],
    ids=["the nearest last", "not the same instruction", "other words", "no word in common"],
)
def test_each_item_is_shown_the_nearest(instruction: str, expected: list[str]) -> None:
    assert shown(near(2), instruction) == expected


def test_of_one_instruction_the_one_with_most_labels_is_shown_whatever_the_order_of_the_file() -> None:
    both = [near(3), near(3, list(reversed(KITCHEN)))]
    assert {example.id for pool in both for example in pool.ranked} == {"cake", "bread again", "poem", "song"}
    assert both[0].ranked[0].id == both[1].ranked[0].id == "bread again"


def test_an_item_of_the_pool_never_shows_itself_and_always_enough() -> None:
    pool = near(3)
    for item in KITCHEN:
        names = [example.id for example in pool.for_item(item)]
        assert len(set(names)) == 3
        assert item.id not in names


def test_real_items_are_shown_near_ones_whatever_else_is_judged(shared_data: Path) -> None:
    items = list(load_dataset(shared_data / "eloquent" / "validation.tsv"))
    pool, again = near(3, items), near(3, items)
    chosen = {item.id: pool.for_item(item) for item in items}
    for item in reversed(items[::7]):
        assert again.for_item(replace(item, gold={})) == chosen[item.id]
        assert len({folded(example.instruction) for example in (item, *chosen[item.id])}) == 4
    french = next(item for item in items if "Mauritian" in item.instruction)
    assert "recipe" in chosen[french.id][-1].instruction.casefold()


def test_the_hash_says_how_examples_are_chosen() -> None:
    fixed = choose_examples(KITCHEN, ELOQUENT, 2)
    # As it was before there was a choice: stored runs and calibrations know examples by it.
    assert fixed.hash == "30e72c7617686a1fdec4602b522629a4df4158f861efd55868482cdc2850dde0"
    hashes = {fixed.hash, near(2).hash, near(3).hash, near(2, KITCHEN[:4]).hash}
    assert len(hashes) == 4
    assert near(2).hash.startswith("near:")
    assert ExamplePool(choice=NEAR).hash == ""


def test_a_pool_that_travels_chooses_alike_and_takes_no_table_with_it() -> None:
    pool = near(2)
    new = len(pickle.dumps(pool))
    chosen = [pool.for_item(item) for item in KITCHEN]
    sent = pickle.dumps(pool)
    assert len(sent) == new
    there = pickle.loads(sent)
    assert [there, there.hash] == [pool, pool.hash]
    assert [there.for_item(item) for item in KITCHEN] == chosen


def test_only_the_same_for_all_are_known_of_an_item_that_stands_for_any() -> None:
    perturbation = Item("probe", "Z", "Z", "Z")
    fixed = choose_examples(KITCHEN, ELOQUENT, 2)
    assert fixed.for_probe(perturbation) == fixed.for_item(perturbation)
    assert near(2).for_probe(perturbation) == (perturbation, perturbation)
    assert [ExamplePool().are_own, fixed.are_own, near(2).are_own] == [False, False, True]


# What is nearest neighbours: rare words count more than frequent ones, and equals have a fixed order

TEXTS = [
    "how do i bake a cake",
    "how do i write a poem",
    "how do i bake bread with little salt",
    "why is the sea salt",
    "how do i bake a cake",
]


@pytest.mark.parametrize(
    ("text", "count", "expected"),
    [
        ("bake a cake", 2, [0, 4]),
        ("a poem", 1, [1]),
        ("salt", 2, [3, 2]),
        ("salt of the sea", 9, [3, 2, 0, 1, 4]),
        ("xylophone", 3, [0, 1, 2]),
        ("", 2, [0, 1]),
    ],
    ids=["equals in their order", "one", "shorter", "all", "no word in common", "nothing"],
)
def test_the_nearest_come_first(text: str, count: int, expected: list[int]) -> None:
    assert WordLikeness(TEXTS).nearest(text, count) == expected


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (["日本の首都はどこですか", "猫はなぜ水が嫌いですか"], "猫の水"),
        (["Γιατί η θάλασσα;", "Πώς ψήνω ψωμί;"], "ψωμί"),
        (["Is it 1990 or x?", "Is it 2000 or y?"], "2000 y"),
    ],
    ids=["without spaces", "Greek", "numbers and single letters"],
)
def test_words_are_found_in_other_scripts(texts: list[str], text: str) -> None:
    assert WordLikeness(texts).nearest(text, 1) == [1]
    assert WordLikeness(["?!", "", "..."]).nearest("?!", 2) == [0, 1]  # texts without a word are all alike


@pytest.mark.slow
def test_only_who_asks_loads_scikit_learn() -> None:
    code = "import sys, engine.prompt.examples, engine.judging.prepare; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
