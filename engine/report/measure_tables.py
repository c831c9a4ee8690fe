"""The measures of an evaluation and of the weighted judge as tables of text.

Knows: which columns stand side by side. Does not know: terminals, HTML, windows.
"""

from collections.abc import Iterable

from engine.core.formatting import Table, interval, number, percent, words
from engine.core.items import PREFERENCES
from engine.measure.baselines import Baselines
from engine.measure.evaluation import Evaluation, mean_of
from engine.measure.explanation_measures import ExplanationMeasures
from engine.measure.label_measures import UNSCORED, LabelMeasures


def accuracy_table(evaluation: Evaluation) -> Table:
    """Accuracy with its interval, beside trivial judges on the same items."""
    measures = list(evaluation.labels.values())
    rows = [
        [
            words(one.criterion),
            f"{one.items:,}",
            percent(one.accuracy),
            interval(one.interval, 100),
            *_baseline_cells([one.baselines]),
            number(one.kappa),
            number(one.macro_f1),
            one.better_than_most_frequent,
        ]
        for one in measures
    ]
    means = _baseline_cells([one.baselines for one in measures])
    rows.append(["mean", "", percent(evaluation.accuracy), "", *means, "", "", ""])
    header = ["criterion", "labels", "accuracy", "95 % interval", "most frequent", "always A", "longer"]
    return Table([*header, "random", "kappa", "macro-F1", "better?"], rows)


def _baseline_cells(baselines: Iterable[Baselines]) -> list[str]:
    """What each trivial judge reaches, in the mean."""
    listed = list(baselines)
    return [
        percent(mean_of(getattr(one, name) for one in listed))
        for name in ("most_frequent", "always_a", "longer", "random")
    ]


def label_table(evaluation: Evaluation) -> Table:
    """Which labels the judge and people gave, and what the judge's lean to."""
    rows = []
    for one in evaluation.labels.values():
        judge = [f"{one.predicted.get(label, 0):,}" for label in PREFERENCES]
        human = [f"{one.human.get(label, 0):,}" for label in PREFERENCES]
        biases = [percent(one.flipped), number(one.format_mass, 3), percent(one.longer)]
        rows += [
            [words(one.criterion), "judge", *judge, f"{one.unscored:,}", *biases],
            ["", "people", *human, "", "", "", percent(one.longer_human)],
        ]
    header = ["criterion", "labels of", *PREFERENCES, UNSCORED, "flipped", "format mass", "for the longer"]
    return Table(header, rows)


def confusion_table(measures: LabelMeasures) -> Table:
    """Human labels down, predicted ones across."""
    rows = [
        [f"human {label}", *(f"{count:,}" for count in counts)]
        for label, counts in zip(PREFERENCES, measures.confusion, strict=True)
    ]
    return Table([words(measures.criterion), *PREFERENCES, UNSCORED], rows)


def explanation_table(evaluation: Evaluation) -> Table:
    """The explanations' measures, beside the most typical human explanation."""
    measures = list(evaluation.explanations.values())
    rows = [_explanation_row(one) for one in measures]
    means = [
        number(evaluation.explanation_mean(name))
        for name in (
            "rouge_l",
            "typical",
            "bertscore",
            "agreement",
            "p_yes",
            "format_mass",
            "words",
            "human_words",
        )
    ]
    unexplained = f"{sum(one.unexplained for one in measures):,}"
    rows.append(["mean", "", means[0], "", *means[1:], unexplained])
    header = ["explanations", "items", "ROUGE-L", "95 % interval", "most typical", "BERTScore", "agreement"]
    return Table([*header, "P(yes)", "format mass", "words", "human words", "missing"], rows)


def _explanation_row(one: ExplanationMeasures) -> list[str]:
    agreement = number(one.agreement)
    if one.unmeasured:
        agreement += f" ({one.unmeasured:,} left out)"
    return [
        words(one.criterion),
        f"{one.items:,}",
        number(one.rouge_l),
        interval(one.interval),
        number(one.typical),
        number(one.bertscore),
        agreement,
        number(one.p_yes),
        number(one.format_mass),
        number(one.words),
        number(one.human_words),
        f"{one.unexplained:,}",
    ]
