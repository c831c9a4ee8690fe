"""Jobs that measure a run: its labels and its explanations, as far as no model is needed.

Knows: in which order a run is measured, and which texts show it. Does not know: windows.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.formatting import words
from engine.core.sheets import Sheet
from engine.core.value_tables import Table
from gui.kit.notice import problem_of
from gui.kit.remedies import IN_THE_WINDOW
from gui.work.file_jobs import Chosen
from gui.work.lanes import Job, JobControl
from gui.work.marks import measured_mark

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults
    from engine.measure.evaluation import Evaluation
    from engine.measure.systems import System

_MOST_UNSCORED = 1000  # in a table on the thread of the window
_NO_LABELS = (
    "There are no human labels for this run. With them you see the judge's accuracy here, compared"
    " with baselines: choose a labelled dataset with “Choose labels…”."
)


@dataclass(frozen=True)
class Scores:
    """What is known of a run so far, and the sheet that says it.

    `evaluation`: None without human labels; `problem`: why the loaded labels cannot be used, if so.
    `unscored`: how many judgments could not be made; `listed`: the first of them. `explained`: True once all
    explanations are measured, or where there are none. `warnings`: what is to be said of models that
    measured. `mark`: what all of this depends on, by value. `part`: the slice that alone was measured, None
    for all items. `own`: the run's dataset, with labels or without, where it is there.
    """

    system: "System"
    evaluation: "Evaluation | None"
    sheet: Sheet
    listed: Table
    unscored: int = 0
    warnings: Sequence[str] = ()
    problem: SetupError | None = None
    explained: bool = True
    mark: Hashable = None
    part: "Chosen | None" = None
    own: "Dataset | None" = None

    @property
    def results(self) -> "RunResults":
        """The run that was measured, without overrides where these were left out."""
        assert self.system.results is not None
        return self.system.results

    @property
    def gold(self) -> "Dataset | None":
        """The human labels that it was compared with."""
        return self.evaluation.matched.dataset if self.evaluation else None


@dataclass(frozen=True)
class Measuring:
    """How far a measure is. `scores`: what is known by now, where that is more than before."""

    what: str
    done: int = 0
    total: int = 0
    scores: Scores | None = field(default=None, repr=False)


def measure_labels(
    results: "RunResults",
    gold: "Dataset | None",
    known: Sequence[Scores] = (),
    chosen: Chosen | None = None,
    own: "Dataset | None" = None,
) -> Job[Scores]:
    """All but the explanations: against human labels where they fit, else what the run says by itself; of the
    `chosen` slice alone, if any. `own`: the run's dataset, where it is there.

    Where the same run and labels were measured already, the result is what is `known`.
    """

    def work(control: JobControl) -> Scores:
        whole = measured_mark(results, gold)
        mark = whole if chosen is None else (whole, chosen)
        for scores in known:
            if scores.mark == mark and (scores.evaluation is not None or scores.own is own):
                return with_annotators(scores, results if chosen is None else results.only(chosen.part.known))
        return replace(_measured(results, gold, control, chosen, own), mark=mark, part=chosen)

    return work


def _measured(
    results: "RunResults",
    gold: "Dataset | None",
    control: JobControl,
    chosen: Chosen | None,
    own: "Dataset | None",
) -> Scores:
    from engine.measure.evaluation import evaluate_labels
    from engine.measure.matching import match
    from engine.measure.systems import system_of_run

    system = system_of_run(results)
    alone = system if chosen is None else system.only(chosen.part.known)
    if gold is None or not results.judged:
        return _alone(alone, None, chosen, own)
    try:
        matched = match(system, gold, partial=True)
    except SetupError as error:
        hint = "Choose the judged dataset, with its labels, under “Choose labels…”."
        return _alone(alone, SetupError(error.problem, hint), chosen, own)
    if chosen is not None:
        try:
            matched = matched.only(chosen.part.known, chosen.words, chosen.part.caveat)
        except SetupError as error:
            return _alone(alone, error, chosen, own)
    return _against_labels(evaluate_labels(matched, control.cancel), explained=not system.explains)


def measure_explanations(scores: Scores) -> Job[Scores]:
    """The same scores with ROUGE-L; reports Measuring after each criterion."""

    def work(control: JobControl) -> Scores:
        from engine.measure.evaluation import explanation_steps

        found = scores
        if scores.evaluation is None:
            return found
        names = list(scores.evaluation.matched.pairs)
        control.report(_measuring(names, 0, None))
        for done, evaluation in enumerate(explanation_steps(scores.evaluation), start=1):
            found = with_explanations(found, evaluation, explained=done == len(names))
            control.cancel.raise_if_requested()
            control.report(_measuring(names, done, found))
        return with_explanations(found, found.evaluation, explained=True) if found.evaluation else found

    return work


def _measuring(names: Sequence[str], done: int, scores: Scores | None) -> Measuring:
    what = words(names[min(done, len(names) - 1)])
    return Measuring(f"Measuring the explanations: {what} …", done, len(names), scores)


def _alone(
    system: "System", problem: SetupError | None, chosen: Chosen | None, own: "Dataset | None"
) -> Scores:
    """What a run says by itself."""
    from engine.decisions.gaps import incomplete
    from engine.measure.matching import annotator_caveats
    from engine.report.audit_sheet import audit_of_copies, with_audit
    from engine.report.evaluation_sheet import run_sheet

    results = system.results
    assert results is not None
    run = results.run
    caveats = ["\n".join(problem_of(problem))] if problem else []
    if chosen is not None:
        caveats += filter(None, [f"Only one slice is shown: {chosen.words}.", chosen.part.caveat])
    caveats += [] if run.complete else [incomplete(results)]
    caveats += [run.device_left_in_words] if run.device_left else []
    said = [*filter(None, [results.one_label_sentence]), *([] if problem else [_NO_LABELS])]
    sheet = run_sheet(system, [*caveats, *annotator_caveats(system)], said, IN_THE_WINDOW.of, own)
    sheet = with_audit(sheet, audit_of_copies(results, own))
    return Scores(system, None, sheet, *_unscored(results), problem=problem, own=own)


def _unscored(results: "RunResults") -> tuple[Table, int]:
    """The first judgments that could not be made, and how many there are."""
    from engine.report.run_tables import unscored_table

    table = unscored_table(results)
    return replace(table, rows=table.rows[:_MOST_UNSCORED]), len(table.rows)


def _against_labels(evaluation: "Evaluation", explained: bool, warnings: Sequence[str] = ()) -> Scores:
    from engine.report.audit_sheet import audit_of_copies, with_audit
    from engine.report.evaluation_sheet import evaluation_sheet

    system = evaluation.matched.system
    assert system.results is not None
    found = audit_of_copies(system.results, evaluation.matched.dataset)
    sheet = with_audit(evaluation_sheet(evaluation, IN_THE_WINDOW.of), found)
    scores = Scores(system, evaluation, sheet, *_unscored(system.results), warnings=warnings)
    return with_explanations(scores, evaluation, explained)


def with_annotators(scores: Scores, results: "RunResults") -> Scores:
    """The same scores with the annotations of the run by now, which is all that may differ in `results`."""
    if scores.results.reviews == results.reviews:
        return scores
    system, evaluation = replace(scores.system, results=results.answered), scores.evaluation
    if evaluation is None:
        made = _alone(system, scores.problem, scores.part, scores.own)
    else:
        evaluation = replace(evaluation, matched=replace(evaluation.matched, system=system))
        made = _against_labels(evaluation, scores.explained, scores.warnings)
    return replace(made, mark=scores.mark, part=scores.part)


def with_annotators_of(known: Scores, scores: Scores) -> Scores:
    """What is known of a run, with its annotations as the newer scores of it have it."""
    if known.results.reviews == scores.results.reviews:
        return known
    if known.evaluation is None or scores.evaluation is None:
        return scores
    evaluation = replace(known.evaluation, matched=scores.evaluation.matched)
    return with_explanations(replace(scores, warnings=known.warnings), evaluation, known.explained)


def with_explanations(scores: Scores, evaluation: "Evaluation", explained: bool) -> Scores:
    """The same scores with what is known of the explanations by now; `explained`: True for all of it."""
    from engine.report.measure_tables import explanation_section

    section = explanation_section(evaluation, scores.warnings)
    # While they are measured the section stands there before its table does.
    there = bool(evaluation.explanations) or not explained
    sheet = scores.sheet.with_section(section) if there else scores.sheet.without(section.key)
    return replace(scores, evaluation=evaluation, sheet=sheet, explained=explained)
