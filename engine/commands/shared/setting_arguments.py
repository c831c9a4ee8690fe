"""The options of settings: the usual ones, made of their rows, with what was given for them; those made by
hand, of the computer and of labelled examples.

Knows: kinds of settings, --device, --keep-awake, --examples, --shots and --choose. Does not know: which
others there are, what any of them does.
"""

import argparse
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.rubric import Rubric
from engine.core.run_setup import RunSetup
from engine.core.setting_row import SettingRow
from engine.core.settings import USUAL_SHOTS, ExampleKind, row_of, rows_of
from engine.prompt.examples import ExamplePool
from engine.system.awake import KeepAwake


def add_settings(group: argparse._ActionsContainer, *names: str) -> None:
    """An option for each of these settings, whose help tells what is usual; None where nothing is given."""
    for row in map(row_of, names):
        _add(group, row, row.help.replace("%(default)s", str(getattr(RunSetup, row.name))))


def add_given(group: argparse._ActionsContainer, helps: Mapping[str, str]) -> None:
    """The same with other words of help; None where nothing is given."""
    for name, words in helps.items():
        _add(group, row_of(name), words)


def given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """What was given for the settings of a RunSetup that have a usual option, by name."""
    given = ((row, getattr(options, row.name, None)) for row in rows_of(RunSetup) if row.help)
    return {row.name: row.kind(value) for row, value in given if value is not None}


def add_device(group: argparse._ActionsContainer, usual: str = "") -> None:
    """--device and --gpu-layers. `usual`: what computes where nothing is said, if not the best known."""
    usual = usual or "the faster, where `models devices` has tried this model, else the processor"
    group.add_argument(
        "--device",
        metavar="NAME",
        help="what computes: cpu, or a GPU by its name or a part of it, as `models devices` lists them"
        f" ({usual})",
    )
    add_settings(group, "gpu_layers")


def add_machine(group: argparse._ActionsContainer) -> None:
    """What a run needs of the computer: --context, --kv-type, --threads, --device, --keep-awake."""
    add_settings(group, "context", "kv_type", "threads")
    add_device(group)
    group.add_argument(
        "--keep-awake",
        choices=[when.value for when in KeepAwake],
        default=KeepAwake.MAINS.value,
        help="keep the computer from going to sleep meanwhile: always, never, or on mains alone (default)",
    )


def add_examples(group: argparse._ActionsContainer) -> None:
    """--examples, --shots and --choose."""
    group.add_argument("--examples", type=Path, metavar="FILE", help="labelled items to show the model")
    group.add_argument("--shots", type=int, metavar="K", help=f"how many of them ({USUAL_SHOTS})")
    group.add_argument(
        "--choose",
        choices=[choice.value for choice in ExampleKind],
        help="which of them: fixed, the same for all items (default), or near, those with the"
        " instructions most like the item's own",
    )


def given_examples(options: argparse.Namespace) -> dict[str, Any]:
    """What the options say of examples, as a RunSetup calls it. SetupError for what needs a file, without."""
    for option, given, aim in (
        ("--shots", options.shots, "show"),
        ("--choose", options.choose, "choose from"),
    ):
        if given is not None and options.examples is None:
            raise SetupError(
                f"{option} without --examples has nothing to {aim}.", "Name a file with --examples."
            )
    return {
        "examples_path": options.examples,
        "shots": USUAL_SHOTS if options.shots is None else options.shots,
        "example_choice": ExampleKind(options.choose or ExampleKind.FIXED),
    }


def examples_of(options: argparse.Namespace, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """What the options say; none without --examples. SetupError where the file has too few."""
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
