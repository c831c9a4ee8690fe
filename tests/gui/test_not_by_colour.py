"""What a colour says of a label a letter, a pattern or a line says, too; and each colour is seen at all."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QCheckBox, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from engine.core.items import HUMAN_LABELS, HumanLabel, Preference, Tie
from engine.core.prompt_text import Source, Span
from gui.dataset.item_preview import LabelLegend
from gui.results.score_jobs import MARGIN_BINS, WeightedResult
from gui.results.weighted_scoring_panel import MarginChart, WinBars
from gui.widgets.fields import Slider
from gui.widgets.label_mark import LETTERS, ShareBar, paint_label, paint_share
from gui.widgets.prompt_pane import InkSample, PromptPane, ShownPrompt
from gui.widgets.theme import Colours
from gui.widgets.views import ListView
from tests.gui.painted import hard_to_read, painted_texts, pixels_of
from tests.gui.seen import contrast, edge_contrast, highest_contrast, picture

EVERY: tuple[HumanLabel | None, ...] = (*HUMAN_LABELS, None)


def shown(qtbot: QtBot, made: QWidget, width: int = 400, height: int = 260) -> QWidget:
    qtbot.addWidget(made)
    made.resize(width, height)
    made.show()
    return made


def texts(made: QWidget) -> list[str]:
    return [each.text for each in painted_texts(made)]


# Twice as many wins of A as of B, ties in the first bin.
BINS = [(0, 0, 4), *([(4, 2, 0)] * (MARGIN_BINS - 1))]
RATES = {"A": (0.6, None), "B": (0.3, None), "tie": (0.1, None)}
WEIGHED = WeightedResult(0.5, 100, 0, RATES, 5.0, BINS)


def patterned(part: QImage) -> float:
    """The share of pixels that do not have the colour of most."""
    _, counts = np.unique(pixels_of(part), return_counts=True)
    return float(1 - counts.max() / counts.sum())


@pytest.mark.parametrize("label", EVERY, ids=str)
@pytest.mark.parametrize("paint", [paint_label, paint_share])
def test_the_mark_of_a_label_stands_out_and_its_letter_from_it(
    dressed: Colours, label: HumanLabel | None, paint: Callable[..., None]
) -> None:
    for ground in (dressed.panel, dressed.field, dressed.window, dressed.hover):
        drawn = QImage(80, 80, QImage.Format.Format_RGB32)
        drawn.fill(QColor(ground))
        painter = QPainter(drawn)
        paint(painter, QRectF(10, 10, 60, 60), label, QApplication.palette())
        painter.end()
        kinds, counts = np.unique(pixels_of(drawn.copy(15, 15, 50, 50)), return_counts=True)
        mark = QColor(int(kinds[counts.argmax()]))
        assert contrast(mark, QColor(ground)) >= 3
        assert max(contrast(QColor(int(each)), mark) for each in kinds) >= 4.5  # its letter


@pytest.mark.usefixtures("dressed")
def test_bars_and_their_legends_have_the_letters_of_labels(qtbot: QtBot) -> None:
    bar, legend, wins = ShareBar("Safety"), LabelLegend(), WinBars()
    bar.show_counts(dict.fromkeys(EVERY, 1))
    legend.show_labels(HUMAN_LABELS)
    wins.show_weighed(WEIGHED)
    for made in (bar, legend, wins):
        shown(qtbot, made, 400, made.sizeHint().height())
        assert hard_to_read(made) == []
    assert texts(bar) == [LETTERS[label] for label in EVERY]
    assert set(texts(legend)) > {LETTERS[label] for label in HUMAN_LABELS}
    assert {LETTERS[label] for label in (Preference.A, Tie.TIE, Preference.B)} < set(texts(wins))


def test_parts_of_the_histogram_differ_without_colours(qtbot: QtBot, dressed: Colours) -> None:
    """A is plain, B has lines and ties have dots of another grey; the legend says which is which."""
    made = MarginChart()
    made.show_weighed(WEIGHED)
    shown(qtbot, made, 500, 300)
    assert {"tie", "A wins", "B wins"} <= set(texts(made))
    place = made._place().toRect()
    each = place.width() / MARGIN_BINS
    width = int(each)
    grey = picture(made).convertToFormat(QImage.Format.Format_Grayscale8)
    bars = grey.convertToFormat(QImage.Format.Format_RGB32)
    last = place.left() + round((MARGIN_BINS - 2) * each)
    third = place.height() // 3
    of_b = bars.copy(last + 4, place.top() + 6, width - 8, third - 10)
    of_a = bars.copy(last + 4, place.top() + third + 8, width - 8, third)
    of_tie = bars.copy(place.left() + 3, place.bottom() - third, width // 3, third - 6)
    assert patterned(of_a) == 0
    assert 0.05 < patterned(of_b) < 0.5
    assert 0.05 < patterned(of_tie) < 0.5
    assert hard_to_read(made) == []
    assert contrast(QColor(dressed.of_label(Preference.B)), QColor(dressed.panel)) >= 3


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
    samples = [InkSample(source) for source in foreign]
    sheets = [sample._label.styleSheet() for sample in samples]
    lines = {sheet.partition("border-bottom: 2px ")[2].partition(" ")[0] for sheet in sheets}
    assert len(lines) == len(foreign)


@pytest.mark.usefixtures("dressed")
def test_what_is_chosen_has_a_bar_at_its_left(qtbot: QtBot) -> None:
    view = ListView()
    view.addItems(["one", "two"])
    view.setCurrentRow(1)
    view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    shown(qtbot, view)
    seen = picture(view.viewport())
    chosen, other = (view.visualRect(view.model().index(row, 0)) for row in (1, 0))
    bar = seen.pixelColor(chosen.left() + 1, chosen.center().y())
    assert contrast(bar, seen.pixelColor(other.left() + 1, other.center().y())) >= 3


@pytest.mark.usefixtures("dressed")
def test_parts_of_controls_stand_out(qtbot: QtBot) -> None:
    """The box of a check mark, and the mark in it, the handles of a slider and of a scroll bar."""
    box, slider, area = QCheckBox(), Slider(Qt.Orientation.Horizontal), QScrollArea()
    inside = QWidget()
    inside.resize(50, 2000)
    area.setWidget(inside)
    for made, size in ((box, (30, 30)), (slider, (200, 30)), (area, (100, 200))):
        shown(qtbot, made, *size)
    seen = picture(box)
    middle = box.rect().center()
    assert min(edge_contrast(seen, QPoint(0, middle.y()), QPoint(13, middle.y()))) >= 3
    box.setChecked(True)
    marked, ground = picture(box), QColor(seen.pixel(8, middle.y()))
    assert highest_contrast(marked.copy(4, middle.y() - 5, 10, 10), ground) >= 3
    row = slider.height() // 2 - 5
    assert edge_contrast(picture(slider), QPoint(0, row), QPoint(7, row))[0] >= 3
    bar = picture(area.verticalScrollBar())
    assert contrast(bar.pixelColor(6, 12), bar.pixelColor(6, bar.height() - 3)) >= 3
