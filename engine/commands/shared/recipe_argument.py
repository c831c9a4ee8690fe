"""The arguments for a recipe, and for the model, which a recipe may name.

Knows: which options a recipe excludes. Does not know: how a run is judged.
"""

import argparse
from pathlib import Path

from engine.commands.shared.anchors import RegressionCheck
from engine.commands.shared.console import printable
from engine.commands.shared.model_argument import MODEL_WORDS, model_file
from engine.core.errors import SetupError
from engine.core.run_setup import RunSetup
from engine.system.places import is_there
from engine.tune.recipe import Recipe, load_recipe

_DECIDES = (
    *("method", "orders", "margin_threshold", "margin_threshold_from", "rubric", "criteria"),
    *("examples", "few_shot", "few_shot_selection"),
    *("calibration", "kv_type", "reasoning_samples", "max_reasoning_tokens"),
)
"""The options, by their dest names, that a recipe decides."""


def add_recipe(arguments: argparse._ActionsContainer) -> None:
    """--model and --recipe."""
    arguments.add_argument("--model", metavar="MODEL", help=MODEL_WORDS)
    arguments.add_argument(
        "--recipe",
        type=Path,
        metavar="FILE",
        help="use the settings, the calibration and, without --model, the model that `tune` found",
    )


def named_recipe(options: argparse.Namespace) -> Recipe | None:
    """The recipe that is named, if any. SetupError if it is invalid, or an option sets what it decides."""
    if options.recipe is None:
        return None
    if options.regression_check is not None:
        raise SetupError(
            "--regression-check uses the settings of an earlier run, --recipe its own.",
            "Remove one of them; runs diff shows how two runs of the same items differ.",
        )
    given = [name for name in _DECIDES if getattr(options, name) is not None]
    if given:
        named = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise SetupError(
            f"--recipe sets what {named} would.",
            "Remove one of them: a recipe is used with all its settings.",
        )
    return load_recipe(options.recipe)


def model_of(options: argparse.Namespace, recipe: Recipe | None, regression: RegressionCheck | None) -> Path:
    """The model file: that of --model, else that of the recipe or of the earlier run. SetupError if there is
    none.
    """
    if options.model is not None:
        return model_file(options.model)
    if recipe is not None:
        path, whose = recipe.judge.model_path, str(options.recipe)
    elif regression is not None:
        path, whose = regression.run.identity.model_path, regression.run.title
    else:
        raise SetupError("--model is missing.", "Name one, or a recipe that has one: --recipe FILE.")
    if not is_there(path):
        raise SetupError(
            f"{whose}: the model {printable(str(path))} is missing.",
            "Name a model with --model, or put that one back.",
        )
    return path


def examples_of_recipe(options: argparse.Namespace, recipe: Recipe | None) -> dict[str, Path]:
    """The file of a recipe's labelled examples, as a file that is read."""
    examples = None if recipe is None else recipe.examples_at(options.recipe)
    return {} if examples is None else {"examples of the recipe": examples}


def by_recipe(options: argparse.Namespace, recipe: Recipe | None, setup: RunSetup) -> RunSetup:
    """The setup with the settings of a recipe, if there is one."""
    return setup if recipe is None else recipe.in_setup(setup, options.recipe)
