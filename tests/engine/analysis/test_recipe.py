"""A recipe: written and read again, a calibration to whatever takes one, refused where it is damaged."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.analysis.perturbations import SHORT_WORDING
from engine.analysis.recipe import Recipe, check_name, examples_beside, load_recipe, save_recipe
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import FileKind, SetupError
from engine.core.items import Method
from engine.core.judgments import CriterionCalibration
from engine.core.rubric import ELOQUENT
from engine.data.file_kinds import kind_of
from engine.results.calibration import Calibration, judge_of_run, load_calibration, save_calibration
from engine.settings.rows import ExampleKind, KvType
from engine.settings.run_setup import RunSetup
from tests.judged import IDENTITY

SHORT = replace(ELOQUENT, wording=SHORT_WORDING)
JUDGE = RunSetup(
    dataset_path=Path("/data/dev.tsv"),
    model_path=Path("/models/judge.gguf"),
    rubric=SHORT,
    criteria=("safety", "overall_quality"),
    methods=(Method.LABEL_TOKENS, Method.POINTWISE_GRADE),
    both_orders=False,
    kv_type=KvType.Q8_0,
    examples_path=Path("recipe-examples.tsv"),
    shots=2,
    example_choice=ExampleKind.NEAR,
)
OTHER = RunSetup(Path("/data/new.tsv"), Path("/models/renamed.gguf"), items=5, threads=2)


def calibration() -> Calibration:
    fitted = CriterionCalibration(0.5, (0.1, 0.0, 0.0, -0.1), 1.0, 40)
    return Calibration(judge_of_run(IDENTITY), "dev.tsv", "d" * 64, {"safety": fitted}, {})


def saved(folder: Path) -> Path:
    path = folder / "recipe.json"
    save_recipe(path, Recipe(JUDGE, calibration(), ("It is worth little.",), {"accuracy": 0.5}))
    return path


def test_it_is_read_as_it_was_written_and_a_calibration_to_whatever_takes_one(tmp_path: Path) -> None:
    path = saved(tmp_path)
    found = load_recipe(path)
    assert (found.judge, found.calibration.hash) == (JUDGE, calibration().hash)
    assert (found.says, found.measured) == (("It is worth little.",), {"accuracy": 0.5})
    assert kind_of(path) is FileKind.RECIPE
    assert load_calibration(path).hash == calibration().hash


def test_a_setup_gets_its_settings_and_keeps_its_own_items_and_machine(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with pytest.raises(SetupError, match=r"recipe-examples\.tsv"):
        load_recipe(path).in_setup(OTHER, path)
    examples = tmp_path / "recipe-examples.tsv"
    examples.touch()
    assert load_recipe(path).in_setup(OTHER, path) == replace(
        JUDGE,
        dataset_path=OTHER.dataset_path,
        model_path=OTHER.model_path,
        items=5,
        threads=2,
        examples_path=examples,
        calibration_path=path,
    )


def damaged(**changes: Any) -> dict[str, Any]:
    values = json.loads(json.dumps(Recipe(JUDGE, calibration()).as_json()))
    settings = values["settings"]
    for name, value in changes.items():
        (settings if name in settings else values)[name] = value
    return dict(values)


@pytest.mark.parametrize(
    "values",
    [
        damaged(tiebreak_recipe=2),
        *(damaged(ways=ways) for ways in (["telepathy"], "letters", [])),
        *(damaged(criteria=criteria) for criteria in (["wit"], None)),
        *(damaged(model=model) for model in ("", 7)),
        damaged(dataset="a\0b"),
        damaged(kv_type="f8"),
        *(damaged(examples=one) for one in ({"file": "x.tsv", "shots": "many", "choose": "near"}, [1])),
        damaged(settings=None),
        damaged(settings=[]),
        damaged(rubric={}),
        {name: value for name, value in damaged().items() if name != "tiebreak_calibration"},
    ],
)
def test_a_damaged_one_is_refused_with_its_name_and_a_way_out(values: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(values), "utf-8")
    with pytest.raises(SetupError) as caught:
        load_recipe(path)
    assert "recipe.json" in caught.value.problem
    assert str(caught.value.hint)


def test_another_file_is_named_for_what_it_is_and_a_recipe_is_of_json(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(calibration().as_json()), "utf-8")
    with pytest.raises(SetupError, match="is a calibration, not a recipe"):
        load_recipe(path)
    check_name(Path("a.json"))
    with pytest.raises(SetupError, match="JSON"):
        check_name(Path("a.toml"))
    assert examples_beside(Path("x/night.json")) == Path("x/night-examples.tsv")


def test_a_recipe_of_another_judge_says_to_tune_again_and_not_to_calibrate(tmp_path: Path) -> None:
    other = judge_of_run(replace(IDENTITY, model_hash="e" * 64))
    path = tmp_path / "calibration.json"
    save_calibration(path, calibration())
    said = []
    for file in (saved(tmp_path), path):
        with pytest.raises(SetupError) as caught:
            load_calibration(file).check_fits(other)
        said.append((caught.value.problem, OPTIONS.of(caught.value.hint)))
    (of_recipe, tune), (alone, calibrate) = said
    assert of_recipe.startswith("The calibration of this recipe was made for the model")
    assert tune == "Make it again with the command tune. Or use another recipe."
    assert alone.startswith("This calibration was made for the model")
    assert "Calibrate a run of this judge" in calibrate
