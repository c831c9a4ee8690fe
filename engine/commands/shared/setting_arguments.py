"""The options of settings: those made from their rows, with the values given for them; and those made by
hand, of the computer and of labelled examples.

Knows: kinds of settings, --device, --keep-awake, --examples, --few-shot and --few-shot-selection. Does not
know: which others there are, what any of them does.
"""

import argparse
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.items import Method
from engine.core.rubric import Rubric
from engine.core.run_setup import RunSetup
from engine.core.setting_row import SettingRow
from engine.core.settings import DEFAULT_SHOTS, ExampleKind, row_of, rows_of
from engine.prompt.examples import ExamplePool
from engine.system.awake import KeepAwake

FEW_SHOT_SELECTION = {"fixed": ExampleKind.FIXED, "nearest": ExampleKind.NEAR}
"""How examples are selected, by the values of --few-shot-selection."""


def option_names(methods: Iterable[Method] = Method) -> str:
    """Elicitation methods as --method takes them: `label-tokens, permuted-labels`."""
    return ", ".join(method.option for method in methods)


def add_settings(group: argparse._ActionsContainer, *names: str) -> None:
    """An option for each of these settings, whose help names the default; None if it is not given."""
    for row in map(row_of, names):
        _add(group, row, row.help.replace("%(default)s", str(getattr(RunSetup, row.name))))


def add_given(group: argparse._ActionsContainer, helps: Mapping[str, str]) -> None:
    """The same with other help texts."""
    for name, words in helps.items():
        _add(group, row_of(name), words)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The values given for those settings of a RunSetup that have an option made from their row, by name."""
    given = ((row, getattr(options, row.name, None)) for row in rows_of(RunSetup) if row.help)
    return {row.name: row.kind(value) for row, value in given if value is not None}


def add_device(group: argparse._ActionsContainer, otherwise: str = "") -> None:
    """--device and --gpu-layers. `otherwise`: the default device, if not the fastest known."""
    otherwise = otherwise or "the fastest, if `models devices` has tried this model, else cpu"
    group.add_argument(
        "--device",
        metavar="NAME",
        help="compute device: cpu, or (part of) the name of a GPU, as `models devices` lists them"
        f" ({otherwise})",
    )
    add_settings(group, "gpu_layers")


def add_machine(group: argparse._ActionsContainer) -> None:
    """The options for the computer: --context, --kv-type, --threads, --device, --keep-awake."""
    add_settings(group, "context", "kv_type", "threads")
    add_device(group)
    group.add_argument(
        "--keep-awake",
        choices=[when.value for when in KeepAwake],
        default=KeepAwake.MAINS.value,
        help="keep the computer from sleeping meanwhile: always, never, or only on mains power (default)",
    )


def add_examples(group: argparse._ActionsContainer) -> None:
    """--examples, --few-shot and --few-shot-selection."""
    group.add_argument(
        "--examples", type=Path, metavar="FILE", help="labelled items to show the model as examples"
    )
    group.add_argument(
        "--few-shot", type=int, metavar="K", help=f"number of examples in each prompt ({DEFAULT_SHOTS})"
    )
    group.add_argument(
        "--few-shot-selection",
        choices=list(FEW_SHOT_SELECTION),
        help="which examples: fixed, the same for all items (default), or nearest, those whose instructions"
        " are most similar to the item's",
    )


def given_examples(options: argparse.Namespace) -> dict[str, Any]:
    """The options of examples, by their names in a RunSetup. SetupError if --examples is missing."""
    for option, given, aim in (
        ("--few-shot", options.few_shot, "show"),
        ("--few-shot-selection", options.few_shot_selection, "choose from"),
    ):
        if given is not None and options.examples is None:
            raise SetupError(
                f"{option} without --examples has nothing to {aim}.", "Name a file with --examples."
            )
    return {
        "examples_path": options.examples,
        "shots": DEFAULT_SHOTS if options.few_shot is None else options.few_shot,
        "example_choice": FEW_SHOT_SELECTION[options.few_shot_selection or "fixed"],
    }


def examples_of(options: argparse.Namespace, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """The examples that the options request; none without --examples. SetupError if the file has too few."""
    path, shots, choice = given_examples(options).values()
    if path is None:
        return ExamplePool()
    # The arguments alone need no llama.cpp.
    from engine.judge.prepare import example_pool  # noqa: PLC0415

    return example_pool(path, shots, rubric, cancel, choice=choice)


def _add(group: argparse._ActionsContainer, row: SettingRow, words: str) -> None:
    if row.kind is bool:
        group.add_argument(row.option, action="store_true", default=None, help=words)
    elif issubclass(row.kind, StrEnum):
        names = [member.value for member in row.kind]
        group.add_argument(row.option, choices=names, help=words)
    else:
        group.add_argument(row.option, type=row.kind, metavar=row.metavar, help=words)
