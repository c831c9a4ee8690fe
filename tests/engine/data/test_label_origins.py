"""A dataset made of a run's labels tells how people came to its items, and says where it does not know."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from engine.annotations.records import new_override, new_review
from engine.cli.shared.hints import OPTIONS
from engine.core.column_map import ColumnMap
from engine.core.errors import SetupError
from engine.core.judgments import Origin, ReviewState
from engine.data.dataset import Dataset, load_dataset
from engine.data.label_origins import (
    drawn,
    drawn_by_instruction,
    in_drawn_order,
    label_origins,
    sorted_by_label,
)
from engine.metrics.matching import Matched, match, system_of_run
from engine.results.exports import write_results_csv
from engine.results.run_results import load_results
from engine.settings.sampling import ItemSample
from engine.store.run_store import RunStore
from tests.engine.data.test_slices import saved
from tests.judged import SURE_A, A, B, dataset, stored_run

ITEMS = 12
OWN = dataset({"safety": [None] * ITEMS})
DRAWN = in_drawn_order(OWN.ids, 0)
COLUMNS = ColumnMap.of({"id": "item_id", "safety_preference": "preference"})
BY_UNCERTAINTY = "6 of these 12 labels were given in order of uncertainty: the hardest items."


@pytest.fixture
def run(tmp_path: Path) -> Matched:
    """A run compared with the labels that people gave in it, through its CSV."""
    stored_run(tmp_path, OWN, {"safety": [SURE_A] * ITEMS})
    with RunStore(tmp_path / "runs.sqlite") as store:
        for place, item in enumerate(DRAWN[1:6]):
            origin = Origin.RANDOM if place else None
            store.annotate(1, new_review(item, "Ada", confirmed={"safety": A}, origin=origin))
        store.annotate(1, new_review(DRAWN[0], "Ada", ReviewState.SKIPPED))
        for item in (DRAWN[0], *DRAWN[6:]):
            store.annotate(1, new_override(item, "safety", B, None, "Ben", origin=Origin.UNCERTAINTY))
        results = load_results(store, 1)
    write_results_csv(tmp_path / "run.csv", results, OWN)
    return match(system_of_run(results.model_alone()), load_dataset(tmp_path / "run.csv", columns=COLUMNS))


def without(gold: Dataset, path: Path, *columns: str) -> Dataset:
    """The same file without some columns."""
    frame = pd.read_csv(gold.path, dtype=str, keep_default_na=False)
    frame.drop(columns=list(columns)).to_csv(path, index=False)
    return load_dataset(path, columns=COLUMNS)


def test_labels_of_a_runs_csv_say_which_were_picked(run: Matched) -> None:
    origins = label_origins(run.dataset, "safety")
    assert origins is not None
    assert {item for item, origin in origins.items() if origin is Origin.RANDOM} == set(DRAWN[:6])
    assert run.labels_in_words[0] == BY_UNCERTAINTY
    assert "a calibration on the hardest is underconfident" in run.labels_in_words[1]
    assert set(run.labels_in_words) <= set(run.caveats)


def test_a_csv_of_an_earlier_version_says_that_the_order_is_not_known(run: Matched, tmp_path: Path) -> None:
    lost = ("origins_by_people", "override_origin", "random_sample")
    older = without(run.dataset, tmp_path / "older.csv", *lost)
    unknown = "All of these 12 labels were given in an unknown order."
    assert match(run.system, older).labels_in_words == [unknown]
    plain = without(run.dataset, tmp_path / "plain.csv", *lost, "labels_by_people")
    assert match(run.system, plain).labels_in_words == []


def test_a_column_of_each_criterion_tells_it_too(tmp_path: Path) -> None:
    header = "id\tinstruction\toutput_a\toutput_b\tsafety_preference\tsafety_origin"
    origins = {"a": "doubt", "b": "random", "c": "?"}
    rows = [f"{item}\twhy\tthis\tthat\tA\t{origin}" for item, origin in origins.items()]
    path = tmp_path / "own.tsv"
    path.write_text("\n".join([header, *rows]))
    found = label_origins(load_dataset(path), "safety")
    assert found == {"a": Origin.UNCERTAINTY, "b": Origin.RANDOM, "c": None}


SUBSETS = ["chat"] * 60 + ["math"] * 30 + ["code"] * 8 + [""] * 2


def dataset_of(folder: Path, subsets: Sequence[str] = SUBSETS) -> Dataset:
    return saved(folder, *({"subset": subset} for subset in subsets))


def shares(dataset: Dataset, sample: ItemSample) -> dict[str, int]:
    return dict(Counter(drawn(dataset, sample).items.texts("subset").to_pylist()))


def test_a_sample_is_the_same_on_every_computer_and_in_the_order_of_the_file(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path)
    assert drawn(dataset, ItemSample(6)).items.ids == ["8", "14", "49", "57", "60", "94"]
    assert drawn(dataset, ItemSample(6, seed=1)).items.ids != drawn(dataset, ItemSample(6)).items.ids


@pytest.mark.parametrize("by", ["", "subset"])
def test_no_order_of_the_file_changes_what_is_drawn(tmp_path: Path, by: str) -> None:
    rows = [{"id": f"item {place}", "subset": subset} for place, subset in enumerate(SUBSETS)]
    mixed = random.Random(3).sample(rows, len(rows))
    samples = [drawn(saved(tmp_path, *order), ItemSample(17, 2, by)).items for order in (rows, mixed)]
    assert set(samples[0].ids) == set(samples[1].ids)


@pytest.mark.parametrize("by", ["", "subset"])
def test_a_larger_sample_holds_every_smaller_one(tmp_path: Path, by: str) -> None:
    dataset = dataset_of(tmp_path)
    samples = [set(drawn(dataset, ItemSample(items, 5, by)).items.ids) for items in range(1, 101)]
    assert [len(sample) for sample in samples] == list(range(1, 101))
    assert all(smaller < larger for smaller, larger in pairwise(samples))


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        (8, {"chat": 2, "math": 2, "code": 2, "": 2}),
        (40, {"chat": 15, "math": 15, "code": 8, "": 2}),
        (80, {"chat": 40, "math": 30, "code": 8, "": 2}),
        (100, {"chat": 60, "math": 30, "code": 8, "": 2}),
    ],
)
def test_shares_are_as_even_as_the_values_allow(tmp_path: Path, items: int, expected: dict[str, int]) -> None:
    assert shares(dataset_of(tmp_path), ItemSample(items, 0, "subset")) == expected


def test_what_cannot_be_divided_goes_by_the_seed(tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path)
    found = [shares(dataset, ItemSample(5, seed, "subset")) for seed in range(20)]
    assert all(sorted(share.values()) == [1, 1, 1, 2] for share in found)
    assert len({max(share, key=lambda value: share[value]) for share in found}) > 1


@pytest.mark.parametrize(
    ("sample", "said"),
    [
        (ItemSample(40, 7), ["x.json: 40 of 100 items are sampled at random, seed 7."]),
        (
            ItemSample(40, 7, "subset"),
            [
                "x.json: 40 of 100 items are sampled evenly over subset, seed 7.",
                "Items by subset: chat: 15, math: 15, code: 8, (empty): 2.",
                "subset has too few items of code, '(empty)': all of them are sampled, and more of the"
                " others.",
            ],
        ),
        (
            ItemSample(2, 0, "subset"),
            [
                "x.json: 2 of 100 items are sampled evenly over subset, seed 0.",
                "subset has 4 values: one item each of 2 of them is sampled.",
            ],
        ),
        (ItemSample(100), ["x.json: all 100 items are judged."]),
        (ItemSample(500), ["x.json: all 100 items are judged. The dataset has fewer than 500."]),
    ],
)
def test_how_it_went_is_said(tmp_path: Path, sample: ItemSample, said: list[str]) -> None:
    assert list(drawn(dataset_of(tmp_path), sample).notes) == said


def test_a_hostile_column_is_quoted(tmp_path: Path) -> None:
    name, value = "a\x1b[31m", "b\u202e\n"
    dataset = saved(tmp_path, *({name: value} for _ in range(4)))
    text = "\n".join(drawn(dataset, ItemSample(2, 0, name)).notes)
    assert "evenly over 'a\\x1b[31m', seed 0" in text
    assert "'b\\u202e\\n': 2" in text


def test_a_sample_may_be_even_over_a_human_label(tmp_path: Path) -> None:
    labels = ["A"] * 90 + ["B"] * 10
    dataset = saved(tmp_path, *({"safety_preference": label} for label in labels))
    items = drawn(dataset, ItemSample(20, 0, "safety_preference")).items
    assert Counter(items.texts("safety_preference").to_pylist()) == {"A": 10, "B": 10}


def test_a_column_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    dataset = saved(tmp_path, {"subset": "a", "safety_preference": "A"})
    assert dataset.value_columns == ("safety_preference", "subset")
    with pytest.raises(SetupError) as caught:
        drawn(dataset, ItemSample(1, 0, "subsets"))
    assert str(caught.value.hint) == "Did you mean subset? There are safety_preference, subset."


@pytest.mark.parametrize(
    ("labels", "first", "said"),
    [
        (["A"] * 50 + ["B"] * 150, 50, "safety is A in 100.0 % of the first 50 items, and in 25.0 % of all"),
        (["A"] * 3 + ["B"] * 197, 3, "safety is A in 100.0 % of the first 3 items, and in 1.5 % of all"),
        (["A", "B", "B", "B"] * 50, 50, ""),
        (["both_good"] * 200, 50, ""),
        (["A", "A", "A", "B", "B"] * 40, 3, ""),
        ([""] * 200, 50, ""),
    ],
)
def test_the_head_of_a_sorted_file_is_told(tmp_path: Path, labels: list[str], first: int, said: str) -> None:
    whole = saved(tmp_path, *({"safety_preference": label} for label in labels))
    found = sorted_by_label(whole, whole.head(first))
    hint = f". Sample them instead: --sample {first}."
    expected = f"x.json seems to be sorted: {said}{hint}" if said else ""
    assert ("" if found is None else OPTIONS.of(found)) == expected


def test_items_of_one_instruction_are_drawn_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    dataset = saved(tmp_path, *({"instruction": f"question {place % 4}"} for place in range(12)))
    drawings = [drawn_by_instruction(dataset, 6, seed) for seed in range(10)]
    for part in drawings:
        assert Counter(part.texts("instruction").to_pylist()).most_common()[0][1] == 3
        assert len(set(part.texts("instruction").to_pylist())) == 2
        assert [int(item_id) for item_id in part.ids] == sorted(map(int, part.ids))
    assert len({tuple(part.ids) for part in drawings}) > 1
    assert set(drawn_by_instruction(dataset, 4, 0).ids) < set(drawings[0].ids)
    assert drawn_by_instruction(dataset, 99, 0).ids == dataset.ids


def test_items_without_an_instruction_are_drawn_one_by_one(tmp_path: Path) -> None:
    dataset = saved(
        tmp_path, *({"instruction": "" if place % 2 else f"question {place}"} for place in range(40))
    )
    lacking = [
        drawn_by_instruction(dataset, 20, seed).texts("instruction").to_pylist().count("")
        for seed in range(40)
    ]
    assert 8 < sum(lacking) / len(lacking) < 12
    assert max(lacking) < 20
