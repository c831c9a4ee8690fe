"""The argument that names a recipe, and the model, which it may name too.

Knows: which options a recipe leaves nothing to say. Does not know: how a run is judged.
"""

import argparse
from pathlib import Path

from engine.commands.shared.anchors import Anchors
from engine.commands.shared.console import printable
from engine.commands.shared.model_argument import MODEL_WORDS, model_file
from engine.core.errors import SetupError
from engine.core.run_setup import RunSetup
from engine.system.places import is_there
from engine.tune.recipe import Recipe, load_recipe

_SAYS = (
    *("ways", "orders", "margin", "margin_from", "rubric", "criteria", "examples", "shots", "choose"),
    *("calibration", "kv_type", "thoughts", "max_thought_tokens"),
)
"""The options, by the names of what they give, that a recipe decides."""


def add_recipe(arguments: argparse._ActionsContainer) -> None:
    """--model and --recipe."""
    arguments.add_argument("--model", metavar="MODEL", help=MODEL_WORDS)
    arguments.add_argument(
        "--recipe",
        type=Path,
        metavar="FILE",
        help="the settings, the calibration and, without --model, the model that `tune` found",
    )


def named_recipe(options: argparse.Namespace) -> Recipe | None:
    """The recipe that is named, if one is. SetupError where it is none, or an option says what it decides."""
    if options.recipe is None:
        return None
    if options.anchors is not None:
        raise SetupError(
            "--anchors judges as an earlier run did, --recipe otherwise.",
            "Leave one of them out; runs diff says what is other in two runs of the same items.",
        )
    given = [name for name in _SAYS if getattr(options, name) is not None]
    if given:
        named = " and ".join(f"--{name.replace('_', '-')}" for name in given)
        raise SetupError(
            f"--recipe decides what {named} would.", "Leave one of them out: a recipe goes with its settings."
        )
    return load_recipe(options.recipe)


def model_of(options: argparse.Namespace, recipe: Recipe | None, anchors: Anchors | None) -> Path:
    """The file of the model: that of --model, else that of the recipe or of the earlier run. SetupError for
    none.
    """
    if options.model is not None:
        return model_file(options.model)
    if recipe is not None:
        path, whose = recipe.judge.model_path, str(options.recipe)
    elif anchors is not None:
        path, whose = anchors.run.identity.model_path, anchors.run.title
    else:
        raise SetupError("--model is missing.", "Name one, or a recipe that has one with --recipe.")
    if not is_there(path):
        raise SetupError(
            f"{whose}: the model {printable(str(path))} is not there any more.",
            "Name a model with --model, or put that one back.",
        )
    return path


def examples_of_recipe(options: argparse.Namespace, recipe: Recipe | None) -> dict[str, Path]:
    """The file of the labelled examples that a recipe names, as a file that is read."""
    examples = None if recipe is None else recipe.examples_at(options.recipe)
    return {} if examples is None else {"examples of the recipe": examples}


def by_recipe(options: argparse.Namespace, recipe: Recipe | None, setup: RunSetup) -> RunSetup:
    """The setup with what a recipe decides, where there is one."""
    return setup if recipe is None else recipe.in_setup(setup, options.recipe)
