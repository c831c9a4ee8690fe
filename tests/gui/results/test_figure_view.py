"""A figure in the window: drawn whole, said in words, saved and copied by key or menu."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from engine.data.dataset import load_dataset
from engine.decisions.run_results import RunResults, load_results
from engine.store.run_store import RunStore
from gui.results.figure_jobs import TITLES
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
    assert "most frequent label" in panel.views["accuracy"].accessibleName()
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
