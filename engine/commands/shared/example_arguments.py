"""The arguments that name labelled examples for the prompt, for all commands that judge or explain.

Knows: --examples, --shots and --choose. Does not know: how examples are chosen or shown.
"""

import argparse
from pathlib import Path
from typing import Any

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.rubric import Rubric
from engine.core.settings import USUAL_SHOTS, ExampleKind
from engine.prompt.examples import ExamplePool


def add_examples(group: argparse._ActionsContainer) -> None:
    """--examples, --shots and --choose."""
    group.add_argument("--examples", type=Path, metavar="FILE", help="labelled items to show the model")
    group.add_argument("--shots", type=int, metavar="K", help=f"how many of them ({USUAL_SHOTS})")
    group.add_argument(
        "--choose",
        choices=[choice.value for choice in ExampleKind],
        help="which of them: fixed, the same for all items (default), or near, those with the"
        " instructions most like the item's own",
    )


def given_examples(options: argparse.Namespace) -> dict[str, Any]:
    """What the options say of examples, as a RunSetup calls it. SetupError for what needs a file, without."""
    for option, given, aim in (
        ("--shots", options.shots, "show"),
        ("--choose", options.choose, "choose from"),
    ):
        if given is not None and options.examples is None:
            raise SetupError(
                f"{option} without --examples has nothing to {aim}.", "Name a file with --examples."
            )
    return {
        "examples_path": options.examples,
        "shots": USUAL_SHOTS if options.shots is None else options.shots,
        "example_choice": ExampleKind(options.choose or ExampleKind.FIXED),
    }


def examples_of(options: argparse.Namespace, rubric: Rubric, cancel: CancelToken) -> ExamplePool:
    """What the options say; none without --examples. SetupError where the file has too few."""
    path, shots, choice = given_examples(options).values()
    if path is None:
        return ExamplePool()
    # The arguments alone need no llama.cpp.
    from engine.judge.prepare import example_pool  # noqa: PLC0415

    return example_pool(path, shots, rubric, cancel, choice=choice)
