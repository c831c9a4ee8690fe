"""How the user acts: menu entries, keys, the order of Tab, the line of work under way, what is announced."""

from collections.abc import Callable, Iterator, Sequence

from PySide6 import QtGui, QtWidgets
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal

from gui.widgets.foreign_text import OneLine, one_line, set_tip, tip
from gui.widgets.labels import STRETCH, Mixed, button, in_row, name

LONGEST = 240  # characters: who wants more of a text goes there


class Announcer(QObject):
    """Speaks for a widget; silent while nobody sees that. `said` is emitted with each text, heard or not."""

    said = Signal(str)

    def __init__(self, widget: QtWidgets.QWidget) -> None:
        super().__init__(widget)
        self._widget = widget

    def say(self, text: str, at_once: bool = False) -> None:
        """Let a text be read; `at_once`: in the place of what is being read, which it makes old."""
        if not text or not self._widget.isVisible():
            return
        event = QtGui.QAccessibleAnnouncementEvent(self._widget, text)
        urgency = QtGui.QAccessible.AnnouncementPoliteness
        event.setPoliteness(urgency.Assertive if at_once else urgency.Polite)
        QtGui.QAccessible.updateAccessibility(event)
        self.said.emit(text)


_Part = QtWidgets.QWidget | QtWidgets.QLayout
# What Qt has put into them gets no keys by Tab.
_CLOSED = (QtWidgets.QAbstractScrollArea, QtWidgets.QAbstractSpinBox, QtWidgets.QComboBox)


class ReadingOrder(Mixed):
    """Lets Tab go as one reads; stands before Qt's own class. Qt goes in the order in which widgets came into
    the window: a list that grows would come last.
    """

    def focusNextPrevChild(self, forward: bool) -> bool:
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


def _bring_into_view(widget: QtWidgets.QWidget) -> None:
    # Qt scrolls what the keys come from, not what they come to.
    around = widget.parentWidget()
    while around is not None:
        if isinstance(around, QtWidgets.QScrollArea):
            around.ensureWidgetVisible(widget)
        around = around.parentWidget()


def controls(root: QtWidgets.QWidget, now: QtWidgets.QWidget | None = None) -> list[QtWidgets.QWidget]:
    """The controls in a widget that Tab comes to, as they are read; `now` also where it was just hidden."""
    # On macOS the user may have told the system that Tab goes to texts and lists alone.
    behavior = QtGui.QGuiApplication.styleHints().tabFocusBehavior()
    everywhere = behavior is Qt.TabFocusBehavior.TabFocusAllControls
    wanted = Qt.FocusPolicy.TabFocus if everywhere else Qt.FocusPolicy.StrongFocus

    def is_control(widget: QtWidgets.QWidget) -> bool:
        can = widget.isEnabled() and widget.focusPolicy() & wanted == wanted and widget.focusProxy() is None
        return widget is now or can

    return [widget for widget in _inside(root, now) if is_control(widget)]


def _inside(widget: QtWidgets.QWidget, now: QtWidgets.QWidget | None) -> Iterator[QtWidgets.QWidget]:
    yield widget
    if isinstance(widget, QtWidgets.QScrollArea):
        held: Sequence[QObject | None] = [widget.widget()]
    elif isinstance(widget, _CLOSED):
        return
    else:
        held = widget.children()
    children = [each for each in held if isinstance(each, QtWidgets.QWidget) and not each.isWindow()]
    on_the_way = [each for each in children if each is now or (now is not None and each.isAncestorOf(now))]
    seen = [each for each in children if each.isVisible() or each in on_the_way]
    layout = None if isinstance(widget, QtWidgets.QScrollArea) else widget.layout()
    for part in _as_read(seen if layout is None else _parts(layout, seen), seen):
        for inner in [part] if isinstance(part, QtWidgets.QWidget) else _laid_out(part, seen):
            yield from _inside(inner, now)


def _laid_out(layout: QtWidgets.QLayout, seen: Sequence[QtWidgets.QWidget]) -> Iterator[QtWidgets.QWidget]:
    own: list[_Part] = [each for each in seen if layout.indexOf(each) >= 0]
    for part in _as_read([*own, *_layouts(layout)], seen):
        yield from [part] if isinstance(part, QtWidgets.QWidget) else _laid_out(part, seen)


def _parts(layout: QtWidgets.QLayout, seen: Sequence[QtWidgets.QWidget]) -> list[_Part]:
    deeper = {widget for inner in _layouts(layout) for widget in _laid_out(inner, seen)}
    return [*(each for each in seen if each not in deeper), *_layouts(layout)]


def _layouts(layout: QtWidgets.QLayout) -> list[QtWidgets.QLayout]:
    # Not by the layout's items: PySide ends the process over those of a layout within another one.
    return [each for each in layout.children() if isinstance(each, QtWidgets.QLayout)]


def _as_read(parts: Sequence[_Part], seen: Sequence[QtWidgets.QWidget]) -> Iterator[_Part]:
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


def _place(part: _Part, seen: Sequence[QtWidgets.QWidget]) -> QRect:
    """Where a part is on the screen; of a layout, what is seen of it."""
    place = QRect()
    for widget in [part] if isinstance(part, QtWidgets.QWidget) else _laid_out(part, seen):
        place |= QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size())
    return place


Key = QtGui.QKeySequence | QtGui.QKeySequence.StandardKey | str


