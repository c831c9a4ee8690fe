"""The file of people's words: what stands in it, what it gives back, how it is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import InputError, SetupError
from engine.results.annotation_file import (
    annotation_file,
    as_json,
    load_annotation_file,
    save_annotation_file,
)
from engine.store.run_store import RunStore
from tests.engine.results.laptops import Laptop
from tests.judged import A, B


@pytest.fixture
def away(tmp_path: Path) -> Laptop:
    """Ben labelled, agreed, noted, took back and did again; Cy skipped nothing but labelled one."""
    made = Laptop(tmp_path / "away")
    step = made.label(1, B, "Ben", "B is “safer”.", blind=True, settles=True)
    made.undo(1, "Ben", step)
    made.undo(1, "Ben", step, again=True)
    made.undo(2, "Ben", made.agree(2, A, "Ben"))
    made.note(3, "odd\ntext", "Ben", "rare")
    made.label(1, A, "Cy")
    return made


def test_a_file_gives_back_what_was_written(away: Laptop, tmp_path: Path) -> None:
    made, path = away.file(), tmp_path / "words.json"
    save_annotation_file(path, made)
    assert load_annotation_file(path) == made


def test_it_holds_no_texts_unless_asked(away: Laptop) -> None:
    assert "question 1" not in json.dumps(as_json(away.file()))
    with RunStore(away.path) as store:
        texts = as_json(annotation_file(store, 1, dataset=away.data))["items"]
    assert [item["instruction"] for item in texts] == ["question 1", "question 2", "question 3"]


def test_one_person_alone_can_be_handed_over(away: Laptop) -> None:
    made = away.file("Cy")
    assert made.annotators == ("Cy",)
    assert list(made.items) == ["1"]
    with pytest.raises(SetupError, match="has no annotations of Dee"):
        away.file("Dee")


def test_a_run_of_which_nobody_said_anything_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="There are no annotations"):
        Laptop(tmp_path / "new").file()


@pytest.mark.parametrize(
    ("place", "changes", "said"),
    [
        (("overrides", 1), {"label": "C"}, "overrides, entry 2: label"),
        (("notes", 0), {"item": "99"}, "notes, entry 1: item"),
        (("marks", 0), {"said": "yesterday"}, "marks, entry 1: said"),
        (("confirmations", 0), {"author": "Mallory"}, "confirmations, entry 1: author"),
        (("items", 0), {"sha256": "x"}, "items, entry 1: sha256"),
        (("items", 0), dict.fromkeys(("instruction", "output_a", "output_b"), "x"), "items, entry 1: sha256"),
        ((), {"tiebreak_people": 9}, "version"),
        (("run",), {"judge": None}, "run: values: .*'judge' is missing"),
        ((), {"marks": None}, "marks: this list is missing"),
        (("overrides", 0), {"said": None}, "overrides, entry 1: .*'said' is missing"),
        (("overrides",), {0: 7}, "overrides, entry 1: it is not an object"),
    ],
)
def test_a_damaged_file_is_refused_with_the_place(
    away: Laptop, tmp_path: Path, place: tuple[Any, ...], changes: dict[Any, Any], said: str
) -> None:
    values = as_json(away.file())
    spoilt: Any = values
    for step in place:
        spoilt = spoilt[step]
    for name, value in changes.items():
        spoilt[name] = value
        if value is None:
            del spoilt[name]
    path = tmp_path / "words.json"
    path.write_text(json.dumps(values), "utf-8")
    with pytest.raises(InputError, match=said):
        load_annotation_file(path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tiebreak_people": 1}', '{"tiebreak_people": 1, "overrides": 3}']
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "words.json"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError):
        load_annotation_file(path)
