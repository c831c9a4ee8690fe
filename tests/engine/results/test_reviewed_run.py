"""What people say of a run's items: states, confirmed labels, notes; store and exports."""

import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from engine.annotations.records import new_note, new_override, new_review
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from engine.results.exports import as_json, write_results_csv
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from tests.judged import GOOD, SURE_A, A, B, dataset, stored_run

GOLD = dataset({"safety": [A, A, GOOD], "relevance": [A, B, None]})
LONG = "ß" * 255
SAFETY = JudgmentKey("1", "safety")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """Run 1 says A of three items on two criteria."""
    stored_run(tmp_path, GOLD, {"safety": [SURE_A] * 3, "relevance": [SURE_A] * 3})
    with RunStore(tmp_path / "runs.sqlite") as opened:
        yield opened


def results(store: RunStore) -> RunResults:
    return load_results(store, 1)


def hash_of(store: RunStore, item_id: str) -> str:
    return next(item.content_hash for item in store.judged(1) if item.item_id == item_id)


def test_a_confirmation_is_a_label_of_its_person_and_no_override(store: RunStore) -> None:
    confirmed = {"safety": A, "relevance": A}
    store.annotate(1, new_review("1", "Ada", ReviewState.DONE, confirmed))
    store.annotate(1, new_override("1", "safety", B, explanation=None, author="Ben"))
    found = results(store)
    assert found.reviews.labels == {
        "Ada": {SAFETY: A, JudgmentKey("1", "relevance"): A},
        "Ben": {SAFETY: B},
    }
    assert list(found.overrides) == [SAFETY]
    assert found.reviews.only({"1"}).labels == found.reviews.labels
    assert found.reviews.only({"2"}).labels == {}


def test_a_note_is_found_again_by_the_content_of_its_item(store: RunStore) -> None:
    key = hash_of(store, "2")
    store.annotate(None, new_note(key, " odd, \n see B ", ["mt", "odd", "mt", " "], "Ada"))
    store.annotate(None, new_note(hash_of(store, "1"), "", [LONG, "odd"], "Ben"))
    [note] = results(store).notes_on(key)
    assert (note.text, note.tags, note.author) == ("odd, \n see B", ("mt", "odd"), "Ada")
    assert store.tags() == ["odd", "mt", LONG]
    store.annotate(None, new_note(key, "", [], "Ben"))
    assert results(store).notes_on(key) == (note,)  # everybody has one of his own
    store.annotate(None, new_note(key, "", [], "Ada"))
    assert results(store).notes_on(key) == ()
    assert store.tags() == ["odd", LONG]


def test_json_holds_states_labels_and_notes(store: RunStore) -> None:
    store.annotate(1, new_review("1", "Ada", ReviewState.DONE, {"safety": A}, Origin.UNCERTAINTY))
    store.annotate(None, new_note(hash_of(store, "1"), "why?", ["odd"], "Ben"))
    first, second, _ = json.loads(json.dumps(as_json(results(store))))["items"]
    assert [(mark["author"], mark["state"]) for mark in first["reviews"]] == [("Ada", "done")]
    assert first["judgments"]["safety"]["people"] == {"Ada": "A"}
    [said] = first["judgments"]["safety"]["people_said"]
    assert (said["kind"], said["author"], said["origin"], said["seed"]) == ("confirmed", "Ada", "doubt", None)
    assert (first["random_sample"], second["judgments"]["safety"]["people_said"]) == (None, [])
    [note] = first["notes"]
    assert (note["text"], note["author"], first["tags"]) == ("why?", "Ben", ["odd"])
    assert (second["reviews"], second["notes"], second["tags"]) == ([], [], [])


def test_csv_holds_states_labels_and_notes(store: RunStore, tmp_path: Path) -> None:
    store.annotate(1, new_review("1", "Ada", ReviewState.DONE, {"safety": A}, Origin.RANDOM))
    store.annotate(1, new_override("1", "safety", B, explanation=None, author=LONG))
    store.annotate(None, new_note(hash_of(store, "1"), 'a "note",\nwith lines', ["odd, very", "ß"], "Ben"))
    write_results_csv(tmp_path / "all.csv", results(store))
    table = pd.read_csv(tmp_path / "all.csv", dtype=str, keep_default_na=False)
    first, other = table.iloc[0], table.iloc[2]
    assert (first.review_state, first.review_author, other.review_state) == ("done", "Ada", "")
    assert json.loads(first.labels_by_people) == {"Ada": "A", LONG: "B"}
    assert json.loads(first.origins_by_people) == {"Ada": "random", LONG: None}
    assert (first.override_origin, first.random_sample) == ("", "labelled")
    assert (other.origins_by_people, other.random_sample) == ("", "")
    store.annotate(1, new_override("1", "safety", B, None, LONG, origin=Origin.RANDOM, seed=3))
    write_results_csv(tmp_path / "all.csv", results(store))
    again = pd.read_csv(tmp_path / "all.csv", dtype=str, keep_default_na=False)
    assert again.override_origin[0] == "random"
    [judgment, *_] = as_json(results(store))["items"][0]["judgments"].values()
    assert (judgment["override"]["origin"], judgment["override"]["seed"]) == ("random", 3)
    assert json.loads(first.notes_by_people) == {"Ben": 'a "note",\nwith lines'}
    assert (json.loads(first.states_by_people), first.explanations_by_people) == ({"Ada": "done"}, "")
    assert json.loads(first.tags) == ["odd, very", "ß"]
    assert (other.notes_by_people, other.tags) == ("", "")
