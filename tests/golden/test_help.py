"""What --help says, of the program, of each command and of each of its actions."""

from collections.abc import Callable

import pytest

from tests.golden import program


def test_the_help_of_the_program_is_as_it_was(golden: Callable[[str, str], None]) -> None:
    golden("help/program.txt", program.main_help())


@pytest.mark.parametrize("command", program.COMMANDS)
def test_the_help_of_a_command_is_as_it_was(command: str, golden: Callable[[str, str], None]) -> None:
    texts = [f"===== {words}\n{text}" for words, text in program.command_help(command)]
    golden(f"help/{command}.txt", "\n".join(texts))
