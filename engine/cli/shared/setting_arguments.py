"""The options of settings, made from their rows; by hand those of the computer, of examples and of orders."""

import argparse
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from engine.cli.shared.console import file_option, number_option, text_option
from engine.core.items import Method
from engine.operations.judge_request import BOTH, ONE, UNCERTAIN, example_settings
from engine.results.second_order import KEEP
from engine.settings import rows
from engine.settings.run_setup import RunSetup
from engine.system.computer import KeepAwake

FEW_SHOT_SELECTION = {"fixed": rows.ExampleKind.FIXED, "nearest": rows.ExampleKind.NEAR}
"""How examples are selected, by the values of --few-shot-selection."""


def option_names(methods: Iterable[Method] = Method) -> str:
    return ", ".join(method.option for method in methods)


def add_settings(group: argparse._ActionsContainer, *names: str) -> None:
    for row in map(rows.row_of, names):
        _add(group, row, row.help)


def add_settings_of(group: argparse._ActionsContainer, surface: rows.Surface, *groups: rows.Group) -> None:
    for row in rows.rows_on(surface, *groups):
        if row.help:
            words = (surface is rows.Surface.PROMPT and row.brief) or row.help
            _add(group, row, re.sub(r"{(\w+)}", lambda name: rows.row_of(name[1]).option, words))


def add_device(group: argparse._ActionsContainer, otherwise: str = "") -> None:
    otherwise = otherwise or "the fastest, if `models devices` has tried this model, else cpu"
    text_option(
        group,
        "--device",
        "NAME",
        f"compute device: cpu, or (part of) the name of a GPU, as `models devices` lists them ({otherwise})",
    )
    add_settings(group, "gpu_layers")


def add_machine(group: argparse._ActionsContainer, surface: rows.Surface) -> None:
    add_settings_of(group, surface, rows.Group.COMPUTER)
    add_device(group)
    group.add_argument(
        "--keep-awake",
        choices=[when.value for when in KeepAwake],
        default=KeepAwake.MAINS.value,
        help="keep the computer from sleeping meanwhile: always, never, or only on mains power (default)",
    )


def add_examples(group: argparse._ActionsContainer) -> None:
    file_option(group, "--examples", "labelled items to show the model as examples")
    number_option(
        group, "--few-shot", f"number of examples in each prompt ({rows.DEFAULT_SHOTS})", metavar="K"
    )
    group.add_argument(
        "--few-shot-selection",
        choices=list(FEW_SHOT_SELECTION),
        help="which examples: fixed, the same for all items (default), or nearest, those whose instructions"
        " are most similar to the item's",
    )


def given_examples(options: argparse.Namespace) -> dict[str, Any]:
    selection = options.few_shot_selection
    choice = None if selection is None else FEW_SHOT_SELECTION[selection]
    return example_settings(options.examples, options.few_shot, choice)


def _add(group: argparse._ActionsContainer, row: rows.SettingRow, words: str) -> None:
    words = words.replace("%(default)s", str(getattr(RunSetup, row.name)))  # not argparse's: that is None
    if row.kind is bool:
        group.add_argument(row.option, action="store_true", default=None, help=words)
    elif issubclass(row.kind, StrEnum):
        names = [member.value for member in row.kind]
        group.add_argument(row.option, choices=names, help=words)
    else:
        group.add_argument(row.option, type=row.kind, metavar=row.metavar, help=words)


def add_orders(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--orders",
        choices=[BOTH, ONE, UNCERTAIN],
        help="show the responses in both orders (default); in one, for half the time; or in the second one"
        " only for items that are uncertain after the first",
    )
    number_option(
        group,
        "--margin-threshold",
        "an item is uncertain if the margin between its two likeliest labels is below M, 0 to 1"
        f" ({rows.DEFAULT_MARGIN:g})",
        metavar="M",
        kind=float,
    )
    number_option(
        group,
        "--margin-threshold-from",
        f"the smallest margin threshold that keeps {KEEP:.0%}".replace("%", " %%")
        + " of this run's labels, as computed by the command orders",
        metavar="RUN",
    )
