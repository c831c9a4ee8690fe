"""Figures in the window: drawn whole, said in words, saved and copied; their contrast in both themes."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text
from PySide6.QtCore import QByteArray, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QColor, QContextMenuEvent, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot
from scipy import ndimage

from engine.calibration.scaling import ReliabilityBin
from engine.core.items import HumanLabel
from engine.core.tables import Column, Kind, Table
from engine.data.dataset import load_dataset
from engine.metrics.evaluation import Evaluation, evaluate
from engine.ranking.weighted_scoring import ScoredPairs, weigh
from engine.report.accuracy import accuracy_figure, confusion_figure, label_figure
from engine.report.calibration import reliability_figure
from engine.report.drawing import as_svg
from engine.report.weighted_scoring import margin_figure
from engine.results.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from gui.results.export_jobs import TITLES, spots_of
from gui.results.score_jobs import Scores, measure_labels
from gui.results.scores_panel import FiguresPanel
from gui.widgets.label_mark import LABEL_WORDS
from gui.workspace.figures import DrawnFigure, FigureMark, FigureView
from gui.workspace.workspace import Workspace
from tests.gui.jobs import done
from tests.gui.painted import ink_contrast
from tests.gui.seen import contrast
from tests.judged import BAD, GOOD, TIE, A, B, matched

RED = b"""<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">
<rect width="200" height="100" fill="#ff0000"/></svg>"""


@pytest.fixture
def view(qtbot: QtBot) -> FigureView:
    made = FigureView("accuracy")
    qtbot.addWidget(made)
    made.show_figure(DrawnFigure("accuracy", RED, "<b>All</b> red\u202e. Red: 100 %."))
    made.resize(416, 10)
    made.show()
    return made


@pytest.fixture(scope="module")
def results(demo_store: Path) -> RunResults:
    with RunStore(demo_store) as store:
        return load_results(store, 1)


@pytest.fixture(scope="module")
def scores(results: RunResults, demo_gold: Path) -> Scores:
    return done(measure_labels(results, load_dataset(demo_gold)))


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace) -> FiguresPanel:
    made = FiguresPanel(workspace)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    return made


def test_a_figure_is_as_high_as_it_is_wide_said_in_words_and_has_a_menu(
    qtbot: QtBot, view: FigureView
) -> None:
    assert view.height() == 200 + 16
    assert QColor(view.grab().toImage().pixel(208, 108)) == QColor("#ff0000")
    told = QAccessible.queryAccessibleInterface(view)
    assert told.role() is QAccessible.Role.Graphic
    assert told.text(QAccessible.Text.Name) == "<b>All</b> red\\u202e"
    assert told.text(QAccessible.Text.Description) == "Red: 100 %. Enter opens a menu."
    assert "<b>" not in view.toolTip()
    place = QPoint(5, 5)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, view.mapToGlobal(place))
    ways: list[Callable[[], object]] = [lambda: QTest.keyClick(view, Qt.Key.Key_Return)]
    ways.append(lambda: QApplication.sendEvent(view, event))
    for ask in ways:
        ask()
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert len(menu.actions()) == 3
        menu.close()
    for text, form in (("Save as &PNG…", "png"), ("Save as &SVG…", "svg")):
        action = next(entry for entry in view.menu().actions() if entry.text() == text)
        with qtbot.waitSignal(view.save_wanted) as asked:
            action.trigger()
        assert asked.args == ["accuracy", form]
    with qtbot.waitSignal(view.copy_wanted):
        QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    columns = (Column("label", "label", Kind.NAME, ""), Column("share", "share", Kind.SHARE, ""))
    view.show_figure(DrawnFigure("labels", RED, "Bars.", table=Table(columns, [["A", 0.5]])))
    next(entry for entry in view.menu().actions() if "numbers" in entry.text()).trigger()
    assert QGuiApplication.clipboard().text() == "label\tshare\nA\t50.0"


def spots(panel: FiguresPanel, name: str) -> Sequence[FigureMark]:
    return panel.views[name]._spots


@pytest.mark.slow
def test_all_figures_are_drawn_once_list_the_items_of_each_spot_and_are_saved_and_copied(
    qtbot: QtBot, panel: FiguresPanel, scores: Scores, tmp_path: Path
) -> None:
    panel.show_scores(scores)
    qtbot.waitUntil(lambda: "right-click" in panel.hint.text())
    assert panel.views.keys() == TITLES.keys()
    assert all(view.has_figure for view in panel.views.values())
    assert "best baseline" in panel.views["accuracy"].accessibleDescription()
    for view in panel.views.values():
        assert len(view.accessibleDescription()) > 40
        assert any("numbers" in entry.text() for entry in view.menu().actions())
    for name in ("confusion", "labels"):
        check_that_items_are_listed(qtbot, panel, name)
    check_what_spots_count(panel, scores)
    panel.show_scores(scores)
    assert not panel._drawing.busy
    for name in ("figure.svg", "figure.png"):
        panel.files.save("accuracy", tmp_path / name)
    qtbot.waitUntil((tmp_path / "figure.png").exists)
    assert b"#ffffff" in (tmp_path / "figure.svg").read_bytes()
    assert QImage(str(tmp_path / "figure.png")).width() > 1000
    panel.files.copy("accuracy")
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().image().width() > 1000)


def check_that_items_are_listed(qtbot: QtBot, panel: FiguresPanel, name: str) -> None:
    view, spot = panel.views[name], spots(panel, name)[3]
    left, top, right, bottom = spot.box
    inner = view._inner()
    x, y = (left + right) / 2 * inner.width(), (top + bottom) / 2 * inner.height()
    place = QPointF(inner.left() + x, inner.top() + y).toPoint()
    criteria = [menu for menu in view.menu().findChildren(QMenu) if menu.title() == "Relevance"]
    methods: list[Callable[[], object]] = [criteria[0].actions()[3].trigger]
    methods.append(lambda: QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=place))
    for act in methods:
        with qtbot.waitSignal(panel._workspace.listing_wanted) as asked:
            act()
        wanted = asked.args[0]
        assert (wanted.run_id, wanted.words) == (1, spot.words)
        assert wanted.filters.ids == spot.ids
        assert wanted.filters.criterion == "relevance"


def check_what_spots_count(panel: FiguresPanel, scores: Scores) -> None:
    """The cells of the matrix, and the labels of people and of the judge."""
    evaluation = scores.evaluation
    for criterion, measure in evaluation.labels.items():
        counted = [len(spot.ids) for spot in spots(panel, "confusion") if spot.criterion == criterion]
        assert counted == [count for row in measure.confusion.values() for count in row if count]
        bars = {spot.words: len(spot.ids) for spot in spots(panel, "labels") if spot.criterion == criterion}
        shown = criterion.replace("_", " ")
        assert bars == {
            **{f"human {LABEL_WORDS[label]}, on {shown}": n for label, n in measure.human.items()},
            **{f"judge {LABEL_WORDS[label]}, on {shown}": n for label, n in measure.predicted.items()},
        }


def test_without_labels_the_panel_says_what_to_do(panel: FiguresPanel, results: RunResults) -> None:
    panel.show_scores(done(measure_labels(results, None)))
    assert "choose a labelled dataset" in panel.hint.text()


def test_a_spot_lies_where_the_figure_is_shaded(results: RunResults, scores: Scores) -> None:
    evaluation = scores.evaluation
    figure = confusion_figure(evaluation)
    renderer = QSvgRenderer(QByteArray(as_svg(figure, "x")))
    size = renderer.defaultSize()
    picture = QImage(1440, round(1440 * size.height() / size.width()), QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    renderer.render(painter)
    painter.end()

    def ground(spot: FigureMark) -> QColor:
        left, top, right, bottom = spot.box
        x, y = left + 0.1 * (right - left), top + 0.12 * (bottom - top)
        return picture.pixelColor(int(x * picture.width()), int(y * picture.height()))

    found = spots_of("confusion", figure, evaluation)
    full = [spot for spot in found if ground(spot) != QColor("white")]
    assert len(full) == len(found)


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
    containers = [each for axes in figure.axes for each in axes.containers]
    bars = [bar for each in containers if isinstance(each, BarContainer) for bar in each]
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
    if name == "accuracy":  # intervals lie on their bars
        ground = QColor(to_hex(bars[0].get_facecolor()))
        assert contrast(QColor(to_hex(lines[0].get_color())), ground) >= 3


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
    colours = pixels.astype(np.uint32).tobytes()  # the image keeps no copy
    shown = QImage(colours, width, height, 4 * width, QImage.Format.Format_RGB32)
    grey = shown.convertToFormat(QImage.Format.Format_Grayscale8)
    return np.array(grey.constBits()).reshape(height, -1)[:, :width]  # a copy: the image is gone after this


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
