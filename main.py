"""Tiebreak's entry point: a sub-command runs headless. Wiring only."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - said in words, before an import fails
    sys.exit(f"Tiebreak needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

from importlib import import_module

try:
    from engine.commands.console import DONE, WRONG_INPUT, guarded
except ModuleNotFoundError as error:
    sys.exit(
        f"The package {error.name} is missing: this Python is not the one that Tiebreak was set up for.\n"
        "After `make judge` write .venv/bin/python main.py ..., or activate the environment first."
    )

from engine.version import VERSION

COMMANDS = {
    "judge": "judge a dataset with a model and write a submission",
    "check": "say what a dataset or submission is, or what is wrong with it",
    "models": "list the models on this computer, or check one",
    "runs": "list the runs in the store; show one, export or recalibrate it",
    "evaluate": "score a run or submission against human labels, beside trivial judges",
    "calibrate": "make a run's probabilities fit human labels, and say what that is worth",
    "weigh": "decide a run, a submission or scored comparisons by weighted criteria",
    "compare": "set runs and submissions side by side against human labels",
    "report": "write an HTML report of a run against human labels",
}


def usage() -> str:
    """The help of the program itself."""
    lines = [f"  {name:10}{what}" for name, what in COMMANDS.items()]
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
        return DONE
    if arguments[:1] == ["--version"]:
        print(f"Tiebreak {VERSION}")
        return DONE
    if not arguments or arguments[0] not in COMMANDS:
        found = f"There is no command {arguments[0]!r}.\n\n" if arguments else ""
        print(found + usage(), file=sys.stderr)
        return WRONG_INPUT
    # Only the chosen command is imported: --help need not wait for pandas and llama.cpp.
    command = import_module(f"engine.commands.{arguments[0]}")
    return int(command.run(command.parser().parse_args(arguments[1:])))


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
