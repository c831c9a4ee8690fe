"""All that is shown of a run or a submission: which sections there are, in which order; first, in short, what
an evaluation says in sentences.

The measures of an evaluation as sections of a sheet.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from engine.core.errors import Hint
from engine.core.formatting import BETTER, MACRO_F1, counted, interval, percent, words
from engine.core.items import PREFERENCES, Tie
from engine.core.tables import (
    Column,
    Kind,
    Partial,
    Picture,
    Ranked,
    Row,
    Section,
    Sentences,
    Sheet,
    Table,
    Tone,
)
from engine.data.dataset import Dataset
from engine.metrics.accuracy import Baselines, LabelMeasures
from engine.metrics.annotator_agreement import agreement_of_annotators
from engine.metrics.evaluation import Evaluation, mean_of, wordless_in_words
from engine.metrics.explanations import ExplanationMeasures
from engine.metrics.matching import System
from engine.report.annotators import annotator_sections
from engine.report.columns import (
    ACCURACY,
    AGREEMENT,
    ANSWER_MASS,
    BERTSCORE,
    CRITERION,
    FLIPPED,
    KAPPA,
    LABELS,
    LABELS_GIVEN,
    MOST_FREQUENT,
    ROUGE_L,
    SHARE_INTERVAL,
    with_both_orders,
    with_human_ties,
)
from engine.report.run import labels_given_section, method_sections

_BASELINES = (
    replace(
        MOST_FREQUENT,
        meaning=f"{MOST_FREQUENT.meaning} The label is chosen on other items (cross-validation).",
    ),
    Column(
        "always_a",
        "always A",
        Kind.SHARE,
        "The accuracy of always giving A, without reading the responses.",
    ),
    Column("longer", "longer", Kind.SHARE, "The accuracy of always preferring the longer response."),
    Column("random", "random", Kind.SHARE, "The accuracy of guessing among the four labels."),
)
BASELINE = {column.key: column.title for column in _BASELINES}
"""Titles of the baselines, by their names in Baselines."""

_ACCURACY = (
    CRITERION,
    LABELS,
    ACCURACY,
    SHARE_INTERVAL,
    *_BASELINES,
    KAPPA,
    Column("macro_f1", "macro-F1", Kind.NUMBER, MACRO_F1),
    Column("better", "beats baseline?", Kind.TEXT, BETTER),
)
_LABELS = (
    CRITERION,
    Column("labels_of", "labels of", Kind.NAME, "Whose labels this row counts."),
    *LABELS_GIVEN,
    FLIPPED,
    ANSWER_MASS,
    Column(
        "longer",
        "longer wins",
        Kind.SHARE,
        "How often the longer response wins if one response is preferred. A judge far above the"
        " annotators has a length bias.",
    ),
)
_EXPLANATIONS = (
    Column("criterion", "explanations", Kind.NAME, "The criterion whose explanations are measured."),
    Column("items", "items", Kind.COUNT, "How many items have a human explanation here."),
    replace(ROUGE_L, kind=Kind.RANKED),
    Column(
        "typical",
        "most typical",
        Kind.NUMBER,
        "The score of always repeating one human explanation, the most typical one of the most frequent"
        " label, × 100. A judge below it explains less like annotators than a fixed sentence does.",
    ),
    replace(BERTSCORE, kind=Kind.RANKED),
    replace(AGREEMENT, kind=Kind.PARTIAL),
    Column(
        "p_yes",
        "P(yes)",
        Kind.NUMBER,
        "The mean probability of the judge model's “yes, they agree”, × 100.",
    ),
    replace(ANSWER_MASS, digits=2),
    Column("words", "words", Kind.NUMBER, "The mean length of the judge's explanations, in words."),
    Column(
        "human_words",
        "human words",
        Kind.NUMBER,
        "The mean length of the human explanations, in words.",
    ),
    Column(
        "missing",
        "missing",
        Kind.COUNT,
        "Items with a human explanation but none of the judge; they count 0.",
    ),
)
_CONFUSION = (
    "Confusion matrices: each row is a human label, each column a label of the judge. On the diagonal"
    " both agree; a large number elsewhere is a frequent error."
)


def accuracy_section(evaluation: Evaluation) -> Section:
    """How often the judge gives the human label, next to baselines."""
    return Section(
        "accuracy",
        "Accuracy",
        [accuracy_table(evaluation), Picture("accuracy")],
        "The share of human labels that the judge also gives, and that of baselines, which do not read"
        " the responses. “Beats baseline?”: whether the judge beats the best of these.",
        help=("95 % interval", "Kappa", "Macro-F1"),
        spelt_out=True,
    )


def accuracy_table(evaluation: Evaluation) -> Table:
    """Accuracy with its interval, next to baselines on the same items."""
    measures = list(evaluation.labels.values())
    rows: list[Row] = [
        [
            words(measure.criterion),
            measure.items,
            measure.accuracy,
            measure.interval,
            *_baseline_values([measure.baselines]),
            measure.kappa,
            measure.macro_f1,
            measure.better if measure.better == "-" else f"{measure.better} ({BASELINE[measure.rival]})",
        ]
        for measure in measures
    ]
    means = _baseline_values([measure.baselines for measure in measures])
    rows.append(["mean", "", evaluation.accuracy, evaluation.interval, *means, "", "", ""])
    return Table(_ACCURACY, rows)


def _baseline_values(baselines: Iterable[Baselines]) -> list[float | None]:
    """What each baseline reaches, on average."""
    listed = list(baselines)
    return [mean_of(getattr(baseline, column.key) for baseline in listed) for column in _BASELINES]


def label_section(evaluation: Evaluation) -> Section:
    """Which labels the judge and annotators gave, and how they meet."""
    of_submission = evaluation.matched.system.results is None
    unknown = " “-”: a submission file has only labels, no orders and no probabilities."
    given = Picture(
        "labels",
        "How often each label was given. If the judge rarely gives a label that is frequent among the"
        " human ones, it is wrong on those items.",
    )
    return Section(
        "labels",
        "Labels",
        [label_table(evaluation), given, Picture("confusion", _CONFUSION)],
        "The judge's labels, and the human ones. Flip rate: the share of position-inconsistent"
        " judgments, where the label changes if the responses are swapped. Answer mass near 1: the model"
        f" understood the question.{unknown if of_submission else ''}",
        spelt_out=True,
    )


def label_table(evaluation: Evaluation) -> Table:
    """Which labels the judge and annotators gave, and what the judge's lean to."""
    rows: list[Row] = []
    partly = any(measure.partly_in_both_orders for measure in evaluation.labels.values())
    with_ties = any(Tie.TIE in measure.human for measure in evaluation.labels.values())
    for measure in evaluation.labels.values():
        judge = [measure.predicted.get(label, 0) for label in PREFERENCES]
        human = [measure.human.get(label, 0) for label in PREFERENCES]
        twice = [measure.in_both_orders] if partly else []
        biases = [measure.flipped, *twice, measure.answer_mass, measure.longer]
        no_tie, tie = ([""], [measure.human.get(Tie.TIE, 0)]) if with_ties else ([], [])
        rows += [
            [words(measure.criterion), "judge", *judge, *no_tie, measure.unscored, *biases],
            ["", "human", *human, *tie, *[""] * len(biases), measure.longer_human],
        ]
    columns = with_both_orders(_LABELS) if partly else _LABELS
    return Table(with_human_ties(columns) if with_ties else columns, rows)


