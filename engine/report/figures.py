"""The numbers of figures as tables, for those who do not see them or want to go on with them.

The figures of an evaluation, as matplotlib figures.

Every function makes a figure of its own and leaves matplotlib's settings as they were, so that a window may
show it too. Names of files and systems are drawn as they are, never read as formulas.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure

from engine.calibration.order_margin import MarginReport
from engine.calibration.scaling import ReliabilityBin
from engine.core.formatting import counted, words
from engine.core.items import PREFERENCES, HumanLabel, Preference, labels_beside
from engine.core.numeric import FloatArray, IntArray
from engine.core.tables import Column, Kind, Row, Table
from engine.metrics.accuracy import LabelMeasures
from engine.metrics.evaluation import Evaluation
from engine.metrics.intervals import Interval
from engine.ranking.weighted_judge import TIE, WINNERS
from engine.ranking.weighted_scoring import WeightedScoring
from engine.report.calibration import margin_table
from engine.report.columns import CRITERION, LABELS_GIVEN
from engine.report.evaluation import accuracy_table
from engine.report.figure_style import (
    Theme,
    add_legend,
    drawable,
    drawing,
    drawn_words,
    finish,
    name_axes,
    narrow_count,
    new_figure,
    new_panels,
    stripe,
)

_MARGIN_BINS = 20
_MOST_UNCERTAIN = 20  # percent: the likeliest of four labels has 25 or more
_DEEPEST = 0.5  # share of the judge's colour in a full cell: numbers stay readable on it in both themes
_LINES = (":", "--", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))


def all_figures(
    evaluation: Evaluation,
    bins: Mapping[str, Sequence[ReliabilityBin]],
    weighted_scoring: WeightedScoring | None = None,
    orders: MarginReport | None = None,
    *,
    dark: bool = False,
    only: str | None = None,
) -> dict[str, Figure]:
    """Every figure that there is something to show in, by name, in the order in which they are read.

    `only`: its name, where no other one is wanted.
    """
    figures: dict[str, Callable[[], Figure]] = {
        "accuracy": partial(accuracy_figure, evaluation, dark),
        "labels": partial(label_figure, evaluation, dark),
        "confusion": partial(confusion_figure, evaluation, dark),
    }
    if bins:
        figures["reliability"] = partial(reliability_figure, bins, evaluation.name, dark)
    if weighted_scoring and weighted_scoring.margins:
        figures["margins"] = partial(margin_figure, weighted_scoring, evaluation.name, dark)
    if orders:
        figures["orders"] = partial(order_figure, orders, evaluation.name, dark)
    return {name: draw() for name, draw in figures.items() if only in (None, name)}


FIGURE_NAMES = ("accuracy", "labels", "confusion", "reliability", "margins", "orders")


def accuracy_figure(evaluation: Evaluation, dark: bool = False) -> Figure:
    """Accuracy by criterion in percent with its 95 % interval, the mean, and what baselines reach."""
    measures = list(evaluation.labels.values())
    rows = [*range(len(measures)), len(measures) + 0.3]
    with drawing(dark) as theme:
        figure = new_figure(1.7 + 0.42 * len(rows))
        axes = figure.subplots()
        values = [100 * measure.accuracy for measure in measures] + [100 * evaluation.accuracy]
        axes.barh(rows, values, height=0.7, color=theme.judge, label="judge")
        intervals = [*(measure.interval for measure in measures), evaluation.interval]
        _draw_intervals(axes, rows, intervals, theme)
        _draw_baselines(axes, measures, rows, theme)
        for row, value in zip(rows, values, strict=True):
            axes.annotate(
                f"{value:.1f} %",
                (100, row),
                xytext=(48, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                annotation_clip=False,
            )
        axes.set_yticks(rows, [*(drawn_words(measure.criterion) for measure in measures), "mean"])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("accuracy (% of labelled items)")
        axes.grid(axis="x")
        finish(figure, [axes], f"Accuracy with 95 % intervals\n{_against(evaluation)}", theme)
        add_legend(figure, axes, 3)
    return figure


def _draw_intervals(
    axes: Axes, rows: Sequence[float], intervals: Sequence[Interval | None], theme: Theme
) -> None:
    for row, interval in zip(rows, intervals, strict=True):
        if interval is None:
            continue
        low, high = 100 * interval.low, 100 * interval.high
        axes.plot([low, high], [row, row], color=theme.text, linewidth=1.4, marker="|", markersize=7)
    axes.plot([], [], color=theme.text, linewidth=1.4, marker="|", markersize=7, label="95 % interval")


def _draw_baselines(
    axes: Axes, measures: Sequence[LabelMeasures], rows: Sequence[float], theme: Theme
) -> None:
    """Marks of the baselines, of the criteria and their means, one above the other where they are equal;
    one line for guessing.
    """
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


def confusion_figure(evaluation: Evaluation, dark: bool = False) -> Figure:
    """A matrix for each criterion: human labels down, the judge's across, with the number of items."""
    measures = list(evaluation.labels.values())
    unscored = any(measure.unscored for measure in measures)
    with drawing(dark) as theme:
        figure, panels = new_panels(len(measures), 2.55)
        for axes, measure in zip(panels, measures, strict=True):
            _draw_confusion(axes, measure, unscored, theme)
        name_axes(panels, "judge's label", "human label")
        title = "Human labels (rows) and the judge's (columns): number of items, shaded by share of the row"
        finish(figure, panels, f"{title}\n{_against(evaluation)}", theme)
    return figure


