"""What tips and readers of the screen are told: text, never markup; foreign markup is never obeyed.

Knows: the whole window. Does not know: what a page is for.
"""

import re
import sys
from collections.abc import Iterator

import pytest
from PySide6 import QtGui
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, Qt
from PySide6.QtGui import QAccessible, QAction
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from gui.window.interior import Interior
from tests.gui.window.test_long_names import InteriorOf, interior_of  # noqa: F401  the fixture
from tests.gui.window.test_sizes import places

FOREIGN = "<b>"
_TAG = re.compile(r"</?(?!b)[a-z][^<>]*>|</|<br|&(lt|gt|amp);")  # other than in FOREIGN
_ROWS = 5


def told(widget: QWidget) -> Iterator[str]:
    """What readers of the screen are told of a widget, and of the cells and entries in it."""
    interface = QAccessible.queryAccessibleInterface(widget)
    yield from (interface.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Description))
    for model in models(widget):
        roles = (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.AccessibleDescriptionRole)
        yield from (str(text) for role in roles for text in cells(model, role))


def tips(widget: QWidget) -> Iterator[str]:
    """All tool tips of a widget."""
    yield widget.toolTip()
    yield from (action.toolTip() for action in widget.findChildren(QAction))
    for model in models(widget):
        yield from (str(text) for text in cells(model, Qt.ItemDataRole.ToolTipRole))


def models(widget: QWidget) -> Iterator[QAbstractItemModel]:
    """The model of a view or a list to choose from."""
    if isinstance(widget, QAbstractItemView | QComboBox) and widget.model() is not None:
        yield widget.model()


def cells(model: QAbstractItemModel, role: Qt.ItemDataRole) -> Iterator[object]:
    """What cells and titles say in a role."""
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount()
    for column in range(columns):
        yield model.headerData(column, Qt.Orientation.Horizontal, role) or ""
        for row in range(min(model.rowCount(), _ROWS)):
            yield model.index(row, column).data(role) or ""


def obeys_foreign(text: str) -> bool:
    """Whether a tip would be read as HTML with somebody's own tag in it."""
    return bool(QtGui.Qt.mightBeRichText(text)) and FOREIGN in text


def wrong(made: Interior) -> list[str]:
    """What is said with markup in it, and which tips obey foreign markup."""
    widgets = [widget for widget in made.frame.findChildren(QWidget) if widget.window() is made.frame]
    marked = [text for widget in widgets for text in told(widget) if _TAG.search(text)]
    obeyed = [text for widget in widgets for text in tips(widget) if obeys_foreign(text)]
    return [f"{text[:80]!r}" for text in dict.fromkeys([*marked, *obeyed])]


@pytest.mark.skipif(sys.platform == "win32", reason="no file can have such a name")
def test_nothing_is_told_with_markup_and_no_tip_obeys_foreign_markup(
    qtbot: QtBot,
    interior_of: InteriorOf,  # noqa: F811
) -> None:
    with interior_of(FOREIGN) as (made, _):
        found = {}
        for place in places(qtbot, made):
            qtbot.wait(100)
            if lines := wrong(made):
                found[place] = lines
        assert found == {}