def confusion_section(evaluation: Evaluation) -> Section:
    """The figure of the same name in numbers."""
    tables = [confusion_table(measures) for measures in evaluation.labels.values()]
    return Section("confusion", "Human labels and labels of the judge", tables, _CONFUSION)


def confusion_table(measures: LabelMeasures) -> Table:
    """Human labels down, predicted ones across."""
    first = Column("human", words(measures.criterion), Kind.NAME, "The human label.")
    rows: list[Row] = [[f"human {label}", *counts] for label, counts in measures.confusion.items()]
    return Table((first, *LABELS_GIVEN), rows)


def explanation_section(evaluation: Evaluation, warnings: Sequence[str] = ()) -> Section:
    """The explanations against human ones, as far as they are measured; `warnings`: of models that did."""
    wordless = wordless_in_words(evaluation.explanations.values())
    said = [*warnings, *([wordless] if wordless else ())]
    doubts = [Sentences(said, Tone.CAVEAT)] if said else []
    return Section(
        "explanations",
        "Explanations",
        [*doubts, *([explanation_table(evaluation)] if evaluation.explanations else [])],
        "Compared with human explanations; all × 100 except items, words and missing. Brackets: the 95 %"
        " interval. “Most typical”: a baseline that always repeats the most typical human explanation."
        " “-”: not measured here.",
        help=("ROUGE-L", "Agreement"),
        spelt_out=True,
    )


def explanation_table(evaluation: Evaluation) -> Table:
    """The explanations' measures, next to the most typical human explanation."""
    measures = list(evaluation.explanations.values())
    of = evaluation.explanation_mean
    ends = evaluation.explanation_interval
    means: Row = [
        "mean",
        "",
        Ranked(of("rouge_l"), ends=ends("rouge_l")),
        of("typical"),
        Ranked(of("bertscore"), ends=ends("bertscore")),
        Partial(of("agreement"), ends=ends("agreement")),
        *map(of, ("p_yes", "answer_mass", "words", "human_words")),
        sum(measure.unexplained for measure in measures),
    ]
    return Table(_EXPLANATIONS, [*map(_explanation_row, measures), means])


def _explanation_row(measure: ExplanationMeasures) -> Row:
    ends = measure.intervals
    return [
        words(measure.criterion),
        measure.items,
        Ranked(measure.rouge_l, ends=ends.get("rouge_l")),
        measure.typical,
        Ranked(measure.bertscore, ends=ends.get("bertscore")),
        Partial(measure.agreement, measure.unmeasured, ends.get("agreement")),
        measure.p_yes,
        measure.answer_mass,
        measure.words,
        measure.human_words,
        measure.unexplained,
    ]


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
