"""How often the labels of a judge are the human ones: next to baselines, by label, as figures."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import compress
from statistics import fmean
from typing import Any

import numpy as np

from engine.core.formatting import AC1, BETTER, KAPPA, MACRO_F1, counted, percent, words
from engine.core.items import HumanLabel, Tie, agree, labels_beside
from engine.core.tables import Column, Estimate, Kind, Picture, Row, Section, Table
from engine.metrics.accuracy import Baselines, LabelMeasures
from engine.metrics.evaluation import Evaluation, mean_of
from engine.report import columns, drawing

_BASELINES = (
    columns.MOST_FREQUENT.means(
        f"{columns.MOST_FREQUENT.meaning} The label is chosen on other items (cross-validation)."
    ),
    Column(
        "always_a", "always A", Kind.SHARE, "The accuracy of always giving A, without reading the responses."
    ),
    Column("longer", "longer", Kind.SHARE, "The accuracy of always preferring the longer response."),
    Column("random", "random", Kind.SHARE, "The accuracy of guessing among the four labels."),
)
BASELINE = {column.key: column.title for column in _BASELINES}
"""Titles of the baselines, by their names in Baselines."""
_ACCURACY = (
    columns.CRITERION,
    columns.LABELS,
    columns.ACCURACY,
    columns.SHARE_INTERVAL,
    *_BASELINES,
    Column("better", "beats baseline?", Kind.TEXT, BETTER),
)
_BEYOND_CHANCE = (
    columns.CRITERION,
    columns.LABELS,
    Column("kappa", "kappa", Kind.MEASURE, KAPPA),
    Column("ac1", "AC1", Kind.MEASURE, AC1),
    Column("macro_f1", "macro-F1", Kind.MEASURE, MACRO_F1),
)
_BY_LABEL = (
    columns.CRITERION,
    Column("label", "label", Kind.NAME, "The label."),
    Column("predicted", "given", Kind.COUNT, "How often the judge gave it to items with a human label."),
    Column("precision", "precision (%)", Kind.ESTIMATE, "The share of these that are right."),
    Column("human", "human", Kind.COUNT, "How often it is the human label."),
    Column(
        "recall",
        "recall (%)",
        Kind.ESTIMATE,
        "The share of these that the judge got right.",
    ),
)
_LABELS = (
    columns.CRITERION,
    Column("labels_of", "labels of", Kind.NAME, "Whose labels this row counts."),
    *columns.LABELS_GIVEN,
    columns.FLIPPED,
    columns.ANSWER_MASS,
    Column("longer", "longer wins", Kind.SHARE).means(
        "How often the longer response wins if one response is preferred. A judge far above the"
        " annotators has a length bias."
    ),
)
_CONFUSION = (
    "Confusion matrices: each row is a human label, each column a label of the judge. On the diagonal"
    " both agree; a large number elsewhere is a frequent error."
)
_DEEPEST = 0.5  # share of the judge's colour in a full cell: numbers stay readable on it in both themes


def accuracy_section(evaluation: Evaluation) -> Section:
    return Section(
        "accuracy",
        "Accuracy",
        [accuracy_table(evaluation), Picture("accuracy")],
        "The share of human labels that the judge also gives, and that of baselines, which do not read"
        " the responses. “Beats baseline?”: whether the judge beats the best of these.",
        help=("95 % interval",),
        spelt_out=True,
    )


def accuracy_table(evaluation: Evaluation) -> Table:
    measures = list(evaluation.labels.values())
    rows: list[Row] = [
        [
            words(measure.criterion),
            *(measure.items, measure.accuracy, measure.interval),
            *_baseline_values([measure.baselines]),
            measure.better if measure.better == "-" else f"{measure.better} ({BASELINE[measure.rival]})",
        ]
        for measure in measures
    ]
    means = _baseline_values([measure.baselines for measure in measures])
    rows.append(["mean", "", evaluation.accuracy, evaluation.interval, *means, ""])
    return Table(_ACCURACY, rows)


def beyond_chance_section(evaluation: Evaluation) -> Section:
    return Section(
        "beyond_chance",
        "Beyond chance, and by label",
        [beyond_chance_table(evaluation), by_label_table(evaluation)],
        "All with 95 % intervals over instructions. If nearly all labels are the same, kappa is near 0, and"
        " AC1 is not.",
        help=("Kappa", "Macro-F1"),
        spelt_out=True,
    )


def beyond_chance_table(evaluation: Evaluation) -> Table:
    rows: list[Row] = [
        [words(name), found.items, *(each.estimate for each in (found.kappa, found.ac1, found.macro_f1))]
        for name, found in evaluation.labels.items()
    ]
    return Table(_BEYOND_CHANCE, rows)


def by_label_table(evaluation: Evaluation) -> Table:
    rows: list[Row] = [
        [
            *(words(name), words(label), found.predicted.get(label, 0), quality.precision),
            *(found.human.get(label, 0), quality.recall),
        ]
        for name, found in evaluation.labels.items()
        for label, quality in found.by_label.items()
        if quality.precision or quality.recall  # else it occurs on no side
    ]
    return Table(_BY_LABEL, rows)


def _baseline_values(baselines: Iterable[Baselines]) -> list[float | None]:
    listed = list(baselines)
    return [mean_of(getattr(baseline, column.key) for baseline in listed) for column in _BASELINES]


def label_section(evaluation: Evaluation) -> Section:
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
    rows: list[Row] = []
    measures = evaluation.labels.values()
    partly = any(measure.partly_in_both_orders for measure in measures)
    with_ties = any(Tie.TIE in (*measure.human, *measure.predicted) for measure in measures)
    for measure in measures:
        labels = labels_beside([Tie.TIE] if with_ties else [])
        human = [measure.human.get(label, 0) for label in labels]
        # A judge of ours is never asked for a tie of no kind: nothing there says more than a 0.
        judge = [measure.predicted.get(label, "" if label is Tie.TIE else 0) for label in labels]
        twice = [measure.in_both_orders] if partly else []
        biases = [measure.flipped, *twice, measure.answer_mass, measure.longer]
        rows += [
            [words(measure.criterion), "judge", *judge, measure.unscored, *biases],
            ["", "human", *human, *[""] * len(biases), measure.longer_human],
        ]
    shown = columns.with_both_orders(_LABELS) if partly else _LABELS
    return Table(columns.with_human_ties(shown) if with_ties else shown, rows)


def confusion_section(evaluation: Evaluation) -> Section:
    tables = [confusion_table(measures) for measures in evaluation.labels.values()]
    return Section("confusion", "Human labels and labels of the judge", tables, _CONFUSION)


def confusion_table(measures: LabelMeasures) -> Table:
    """Human labels down, predicted ones across."""
    first = Column("human", words(measures.criterion), Kind.NAME, "The human label.")
    rows: list[Row] = [[f"human {label}", *counts] for label, counts in measures.confusion.items()]
    given = columns.LABELS_GIVEN
    return Table((first, *(columns.with_human_ties(given) if Tie.TIE in measures.predicted else given)), rows)


def accuracy_figure(evaluation: Evaluation, dark: bool = False) -> drawing.Figure:
    """Accuracy by criterion in percent with its 95 % interval, the mean, and what baselines reach."""
    measures = list(evaluation.labels.values())
    rows = [*range(len(measures)), len(measures) + 0.3]
    title = f"Accuracy with 95 % intervals\n{_against(evaluation)}"
    with drawing.new_panels(1.7 + 0.42 * len(rows), title, dark, legend_columns=3) as (figure, [axes], theme):
        values = [100 * measure.accuracy for measure in measures] + [100 * evaluation.accuracy]
        axes.barh(rows, values, height=0.7, color=theme.judge, label="judge")
        intervals = [*(measure.interval for measure in measures), evaluation.interval]
        line: dict[str, Any] = {"color": theme.text, "linewidth": 1.4, "marker": "|", "markersize": 7}
        for row, ends in zip(rows, intervals, strict=True):
            if ends is not None:
                axes.plot([100 * ends.low, 100 * ends.high], [row, row], **line)
        axes.plot([], [], **line, label="95 % interval")
        _draw_baselines(axes, measures, rows, theme)
        beside: dict[str, Any] = {"xytext": (48, 0), "textcoords": "offset points", "ha": "right"}
        for row, value in zip(rows, values, strict=True):
            axes.annotate(f"{value:.1f} %", (100, row), **beside, va="center", annotation_clip=False)
        axes.set_yticks(rows, [*(drawing.drawn_words(measure.criterion) for measure in measures), "mean"])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("accuracy (% of labelled items)")
        axes.grid(axis="x")
    return figure


def _draw_baselines(
    axes: drawing.Axes, measures: Sequence[LabelMeasures], rows: Sequence[float], theme: drawing.Theme
) -> None:
    """Marks of the baselines, of the criteria and their means, and one line for guessing."""
    for label, name, marker, colour, shift in (
        ("most frequent label", "most_frequent", "D", theme.marked, 0.0),
        ("always A", "always_a", "^", theme.paper, -0.24),
        ("longer response", "longer", "s", theme.paper, 0.24),
    ):
        shares = [getattr(measure.baselines, name) for measure in measures]
        axes.plot(
            [100 * share for share in (*shares, fmean(shares))],
            [row + shift for row in rows],
            linestyle="none",
            marker=marker,
            markersize=5,
            markerfacecolor=colour,
            markeredgecolor=theme.text,
            markeredgewidth=0.8,
            clip_on=False,
            zorder=4,
            label=label,
        )
    guess = 100 * measures[0].baselines.random
    axes.axvline(guess, color=theme.text, linestyle=":", linewidth=1.2, label=f"guessing ({guess:.0f} %)")


def confusion_figure(evaluation: Evaluation, dark: bool = False) -> drawing.Figure:
    """A matrix for each criterion: human labels down, the judge's across, with the number of items."""
    measures = list(evaluation.labels.values())
    draw = partial(_draw_confusion, any(measure.unscored for measure in measures))
    title = "Human labels (rows) and the judge's (columns): number of labels, shaded by share of the row"
    names = ("judge's label", "human label")
    return drawing.draw_panels(measures, draw, 2.55, names, f"{title}\n{_against(evaluation)}", dark=dark)


