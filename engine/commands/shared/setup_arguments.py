"""The arguments of `judge` for what is judged, and how, as one RunSetup.

Knows: the precedence of a recipe, an earlier run and options. Does not know: how a setup is judged.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from engine.commands.shared.anchors import RegressionCheck
from engine.commands.shared.column_arguments import columns_of, rubric_of
from engine.commands.shared.item_arguments import sample_of
from engine.commands.shared.judging import named_criteria
from engine.commands.shared.order_arguments import Orders, orders_of
from engine.commands.shared.recipe_argument import by_recipe
from engine.commands.shared.setting_arguments import given_examples, given_settings
from engine.core.errors import SetupError
from engine.core.run_setup import RunSetup
from engine.core.ways.all_ways import parse_methods
from engine.tune.recipe import Recipe


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
