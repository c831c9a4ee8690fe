"""Jobs that measure a run: its labels and explanations, without a model and with one; weighted scoring:
decide all items by weighted criteria, and fit the weights.
"""

from collections import Counter
from collections.abc import Generator, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engine.core.errors import SetupError
from engine.core.events import MeasureProgress, followed
from engine.core.formatting import words
from engine.core.judgments import FittedOn, Overlap
from engine.core.tables import Sheet, Table
from engine.settings.rows import default_context
from engine.system.files import check_targets
from gui.results.run_weights import BY_HAND, WeightsChoice
from gui.widgets.notice import IN_THE_WINDOW, problem_of
from gui.workspace.file_jobs import Chosen
from gui.workspace.open_run import measured_mark
from gui.workspace.threads import AtWork, JobControl, job, worker

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.metrics.evaluation import Evaluation
    from engine.metrics.explanations import ModelScores
    from engine.metrics.matching import Matched, System
    from engine.ranking.weighted_scoring import ScoredPairs, WeightedScoring
    from engine.results.run_results import RunResults

_MOST_UNSCORED = 1000  # in a table on the thread of the window
_NO_LABELS = (
    "There are no human labels for this run. With them you see the judge's accuracy here, compared"
    " with baselines: choose a labelled dataset with “Choose labels…”."
)


@dataclass(frozen=True)
class Scores:
    """What is known of a run so far, and the sheet that says it."""

    system: "System"
    evaluation: "Evaluation | None"
    sheet: Sheet
    listed: Table  # the first judgments that could not be made
    unscored: int = 0  # how many there are
    warnings: Sequence[str] = ()  # of models that measured
    problem: SetupError | None = None  # why the loaded labels cannot be used
    explained: bool = True  # all explanations are measured, or there are none
    mark: Hashable = None  # what all of this depends on, by value
    part: Chosen | None = None  # the slice that alone was measured
    own: "Dataset | None" = None  # the run's dataset, with labels or without, where it is there

    @property
    def results(self) -> "RunResults":
        """The run that was measured, without overrides where these were left out."""
        assert self.system.results is not None
        return self.system.results

    @property
    def gold(self) -> "Dataset | None":
        return self.evaluation.matched.dataset if self.evaluation else None


@dataclass(frozen=True)
class Measuring(AtWork):
    scores: Scores | None = field(default=None, repr=False)  # what is known by now, where that is more


@job
def measure_labels(
    control: JobControl,
    results: "RunResults",
    gold: "Dataset | None",
    *,
    known: Sequence[Scores] = (),
    chosen: Chosen | None = None,
    own: "Dataset | None" = None,
) -> Scores:
    """All but the explanations: against human labels where they fit, else what the run says by itself. Of the
    `chosen` slice alone, if any. `known`: what was measured before, and is not measured again.
    """
    whole = measured_mark(results, gold)
    mark = whole if chosen is None else (whole, chosen)
    for scores in known:
        if scores.mark == mark and (scores.evaluation is not None or scores.own is own):
            return with_annotators(scores, results if chosen is None else results.only(chosen.part.known))
    return replace(_measured(results, gold, control, chosen, own), mark=mark, part=chosen)


def _measured(
    results: "RunResults",
    gold: "Dataset | None",
    control: JobControl,
    chosen: Chosen | None,
    own: "Dataset | None",
) -> Scores:
    from engine.metrics.evaluation import evaluate_labels
    from engine.metrics.matching import match, system_of_run

    system = system_of_run(results)
    alone = system if chosen is None else system.only(chosen.part.known)
    if gold is None or not results.judged or results.run.by_hand:
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


@job
def measure_explanations(control: JobControl, scores: Scores) -> Scores:
    """The same scores with ROUGE-L; reports Measuring after each criterion."""
    from engine.metrics.evaluation import explanation_steps

    if scores.evaluation is None:
        return scores
    names, found = list(scores.evaluation.matched.pairs), scores
    titles = [f"Measuring the explanations: {words(name)} …" for name in (*names, names[-1])]
    control.report(Measuring(titles[0], 0, len(names)))
    for done, evaluation in enumerate(explanation_steps(scores.evaluation), start=1):
        found = with_explanations(found, evaluation, explained=done == len(names))
        control.cancel.raise_if_requested()
        control.report(Measuring(titles[done], done, len(names), found))
    return with_explanations(found, found.evaluation, explained=True) if found.evaluation else found


