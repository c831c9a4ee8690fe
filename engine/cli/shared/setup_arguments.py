"""The arguments of `judge` for what is judged, and how, as one RunSetup.

The arguments for a recipe, and for the model, which a recipe may name.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from engine.analysis.recipe import IN_RECIPE, Recipe, load_recipe
from engine.cli.shared.console import printable
from engine.cli.shared.data_arguments import MODEL_WORDS, columns_of, model_file, rubric_of, sample_of
from engine.cli.shared.judging import named_criteria
from engine.cli.shared.regression_check import RegressionCheck
from engine.cli.shared.setting_arguments import Orders, given_examples, given_settings, orders_of
from engine.core.errors import SetupError
from engine.core.methods import parse_methods
from engine.settings.run_setup import RunSetup
from engine.system.paths import is_there

_DECIDES = (
    *("method", "orders", "margin_threshold", "margin_threshold_from", "rubric", "criteria"),
    *("examples", "few_shot", "few_shot_selection"),
    "calibration",
    *(row.name for row in IN_RECIPE if row.help),
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


def setup_of(
    options: argparse.Namespace, model: Path, regression: RegressionCheck | None, recipe: Recipe | None
) -> tuple[RunSetup, Orders]:
    """The run that the arguments request, with this model, by a recipe if there is one; of a regression check
    the defaults are those of the earlier run. SetupError if they contradict each other.
    """
    default = RunSetup(dataset_of(options), model) if regression is None else regression.default
    rubric = rubric_of(options) or default.rubric
    criteria = named_criteria(options.criteria, rubric)
    if regression is not None:
        shared = regression.criteria_of(rubric.only(criteria))
        criteria = shared if options.criteria is None else criteria
    orders = orders_of(options, rubric.only(criteria).names, regression.orders if regression else None)
    setup = replace(
        default,
        model_path=model,
        items=_items(options.items) if regression is None else None,
        sample=sample_of(options),
        both_orders=orders.both,
        second_order_below=orders.below,
        methods=default.methods if options.method is None else parse_methods(options.method),
        rubric=rubric,
        criteria=criteria,
        calibration_path=options.calibration,
        device=options.device or default.device,
        fresh=options.fresh,
        columns=columns_of(options, rubric) or default.columns,
        name=options.name,
        note=options.note,
        **given_examples(options),
        **given_settings(options),
    )
    return by_recipe(options, recipe, setup), orders


def dataset_of(options: argparse.Namespace) -> Path:
    """The file of DATASET. SetupError if it is missing."""
    if options.dataset is None:
        raise SetupError("DATASET is missing.", "Name its file: judge DATASET --model MODEL --out FILE.tsv")
    path: Path = options.dataset
    return path


def _items(count: int | None) -> int | None:
    if count is not None and count < 1:
        raise SetupError(f"--items is {count}.", "Use 1 or more.")
    return count
