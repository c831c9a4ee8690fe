"""How a ranking was made, as a paragraph for a paper: each sentence with the source of its numbers.

Knows: the facts of runs, which methods a ranking uses. Does not know: formulas, terminals, files.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core import VERSION
from engine.core.formatting import counted, listed, visible, words
from engine.core.run_records import CERTAINTY, JUDGES
from engine.core.settings import USUAL_WAYS, ways_in_words
from engine.decisions.run_results import RunResults
from engine.rank.by_labels import ByLabels
from engine.rank.contests import left_out_in_words
from engine.rank.correction import Correction
from engine.rank.labelled_part import LabelledPart
from engine.rank.ranking import Ranking
from engine.rank.strengths import DRAWS
from engine.report.ranked_by import RankedBy
from engine.report.run_facts import judged_model, run_facts

_MOST_NAMES = 100
_EXAMPLES = "labelled examples, SHA-256"
"""Among the facts of a run."""


@dataclass(frozen=True)
class Statement:
    """A sentence of a paragraph of methods, and where what it says is written down."""

    text: str
    source: str


def methods_text(ranked: RankedBy, ranking: Ranking, seed: int, corrected: ByLabels | None = None) -> str:
    """The paragraph, with numbers of sources in brackets, and the sources below it; `seed`: of the draws;
    `corrected`: what people's labels make of it.
    """
    said = methods(ranked, ranking, seed, corrected)
    sources = list(dict.fromkeys(each.source for each in said))
    paragraph = " ".join(f"{each.text} [{sources.index(each.source) + 1}]" for each in said)
    lines = [f"[{number}] {source}" for number, source in enumerate(sources, 1)]
    return visible("\n".join([paragraph, "", "Where the numbers come from:", *lines, ""]))


def methods(
    ranked: RankedBy, ranking: Ranking, seed: int, corrected: ByLabels | None = None
) -> Sequence[Statement]:
    """What is to be said of a ranking: its data, its labels, its numbers, and how these are corrected."""
    said = [*_data(ranked, ranking), *_labels(ranked), *_numbers(ranking, seed)]
    if corrected is not None and corrected.part is not None and corrected.correction is not None:
        said += _correction(ranked, corrected.part, corrected.correction, seed)
    return said


def _data(ranked: RankedBy, ranking: Ranking) -> Iterator[Statement]:
    dataset, contests = ranked.dataset, ranking.contests
    known = int(np.sum(contests.known))
    pairs = counted(len(contests), "pair of responses", "pairs of responses")
    labelled = "" if known == len(contests) else f", {known:,} of which have a label and count"
    instructions = len(np.unique(contests.instructions))
    compared = (
        f"{counted(len(contests.names), 'candidate', 'candidates')}"
        f" ({listed(contests.names, _MOST_NAMES)}) were compared in {pairs} to"
        f" {counted(instructions, 'instruction', 'instructions')}{labelled}."
    )
    yield Statement(
        " ".join(filter(None, (compared, left_out_in_words(contests.left_out)))),
        f"{dataset.path.name}, its columns that name candidates; SHA-256 of its texts {dataset.hash}",
    )


def _labels(ranked: RankedBy) -> Iterator[Statement]:
    dataset, system, criterion = ranked.dataset, ranked.system, ranked.criterion
    results = system.results if system is not None else None
    if system is None and criterion is not None:
        several = any(item.gold[criterion].annotators for item in dataset if criterion in item.gold)
        label = "the shares of its annotators' labels" if several else "one label"
        yield Statement(
            f"The labels are people's, on {words(criterion)}: of each pair {label}.",
            f"{dataset.path.name}, the columns of human labels",
        )
    elif system is not None and (results is None or results.run.submitted):
        on = "" if criterion is None else f" on {words(criterion)}"
        yield Statement(
            f"The labels{on} are those of {system.name}; of how they were made nothing is known.",
            f"the submission file {system.path or system.name}",
        )
    elif results is not None:
        yield from _judge(results, criterion)
    if ranked.weighing is not None:
        weights = ", ".join(f"{words(name)} {weight:g}" for name, weight in ranked.weighing.weights.items())
        yield Statement(
            f"The winner of a pair is that of the weighted sum of scores ({weights}); differences up to"
            f" {ranked.weighing.tie_threshold:g} points are ties.",
            f"Tiebreak {VERSION}, docs/measures.md, Weighted judge; weights as given to the command or the"
            " rubric",
        )


def _panel(results: RunResults) -> Iterator[Statement]:
    run = results.run
    judges = "; ".join(
        f"{number}, {each.get('what', '')}" for number, each in enumerate(run.manifest[JUDGES], start=1)
    )
    how = "by what a calibration makes" if results.calibration else "by the mean"
    certainty = run.manifest.get(CERTAINTY)
    alone = "" if certainty is None else f"; a label of a submission counts as a probability of {certainty}"
    yield Statement(
        f"{counted(len(run.judges), 'judge decides', 'judges decide')} together: {judges}. The label is the"
        f" likeliest of four (A, B, both good, both bad) {how} of their log-probabilities{alone}.",
        f"Tiebreak's store, run {run.id}; docs/measures.md, Panels",
    )
    yield _calibrated(results, dict(run_facts(results).pairs))


def _calibrated(results: RunResults, facts: Mapping[str, str]) -> Statement:
    calibration = results.calibration
    return Statement(
        f"Its probabilities were calibrated {results.calibrated_in_words}."
        + (f" {calibration.looks_at}" if calibration.parts else "")
        if calibration
        else "Its probabilities were not calibrated.",
        f"Tiebreak's store, run {facts['run']}; calibration {facts['calibration']}",
    )


def _judge(results: RunResults, criterion: str | None) -> Iterator[Statement]:
    run = results.run
    if run.panel:
        yield from _panel(results)
        return
    identity, facts = run.identity, dict(run_facts(results).pairs)
    model = judged_model(run)
    quantisation = model.quantisation if model else "quantisation not known, the file is gone or another"
    source = f"Tiebreak's store, run {facts['run']}"
    yield Statement(
        f"The judge is {identity.model_name} ({quantisation}), run with"
        f" {facts.get('llama.cpp', 'a build of llama.cpp that is not known')}.",
        f"{source}; model file {identity.model_path.name}, SHA-256 {identity.model_hash}; quantisation: the"
        " header of that file",
    )
    asked = [each for each in identity.asked.criteria if criterion in (None, each.name)]
    questions = "; ".join(f"{words(each.name)}, “{' '.join(each.question.split())}”" for each in asked)
    ways = identity.ways_in_words or ways_in_words(USUAL_WAYS)
    examples = ", with labelled examples" if facts.get(_EXAMPLES) else ""
    yield Statement(
        f"It was asked by prompt version {identity.prompt_version} of Tiebreak, by {ways}{examples}:"
        f" {questions}. Items were read in {facts['read in']}; a label is the likeliest of four (A, B, both"
        " good, both bad) by the model's probabilities of tokens.",
        f"{source}: prompt version, rubric, settings; docs/how-it-judges.md",
    )
    if run.stopped_early:
        asked_for = f", {run.until.in_words}," if run.until is not None else ""
        yield Statement(
            f"Instructions were judged in a random order{asked_for} and {run.judged:,} of"
            f" {counted(identity.items, 'item', 'items')} were read: since that hangs on what was found,"
            " rates may lie too far from 50 %, and their intervals with them.",
            f"{source}: its random order",
        )
    yield _calibrated(results, facts)
    people = facts["given by people"]
    yield Statement(
        "All labels are the judge's."
        if people == "nothing"
        else f"In the place of the judge's labels stand people's: {people}.",
        f"{source}, what people said of it",
    )


def _numbers(ranking: Ranking, seed: int) -> Iterator[Statement]:
    yield Statement(
        "A win rate is the share of contests won, a tie counting half; its 95 % interval is that of Korn and"
        " Graubard (1998) over instructions.",
        f"Tiebreak {VERSION}, docs/measures.md, Intervals and tests",
    )
    if ranking.strengths is not None:
        yield Statement(
            "Strengths are the largest likelihood of the Bradley-Terry model with ties (Davidson 1970); their"
            f" 95 % intervals are expanded percentiles (Hesterberg 2015) of {DRAWS:,} bootstrap draws of"
            f" instructions (seed {seed}), and"
            " two candidates are told apart where their difference is sure at 5 % over all pairs (Holm"
            " 1979).",
            f"Tiebreak {VERSION}, engine/rank/strengths.py",
        )
    if ranking.lengths is not None and ranking.lengths.rates:
        yield Statement(
            "Win rates at equal length are those of a logistic regression on candidates and the difference of"
            " lengths, after Dubois and others (2024).",
            f"Tiebreak {VERSION}, engine/rank/lengths.py",
        )


def _correction(
    ranked: RankedBy, part: LabelledPart, correction: Correction, seed: int
) -> Iterator[Statement]:
    """Nothing where there are too few labels for any candidate: then no number is corrected."""
    if not correction.candidates:
        return
    results = ranked.system.results if ranked.system is not None else None
    kept = f"{ranked.dataset.path.name}, the columns of human labels"
    of_run = f"Tiebreak's store, run {results.run.id}, what people said of it; {kept}" if results else kept
    yield Statement(f"Labels of people correct these numbers. {' '.join(part.sentences)}", of_run)
    drawn = (
        " Corrected strengths are fitted to the likelihood that is corrected in the same way, with intervals"
        f" of {DRAWS:,} draws of instructions (seed {seed})."
        if correction.strengths is not None
        else ""
    )
    yield Statement(
        "Corrected win rates are those of prediction-powered inference with a tuned weight (Angelopoulos and"
        " others 2023), with 95 % intervals by Wilson's formula and Student's t over labelled"
        f" instructions.{drawn}",
        f"Tiebreak {VERSION}, docs/measures.md, A judge corrected by labels",
    )