def _draw_confusion(
    unscored: bool, axes: drawing.Axes, measures: LabelMeasures, theme: drawing.Theme
) -> None:
    from matplotlib.colors import LinearSegmentedColormap, to_rgb  # noqa: PLC0415

    names = [*map(_label_name, labels_beside(measures.predicted)), *([_UNSCORED_NAME] if unscored else [])]
    counts = np.array(list(measures.confusion.values()))[:, : len(names)]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    paper, judge = np.array(to_rgb(theme.paper)), np.array(to_rgb(theme.judge))
    shades = LinearSegmentedColormap.from_list(
        "shares", np.array([paper, paper + _DEEPEST * (judge - paper)])
    )
    axes.pcolormesh(shares, cmap=shades, vmin=0, vmax=1, edgecolors=theme.human, linewidth=0.5)
    for row, column in np.ndindex(counts.shape):
        count = int(counts[row, column])
        colour = theme.text if count else theme.muted
        axes.text(column + 0.5, row + 0.5, f"{count:,}", ha="center", va="center", color=colour)
    axes.set_xticks(np.arange(len(names)) + 0.5, names)
    axes.set_yticks(np.arange(len(counts)) + 0.5, map(_label_name, measures.confusion))
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, color=theme.human, linewidth=0.5)
    axes.invert_yaxis()
    axes.set_title(f"{drawing.drawn_words(measures.criterion)} ({measures.items:,})")