def _alone(
    system: "System", problem: SetupError | None, chosen: Chosen | None, own: "Dataset | None"
) -> Scores:
    from engine.metrics.matching import annotator_caveats
    from engine.report.audit import audit_of_copies, with_audit
    from engine.report.evaluation import run_sheet
    from engine.results.completeness import incomplete

    results = system.results
    assert results is not None
    run = results.run
    caveats = ["\n".join(problem_of(problem))] if problem else []
    if chosen is not None:
        caveats += filter(None, [f"Only one slice is shown: {chosen.words}.", chosen.part.caveat])
    caveats += [] if run.complete else [incomplete(results)]
    caveats += [run.device_left_in_words] if run.device_left else []
    nothing = results.joined_in_words if run.by_hand else _NO_LABELS
    said = [*filter(None, [results.one_label_sentence]), *([] if problem else [nothing])]
    sheet = run_sheet(system, [*caveats, *annotator_caveats(system)], said, IN_THE_WINDOW.of, own)
    sheet = with_audit(sheet, audit_of_copies(results, own))
    return Scores(system, None, sheet, *_unscored(results), problem=problem, own=own)


def _unscored(results: "RunResults") -> tuple[Table, int]:
    from engine.report.run import unscored_table

    table = unscored_table(results)
    return replace(table, rows=table.rows[:_MOST_UNSCORED]), len(table.rows)


def _against_labels(evaluation: "Evaluation", explained: bool, warnings: Sequence[str] = ()) -> Scores:
    from engine.ranking.labelled_part import corrected_shares
    from engine.report.audit import audit_of_copies, with_audit
    from engine.report.correction import favour_sections, share_sections
    from engine.report.evaluation import evaluation_sheet
    from engine.report.rankings import apart_of

    system = evaluation.matched.system
    assert system.results is not None
    found = audit_of_copies(system.results, evaluation.matched.dataset)
    shares = corrected_shares(system, evaluation.matched.dataset)
    more = [*favour_sections(apart_of(evaluation.matched)), *share_sections(shares)]
    sheet = with_audit(evaluation_sheet(evaluation, IN_THE_WINDOW.of, more), found)
    scores = Scores(system, evaluation, sheet, *_unscored(system.results), warnings=warnings)
    return with_explanations(scores, evaluation, explained)


def with_annotators(scores: Scores, results: "RunResults") -> Scores:
    """The same scores with the annotations and the name of the run by now, which alone may differ."""
    from engine.metrics.matching import system_of_run

    name = system_of_run(results).name
    if scores.results.reviews == results.reviews and scores.system.name == name:
        return scores
    system = replace(scores.system, name=name, results=results.answered)
    evaluation = scores.evaluation
    if evaluation is None:
        made = _alone(system, scores.problem, scores.part, scores.own)
    else:
        evaluation = replace(evaluation, matched=replace(evaluation.matched, system=system))
        made = _against_labels(evaluation, scores.explained, scores.warnings)
    return replace(made, mark=scores.mark, part=scores.part)


def with_annotators_of(known: Scores, scores: Scores) -> Scores:
    """What is known of a run, with its annotations and its name as the newer scores of it have it."""
    if (known.results.reviews, known.system.name) == (scores.results.reviews, scores.system.name):
        return known
    if known.evaluation is None or scores.evaluation is None:
        return scores
    evaluation = replace(known.evaluation, matched=scores.evaluation.matched)
    return with_explanations(replace(scores, warnings=known.warnings), evaluation, known.explained)


def with_explanations(scores: Scores, evaluation: "Evaluation", explained: bool) -> Scores:
    """The same scores with what is known of the explanations by now; `explained`: True for all of it."""
    from engine.report.evaluation import explanation_section

    section = explanation_section(evaluation, scores.warnings)
    # While they are measured the section stands there before its table does.
    there = bool(evaluation.explanations) or not explained
    sheet = scores.sheet.with_section(section) if there else scores.sheet.without(section.key)
    return replace(scores, evaluation=evaluation, sheet=sheet, explained=explained)


_Found = TypeVar("_Found")


class ModelMeasure(StrEnum):
    BERTSCORE = "BERTScore"
    AGREEMENT = "agreement"


@job
def look_at_model(_control: JobControl, measure: ModelMeasure, path: Path) -> tuple[str, str]:
    """The name of a model that could measure, by its file's header, and what to know before, empty for
    nothing. Raises ModelFileError.
    """
    from engine.models.encoder_file import read_encoder_file
    from engine.models.model_file import read_model_file

    if measure is ModelMeasure.BERTSCORE:
        encoder = read_encoder_file(path)
        return encoder.name, encoder.notice
    model = read_model_file(path)
    return model.name, " ".join(model.remarks)


@job
def cut_encoder(control: JobControl, path: Path, target: Path, in_use: Mapping[str, Path]) -> Path:
    """Write a copy of an encoder with the layers alone that bert-score computes with, over no file in use."""
    from engine.models.encoder_file import cut_to_scored_layers

    check_targets({"the copy": target}, {**in_use, "encoder": path})
    with worker(cut_to_scored_layers, control) as cutter:
        return followed(cutter.do(path, target), control.report)


