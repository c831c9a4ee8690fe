"""Files of one response in each row: told for what they are, where nothing else can be the other response."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.core.errors import ColumnsError, InputError
from engine.data.dataset import load_dataset
from tests.commands import run_here
from tests.published_shapes import SHAPES

TEXTS = [f"What is the {word} of all this, and why?" for word in ("aim", "cost", "age", "name", "size")]
ROWS = [{"dataset": "helpful", "instruction": text, "output": text[::-1], "generator": "m"} for text in TEXTS]


def saved(folder: Path, rows: Sequence[dict[str, Any]], name: str = "outputs.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(rows), "utf-8")
    return path


@pytest.mark.parametrize("name", ["gpt4", "gpt4_1106_preview", "gemma-7b-it", "vicuna-7b-v1.5"])
def test_real_outputs_are_told_with_their_system(shared_data: Path, name: str) -> None:
    path = shared_data / "ranking" / f"outputs_{name}.json"
    says = rf"contains the outputs of one candidate \({name}\): one response \('output'\) to each instruction"
    for command in (["check", path], ["judge", path, "--model", "demo", "--plan"]):
        refused = run_here(*command)
        assert refused.returncode == 2
        assert says.replace("\\", "") in refused.stderr
        assert "Tiebreak judges pairs" in refused.stderr
    with pytest.raises(InputError, match=says) as caught:
        load_dataset(path)
    assert not isinstance(caught.value, ColumnsError)  # there is nothing to ask


@pytest.mark.parametrize(
    ("change", "whose"),
    [
        (lambda row, _: row, "one candidate (m)"),
        (
            lambda row, number: {**row, "generator": f"m{number % 2}"},
            "2 candidates (m0, m1) in long format",
        ),
        (
            lambda row, number: {"id": f"a{number}", "prompt": row["instruction"], "response": row["output"]},
            "one candidate",
        ),
        (lambda row, _: {**row, "other": row["output"].upper()}, None),
        (lambda row, _: {"instruction": row["instruction"], "Output_A": row["output"]}, None),
        (lambda row, _: {"instruction": row["instruction"], "text": row["output"]}, None),
        (lambda row, _: {"messages": [{"role": "user", "content": row["instruction"]}]}, None),
        (
            lambda row, _: {
                "messages": [
                    {"role": "user", "content": row["instruction"]},
                    {"role": "assistant", "content": row["output"]},
                ]
            },
            "one candidate",
        ),
    ],
)
def test_what_else_holds_texts_may_be_the_other_response(
    tmp_path: Path, change: Callable[[dict[str, str], int], dict[str, Any]], whose: str | None
) -> None:
    path = saved(tmp_path, [change(row, number) for number, row in enumerate(ROWS)])
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    assert isinstance(caught.value, ColumnsError) == (whose is None)
    assert whose is None or f"contains the outputs of {whose}" in caught.value.problem


@pytest.mark.parametrize("shape", SHAPES)
def test_published_datasets_of_pairs_are_none(tmp_path: Path, shape: Callable[[Path], Path]) -> None:
    with pytest.raises(ColumnsError):
        load_dataset(shape(tmp_path))
