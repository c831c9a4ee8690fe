"""Fields, labels, notices, the order of reading, parts that are resized."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QFont, QPalette, QStandardItemModel
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QHeaderView,
    QListWidget,
    QMenu,
    QMenuBar,
    QPushButton,
    QSplitter,
    QStatusBar,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gui.widgets.actions import ReadingOrder
from gui.widgets.fields import ComboBox, DoubleSpinBox, Slider, SpinBox
from gui.widgets.labels import Prose, as_column, in_column, in_row, scrolling
from gui.widgets.notice import problem_of
from gui.widgets.views import resize_column, resize_part
from gui.window.frame import MainWindow
from gui.workspace.state import State
from tests.gui import steps
from tests.gui.steps import turn_wheel
from tests.refusals import REFUSALS, Bench, refusal

GUI = Path(__file__).resolve().parents[3] / "gui"
OF_QT = re.compile("Q((Font)?ComboBox|(Double)?SpinBox|Slider|Dial|(Date|Time)Edit)")


@pytest.fixture
def fonts_of_windows(qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[float]:
    """Text of 150 % in a system that has set fonts of its own for some kinds of parts since; its points."""
    style, font, palette = qapp.styleSheet(), QFont(qapp.font()), QPalette(qapp.palette())
    frame = steps.shown(qtbot, MainWindow(State(tmp_path)))
    frame.set_text_size(150)
    points = 1.5 * font.pointSizeF()
    for kind in ("QAbstractItemView", "QMenu", "QMenuBar", "QMessageBox", "QStatusBar"):
        qapp.setFont(font, kind)  # type: ignore[arg-type]  # the stub asks for bytes, which are refused
    QCoreApplication.sendEvent(frame.windowHandle(), QEvent(QEvent.Type.ThemeChange))
    yield points
    qapp.setStyleSheet(style)
    qapp.setFont(font)
    qapp.setPalette(palette)


@pytest.mark.parametrize(
    "make",
    [lambda: QHeaderView(Qt.Orientation.Horizontal), QListWidget, QTableView, QMenu, QMenuBar, QStatusBar],
    ids=["header", "list", "table", "menu", "menu bar", "status bar"],
)
def test_text_is_as_large_as_was_chosen_in_all_parts(
    qtbot: QtBot, fonts_of_windows: float, make: Callable[[], QWidget]
) -> None:
    part = make()
    qtbot.addWidget(part)
    part.ensurePolished()
    assert part.font().pointSizeF() == pytest.approx(fonts_of_windows, abs=0.01)


@pytest.mark.parametrize("kind", [ComboBox, SpinBox, DoubleSpinBox, Slider])
def test_a_field_follows_the_wheel_only_with_the_focus(
    qtbot: QtBot, kind: type[ComboBox] | type[SpinBox] | type[DoubleSpinBox] | type[Slider]
) -> None:
    field = kind()
    changes: list[object] = []
    if isinstance(field, ComboBox):
        field.addItems(["first", "second"])
        field.currentIndexChanged.connect(changes.append)
    else:
        field.setValue(5)
        field.valueChanged.connect(changes.append)
    qtbot.addWidget(field)
    with qtbot.waitExposed(field):
        field.show()
    field.clearFocus()
    assert not turn_wheel(field).isAccepted()
    assert (field.hasFocus(), changes) == (False, [])
    assert not field.focusPolicy() & Qt.FocusPolicy.WheelFocus.value & ~Qt.FocusPolicy.StrongFocus.value
    field.setFocus()
    turn_wheel(field)
    assert changes


def made_in(path: Path) -> Iterator[str]:
    """Classes that are called or inherited from, as `QSlider` or `QtWidgets.QSlider`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        called = [node.func] if isinstance(node, ast.Call) else []
        for each in node.bases if isinstance(node, ast.ClassDef) else called:
            yield ast.unparse(each).rpartition(".")[2]


@pytest.mark.slow
def test_all_fields_of_the_window_are_such() -> None:
    others = [path for path in GUI.rglob("*.py") if path != GUI / "widgets" / "fields.py"]
    assert [(path, name) for path in others for name in made_in(path) if OF_QT.fullmatch(name)] == []


@pytest.mark.parametrize("word", ["n" * 255, "päiväkirja_" * 30, "x" * 60 + "/" + "y" * 60])
def test_a_long_word_is_broken_over_lines_and_given_back_whole(qtbot: QtBot, word: str) -> None:
    shown = Prose(f"{word}: there is no such file.")
    qtbot.addWidget(shown)
    assert shown.text() == f"{word}: there is no such file."
    assert shown.minimumSizeHint().width() < 40 * shown.fontMetrics().averageCharWidth()
    path = "/home/ada/models/" + "a folder/" * 20 + "SmolLM2-135M-Instruct-Q8_0.gguf"
    shown.setText(path)  # which can be broken already: selected and copied, it is the path
    assert super(Prose, shown).text() == shown.text() == path


