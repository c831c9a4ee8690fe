"""Jobs that compare systems, list their differences, make a jury of them; jobs that rank candidates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.annotations.records import LabelSourceKind
from engine.core.column_map import JudgeFile
from engine.core.errors import SetupError
from engine.core.formatting import counted, listed, short_name, words
from engine.core.rubric import rubric_of_names
from engine.core.tables import Section, Sentences, Sheet, Tone
from engine.system.paths import is_there
from gui.results.export_jobs import figure_source
from gui.results.run_weights import WeightsChoice
from gui.widgets.foreign_text import one_line
from gui.widgets.notice import IN_THE_WINDOW
from gui.workspace.figures import FigureSource
from gui.workspace.file_jobs import Chosen, with_labels_for
from gui.workspace.open_run import RunMark, gold_mark, run_mark
from gui.workspace.threads import AtWork, Job, JobControl, job

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.metrics.comparison import Comparison, Difference
    from engine.metrics.evaluation import Evaluation
    from engine.metrics.matching import Matched
    from engine.ranking.labelled_part import RankedByLabels
    from engine.ranking.ranking import Ranking
    from engine.report.drawing import ReportFigure
    from engine.report.rankings import RankedBy, RankingsBeside
    from engine.results.run_results import RunResults
    from gui.workspace.file_jobs import Sliced


@dataclass(frozen=True)
class Examined:
    """What became of some files. `missing` are not there; `unfit`: why others cannot be compared."""

    files: Sequence[JudgeFile] = ()
    missing: frozenset[JudgeFile] = frozenset()
    unfit: Mapping[JudgeFile, SetupError] = field(default_factory=dict)

    @property
    def fit(self) -> list[JudgeFile]:
        return [file for file in self.files if file not in self.missing and file not in self.unfit]


@job
def examine(control: JobControl, files: Sequence[JudgeFile], gold: "Dataset | None") -> Examined:
    missing = frozenset(file for file in files if not is_there(file.path))
    unfit: dict[JudgeFile, SetupError] = {}
    for file in files:
        control.cancel.raise_if_requested()
        try:
            if file not in missing:
                _check(file, gold, control)
        except SetupError as error:
            unfit[file] = error
    return Examined(files, missing, unfit)


@job
def columns_of_judges(_control: JobControl, path: Path) -> Mapping[str, Mapping[str, str | None]]:
    """The columns that may hold verdicts: what each value means, None where that is not known."""
    from engine.data.verdicts import judge_columns

    return judge_columns(path)


def _check(file: JudgeFile, gold: "Dataset | None", control: JobControl) -> None:
    """SetupError, in words that fit, for a file that cannot be compared."""
    from engine.data.verdicts import placed, read_system

    submission = read_system(*file)
    if gold is None:
        return
    submission = placed(submission, gold)
    name, labelled = short_name(file.name), short_name(gold.name)
    known = frozenset(gold.ids)
    if not any(row.id in known for row in submission.rows):
        ids = counted(len(submission.rows), "id is", "ids are")
        raise SetupError(
            f"{name} is of other items: its {ids} not in {labelled}, the human labels.",
            "Choose the human labels of its items first (“Choose labels…”), then add it.",
        )
    labels = with_labels_for(gold, [rubric_of_names(submission.criteria)], control.cancel)
    if labels.criteria and not set(submission.criteria) & set(labels.criteria):
        its, theirs = (listed(list(map(words, names))) for names in (submission.criteria, labels.criteria))
        raise SetupError(
            f"{name} is on other criteria ({its}): {labelled} has human labels on {theirs}.",
            "Choose human labels on its criteria first (“Choose labels…”), then add it.",
        )


@dataclass(frozen=True)
class CompareRequest:
    runs: tuple[int, ...] = ()  # their ids
    files: tuple[JudgeFile, ...] = ()
    labels_of: LabelSourceKind = LabelSourceKind.LAST  # whose labels of the runs count

    @property
    def systems(self) -> int:
        return len(self.runs) + len(self.files)


@dataclass(frozen=True)
class Compared:
    choice: CompareRequest
    dataset: "Dataset"
    comparison: "Comparison"
    evaluations: "Sequence[Evaluation]"
    notes: Sequence[str]  # sentences on what is not compared or not to be taken for more than it is
    doubts: Sequence[str]  # a line for each system whose judge may not have judged
    runs: Sequence[int | None]  # by system, the id of its run, None for a submission
    rows: Mapping[str, int]  # by item id, its place in `dataset`
    marks: Mapping[int, RunMark]  # by the id of each run, what it was, by value
    sheet: Sheet
    beside: "RankingsBeside | None"  # of two systems, where the dataset names candidates
    whole: "Sequence[Matched]"  # each system on all items
    chosen: Chosen | None  # the slice that alone is compared, None for all items

    @property
    def differences(self) -> "Sequence[Difference]":
        return self.comparison.differences


@job
def compare_systems(
    control: JobControl, store_path: Path, choice: CompareRequest, gold: "Dataset", chosen: Chosen | None
) -> Compared:
    """Hold systems against human labels, on the slice `chosen` where there is one; reports AtWork."""
    from engine.metrics.comparison import match_all
    from engine.metrics.matching import open_system, system_of_file, told_apart

    steps = _Steps(control, 2 * choice.systems + 3)
    opened = []
    for run in choice.runs:
        steps.begin(f"Reading run {run} …")
        opened.append(open_system(str(run), store_path, choice.labels_of))
    for file in choice.files:
        steps.begin(f"Reading {file.name} …")
        opened.append(system_of_file(*file))
    systems = told_apart(opened)
    steps.begin("Joining them with the human labels …")
    # The open dataset holds the labels on what is asked next, and runs may have been asked otherwise.
    labels = with_labels_for(gold, [one.asked for one in systems if one.asked], control.cancel)
    return _on_slice(choice, gold, match_all(systems, labels, partial=True), chosen, steps)


@job
def compare_part(control: JobControl, compared: Compared, chosen: Chosen | None) -> Compared:
    """The same on a slice or on all items; reports AtWork. SetupError where a slice has no human label."""
    steps = _Steps(control, len(compared.whole) + 2)
    return _on_slice(compared.choice, compared.dataset, compared.whole, chosen, steps)


def same_labels(dataset: "Dataset", other: "Dataset") -> Job[bool]:
    return lambda _control: gold_mark(dataset) == gold_mark(other)


@dataclass
class _Steps:
    """Reports each step as it begins, and stops there where that is asked for."""

    control: JobControl
    total: int
    done: int = 0

    def begin(self, what: str) -> None:
        self.control.cancel.raise_if_requested()
        self.control.report(AtWork(one_line(what), self.done, self.total))
        self.done += 1


def _on_slice(
    choice: CompareRequest, gold: "Dataset", whole: "Sequence[Matched]", chosen: Chosen | None, steps: _Steps
) -> Compared:
    from engine.metrics.comparison import compare
    from engine.metrics.evaluation import evaluate
    from engine.report.comparison import comparison_sheet
    from engine.report.rankings import rankings_beside

    kept = whole
    if chosen is not None:
        kept = [one.only(chosen.part.known, chosen.words, chosen.part.caveat) for one in whole]
    evaluations = []
    for joined in kept:
        steps.begin(f"Measuring {joined.system.name} …")
        evaluations.append(evaluate(joined))
    steps.begin("Comparing …")
    comparison, systems = compare(evaluations), [one.system for one in whole]
    notes_on_each = (note for evaluation in evaluations for note in _notes_on(evaluation.matched))
    steps.begin("Ranking the candidates by each …")
    return Compared(
        choice,
        gold,
        comparison,
        evaluations,
        notes=[*comparison.not_compared, *notes_on_each],
        doubts=[f"{system.name}: {system.health.in_short}" for system in systems if system.health.doubted],
        runs=[system.results.run.id if system.results else None for system in systems],
        rows={item_id: row for row, item_id in enumerate(gold.ids)},
        marks={system.results.run.id: run_mark(system.results) for system in systems if system.results},
        sheet=comparison_sheet(comparison, [evaluation.matched for evaluation in evaluations]),
        beside=rankings_beside(kept, steps.control.cancel),
        whole=whole,
        chosen=chosen,
    )


def _notes_on(matched: "Matched") -> Iterator[str]:
    name = matched.system.name
    if matched.system.health.doubted:
        headline, *signs = matched.system.health.sentences(IN_THE_WINDOW.of)
        yield "\n".join([f"{name}: {headline}", *signs])
    yield from matched.left_out
    caveats = matched.caveats[1:] if matched.part else matched.caveats  # the slice is named above the tables
    yield from (f"{name}: {caveat}" for caveat in caveats)


@dataclass(frozen=True)
class DifferenceFilter:
    criterion: str | None = None  # None: on all
    one_is_right: bool = False
    text: str = ""  # words that the item's texts must hold


@job
def filter_differences(control: JobControl, compared: Compared, wanted: DifferenceFilter) -> Sequence[int]:
    """The places, from 0, of the differences that a filter lets through, in order."""
    from engine.data.dataset_views import matching_rows

    rows: set[int] | None = None
    if wanted.text.strip():
        rows = set(matching_rows(compared.dataset, wanted.text, control.cancel).tolist())
    return [
        place
        for place, difference in enumerate(compared.differences)
        if wanted.criterion in {None, difference.criterion}
        and (difference.one_is_right or not wanted.one_is_right)
        and (rows is None or compared.rows[difference.item_id] in rows)
    ]


@job
def save_comparison(
    _control: JobControl, path: Path, compared: Compared, in_use: Mapping[str, Path], slices: "Sliced | None"
) -> Path:
    """Write a comparison as JSON, over nothing that was compared and no file in use; the path."""
    from engine.report.comparison import comparison_json
    from engine.system.files import check_targets, write_json

    read = {f"file {file.path}": file.path for file in compared.choice.files}
    for evaluation in compared.evaluations:
        if (results := evaluation.matched.system.results) is not None:
            read[f"dataset of {evaluation.name}"] = results.run.identity.dataset_path
            read[f"model of {evaluation.name}"] = results.run.identity.model_path
    check_targets({"The comparison": path}, {**in_use, **read, "dataset": compared.dataset.path})
    by_slice = [[of_system] for of_system in slices.measured] if slices is not None else []
    wins = [slices.weighed] if slices is not None else []
    of_all = (compared.comparison, compared.evaluations)
    write_json(path, comparison_json(*of_all, slices=by_slice, wins=wins, beside=compared.beside))
    return path


@dataclass(frozen=True)
class JuryRequest:
    choice: CompareRequest
    name: str
    gold: "Dataset | None"  # the human labels that weights are fitted to; None for the mean of all
    lengths: bool  # whether the lengths of the responses may count then
    certainty: float  # of a label of a submission
    plan: bool = False  # say what the judges are worth by `gold`, and store nothing


@dataclass(frozen=True)
class StoredJury:
    run_id: int
    title: str
    sheet: Sheet


@job
def decide_together(control: JobControl, store_path: Path, request: JuryRequest) -> StoredJury | Sheet:
    """Make a jury and store it; reports MeasureProgress while it is fitted. For a plan, what its judges are
    worth. SetupError, StoreError.
    """
    from engine.core.events import Note, followed
    from engine.metrics.matching import open_system, system_of_file, told_apart
    from engine.operations.measuring import JurySetup, worth_together
    from engine.operations.measuring import decide_together as deciding
    from engine.report.jury import jury_worth_section
    from engine.settings.identity import checked_name

    checked_name(request.name, "the jury")
    runs = [open_system(str(run), store_path, LabelSourceKind.JUDGE) for run in request.choice.runs]
    systems = told_apart([*runs, *(system_of_file(*file) for file in request.choice.files)])
    control.cancel.raise_if_requested()
    gold, lengths, certainty = request.gold, request.lengths, request.certainty
    if gold is not None:
        gold = with_labels_for(gold, [system.asked for system in systems if system.asked], control.cancel)
    setup = JurySetup(systems, request.name, gold=gold, partial=True, lengths=lengths, certainty=certainty)
    if request.plan:
        worth = followed(worth_together(setup, control.cancel), control.report)
        return Sheet("", [jury_worth_section(worth)])
    remarks: list[str] = []

    def told(event: object) -> None:
        if isinstance(event, Note):
            remarks.append(str(event.said))
        else:
            control.report(event)

    kept = followed(deciding(setup, store_path, control.cancel), told)
    said = [Section("remarks", "", [Sentences(remarks, Tone.CAVEAT)])] if remarks else []
    return StoredJury(kept.run.id, kept.run.title, Sheet("", [*said, *kept.sections]))


@dataclass(frozen=True, eq=False)
class RankRequest:
    """What is ranked: the candidates of a dataset that names them, by the labels on a criterion."""

    dataset: "Dataset"
    criterion: str | None  # None: by the winners of the weighted judge
    results: "RunResults | None" = None  # whose labels count; None for the human labels of the dataset
    weights: WeightsChoice | None = None  # of the weighted judge
    many: bool = False  # whether candidates that look like ids are meant


@dataclass(frozen=True)
class RankedCandidates:
    request: RankRequest
    by: "RankedBy"  # whose labels these are
    ranking: "Ranking"
    corrected: "RankedByLabels | None"  # by human labels; None of the weighted judge and of annotators
    sheet: Sheet
    notes: Sequence[str]  # on items that take no part
    doubts: Sequence[str]  # whether the judge judged at all


@job
def rank_candidates(control: JobControl, request: RankRequest) -> RankedCandidates:
    """The ranking; reports Preparing and MeasureProgress of its parts. SetupError where there is none."""
    from engine.core.events import followed
    from engine.ranking.comparisons import comparisons_of
    from engine.ranking.labelled_part import by_labels
    from engine.ranking.ranking import rank
    from engine.report.ranking import ranking_sheet
    from engine.report.rankings import RankedBy

    if not request.dataset.names_candidates:
        comparisons_of(request.dataset)  # which says so, before labels are read for nothing
    notes: Sequence[str] = ()
    if request.results is not None:
        by, notes = _by_run(request, request.results)
    else:
        assert request.criterion is not None
        by = RankedBy.by_annotators(request.dataset, request.criterion)
    health = by.system.health if by.system is not None else None
    doubts = health.sentences(IN_THE_WINDOW.of) if health is not None and health.doubted else ()
    control.cancel.raise_if_requested()
    work = rank(by.comparisons, cancel=control.cancel, many_candidates=request.many, dataset=by.dataset)
    ranking = followed(work, control.report)
    corrected = by.judge and followed(by_labels(*by.judge, cancel=control.cancel), control.report)
    until, word = by.until, IN_THE_WINDOW.of
    sheet = ranking_sheet(ranking, by.title, corrected, until=until, remark=by.remark, word=word)
    return RankedCandidates(request, by, ranking, corrected, sheet, notes, doubts)


def _by_run(request: RankRequest, results: "RunResults") -> tuple["RankedBy", Sequence[str]]:
    """By whose labels of a run, and what is to be said of items that take no part."""
    from engine.metrics.matching import annotator_caveats, match_items, system_of_run
    from engine.report.rankings import RankedBy
    from gui.results.score_jobs import Basis, weighed

    system = system_of_run(results)
    matched = match_items(system, request.dataset, partial=True)
    # How many items have no label the ranking says itself; their ids would be a wall.
    notes = [*replace(matched, missing=()).left_out, *annotator_caveats(system, {*request.dataset.ids})]
    if request.criterion is not None:
        return RankedBy.by_system(system, request.dataset, request.criterion), notes
    assert request.weights is not None
    weighted_scoring = weighed(Basis(system, None, request.dataset), request.weights)
    notes += weighted_scoring.informative.sentences
    return RankedBy.by_weights(system, request.dataset, weighted_scoring), notes


def figure_of(ranked: RankedCandidates) -> FigureSource:
    def figure() -> "ReportFigure":
        from engine.report.ranking import ranking_report_figure

        return ranking_report_figure(ranked.ranking, ranked.by.title)

    return figure_source("ranking", figure, ranked.sheet, "ranking")


@job
def save_ranking(_control: JobControl, ranked: RankedCandidates, path: Path, in_use: dict[str, Path]) -> Path:
    """Write every rate, pair and interval as JSON, over no file in use; the path."""
    from engine.ranking.ranking import ranking_json
    from engine.system.files import check_targets, write_json

    check_targets({"The ranking": path}, {**in_use, "dataset": ranked.request.dataset.path})
    made = ranking_json(ranked.ranking, ranked.corrected, ranked.by.remark)
    write_json(path, {"ranked": ranked.by.title, **made})
    return path
