"""What is written to a file that is called like one of another form, for every command that writes."""

import argparse
from collections.abc import Iterator
from importlib import import_module

import pytest

from main import COMMANDS

SUFFIXES = {"--json": ".json", "--csv": ".csv", "--latex": ".tex", "--markdown": ".md", "--bib": ".bib"}


def writers(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Its arguments that name a file to write of one form, and those of its actions."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                yield from writers(inner)
        elif SUFFIXES.keys() & set(action.option_strings):
            yield action


ALL = [
    pytest.param(action, id=f"{name} {action.option_strings[0]}")
    for name in COMMANDS
    for action in writers(import_module(f"engine.commands.{name}").parser())
]


@pytest.mark.parametrize("action", ALL)
def test_a_file_that_is_called_like_one_of_another_form_is_refused(action: argparse.Action) -> None:
    suffix = SUFFIXES[action.option_strings[0]]
    assert callable(action.type)
    for name in (f"x{suffix}", f"x{suffix.upper()}", "x", "x.v2"):
        assert str(action.type(name)) == name
    with pytest.raises(argparse.ArgumentTypeError, match=rf"Name it x\{suffix}"):
        action.type("x.tsv")


def test_many_commands_write_such_files() -> None:
    assert len(ALL) > 20
