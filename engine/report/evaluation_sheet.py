"""All that is shown of a run or a submission: which sections there are, in which order; first, in short, what
an evaluation says in sentences.

Knows: the sections, the words for measures. Does not know: how these are computed, terminals, HTML, windows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.core.formatting import counted, interval, percent, words
from engine.core.remedies import Hint
from engine.core.sheets import Section, Sentences, Sheet, Tone
from engine.data.dataset import Dataset
from engine.measure.evaluation import Evaluation
from engine.measure.label_measures import LabelMeasures
from engine.measure.people_agreement import agreement_of_annotators
from engine.measure.systems import System
from engine.report.measure_tables import BASELINE, accuracy_section, explanation_section, label_section
from engine.report.people_tables import annotator_sections
from engine.report.run_tables import labels_given_section, method_sections


def evaluation_sheet(
    evaluation: Evaluation, word: Callable[[Hint], str] = str, more: Iterable[Section] = ()
) -> Sheet:
    """What a judge is worth against human labels; `more`: what is known of it besides."""
    matched = evaluation.matched
    system = matched.system
    sections = [
        _in_short_section(system, [*matched.left_out, *matched.caveats], in_short(evaluation), word),
        accuracy_section(evaluation),
        label_section(evaluation),
        *method_sections(system.results, matched.dataset),
        *annotator_sections(evaluation.annotators),
        *([explanation_section(evaluation)] if evaluation.explanations else ()),
        *more,
    ]
    held = f"{evaluation.name} against the human labels of {matched.dataset.name}"
    title = f"{held}: {matched.items_in_words}"
    return Sheet(title, sections)


def run_sheet(
    system: System,
    doubts: Iterable[str],
    said: Iterable[str],
    word: Callable[[Hint], str] = str,
    own: Dataset | None = None,
) -> Sheet:
    """What a run says by itself, without human labels. `own`: its dataset, over whose instructions there are
    intervals; without it there are none.
    """
    results = system.results
    assert results is not None
    sections = [
        _in_short_section(system, doubts, said, word),
        labels_given_section(results),
        *method_sections(results),
        *annotator_sections(agreement_of_annotators(results, own=own)),
    ]
    return Sheet(results.run.title, sections)


def _in_short_section(
    system: System, doubts: Iterable[str], said: Iterable[str], word: Callable[[Hint], str]
) -> Section:
    """What a reader in a hurry needs: whether the judge judged at all, what else must not be missed, and what
    is `said` of it; hints are worded by whoever shows them.
    """
    health, run = system.health, system.results.run if system.results else None
    doubts = [*(health.sentences(word) if health.doubted else ()), *doubts]
    asked = run.identity.methods_in_words if run else ""
    healthy = [] if health.doubted else health.sentences(word)
    sentences = [*healthy, *([f"Elicitation: {asked}."] if asked else ()), *said]
    parts = [*([Sentences(doubts, Tone.CAVEAT)] if doubts else ()), Sentences(sentences)]
    return Section("in_short", "In short", parts, help=("Does the model judge?",))


def in_short(evaluation: Evaluation) -> Iterator[str]:
    """The sentences that a reader in a hurry needs."""
    measures = list(evaluation.labels.values())
    ends = f" (95 % interval {interval(evaluation.interval, 100)})" if evaluation.interval else ""
    yield (
        f"Mean accuracy over {counted(len(measures), 'criterion', 'criteria')}:"
        f" {percent(evaluation.accuracy)}{ends}. The best baseline of each criterion reaches"
        f" {percent(evaluation.baseline)} on these items."
    )
    results = evaluation.matched.system.results
    if results is not None and results.one_labels:
        yield results.one_label_sentence
    yield from _verdicts(measures)
    pairs = [pair for pairs in evaluation.matched.pairs.values() for pair in pairs]
    flips = [pair.judgment.flipped for pair in pairs if pair.judgment]
    known = [flipped for flipped in flips if flipped is not None]
    if 0 < len(known) < len(flips):
        found = _of(sum(known), len(known), "judgments")
        yield (
            f"Position-inconsistent: {found} that were read in both orders. It is not known for the"
            f" {len(flips) - len(known):,} others, which the first order left certain."
        )
    elif results is not None and results.run.panel:
        differ = [pair.judgment.judges_differ for pair in pairs if pair.judgment]
        known = [each for each in differ if each is not None]
        if known:
            found = _of(sum(known), len(known), "judgments")
            several = " decided by more than one judge" if len(known) < len(differ) else ""
            yield f"The judges of the jury disagree: {found}{several}."
        if results.judges_missing_sentence:
            yield results.judges_missing_sentence
    elif known:
        yield f"Position-inconsistent: {_of(sum(known), len(known), 'judgments')}."
    else:
        yield "Position-inconsistent: not known, because items were read in one order or none."
    moved = [pair.judgment.place_decides for pair in pairs if pair.judgment]
    if any(moved):
        found = _of(moved.count(True), sum(each is not None for each in moved), "judgments")
        yield (
            f"After calibration, the label depends on which response is A: {found}. The calibration does"
            " not treat A and B alike."
        )
    unscored, labelled = (
        sum(measure.unscored for measure in measures),
        sum(measure.items for measure in measures),
    )
    yield f"Unscored: {_of(unscored, labelled, 'judgments')}; each counts as wrong."


def _verdicts(measures: Sequence[LabelMeasures]) -> Iterator[str]:
    """For which criteria the judge beats the best baseline, said plainly."""
    groups: dict[str, list[str]] = {}
    for measure in measures:
        held_against = f"{words(measure.criterion)} ({BASELINE[measure.rival]})"
        groups.setdefault(measure.better, []).append(held_against)
    if groups.keys() == {"yes"}:
        yield (
            "On every criterion the judge is significantly better than the best baseline (the whole 95 %"
            f" interval of the difference is above 0): {', '.join(groups['yes'])}."
        )
        return
    for verdict, sentence in (
        ("no", "The judge does NOT beat the best baseline on: {}."),
        (
            "not significant",
            "Better on these items, but not significantly (the 95 % interval of the difference includes"
            " 0): {}.",
        ),
        ("yes", "Significantly better (the whole 95 % interval of the difference is above 0): {}."),
        ("-", "Not compared with baselines (this needs at least 10 different instructions): {}."),
    ):
        if verdict in groups:
            yield sentence.format(", ".join(groups[verdict]))


def _of(part: int, whole: int, what: str) -> str:
    return f"{part:,} of {whole:,} {what} ({percent(part / whole)})"
