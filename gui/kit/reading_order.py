"""Tab goes through a window as it is read, also through what was made or moved after the rest.

Qt goes in the order in which widgets came into the window: a list that grows, a part that another page puts
in, would come last, and a page whose keys go to its list would be left at that list, its head never reached.

Knows: widgets, layouts, what can have the keys. Does not know: what is in a window.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSpinBox, QComboBox, QLayout, QScrollArea, QWidget

if TYPE_CHECKING:
    _Window = QWidget
else:
    _Window = object

_Part = QWidget | QLayout
_CLOSED = (QAbstractScrollArea, QAbstractSpinBox, QComboBox)  # what Qt has put into them gets no keys by Tab


class ReadingOrder(_Window):
    """What lets Tab go as one reads; stands before Qt's own class among the bases of a window."""

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Give the keys to the next control, or to the one before; after the last comes the first."""
        now = self.focusWidget()
        order = controls(self, now)
        if now not in order:
            return super().focusNextPrevChild(forward)
        if len(order) == 1:
            return False
        there = order[(order.index(now) + (1 if forward else -1)) % len(order)]
        there.setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
        _bring_into_view(there)
        return True


def _bring_into_view(widget: QWidget) -> None:
    """Qt scrolls what the keys come from, not what they come to."""
    around = widget.parentWidget()
    while around is not None:
        if isinstance(around, QScrollArea):
            around.ensureWidgetVisible(widget)
        around = around.parentWidget()


def controls(root: QWidget, now: QWidget | None = None) -> list[QWidget]:
    """The controls in a widget that Tab comes to, as they are read: rows from the top, each from the left.

    `now`: also this one, wherever it was, though it may just have been hidden or disabled.
    """
    everywhere = QGuiApplication.styleHints().tabFocusBehavior() is Qt.TabFocusBehavior.TabFocusAllControls
    # On macOS the user may have told the system that Tab goes to texts and lists alone.
    wanted = Qt.FocusPolicy.TabFocus if everywhere else Qt.FocusPolicy.StrongFocus

    def is_control(widget: QWidget) -> bool:
        can = widget.isEnabled() and widget.focusPolicy() & wanted == wanted and widget.focusProxy() is None
        return widget is now or can

    return [widget for widget in _inside(root, now) if is_control(widget)]


def _inside(widget: QWidget, now: QWidget | None) -> Iterator[QWidget]:
    """A widget and all that is seen in it."""
    yield widget
    if isinstance(widget, QScrollArea):
        held: Sequence[QObject | None] = [widget.widget()]
    elif isinstance(widget, _CLOSED):
        return
    else:
        held = widget.children()
    children = [each for each in held if isinstance(each, QWidget) and not each.isWindow()]
    seen = [each for each in children if each.isVisible() or (now is not None and _holds(each, now))]
    layout = None if isinstance(widget, QScrollArea) else widget.layout()
    for part in _as_read(seen if layout is None else _parts(layout, seen), seen):
        for inner in [part] if isinstance(part, QWidget) else _laid_out(part, seen):
            yield from _inside(inner, now)


def _holds(widget: QWidget, other: QWidget) -> bool:
    return widget is other or widget.isAncestorOf(other)


def _laid_out(layout: QLayout, seen: Sequence[QWidget]) -> Iterator[QWidget]:
    """The widgets in a layout, and in the layouts in it, as they are read."""
    own: list[_Part] = [each for each in seen if layout.indexOf(each) >= 0]
    for part in _as_read([*own, *_layouts(layout)], seen):
        yield from [part] if isinstance(part, QWidget) else _laid_out(part, seen)


def _parts(layout: QLayout, seen: Sequence[QWidget]) -> list[_Part]:
    """What stands in the layout of a widget, and what stands in the widget beside it."""
    deeper = {widget for inner in _layouts(layout) for widget in _laid_out(inner, seen)}
    return [*(each for each in seen if each not in deeper), *_layouts(layout)]


def _layouts(layout: QLayout) -> list[QLayout]:
    # Not by the layout's items: PySide ends the process over those of a layout within another one.
    return [each for each in layout.children() if isinstance(each, QLayout)]


def _as_read(parts: Sequence[_Part], seen: Sequence[QWidget]) -> Iterator[_Part]:
    """Parts in rows from the top, each row from the left."""
    places = {id(part): _place(part, seen) for part in parts}
    left = sorted(parts, key=lambda part: places[id(part)].top())
    while left:
        first = places[id(left[0])]
        row = [part for part in left if part is left[0] or _beside(first, places[id(part)])]
        yield from sorted(row, key=lambda part: (places[id(part)].left(), places[id(part)].top()))
        left = [part for part in left if not any(part is each for each in row)]


def _beside(one: QRect, other: QRect) -> bool:
    """True where two places share more than half of the height of the lower one."""
    common = min(one.bottom(), other.bottom()) - max(one.top(), other.top())
    return common * 2 > min(one.height(), other.height())


def _place(part: _Part, seen: Sequence[QWidget]) -> QRect:
    """Where a part is on the screen; of a layout, what is seen of it."""
    place = QRect()
    for widget in [part] if isinstance(part, QWidget) else _laid_out(part, seen):
        place |= QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size())
    return place
