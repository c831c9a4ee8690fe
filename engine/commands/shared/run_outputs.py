"""The files of a run, written for every command that has one: checked beforehand, exported, their gaps named.

Knows: which files a run can be written to. Does not know: how a run is decided.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from engine.commands.shared.console import DONE, INCOMPLETE, printable, table, tell
from engine.core.errors import SetupError
from engine.data.submission import write_submission
from engine.decisions.run_json import as_json
from engine.decisions.run_results import RunResults, submission_of
from engine.measure.label_counts import LabelCounts
from engine.report.run_tables import distribution_table
from engine.system.files import check_targets, write_json


def check_outputs(options: argparse.Namespace, read: Mapping[str, Path]) -> None:
    """See that the outputs can be written, are what they should be, and are none of what is read."""
    if options.out is not None and options.out.suffix.lower() != ".tsv":
        raise SetupError(f"--out {options.out}: a submission is TSV.", f"Name it {options.out.stem}.tsv")
    written = {"--out": options.out, "--json": options.json, "--csv": getattr(options, "csv", None)}
    check_targets(written, read)


def export_results(results: RunResults, out: Path | None, json_path: Path | None) -> None:
    """Write a run's submission and its JSON, each where a path is given; then say so."""
    if out:
        write_submission(out, submission_of(results))
    if json_path:
        write_json(json_path, as_json(results))
    if out:
        print(f"Submission: {out}")
    if json_path:
        print(f"Judgments: {json_path}")


def warn_of_gaps(results: RunResults) -> int:
    """Say what is missing from a run, and what is not the model's; the exit code for what is missing."""
    run = results.run
    if not run.complete:
        tell(f"Run {run.id} is not complete: {run.judged} of {run.identity.items} items are judged.")
    if results.overrides:
        tell(
            f"{len(results.overrides)} judgments of run {run.id} are overridden by people:"
            f" {printable(results.overridden.by_whom)}. Without them: runs export --model-alone"
        )
    if results.unscored:
        tell(f"{results.unscored} judgments are unscored; their cells are empty. See: runs show {run.id}")
    if results.unexplained:
        tell(f"{results.unexplained} judgments have no explanation: none of any words was written.")
    if results.outdated:
        tell(
            f"{results.outdated} explanations were written for another label than the one in force."
            f" Write them again: runs rewrite {run.id}"
        )
    return DONE if run.complete and not results.unscored else INCOMPLETE


def distribution(counts: list[LabelCounts]) -> str:
    """A table of the predicted labels, flips and format mass of each criterion."""
    made = distribution_table(counts)
    return table(made.header, made.rows)
