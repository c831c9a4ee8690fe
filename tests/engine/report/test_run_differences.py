"""Two runs side by side: what differs is marked and comes first, what always differs is not marked."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from engine.report.run import difference_count, differences_table
from engine.settings.identity import Effort, StoredRun
from tests.judged import IDENTITY

MADE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
ONE = StoredRun(1, MADE, IDENTITY, 3, {"llama_cpp": "b1", "threads": 4}, name="night")
Q8 = {"mode": "labels", "kv_type": "q8_0"}
OTHER_IDENTITY = replace(IDENTITY, model_path=Path("/models/q8.gguf"), settings=Q8)
OTHER = replace(ONE, id=2, name="", identity=OTHER_IDENTITY, manifest={"llama_cpp": "b2", "threads": 4})
EFFORTS = {1: [Effort(2.0, 100, 0)] * 3, 2: [Effort(4.0, 100, 0)] * 3}


def facts(one: StoredRun, other: StoredRun, common: int = 0) -> dict[str, tuple[object, ...]]:
    table = differences_table(one, other, EFFORTS, common)
    return {str(row[0]): tuple(row[1:]) for row in table.rows}


def test_what_differs_is_marked_and_comes_before_what_is_alike() -> None:
    found = facts(ONE, OTHER)
    assert found["mode"] == (True, "explain", "labels")
    assert found["llama.cpp"] == (True, "b1", "b2")
    assert found["KV-cache type"] == (True, None, "q8_0")
    assert found["model file"] == (True, "model.gguf", str(Path("/models/q8.gguf")))
    assert found["threads"] == (False, "4", "4")
    marked = [differs for differs, *_values in found.values()]
    assert marked.index(True) < marked.index(False, marked.index(True))
    assert not any(marked[marked.index(False, marked.index(True)) :])


def test_names_and_times_are_shown_and_no_difference() -> None:
    found = facts(ONE, OTHER)
    assert found["name"] == (False, "night", None)
    assert found["time for judging"] == (False, "6 s", "12 s")
    assert found["seconds for an item"] == (False, "2.00", "4.00")
    assert "note" not in found
    assert difference_count(differences_table(ONE, replace(ONE, id=2), EFFORTS)) == 0


def test_a_run_of_which_nothing_is_judged_has_no_times() -> None:
    table = differences_table(ONE, OTHER, {1: [], 2: []})
    assert not {"time for judging", "tokens read"} & {row[0] for row in table.rows}


def test_the_columns_of_a_foreign_dataset_stand_on_one_line() -> None:
    columns = {"columns": {"id": "uid", "instruction": "prompt"}, "labels": {"1": "A"}}
    found = facts(replace(ONE, manifest={**ONE.manifest, "columns": columns}), OTHER)
    assert found["columns"] == (True, "id=uid,instruction=prompt; labels 1=A", None)


def test_what_computed_is_said_in_plain_words() -> None:
    made = {
        "computed on": ("computed_on", "A card (graphics card, Vulkan)"),
        "driver of the GPU": ("driver", "31.0"),
        "GPU layers": ("gpu_layers", 9),
        "fallback from GPU to CPU": ("device_left", "A card, after 1 of 3 items: it hung"),
    }
    identity = replace(IDENTITY, settings={**IDENTITY.settings, "device": "Vulkan: A card"})
    found = facts(replace(ONE, identity=identity, manifest={**ONE.manifest, **dict(made.values())}), ONE)
    assert found["GPU of the run"] == (True, "Vulkan: A card", None)
    for fact, (_, value) in made.items():
        assert found[fact] == (True, str(value), None)


def test_items_that_are_a_part_of_the_others_are_told_by_their_number_and_not_by_hashes() -> None:
    whole = replace(ONE, id=2, judged=9, identity=replace(IDENTITY, dataset_hash="e" * 64, items=9))
    found = facts(ONE, whole, common=3)
    assert found["items in both runs"] == (True, "3 of 3", "3 of 9")
    assert "dataset, SHA-256" not in found


def test_hashes_are_told_where_nothing_is_shared_or_both_judged_the_same_items() -> None:
    other = replace(ONE, id=2, identity=replace(IDENTITY, dataset_hash="e" * 64))
    for common in (0, 3):
        found = facts(ONE, other, common)
        assert found["dataset, SHA-256"] == (True, IDENTITY.dataset_hash[:12], "e" * 12)
        assert "items in both runs" not in found
    assert facts(ONE, replace(ONE, id=2), 3)["dataset, SHA-256"][0] is False
