"""What `runs export` writes for other tools: training pairs, logs, annotations.

Knows: arguments, which file each tool reads. Does not know: what is in the files.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.commands.shared.console import printable
from engine.core.errors import SetupError
from engine.core.formatting import counted, listed, words
from engine.core.rubric import default_criterion
from engine.data.dataset import Dataset
from engine.decisions.alpaca_annotations import alpaca_annotations
from engine.decisions.inspect_log import inspect_log
from engine.decisions.preference_pairs import SUFFIXES, preference_pairs, write_preference_pairs
from engine.decisions.run_results import RunResults
from engine.system.files import write_json


def add_tools(export: argparse.ArgumentParser) -> None:
    """--for and --criterion."""
    export.add_argument(
        "--for",
        dest="tool",
        choices=_TOOLS,
        help="the tool that --out is for: dpo (pairs of a chosen and a rejected response, .jsonl or"
        " .parquet), inspect (a log of inspect_ai, .json), alpaca-eval (annotations, .json);"
        " default: a submission",
    )
    export.add_argument(
        "--criterion",
        metavar="NAME",
        help="with --for dpo or alpaca-eval: the criterion (default: overall_quality, else the last one)",
    )


def check_tool(options: argparse.Namespace) -> None:
    """SetupError if the options contradict each other."""
    tool = _TOOLS.get(options.tool)
    if options.criterion is not None and (tool is None or not tool.is_of_one):
        raise SetupError(
            "--criterion has no effect here.", "Use it with --for dpo or --for alpaca-eval, or remove it."
        )
    if tool is None:
        return
    suffixes = " or ".join(tool.suffixes)
    if options.out is None:
        raise SetupError(
            f"--for {options.tool}: no output file is named.",
            f"Name a file that ends in {suffixes}: --out FILE{tool.suffixes[0]}",
        )
    if options.out.suffix.lower() not in tool.suffixes:
        raise SetupError(
            f"{options.out.name}: for {options.tool} a file ends in {suffixes}.",
            f"Name it {options.out.stem}{tool.suffixes[0]}",
        )


@dataclass(frozen=True)
class MadeForTool:
    """The export for a tool. `called`: what it is; `write`: writes the file; `in_words`: its content and what
    is left out, possibly empty; `left_out`: how many items.
    """

    called: str
    write: Callable[[Path], None]
    in_words: str = ""
    left_out: int = 0


def export_for_tool(options: argparse.Namespace, results: RunResults, dataset: Dataset) -> None:
    """Write --out for the tool, and print its content. SetupError for a criterion that the run lacks."""
    made = made_for_tool(options.tool, results, dataset, options.criterion, options.with_stale)
    made.write(options.out)
    print("\n".join(filter(None, (f"{made.called}: {options.out}", made.in_words))))


def made_for_tool(
    tool: str, results: RunResults, dataset: Dataset, criterion: str | None, with_stale: bool
) -> MadeForTool:
    """The export of --for TOOL. SetupError for a criterion that the run lacks, and if nothing is left."""
    return _TOOLS[tool].make(results, dataset, criterion, with_stale)


def _pairs(results: RunResults, dataset: Dataset, criterion: str | None, _stale: bool) -> MadeForTool:
    pairs = preference_pairs(results, dataset, _criterion(criterion, results))
    lacking = len(results.judged) - len(pairs.columns["id"])
    return MadeForTool(
        "Pairs", lambda path: write_preference_pairs(path, pairs), f"{pairs.in_words}.", lacking
    )


def _log(results: RunResults, dataset: Dataset, _one: str | None, with_stale: bool) -> MadeForTool:
    made = inspect_log(results, dataset, with_stale)
    return MadeForTool("Log", lambda path: write_json(path, made))


def _annotations(results: RunResults, dataset: Dataset, criterion: str | None, _stale: bool) -> MadeForTool:
    name = _criterion(criterion, results)
    made = alpaca_annotations(results, dataset, name)
    lacking = len(results.judged) - len(made)
    in_words = f"{counted(len(made), 'annotation', 'annotations')} on {words(name)}"
    return MadeForTool(
        "Annotations",
        lambda path: write_json(path, made),
        f"{in_words}; left out: {lacking:,} without a label.",
        lacking,
    )


def _criterion(name: str | None, results: RunResults) -> str:
    known = tuple(results.judgments)
    if name is None:
        return default_criterion(known)
    if name not in known:
        title = printable(results.run.title)
        raise SetupError(f"{title} has no criterion {name!r}.", f"It has {listed(known)}.")
    return name


@dataclass(frozen=True)
class _Tool:
    """`suffixes`: of its files. `is_of_one`: whether it needs one criterion."""

    suffixes: tuple[str, ...]
    is_of_one: bool
    make: Callable[[RunResults, Dataset, str | None, bool], MadeForTool]


_TOOLS: Mapping[str, _Tool] = {
    "dpo": _Tool(SUFFIXES, True, _pairs),
    "inspect": _Tool((".json",), False, _log),
    "alpaca-eval": _Tool((".json",), True, _annotations),
}