def _label_name(label: HumanLabel) -> str:
    return label.value.replace("_", "\n")


_UNSCORED_NAME = "un-\nscored"


def label_figure(evaluation: Evaluation, dark: bool = False) -> drawing.Figure:
    measures = list(evaluation.labels.values())
    draw = partial(_draw_labels, any(measure.unscored for measure in measures))
    title = f"How often each label was given\n{_against(evaluation)}"
    return drawing.draw_panels(measures, draw, 2.1, ("", "labels"), title, dark=dark, legend_columns=2)


def _draw_labels(unscored: bool, axes: drawing.Axes, measures: LabelMeasures, theme: drawing.Theme) -> None:
    labels = labels_beside({*measures.human, *measures.predicted})
    human = [measures.human.get(label, 0) for label in labels]
    judge = [measures.predicted.get(label, 0) for label in labels]
    judge += [measures.unscored] if unscored else []
    names = [*map(_label_name, labels), _UNSCORED_NAME][: len(judge)]
    for counts, shift, colour, who, hatch in (
        (human, -0.2, theme.human, "annotators", "//"),
        (judge, 0.2, theme.judge, "judge", ""),
    ):
        places = np.arange(len(counts)) + shift
        bars = axes.bar(places, counts, width=0.38, color=colour, label=who)
        drawing.stripe(bars, hatch, theme)
        axes.bar_label(bars, [drawing.narrow_count(count) for count in counts], fontsize=6.5, padding=1)
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    axes.set_title(f"{drawing.drawn_words(measures.criterion)} ({measures.items:,})")
    axes.grid(axis="y")