def add_entry(
    menu: QtWidgets.QMenu,
    text: str,
    do: Callable[[], object],
    keys: Sequence[QtGui.QKeySequence] = (),
    *,
    what: str = "",
    checked: bool | None = None,
) -> QtGui.QAction:
    """Put an entry at the end of a menu. Only one menu may have the keys: two make Qt ignore them.

    `what`: its tip; `checked`: whether it is the one of several that is chosen, None for all others.
    """
    added = QtGui.QAction(text, menu, checkable=checked is not None, checked=checked is True)
    menu.addAction(added)
    added.setShortcuts(keys)
    if what:
        added.setToolTip(tip(what))
    # The signal carries whether the action is checked, which nobody wants to know.
    added.triggered.connect(lambda _checked=False: do())
    return added


class PanelMenu(QtWidgets.QMenu):
    """A menu of fields: Tab goes through them."""

    def focusNextPrevChild(self, forward: bool) -> bool:
        return QtWidgets.QWidget.focusNextPrevChild(self, forward)


class MenuButton(QtWidgets.QToolButton):
    def __init__(
        self, text: str = "", tips: bool = False, kind: type[QtWidgets.QMenu] = QtWidgets.QMenu
    ) -> None:
        super().__init__(popupMode=QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setText(text)
        self.setProperty("role", "button")
        self._menu = kind(self)
        self._menu.setToolTipsVisible(tips)
        self.setMenu(self._menu)


_FEWEST, _MOST = 8, 60  # characters that are seen of it


class CurrentChoice(MenuButton):
    """What is current, and on a press the choice of another; a long name without its middle."""

    def __init__(self, kind: str) -> None:
        """`kind`: what can be chosen here, for those that read the screen."""
        super().__init__(tips=True)
        self._kind = kind
        self.setProperty("compact", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Maximum, QtWidgets.QSizePolicy.Policy.Fixed)
        self._menu.aboutToShow.connect(self.offer)

    def offer(self) -> None:
        """Fill the menu, which opens now."""

    def show_current(self, text: str, what: str) -> None:
        self.setText(one_line(text).replace("&", "&&"))
        name(self, one_line(text if text.startswith(self._kind) else f"{self._kind}: {text}"))
        set_tip(self, what)

    def sizeHint(self) -> QSize:
        return self._with_letters(_MOST)

    def minimumSizeHint(self) -> QSize:
        return self._with_letters(_FEWEST)

    def _with_letters(self, most: int) -> QSize:
        whole, text = super().sizeHint(), self._width_of_text
        return whole - QSize(max(0, text - most * self.fontMetrics().averageCharWidth()), 0)

    @property
    def _width_of_text(self) -> int:
        return self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, self.text()).width()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self._menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QtGui.QPaintEvent) -> None:
        painter, option = QtWidgets.QStylePainter(self), QtWidgets.QStyleOptionToolButton()
        self.initStyleOption(option)
        # One more, for the width of the text is rounded.
        room = self.width() - super().sizeHint().width() + self._width_of_text + 1
        middle, mnemonic = Qt.TextElideMode.ElideMiddle, int(Qt.TextFlag.TextShowMnemonic)
        option.text = self.fontMetrics().elidedText(self.text(), middle, room, mnemonic)
        painter.drawComplexControl(QtWidgets.QStyle.ComplexControl.CC_ToolButton, option)
        painter.end()


def timer(parent: QObject, milliseconds: int, then: Callable[[], object], once: bool = True) -> QTimer:
    """Does something, once or again and again, each time that it is started."""
    made = QTimer(parent, singleShot=once, interval=milliseconds)
    made.timeout.connect(then)
    return made


class _Once(QObject):
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        return event.type() == QEvent.Type.MouseButtonDblClick


def press_once(pressed: QtWidgets.QAbstractButton) -> None:
    """A double click presses it once: its second click would be of what the first one has led to."""
    pressed.installEventFilter(_Once(pressed))


def add_key(place: QtWidgets.QWidget, key: Key, do: Callable[[], object], inside: bool = False) -> None:
    """Let a key do something while a widget has the focus, or, with `inside`, while anything in it has."""
    context = Qt.ShortcutContext
    shortcut = QtGui.QShortcut(QtGui.QKeySequence(key), place)
    shortcut.setContext(context.WidgetWithChildrenShortcut if inside else context.WidgetShortcut)
    shortcut.activated.connect(do)


class BusyLine(QtWidgets.QWidget):
    """Hidden until something is under way."""

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._text = OneLine()
        self._bar = QtWidgets.QProgressBar(textVisible=False)
        self._bar.setFixedHeight(8)
        name(self._bar, "How far it is")
        self._button = button("Cancel", self._cancel, "Cancel what is under way")
        in_row(self._text, (self._bar, STRETCH), self._button, on=self)
        self.hide()

    def begin(self, text: str) -> None:
        # Qt's bar for an unknown end: it moves to and fro.
        self._bar.setRange(0, 0)
        self._button.setEnabled(True)
        self._say(text)
        self.show()

    def go_on(self, text: str, done: int | None = None, total: int | None = None) -> None:
        if done is not None and total:
            # Parts in a thousand: Qt's numbers end at two thousand million.
            self._bar.setRange(0, 1000)
            self._bar.setValue(int(1000 * done / total))
        self._say(text)

    def end(self) -> None:
        self._bar.setRange(0, 1)
        self.hide()

    def _say(self, text: str) -> None:
        self._text.setText(text)
        self.setAccessibleName(text)

    def _cancel(self) -> None:
        self._button.setEnabled(False)
        self._say("Stopping …")
        self.cancelled.emit()
