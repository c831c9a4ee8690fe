"""Which controls Tab reaches in a window, which there are, and which come in an order that nobody reads."""

from collections.abc import Sequence
from itertools import combinations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QWidget

from tests.gui.told import wrong_words

_MOST = 400  # controls of one window


def by_tab(root: QWidget, back: bool = False) -> list[QWidget]:
    """The controls that Tab (or Shift+Tab) comes to, until it is where it has been."""
    window = root.window().windowHandle()
    assert isinstance(window, QWindow)
    reached: list[QWidget] = []
    for _ in range(_MOST):
        QTest.keyClick(window, Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab)
        now = root.window().focusWidget()  # also where the system gives the keys to another window
        assert now is not None, f"nothing has the keys after {called(reached[-1]) if reached else root}"
        if now in reached:
            return reached
        assert not now.visibleRegion().isEmpty(), f"{called(now)} has the keys and is out of sight"
        reached.append(now)
    raise AssertionError(f"Tab does not come round: {[called(each) for each in reached[-9:]]}")


def controls_of(root: QWidget) -> list[QWidget]:
    """Every control that can be seen and used with keys; of buttons that exclude each other the one that is
    down, as Qt has it: the arrows lead to the others.
    """
    found = root.findChildren(QWidget)
    return [each for each in found if each.window() is root and _is_control(each)]


def _is_control(widget: QWidget) -> bool:
    group = widget.group() if isinstance(widget, QAbstractButton) else None
    if group is not None and group.exclusive() and group.checkedButton() not in (None, widget):
        return False
    tabbed = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    return bool(tabbed) and widget.isVisible() and widget.isEnabled() and widget.focusProxy() is None


def wrong_by_keyboard(root: QWidget) -> list[str]:
    """What a person without a mouse meets in a window, a line each."""
    wanted, reached = controls_of(root), by_tab(root)
    wrong = [f"Tab does not reach {called(each)}" for each in wanted if each not in reached]
    wrong += [f"Tab comes to {called(each)}, which is no control" for each in reached if each not in wanted]
    back = by_tab(root, back=True)
    if set(back) != set(reached) or _turned(back[::-1], reached[0]) != reached:
        wrong.append(f"Shift+Tab goes another way: {[called(each) for each in back]}")
    wrong += [line for each in reached for line in _wrong_words(each)]
    wrong += [line for each in reached if isinstance(each, QComboBox) for line in _wrong_with_box(each)]
    return wrong + out_of_order(_turned(reached, _first(reached)))


def _wrong_words(widget: QWidget) -> list[str]:
    """What a screen reader is told of a control: see `told.py`. The purpose of an empty box is said twice."""
    described = "" if isinstance(widget, QComboBox) else announcements(widget, QAccessible.Text.Description)
    return [f"{called(widget)}: {line}" for line in wrong_words(spoken_name(widget), described)]


def _wrong_with_box(box: QComboBox) -> list[str]:
    """A screen reader is told what it chooses, and apart from that what it is set to.

    On Linux the name that Qt tells of a box is its value: there the description has to say the purpose.
    """
    purpose, value = box.accessibleName(), box.currentText()
    told = [spoken_name(box), announcements(box, QAccessible.Text.Description)]
    wrong = [] if purpose and any(purpose in each for each in told) else [f"{called(box)} says no purpose"]
    told_value = announcements(box, QAccessible.Text.Value)
    wrong += [f"{called(box)} is not {value!r}"] if told_value != value else []
    return wrong + ([f"{purpose!r} says the value, too"] if value and purpose.endswith(f": {value}") else [])


def _turned(ring: list[QWidget], first: QWidget) -> list[QWidget]:
    place = ring.index(first)
    return [*ring[place:], *ring[:place]]


def _first(reached: Sequence[QWidget]) -> QWidget:
    """The one at the left of the first row."""
    places = {each: _seen(each) for each in reached if not _seen(each).isEmpty()}
    highest = min(places.values(), key=QRect.top)
    row = [each for each in places if places[each].top() <= highest.center().y()]
    return min(row, key=lambda each: places[each].left())


def out_of_order(reached: Sequence[QWidget]) -> list[str]:
    """Controls that come after what stands below them, or in one row at their right."""
    return [
        f"{called(other)} comes after {called(one)}"
        for one, other in combinations(reached, 2)
        if not one.isAncestorOf(other) and _is_before(other, one)
    ]


def _is_before(one: QWidget, other: QWidget) -> bool:
    """Whether a control stands above another one, or at its left in one part of the window."""
    first, second = _seen(one), _seen(other)
    if first.isEmpty() or second.isEmpty():
        return False  # scrolled out of sight: where it is says nothing
    if first.left() <= second.right() and second.left() <= first.right():
        return first.bottom() < second.top()
    row = first.top() <= second.center().y() <= first.bottom() and one.parent() is other.parent()
    return row and first.height() == second.height() and first.right() < second.left()


def _seen(widget: QWidget) -> QRect:
    place = widget.visibleRegion().boundingRect()
    return QRect(widget.mapToGlobal(QPoint(0, 0)) + place.topLeft(), place.size())


def spoken_name(widget: QWidget) -> str:
    return announcements(widget, QAccessible.Text.Name)


def announcements(widget: QWidget, what: QAccessible.Text) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(what)


def called(widget: QWidget) -> str:
    return f"{type(widget).__name__} {spoken_name(widget)[:60]!r}"
