"""A figure in the window: drawn whole, said in words, saved and copied by key or menu."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from engine.data.dataset import load_dataset
from engine.decisions.run_results import RunResults, load_results
from engine.report.figure_style import as_svg
from engine.report.figures import confusion_figure
from engine.store.run_store import RunStore
from gui.kit.label_words import LABEL_WORDS
from gui.results.figure_jobs import TITLES, Spot, spots_of
from gui.results.figure_view import FigureView
from gui.results.figures_panel import FiguresPanel
from gui.results.score_jobs import Scores, measure_labels
from gui.work.workspace import Workspace
from tests.gui.jobs import done

RED = b"""<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100">
<rect width="200" height="100" fill="#ff0000"/></svg>"""


@pytest.fixture
def view(qtbot: QtBot) -> FigureView:
    made = FigureView("accuracy")
    qtbot.addWidget(made)
    made.show_figure(RED, "<b>All</b> red\u202e.")
    made.resize(416, 10)
    made.show()
    return made


@pytest.fixture
def results(demo_store: Path) -> RunResults:
    with RunStore(demo_store) as store:
        return load_results(store, 1)


@pytest.fixture
def scores(results: RunResults, demo_gold: Path) -> Scores:
    return done(measure_labels(results, load_dataset(demo_gold)))


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace) -> FiguresPanel:
    made = FiguresPanel(workspace)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.show()
    return made


def test_the_height_follows_the_width(view: FigureView) -> None:
    assert view.height() == 200 + 16
    assert QColor(view.grab().toImage().pixel(208, 108)) == QColor("#ff0000")


def test_a_figure_is_said_in_words_and_never_as_markup(view: FigureView) -> None:
    assert view.accessibleName() == "<b>All</b> red\\u202e."
    assert "<b>" not in view.toolTip()


@pytest.mark.parametrize(("text", "form"), [("Save as &PNG…", "png"), ("Save as &SVG…", "svg")])
def test_the_menu_saves(qtbot: QtBot, view: FigureView, text: str, form: str) -> None:
    action = next(entry for entry in view.menu().actions() if entry.text() == text)
    with qtbot.waitSignal(view.save_wanted) as asked:
        action.trigger()
    assert asked.args == ["accuracy", form]


def test_the_menu_opens_by_key_and_mouse(qtbot: QtBot, view: FigureView) -> None:
    for ask in (
        lambda: QTest.keyClick(view, Qt.Key.Key_Return),
        lambda: QApplication.sendEvent(
            view,
            QContextMenuEvent(
                QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), view.mapToGlobal(QPoint(5, 5))
            ),
        ),
    ):
        ask()
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert len(menu.actions()) == 3
        menu.close()


def test_a_key_copies(qtbot: QtBot, view: FigureView) -> None:
    with qtbot.waitSignal(view.copy_wanted):
        QTest.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)


def test_all_figures_are_drawn_and_none_twice(qtbot: QtBot, panel: FiguresPanel, scores: Scores) -> None:
    panel.show_scores(scores)
    qtbot.waitUntil(lambda: "right-click" in panel.hint.text(), timeout=30_000)
    assert panel.views.keys() == TITLES.keys()
    assert all(view.has_figure for view in panel.views.values())
    assert "best trivial judge" in panel.views["accuracy"].accessibleName()
    panel.show_scores(scores)
    assert not panel._drawing.busy


def test_figures_are_saved_and_copied(
    qtbot: QtBot, panel: FiguresPanel, scores: Scores, tmp_path: Path
) -> None:
    panel.show_scores(scores)
    for name in ("figure.svg", "figure.png"):
        panel.save("accuracy", tmp_path / name)
    qtbot.waitUntil((tmp_path / "figure.png").exists, timeout=30_000)
    assert b"#ffffff" in (tmp_path / "figure.svg").read_bytes()
    assert QImage(str(tmp_path / "figure.png")).width() > 1000
    panel.copy("accuracy")
    qtbot.waitUntil(lambda: QGuiApplication.clipboard().image().width() > 1000, timeout=30_000)


def test_without_labels_the_panel_says_what_to_do(panel: FiguresPanel, results: RunResults) -> None:
    panel.show_scores(done(measure_labels(results, None)))
    assert "choose a labelled dataset" in panel.hint.text()


def spots(panel: FiguresPanel, name: str) -> Sequence[Spot]:
    return panel.views[name]._spots


@pytest.mark.parametrize("name", ["confusion", "labels"])
def test_a_figure_of_labels_lists_its_items_by_click_and_by_menu(
    qtbot: QtBot, panel: FiguresPanel, scores: Scores, name: str
) -> None:
    panel.show_scores(scores)
    qtbot.waitUntil(lambda: "right-click" in panel.hint.text(), timeout=30_000)
    view = panel.views[name]
    spot = spots(panel, name)[3]
    left, top, right, bottom = spot.box
    inner = view._inner()
    x, y = (
        inner.left() + (left + right) / 2 * inner.width(),
        inner.top() + (top + bottom) / 2 * inner.height(),
    )
    criteria = [menu for menu in view.menu().findChildren(QMenu) if menu.title() == "Relevance"]

    def click() -> None:
        QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=QPointF(x, y).toPoint())

    for act in (click, criteria[0].actions()[3].trigger):
        with qtbot.waitSignal(panel._workspace.listing_wanted) as asked:
            act()
        wanted = asked.args[0]
        assert (wanted.run_id, wanted.words) == (1, spot.words)
        assert wanted.filters.ids == spot.ids
        assert wanted.filters.criterion == "relevance"


def test_the_spots_of_the_matrix_are_its_cells(qtbot: QtBot, panel: FiguresPanel, scores: Scores) -> None:
    panel.show_scores(scores)
    qtbot.waitUntil(lambda: "right-click" in panel.hint.text(), timeout=30_000)
    evaluation = scores.evaluation
    assert evaluation is not None
    for criterion, measure in evaluation.labels.items():
        counted = [len(spot.ids) for spot in spots(panel, "confusion") if spot.criterion == criterion]
        assert counted == [count for row in measure.confusion.values() for count in row if count]
        bars = {spot.words: len(spot.ids) for spot in spots(panel, "labels") if spot.criterion == criterion}
        shown = criterion.replace("_", " ")
        assert bars == {
            **{f"human {LABEL_WORDS[label]}, on {shown}": n for label, n in measure.human.items()},
            **{f"model {LABEL_WORDS[label]}, on {shown}": n for label, n in measure.predicted.items()},
        }


def test_a_spot_lies_where_the_figure_is_shaded(results: RunResults, scores: Scores) -> None:
    evaluation = scores.evaluation
    assert evaluation is not None
    figure = confusion_figure(evaluation)
    renderer = QSvgRenderer(QByteArray(as_svg(figure)))
    picture = QImage(
        1440,
        round(1440 * renderer.defaultSize().height() / renderer.defaultSize().width()),
        QImage.Format.Format_RGB32,
    )
    picture.fill(QColor("white"))
    painter = QPainter(picture)
    renderer.render(painter)
    painter.end()

    def ground(spot: Spot) -> QColor:
        left, top, right, bottom = spot.box
        x, y = left + 0.1 * (right - left), top + 0.12 * (bottom - top)
        return picture.pixelColor(int(x * picture.width()), int(y * picture.height()))

    found = spots_of("confusion", figure, evaluation)
    full = [spot for spot in found if ground(spot) != QColor("white")]
    assert len(full) == len(found)
