"""The options of settings: the usual ones, made of their rows, with what was given for them; and the device.

Knows: kinds of settings, --device. Does not know: which other settings there are, what they do.
"""

import argparse
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from engine.core.run_setup import RunSetup
from engine.core.setting_row import SettingRow
from engine.core.settings import row_of, rows_of


def add_settings(group: argparse._ActionsContainer, *names: str) -> None:
    """An option for each of these settings, with its default."""
    for row in map(row_of, names):
        _add(group, row, row.help, getattr(RunSetup, row.name))


def add_given(group: argparse._ActionsContainer, helps: Mapping[str, str]) -> None:
    """The same with other words of help; None where nothing is given."""
    for name, words in helps.items():
        _add(group, row_of(name), words, None)


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


def _add(group: argparse._ActionsContainer, row: SettingRow, words: str, usual: Any) -> None:
    if row.kind is bool:
        group.add_argument(row.option, action="store_true", default=usual, help=words)
    elif issubclass(row.kind, StrEnum):
        names = [member.value for member in row.kind]
        group.add_argument(row.option, choices=names, default=usual and usual.value, help=words)
    else:
        group.add_argument(row.option, type=row.kind, default=usual, metavar=row.metavar, help=words)