def _draw_confusion(axes: Axes, measures: LabelMeasures, unscored: bool, theme: Theme) -> None:
    columns = len(PREFERENCES) + unscored
    counts = np.array(list(measures.confusion.values()))[:, :columns]
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
    names = [*_LABEL_NAMES, _UNSCORED_NAME][:columns]
    axes.set_xticks(np.arange(columns) + 0.5, names)
    axes.set_yticks(np.arange(len(counts)) + 0.5, map(_label_name, measures.confusion))
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, color=theme.human, linewidth=0.5)
    axes.invert_yaxis()
    axes.set_title(f"{drawn_words(measures.criterion)} ({measures.items:,})")


def _label_name(label: HumanLabel) -> str:
    return label.value.replace("_", "\n")


_LABEL_NAMES = list(map(_label_name, PREFERENCES))
_UNSCORED_NAME = "un-\nscored"


def label_figure(evaluation: Evaluation, dark: bool = False) -> Figure:
    """How often annotators and the judge gave each label, by criterion."""
    measures = list(evaluation.labels.values())
    unscored = any(measure.unscored for measure in measures)
    with drawing(dark) as theme:
        figure, panels = new_panels(len(measures), 2.1, share_y=True)
        for axes, measure in zip(panels, measures, strict=True):
            _draw_labels(axes, measure, unscored, theme)
        name_axes(panels, "", "items")
        panels[0].margins(y=0.15)
        finish(figure, panels, f"How often each label was given\n{_against(evaluation)}", theme)
        add_legend(figure, panels[0], 2)
    return figure


def _draw_labels(axes: Axes, measures: LabelMeasures, unscored: bool, theme: Theme) -> None:
    labels = labels_beside(measures.human)
    human = [measures.human.get(label, 0) for label in labels]
    judge = [measures.predicted.get(label, 0) if isinstance(label, Preference) else 0 for label in labels]
    judge += [measures.unscored] if unscored else []
    names = [*map(_label_name, labels), _UNSCORED_NAME][: len(judge)]
    for counts, shift, colour, who, hatch in (
        (human, -0.2, theme.human, "annotators", "//"),
        (judge, 0.2, theme.judge, "judge", ""),
    ):
        places = np.arange(len(counts)) + shift
        bars = axes.bar(places, counts, width=0.38, color=colour, label=who)
        stripe(bars, hatch, theme)
        axes.bar_label(bars, [narrow_count(count) for count in counts], fontsize=6.5, padding=1)
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    axes.set_title(f"{drawn_words(measures.criterion)} ({measures.items:,})")
    axes.grid(axis="y")


def reliability_figure(
    bins: Mapping[str, Sequence[ReliabilityBin]], name: str = "", dark: bool = False
) -> Figure:
    """How often the judge was right by its confidence: on the diagonal, its probabilities can be taken
    at their word. The number at each point is its count of judgments.
    """
    with drawing(dark) as theme:
        figure, panels = new_panels(len(bins), 2.35)
        for axes, (criterion, found) in zip(panels, bins.items(), strict=True):
            _draw_reliability(axes, criterion, found, theme)
        name_axes(panels, "probability of its label (%)", "accuracy (%)")
        title = "Reliability: accuracy by confidence (number of judgments)"
        finish(figure, panels, f"{title}\n{drawable(name)}".rstrip(), theme)
    return figure


