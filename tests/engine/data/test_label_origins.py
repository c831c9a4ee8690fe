"""A dataset made of a run's labels tells how people came to its items, and says where it does not know."""

from pathlib import Path

import pandas as pd
import pytest

from engine.annotations.records import new_override, new_review
from engine.core.column_map import ColumnMap
from engine.core.judgments import Origin, ReviewState
from engine.data.dataset import Dataset, load_dataset
from engine.data.label_origins import in_drawn_order, label_origins
from engine.metrics.matching import Matched, match, system_of_run
from engine.results.exports import write_results_csv
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from tests.judged import SURE_A, A, B, dataset, stored_run

ITEMS = 12
OWN = dataset({"safety": [None] * ITEMS})
DRAWN = in_drawn_order(OWN.ids, 0)
COLUMNS = ColumnMap.of({"id": "item_id", "safety_preference": "preference"})
BY_UNCERTAINTY = "6 of these 12 labels were given in order of uncertainty: the hardest items."


@pytest.fixture
def run(tmp_path: Path) -> Matched:
    """A run held against the labels that people gave in it, through its CSV."""
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
