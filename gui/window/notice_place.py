"""The one place in which a window says what it must say: below the page, over nothing. One notice is seen,
the others are counted; quiet ones are told by the button alone, and so are all where keys label: nothing
moves there. None takes the keys by itself, nor for a moment a click.
"""

from collections.abc import Callable, Hashable
from functools import partial

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from engine.core.formatting import counted, visible
from gui.widgets.actions import Announcer, timer
from gui.widgets.fields import FlowLayout
from gui.widgets.labels import STRETCH, DownScroll, button, in_column, label, name, set_role
from gui.widgets.notice import CopyButton, Message, NoticeWords

_MOST_STEPS = 3
_BUTTON_LETTERS, _EDGES = 40, 26  # of the button: characters, pixels around them
_SHARE = 0.4  # of the height of the window, at the most
_SPACING, _EDGE = 8, 4
SETTLE_MS = 700
"""In which a click cannot have been meant for a notice that has just come."""
_REST_MS = 20_000  # until a notice that is no problem folds itself away


class NoticePlace(QFrame):
    """`button` elsewhere counts, shows and folds them. `folded`: none is shown but by it."""

    left = Signal()  # it is gone, and had the keys
    told = Signal(str)  # of a notice that nobody sees but as one line

    def __init__(self) -> None:
        super().__init__()
        self.folded = False
        self._all: list[Message] = []  # the latest first
        self._at = 0  # which of them is seen
        self.button = button("", self.toggle)
        self._words, self._buttons = NoticeWords(), self._make_buttons()
        self._words.setProperty("role", "content")
        self._scroll = DownScroll(self._words, "What the notice says")
        self._scroll.setMinimumHeight(1)  # as high as there is room for
        margins = (12, 8, 12, 8)
        in_column((self._scroll, STRETCH), self._buttons, on=self, margins=margins, spacing=_SPACING)
        self._settling = timer(self, SETTLE_MS, lambda: None)
        self._resting = timer(self, _REST_MS, self._rest)
        self._announcer = Announcer(self.button)  # which is seen while a notice is folded, too
        self._size_button()
        self._show()

    # What it holds

    @property
    def text(self) -> str:
        return self._words.text if self._all else ""

    @property
    def count(self) -> int:
        return len(self._all)

    def add(self, said: Message) -> None:
        """Show this first, a quiet one on the button alone; earlier ones that say or are of the same go."""
        seen = self._all[self._at] if self._all and not self.isHidden() else None
        earlier = [each for each in self._without(said.about) if each.in_words != said.in_words]
        self._all = [said, *earlier]
        self._at = self._all.index(seen) if said.quiet and seen in self._all else 0
        if not (said.quiet or self.folded):
            self._settling.start()
            self._resting.start()
        self._show(unfold=not (said.quiet or self.folded))
        if self.folded:
            self.told.emit(said.text.partition("\n")[0])
        self._announcer.say(visible(said.in_words), at_once=said.role == "problem")

    def withdraw(self, about: Hashable) -> None:
        left = self._without(about)
        if len(left) < len(self._all):
            seen = self._all[self._at]
            self._all = left
            self._at = left.index(seen) if seen in left else 0
            self._show()

    def _without(self, about: Hashable) -> list[Message]:
        return [each for each in self._all if about is None or each.about != about]

    # What the user does

    def dismiss(self) -> None:
        del self._all[self._at]
        self._at = min(self._at, max(0, len(self._all) - 1))
        self._show()

    def dismiss_all(self) -> None:
        self._all.clear()
        self._show()

    def toggle(self) -> None:
        if not self.isHidden():
            self.fold()
        elif self._all:
            self._open()

    def take_keys(self) -> None:
        if self._has_keys or not self._all:
            self.fold()
            return
        self._open()
        first = next(each for each in (*self._steps, self._close) if not each.isHidden())
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open(self) -> None:
        self._settling.stop()
        self._resting.stop()
        self._show(unfold=True)

    def fold(self) -> None:
        had_keys = self._has_keys
        self.hide()
        self._resting.stop()
        if had_keys:
            self.left.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.fold()
        else:
            super().keyPressEvent(event)

    def _turn(self, step: int) -> None:
        self._at = (self._at + step) % len(self._all)
        self._show()

    def _rest(self) -> None:
        if self._has_keys or self.underMouse():
            self._resting.start()
        elif self._all and self._all[self._at].role != "problem":
            self.fold()

    @property
    def _has_keys(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    # What it shows

    def _show(self, unfold: bool = False) -> None:
        count = len(self._all)
        self._show_button()
        if not count:
            self.fold()
            return
        said = self._all[self._at]
        set_role(self, said.role)
        self._words.show_message(said)
        self._copy.show_message(said)
        self._copy.setVisible(said.role == "problem" or "\n" in said.text)
        for step, text in zip(self._steps, [*said.steps, *[""] * _MOST_STEPS], strict=False):
            step.setText(visible(text))
            step.setVisible(bool(text))
        for widget in (self._place, self._newer, self._older, self._close_all):
            widget.setVisible(count > 1)
        self._place.setText(f"{self._at + 1} of {count}")
        self._place.setMinimumHeight(self._close.sizeHint().height())
        self.setAccessibleName(visible(said.in_words))
        if unfold:
            self.show()
        self._fit()

    def _show_button(self) -> None:
        count, room = len(self._all), self.button.width() - _EDGES
        latest = self._all[0].text.partition("\n")[0] if count else ""
        text = visible(f"{counted(count, 'notice', 'notices')}: {latest}") if count else "No notices"
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
        self.button.setText(shown.replace("&", "&&"))
        self.button.setEnabled(bool(count))
        roles = {said.role for said in self._all}
        set_role(self.button, next((role for role in ("problem", "note") if role in roles), ""))
        name(self.button, text, "Notices: show or hide them (F8)")

    def _fit(self) -> None:
        """As high as the words need, where that leaves the page enough."""
        layout, of_words = self.layout(), self._words.layout()
        assert layout is not None
        assert of_words is not None
        margins = self.contentsMargins() + layout.contentsMargins()
        width = self.width() - margins.left() - margins.right()
        around = margins.top() + margins.bottom() + _SPACING + _EDGE
        of_words.activate()  # else, where they change in sight, it is as high as before
        needed = of_words.totalHeightForWidth(width) + self._buttons.heightForWidth(width) + around
        self.setFixedHeight(min(needed, int(self.window().height() * _SHARE)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            # Not now: the layout, which is at work, would give its parts the height of before.
            QTimer.singleShot(0, self, self._fit)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._size_button()
            self._show_button()
            self._fit()

    # Making

    def _size_button(self) -> None:
        # one size, whatever it says, so that nothing beside it moves
        metrics = self.fontMetrics()
        width = metrics.averageCharWidth() * _BUTTON_LETTERS + _EDGES
        self.button.setFixedSize(width, metrics.height() + 6)

    def _make_buttons(self) -> QWidget:
        def do_step(number: int) -> None:
            list(self._all[self._at].steps.values())[number]()

        self._steps = [self._button("", "", partial(do_step, number)) for number in range(_MOST_STEPS)]
        self._copy = CopyButton()
        self._place = label("", "hint", wrap=False)
        self._newer = self._button("‹", "The notice that came after this one", partial(self._turn, -1))
        self._older = self._button("›", "The notice that came before this one", partial(self._turn, 1))
        self._close = self._button("Dismiss", "Dismiss this notice", self.dismiss)
        self._close_all = self._button("Dismiss all", "Dismiss all notices", self.dismiss_all)
        row = QWidget()
        turning = (self._newer, self._place, self._older)
        FlowLayout(*self._steps, self._copy, self._close, *turning, self._close_all, on=row)
        return row

    def _button(self, text: str, what: str, action: Callable[[], object]) -> QPushButton:
        def obey() -> None:
            if not self._settling.isActive():  # else what it says has just changed under the hand
                self._resting.stop()
                action()

        return button(text, obey, what)
