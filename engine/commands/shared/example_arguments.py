"""The arguments that name labelled examples for the prompt, for all commands that judge or explain.

Knows: --examples and --shots. Does not know: how examples are chosen or shown.
"""

import argparse
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.rubric import Rubric
from engine.core.settings import USUAL_SHOTS
from engine.prompt.examples import ExamplePool


def add_examples(group: argparse._ActionsContainer) -> None:
    """--examples and --shots."""
    group.add_argument("--examples", type=Path, metavar="FILE", help="labelled items to show the model")
    group.add_argument("--shots", type=int, metavar="K", help=f"how many of them ({USUAL_SHOTS})")


def shots_of(options: argparse.Namespace) -> int:
    """How many examples are shown where there are any. SetupError for a number without a file."""
    if options.shots is None:
        return USUAL_SHOTS
    if options.examples is None:
        raise SetupError("--shots without --examples has nothing to show.", "Name a file with --examples.")
    return int(options.shots)


def examples_of(options: argparse.Namespace, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """What the options say; none without --examples. SetupError where the file has too few."""
    shots = shots_of(options)
    if options.examples is None:
        return ExamplePool()
    # The arguments alone need no llama.cpp.
    from engine.judge.prepare import example_pool  # noqa: PLC0415

    return example_pool(options.examples, shots, rubric, cancel)
