"""Jobs that write a run to files: submissions, all data, the report.

Knows: which gaps count in which form. Does not know: windows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from gui.results.figure_jobs import save_figures
from gui.results.score_jobs import Scores, with_people
from gui.results.weighing_jobs import Basis, Wish, weighed
from gui.work.lanes import Job, JobControl
from gui.work.marks import measured_mark

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults
    from engine.measure.evaluation import Evaluation


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


@dataclass(frozen=True)
class Exported:
    """What an export is made of.

    `whole`: the run with what people overrode, which `model_alone` leaves out. `dataset`: the items that it
    judged, `gold`: the human labels that it is held against; None where they are not there. `known`: what was
    measured, of this run or another. `in_use`: files that must stay, by the words for them.
    """

    whole: "RunResults"
    model_alone: bool
    dataset: "Dataset | None"
    gold: "Dataset | None"
    wish: Wish
    known: Sequence[Scores] = ()
    in_use: Mapping[str, Path] = field(default_factory=dict)

    @property
    def results(self) -> "RunResults":
        """The run as it is exported."""
        return self.whole.model_alone() if self.model_alone else self.whole

    def evaluation(self, results: "RunResults") -> "Evaluation":
        """All that can be measured without a model; on a lane. SetupError where the labels do not fit."""
        from engine.measure.evaluation import evaluate
        from engine.measure.matching import match
        from engine.measure.systems import system_of_run

        assert self.gold is not None  # the window asks for labels before
        mark = measured_mark(results, self.gold)
        for scores in self.known:
            if scores.mark == mark and scores.explained and scores.evaluation is not None:
                return with_people(scores, results).evaluation or scores.evaluation
        return evaluate(match(system_of_run(results), self.gold, partial=True))


def export(form: Form, what: Exported, path: Path) -> Job[Written]:
    """Write a run in any form but the report; the human labels of a CSV are those that it is held against."""

    def work(_control: JobControl) -> Written:
        from engine.data.submission import write_submission
        from engine.decisions.run_csv import write_results_csv
        from engine.decisions.run_json import as_json
        from engine.decisions.run_results import submission_of
        from engine.system.files import write_json

        _check_target(path, what)
        results = what.results
        if form is Form.CSV:
            write_results_csv(path, results, what.dataset, what.gold)
        elif form is Form.JSON:
            write_json(path, as_json(results))
        else:
            submission = submission_of(results)
            write_submission(path, submission if form is Form.EXPLAINED else submission.labels_only())
        return Written(path, list(_gaps(what, results, with_explanations=form is not Form.LABELS)))

    return work


def export_report(what: Exported, path: Path) -> Job[Written]:
    """Write the HTML report of a run, with the weighted judge as it is set. Raises SetupError."""

    def work(_control: JobControl) -> Written:
        from engine.report.html_report import gather, report_html
        from engine.system.files import write_whole

        _check_target(path, what)
        results = what.results
        evaluation = what.evaluation(results)
        try:
            weighing = weighed(Basis(evaluation.matched.system, what.gold), what.wish)
        except SetupError:
            weighing = None  # all weights are 0
        write_whole(path, report_html(gather(evaluation, weighing)).encode("utf-8"))
        return Written(path, list(_gaps(what, results, with_explanations=True)))

    return work


def export_figures(what: Exported, folder: Path, name: str) -> Job[Written]:
    """Write all figures into a new folder `name`. Raises SetupError."""

    def work(control: JobControl) -> Written:
        results = what.results
        target = save_figures(what.evaluation(results), folder, name)(control)
        return Written(target, list(_gaps(what, results, with_explanations=False)))

    return work


def _check_target(path: Path, what: Exported) -> None:
    from engine.system.files import check_targets

    check_targets({"the export": path}, what.in_use)


def _gaps(what: Exported, results: "RunResults", with_explanations: bool) -> Iterator[str]:
    """What is missing from a run, what is not the model's, and what a person's choice left out."""
    from engine.decisions.gaps import GapKind, gaps, incomplete

    if not results.run.complete:
        yield incomplete(results.run)
    unshown = () if with_explanations else (GapKind.UNEXPLAINED, GapKind.OUTDATED)
    yield from (gap.sentence for gap in gaps(results) if gap.kind not in unshown)
    if what.model_alone and what.whole.overrides:
        left_out = what.whole.overridden.by_whom
        yield f"Without what people overrode ({left_out}): “Model alone” is ticked on the Results page."
