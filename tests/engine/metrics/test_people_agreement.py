"""How far people agree: among themselves, with the model alone, with the dataset's labels."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import krippendorff
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.annotations.records import new_override, new_review
from engine.core.items import HUMAN_LABELS, HumanLabel, Preference, Tie, agree
from engine.data.arrow_arrays import text_array
from engine.data.dataset import Dataset
from engine.metrics.annotator_agreement import (
    _ALIKE,
    HUMAN,
    JUDGE,
    SharedLabels,
    _alpha,
    agreement_of_annotators,
    annotator_agreement,
)
from engine.report.annotators import among_in_words
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import BAD, GOOD, SURE_A, SURE_GOOD, A, B, dataset, stored_run

GOLD = dataset({"safety": [A, A, GOOD, GOOD], "relevance": [A, A, None, None]})
Given = Mapping[str, Mapping[str, Sequence[Preference | None]]]


def run_of(folder: Path, given: Given) -> RunResults:
    """A run that says A, A, both good, both good on safety; by person and criterion the confirmed labels."""
    safety = [SURE_A, SURE_A, SURE_GOOD, SURE_GOOD]
    results = stored_run(folder, GOLD, {"safety": safety, "relevance": [SURE_A] * 4}).results
    assert results is not None
    with RunStore(folder / "runs.sqlite") as store:
        for author, criteria in given.items():
            for criterion, labels in criteria.items():
                for number, label in enumerate(labels):
                    if label is not None:
                        confirmed = {criterion: label}
                        store.annotate(results.run.id, new_review(str(number + 1), author, None, confirmed))
        return load_results(store, results.run.id)


def pair(results: RunResults, one: str, other: str, criterion: str | None) -> SharedLabels:
    found = agreement_of_annotators(results, GOLD)
    assert found is not None
    [pair] = [
        each for each in found.pairs if (each.one, each.other, each.criterion) == (one, other, criterion)
    ]
    return pair


def test_without_human_labels_the_runs_own_dataset_has_the_instructions_for_intervals(tmp_path: Path) -> None:
    labels = {"safety": [A, A, GOOD, B], "relevance": [A, A, B, B]}
    results = run_of(tmp_path, {"Ada": labels, "Ben": {"safety": [A, B, GOOD, A], "relevance": [A] * 4}})
    bare = agreement_of_annotators(results)
    assert bare is not None
    assert {one.equal.ends for one in bare.among.values()} == {None}
    assert {one.equal.ends for one in bare.pairs} == {None}
    instructions = pa.array([f"instruction {number}" for number in range(4)])
    table = GOLD.table.set_column(GOLD.table.column_names.index("instruction"), "instruction", instructions)
    own = replace(GOLD, table=table.select(["id", "instruction", "output_a", "output_b"]))
    hashes = {item.id: item.content_hash for item in own}
    judged = tuple(replace(item, content_hash=hashes[item.item_id]) for item in results.judged)
    found = agreement_of_annotators(replace(results, judged=judged), own=own)
    assert found is not None
    assert all(one.equal.ends is not None for one in found.among.values())
    assert all(one.equal.ends is not None for one in found.pairs)
    assert {pair.other for pair in found.pairs} == {"Ben", JUDGE}
    assert [one.equal.value for one in found.pairs] == [one.equal.value for one in bare.pairs]


def test_where_nobody_labelled_anything_there_is_nothing_to_say(tmp_path: Path) -> None:
    results = run_of(tmp_path, {})
    assert agreement_of_annotators(results, GOLD) is None


def test_two_people_the_model_and_the_human_labels(tmp_path: Path) -> None:
    results = run_of(
        tmp_path,
        {"Ada": {"safety": [A, A, GOOD, None], "relevance": [A]}, "Ben": {"safety": [A, B, GOOD, BAD]}},
    )
    together = pair(results, "Ada", "Ben", "safety")
    # Expected by chance: (2 A x 1 A + 1 good x 1 good) / 9 = 3 / 9.
    assert (together.items, together.equal.value, together.between_annotators) == (3, 2 / 3, True)
    assert together.differing == {"2"}
    assert together.kappa == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    assert pair(results, "Ada", JUDGE, "safety").equal.value == 1
    assert pair(results, "Ada", JUDGE, None).items == 4
    assert pair(results, "Ben", HUMAN, "safety").equal.value == 0.5
    found = agreement_of_annotators(results, GOLD)
    assert found is not None
    assert not [each for each in found.pairs if {each.one, each.other} == {JUDGE, HUMAN}]
    assert [each.between_annotators for each in found.pairs[:2]] == [True, True]
    assert list(found.among) == ["safety", None]  # on relevance nobody shares an item with anybody
    assert (found.among["safety"].pairs, found.among["safety"].items) == (1, 3)


def test_two_people_count_by_the_items_that_both_labelled(tmp_path: Path) -> None:
    results = run_of(
        tmp_path,
        {
            "Ada": {"safety": [A, A, A, A]},
            "Ben": {"safety": [A, A, A, A]},
            "Cy": {"safety": [A, B]},
            "Dee": {"relevance": [B]},
        },
    )
    found = agreement_of_annotators(results)
    assert found is not None
    among = found.among["safety"]
    assert (among.annotators, among.pairs, among.items) == (3, 3, 4)
    assert among.equal.value == pytest.approx((4 * 1 + 2 * 0.5 + 2 * 0.5) / 8)
    assert among.equal.ends is None  # nobody knows which items have the same instruction
    assert among.kappa == 0  # of Ada and Ben there is none: both know A only
    assert HUMAN not in {each.other for each in found.pairs}


def test_the_mean_kappa_counts_pairs_by_the_items_that_both_labelled(tmp_path: Path) -> None:
    four = {"safety": [A, A, B, B]}
    results = run_of(tmp_path, {"Ada": four, "Ben": four, "Cy": {"safety": [A, B]}})
    found = agreement_of_annotators(results)
    assert found is not None
    assert found.among["safety"].kappa == pytest.approx((4 * 1 + 2 * 0 + 2 * 0) / 8)


def test_the_model_is_held_against_people_as_it_judged(tmp_path: Path) -> None:
    results = run_of(tmp_path, {})
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.annotate(1, new_override("1", "safety", B, explanation=None, author="Ada"))
        results = load_results(store, 1)
    assert pair(results, "Ada", JUDGE, "safety").equal.value == 0
    assert pair(results.model_alone(), "Ada", JUDGE, "safety").equal.value == 0


def test_a_person_called_as_the_model_is_a_person(tmp_path: Path) -> None:
    results = run_of(tmp_path, {JUDGE: {"safety": [B]}, "Ada": {"safety": [A]}})
    found = agreement_of_annotators(results)
    assert found is not None
    named = [each for each in found.pairs if each.criterion is None]
    assert [(each.one, each.other, each.equal.value, each.between_annotators) for each in named] == [
        ("Ada", JUDGE, 0, True),
        ("Ada", JUDGE, 1, False),
        (JUDGE, JUDGE, 0, False),
    ]


PUBLISHED = ("123321412", "12332241253", "3332342251", "12332441251")
"""Krippendorff (2011), example C: four observers, five labels; the units' numbers of each are in SEEN."""
SEEN = (range(9), (*range(10), 11), (1, *range(2, 11)), range(11))


