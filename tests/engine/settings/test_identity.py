"""How a run is called: by its number, or where it is an opened submission by its file."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.core.column_map import ColumnMap
from engine.settings.identity import NOT_IN_DATASET, RunIdentity, RunKind, StoredRun, what_is_joined

LONG = "n" * 251 + ".tsv"


@pytest.fixture
def judged() -> StoredRun:
    identity = RunIdentity(
        key="k",
        dataset_path=Path("/d/gold.tsv"),
        dataset_hash="d" * 64,
        items=3,
        model_path=Path("/m/judge.gguf"),
        model_name="a model",
        model_hash="m" * 64,
        prompt_version="1",
        criteria=("safety",),
        settings={},
    )
    return StoredRun(7, datetime(2026, 1, 1, tzinfo=UTC), identity, 2)


@pytest.fixture
def opened(judged: StoredRun) -> StoredRun:
    name = "baseline.tsv"
    identity = replace(judged.identity, kind=RunKind.SUBMITTED, model_path=Path("/s") / name, model_name=name)
    return replace(judged, identity=identity)


def test_a_run_is_called_by_its_number(judged: StoredRun) -> None:
    assert (judged.title, judged.called, judged.stem) == ("Run 7", "run 7", "run-7-gold-a-model")


def test_a_submission_is_called_by_its_file(opened: StoredRun) -> None:
    assert (opened.title, opened.called) == ("Submission baseline.tsv", "the submission baseline.tsv")
    assert opened.stem == "baseline-reviewed"


def test_a_very_long_name_leaves_room_for_the_rest(opened: StoredRun) -> None:
    identity = replace(opened.identity, model_name=LONG, model_path=Path("/s") / LONG)
    run = replace(opened, identity=identity, manifest={NOT_IN_DATASET: ["9"]})
    assert len(run.title) < 80
    assert len(run.stem) < 80
    assert what_is_joined(run) == (
        f"{'n' * 41}…{'n' * 14}.tsv has predictions for 2 of the 3 items of gold.tsv, matched by id. Omitted,"
        " because the dataset lacks them (1): 9."
    )


def test_a_run_knows_the_columns_of_its_latest_session(judged: StoredRun) -> None:
    first, later = ColumnMap.of({"id": "uid"}), ColumnMap.of({"id": "key"}, {"1": "A"})
    assert judged.columns is None
    begun = replace(judged, manifest={"columns": first.as_json(), "threads": 4})
    assert begun.columns == first
    assert begun.manifest_in_short == {"columns": "id=uid", "threads": 4}
    went_on = replace(begun, manifest={**begun.manifest, "continued_with": [{"columns": later.as_json()}]})
    assert went_on.columns == later
    assert went_on.manifest_in_short["continued_with"] == [{"columns": "id=key; labels 1=A"}]
    assert replace(begun, manifest={"columns": "damaged"}).columns is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, ""),
        ({"ways": ["letters", "absolute"]}, "label tokens, pointwise yes/no"),
        ({"ways": ["thinking"], "thoughts": 1}, "chain of thought"),
        (
            {"ways": ["letters", "thinking"], "thoughts": 4},
            "label tokens, chain of thought (4 reasoning samples)",
        ),
    ],
)
def test_how_a_run_was_asked_is_said_where_it_was_not_letters_alone(
    judged: StoredRun, settings: dict[str, object], said: str
) -> None:
    assert replace(judged.identity, settings=settings).methods_in_words == said
