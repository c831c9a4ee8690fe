"""A run as it was asked for: remembered as JSON, and read again where that is damaged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.core.column_map import ColumnMap
from engine.core.rubric import ELOQUENT, Criterion, Rubric
from engine.settings.rows import ExampleKind, KvType, Mode
from engine.settings.run_setup import RunSetup
from engine.settings.sampling import ItemSample
from engine.system.paths import demo_dataset, demo_model
from tests.steps import refused

DEFAULT = RunSetup(demo_dataset(), demo_model())


def test_a_setup_is_the_same_after_json() -> None:
    setup = RunSetup(
        dataset_path=Path("/data/a b.tsv"),
        model_path=Path("m.gguf"),
        items=5,
        sample=ItemSample(40, 3, "subset"),
        ids=("3", "a b", "'"),
        mode=Mode.LABELS,
        both_orders=False,
        second_order_below=0.25,
        criteria=("safety",),
        examples_path=Path("e.tsv"),
        shots=2,
        example_choice=ExampleKind.NEAR,
        calibration_path=Path("c.json"),
        shorten=True,
        context=2048,
        max_explanation_tokens=60,
        temperature=0.5,
        seed=7,
        kv_type=KvType.Q8_0,
        threads=3,
        gpu_layers=0,
        fresh=True,
        columns=ColumnMap.of({"instruction": "prompt"}, {"1": "A"}),
        name="night, Q8",
        note="with a larger cache\nand fewer threads",
        example_columns=ColumnMap.of({"instruction": "question"}),
    )
    assert RunSetup.of_json(setup.as_json(), DEFAULT) == setup


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"mode": "poem", "criteria": ["beauty"], "kv_type": 8, "items": 0, "shots": "three"},
        {"context": -5, "threads": True, "temperature": "hot", "seed": 2**40, "shorten": "yes"},
        {"ids": "17", "resumes": 0, "example_choice": 2},
        {"sample": {"items": 4, "seed": 2**31, "by": ""}},
        {"sample": {"items": True, "seed": 0, "by": ""}},
        {"ids": ["3", 17]},
        {"columns": {"columns": {"instruction": 3}}},
        {"second_order_below": float("nan")},
        {"name": "right\u202eleft", "note": "n" * 20_001},
        {"dataset_path": "", "model_path": 3, "criteria": [], "temperature": float("nan"), "gpu_layers": -1},
    ],
)
def test_damaged_values_are_as_usual(values: dict[str, Any]) -> None:
    assert RunSetup.of_json(values, DEFAULT) == DEFAULT


@pytest.mark.parametrize(
    ("what", "text"), [("name", "n" * 256), ("name", "bell\x07"), ("note", "n" * 20_001)]
)
def test_what_a_run_cannot_be_called_is_refused_at_once(what: str, text: str) -> None:
    called: dict[str, Any] = {what: text}
    refused(lambda: replace(DEFAULT, **called), f"The {what} of the run has")


MANNERS = Rubric("manners", (Criterion("politeness", "Which is politer?"), Criterion("brevity", "Which?")))


def test_a_rubric_of_ones_own_is_remembered_but_no_criteria_that_it_lacks() -> None:
    setup = replace(DEFAULT, rubric=MANNERS, criteria=("brevity",))
    assert RunSetup.of_json(json.loads(json.dumps(setup.as_json())), DEFAULT) == setup
    assert setup.asked == MANNERS.only(("brevity",))
    values = {"rubric": MANNERS.as_json(), "criteria": ["safety"]}
    assert RunSetup.of_json(values, DEFAULT).criteria == MANNERS.names


@pytest.mark.parametrize(
    "damaged", [None, 3, "manners", {}, {**MANNERS.as_json(), "criteria": [{"name": 3}]}]
)
def test_a_damaged_rubric_is_the_tasks(damaged: object) -> None:
    setup = RunSetup.of_json({"rubric": damaged, "criteria": ["brevity", "safety"]}, DEFAULT)
    assert setup.rubric is ELOQUENT
    assert setup.criteria == ("safety",)
