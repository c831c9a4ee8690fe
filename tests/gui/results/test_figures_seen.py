"""Figures in pictures, in both themes: their words 4.5:1 to what is around the letters, their marks 3:1."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text
from PySide6.QtGui import QColor, QImage
from scipy import ndimage

from engine.calibration.scaling import ReliabilityBin
from engine.core.items import HumanLabel
from engine.metrics.evaluation import Evaluation, evaluate
from engine.ranking.weighted_scoring import ScoredPairs, weigh
from engine.report.accuracy import accuracy_figure, confusion_figure, label_figure
from engine.report.calibration import reliability_figure
from engine.report.weighted_scoring import margin_figure
from tests.gui.painted import ink_contrast
from tests.gui.seen import contrast
from tests.judged import BAD, GOOD, TIE, A, B, matched

_DPI = 300
GIVEN: list[HumanLabel] = [A, A, B, GOOD, BAD, TIE, A, B]


def evaluation() -> Evaluation:
    return evaluate(matched([A, B, B, GOOD, A, BAD, None, B], GIVEN))


def margins(dark: bool) -> Figure:
    rows = [
        {"id": str(place), "scores_a": {"safety": max(margin, 0)}, "scores_b": {"safety": max(-margin, 0)}}
        for place, margin in enumerate([3, -3, 0, 5, -5, 3])
    ]
    return margin_figure(weigh(ScoredPairs(rows), {"safety": 1.0}, 0.5), "run 1", dark)


FIGURES: dict[str, Callable[[bool], Figure]] = {
    "accuracy": lambda dark: accuracy_figure(evaluation(), dark),
    "confusion": lambda dark: confusion_figure(evaluation(), dark),
    "labels": lambda dark: label_figure(evaluation(), dark),
    "reliability": lambda dark: reliability_figure(
        {"safety": [ReliabilityBin(0.2, 0.6, 5, 0.5, 0.4), ReliabilityBin(0.6, 1.0, 9, 0.9, 0.7)]},
        "run",
        dark,
    ),
    "margins": margins,
}


def drawn(figure: Figure) -> np.ndarray:
    """The pixels as 0xffrrggbb, shape (height, width), the origin at the top."""
    figure.set_dpi(_DPI)
    canvas: Any = FigureCanvasAgg(figure)  # of which matplotlib says no types
    canvas.draw()
    rgba = np.asarray(canvas.buffer_rgba()).astype(np.uint32)
    return (255 << 24) | rgba[..., 0] << 16 | rgba[..., 1] << 8 | rgba[..., 2]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", FIGURES)
def test_words_and_marks_of_a_figure_stand_out(name: str, dark: bool) -> None:
    figure = FIGURES[name](dark)
    pixels = drawn(figure)
    paper = QColor(int(pixels[0, 0]))
    words = [each for each in figure.findobj(Text) if each.get_text().strip() and each.get_visible()]
    faint = {each.get_text(): found for each in words if (found := of_text(pixels, each)) and found < 4.5}
    assert faint == {}
    bars = [
        bar
        for axes in figure.axes
        for bars in axes.containers
        if isinstance(bars, BarContainer)
        for bar in bars
    ]
    for bar in bars:
        left, low, right, high = (round(end) for end in bar.get_window_extent().extents)
        part = pixels[len(pixels) - high : len(pixels) - low, left:right]
        if part.shape[0] > 6 and part.shape[1] > 6:
            kinds, counts = np.unique(part, return_counts=True)
            assert contrast(QColor(int(kinds[counts.argmax()])), paper) >= 3
    lines = [line for axes in figure.axes for line in axes.lines if line.get_linestyle() != "None"]
    assert bars or lines or name == "confusion"
    for line in lines:
        colour = QColor(to_hex(line.get_color()))
        assert (pixels == colour.rgba()).any(), line
        assert contrast(colour, paper) >= 3


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_intervals_are_seen_on_their_bars(dark: bool) -> None:
    (axes,) = accuracy_figure(evaluation(), dark).axes
    (bars,) = (each for each in axes.containers if isinstance(each, BarContainer))
    ground = QColor(to_hex(bars.patches[0].get_facecolor()))
    assert contrast(QColor(to_hex(axes.lines[0].get_color())), ground) >= 3


def of_text(pixels: np.ndarray, text: Text) -> float | None:
    """The contrast of a text's letters, None where it is out of sight."""
    left, low, right, high = (round(end) for end in text.get_window_extent().extents)
    part = pixels[max(0, len(pixels) - high) : len(pixels) - low, max(0, left) : right]
    return ink_contrast(part.ravel(), QColor(to_hex(text.get_color()))) if part.size else None


def test_patterns_tell_bars_apart_in_grey() -> None:
    """People's bars have stripes and the judge's none; of the margins, wins of B have stripes, ties dots."""
    for name, wanted in (("labels", ["stripes", "plain"]), ("margins", ["dots", "plain", "stripes"])):
        figure = FIGURES[name](False)
        grey = in_grey(drawn(figure))
        groups = [each for each in figure.axes[0].containers if isinstance(each, BarContainer)]
        assert [pattern(grey, bars) for bars in groups] == wanted


def in_grey(pixels: np.ndarray) -> np.ndarray:
    """The same as a printer without colours has it, 0 to 255."""
    height, width = pixels.shape
    shown = QImage(pixels.astype(np.uint32).tobytes(), width, height, 4 * width, QImage.Format.Format_RGB32)
    grey = shown.convertToFormat(QImage.Format.Format_Grayscale8)
    return np.asarray(grey.constBits()).reshape(height, -1)[:, :width]


def pattern(grey: np.ndarray, bars: BarContainer) -> str:
    """What is seen in the largest of some bars: stripes are long, dots are not."""
    extents = [bar.get_window_extent().extents for bar in bars]
    left, low, right, high = max(extents, key=lambda ends: (ends[2] - ends[0]) * (ends[3] - ends[1]))
    part = grey[len(grey) - round(high) + 8 : len(grey) - round(low) - 8, round(left) + 8 : round(right) - 8]
    kinds, counts = np.unique(part, return_counts=True)
    marks = np.abs(part.astype(int) - int(kinds[counts.argmax()])) > 40
    if not marks.any():
        return "plain"
    assert 0.03 < marks.mean() < 0.5
    numbered, _ = ndimage.label(marks)
    highest = max(rows.stop - rows.start for rows, _ in ndimage.find_objects(numbered))
    return "stripes" if highest > _DPI / 15 else "dots"
