"""Tiebreak's entry point: no arguments open the window, a sub-command runs headless. Wiring only."""

import gc
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - a clear message before an import fails
    sys.exit(f"Tiebreak needs Python 3.11 or newer; this is {sys.version.split()[0]}.")

from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

try:
    # What is imported stays: looking for garbage after each 700 new objects would take a twelfth of a start.
    gc.set_threshold(10_000)
    from engine.cli.shared.console import DONE, guarded, has_terminal
    from engine.core.errors import EngineError, Hint, SetupError
    from engine.system.computer import give_room
    from engine.system.paths import (
        APART,
        CHILD,
        FROM_SOURCE,
        PathKind,
        keep_caches_together,
        program,
        seen_at,
        shown,
    )
except ModuleNotFoundError as error:
    sys.exit(
        f"The package {error.name} is missing: this Python is not the one that Tiebreak was set up for.\n"
        "After `make judge` write .venv/bin/python main.py ..., or activate the environment first."
    )
except KeyboardInterrupt:
    sys.exit("Stopped.")

from engine.core import CITATION, VERSION

COMMANDS = {
    "generate": "have candidate models write responses to prompts, and make pairs of them",
    "pairs": "make a dataset of pairs from the outputs of several candidate models",
    "judge": "judge a dataset with a model and write a submission",
    "tune": "find the best settings of a model on a labelled dataset; write them as a recipe",
    "prompt": "print the exact prompt of an item, and the likeliest next tokens",
    "check": "describe a dataset or submission, or list its problems",
    "rubrics": "list the rubrics (criteria and their questions); show, draft or check one",
    "models": "list the models on this computer; check or measure one, or cut an encoder",
    "runs": "list the runs in the store; show, export, recalibrate or rewrite one; add a submission",
    "annotations": "begin labels by hand; export a run's annotations; import those of other annotators",
    "evaluate": "score a run or submission against human labels and baselines",
    "calibrate": "calibrate a run's probabilities on human labels; report what that gains",
    "learning-curve": "calibration quality by number of human labels",
    "plan-labels": "how many human labels it takes, before any is given",
    "jury": "combine several judges of the same items into one run",
    "audit": "robustness audit of a judge, on one page",
    "orders": "from a run in both orders: how often one order is enough, and what that saves",
    "trust": "which labels may stand, at what agreement with people and what risk",
    "weighted-score": "decide a run, a submission or scored comparisons by weighted criteria",
    "rank": "rank the candidate models by judged pairs: win rates, Bradley-Terry scores, intervals",
    "compare": "compare runs and submissions against human labels",
    "report": "write an HTML report of a run against human labels",
    "cluster": "judge with several computers: certificates, a scheduler, workers",
    "selftest": "test whether each part of the program works on this computer",
}

_TOGETHER = {
    "analysis": ("audit", "tune"),
    "calibration": ("calibrate", "jury", "learning-curve", "orders", "plan-labels"),
    "data": ("check", "pairs", "rubrics"),
    "ranking": ("rank", "weighted-score"),
    "scores": ("compare", "evaluate", "report"),
    "shared.cluster": ("cluster",),
}
"""The modules of commands that have none of their own name."""

CHILD_WORK = {
    "devices": "engine.models.devices",
    "read": "engine.system.sandbox",
    "render": "engine.prompt.rendering",
    "try": "engine.models.checked_model",
}
"""The modules whose `in_child` does the work. No command is imported: that would take most of the time."""


def usage() -> str:
    """The help of the program itself."""
    lines = [f"  {name:16}{what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [
            f"Tiebreak {VERSION}: judges pairs of LLM responses with a local model, offline.",
            "",
            f"usage: {program()}                 opens the window",
            f"       {program()} FILE            opens the window with a dataset or a submission",
            f"       {program()} DATASET SUBMISSION   opens both: a submission and its dataset",
            f"       {program()} COMMAND ...     runs without a window",
            "",
            *lines,
            "",
            f"{program()} COMMAND --help describes each command.",
            "Exit codes: 0 done; 1 the run ended with unscored items, was stopped, or --require is not met;",
            "2 the input or the arguments are wrong; 3 a bug in the program.",
        ]
    )


def main(arguments: list[str]) -> int:
    """Open the window, or run one sub-command; the exit code."""
    keep_caches_together()
    give_room()
    if arguments[:1] in (["--help"], ["-h"]):
        print(usage())
        return DONE
    if arguments[:1] == ["--version"]:
        print(f"Tiebreak {VERSION}\nHow to cite it (CITATION.cff): {CITATION}")
        return DONE
    if arguments[:1] in ([APART], [CHILD]):
        return for_another_process(*arguments)
    if not arguments:
        return open_window()
    if arguments[0] not in COMMANDS:
        files = [Path(argument) for argument in arguments]
        # A box of Windows would be higher than the screen.
        way_out = f"\n{usage()}" if has_terminal() else "Check the name, or open the file in the window."
        if len(files) > 2:
            raise SetupError(f"There is no command '{shown(files[0])}'.", way_out)
        lacking = [path for path in files if seen_at(path) is not PathKind.FILE]
        if lacking:
            raise SetupError(f"There is no command and no file '{shown(lacking[0])}'.", way_out)
        return open_window(*files)
    try:
        options = parser_of(arguments[0]).parse_args(arguments[1:])
        return int(options.command(options))
    except EngineError:
        raise
    except Exception:
        # Raises the clear error, if that was the reason.
        import_module("engine.llama").check_library()
        raise


def parser_of(command: str) -> ArgumentParser:
    """The parser of a command; its options have what runs it, as `command`. A function of that name makes it.

    Only the module of the command is imported: --help need not wait for pyarrow and llama.cpp.
    """
    module = next((name for name, commands in _TOGETHER.items() if command in commands), command)
    made: ArgumentParser = getattr(import_module(f"engine.cli.{module}"), command.replace("-", "_"))()
    return made


def for_another_process(how: str, *what: str) -> int:
    """Do the work of a child process, which may crash without harm to its parent; the exit code."""
    if how == APART:
        return int(import_module("engine.system.subprocess_worker").serve())
    import_module("engine.system.subprocess_worker").end_with_parent()
    name, *words = what
    return int(import_module(CHILD_WORK[name]).in_child(*words))


def open_window(*files: Path) -> int:
    """Open the window, with the given files. SetupError if the system lacks what it needs."""
    try:
        screen = import_module("gui.screen")
        screen.check()
        window = import_module("gui.app")
    except SetupError as error:
        has_make = program() == FROM_SOURCE and sys.platform != "win32"
        demo = " (the demo dataset: make judge)" if has_make else ""
        without = f" To judge without a window: {program()} judge --help{demo}"
        raise SetupError(error.problem, Hint(*error.hint.parts, without)) from error
    except ImportError as error:
        raise SetupError(
            f"The window cannot be opened: {error}.",
            f"Install what is missing, or judge without a window: {program()} judge",
        ) from error
    return int(window.open_window(*files))


def command() -> int:
    """Run the command line; the exit code. The entry point of an installed copy's `tiebreak`."""
    code = guarded(lambda: main(sys.argv[1:]))
    if "PySide6" not in sys.modules:  # a window's objects are taken down in an order of their own
        # What is left goes with the process: to look through it first takes a fifth of a short command.
        gc.freeze()
        gc.disable()
    return code


if __name__ == "__main__":
    sys.exit(command())
