"""Predictions and labels are joined by id; what does not fit together is named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.cli.shared.hints import OPTIONS
from engine.core.errors import SetupError
from engine.metrics.matching import match
from engine.settings.identity import DEVICE_LEFT
from tests.judged import GOOD, SURE_A, TIE, A, B, dataset, stored_run, system


def test_rows_are_joined_by_id_not_by_place() -> None:
    found = match(system({"safety": [B, A]}, ids=["2", "1"]), dataset({"safety": [A, B]}))
    assert [pair.prediction.preference for pair in found.pairs["safety"]] == [A, B]


def test_missing_and_extra_ids_are_named() -> None:
    with pytest.raises(SetupError) as error:
        match(system({"safety": [A, B]}, ids=["2", "9"]), dataset({"safety": [A, B, B]}))
    assert "ids missing (2 of 3): 1, 3" in error.value.problem
    assert "ids that are not in gold.tsv (1): 9" in error.value.problem
    assert "--partial" in OPTIONS.of(error.value.hint)


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


UNKNOWN = "given in an unknown order."


@pytest.mark.parametrize(
    ("overrides", "sentences"),
    [
        ([], []),
        (
            [("1", "safety", B, None)],
            [
                "1 label of these items is a human override; the scores include it.",
                f"This label was {UNKNOWN}",
            ],
        ),
        (
            [("1", "safety", B, "Why."), ("2", "relevance", A, None)],
            [
                "2 labels and 1 explanation of these items are human overrides; the scores include them.",
                f"All of these 2 labels were {UNKNOWN}",
            ],
        ),
        ([("3", "safety", B, None)], []),
    ],
)
def test_what_people_overrode_among_the_items_is_a_caveat(
    tmp_path: Path, overrides: list[Any], sentences: list[str]
) -> None:
    judged = dataset({"safety": [A, A, A]})
    columns = {"safety": [SURE_A] * 3, "relevance": [SURE_A] * 3}
    run = stored_run(tmp_path, judged, columns, overrides=overrides)
    found = match(run, dataset({"safety": [A, A]}), partial=True)
    assert [caveat.split(", not the judge's")[0] for caveat in found.caveats] == sentences


def test_a_pair_knows_what_the_model_said_and_what_a_person_said(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, A]})
    run = stored_run(tmp_path, gold, {"safety": [SURE_A, None]}, overrides=[("1", "safety", B, None)])
    one, other = match(run, gold).pairs["safety"]
    assert (one.prediction.preference, one.labelled_by_annotator) == (B, True)
    assert one.judgment is not None
    assert one.judgment.preference is A
    assert (other.prediction.preference, other.judgment, other.override) == (None, None, None)


def test_what_of_a_submission_is_joined_by_ids_alone_is_said() -> None:
    matched = match(system({"safety": [A, B, A]}), dataset({"safety": [A, B]}), partial=True)
    assert matched.joined.startswith("2 of 3 ids of ")
    assert "matched only by their ids" in matched.joined


def test_a_gpu_that_failed_in_the_run_is_a_caveat(tmp_path: Path) -> None:
    gold = dataset({"safety": [A, A]})
    run = stored_run(tmp_path, gold, {"safety": [SURE_A, SURE_A]})
    assert run.results is not None
    left = replace(run.results.run, manifest={DEVICE_LEFT: "A card, after 1 of 2 items: it hung"})
    found = match(replace(run, results=replace(run.results, run=left)), gold)
    assert found.caveats == [
        "A GPU failed in this run: A card, after 1 of 2 items: it hung. The processor judged the rest."
    ]


def test_how_many_ties_say_no_more_is_said() -> None:
    matched = match(system({"safety": [A, B, GOOD]}), dataset({"safety": [TIE, TIE, GOOD]}))
    assert [said for said in matched.caveats if said.startswith("2 human labels are only “tie”")]
    assert not match(system({"safety": [A]}), dataset({"safety": [GOOD]})).caveats
