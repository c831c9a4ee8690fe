"""Predictions and labels are joined by id; what does not fit together is named."""

import pytest

from engine.errors import SetupError
from engine.matching import match
from tests.judged import GOOD, A, B, dataset, system


def test_rows_are_joined_by_id_not_by_place() -> None:
    found = match(system({"safety": [B, A]}, ids=["2", "1"]), dataset({"safety": [A, B]}))
    assert [pair.prediction.preference for pair in found.pairs["safety"]] == [A, B]


def test_missing_and_extra_ids_are_named() -> None:
    with pytest.raises(SetupError) as error:
        match(system({"safety": [A, B]}, ids=["2", "9"]), dataset({"safety": [A, B, B]}))
    assert "ids missing (2 of 3): 1, 3" in error.value.problem
    assert "ids that are not in gold.tsv (1): 9" in error.value.problem
    assert "--partial" in error.value.remedy


def test_partial_scores_what_both_have() -> None:
    found = match(system({"safety": [A, B]}, ids=["2", "9"]), dataset({"safety": [A, B, B]}), partial=True)
    assert (found.items, found.missing, found.extra) == (1, ("1", "3"), ("9",))


def test_systems_without_a_common_id_are_refused() -> None:
    with pytest.raises(SetupError, match="no id in common"):
        match(system({"safety": [A]}, ids=["x"]), dataset({"safety": [A]}), partial=True)


def test_items_without_a_label_are_no_pairs() -> None:
    found = match(
        system({"safety": [A, A], "relevance": [B, B]}),
        dataset({"safety": [None, B], "relevance": [None, None]}),
    )
    assert {name: len(pairs) for name, pairs in found.pairs.items()} == {"safety": 1}


def test_a_dataset_without_labels_is_refused() -> None:
    with pytest.raises(SetupError, match="no human label for what judge"):
        match(system({"safety": [A]}), dataset({"relevance": [GOOD]}))
