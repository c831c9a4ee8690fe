"""In pictures: a field has an edge, what is to be filled in can be read, what has the keys is seen."""

from collections.abc import Callable
from functools import partial

import pytest
from PySide6 import QtWidgets
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QStandardItemModel
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.widgets.actions import CurrentChoice
from gui.widgets.fields import ComboBox, DoubleSpinBox, SearchField, Slider, SpinBox
from gui.widgets.labels import in_column, main_button, panel, scrolling
from gui.widgets.views import ListView, table_view
from tests.gui.seen import changed, contrast, edge_contrast, highest_contrast, picture

dressed = pytest.mark.usefixtures("dressed")


def combo_box() -> QWidget:
    made = ComboBox()
    made.addItems(["A", "B"])
    return made


def button(made: QtWidgets.QAbstractButton, text: str, **properties: object) -> QWidget:
    made.setText(text)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    for name, value in properties.items():
        made.setProperty(name, value)
    return made


def tool_button(text: str, **properties: object) -> QWidget:
    return button(QtWidgets.QToolButton(), text, autoRaise=True, **properties)


def tabs() -> QWidget:
    made = QtWidgets.QTabWidget(documentMode=True)
    for text in ("one", "two"):
        made.addTab(QWidget(), text)
    return made


def table() -> QWidget:
    made = table_view(model := QStandardItemModel(3, 2), "Rows")
    model.setParent(made)
    made.selectRow(1)
    return made


def words() -> QWidget:
    made = ListView()
    made.addItems(["one", "two"])
    made.setCurrentRow(1)
    return made


TO_FILL_IN: dict[str, Callable[[], QWidget]] = {
    "line": lambda: QtWidgets.QLineEdit(placeholderText="MMMM"),
    "search": lambda: SearchField("MMMM"),
    "text": lambda: QtWidgets.QPlainTextEdit(placeholderText="MMMM"),
}
FIELDS = {**TO_FILL_IN, "combo box": combo_box, "number": SpinBox, "fraction": DoubleSpinBox}
chip = partial(tool_button, "Chip", role="button", compact=True, checkable=True)
OTHERS: dict[str, Callable[[], QWidget]] = {
    "button": lambda: QtWidgets.QPushButton("Press"),
    "button that is down": lambda: button(QtWidgets.QPushButton(), "Press", checkable=True, checked=True),
    "main button": lambda: main_button("Press", lambda: None),
    "chip": chip,
    "chip that is down": partial(chip, checked=True),
    "bare button": lambda: tool_button("?"),
    "check box": lambda: QtWidgets.QCheckBox("Check"),
    "slider": lambda: Slider(Qt.Orientation.Horizontal),
    "tab": tabs,
    "text to read": QtWidgets.QTextBrowser,
    "scrolled": lambda: scrolling(QWidget(), "Scrolled"),
    "table": table,
    "list": words,
}


def shown(qtbot: QtBot, made: QWidget, on_panel: bool = True) -> QWidget:
    """A window with it in a panel, or on its own ground, which has the keys itself."""
    window = QWidget()
    in_column(panel(made) if on_panel else made, on=window, margins=(12, 12, 12, 12))
    window.resize(300, 220)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
    window.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    window.setFocus()
    return window


@dressed
@pytest.mark.parametrize("on_panel", [True, False], ids=["on a panel", "on the window"])
@pytest.mark.parametrize("kind", FIELDS)
def test_the_edge_of_a_field_stands_out(qtbot: QtBot, kind: str, on_panel: bool) -> None:
    field = FIELDS[kind]()
    window = shown(qtbot, field, on_panel)
    seen, middle = picture(window), QPoint(field.width() // 2, field.height() // 2)
    below, left = QPoint(middle.x(), field.height() + 3), QPoint(-4, middle.y())
    for outside, inside in ((below, QPoint(middle.x(), field.height() - 4)), (left, QPoint(4, middle.y()))):
        assert min(edge_contrast(seen, field.mapTo(window, outside), field.mapTo(window, inside))) >= 3


@dressed
@pytest.mark.parametrize("kind", TO_FILL_IN)
def test_what_is_to_be_filled_in_can_be_read(qtbot: QtBot, kind: str) -> None:
    field = FIELDS[kind]()
    font = field.font()
    font.setPointSize(40)  # so that some pixels are ink alone
    field.setFont(font)
    window = shown(qtbot, field)
    assert window.isVisible()
    inside = picture(field).copy(field.rect().adjusted(4, 4, -4, -4))
    assert highest_contrast(inside, QColor(inside.pixel(0, 0))) >= 4.5


@dressed
@pytest.mark.parametrize("kind", [*FIELDS, *OTHERS])
def test_what_has_the_keys_is_seen(qtbot: QtBot, kind: str) -> None:
    """As many pixels change by 3:1 as one of its sides has, of a list those around its row."""
    made = (FIELDS | OTHERS)[kind]()
    window = shown(qtbot, made)
    before = picture(made)
    made.setFocus()
    assert window.focusWidget() in {made, made.focusProxy()}
    least = {"tab": 2 * made.fontMetrics().height(), "slider": 2 * made.height()}.get(kind, made.width())
    assert changed(before, picture(made), 3) >= least


@dressed
def test_a_current_choice_has_as_much_room_with_the_keys(qtbot: QtBot) -> None:
    made = CurrentChoice("Run")
    window = shown(qtbot, made)
    made.show_current("Run 1", "")
    room = made.sizeHint()
    made.setFocus()
    made.show_current("", "")
    made.show_current("Run 1", "")
    assert window.focusWidget() is made
    assert made.sizeHint() == room


@dressed
@pytest.mark.parametrize("made", [table, words])
def test_the_row_that_keys_are_for_is_framed_meanwhile(qtbot: QtBot, made: Callable[[], QWidget]) -> None:
    view = made()
    assert isinstance(view, QtWidgets.QAbstractItemView)
    window = shown(qtbot, view)
    place = view.visualRect(view.currentIndex())
    place.translate(view.viewport().pos())
    without = picture(view).copy(place)
    view.setFocus()
    assert changed(without, picture(view).copy(place), 3) >= 2 * place.width()
    window.setFocus()
    assert changed(without, picture(view).copy(place), 1.01) == 0


def test_contrast_is_that_of_wcag() -> None:
    assert contrast(QColor("#000000"), QColor("#ffffff")) == pytest.approx(21)
    assert contrast(QColor("#777777"), QColor("#ffffff")) == pytest.approx(4.48, abs=0.005)  # a near miss