def _draw_reliability(axes: Axes, criterion: str, bins: Sequence[ReliabilityBin], theme: Theme) -> None:
    sure = [100 * bin_.confidence for bin_ in bins]
    right = [100 * bin_.accuracy for bin_ in bins]
    largest = max((bin_.count for bin_ in bins), default=1)
    # Only as long as the axes: Qt does not clip what leaves them.
    axes.plot([_MOST_UNCERTAIN, 100], [_MOST_UNCERTAIN, 100], color=theme.muted, linestyle="--", linewidth=1)
    axes.vlines(sure, sure, right, color=theme.judge, linewidth=1)
    sizes = [18 + 70 * bin_.count / largest for bin_ in bins]
    axes.scatter(sure, right, s=sizes, color=theme.judge, edgecolors=theme.paper, zorder=3, clip_on=False)
    for bin_, x, y in zip(bins, sure, right, strict=True):
        # Away from the diagonal, where nothing else is drawn.
        above = y >= x
        axes.annotate(
            narrow_count(bin_.count),
            (x, y),
            xytext=(0, 7 if above else -7),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=6.5,
        )
    axes.set_xlim(_MOST_UNCERTAIN, 104)
    axes.set_ylim(-14, 116)
    axes.set_xticks(range(25, 101, 25))
    axes.set_yticks(range(0, 101, 25))
    axes.set_title(drawn_words(criterion))
    axes.grid()


def margin_figure(weighted_scoring: WeightedScoring, name: str = "", dark: bool = False) -> Figure:
    """The margins of the weighted judge by winner, in score points, and the tie threshold."""
    edges = _margin_edges(weighted_scoring)
    decided = weighted_scoring.result["results"]
    with drawing(dark) as theme:
        figure = new_figure(3.2)
        axes = figure.subplots()
        base = np.zeros(len(edges) - 1)
        colours = (theme.human, theme.judge, theme.third)
        for winner, colour, hatch in zip((TIE, *WINNERS[:2]), colours, ("..", "", "//"), strict=True):
            margins = [float(decision["margin"]) for decision in decided if decision["winner"] == winner]
            counts = _counts_within(margins, edges)
            label = f"{'tie' if winner == TIE else f'{winner} wins'} ({len(margins):,})"
            bars = axes.bar(edges[:-1], counts, np.diff(edges), base, align="edge", color=colour, label=label)
            stripe(bars, hatch, theme)
            base += counts
        threshold = weighted_scoring.tie_threshold
        axes.axvline(
            threshold, color=theme.marked, linewidth=1.4, linestyle="--", label=f"tie up to {threshold:g}"
        )
        axes.set_xlim(0, edges[-1])
        axes.set_ylim(0, 1.08 * max(base.max(), 1))
        axes.set_xlabel("margin (score points)")
        axes.set_ylabel("comparisons")
        axes.grid(axis="y")
        finish(figure, [axes], f"Margins of the weighted judge\n{drawable(name)}".rstrip(), theme)
        add_legend(figure, axes, 4)
    return figure


def _margin_edges(weighted_scoring: WeightedScoring) -> FloatArray:
    """About twenty bins from 0 to the largest margin; where it can be, one ends at the tie threshold."""
    threshold = weighted_scoring.tie_threshold
    largest = max([*weighted_scoring.margins, threshold]) or 1.0
    width = largest / _MARGIN_BINS
    if threshold > width / 2:
        width = threshold / max(1, round(threshold / width))
    return np.arange(math.ceil(largest / width - 1e-6) + 1, dtype=np.float64) * width


def _counts_within(margins: Sequence[float], edges: FloatArray) -> IntArray:
    """How many margins are in each bin; one that equals an edge belongs to the bin that ends there.

    That is how ties are decided, so that no tie stands beyond the threshold.
    """
    rounding = 1e-6 * edges[-1]
    places = np.searchsorted(edges[1:-1] + rounding, margins)
    return np.bincount(places, minlength=len(edges) - 1)


