"""What `runs export` writes for other tools: training pairs, logs, annotations.

The output files of a run: checked before, written, and their gaps reported.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.cli.shared.console import DONE, INCOMPLETE, printable, tell
from engine.cli.shared.hints import OPTIONS
from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, SetupError
from engine.core.formatting import counted, listed, words
from engine.core.health import Health
from engine.core.rubric import default_criterion
from engine.data.dataset import Dataset
from engine.data.submission import write_submission
from engine.results.completeness import IncompleteKind, gaps, incomplete
from engine.results.exports import as_json
from engine.results.other_tools import (
    SUFFIXES,
    alpaca_annotations,
    inspect_log,
    preference_pairs,
    write_preference_pairs,
)
from engine.results.run_dataset import dataset_of_run
from engine.results.run_results import RunResults, submission_of
from engine.system.files import check_targets, write_json

_WITH_STALE = "runs export {run} --with-stale"
_NEXT_STEPS = {
    IncompleteKind.OVERRIDDEN: " To export without them: runs export --labels-of judge",
    IncompleteKind.UNSCORED: " See: runs show {run}",
    IncompleteKind.STALE: f" To regenerate them: runs rewrite {{run}}; to include them: {_WITH_STALE}",
}
_NOBODY_WRITES = f" To include them: {_WITH_STALE}"  # if no model judged the run here


def check_outputs(options: argparse.Namespace, read: Mapping[str, Path]) -> None:
    """Check that the outputs can be written, have the right suffix, and overwrite no input."""
    is_submission = options.out is not None and getattr(options, "tool", None) is None
    if is_submission and options.out.suffix.lower() != ".tsv":
        raise SetupError(f"--out {options.out}: a submission is TSV.", f"Name it {options.out.stem}.tsv")
    of_runs = {"--csv": getattr(options, "csv", None), "--as-dataset": getattr(options, "as_dataset", None)}
    written = {"--out": options.out, "--json": options.json, **of_runs}
    check_targets(written, read)


def export_results(
    results: RunResults,
    out: Path | None,
    json_path: Path | None,
    dataset: Dataset | None,
    with_stale: bool = False,
) -> None:
    """Write a run's submission and its JSON, with the dataset's other columns, for each path that is given;
    then print the paths. `with_stale`: as `submission_of` takes it.
    """
    if out:
        write_submission(out, submission_of(results, with_stale))
    if json_path:
        write_json(json_path, as_json(results, dataset))
    if out:
        identity = results.run.identity
        parts = [identity.dataset_in_words] if identity.items_are else []
        parts += [results.run.sample_in_words] if results.run.is_sample else []
        what = f" ({printable('; '.join(parts))})" if parts else ""
        print(f"Submission: {out}{what}")
    if json_path:
        print(f"Judgments: {json_path}")


def dataset_beside(
    results: RunResults, options: argparse.Namespace, columns: ColumnMap | None = None
) -> Dataset | None:
    """The items of a run, from --dataset if it is given, to write with its judgments; None, with a message,
    if the file no longer has the judged items.
    """
    try:
        return dataset_of_run(results.run, options.dataset, columns=columns)
    except SetupError as error:
        how = f" {OPTIONS.of(error.hint)}" if isinstance(error, ColumnsError) else ""
        lacking = ["The CSV is written without texts and human labels."] if options.csv else []
        lacking += ["The JSON is written without the dataset's other columns."] if options.json else []
        tell("\n".join([f"{error.problem}{how}", *lacking]))
        return None


def warn_of_gaps(results: RunResults, partly: bool = False) -> int:
    """Report the gaps of a run, and its human overrides; the exit code for the gaps.

    `partly`: not all of its items were requested.
    """
    run = results.run
    if results.left and not partly:
        tell(printable(incomplete(results, run.title)))
    for gap in gaps(results):
        next_step = _NEXT_STEPS.get(gap.kind, "")
        if gap.kind is IncompleteKind.STALE and not run.by_a_model:
            next_step = _NOBODY_WRITES
        tell(f"{printable(gap.sentence)}{next_step.format(run=run.id)}")
    is_whole = partly or not results.left
    return DONE if is_whole and not results.answered.unscored else INCOMPLETE


def health_lines(health: Health) -> str:
    """Whether a judge judged, with each symptom and what to do, for a terminal."""
    return "\n".join(map(printable, health.sentences(OPTIONS.of)))


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
