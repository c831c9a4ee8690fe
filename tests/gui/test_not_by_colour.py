"""What a colour says of a label a letter, a pattern or a line says, too; and each colour is seen at all."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QCheckBox, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from engine.core.items import HUMAN_LABELS, HumanLabel, Preference, Tie
from engine.core.prompt_text import Source, Span
from gui.dataset.item_preview import LabelLegend
from gui.results.weighted_scoring_jobs import MARGIN_BINS, WeightedResult
from gui.results.weighted_scoring_panel import MarginChart, WinBars
from gui.widgets.fields import Slider
from gui.widgets.label_mark import LETTERS, ShareBar, paint_label, paint_share
from gui.widgets.prompt_pane import InkSample, PromptPane, ShownPrompt
from gui.widgets.theme import Colours, ThemeChoice, apply_theme
from gui.widgets.views import ListView
from tests.gui.painted import hard_to_read, painted_texts, pixels_of
from tests.gui.seen import contrast, edge_contrast, picture

BOTH = pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
EVERY: tuple[HumanLabel | None, ...] = (*HUMAN_LABELS, None)
Dressed = Callable[[ThemeChoice], Colours]


@pytest.fixture
def dressed(qapp: QApplication) -> Iterator[Dressed]:
    points = qapp.font().pointSizeF()
    yield lambda theme: apply_theme(qapp, theme, 100, points).colours
    apply_theme(qapp, ThemeChoice.LIGHT, 100, points)


def shown(qtbot: QtBot, made: QWidget, width: int = 400, height: int = 260) -> QWidget:
    qtbot.addWidget(made)
    made.resize(width, height)
    made.show()
    return made


def texts(made: QWidget) -> list[str]:
    return [each.text for each in painted_texts(made)]


def weighed() -> WeightedResult:
    """Twice as many wins of A as of B, ties in the first bin."""
    bins = [(0, 0, 4), *([(4, 2, 0)] * (MARGIN_BINS - 1))]
    rates = {"A": (0.6, None), "B": (0.3, None), "tie": (0.1, None)}
    return WeightedResult(0.5, 100, 0, rates, 5.0, bins)


def most_frequent(shown: QImage, place: QRect) -> QColor:
    kinds, counts = np.unique(pixels_of(shown.copy(place)), return_counts=True)
    return QColor(int(kinds[counts.argmax()]))


def patterned(part: QImage) -> float:
    """The share of pixels that do not have the colour of most."""
    _, counts = np.unique(pixels_of(part), return_counts=True)
    return float(1 - counts.max() / counts.sum())


@BOTH
@pytest.mark.parametrize("label", EVERY, ids=str)
@pytest.mark.parametrize("paint", [paint_label, paint_share])
def test_the_mark_of_a_label_stands_out_and_its_letter_from_it(
    dressed: Dressed, theme: ThemeChoice, label: HumanLabel | None, paint: Callable[..., None]
) -> None:
    used, palette = dressed(theme), QApplication.palette()
    for ground in (used.panel, used.field, used.window, used.hover):
        drawn = QImage(80, 80, QImage.Format.Format_RGB32)
        drawn.fill(QColor(ground))
        painter = QPainter(drawn)
        paint(painter, QRectF(10, 10, 60, 60), label, palette)
        painter.end()
        mark = most_frequent(drawn, QRect(15, 15, 50, 50))
        assert contrast(mark, QColor(ground)) >= 3
        letter = max(
            (QColor(int(each)) for each in np.unique(pixels_of(drawn.copy(15, 15, 50, 50)))),
            key=lambda each: contrast(each, mark),
        )
        assert contrast(letter, mark) >= 4.5


@BOTH
def test_bars_and_their_legends_have_the_letters_of_labels(
    qtbot: QtBot, dressed: Dressed, theme: ThemeChoice
) -> None:
    dressed(theme)
    bar, legend, wins = ShareBar("Safety"), LabelLegend(), WinBars()
    bar.show_counts(dict.fromkeys(EVERY, 1))
    legend.show_labels(HUMAN_LABELS)
    wins.show_weighed(weighed())
    for made in (bar, legend, wins):
        shown(qtbot, made, 400, made.sizeHint().height())
        assert hard_to_read(made) == []
    assert texts(bar) == [LETTERS[label] for label in EVERY]
    assert set(texts(legend)) > {LETTERS[label] for label in HUMAN_LABELS}
    assert {LETTERS[label] for label in (Preference.A, Tie.TIE, Preference.B)} < set(texts(wins))


@BOTH
def test_parts_of_the_histogram_differ_without_colours(
    qtbot: QtBot, dressed: Dressed, theme: ThemeChoice
) -> None:
    """A is plain, B has lines and ties have dots of another grey; the legend says which is which."""
    used, made = dressed(theme), MarginChart()
    made.show_weighed(weighed())
    shown(qtbot, made, 500, 300)
    assert {"tie", "A wins", "B wins"} <= set(texts(made))
    place = made._place().toRect()
    width = place.width() // MARGIN_BINS
    grey = picture(made).convertToFormat(QImage.Format.Format_Grayscale8)
    bars = grey.convertToFormat(QImage.Format.Format_RGB32)
    last = place.left() + (MARGIN_BINS - 2) * width
    third = place.height() // 3
    of_b = bars.copy(last + 4, place.top() + 6, width - 8, third - 10)
    of_a = bars.copy(last + 4, place.top() + third + 8, width - 8, third)
    of_tie = bars.copy(place.left() + 3, place.bottom() - third, width // 3, third - 6)
    assert patterned(of_a) == 0
    assert 0.05 < patterned(of_b) < 0.5
    assert 0.05 < patterned(of_tie) < 0.5
    assert hard_to_read(made) == []
    ground = QColor(used.panel)
    assert contrast(QColor(used.of_label(Preference.B)), ground) >= 3


def test_texts_of_a_prompt_have_lines_of_their_own(qtbot: QtBot) -> None:
    foreign = (Source.INSTRUCTION, Source.RESPONSE_A, Source.RESPONSE_B, Source.EXPLANATION, Source.THOUGHT)
    sources = (Source.OWN, Source.TEMPLATE, Source.CONTROL, *foreign)
    pane = PromptPane()
    shown(qtbot, pane)
    spans = tuple(Span(place, place + 1, source) for place, source in enumerate(sources))
    text = "x" * len(sources)
    pane.show_prompt(ShownPrompt(text, spans, (), 0, 0, True, text))
    looks = []
    for place in range(len(sources)):
        cursor = pane.textCursor()
        cursor.setPosition(place + 1)
        style = cursor.charFormat()
        looks.append((style.underlineStyle(), style.fontItalic(), style.fontWeight()))
    assert len(set(looks)) == len(sources)
    lines = {_line_of(InkSample(source)) for source in foreign}
    assert len(lines) == len(foreign)


def _line_of(sample: InkSample) -> str:
    sheet = sample._label.styleSheet()
    return sheet.partition("border-bottom: 2px ")[2].partition(" ")[0]


@BOTH
def test_what_is_chosen_has_a_bar_at_its_left(qtbot: QtBot, dressed: Dressed, theme: ThemeChoice) -> None:
    dressed(theme)
    view = ListView()
    view.addItems(["one", "two"])
    view.setCurrentRow(1)
    view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    shown(qtbot, view)
    seen = picture(view.viewport())
    chosen, other = (view.visualRect(view.model().index(row, 0)) for row in (1, 0))
    bar = seen.pixelColor(chosen.left() + 1, chosen.center().y())
    assert contrast(bar, seen.pixelColor(other.left() + 1, other.center().y())) >= 3


@BOTH
def test_parts_of_controls_stand_out(qtbot: QtBot, dressed: Dressed, theme: ThemeChoice) -> None:
    """The box of a check mark, and the mark in it, the handles of a slider and of a scroll bar."""
    dressed(theme)
    box, slider, area = QCheckBox(), Slider(Qt.Orientation.Horizontal), QScrollArea()
    inside = QWidget()
    inside.resize(50, 2000)
    area.setWidget(inside)
    for made, size in ((box, (30, 30)), (slider, (200, 30)), (area, (100, 200))):
        shown(qtbot, made, *size)
    seen = picture(box)
    middle = box.rect().center()
    left = QRect(0, middle.y(), 14, 1)
    assert min(edge_contrast(seen, left.topLeft(), left.topRight())) >= 3
    box.setChecked(True)
    marked, ground = picture(box), QColor(seen.pixel(8, middle.y()))
    mark = max(
        (marked.pixelColor(x, y) for x in range(4, 14) for y in range(middle.y() - 5, middle.y() + 5)),
        key=lambda each: contrast(each, ground),
    )
    assert contrast(mark, ground) >= 3
    row, handle = slider.height() // 2, picture(slider)
    assert edge_contrast(handle, QRect(0, row - 5, 1, 1).topLeft(), QRect(7, row - 5, 1, 1).topLeft())[0] >= 3
    bar = picture(area.verticalScrollBar())
    assert contrast(bar.pixelColor(6, 12), bar.pixelColor(6, bar.height() - 3)) >= 3
