"""The output files of a run: checked before, written, and their gaps reported.

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
from engine.decisions.gaps import IncompleteKind, gaps, incomplete
from engine.decisions.run_dataset import dataset_of_run
from engine.decisions.run_json import as_json
from engine.decisions.run_results import RunResults, submission_of
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