def order_figure(report: MarginReport, name: str = "", dark: bool = False) -> Figure:
    """Labels that stay equal, in percent, by the share of items that are read in both orders, for margins
    from 0 to 1: together, also calibrated, and by criterion; and the least margin that keeps enough of each
    criterion's labels.
    """
    with drawing(dark) as theme:
        figure = new_figure(3.4)
        axes = figure.subplots()
        points = sorted(report.points, key=lambda point: point.read)
        read = [100 * point.read for point in points]
        for criterion, line in zip(report.criteria, _LINES * len(report.criteria), strict=False):
            kept = [100 * point.kept[criterion] for point in points]
            axes.plot(
                read, kept, linestyle=line, color=theme.muted, linewidth=1, label=drawn_words(criterion)
            )
        equal = [100 * point.equal for point in points]
        axes.plot(read, equal, color=theme.judge, linewidth=2, marker=".", label="all criteria")
        both = [(100 * point.read, 100 * of.equal) for point in points if (of := point.calibrated)]
        if both:
            axes.plot(*zip(*both, strict=True), color=theme.third, linewidth=2, label="all, calibrated")
        axes.axhline(
            100 * report.keep, color=theme.text, linestyle=":", linewidth=1, label=f"{report.keep:.0%} kept"
        )
        _mark_least(axes, report, theme)
        axes.set_xlim(0, 100)
        axes.set_xlabel("items read in both orders (%)")
        axes.set_ylabel("same label as with both orders (%)")
        axes.grid()
        items = counted(report.least.items, "item", "items")
        title = f"Second order only if uncertain: labels kept\n{drawable(name)}, {items}"
        finish(figure, [axes], title, theme)
        add_legend(figure, axes, 4)
    return figure


def _mark_least(axes: Axes, report: MarginReport, theme: Theme) -> None:
    if not report.reached:
        return
    least = report.least
    spot = (100 * least.read, 100 * least.equal)
    axes.plot(*spot, linestyle="none", marker="D", color=theme.marked, label=f"margin {least.below:g}")


def _against(evaluation: Evaluation) -> str:
    matched = evaluation.matched
    held = f"{drawable(evaluation.name)} against {drawable(matched.dataset.name)}"
    return f"{held}, {matched.items_in_words}"


_HUMAN = Column("human", "human label", Kind.NAME, "The label that annotators gave.")
_COUNT = Column("judgments", "judgments", Kind.COUNT, "The number of judgments with about this confidence.")
_SURE = Column(
    "sure",
    "probability of its label",
    Kind.SHARE,
    "The mean probability of the judge's label (confidence).",
)
_RIGHT = Column("right", "right", Kind.SHARE, "The share of these that are right (accuracy).")


def figure_table(
    name: str,
    evaluation: Evaluation,
    bins: Mapping[str, Sequence[ReliabilityBin]],
    orders: MarginReport | None = None,
) -> Table | None:
    """The numbers of a figure of an evaluation; None for a figure that draws others."""
    match name:
        case "accuracy":
            return accuracy_table(evaluation)
        case "labels":
            return _label_table(evaluation)
        case "confusion":
            return _confusion_table(evaluation)
        case "reliability":
            rows: list[Row] = [
                [words(criterion), each.count, each.confidence, each.accuracy]
                for criterion, found in bins.items()
                for each in found
            ]
            return Table((CRITERION, _COUNT, _SURE, _RIGHT), rows)
        case "orders" if orders:
            return margin_table(orders)
        case _:
            return None


def _label_table(evaluation: Evaluation) -> Table:
    columns = (
        CRITERION,
        Column("label", "label", Kind.NAME, "The label; “unscored” where the judge gave none."),
        Column("people", "annotators", Kind.COUNT, "How often annotators gave it."),
        Column("judge", "judge", Kind.COUNT, "How often the judge gave it."),
    )
    rows: list[Row] = []
    for measure in evaluation.labels.values():
        for label in labels_beside(measure.human):
            judged = measure.predicted.get(label, 0) if isinstance(label, Preference) else ""
            rows.append([words(measure.criterion), words(label), measure.human.get(label, 0), judged])
        if measure.unscored:
            rows.append([words(measure.criterion), "unscored", "", measure.unscored])
    return Table(columns, rows)


def _confusion_table(evaluation: Evaluation) -> Table:
    rows: list[Row] = [
        [words(measure.criterion), words(label), *counts]
        for measure in evaluation.labels.values()
        for label, counts in measure.confusion.items()
    ]
    return Table((CRITERION, _HUMAN, *LABELS_GIVEN), rows)