SHOWN = {
    "cache of a session": "Use f16 (“KV-cache type”: f16).",
    "room of a session": "Use a smaller “Context”, or close other programs.",
    "memory of a batch": "Use a smaller “Context”, or close other programs.",
    "cache by the header": "Use f16 (“KV-cache type”: f16).",
    "memory": (
        "Use a smaller context (“Context”) or a smaller quantisation of this model, or close programs."
    ),
    "memory, rounder": (
        "Use a smaller context (“Context”), a KV cache in q8_0 (“KV-cache type”: q8_0) or a smaller"
        " quantisation of this model, or close programs."
    ),
    "no examples": "Use 1 or more, or omit “Labelled examples”.",
    "too few examples": "Use “Few-shot examples”: 2 or fewer, or a file with more labelled items.",
    "stem": "Use a larger “Context”, fewer “Few-shot examples” or shorter examples.",
    "trained context": "Use “Context”: 1024 or less.",
    "no item fits": "Use a larger “Context”, or “Shorten responses that do not fit”.",
    "newer store": "Move it away, or set TIEBREAK_HOME to another folder; then start Tiebreak again.",
    "no store": (
        "The file is damaged or of another kind. Move it away, or set TIEBREAK_HOME to another folder; then"
        " start Tiebreak again."
    ),
    "store in a file": (
        "Make its folder writable, or set TIEBREAK_HOME to another folder; then start Tiebreak again."
    ),
    "store of a run": "Choose an existing run, or a submission file: ./3",
    "other judge": "Calibrate a run of this judge on the Results page, under “Calibration”.",
    "no calibration": "Make it again on the Results page, under “Calibration”.",
    "impossible calibration": "Make it again on the Results page, under “Calibration”.",
    "moved dataset": "Put the dataset back there, or open it on the Dataset page.",
    "unlabelled run": (
        "Label or accept some first, on the page Review; or tick “Include the judge's labels”."
    ),
    "examples too many": "Leave “Labelled examples” out.",
    "examples missing": (
        "Name the same file with “Labelled examples”, the same number with “Few-shot examples”, and the same"
        " selection with “Examples are”."
    ),
    "other ids": (  # this and the next are of commands alone: the window scores what all have
        "Choose the judged dataset for the human labels, or score what both have with “Shared items only”."
    ),
    "incomplete run": (
        "The run is not complete: 1 of 2 items are judged. Resume the run on the Judge page, or score what"
        " both have with “Shared items only”."
    ),
    "other texts": (
        "Choose the judged dataset for the human labels. If its texts were only saved in another"
        " format, export the run's submission on the Results page and compare that."
    ),
    "submission calibrated": "Choose a run at the head of the window.",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_remedy_names_the_fields_and_places_of_the_window(
    name: str, tmp_path: Path, small_model: Callable[[str], Path]
) -> None:
    error = refusal(Bench(tmp_path, small_model), name)
    assert problem_of(error) == (error.problem, SHOWN[name])


class ShownWindow(ReadingOrder, QWidget):
    """Two rows; in the second two columns of two buttons, the left one filled last."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = in_column(), in_column(QPushButton("right above"), QPushButton("right below"))
        in_column(in_row(QPushButton("head"), QPushButton("more")), in_row(self.left, self.right), on=self)
        for text in ("left below", "left above"):
            self.left.insertWidget(0, QPushButton(text))


@pytest.fixture
def shown(qtbot: QtBot) -> ShownWindow:
    window = ShownWindow()
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
    return window


def texts(key: Qt.Key, window: QWidget, presses: int) -> list[str]:
    """What has the keys now, and after each press."""
    found = []
    for _ in range(presses + 1):
        now = QApplication.focusWidget()
        assert isinstance(now, QPushButton)
        found.append(now.text())
        QTest.keyClick(window.windowHandle(), key)
    return found


def named(window: QWidget, text: str) -> QPushButton:
    return next(each for each in window.findChildren(QPushButton) if each.text() == text)


READ = ["head", "more", "left above", "left below", "right above", "right below", "head"]


@pytest.mark.parametrize(("key", "read"), [(Qt.Key.Key_Tab, READ), (Qt.Key.Key_Backtab, READ[::-1])])
def test_rows_from_the_top_columns_whole_and_again(shown: ShownWindow, key: Qt.Key, read: list[str]) -> None:
    named(shown, "head").setFocus()
    assert texts(key, shown, 6) == read


def test_a_proxy_for_the_keys_hides_nothing_that_stands_before_it(shown: ShownWindow) -> None:
    """As a page gives its keys to its list: Qt would jump over the page's head."""
    outside = ShownWindow()
    outside.setFocusProxy(outside.findChildren(QPushButton)[-1])
    shown.right.addWidget(outside)
    named(shown, "head").setFocus()
    assert texts(Qt.Key.Key_Tab, shown, 6)[-1] == "head"
    assert texts(Qt.Key.Key_Tab, shown, 4)[:2] == ["more", "left above"]


def test_what_vanishes_under_the_keys_gives_them_to_what_stood_after_it(shown: ShownWindow) -> None:
    above = named(shown, "left above")
    above.setFocus()
    above.hide()
    assert texts(Qt.Key.Key_Tab, shown, 0) == ["left below"]


def test_what_tab_comes_to_is_scrolled_into_sight(qtbot: QtBot, shown: ShownWindow) -> None:
    far = QPushButton("far below")
    inside = as_column(*(QWidget() for _ in range(3)), far)
    inside.setMinimumHeight(3000)
    area = scrolling(inside)
    area.setFixedHeight(60)
    shown.right.addWidget(area)
    named(shown, "right below").setFocus()
    qtbot.waitUntil(area.isVisible)
    assert texts(Qt.Key.Key_Tab, shown, 0) == ["right below"]
    assert QApplication.focusWidget() is far
    assert not far.visibleRegion().isEmpty()


ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


@pytest.fixture
def parts(qtbot: QtBot) -> QSplitter:
    """Three parts side by side; the last one has two buttons above each other."""
    made, last = QSplitter(ACROSS), QSplitter(DOWN)
    for splitter in (made, last):
        for _ in range(2):
            splitter.addWidget(QListWidget())
        splitter.setChildrenCollapsible(False)
    made.addWidget(last)
    qtbot.addWidget(made)
    made.resize(900, 600)
    made.setSizes([300, 300, 300])
    last.setSizes([300, 300])
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def go_to(qtbot: QtBot, widget: QWidget | None) -> None:
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)


