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


def examples_of(options: argparse.Namespace, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """What the options say; none without --examples. SetupError where the file has too few."""
    if options.examples is None:
        if options.shots is not None:
            raise SetupError(
                "--shots without --examples has nothing to show.", "Name a file with --examples."
            )
        return ExamplePool()
    # The arguments alone need no llama.cpp.
    from engine.judge.prepare import example_pool  # noqa: PLC0415

    shots = USUAL_SHOTS if options.shots is None else options.shots
    return example_pool(options.examples, shots, rubric, cancel)