def _against(evaluation: Evaluation) -> str:
    matched = evaluation.matched
    held = f"{drawing.drawable(evaluation.name)} against {drawing.drawable(matched.dataset.name)}"
    labels = sum(measure.items for measure in evaluation.labels.values())
    return f"{held}, {counted(labels, 'label', 'labels')} on {matched.items_in_words}"


_HUMAN = Column("human", "human label", Kind.NAME, "The label that annotators gave.")
_COUNTED = (
    columns.CRITERION,
    Column("label", "label", Kind.NAME, "The label; “unscored” where the judge gave none."),
    Column("people", "annotators", Kind.COUNT, "How often annotators gave it."),
    Column("judge", "judge", Kind.COUNT, "How often the judge gave it."),
)


def accuracy_figures(evaluation: Evaluation) -> dict[str, drawing.ReportFigure]:
    measures = evaluation.labels.values()
    accuracies = "; ".join(
        f"{words(measure.criterion)} {Estimate(measure.accuracy, measure.interval)} %, best baseline"
        f" {percent(measure.rival_accuracy)} ({BASELINE[measure.rival]})"
        for measure in measures
    )
    given = "; ".join(map(_labels_in_words, measures))
    shown = columns.LABELS_GIVEN
    if with_ties := any(Tie.TIE in measure.predicted for measure in measures):
        shown = columns.with_human_ties(shown)
    met = "; ".join(map(_confusion_in_words, measures))
    return {
        "accuracy": drawing.ReportFigure(
            partial(accuracy_figure, evaluation),
            f"Bars of the accuracy by criterion, with baselines. {accuracies}.",
            accuracy_table(evaluation),
        ),
        "labels": drawing.ReportFigure(
            partial(label_figure, evaluation),
            f"Bars of how often each label is the human one and the judge's. {given}.",
            given_table(evaluation),
        ),
        "confusion": drawing.ReportFigure(
            partial(confusion_figure, evaluation),
            f"Matrices of human labels and the judge's labels. {met}.",
            Table(
                (columns.CRITERION, _HUMAN, *shown),
                [
                    # As long as rows of criteria on which the judge says a mere tie.
                    [words(measure.criterion), words(label), *counts[:-1], *mere_tie, counts[-1]]
                    for measure in measures
                    for mere_tie in [[0] if with_ties and Tie.TIE not in measure.predicted else []]
                    for label, counts in measure.confusion.items()
                ],
            ),
        ),
    }


def _labels_in_words(measures: LabelMeasures) -> str:
    labels = labels_beside({*measures.human, *measures.predicted})
    parts = [
        f"{words(label)} {measures.human.get(label, 0):,}"
        + ("" if label is Tie.TIE not in measures.predicted else f" and {measures.predicted.get(label, 0):,}")
        for label in labels
    ]
    unscored = f", unscored {measures.unscored:,}" if measures.unscored else ""
    return f"{words(measures.criterion)}: {', '.join(parts)}{unscored}"


def _confusion_in_words(measures: LabelMeasures) -> str:
    labels = labels_beside(measures.predicted)
    parts = [
        f"{label} {sum(compress(row, [agree(label, given) for given in labels])):,} of {sum(row):,}"
        for label, row in measures.confusion.items()
        if sum(row)
    ]
    return f"{words(measures.criterion)}: agreed on {', '.join(parts)}"


def given_table(evaluation: Evaluation) -> Table:
    rows: list[Row] = []
    for measure in evaluation.labels.values():
        criterion = words(measure.criterion)
        for label in labels_beside({*measure.human, *measure.predicted}):
            judged = measure.predicted.get(label, "" if label is Tie.TIE else 0)
            rows.append([criterion, words(label), measure.human.get(label, 0), judged])
        rows += [[criterion, "unscored", "", measure.unscored]] if measure.unscored else []
    return Table(_COUNTED, rows)
