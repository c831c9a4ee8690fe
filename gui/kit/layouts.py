"""Rows and columns of widgets.

Knows: what stands in which order, what takes the room that is left. Does not know: what the widgets are.
"""

from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

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
