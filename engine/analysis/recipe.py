"""A recipe: the settings of a run and the calibration that belongs to them, in one readable file: that of its
calibration with more in it, so whatever takes a calibration takes a recipe, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from engine.core.codec import record_of
from engine.core.column_map import ColumnMap
from engine.core.errors import FileKind, Hint, SetupError, Step
from engine.core.items import Method
from engine.core.rubric import Rubric
from engine.data.file_kinds import expecting
from engine.data.json_records import load_record
from engine.results.calibration import RECIPE_MARK, Calibration, calibration_of
from engine.settings.rows import SETTINGS, ExampleKind, Group, KvType
from engine.settings.run_setup import RunSetup
from engine.system.files import write_json, write_whole
from engine.system.paths import is_there, shown, text_of_path
from engine.system.sandbox import sandboxed

FORMAT = 1
_MAKE_AGAIN = Hint(Step.TUNE)
IN_RECIPE = tuple(row for row in SETTINGS if row.in_recipe)
"""The settings that a recipe decides; beside them the orders, the rubric, files."""
# The first recipes had the method and the KV-cache type, always.
_MAY_BE_MISSING = tuple(
    row for row in IN_RECIPE if row.key not in {"ways", "kv_type"} and row.group is not Group.EXAMPLES
)


@dataclass(frozen=True)
class Recipe:
    """`judge`: its settings, with the dataset on which they were chosen and the model file where that was.
    `says`: what was measured, in sentences; `measured`: the same as plain values.
    """

    judge: RunSetup
    calibration: Calibration
    says: tuple[str, ...] = ()
    measured: Mapping[str, Any] | None = None

    def in_setup(self, setup: RunSetup, path: Path) -> RunSetup:
        """A run of a setup's items by these settings, calibrated; `path`: where the recipe is. SetupError."""
        ours, examples = self.judge, self.examples_at(path)
        if examples is not None and not is_there(examples):
            raise SetupError(
                f"{shown(path)}: its labelled examples are missing: {shown(examples)}.",
                "Restore that file: it belongs to the recipe.",
            )
        return replace(
            setup,
            rubric=ours.rubric,
            criteria=ours.criteria,
            both_orders=ours.both_orders,
            second_order_below=None,
            examples_path=examples,
            example_columns=ours.example_columns,
            calibration_path=path,
            **{row.name: getattr(ours, row.name) for row in IN_RECIPE},
        )

    def examples_at(self, path: Path) -> Path | None:
        """The file of its labelled examples, where it is at a path; None where it shows none."""
        named = self.judge.examples_path
        return None if named is None else path.parent / named

    def as_json(self) -> dict[str, Any]:
        judge = self.judge
        settings = {
            "model": text_of_path(judge.model_path),
            "dataset": text_of_path(judge.dataset_path),
            "ways": list(judge.methods),
            "both_orders": judge.both_orders,
            "criteria": list(judge.criteria),
            "kv_type": judge.kv_type,
            **{row.key: getattr(judge, row.name) for row in _MAY_BE_MISSING if row.said_of(judge)},
        }
        if judge.examples_path is not None:
            settings["examples"] = {
                "file": judge.examples_path.as_posix(),
                "shots": judge.shots,
                "choose": judge.example_choice.value,
                **({"columns": judge.example_columns.as_json()} if judge.example_columns else {}),
            }
        return {
            RECIPE_MARK: FORMAT,
            "says": list(self.says),
            "settings": settings,
            "measured_held_out": self.measured,
            "rubric": judge.rubric.as_json(),
            **self.calibration.as_json(),
        }


def recipe_of(value: Mapping[str, Any]) -> Recipe:
    """The recipe that `as_json` gave; KeyError, AttributeError, TypeError or ValueError for anything else."""
    if value[RECIPE_MARK] != FORMAT:
        raise ValueError(f"its version is {value[RECIPE_MARK]!r}, this program knows {FORMAT}")
    try:
        return _made_of(value)
    except SetupError as error:  # of the rubric, or of a setting: it is the file that is wrong
        raise ValueError(error.problem.rstrip(".")) from error


class _Examples(msgspec.Struct):
    file: Path
    shots: int
    choose: ExampleKind
    columns: Any = None


class _Settings(msgspec.Struct):
    """The settings of a recipe; those of _MAY_BE_MISSING stand beside them."""

    model: Path
    dataset: Path
    ways: Annotated[tuple[Method, ...], msgspec.Meta(min_length=1)]
    both_orders: bool
    criteria: tuple[str, ...]
    kv_type: KvType
    examples: _Examples | None = None


def _made_of(value: Mapping[str, Any]) -> Recipe:
    settings, rubric = record_of(value["settings"], _Settings), Rubric.of_json(value["rubric"])
    rubric.only(settings.criteria)
    said = [row for row in _MAY_BE_MISSING if row.key in value["settings"]]
    judge = RunSetup(
        dataset_path=settings.dataset,
        model_path=settings.model,
        rubric=rubric,
        criteria=settings.criteria,
        methods=settings.ways,
        both_orders=settings.both_orders,
        kv_type=settings.kv_type,
        **{row.name: row.of_json(value["settings"][row.key]) for row in said},
    )
    if (examples := settings.examples) is not None:
        judge = replace(
            judge,
            examples_path=examples.file,
            shots=examples.shots,
            example_choice=examples.choose,
            example_columns=ColumnMap.of_json(examples.columns),
        )
    says = record_of(value.get("says", []), tuple[str, ...])
    return Recipe(judge, calibration_of(value), says, value.get("measured_held_out"))


@sandboxed
def load_recipe(path: Path) -> Recipe:
    """The recipe in a file that `save_recipe` wrote. SetupError where it is none."""
    with expecting(path, FileKind.RECIPE):
        return load_record(path, "a recipe", recipe_of, _MAKE_AGAIN)


def save_recipe(path: Path, recipe: Recipe, with_examples: bool = False) -> None:
    """Write a recipe, whole or not at all; `with_examples`: its examples too, next to it. SetupError."""
    examples = recipe.judge.examples_path
    if with_examples and examples is not None:
        beside = examples_beside(path)
        write_whole(beside, examples.read_bytes())
        recipe = replace(recipe, judge=replace(recipe.judge, examples_path=Path(beside.name)))
    write_json(path, recipe.as_json())


def check_name(path: Path) -> None:
    """SetupError for a file name that says another kind of file."""
    if path.suffix.lower() != ".json":
        raise SetupError(f"{path.name}: a recipe is JSON.", f"Name it {path.stem}.json")


def examples_beside(path: Path) -> Path:
    """Where the examples of a recipe are that were held out for it."""
    return Path(f"{path.with_suffix('')}-examples.tsv")
