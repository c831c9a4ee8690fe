"""A dataset in numbers."""

from dataclasses import replace

import pytest

from engine.core.items import PREFERENCES
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.dataset_views import summary_of
from engine.system.paths import demo_dataset
from tests.judged import GOOD, A, B, dataset

GOLD = replace(
    dataset(
        {"relevance": [A, A, GOOD, None], "safety": [None, B, None, None]},
        explanations={"relevance": ["why", None, "so", "alone"]},
        instructions=["one", "two", "one", "one"],
        outputs=[("", ""), ("long text", "b"), ("é汉😀", "é汉😀"), ("x", "")],
    ),
    notices=("3 responses are empty.",),
)


def test_labels_and_explanations_are_counted_for_every_criterion() -> None:
    found = summary_of(GOLD)
    assert found.items == 4
    assert found.labels["relevance"] == {A: 2, B: 0, GOOD: 1, PREFERENCES[3]: 0}
    assert found.labelled == {**dict.fromkeys(ELOQUENT.names, 0), "relevance": 3, "safety": 1}
    assert found.explained == {**dict.fromkeys(ELOQUENT.names, 0), "relevance": 3}
    assert found.any_label == 3


def test_equal_responses_are_counted_and_the_notices_are_kept() -> None:
    found = summary_of(GOLD)
    assert found.equal_responses == 2
    assert found.notices == GOLD.notices


def test_lengths_are_medians_in_characters() -> None:
    assert summary_of(GOLD).lengths == {"instruction": 3, "output_a": 2, "output_b": 0.5}


def test_no_items_is_no_error() -> None:
    found = summary_of(GOLD.head(0))
    assert (found.items, found.any_label, found.lengths["output_a"]) == (0, 0, 0)


@pytest.fixture(scope="module")
def demo() -> Dataset:
    return load_dataset(demo_dataset())


def test_a_file_is_counted_as_its_items_are(demo: Dataset) -> None:
    found, items = summary_of(demo), list(demo)
    for name in demo.rubric.names:
        labels = [item.gold[name].label for item in items if name in item.gold]
        assert found.labels[name] == {label: labels.count(label) for label in PREFERENCES}
        assert found.explained[name] == sum(name in i.gold and bool(i.gold[name].explanation) for i in items)
