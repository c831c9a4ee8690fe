"""`weigh`: decide scored comparisons by weighted criteria.

Knows: its arguments and what it prints. The decisions are `weighted.py`'s.
"""

import argparse
import json
from pathlib import Path

from engine.commands.console import DONE, command_parser
from engine.errors import SetupError
from engine.scores import load_comparisons
from engine.weighted import pairwise_preference_judge


def parser() -> argparse.ArgumentParser:
    """The arguments of `weigh`."""
    arguments = command_parser(
        "weigh",
        "Decide comparisons by the weighted sum of their scores, and print the winners and rates as JSON.\n"
        'FILE holds a JSON list of {"id": ..., "scores_a": {criterion: number}, "scores_b": {...}}.',
    )
    arguments.add_argument("file", type=Path, metavar="FILE")
    arguments.add_argument("--weights", required=True, metavar="NAME=W,...", help="quality=0.6,relevance=0.4")
    arguments.add_argument(
        "--tie-threshold", type=float, default=0.5, metavar="T", help="differences up to T are ties (0.5)"
    )
    return arguments


def run(options: argparse.Namespace) -> int:
    """Print the result of the weighted judge."""
    weights = parse_weights(options.weights)
    comparisons = load_comparisons(options.file, list(weights))
    try:
        result = pairwise_preference_judge(comparisons, weights, options.tie_threshold)
    except ValueError as error:
        raise SetupError(str(error), "Mend --weights or --tie-threshold.") from error
    print(json.dumps(result, indent=2, ensure_ascii=False))
    return DONE


def parse_weights(text: str) -> dict[str, float]:
    """`quality=0.6,relevance=0.4` as a dict. SetupError for anything else."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        try:
            weight = float(value)
        except ValueError:
            equals = ""
        if not name or not equals or name in weights:
            raise SetupError(
                f"--weights: cannot read {part!r}.",
                "Write each criterion once, as NAME=NUMBER, with commas between: quality=0.6,relevance=0.4",
            )
        weights[name] = weight
    return weights
