"""Widgets that a layout shows no more: out of sight at once, ended once nothing is under way with them.

Knows: layouts. Does not know: what the widgets are.
"""

from collections.abc import Iterable

from PySide6.QtWidgets import QLayout, QWidget


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