def test_alpha_is_that_of_the_paper() -> None:
    counts = [[0] * 5 for _unit in range(12)]
    for labels, units in zip(PUBLISHED, SEEN, strict=True):
        for label, unit in zip(labels, units, strict=True):
            counts[unit][int(label) - 1] += 1
    assert _alpha([row for row in counts if sum(row) > 1]) == pytest.approx(0.743, abs=0.0005)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([[2, 0], [0, 2]], 1.0), ([[1, 1], [1, 1]], -0.5), ([[2, 0], [2, 0]], None)],
)
def test_alpha_of_complete_agreement_of_none_and_of_one_label(
    counts: list[list[int]], expected: float | None
) -> None:
    assert _alpha(counts) == expected


ITEMS = st.lists(st.integers(0, 3), min_size=2, max_size=5)
"""The labels of one item, by two to five people."""


@given(st.lists(ITEMS, min_size=1, max_size=20))
def test_alpha_is_that_of_the_reference(items: list[list[int]]) -> None:
    counts = [[labels.count(label) for label in range(4)] for labels in items]
    different = len({label for labels in items for label in labels}) > 1
    reference = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal") if different else None
    assert _alpha(counts) == (reference if reference is None else pytest.approx(reference))


def annotated(ann: str, ben: str) -> Dataset:
    """GOLD with two annotators of safety; a letter for each item: A, B, good, tie, or a dot."""
    said = {"A": "A", "B": "B", "g": "both_good", "t": "tie", ".": ""}
    table = GOLD.table
    for name, letters in (("ann", ann), ("Ben", ben)):
        column = text_array([said[letter] for letter in letters])
        table = table.append_column(f"safety_preference|{name}", column)
    return replace(GOLD, table=table)


def test_annotators_of_a_dataset_are_held_against_each_other() -> None:
    found = annotator_agreement(annotated("AAt.", "ABgg"))
    assert found is not None
    [pair] = [pair for pair in found.pairs if pair.criterion == "safety"]
    # A tie and both good agree; by chance 2 x 1 A, 1 x 1 tie with both good, of 9.
    assert (pair.one, pair.other, pair.items, pair.equal.value) == ("ann", "Ben", 3, 2 / 3)
    assert pair.kappa == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    assert among_in_words(found) == [
        "Safety: of 2 annotators, two give the same label to 66.7 % (95 %: 9.4 to 99.2) of the items that"
        " both labelled"
        f" (Krippendorff's alpha {found.among['safety'].alpha:.2f})."
    ]
    assert annotator_agreement(GOLD) is None


def test_annotators_stand_beside_the_people_of_a_run_but_not_against_their_own_majority(
    tmp_path: Path,
) -> None:
    results = run_of(tmp_path, {"Ben": {"safety": [A, A, GOOD, GOOD]}})
    found = agreement_of_annotators(results, annotated("AAtt", "ABgg"))
    assert found is not None
    sides = {(each.one, each.other): each.equal.value for each in found.pairs if each.criterion == "safety"}
    assert sides == {
        ("Ben", "ann"): 1,
        ("Ben", "Ben (dataset)"): 0.75,
        ("ann", "Ben (dataset)"): 0.75,
        ("Ben", JUDGE): 1,
        ("Ben", HUMAN): 1,
        ("ann", JUDGE): 1,
        ("Ben (dataset)", JUDGE): 0.75,
    }


@given(st.lists(st.lists(st.sampled_from(HUMAN_LABELS), min_size=2, max_size=5), min_size=1, max_size=8))
def test_alpha_does_not_tell_ties_apart_that_agree(items: list[list[HumanLabel]]) -> None:
    """Where every tie is without polarity, alpha is that of three mere names."""
    as_one = [[Tie.TIE if agree(label, Tie.TIE) else label for label in labels] for labels in items]
    of_five = [[labels.count(label) for label in HUMAN_LABELS] for labels in as_one]
    of_three = [[row[0], row[1], row[4]] for row in of_five]
    assert _alpha(of_five, _ALIKE) == _alpha(of_three)
