"""The figures of an evaluation, as matplotlib figures, and these as PNG or SVG.

Every function makes a figure of its own and leaves matplotlib's settings as they were, so that a window may
show it too. Names of files and systems are drawn as they are, never read as formulas.

Knows: what each figure shows and how it looks. Does not know: files, reports, windows.
"""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib import font_manager, style
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.typing import ColorType

from engine.calibration import ReliabilityBin
from engine.calibration_fit import IntArray
from engine.evaluation import Evaluation, mean_of
from engine.label_measures import LabelMeasures
from engine.preference import FloatArray
from engine.records import PREFERENCES
from engine.weighing import TIE, WINNERS, Weighing

_FONT = "DejaVu Sans"  # comes with matplotlib
_WIDTH = 7.5  # inches
_PANELS_ACROSS = 3
_LONGEST_NAME = 48
_NOT_DRAWABLE = "□"
_MARGIN_BINS = 20


@dataclass(frozen=True)
class _Theme:
    """Colours that colour-blind people can tell apart, on one kind of paper."""

    paper: str
    text: str
    muted: str
    judge: str
    human: str
    marked: str
    third: str


_LIGHT = _Theme("#ffffff", "#1c2024", "#737b85", "#2f74b5", "#a3abb5", "#c75000", "#e8a33d")
_DARK = _Theme("#16191d", "#e6e9ec", "#98a1ab", "#6fb1ec", "#6d7681", "#ff8f4a", "#d9b25f")


def all_figures(
    evaluation: Evaluation,
    bins: Mapping[str, Sequence[ReliabilityBin]],
    weighing: Weighing | None = None,
    dark: bool = False,
) -> dict[str, Figure]:
    """Every figure that there is something to show in, by name, in the order in which they are read."""
    figures = {
        "accuracy": accuracy_figure(evaluation, dark),
        "labels": label_figure(evaluation, dark),
        "confusion": confusion_figure(evaluation, dark),
    }
    if bins:
        figures["reliability"] = reliability_figure(bins, evaluation.name, dark)
    if weighing and weighing.margins:
        figures["margins"] = margin_figure(weighing, evaluation.name, dark)
    return figures


FIGURE_NAMES = ("accuracy", "labels", "confusion", "reliability", "margins")


def accuracy_figure(evaluation: Evaluation, dark: bool = False) -> Figure:
    """Accuracy by criterion in percent with its 95 % interval, the mean, and what trivial judges reach."""
    measures = list(evaluation.labels.values())
    rows = [*range(len(measures)), len(measures) + 0.3]
    with _drawing(dark) as theme:
        figure = _figure(1.7 + 0.42 * len(rows))
        axes = figure.subplots()
        values = [100 * one.accuracy for one in measures] + [100 * evaluation.accuracy]
        axes.barh(rows, values, height=0.7, color=theme.judge, label="judge")
        _draw_intervals(axes, measures, theme)
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
        axes.set_yticks(rows, [*(_words(one.criterion) for one in measures), "mean"])
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.set_xlabel("accuracy (% of labelled items)")
        axes.grid(axis="x")
        _finish(figure, [axes], f"Accuracy with 95 % intervals\n{_against(evaluation)}", theme)
        _legend(figure, axes, 3)
    return figure


def _draw_intervals(axes: Axes, measures: Sequence[LabelMeasures], theme: _Theme) -> None:
    for row, one in enumerate(measures):
        if one.interval is None:
            continue
        low, high = 100 * one.interval.low, 100 * one.interval.high
        axes.plot([low, high], [row, row], color=theme.text, linewidth=1.4, marker="|", markersize=7)
    axes.plot([], [], color=theme.text, linewidth=1.4, marker="|", markersize=7, label="95 % interval")


