"""The program as the golden tests use it: command lines, and the few calls for which there is no command.

Knows: names of the engine. Does not know: what is in a golden file.
"""

import argparse
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import main
from engine.analysis.recipe import load_recipe, save_recipe
from engine.core import VERSION
from engine.core.codec import plain_values
from engine.store.annotation_rows import said_of
from engine.store.run_store import RunStore
from engine.system.paths import default_store, demo_model
from engine.system.write_ahead_log import WriteAheadLog
from tests.commands import run_here

DEMO_MODEL = demo_model()
COMMANDS = tuple(main.COMMANDS)
__all__ = ["COMMANDS", "DEMO_MODEL", "VERSION", "command_help", "default_store", "main_help", "new_store"]
__all__ += ["printed", "rewritten_log", "rewritten_recipe"]


def printed(line: str) -> str:
    """What a command line prints: stdout, then stderr and an exit code where there are any."""
    done = run_here(*shlex.split(line))
    text = done.stdout
    if done.stderr:
        text += f"--- stderr\n{done.stderr}"
    return text + (f"--- exit code {done.returncode}\n" if done.returncode else "")


def main_help() -> str:
    """The help of the program itself."""
    out = StringIO()
    with redirect_stdout(out):
        main.main(["--help"])
    return out.getvalue()


def command_help(command: str) -> Iterator[tuple[str, str]]:
    """The help of a command, then of each of its actions, each after the command line that prints it."""
    parser = main.parser_of(command)
    yield command, parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield f"{command} {name}", each.format_help()


def new_store(path: Path) -> None:
    """An empty run store."""
    RunStore(path).close()


def rewritten_log(path: Path, store: Path) -> bytes:
    """The annotations of a write-ahead log, read, and written again next to a store that does not exist."""
    lines = path.read_bytes().splitlines()[1:]
    box = WriteAheadLog(store)
    try:
        for line in lines:
            values = plain_values(line)
            del values["n"]
            box.say(said_of(values).as_values())
        return (store.parent / box.name).read_bytes()
    finally:
        box.stored(len(lines))
        box.close()


def rewritten_recipe(path: Path, copy: Path) -> bytes:
    """A recipe, read and written again."""
    save_recipe(copy, load_recipe(path))
    return copy.read_bytes()
