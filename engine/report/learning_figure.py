"""The figure of a learning curve: log-loss and accuracy by number of training labels.

Knows: what the figure shows, in a picture and in words. Does not know: formulas, colours, files, windows.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, NullLocator

from engine.calibrate.learning import LearningCurve
from engine.core.formatting import number, percent
from engine.report.figure_style import Theme, add_legend, drawable, drawing, finish, new_figure
from engine.report.learning_sections import in_nats, who

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
