"""What `runs export` writes for other tools: pairs to train by, logs, annotations.

Knows: arguments, which file each tool reads. Does not know: what is in the files.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.commands.shared.console import printable
from engine.core.errors import SetupError
from engine.core.formatting import counted, listed, words
from engine.core.rubric import usual_criterion
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
        help="for which tool --out is: dpo (pairs of a chosen and a rejected response, .jsonl or .parquet),"
        " inspect (a log of inspect_ai, .json), alpaca-eval (annotations, .json); else it is a submission",
    )
    export.add_argument(
        "--criterion",
        metavar="NAME",
        help="with --for dpo or alpaca-eval: by which one (default: overall_quality, else the last one)",
    )


def check_tool(options: argparse.Namespace) -> None:
    """SetupError where what is asked for does not fit together."""
    tool = _TOOLS.get(options.tool)
    if options.criterion is not None and (tool is None or not tool.is_of_one):
        raise SetupError(
            "--criterion is of no use here.", "It belongs to --for dpo and --for alpaca-eval; leave it out."
        )
    if tool is None:
        return
    suffixes = " or ".join(tool.suffixes)
    if options.out is None:
        raise SetupError(
            f"--for {options.tool} does not say where to write.",
            f"Name a file that ends in {suffixes}: --out FILE{tool.suffixes[0]}",
        )
    if options.out.suffix.lower() not in tool.suffixes:
        raise SetupError(
            f"--out {options.out}: for {options.tool} a file ends in {suffixes}.",
            f"Name it {options.out.stem}{tool.suffixes[0]}",
        )


def export_for_tool(options: argparse.Namespace, results: RunResults, dataset: Dataset) -> None:
    """Write --out for the tool, and say what is in it. SetupError for a criterion that the run lacks."""
    _TOOLS[options.tool].write(options, results, dataset)


def _write_pairs(options: argparse.Namespace, results: RunResults, dataset: Dataset) -> None:
    pairs = preference_pairs(results, dataset, _criterion(options, results))
    write_preference_pairs(options.out, pairs)
    print(f"Pairs: {options.out}\n{pairs.in_words}.")


def _write_log(options: argparse.Namespace, results: RunResults, dataset: Dataset) -> None:
    write_json(options.out, inspect_log(results, dataset, options.with_outdated))
    print(f"Log: {options.out}")


def _write_annotations(options: argparse.Namespace, results: RunResults, dataset: Dataset) -> None:
    criterion = _criterion(options, results)
    made = alpaca_annotations(results, dataset, criterion)
    lacking = len(results.judged) - len(made)
    write_json(options.out, made)
    in_words = f"{counted(len(made), 'annotation', 'annotations')} on {words(criterion)}"
    print(f"Annotations: {options.out}\n{in_words}; left out: {lacking:,} without a label.")


def _criterion(options: argparse.Namespace, results: RunResults) -> str:
    known = tuple(results.judgments)
    if options.criterion is None:
        return usual_criterion(known)
    if options.criterion not in known:
        title = printable(results.run.title)
        raise SetupError(f"{title} has no criterion {options.criterion!r}.", f"It has {listed(known)}.")
    return str(options.criterion)


@dataclass(frozen=True)
class _Tool:
    """`suffixes`: of its files. `is_of_one`: whether it is about one criterion."""

    suffixes: tuple[str, ...]
    is_of_one: bool
    write: Callable[[argparse.Namespace, RunResults, Dataset], None]


_TOOLS: Mapping[str, _Tool] = {
    "dpo": _Tool(SUFFIXES, True, _write_pairs),
    "inspect": _Tool((".json",), False, _write_log),
    "alpaca-eval": _Tool((".json",), True, _write_annotations),
}
