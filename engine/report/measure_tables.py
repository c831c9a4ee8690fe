"""The measures of an evaluation as sections of a sheet.

Knows: which columns stand side by side, what they mean. Does not know: terminals, HTML, windows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.core.formatting import words
from engine.core.items import PREFERENCES, Tie
from engine.core.measure_words import BETTER, MACRO_F1
from engine.core.sheets import Picture, Section, Sentences, Tone
from engine.core.value_tables import Column, Kind, Partial, Ranked, Row, Table
from engine.measure.baselines import Baselines
from engine.measure.evaluation import Evaluation, mean_of, wordless_in_words
from engine.measure.explanation_measures import ExplanationMeasures
from engine.measure.label_measures import LabelMeasures
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