@job
def measure_with_model(
    control: JobControl, measure: ModelMeasure, scores: Scores, path: Path, store_path: Path
) -> Scores:
    """The same scores with what a model says of the explanations; reports Measuring. What the store remembers
    is not measured again: a job that was cancelled goes on where it was.
    """
    from engine.metrics.evaluation import with_model_scores

    assert scores.evaluation is not None  # without human explanations there is nothing to ask about
    ask = _bertscore if measure is ModelMeasure.BERTSCORE else _agreement
    found, warnings = ask(scores.evaluation.matched, path, store_path, control)
    warned = replace(scores, warnings=[*scores.warnings, *warnings])
    return with_explanations(warned, with_model_scores(scores.evaluation, found), explained=True)


_Answer = tuple["Mapping[str, ModelScores]", Sequence[str]]  # what a model found, and what to know of it


def _bertscore(matched: "Matched", path: Path, store_path: Path, control: JobControl) -> _Answer:
    from engine.metrics.explanations import ModelScores
    from engine.metrics.model_measures import measure_bertscore, score_texts
    from engine.models.checked_model import checked_model, in_use
    from engine.models.encoder_file import read_encoder_file
    from engine.models.opening import machine_settings

    described = read_encoder_file(path)
    control.report(Measuring(f"Trying {described.name} …"))
    with worker(score_texts, control) as scorer:
        encoder = checked_model(described, control.cancel)
        score = partial(scorer.do, encoder, machine_settings(None), store_path)
        with in_use(encoder):
            found = _followed("BERTScore", measure_bertscore(matched, score), control)
    model_scores = {name: ModelScores(bertscores=column) for name, column in found.items()}
    return model_scores, [described.notice] if described.notice else []


def _agreement(matched: "Matched", path: Path, store_path: Path, control: JobControl) -> _Answer:
    from engine.metrics.explanations import ModelScores
    from engine.metrics.model_measures import agreement_warnings, ask_questions, measure_agreements
    from engine.models.checked_model import checked_model, in_use
    from engine.models.memory import check_memory
    from engine.models.model_file import read_model_file
    from engine.models.opening import machine_settings

    described = read_model_file(path)
    tight = check_memory(described, default_context(described.trained_context))
    control.report(Measuring(f"Trying {described.name} …"))
    with worker(ask_questions, control) as asker:
        model = checked_model(described, control.cancel)
        ask = partial(asker.do, model, machine_settings(None), store_path)
        with in_use(model):
            found = _followed("Agreement", measure_agreements(matched, ask), control)
    model_scores = {name: ModelScores(agreements=column) for name, column in found.items()}
    return model_scores, [*filter(None, [tight]), *agreement_warnings(found)]


def _followed(what: str, asking: "Generator[MeasureProgress, None, _Found]", control: JobControl) -> _Found:
    def tell(event: MeasureProgress) -> None:
        text = f"{what}: {event.done:,} of {event.total:,} explanations …"
        control.report(Measuring(text, event.done, event.total))

    return followed(asking, tell)


Share = tuple[float, tuple[float, float] | None]
"""0 to 1, and its 95 % interval."""

MARGIN_BINS = 20
HIGHEST_MARGIN = 10.0  # points: that of two responses with the scores 10 and 0 on every criterion


@dataclass(frozen=True)
class WeightedResult:
    tie_threshold: float
    comparisons: int
    left_out: int
    rates: Mapping[str, Share]  # by `A`, `B` and `tie`; an interval where the instructions are known
    mean_margin: float
    bins: Sequence[tuple[int, int, int]]  # how many A wins, B wins and ties have such a margin
    agreement: Table | None = None
    caveats: Sequence[str] = ()  # what must be said before all of it


@dataclass(frozen=True)
class Basis:
    """A run, the human labels that fit it, and its response scores by the criteria that count; the last three
    are found on the jobs' thread.
    """

    system: "System"
    gold: "Dataset | None"
    own: "Dataset | None" = None  # the run's dataset, if it is there
    known: "dict[tuple[str, ...], ScoredPairs]" = field(default_factory=dict, compare=False, repr=False)
    overlaps: dict[FittedOn, Overlap] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def items(self) -> "Dataset | None":
        """Whose instructions give the intervals where there are no human labels; None if it is not there."""
        from engine.results.run_dataset import dataset_of_run

        if self.own is not None or self.gold is not None or self.system.results is None:
            return self.own
        try:
            return dataset_of_run(self.system.results.run)
        except SetupError:
            return None


