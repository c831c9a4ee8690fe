"""The options of usual settings, made of their rows, and what was given for them.

Knows: kinds of settings. Does not know: which settings there are, what they do.
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


def _add(group: argparse._ActionsContainer, row: SettingRow, words: str, usual: Any) -> None:
    if row.kind is bool:
        group.add_argument(row.option, action="store_true", default=usual, help=words)
    elif issubclass(row.kind, StrEnum):
        names = [member.value for member in row.kind]
        group.add_argument(row.option, choices=names, default=usual and usual.value, help=words)
    else:
        group.add_argument(row.option, type=row.kind, default=usual, metavar=row.metavar, help=words)
