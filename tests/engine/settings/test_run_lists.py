"""The list of runs, and a run in a few lines: what each says, for the terminal and the window alike."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.core.codec import plain
from engine.core.errors import Hint
from engine.core.health import NOT_LOOKED_AT, Health
from engine.settings.identity import SAMPLE, Archived, DamagedRun, RunKind, StoredRun
from engine.settings.run_lists import run_in_a_line, run_in_lines, run_list
from engine.settings.sampling import ItemSample
from tests.judged import IDENTITY

MADE = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
RUN = StoredRun(1, MADE, replace(IDENTITY, items=1240), 3, name="night", note="with the larger cache")
SUBMITTED = replace(RUN, id=2, identity=replace(RUN.identity, kind=RunKind.SUBMITTED))


def cells(run: StoredRun | DamagedRun, health: dict[int, Health] | None = None) -> dict[str, str]:
    made = run_list([run], health)
    return dict(zip(made.titles, made.texts()[0], strict=True))


def test_a_row_says_what_a_run_is_how_far_and_ways_samples_and_the_archive_where_there_are_any() -> None:
    found = cells(RUN)
    assert (found["run"], found["name"], found["items"]) == ("1", "night", "3 of 1,240")
    assert found["made"] == f"{MADE.astimezone():%Y-%m-%d %H:%M}"
    assert (found["archived"], found["health"]) == ("", "")
    settings = {"mode": "labels", "ways": ["letters", "graded"], SAMPLE: plain(ItemSample(5, 3))}
    other = replace(RUN, identity=replace(IDENTITY, settings=settings), archived=Archived(MADE, "Ada"))
    found = cells(other)
    assert found["mode"] == "labels, 2 methods"
    assert found["dataset"] == f"5 items of {IDENTITY.dataset_path.name} at random, seed 3"
    assert found["archived"] == f"{MADE.astimezone():%Y-%m-%d}"


@pytest.mark.parametrize(
    ("run", "health", "said"),
    [
        (RUN, {}, "…"),
        (RUN, {1: NOT_LOOKED_AT}, "too few items"),
        (RUN, {1: Health(200, enough=True)}, "judges"),
        (SUBMITTED, {}, "-"),
    ],
)
def test_health_is_said_in_a_word(run: StoredRun, health: dict[int, Health], said: str) -> None:
    assert cells(run, health)["health"] == said


def test_a_submission_and_a_damaged_run_are_called_so() -> None:
    assert cells(SUBMITTED)["mode"] == "submission, explain"
    found = cells(DamagedRun(3, 7, "It is damaged.", Hint("Delete it.")))
    assert {title for title, text in found.items() if text} == {"run", "items", "mode"}
    assert (found["items"], found["mode"]) == ("7", "damaged")


def test_runs_sort_by_numbers_and_not_by_their_texts() -> None:
    items = next(column for column in run_list([]).columns if column.key == "items")
    made = run_list([replace(RUN, judged=9), replace(RUN, judged=10)])
    first, other = (items.sort_key(row[made.columns.index(items)]) for row in made.rows)
    assert (first, other) == (9, 10)


def test_in_a_line_long_names_lack_their_middle_and_in_lines_they_are_whole() -> None:
    model = Path("/models/x.gguf")
    long = replace(RUN, name="n" * 200, identity=replace(IDENTITY, model_path=model))
    assert run_in_a_line(RUN).startswith("Run 1 “night”: ")
    assert "3 of 1,240 items" in run_in_a_line(RUN)
    assert "n" * 200 not in run_in_a_line(long)
    lines = run_in_lines(long).split("\n")
    assert lines[0].startswith("Run 1 “n")
    assert {"n" * 200, IDENTITY.model_name, str(model), "with the larger cache"} <= set(lines)