@job
def weigh(_control: JobControl, basis: Basis, request: WeightsChoice) -> WeightedResult:
    """Decide all items of the run. SetupError where no criterion counts, or none is informative."""
    from engine.report.weighted_scoring import overall_agreement_table

    found = weighed(basis, request)
    found.informative.check()
    return WeightedResult(
        request.tie_threshold,
        comparisons=len(found.result["results"]),
        left_out=len(found.left_out),
        rates=found.rates,
        mean_margin=found.result["avg_margin"],
        bins=_bins(found),
        agreement=overall_agreement_table(found.agreement) if found.agreement else None,
        caveats=[*found.informative.sentences, *filter(None, [found.fit_in_words])],
    )


def weighed(basis: Basis, request: WeightsChoice) -> "WeightedScoring":
    from engine.ranking.weighted_scoring import weigh

    weights = _weights(basis, request)
    pairs = _scored_pairs(basis, tuple(weights))
    made = weigh(pairs, weights, request.tie_threshold, basis.gold, basis.system, items=basis.items)
    return replace(made, fit_in_words=_fit_in_words(basis, request))


def _fit_in_words(basis: Basis, request: WeightsChoice) -> str:
    """How many of the items took part in the fit that the weights come from; empty where none did."""
    if request.fit is None:
        return ""
    fitted_on, gold, system = request.fit.fitted_on, basis.gold, basis.system
    if fitted_on not in basis.overlaps:
        basis.overlaps[fitted_on] = (
            fitted_on.overlap_of_hashes(system.content_hashes.values())
            if gold is None
            else fitted_on.overlap(item for item in gold if item.id in system.rows)
        )
    began = "the weights that these were set from" if request.source == BY_HAND else "the weights"
    return request.fit.in_words(basis.overlaps[fitted_on], began)


@job
def decided_items(
    _control: JobControl,
    basis: Basis,
    request: WeightsChoice,
    winner: str | None,
    margins: tuple[float, float] | None = None,
) -> frozenset[str]:
    """The ids of the items with a winner (`A`, `B` or `tie`; None for any) and a margin from the first of
    two on, below the second; the highest bin holds all above it too.
    """
    low, high = margins or (0.0, HIGHEST_MARGIN)
    high = inf if high >= HIGHEST_MARGIN else high
    decided = weighed(basis, request).result["results"]
    of_winner = (each for each in decided if winner in (None, each["winner"]))
    return frozenset(each["id"] for each in of_winner if low <= each["margin"] < high)


def _weights(basis: Basis, request: WeightsChoice) -> dict[str, float]:
    known = basis.system.criteria
    weights = {name: weight for name, weight in request.weights.items() if weight > 0 and name in known}
    if not weights:
        raise SetupError("All weights are 0.", "Give at least one criterion a weight.")
    return weights


def _scored_pairs(basis: Basis, criteria: tuple[str, ...]) -> "ScoredPairs":
    from engine.ranking.weighted_scoring import scored_pairs_of

    if criteria not in basis.known:
        basis.known[criteria] = scored_pairs_of(basis.system, criteria)
    return basis.known[criteria]


def _bins(weighted_scoring: "WeightedScoring") -> list[tuple[int, int, int]]:
    counts = Counter(
        (min(MARGIN_BINS - 1, int(decision["margin"] * MARGIN_BINS / HIGHEST_MARGIN)), decision["winner"])
        for decision in weighted_scoring.result["results"]
    )
    return [(counts[place, "A"], counts[place, "B"], counts[place, "tie"]) for place in range(MARGIN_BINS)]


@dataclass(frozen=True)
class Fitted:
    """Weights that fit the human overall labels best, the largest 10; `note`: what to say of the ranges."""

    source: str
    request: WeightsChoice
    weights: Table
    quality: Table
    note: str


@job
def fit(_control: JobControl, basis: Basis, request: WeightsChoice) -> Fitted:
    """Fit the weights that are not 0, and the tie threshold, to human overall labels. Raises SetupError."""
    from engine.operations.measuring import fit_weights_to
    from engine.report.weighted_scoring import RANGES, fit_table, fitted_weight_table, ranges_in_words

    gold = basis.gold
    if gold is None:
        raise SetupError("There are no human labels to fit weights to.", "Choose them with “Choose labels…”.")
    criteria = tuple(_weights(basis, request))
    found, kept = fit_weights_to(gold, _scored_pairs(basis, criteria), criteria)
    largest = max(found.weights.values())
    weights = {name: HIGHEST_MARGIN * weight / largest for name, weight in found.weights.items()}
    rest = dict.fromkeys(basis.system.criteria, 0.0)
    source = f"fitted on {gold.name}"
    of_request = f"as {source} ({ranges_in_words(found)})"
    fitted = WeightsChoice(rest | weights, found.tie_threshold, of_request, kept)
    return Fitted(source, fitted, fitted_weight_table(found), fit_table(found), RANGES)
