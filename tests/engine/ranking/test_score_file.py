"""Comparisons for the weighted judge: read exactly, or refused with every problem named."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import InputError, SetupError
from engine.ranking.weight_fit import load_comparisons

CRITERIA = ("safety", "relevance")
FULL = {"safety": 1, "relevance": 2.5}


def save(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "scores.json"
    path.write_text(text)
    return path


def problems_of(tmp_path: Path, records: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        load_comparisons(save(tmp_path, json.dumps(records)), CRITERIA)
    return caught.value.problems


def record(**change: Any) -> dict[str, Any]:
    return {"id": "x", "scores_a": FULL, "scores_b": FULL} | change


@pytest.mark.parametrize("wrapped", [False, True])
def test_comparisons_come_in_order_with_just_the_asked_criteria(tmp_path: Path, wrapped: bool) -> None:
    other = {"relevance": -1e3, "safety": 0}
    records = [{"id": 7, "scores_a": FULL | {"tone": "?"}, "scores_b": other, "note": 1}, record(id="y")]
    path = save(tmp_path, json.dumps({"comparisons": records} if wrapped else records))
    seven, y = load_comparisons(path, CRITERIA)
    assert seven == {"id": "7", "scores_a": FULL, "scores_b": other}
    assert y == {"id": "y", "scores_a": FULL, "scores_b": FULL}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        *((written, written) for written in ("NaN", "-Infinity", "1e999", "true", "null", '"5"')),
        *(("[5]", "a list"), ("{}", "an object")),
        *(("9" * 5000, "9" * 40 + "…"), (f'"{"x" * 5000}"', '"' + "x" * 39 + "…")),
    ],
)
def test_a_score_that_is_no_finite_number_is_refused(tmp_path: Path, written: str, shown: str) -> None:
    text = json.dumps([record()]).replace("2.5", written, 1)
    with pytest.raises(InputError) as caught:
        load_comparisons(save(tmp_path, text), CRITERIA)
    (problem,) = caught.value.problems
    assert problem == f"record 1 (id 'x'): scores_a, relevance: {shown} is not a finite number."


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"scores_b": {"safety": 1}}, "record 1 (id 'x'): scores_b has no score for 'relevance'."),
        (
            {"scores_a": FULL | {"safety": -1e308}},
            "record 1 (id 'x'): scores_a, safety: -1e+308 is beyond 1e+300.",
        ),
        ({"scores_a": [1, 2]}, "record 1 (id 'x'): 'scores_a' is not an object."),
        ({"id": ""}, "record 1: no id, or one that is neither text nor a number."),
        ({"id": "x" * 5000, "scores_b": 1}, f"record 1 (id '{'x' * 40}…'): 'scores_b' is not an object."),
        ({"id": True}, "record 1: no id, or one that is neither text nor a number."),
    ],
)
def test_a_wrong_record_is_named(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    assert problems_of(tmp_path, [record(**change)]) == (problem,)


def test_all_problems_are_told_together(tmp_path: Path) -> None:
    records = [record(), {"id": "x", "scores_a": {}}, 5, {"scores_a": FULL, "scores_b": FULL}]
    assert problems_of(tmp_path, records) == (
        "record 2 (id 'x'): the id is already used by record 1.",
        "record 2 (id 'x'): scores_a has no score for 'safety'.",
        "record 2 (id 'x'): scores_a has no score for 'relevance'.",
        "record 2 (id 'x'): 'scores_b' is missing.",
        "record 3: not an object.",
        "record 4: no id, or one that is neither text nor a number.",
    )


@pytest.mark.parametrize(("once", "key"), [('"id": "x"', "id"), ('"safety": 1', "safety")])
def test_a_key_named_twice_is_refused(tmp_path: Path, once: str, key: str) -> None:
    text = json.dumps([record()]).replace(once, f'{once}, "{key}": 9', 1)
    with pytest.raises(InputError, match=f"line 1: an object names the key '{key}' twice"):
        load_comparisons(save(tmp_path, text), CRITERIA)


def test_a_file_that_is_missing_empty_or_of_another_format_is_refused(tmp_path: Path) -> None:
    assert problems_of(tmp_path, []) == ("has no records.",)
    with pytest.raises(SetupError, match="does not exist"):
        load_comparisons(tmp_path / "x.json", CRITERIA)
    (tmp_path / "x.csv").write_text("id,scores_a\n")
    with pytest.raises(InputError, match="is CSV; a JSON file is required here"):
        load_comparisons(tmp_path / "x.csv", CRITERIA)
