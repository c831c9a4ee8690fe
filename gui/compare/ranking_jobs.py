"""Jobs that rank candidates by the labels of a run or of annotators, and write the ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.tables import Sheet
from gui.results.export_jobs import figure_source
from gui.results.run_weights import WeightsChoice
from gui.workspace.figures import FigureSource
from gui.workspace.threads import JobControl, job

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.ranking.labelled_part import RankedByLabels
    from engine.ranking.ranking import Ranking
    from engine.report.drawing import ReportFigure
    from engine.report.rankings import RankedBy
    from engine.results.run_results import RunResults

_FIGURE = "ranking"


@dataclass(frozen=True, eq=False)
class RankRequest:
    """What is ranked: the candidates of a `dataset` that names them, by the labels on a `criterion`.

    `results`: the run whose labels these are, by those who count; None for the human labels of the dataset.
    No `criterion`: the winners of the weighted judge by `weights`.
    """

    dataset: "Dataset"
    criterion: str | None
    results: "RunResults | None" = None
    weights: WeightsChoice | None = None


@dataclass(frozen=True)
class RankedCandidates:
    """A ranking, and the sheet that says it. `corrected`: by human labels; None of the weighted judge and
    of annotators. `by`: whose labels these are. `notes`: on items that take no part. `doubts`: whether
    the judge judged at all, empty where nothing is to be said.
    """

    request: RankRequest
    by: "RankedBy"
    ranking: "Ranking"
    corrected: "RankedByLabels | None"
    sheet: Sheet
    notes: Sequence[str] = ()
    doubts: Sequence[str] = ()

    @property
    def labels_help(self) -> bool:
        """Whether labels of a random sample would make the ranking by a judge more precise, or right at
        all.
        """
        return self.corrected is not None and self.corrected.more_would_help


@job
def rank_candidates(control: JobControl, request: RankRequest) -> RankedCandidates:
    """The ranking; reports MeasureProgress of the draws of its intervals. SetupError where there is none."""
    from engine.core.events import followed
    from engine.ranking.comparisons import comparisons_of
    from engine.ranking.labelled_part import by_labels
    from engine.ranking.ranking import rank
    from engine.report.ranking import ranking_sheet
    from engine.report.rankings import RankedBy
    from gui.widgets.notice import IN_THE_WINDOW

    if not request.dataset.names_candidates:
        comparisons_of(request.dataset)  # which says so, before labels are read for nothing
    notes: Sequence[str] = ()
    doubts: Sequence[str] = ()
    if request.results is not None:
        by, notes = _by_run(request, request.results)
        health = by.system.health if by.system is not None else None
        doubts = health.sentences(IN_THE_WINDOW.of) if health is not None and health.doubted else ()
    else:
        assert request.criterion is not None
        by = RankedBy.by_annotators(request.dataset, request.criterion)
    control.cancel.raise_if_requested()
    ranking = followed(rank(by.comparisons, cancel=control.cancel), control.report)
    corrected = by.judge and followed(by_labels(*by.judge, cancel=control.cancel), control.report)
    sheet = ranking_sheet(
        ranking, by.title, corrected, until=by.until, remark=by.remark, word=IN_THE_WINDOW.of
    )
    return RankedCandidates(request, by, ranking, corrected, sheet, notes, doubts)


def _by_run(request: RankRequest, results: "RunResults") -> tuple["RankedBy", Sequence[str]]:
    """By whose labels of a run, and what is to be said of items that take no part."""
    from engine.metrics.matching import annotator_caveats, match_items, system_of_run
    from engine.report.rankings import RankedBy
    from gui.results.weighted_scoring_jobs import Basis, weighed

    system = system_of_run(results)
    matched = match_items(system, request.dataset, partial=True)
    # How many items have no label the ranking says itself; their ids would be a wall.
    notes = [*replace(matched, missing=()).left_out, *annotator_caveats(system, {*request.dataset.ids})]
    if request.criterion is not None:
        return RankedBy.by_system(system, request.dataset, request.criterion), notes
    assert request.weights is not None
    weighted_scoring = weighed(Basis(system, None, request.dataset), request.weights)
    weighted_scoring.informative.check()
    return RankedBy.by_weights(system, request.dataset, weighted_scoring), [
        *notes,
        *weighted_scoring.informative.sentences,
    ]


def figure_of(ranked: RankedCandidates) -> FigureSource:
    return figure_source(_FIGURE, partial(_figure, ranked), ranked.sheet, _FIGURE)


def _figure(ranked: RankedCandidates) -> "ReportFigure":
    from engine.report.ranking import ranking_report_figure

    return ranking_report_figure(ranked.ranking, ranked.by.title)


@job
def save_ranking(
    _control: JobControl, ranked: RankedCandidates, path: Path, in_use: Mapping[str, Path]
) -> Path:
    """Write every rate, pair and interval as JSON, over no file in use; the path."""
    from engine.ranking.ranking import ranking_json
    from engine.system.files import check_targets, write_json

    check_targets({"The ranking": path}, {**in_use, "dataset": ranked.request.dataset.path})
    made = ranking_json(ranked.ranking, ranked.corrected, ranked.by.remark)
    write_json(path, {"ranked": ranked.by.title, **made})
    return path
