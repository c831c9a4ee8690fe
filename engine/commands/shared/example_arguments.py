"""The arguments that name labelled examples for the prompt, for all commands that judge or explain.

Knows: --examples, --shots and --choose. Does not know: how examples are chosen or shown.
"""

import argparse
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.rubric import Rubric
from engine.core.settings import USUAL_SHOTS, ExampleChoice
from engine.prompt.examples import ExamplePool


def add_examples(group: argparse._ActionsContainer) -> None:
    """--examples, --shots and --choose."""
    group.add_argument("--examples", type=Path, metavar="FILE", help="labelled items to show the model")
    group.add_argument("--shots", type=int, metavar="K", help=f"how many of them ({USUAL_SHOTS})")
    group.add_argument(
        "--choose",
        choices=[choice.value for choice in ExampleChoice],
        help="which of them: fixed, the same for all items (default), or near, those with the"
        " instructions most like the item's own",
    )


def shots_of(options: argparse.Namespace) -> int:
    """How many examples are shown where there are any. SetupError for a number without a file."""
    if options.shots is None:
        return USUAL_SHOTS
    if options.examples is None:
        raise SetupError("--shots without --examples has nothing to show.", "Name a file with --examples.")
    return int(options.shots)


def choice_of(options: argparse.Namespace) -> ExampleChoice:
    """How examples are chosen where there are any. SetupError for a choice without a file."""
    if options.choose is None:
        return ExampleChoice.FIXED
    if options.examples is None:
        raise SetupError(
            "--choose without --examples has nothing to choose from.", "Name a file with --examples."
        )
    return ExampleChoice(options.choose)


def examples_of(options: argparse.Namespace, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """What the options say; none without --examples. SetupError where the file has too few."""
    shots, choice = shots_of(options), choice_of(options)
    if options.examples is None:
        return ExamplePool()
    # The arguments alone need no llama.cpp.
    from engine.judge.prepare import example_pool  # noqa: PLC0415

    return example_pool(options.examples, shots, rubric, cancel, choice=choice)
