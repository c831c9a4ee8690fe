"""Jobs that write a run to files: submissions, all data, the report.

Knows: which call of the engine does it, and what is to be said of gaps. Does not know: windows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import SetupError
from gui.engine_thread import Control, Job
from gui.jobs.figures import save_figures
from gui.jobs.measuring import Scores
from gui.jobs.weighing import Basis, Wish, weighed

if TYPE_CHECKING:
    from engine.dataset import Dataset
    from engine.evaluation import Evaluation
    from engine.results import RunResults


class Form(StrEnum):
    """In what form a run leaves the window."""

    LABELS = "labels"
    EXPLAINED = "explained"
    CSV = "csv"
    JSON = "json"
    REPORT = "report"


@dataclass(frozen=True)
class Written:
    """A file that was written, and sentences on what it lacks."""

    path: Path
    gaps: Sequence[str] = ()


def export(
    form: Form, results: "RunResults", dataset: "Dataset | None", path: Path, store_path: Path
) -> Job[Written]:
    """Write a run in any form but the report; `dataset`: its items, where they are there."""

    def work(_control: Control) -> Written:
        from engine.files import write_json
        from engine.results import as_json, submission_of
        from engine.results_csv import write_results_csv
        from engine.submission import write_submission

        _check_target(path, results, store_path)
        if form is Form.CSV:
            write_results_csv(path, results, dataset)
        elif form is Form.JSON:
            write_json(path, as_json(results))
        else:
            submission = submission_of(results)
            write_submission(path, submission if form is Form.EXPLAINED else submission.labels_only())
        return Written(path, list(_gaps(results, with_explanations=form is not Form.LABELS)))

    return work


@dataclass(frozen=True)
class Measured:
    """A run and its human labels. `scores`: what was measured of them, None where nothing was yet."""

    results: "RunResults"
    gold: "Dataset"
    scores: Scores | None

    def evaluation(self) -> "Evaluation":
        """All that can be measured without a model; on a lane. SetupError where the labels do not fit."""
        from engine.evaluation import evaluate
        from engine.matching import match
        from engine.systems import system_of_run

        known = self.scores.evaluation if self.scores else None
        if self.scores is not None and known is not None and self.scores.explained:
            return known
        return evaluate(match(system_of_run(self.results), self.gold, partial=True))


def export_report(measured: Measured, wish: Wish, path: Path, store_path: Path) -> Job[Written]:
    """Write the HTML report of a run, with the weighted judge as it is set. Raises SetupError."""

    def work(_control: Control) -> Written:
        from engine.files import write_whole
        from engine.report import gather, report_html

        _check_target(path, measured.results, store_path)
        evaluation = measured.evaluation()
        try:
            weighing = weighed(Basis(evaluation.matched.system, measured.gold), wish)
        except SetupError:
            weighing = None  # all weights are 0
        write_whole(path, report_html(gather(evaluation, weighing)).encode("utf-8"))
        return Written(path, list(_gaps(measured.results, with_explanations=True)))

    return work


def export_figures(measured: Measured, folder: Path, name: str) -> Job[Written]:
    """Write all figures into a new folder `name`. Raises SetupError."""

    def work(control: Control) -> Written:
        return Written(save_figures(measured.evaluation(), folder, name)(control))

    return work


def _check_target(path: Path, results: "RunResults", store_path: Path) -> None:
    from engine.files import check_targets

    identity = results.run.identity
    read = {"dataset": identity.dataset_path, "model": identity.model_path, "run store": store_path}
    check_targets({"the export": path}, read)


def _gaps(results: "RunResults", with_explanations: bool) -> Iterator[str]:
    """What is missing from a run, and what is not the model's."""
    run = results.run
    if not run.complete:
        yield f"The run is not complete: {run.judged:,} of {run.identity.items:,} items are in the file."
    if results.unscored:
        yield f"{_count(results.unscored, 'judgment')} unscored: the label is left empty."
    if with_explanations and results.unexplained:
        yield f"{_count(results.unexplained, 'judgment')} without an explanation."
    if with_explanations and results.outdated:
        yield f"{_count(results.outdated, 'explanation')} written for another label than the one in force."
    if results.overrides:
        yield f"By people, not by the model: {results.overridden.by_whom}."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what} is" if number == 1 else f"{number:,} {what}s are"
