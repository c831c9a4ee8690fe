"""In pictures: a field has an edge, what is to be filled in can be read, what has the keys is seen.

Knows: the style sheet, the kit's controls. Does not know: pages.
"""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QTextBrowser,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gui.widgets.fields import ComboBox, DoubleSpinBox, SearchField, Slider, SpinBox
from gui.widgets.labels import in_column, main_button, panel, scrolling
from gui.widgets.theme import ThemeChoice, apply_theme
from gui.widgets.value_table import Head, HeadedModel, Index
from gui.widgets.views import ListView, table_view
from tests.gui.seen import changed, contrast, edge_contrast, highest_contrast, picture

BOTH = pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])


@pytest.fixture
def dressed(qapp: QApplication) -> Iterator[Callable[[ThemeChoice], object]]:
    points = qapp.font().pointSizeF()
    yield lambda theme: apply_theme(qapp, theme, 100, points)
    apply_theme(qapp, ThemeChoice.LIGHT, 100, points)


def combo_box() -> QWidget:
    made = ComboBox()
    made.addItems(["A", "B"])
    return made


def text_field() -> QWidget:
    made = QPlainTextEdit()
    made.setPlaceholderText("MMMM")
    return made


def small_button(text: str) -> QToolButton:
    made = QToolButton()
    made.setText(text)
    made.setAutoRaise(True)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return made


def chip(down: bool) -> QWidget:
    made = small_button("Chip")
    made.setProperty("role", "button")
    made.setProperty("compact", True)
    made.setCheckable(True)
    made.setChecked(down)
    return made


def button_down() -> QWidget:
    made = QPushButton("Press")
    made.setCheckable(True)
    made.setChecked(True)
    return made


def tabs() -> QWidget:
    made = QTabWidget(documentMode=True)
    for text in ("one", "two"):
        made.addTab(QWidget(), text)
    return made


class ShownRows(HeadedModel):
    """Three rows of two columns."""

    def __init__(self) -> None:
        super().__init__((Head("one", ""), Head("two", "")))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return str(index.row()) if role == Qt.ItemDataRole.DisplayRole else None

    def _count_rows(self) -> int:
        return 3


def table() -> QWidget:
    made = table_view(ShownRows(), "Rows")
    made.model().setParent(made)
    made.selectRow(1)
    return made


def words() -> QWidget:
    made = ListView()
    made.addItems(["one", "two"])
    made.setCurrentRow(1)
    return made


FIELDS = {
    "line": lambda: QLineEdit(placeholderText="MMMM"),
    "search": lambda: SearchField("MMMM"),
    "text": text_field,
    "combo box": combo_box,
    "number": SpinBox,
    "fraction": DoubleSpinBox,
}
OTHERS = {
    "button": lambda: QPushButton("Press"),
    "button that is down": button_down,
    "main button": lambda: main_button("Press"),
    "chip": lambda: chip(down=False),
    "chip that is down": lambda: chip(down=True),
    "bare button": lambda: small_button("?"),
    "check box": lambda: QCheckBox("Check"),
    "slider": lambda: Slider(Qt.Orientation.Horizontal),
    "tab": tabs,
    "text to read": QTextBrowser,
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


@BOTH
@pytest.mark.parametrize("on_panel", [True, False], ids=["on a panel", "on the window"])
@pytest.mark.parametrize("kind", FIELDS)
def test_the_edge_of_a_field_stands_out(
    qtbot: QtBot, dressed: Callable[[ThemeChoice], object], theme: ThemeChoice, kind: str, on_panel: bool
) -> None:
    dressed(theme)
    field = FIELDS[kind]()
    window = shown(qtbot, field, on_panel)
    seen, middle = picture(window), QPoint(field.width() // 2, field.height() // 2)
    below, left = QPoint(middle.x(), field.height() + 3), QPoint(-4, middle.y())
    for outside, inside in ((below, QPoint(middle.x(), field.height() - 4)), (left, QPoint(4, middle.y()))):
        around, within = edge_contrast(seen, field.mapTo(window, outside), field.mapTo(window, inside))
        assert around >= 3
        assert within >= 3


@BOTH
@pytest.mark.parametrize("kind", ["line", "search", "text"])
def test_what_is_to_be_filled_in_can_be_read(
    qtbot: QtBot, dressed: Callable[[ThemeChoice], object], theme: ThemeChoice, kind: str
) -> None:
    dressed(theme)
    field = FIELDS[kind]()
    font = field.font()
    font.setPointSize(40)  # so that some pixels are ink alone
    field.setFont(font)
    window = shown(qtbot, field)
    assert window.isVisible()
    inside = picture(field).copy(field.rect().adjusted(4, 4, -4, -4))
    assert highest_contrast(inside, QColor(inside.pixel(0, 0))) >= 4.5


@BOTH
@pytest.mark.parametrize("kind", [*FIELDS, *OTHERS])
def test_what_has_the_keys_is_seen(
    qtbot: QtBot, dressed: Callable[[ThemeChoice], object], theme: ThemeChoice, kind: str
) -> None:
    """As many pixels change by 3:1 as one of its sides has, of a list those around its row."""
    dressed(theme)
    made = (FIELDS | OTHERS)[kind]()
    window = shown(qtbot, made)
    before = picture(made)
    made.setFocus()
    assert window.focusWidget() in {made, made.focusProxy()}
    least = {"tab": 2 * made.fontMetrics().height(), "slider": 2 * made.height()}.get(kind, made.width())
    assert changed(before, picture(made), 3) >= least


@BOTH
@pytest.mark.parametrize("made", [table, words], ids=["table", "list"])
def test_the_row_that_keys_are_for_is_framed_only_while_they_are(
    qtbot: QtBot, dressed: Callable[[ThemeChoice], object], theme: ThemeChoice, made: Callable[[], QWidget]
) -> None:
    dressed(theme)
    view = made()
    assert isinstance(view, QAbstractItemView)
    window = shown(qtbot, view)
    place = view.visualRect(view.currentIndex())
    place.translate(view.viewport().pos())
    without = picture(view).copy(place)
    view.setFocus()
    assert changed(without, picture(view).copy(place), 3) >= 2 * place.width()
    window.setFocus()
    assert changed(without, picture(view).copy(place), 1.01) == 0


def test_contrast_is_that_of_wcag() -> None:
    black, white = QColor("#000000"), QColor("#ffffff")
    assert contrast(black, white) == pytest.approx(21)
    assert contrast(QColor("#777777"), white) == pytest.approx(4.48, abs=0.005)  # the well-known near miss
