"""Rows and columns of widgets, how widgets leave them, how large a dialog is.

Knows: what stands in which order, what takes the room that is left. Does not know: what the widgets are.
"""

from collections.abc import Iterable
from typing import TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLayout,
    QVBoxLayout,
    QWidget,
)

STRETCH = 1
"""Among the parts: empty room. Beside a part, as `(part, STRETCH)`: it takes the room that is left."""

Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, Qt.AlignmentFlag]
"""A widget or a layout, alone, or with its stretch or (a widget) its alignment; a number: empty room."""

Margins = tuple[int, int, int, int] | None
"""Left, top, right, bottom; None as the style has them."""

_NONE = (0, 0, 0, 0)
_Box = TypeVar("_Box", bound=QBoxLayout)


def in_row(
    *parts: Part, on: QWidget | None = None, margins: Margins = _NONE, spacing: int | None = None
) -> QHBoxLayout:
    """Parts side by side, as the layout of the widget `on`, if any; the style has its own `spacing`."""
    return _filled(QHBoxLayout(), parts, on, margins, spacing)


def in_column(
    *parts: Part, on: QWidget | None = None, margins: Margins = _NONE, spacing: int | None = None
) -> QVBoxLayout:
    """Parts one below the other, as `in_row` takes them."""
    return _filled(QVBoxLayout(), parts, on, margins, spacing)


def as_row(*parts: Part, margins: Margins = _NONE, spacing: int | None = None) -> QWidget:
    """A widget of parts side by side."""
    made = QWidget()
    in_row(*parts, on=made, margins=margins, spacing=spacing)
    return made


def as_column(*parts: Part, role: str = "", margins: Margins = _NONE, spacing: int | None = None) -> QWidget:
    """A widget of parts one below the other, in a role of the style sheet, if any."""
    made = QWidget()
    if role:
        made.setProperty("role", role)
    in_column(*parts, on=made, margins=margins, spacing=spacing)
    return made


def _filled(
    box: _Box, parts: tuple[Part, ...], on: QWidget | None, margins: Margins, spacing: int | None
) -> _Box:
    if on is not None:
        on.setLayout(box)  # first: what is then put in is at once a child of it, and is shown with it
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        _add(box, part)
    return box


def _add(box: QBoxLayout, part: Part) -> None:
    match part:
        case int():
            box.addStretch(part)
        case QWidget():
            box.addWidget(part)
        case QLayout():
            box.addLayout(part)
        case (QWidget() as widget, Qt.AlignmentFlag() as where):
            box.addWidget(widget, 0, where)
        case (QWidget() as widget, int(stretch)):
            box.addWidget(widget, stretch)
        case (QLayout() as layout, int(stretch)):
            box.addLayout(layout, stretch)


def take_out(layout: QLayout, widgets: Iterable[QWidget]) -> None:
    """Take these widgets out of a layout for good; one of them may be what is just being pressed."""
    for widget in list(widgets):
        layout.removeWidget(widget)
        # deleteLater comes with the next turn of Qt's loop; until then it would be seen outside of any
        # layout.
        widget.hide()
        widget.deleteLater()


def empty(layout: QLayout) -> None:
    """Take all that is in a layout out of it for good, spaces between the widgets too."""
    while (item := layout.itemAt(0)) is not None:
        widget = item.widget()
        if widget is None:
            layout.takeAt(0)
        else:
            take_out(layout, [widget])


def ok_and_cancel(dialog: QDialog) -> QDialogButtonBox:
    """The buttons of a dialog that asks for something: they accept and reject it."""
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def make_room(dialog: QWidget, letters: int, lines: int, share: float = 0.9) -> None:
    """Let a dialog be this many average characters wide and lines high, as far as its `share` of the screen
    goes.
    """
    metrics = dialog.fontMetrics()
    wanted = QSize(metrics.averageCharWidth() * letters, metrics.height() * lines)
    dialog.resize(wanted.boundedTo(dialog.screen().availableSize() * share))
