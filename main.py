"""Tiebreak's entry point: a sub-command runs headless. Wiring only."""

import sys
from importlib import import_module

from engine.commands.console import run_command
from engine.version import VERSION

COMMANDS = {
    "judge": "judge a dataset with a model and write a submission",
    "check": "say what a dataset or submission is, or what is wrong with it",
    "models": "list the models on this computer, or check one",
    "runs": "list the runs in the store, show one, export one again",
    "weigh": "decide scored comparisons by weighted criteria",
}


def usage() -> str:
    """The help of the program itself."""
    lines = [f"  {name:8}{what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [
            f"Tiebreak {VERSION}: judges pairs of LLM responses with a local model, offline.",
            "",
            "usage: python main.py COMMAND ...",
            "",
            *lines,
            "",
            "python main.py COMMAND --help tells more of each.",
            "Exit codes: 0 done; 1 the run ended with unscored items, or was stopped;",
            "2 the input or the arguments are wrong; 3 a fault of the program.",
        ]
    )


def main(arguments: list[str]) -> int:
    """Run one sub-command; its exit code."""
    if arguments[:1] in (["--help"], ["-h"]):
        print(usage())
        return 0
    if arguments[:1] == ["--version"]:
        print(f"Tiebreak {VERSION}")
        return 0
    if not arguments or arguments[0] not in COMMANDS:
        found = f"There is no command {arguments[0]!r}.\n\n" if arguments else ""
        print(found + usage(), file=sys.stderr)
        return 2
    # Only the chosen command is imported: --help need not wait for pandas and llama.cpp.
    command = import_module(f"engine.commands.{arguments[0]}")
    return run_command(command.parser(), command.run, arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
