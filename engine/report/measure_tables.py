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
    BERTSCORE,
    CRITERION,
    FLIPPED,
    FORMAT_MASS,
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
        meaning=f"{MOST_FREQUENT.meaning} Which label that is, is learnt on other items (cross-validation).",
    ),
    Column("always_a", "always A", Kind.SHARE, "What always saying A reaches, without reading anything."),
    Column("longer", "longer", Kind.SHARE, "What a judge reaches that always prefers the longer response."),
    Column("random", "random", Kind.SHARE, "What guessing among the four labels reaches."),
)
TRIVIAL = {column.key: column.title for column in _BASELINES}
"""What the trivial judges are called, by their names in Baselines."""

_ACCURACY = (
    CRITERION,
    LABELS,
    ACCURACY,
    SHARE_INTERVAL,
    *_BASELINES,
    KAPPA,
    Column("macro_f1", "macro-F1", Kind.NUMBER, MACRO_F1),
    Column("better", "better?", Kind.TEXT, BETTER),
)
_LABELS = (
    CRITERION,
    Column("labels_of", "labels of", Kind.NAME, "Whose labels are counted in this row."),
    *LABELS_GIVEN,
    FLIPPED,
    FORMAT_MASS,
    Column(
        "longer",
        "for the longer",
        Kind.SHARE,
        "How often the longer response wins where one response is preferred. A judge far above people is"
        " taken in by length.",
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
        "What a judge reaches that always repeats one human explanation, the most typical one of the most"
        " frequent label, × 100. A judge below it explains less like people than a fixed sentence does.",
    ),
    replace(BERTSCORE, kind=Kind.RANKED),
    replace(AGREEMENT, kind=Kind.PARTIAL),
    Column(
        "p_yes",
        "P(yes)",
        Kind.NUMBER,
        "How probable the judge model's “yes, they agree” is in the mean, × 100.",
    ),
    replace(FORMAT_MASS, digits=2),
    Column("words", "words", Kind.NUMBER, "The length of the judge's explanations in words, in the mean."),
    Column(
        "human_words",
        "human words",
        Kind.NUMBER,
        "The length of the human explanations in words, in the mean.",
    ),
    Column(
        "missing", "missing", Kind.COUNT, "Items that people explained and the judge did not; they count 0."
    ),
)
_CONFUSION = (
    "Each row is one human label, each column one label of the judge. On the diagonal both agree; a large"
    " number elsewhere is a mistake that the judge often makes."
)


def accuracy_section(evaluation: Evaluation) -> Section:
    """How often the judge gives the human label, beside trivial judges."""
    return Section(
        "accuracy",
        "Accuracy",
        [accuracy_table(evaluation), Picture("accuracy")],
        "The share of human labels that the judge gives too, beside judges that read nothing. “Better?” says"
        " whether it beats the best of these.",
        help=("95 % interval", "Kappa", "Macro-F1"),
        spelt_out=True,
    )


def accuracy_table(evaluation: Evaluation) -> Table:
    """Accuracy with its interval, beside trivial judges on the same items."""
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
            measure.better if measure.better == "-" else f"{measure.better} ({TRIVIAL[measure.rival]})",
        ]
        for measure in measures
    ]
    means = _baseline_values([measure.baselines for measure in measures])
    rows.append(["mean", "", evaluation.accuracy, evaluation.interval, *means, "", "", ""])
    return Table(_ACCURACY, rows)


def _baseline_values(baselines: Iterable[Baselines]) -> list[float | None]:
    """What each trivial judge reaches, in the mean."""
    listed = list(baselines)
    return [mean_of(getattr(baseline, column.key) for baseline in listed) for column in _BASELINES]


def label_section(evaluation: Evaluation) -> Section:
    """Which labels the judge and people gave, and how they meet."""
    of_submission = evaluation.matched.system.results is None
    unknown = " “-”: a submission file holds labels alone, no orders and no probabilities."
    given = Picture(
        "labels",
        "How often each label was given. A judge that hardly ever gives a label that is frequent among the"
        " human ones cannot be right on those items.",
    )
    return Section(
        "labels",
        "Labels",
        [label_table(evaluation), given, Picture("confusion", _CONFUSION)],
        "The judge's labels, and the human ones. Flipped: the order of the responses alone decided. Format"
        f" mass near 1: the model understood what it was asked.{unknown if of_submission else ''}",
        spelt_out=True,
    )


def label_table(evaluation: Evaluation) -> Table:
    """Which labels the judge and people gave, and what the judge's lean to."""
    rows: list[Row] = []
    partly = any(measure.partly_in_both_orders for measure in evaluation.labels.values())
    with_ties = any(Tie.TIE in measure.human for measure in evaluation.labels.values())
    for measure in evaluation.labels.values():
        judge = [measure.predicted.get(label, 0) for label in PREFERENCES]
        human = [measure.human.get(label, 0) for label in PREFERENCES]
        twice = [measure.in_both_orders] if partly else []
        biases = [measure.flipped, *twice, measure.format_mass, measure.longer]
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
    return Section("confusion", "Human labels and the judge's", tables, _CONFUSION)


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
        "Against human ones, all × 100 but items, words and missing, in brackets the 95 % interval. “Most"
        " typical” always repeats the most typical human explanation. “-”: not measured here.",
        help=("ROUGE-L", "Agreement"),
        spelt_out=True,
    )


def explanation_table(evaluation: Evaluation) -> Table:
    """The explanations' measures, beside the most typical human explanation."""
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
        *map(of, ("p_yes", "format_mass", "words", "human_words")),
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
        measure.format_mass,
        measure.words,
        measure.human_words,
        measure.unexplained,
    ]
