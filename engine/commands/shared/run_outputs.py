"""The files of a run, written for every command that has one: checked beforehand, exported, their gaps named.

Knows: which files a run can be written to. Does not know: how a run is decided.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from engine.commands.shared.console import DONE, INCOMPLETE, printable, tell
from engine.commands.shared.remedies import OPTIONS
from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, SetupError
from engine.core.health import Health
from engine.data.dataset import Dataset
from engine.data.submission import write_submission
from engine.decisions.gaps import GapKind, gaps, incomplete
from engine.decisions.run_dataset import dataset_of_run
from engine.decisions.run_json import as_json
from engine.decisions.run_results import RunResults, submission_of
from engine.system.files import check_targets, write_json

_WITH_OUTDATED = "runs export {run} --with-outdated"
_NEXT_STEPS = {
    GapKind.OVERRIDDEN: " Without them: runs export --labels-of judge",
    GapKind.UNSCORED: " See: runs show {run}",
    GapKind.OUTDATED: f" Write them again: runs rewrite {{run}}; with them: {_WITH_OUTDATED}",
}
_NOBODY_WRITES = f" With them: {_WITH_OUTDATED}"  # again, of what no model judged here


def check_outputs(options: argparse.Namespace, read: Mapping[str, Path]) -> None:
    """See that the outputs can be written, are what they should be, and are none of what is read."""
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
    with_outdated: bool = False,
) -> None:
    """Write a run's submission and its JSON, with the dataset's other columns, each where a path is given;
    then say so. `with_outdated`: as `submission_of` takes it.
    """
    if out:
        write_submission(out, submission_of(results, with_outdated))
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
    """The items of a run, out of --dataset where that is given, for what is written beside its judgments;
    None, and said, where its file does not hold what was judged any more.
    """
    try:
        return dataset_of_run(results.run, options.dataset, columns=columns)
    except SetupError as error:
        how = f" {OPTIONS.of(error.remedy)}" if isinstance(error, ColumnsError) else ""
        lacking = ["The CSV is written without texts and human labels."] if options.csv else []
        lacking += ["The JSON is written without the dataset's other columns."] if options.json else []
        tell("\n".join([f"{error.problem}{how}", *lacking]))
        return None


def warn_of_gaps(results: RunResults, partly: bool = False) -> int:
    """Say what is missing from a run, and what is not the model's; the exit code for what is missing.

    `partly`: nobody asked for all of its items.
    """
    run = results.run
    if results.left and not partly:
        tell(printable(incomplete(results, run.title)))
    for gap in gaps(results):
        next_step = _NEXT_STEPS.get(gap.kind, "")
        if gap.kind is GapKind.OUTDATED and not run.by_a_model:
            next_step = _NOBODY_WRITES
        tell(f"{printable(gap.sentence)}{next_step.format(run=run.id)}")
    is_whole = partly or not results.left
    return DONE if is_whole and not results.answered.unscored else INCOMPLETE


def health_lines(health: Health) -> str:
    """Whether a judge judged, with each sign against it and what to do, for a terminal."""
    return "\n".join(map(printable, health.sentences(OPTIONS.of)))
