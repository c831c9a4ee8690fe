"""The figure of a ranking: a point for each candidate, with its interval, and which do not differ
significantly.

The figure of a learning curve: log-loss and accuracy by number of training labels.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator
from matplotlib.transforms import blended_transform_factory

from engine.calibration.learning import LearningCurve
from engine.core.formatting import number, percent
from engine.core.tables import Estimate
from engine.ranking.ranking import Ranking
from engine.report.figure_style import Theme, add_legend, drawable, drawing, finish, new_figure
from engine.report.learning import in_nats, who
from engine.report.ranking import begun

_HEIGHT = 3.2  # inches


def learning_figure(curve: LearningCurve, title: str = "", dark: bool = False) -> Figure:
    """At the left the log-loss, at the right the accuracy, by labels on an axis of doublings;
    each with 95 % intervals, next to the baseline of the same labels; at the right annotators too.
    """
    with drawing(dark) as theme:
        figure = new_figure(_HEIGHT)
        loss, right = figure.subplots(1, 2)
        _draw_losses(loss, curve, theme)
        _draw_shares(right, curve, theme)
        for axes in (loss, right):
            _name_labels(axes, [point.labels for point in curve.points])
            axes.grid()
        name = f"Learning curve, with 95 % intervals\n{drawable(title)}".rstrip()
        finish(figure, [loss, right], name, theme)
        add_legend(figure, right, 4)
    return figure


def learning_in_words(curve: LearningCurve) -> str:
    """What the figure shows, for those who do not see it."""
    points = [
        f"{point.labels:,} labels: log-loss {in_nats(point.log_loss)}, class prior"
        f" {number(point.frequencies, 3)}; accuracy {point.right} %, most frequent label"
        f" {percent(point.frequent.value)}"
        for point in curve.points
    ]
    annotators = [f"{drawable(who(held))} {held.own} %" for held in curve.annotators]
    beside = f" Annotators against the majority of the others: {'; '.join(annotators)}." if annotators else ""
    return f"Log-loss and accuracy by number of training labels. {'. '.join(points)}.{beside}"


def _draw_losses(axes: Axes, curve: LearningCurve, theme: Theme) -> None:
    points = curve.points
    labels = [point.labels for point in points]
    ends = [point.log_loss.interval for point in points]
    _draw_curve(axes, labels, [point.log_loss.value for point in points], ends, theme)
    _draw_baseline(axes, labels, [point.frequencies for point in points], theme)
    axes.set_ylabel("log-loss (nats)")


def _draw_shares(axes: Axes, curve: LearningCurve, theme: Theme) -> None:
    points = curve.points
    labels = [point.labels for point in points]
    ends = [point.right.ends and tuple(100 * end for end in point.right.ends) for point in points]
    _draw_curve(axes, labels, [100 * point.right.value for point in points], ends, theme)
    _draw_baseline(axes, labels, [100 * point.frequent.value for point in points], theme)
    for place, held in enumerate(curve.annotators):
        in_turn = held.annotator is None
        axes.axhline(
            100 * held.own.value,
            color=theme.third if in_turn else theme.muted,
            linestyle="-" if in_turn else ":",
            linewidth=1.8 if in_turn else 1,
            label="annotators, each in turn" if in_turn else "each annotator" if place == 1 else None,
            zorder=1,
        )
    axes.set_ylabel("accuracy (%)")


def _draw_curve(
    axes: Axes,
    labels: Sequence[int],
    values: Sequence[float],
    intervals: Sequence[tuple[float, ...] | None],
    theme: Theme,
) -> None:
    axes.plot(labels, values, color=theme.judge, linewidth=1.6, marker="o", markersize=4, label="calibrated")
    for label, ends in zip(labels, intervals, strict=True):
        if ends is not None:
            axes.plot([label, label], ends, color=theme.judge, linewidth=1, marker="_", markersize=7)


def _draw_baseline(axes: Axes, labels: Sequence[int], values: Sequence[float], theme: Theme) -> None:
    name = "class prior, most frequent label"
    axes.plot(
        labels,
        values,
        color=theme.marked,
        linestyle="--",
        linewidth=1.2,
        marker="D",
        markersize=3.5,
        label=name,
    )


def _name_labels(axes: Axes, labels: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(labels, [f"{count:,}" for count in labels])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("training labels per criterion")


_ROW = 0.24  # inches
_GROUP_STEP = 0.022  # of the width, between the lines of two groups


def ranking_figure(ranking: Ranking, title: str, dark: bool = False) -> Figure:
    """A row for each candidate, the best first: what it would win against one of the mean score, else its win
    rate, in percent with its 95 % interval; lines at the right join those that do not differ significantly.
    """
    shown = _estimates(ranking)
    with drawing(dark) as theme:
        figure = new_figure(1.1 + _ROW * max(len(shown), 3))
        axes = figure.subplots()
        rows = range(len(shown))
        for row, estimate in zip(rows, shown.values(), strict=True):
            _draw_estimate(axes, row, estimate, theme)
        axes.axvline(50, color=theme.muted, linestyle=":", linewidth=1.2)
        axes.set_yticks(rows, [drawable(name) for name in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlim(0, 100)
        axes.set_xlabel(f"{_measure(ranking)} (%)")
        axes.grid(axis="x")
        _draw_groups(axes, _groups(ranking), list(shown), theme)
        finish(figure, [axes], f"{drawable(begun(title))}, with 95 % intervals", theme)
    return figure


def ranking_in_words(ranking: Ranking) -> str:
    """What the figure shows, for those who do not see it."""
    shown = [f"{name} {estimate} %" for name, estimate in _estimates(ranking).items()]
    groups = "; ".join(", ".join(group) for group in _groups(ranking))
    apart = f" Not significantly different: {groups}." if groups else ""
    return (
        f"Points with 95 % intervals of the {_measure(ranking)}, the best first. {'; '.join(shown)}.{apart}"
    )


def _measure(ranking: Ranking) -> str:
    return "win rate against the mean candidate" if ranking.bradley_terry else "win rate"


def _estimates(ranking: Ranking) -> Mapping[str, Estimate]:
    found, rates = ranking.bradley_terry, ranking.rates.candidates
    return {name: found.scores[name] if found else rates[name].rate for name in ranking.order}


def _groups(ranking: Ranking) -> Sequence[Sequence[str]]:
    """Those of two candidates or more."""
    found = ranking.bradley_terry
    return [group for group in found.groups if len(group) > 1] if found else []


def _draw_estimate(axes: Axes, row: int, estimate: Estimate, theme: Theme) -> None:
    if estimate.ends is not None:
        ends = [100 * end for end in estimate.ends]
        axes.plot(ends, [row, row], color=theme.judge, linewidth=1.6, marker="|", markersize=6)
    axes.plot(100 * estimate.value, row, marker="o", markersize=5, color=theme.text, zorder=3)


def _draw_groups(axes: Axes, groups: Sequence[Sequence[str]], names: Sequence[str], theme: Theme) -> None:
    """A line for each group next to the rows of its candidates, a thin one past those that are none of it."""
    beside = blended_transform_factory(axes.transAxes, axes.transData)
    parts: dict[str, Any] = {"transform": beside, "color": theme.marked, "clip_on": False}
    ends: list[float] = []  # where the last line of each column at the right ends: the next one may follow it
    for group in groups:
        runs = _runs([names.index(name) for name in group])
        rows = [runs[0][0] - 0.25, runs[-1][1] + 0.25]
        column = next((place for place, end in enumerate(ends) if end < rows[0]), len(ends))
        ends[column : column + 1] = [rows[1]]
        x = 1.02 + _GROUP_STEP * column
        if len(runs) > 1:
            axes.plot([x, x], rows, linewidth=0.6, **parts)
        for first, last in runs:
            axes.plot([x, x], [first - 0.25, last + 0.25], linewidth=2.2, **parts)


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of rows that follow each other without a gap."""
    gaps = [place for place, (one, other) in enumerate(pairwise(rows), 1) if other > one + 1]
    return [(rows[start], rows[end - 1]) for start, end in pairwise([0, *gaps, len(rows)])]