def _draw_baselines(
    axes: Axes, measures: Sequence[LabelMeasures], rows: Sequence[float], theme: _Theme
) -> None:
    """Marks of the trivial judges, of the criteria and their means, one above the other where they are equal;
    one line for guessing.
    """
    for label, name, marker, colour, shift in (
        ("most frequent label", "most_frequent", "D", theme.marked, 0.0),
        ("always A", "always_a", "^", theme.paper, -0.24),
        ("longer response", "longer", "s", theme.paper, 0.24),
    ):
        shares = [getattr(one.baselines, name) for one in measures]
        points = zip([*shares, mean_of(shares)], rows, strict=True)
        known = [(100 * share, row + shift) for share, row in points if share is not None]
        axes.plot(
            [x for x, _ in known],
            [y for _, y in known],
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
    unscored = any(one.unscored for one in measures)
    with _drawing(dark) as theme:
        figure, panels = _panels(len(measures), 2.55)
        for axes, one in zip(panels, measures, strict=True):
            _draw_confusion(axes, one, unscored, theme)
        _name_axes(panels, "judge's label", "human label")
        title = "Human labels (rows) and the judge's (columns): number of items, shaded by share of the row"
        _finish(figure, panels, f"{title}\n{_against(evaluation)}", theme)
    return figure


def _draw_confusion(axes: Axes, measures: LabelMeasures, unscored: bool, theme: _Theme) -> None:
    columns = len(PREFERENCES) + unscored
    counts = np.array(measures.confusion)[:, :columns]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shades = LinearSegmentedColormap.from_list("shares", [theme.paper, theme.judge])
    axes.pcolormesh(shares, cmap=shades, vmin=0, vmax=1, edgecolors=theme.human, linewidth=0.5)
    for row, column in np.ndindex(counts.shape):
        count = int(counts[row, column])
        colour = _readable_on(shades(shares[row, column]), theme) if count else theme.muted
        axes.text(column + 0.5, row + 0.5, f"{count:,}", ha="center", va="center", color=colour)
    names = [*_LABEL_NAMES, _UNSCORED_NAME][:columns]
    axes.set_xticks(np.arange(columns) + 0.5, names)
    axes.set_yticks(np.arange(len(PREFERENCES)) + 0.5, _LABEL_NAMES)
    axes.tick_params(length=0)
    axes.spines[:].set(visible=True, color=theme.human, linewidth=0.5)
    axes.invert_yaxis()
    axes.set_title(f"{_words(measures.criterion)} ({measures.items:,})")


def _readable_on(shade: ColorType, theme: _Theme) -> str:
    """Of the theme's two extremes the one with more contrast. Source: WCAG 2.2, contrast ratio."""
    ground, text, paper = (_luminance(colour) + 0.05 for colour in (shade, theme.text, theme.paper))
    return max(
        (text, theme.text), (paper, theme.paper), key=lambda one: max(one[0] / ground, ground / one[0])
    )[1]


def _luminance(colour: ColorType) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_LABEL_NAMES = [label.value.replace("_", "\n") for label in PREFERENCES]
_UNSCORED_NAME = "un-\nscored"


def label_figure(evaluation: Evaluation, dark: bool = False) -> Figure:
    """How often people and the judge gave each label, by criterion."""
    measures = list(evaluation.labels.values())
    unscored = any(one.unscored for one in measures)
    with _drawing(dark) as theme:
        figure, panels = _panels(len(measures), 2.1, share_y=True)
        for axes, one in zip(panels, measures, strict=True):
            _draw_labels(axes, one, unscored, theme)
        _name_axes(panels, "", "items")
        panels[0].margins(y=0.15)
        _finish(figure, panels, f"Labels given by people and by the judge\n{_against(evaluation)}", theme)
        _legend(figure, panels[0], 2)
    return figure


def _draw_labels(axes: Axes, measures: LabelMeasures, unscored: bool, theme: _Theme) -> None:
    human = [measures.human.get(label, 0) for label in PREFERENCES]
    judge = [measures.predicted.get(label, 0) for label in PREFERENCES]
    judge += [measures.unscored] if unscored else []
    names = [*_LABEL_NAMES, _UNSCORED_NAME][: len(judge)]
    for counts, shift, colour, who in (
        (human, -0.2, theme.human, "people"),
        (judge, 0.2, theme.judge, "judge"),
    ):
        places = np.arange(len(counts)) + shift
        bars = axes.bar(places, counts, width=0.38, color=colour, label=who)
        axes.bar_label(bars, [_short(count) for count in counts], fontsize=6.5, padding=1)
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(axis="x", length=0)
    axes.set_title(f"{_words(measures.criterion)} ({measures.items:,})")
    axes.grid(axis="y")


def reliability_figure(
    bins: Mapping[str, Sequence[ReliabilityBin]], name: str = "", dark: bool = False
) -> Figure:
    """How often the judge was right where it was so sure: on the diagonal, its probabilities can be taken
    at their word. The number at each point is its count of judgments.
    """
    with _drawing(dark) as theme:
        figure, panels = _panels(len(bins), 2.35)
        for axes, (criterion, found) in zip(panels, bins.items(), strict=True):
            _draw_reliability(axes, criterion, found, theme)
        _name_axes(panels, "probability of its label (%)", "share that was right (%)")
        title = "Reliability: how often the judge was right, by how sure it was (number of judgments)"
        _finish(figure, panels, f"{title}\n{_drawable(name)}".rstrip(), theme)
    return figure


def _draw_reliability(axes: Axes, criterion: str, bins: Sequence[ReliabilityBin], theme: _Theme) -> None:
    sure = [100 * one.confidence for one in bins]
    right = [100 * one.accuracy for one in bins]
    largest = max((one.count for one in bins), default=1)
    axes.plot([0, 100], [0, 100], color=theme.muted, linestyle="--", linewidth=1)
    axes.vlines(sure, sure, right, color=theme.judge, linewidth=1)
    sizes = [18 + 70 * one.count / largest for one in bins]
    axes.scatter(sure, right, s=sizes, color=theme.judge, edgecolors=theme.paper, zorder=3, clip_on=False)
    for one, x, y in zip(bins, sure, right, strict=True):
        # Away from the diagonal, where nothing else is drawn.
        above = y >= x
        axes.annotate(
            _short(one.count),
            (x, y),
            xytext=(0, 7 if above else -7),
            textcoords="offset points",
            ha="center",
            va="bottom" if above else "top",
            fontsize=6.5,
        )
    axes.set_xlim(20, 104)  # the likeliest of four labels has 25 % or more
    axes.set_ylim(-14, 116)
    axes.set_xticks(range(25, 101, 25))
    axes.set_yticks(range(0, 101, 25))
    axes.set_title(_words(criterion))
    axes.grid()


def margin_figure(weighing: Weighing, name: str = "", dark: bool = False) -> Figure:
    """The margins of the weighted judge by winner, in score points, and the tie threshold."""
    edges = _margin_edges(weighing)
    decided = weighing.result["results"]
    with _drawing(dark) as theme:
        figure = _figure(3.2)
        axes = figure.subplots()
        base = np.zeros(len(edges) - 1)
        colours = (theme.judge, theme.third, theme.human)
        for winner, colour in zip((TIE, *WINNERS[:2]), (colours[2], *colours[:2]), strict=True):
            margins = [float(one["margin"]) for one in decided if one["winner"] == winner]
            counts = _counts_within(margins, edges)
            label = f"{'tie' if winner == TIE else f'{winner} wins'} ({len(margins):,})"
            axes.bar(edges[:-1], counts, np.diff(edges), base, align="edge", color=colour, label=label)
            base += counts
        threshold = weighing.tie_threshold
        axes.axvline(
            threshold, color=theme.marked, linewidth=1.4, linestyle="--", label=f"tie up to {threshold:g}"
        )
        axes.set_xlim(0, edges[-1])
        axes.set_ylim(0, 1.08 * max(base.max(), 1))
        axes.set_xlabel("margin (score points)")
        axes.set_ylabel("comparisons")
        axes.grid(axis="y")
        _finish(figure, [axes], f"Margins of the weighted judge\n{_drawable(name)}".rstrip(), theme)
        _legend(figure, axes, 4)
    return figure


def _margin_edges(weighing: Weighing) -> FloatArray:
    """About twenty bins from 0 to the largest margin; where it can be, one ends at the tie threshold."""
    threshold = weighing.tie_threshold
    largest = max([*weighing.margins, threshold]) or 1.0
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


def as_png(figure: Figure, dpi: int = 200) -> bytes:
    """The figure as a PNG; the same figure gives the same bytes."""
    return _saved(figure, "png", dpi, {"Software": None})


def as_svg(figure: Figure) -> bytes:
    """The figure as an SVG that needs no font and nothing else; the same figure gives the same bytes."""
    return _saved(figure, "svg", 72, dict.fromkeys(("Date", "Creator", "Format", "Type")))


def _saved(figure: Figure, form: str, dpi: int, metadata: dict[str, None]) -> bytes:
    buffer = io.BytesIO()
    for axes in figure.axes:
        # Back to where it was made: the layout starts from the last one, and would differ by a hair.
        if place := axes.get_subplotspec():
            axes.set_subplotspec(place)
    with style.context(["default", {"svg.fonttype": "path", "svg.hashsalt": "tiebreak"}]):
        figure.savefig(buffer, format=form, dpi=dpi, metadata=metadata)
    return buffer.getvalue()


@contextmanager
def _drawing(dark: bool) -> Iterator[_Theme]:
    """The settings under which a figure is made, whatever the user's own are; undone afterwards."""
    theme = _DARK if dark else _LIGHT
    settings = {
        "font.family": [_FONT],
        "font.size": 8,
        "axes.titlesize": 8.5,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.text,
        "axes.facecolor": theme.paper,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.facecolor": theme.paper,
        "figure.constrained_layout.h_pad": 0.06,
        "figure.constrained_layout.w_pad": 0.06,
        "grid.color": theme.muted,
        "grid.alpha": 0.25,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "text.color": theme.text,
        "text.parse_math": False,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
    }
    with style.context(["default", settings]):
        yield theme


def _figure(height: float) -> Figure:
    return Figure(figsize=(_WIDTH, height), layout="constrained")


def _panels(count: int, height: float, share_y: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure with one panel for each criterion, of `height` inches each."""
    down = math.ceil(count / _PANELS_ACROSS)
    figure = _figure(0.8 + height * down)
    grid = figure.subplots(down, _PANELS_ACROSS, squeeze=False, sharey=share_y)
    panels = list(grid.flat)
    for axes in panels[count:]:
        axes.remove()
    return figure, panels[:count]


def _name_axes(panels: Sequence[Axes], x: str, y: str) -> None:
    """What the axes show, said at the panels on the left and at those with none below."""
    for place, axes in enumerate(panels):
        if place % _PANELS_ACROSS == 0:
            axes.set_ylabel(y)
        if place + _PANELS_ACROSS >= len(panels):
            axes.set_xlabel(x)


def _legend(figure: Figure, axes: Axes, columns: int) -> None:
    """What the marks of these axes mean, below all panels; bars first."""
    handles, names = axes.get_legend_handles_labels()
    order = sorted(range(len(names)), key=lambda place: isinstance(handles[place], Line2D))
    figure.legend(
        [handles[place] for place in order],
        [names[place] for place in order],
        loc="outside lower center",
        ncols=columns,
    )


def _finish(figure: Figure, panels: Sequence[Axes], title: str, theme: _Theme) -> None:
    """The title, and colours that ticks made later have too."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=9)
    for axes in panels:
        axes.tick_params(color=theme.muted, labelcolor=theme.text)


def _against(evaluation: Evaluation) -> str:
    matched = evaluation.matched
    return f"{_drawable(evaluation.name)} against {_drawable(matched.dataset.name)}, {matched.items:,} items"


def _short(count: int) -> str:
    """A count for a narrow place: 999, 1.2k, 12k."""
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 9950 else f"{count / 1000:.0f}k"


def _words(criterion: str) -> str:
    return _drawable(criterion.replace("_", " "))


def _drawable(name: str) -> str:
    """A foreign name on one line: long ones are cut, and what the font does not have is a square."""
    known = _characters()
    cut = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
    return "".join(char if char.isprintable() and ord(char) in known else _NOT_DRAWABLE for char in cut)


@cache
def _characters() -> frozenset[int]:
    """What the font can draw."""
    path = font_manager.findfont(_FONT)
    return frozenset(font_manager.get_font(path).get_charmap())
