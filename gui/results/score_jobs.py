"""Jobs that measure a run: its labels and its explanations, as far as no model is needed.

Knows: in which order a run is measured, and which texts show it. Does not know: windows.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from engine.core.errors import SetupError
from engine.core.formatting import words
from engine.core.value_tables import Table
from gui.kit.remedies import IN_THE_WINDOW
from gui.work.file_jobs import Chosen
from gui.work.lanes import Job, JobControl
from gui.work.marks import measured_mark

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults
    from engine.measure.evaluation import Evaluation
    from engine.measure.people_agreement import PeopleAgreement
    from engine.measure.systems import System

_MOST_UNSCORED = 1000  # in a table on the thread of the window


class ScoreTable(StrEnum):
    """The tables that a run may have."""

    LABELS_GIVEN = "labels given"
    ACCURACY = "accuracy"
    LABELS = "labels"
    WAYS = "ways of asking"
    PEOPLE = "people"
    PAIRS = "pairs of people"
    EXPLANATIONS = "explanations"
    UNSCORED = "unscored"


_OF_PEOPLE = (ScoreTable.PEOPLE, ScoreTable.PAIRS)


@dataclass(frozen=True)
class Scores:
    """What is known of a run so far, and the texts that show it.

    `evaluation`: None without human labels; `problem`: why the labels at hand cannot be used, if so.
    `unscored`: how many judgments could not be made; their table holds the first of them. `explained`: True
    once all explanations are measured, or where there are none. `warnings`: what is to be said of models that
    measured. `caveats` and `sentences` are for people. `mark`: what all of this depends on, by value.
    `part`: the slice that alone was measured, None for all items.
    """

    system: "System"
    evaluation: "Evaluation | None"
    tables: Mapping[ScoreTable, Table]
    unscored: int = 0
    caveats: Sequence[str] = ()
    sentences: Sequence[str] = ()
    warnings: Sequence[str] = ()
    problem: SetupError | None = None
    explained: bool = True
    mark: Hashable = None
    part: "Chosen | None" = None

    @property
    def results(self) -> "RunResults":
        """The run that was measured, without overrides where these were left out."""
        assert self.system.results is not None
        return self.system.results

    @property
    def gold(self) -> "Dataset | None":
        """The human labels that it was held against."""
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
) -> Job[Scores]:
    """All but the explanations: against human labels where they fit, else what the run says by itself; of the
    `chosen` slice alone, if any.

    Where the same run and labels were measured already, the result is what is `known`.
    """

    def work(control: JobControl) -> Scores:
        whole = measured_mark(results, gold)
        mark = whole if chosen is None else (whole, chosen)
        for scores in known:
            if scores.mark == mark:
                return with_people(scores, results if chosen is None else results.only(chosen.part.known))
        return replace(_measured(results, gold, control, chosen), mark=mark, part=chosen)

    return work


def _measured(
    results: "RunResults", gold: "Dataset | None", control: JobControl, chosen: Chosen | None
) -> Scores:
    from engine.measure.evaluation import evaluate_labels
    from engine.measure.matching import match
    from engine.measure.systems import system_of_run

    system = system_of_run(results)
    alone = system if chosen is None else system.only(chosen.part.known)
    if gold is None or not results.judged:
        return _alone(alone, None, chosen)
    try:
        matched = match(system, gold, partial=True)
    except SetupError as error:
        remedy = "Choose the dataset that was judged, with its labels, under “Other labels…”."
        return _alone(alone, SetupError(error.problem, remedy), chosen)
    if chosen is not None:
        try:
            matched = matched.only(chosen.part.known, chosen.words)
        except SetupError as error:
            return _alone(alone, error, chosen)
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
        return replace(found, explained=True)

    return work


def _measuring(names: Sequence[str], done: int, scores: Scores | None) -> Measuring:
    what = words(names[min(done, len(names) - 1)])
    return Measuring(f"Measuring the explanations: {what} …", done, len(names), scores)


def _alone(system: "System", problem: SetupError | None, chosen: Chosen | None) -> Scores:
    """What a run says by itself."""
    from engine.decisions.gaps import incomplete
    from engine.measure.label_counts import count_run
    from engine.measure.matching import people_caveats
    from engine.measure.people_agreement import people_agreement
    from engine.report.run_tables import distribution_table

    results = system.results
    assert results is not None
    caveats = [] if chosen is None else [f"Only a slice is shown: {chosen.words}."]
    run = results.run
    caveats += _health(system) + ([] if run.complete else [incomplete(run)])
    caveats += [run.device_left_in_words] if run.device_left else []
    unscored, listed = _unscored(results)
    tables = {
        ScoreTable.LABELS_GIVEN: distribution_table(count_run(results)),
        ScoreTable.UNSCORED: listed,
        **_ways(results),
        **_people(people_agreement(results)),
    }
    found = [*caveats, *people_caveats(system)]
    said = [*_judges(system), *filter(None, [results.one_label_sentence])]
    return Scores(system, None, tables, unscored, found, said, problem=problem)


def _health(system: "System") -> list[str]:
    """What speaks against the judge; it comes before everything else."""
    return system.health.sentences(IN_THE_WINDOW.of) if system.health.doubted else []


def _judges(system: "System") -> list[str]:
    """Where nothing speaks against it, or nothing can be said; and how it was asked, where not as usual."""
    asked = system.results.run.identity.ways_in_words if system.results else ""
    ways = [f"The model was asked by {asked}."] if asked else []
    return ways if system.health.doubted else [system.health.headline, *ways]


def _ways(results: "RunResults", gold: "Dataset | None" = None) -> dict[ScoreTable, Table]:
    """What each way of asking alone would have said, where there are several."""
    from engine.measure.accuracy import accuracy_by_way
    from engine.report.way_tables import way_table

    by_way = results.by_way()
    table = way_table(by_way, accuracy_by_way(by_way, gold))
    return {} if table is None else {ScoreTable.WAYS: table}


def _unscored(results: "RunResults") -> tuple[int, Table]:
    """How many judgments could not be made, and the first of them."""
    from engine.report.run_tables import unscored_table

    table = unscored_table(results)
    return len(table.rows), replace(table, rows=table.rows[:_MOST_UNSCORED])


def _against_labels(evaluation: "Evaluation", explained: bool) -> Scores:
    from engine.report.findings import caveats, in_short
    from engine.report.measure_tables import accuracy_table, label_table

    system = evaluation.matched.system
    assert system.results is not None
    unscored, listed = _unscored(system.results)
    tables = {
        ScoreTable.ACCURACY: accuracy_table(evaluation),
        ScoreTable.LABELS: label_table(evaluation),
        ScoreTable.UNSCORED: listed,
        **_ways(system.results, evaluation.matched.dataset),
        **_people(evaluation.people),
    }
    return Scores(
        system,
        evaluation,
        tables,
        unscored,
        caveats=[*_health(system), *caveats(evaluation.matched)],
        sentences=[*_judges(system), *in_short(evaluation)],
        explained=explained,
    )


def _people(agreement: "PeopleAgreement | None") -> dict[ScoreTable, Table]:
    from engine.report.people_tables import among_people_table, people_pairs_table

    if agreement is None:
        return {}
    among = {ScoreTable.PEOPLE: among_people_table(agreement)} if agreement.among else {}
    return {**among, ScoreTable.PAIRS: people_pairs_table(agreement)}


def with_people(scores: Scores, results: "RunResults") -> Scores:
    """The same scores with what people say of the run by now, which is all that may differ in `results`."""
    from engine.measure.people_agreement import people_agreement
    from engine.report.measure_tables import accuracy_table

    if scores.results.reviews == results.reviews:
        return scores
    system = replace(scores.system, results=results)
    tables = {name: table for name, table in scores.tables.items() if name not in _OF_PEOPLE}
    if scores.evaluation is None:
        return replace(scores, system=system, tables=tables | _people(people_agreement(results)))
    evaluation = replace(scores.evaluation, matched=replace(scores.evaluation.matched, system=system))
    tables |= {ScoreTable.ACCURACY: accuracy_table(evaluation), **_people(evaluation.people)}
    return replace(scores, system=system, evaluation=evaluation, tables=tables)


def with_people_of(known: Scores, scores: Scores) -> Scores:
    """What is known of a run, with what people say of it as the newer scores of it have it."""
    if known.results.reviews == scores.results.reviews:
        return known
    tables = {name: table for name, table in known.tables.items() if name not in _OF_PEOPLE}
    newer = (*_OF_PEOPLE, ScoreTable.ACCURACY)
    tables |= {name: table for name, table in scores.tables.items() if name in newer}
    evaluation = known.evaluation
    if evaluation is not None and scores.evaluation is not None:
        evaluation = replace(evaluation, matched=scores.evaluation.matched)
    return replace(known, system=scores.system, evaluation=evaluation, tables=tables)


def with_explanations(scores: Scores, evaluation: "Evaluation", explained: bool) -> Scores:
    """The same scores with what is known of the explanations by now; `explained`: True for all of it."""
    from engine.report.measure_tables import explanation_table

    tables = dict(scores.tables)
    if evaluation.explanations:
        tables[ScoreTable.EXPLANATIONS] = explanation_table(evaluation)
    return replace(scores, evaluation=evaluation, tables=tables, explained=explained)
