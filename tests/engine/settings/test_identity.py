"""How a run is called: by its number, or where it is an opened submission by its file."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.core.column_map import ColumnMap
from engine.settings.identity import NOT_IN_DATASET, RunKind, StoredRun, what_is_joined
from tests.judged import IDENTITY

LONG = "n" * 251 + ".tsv"


ASKED = replace(IDENTITY, dataset_path=Path("/d/gold.tsv"))
JUDGED = StoredRun(7, datetime(2026, 1, 1, tzinfo=UTC), ASKED, 2)


def opened(name: str = "baseline.tsv") -> StoredRun:
    path = Path("/s") / name
    identity = replace(ASKED, kind=RunKind.SUBMITTED, model_path=path, model_name=name)
    return replace(JUDGED, identity=identity)


def test_a_run_is_called_by_its_number_and_a_submission_by_its_file() -> None:
    assert (JUDGED.title, JUDGED.called, JUDGED.stem) == ("Run 7", "run 7", "run-7-gold-a-model")
    run = opened()
    assert (run.title, run.called) == ("Submission baseline.tsv", "the submission baseline.tsv")
    assert run.stem == "baseline-reviewed"


def test_a_very_long_name_leaves_room_for_the_rest() -> None:
    run = replace(opened(LONG), manifest={NOT_IN_DATASET: ["9"]})
    assert max(len(run.title), len(run.stem)) < 80
    assert what_is_joined(run) == (
        f"{'n' * 41}…{'n' * 14}.tsv has predictions for 2 of the 3 items of gold.tsv, matched by id. Omitted,"
        " because the dataset lacks them (1): 9."
    )


def test_a_run_knows_the_columns_of_its_latest_session() -> None:
    first, later = ColumnMap.of({"id": "uid"}), ColumnMap.of({"id": "key"}, {"1": "A"})
    assert JUDGED.columns is None
    begun = replace(JUDGED, manifest={"columns": first.as_json(), "threads": 4})
    assert begun.columns == first
    assert begun.manifest_in_short == {"columns": "id=uid", "threads": 4}
    went_on = replace(begun, manifest={**begun.manifest, "continued_with": [{"columns": later.as_json()}]})
    assert went_on.columns == later
    assert went_on.manifest_in_short["continued_with"] == [{"columns": "id=key; labels 1=A"}]
    assert replace(begun, manifest={"columns": "damaged"}).columns is None


@pytest.mark.parametrize(
    ("ways", "thoughts", "said"),
    [
        ([], 0, ""),
        (["letters", "absolute"], 0, "label tokens, pointwise yes/no"),
        (["thinking"], 1, "chain of thought"),
        (["letters", "thinking"], 4, "label tokens, chain of thought (4 reasoning samples)"),
    ],
)
def test_how_a_run_was_asked_is_said_where_it_was_not_letters_alone(
    ways: list[str], thoughts: int, said: str
) -> None:
    settings = {"ways": ways, "thoughts": thoughts} if ways else {}
    assert replace(ASKED, settings=settings).methods_in_words == said