@pytest.mark.parametrize("place", [0, 1])
def test_a_part_takes_room_from_the_next_and_gives_it(qtbot: QtBot, parts: QSplitter, place: int) -> None:
    before = parts.sizes()
    go_to(qtbot, parts.widget(place))
    assert resize_part(ACROSS, larger=True)
    now = parts.sizes()
    assert now[place] > before[place]
    assert now[place] + now[place + 1] == before[place] + before[place + 1]
    assert resize_part(ACROSS, larger=False)
    assert parts.sizes() == before


def test_the_last_part_takes_it_from_the_one_before(qtbot: QtBot, parts: QSplitter) -> None:
    before, last = parts.sizes(), parts.widget(2)
    assert isinstance(last, QSplitter)
    go_to(qtbot, last.widget(1))
    assert resize_part(ACROSS, larger=True)
    assert parts.sizes()[2] > before[2]
    assert parts.sizes()[0] == before[0]
    above, below = last.sizes()
    assert resize_part(DOWN, larger=True)
    assert last.sizes()[1] > below
    assert sum(last.sizes()) == above + below


def test_a_hidden_part_gives_no_room_and_a_part_alone_gets_none(qtbot: QtBot, parts: QSplitter) -> None:
    first, second, last = (parts.widget(place) for place in range(3))
    second.hide()
    go_to(qtbot, first)
    before = parts.sizes()
    assert resize_part(ACROSS, larger=True)
    assert parts.sizes()[0] > before[0]
    assert not resize_part(DOWN, larger=True)
    last.hide()
    assert not resize_part(ACROSS, larger=True)


def test_a_part_is_never_lost(qtbot: QtBot, parts: QSplitter) -> None:
    first = parts.widget(0)
    go_to(qtbot, first)
    for _ in range(200):
        resize_part(ACROSS, larger=False)
    assert parts.sizes()[0] == first.minimumSizeHint().width()


@pytest.mark.parametrize("mode", [QHeaderView.ResizeMode.Interactive, QHeaderView.ResizeMode.Fixed])
def test_the_column_with_the_keys_is_resized_as_by_mouse(qtbot: QtBot, mode: QHeaderView.ResizeMode) -> None:
    view = QTableView()
    qtbot.addWidget(view)
    view.setModel(QStandardItemModel(2, 2, view))
    view.horizontalHeader().setSectionResizeMode(mode)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    go_to(qtbot, view)
    view.setCurrentIndex(view.model().index(0, 1))
    before = view.columnWidth(1)
    can_be = mode is QHeaderView.ResizeMode.Interactive
    assert resize_column(wider=True) is can_be
    assert (view.columnWidth(1) > before) is can_be
    for _ in range(50):
        resize_column(wider=False)
    least = view.horizontalHeader().minimumSectionSize()
    assert view.columnWidth(1) == (least if can_be else before)
    assert view.columnWidth(0) == before
