"""Labels in the roles of the style sheet, rows and columns of widgets, frames, the size of dialogs."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QFont, QPixmap, QResizeEvent
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QLayout, QPushButton, QWidget

from engine.core.formatting import visible

if TYPE_CHECKING:
    Mixed = QWidget
else:
    Mixed = object
"""The base, for the type checker alone, of what stands before one of Qt's own classes."""


class Painted(QLabel):
    """Told as a picture by those that read the screen; a subclass paints it, and names it."""

    def __init__(self) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText)
        self.setPixmap(QPixmap(1, 1))
        self.setSizePolicy(QtWidgets.QSizePolicy.Policy.Expanding, QtWidgets.QSizePolicy.Policy.Fixed)

    @property
    def line(self) -> int:
        """The height of one, in pixels."""
        return self.fontMetrics().height() + 3


STRETCH = 1
"""Among the parts: empty room. Beside a part, as `(part, STRETCH)`: it takes the room that is left."""

Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, Qt.AlignmentFlag]
"""A widget or a layout, alone, or with its stretch or (a widget) its alignment; a number: empty room."""

Margins = tuple[int, int, int, int] | None
"""Left, top, right, bottom; None as the style has them."""

_NONE = (0, 0, 0, 0)
_Box = TypeVar("_Box", bound=QtWidgets.QBoxLayout)


def in_row(
    *parts: Part, on: QWidget | None = None, margins: Margins = _NONE, spacing: int | None = None
) -> QtWidgets.QHBoxLayout:
    """Parts side by side, as the layout of the widget `on`, if any; the style has its own `spacing`."""
    return _filled(QtWidgets.QHBoxLayout(), parts, on, margins, spacing)


def in_column(
    *parts: Part, on: QWidget | None = None, margins: Margins = _NONE, spacing: int | None = None
) -> QtWidgets.QVBoxLayout:
    return _filled(QtWidgets.QVBoxLayout(), parts, on, margins, spacing)


def as_row(*parts: Part, margins: Margins = _NONE, spacing: int | None = None) -> QWidget:
    made = QWidget()
    in_row(*parts, on=made, margins=margins, spacing=spacing)
    return made


def as_column(*parts: Part, role: str = "", margins: Margins = _NONE, spacing: int | None = None) -> QWidget:
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


def _add(box: QtWidgets.QBoxLayout, part: Part) -> None:
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
        # Else it is seen outside of any layout until Qt's loop comes to deleteLater.
        widget.hide()
        widget.deleteLater()


def empty(layout: QLayout) -> None:
    while (item := layout.itemAt(0)) is not None:
        widget = item.widget()
        if widget is None:
            layout.takeAt(0)
        else:
            take_out(layout, [widget])


_Standard = QtWidgets.QDialogButtonBox.StandardButton


def ok_and_cancel(dialog: QDialog) -> QtWidgets.QDialogButtonBox:
    buttons = close_button(dialog, _Standard.Ok | _Standard.Cancel)
    buttons.accepted.connect(dialog.accept)
    return buttons


def close_button(dialog: QDialog, which: _Standard = _Standard.Close) -> QtWidgets.QDialogButtonBox:
    buttons = QtWidgets.QDialogButtonBox(which)
    buttons.rejected.connect(dialog.reject)
    return buttons


def cancel_or(
    dialog: QDialog, text: str, do: Callable[[], object]
) -> tuple[QtWidgets.QDialogButtonBox, QPushButton]:
    """Cancel, and the button that does what the dialog asks for."""
    buttons = close_button(dialog, _Standard.Cancel)
    buttons.accepted.connect(do)
    return buttons, buttons.addButton(text, QtWidgets.QDialogButtonBox.ButtonRole.AcceptRole)


def open_dialog(dialog: QDialog) -> None:
    """Open a dialog that is gone once it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def button(text: str, do: Callable[[], object], accessible: str = "", what: str = "") -> QPushButton:
    made = QPushButton(text)
    if accessible or what:
        name(made, accessible or text.replace("&", ""), what)
    made.clicked.connect(do)
    return made


def make_room(dialog: QWidget, letters: int, lines: int, share: float = 0.9) -> None:
    """Let a dialog be this many average characters wide, lines high, up to its `share` of the screen."""
    metrics = dialog.fontMetrics()
    wanted = QSize(metrics.averageCharWidth() * letters, metrics.height() * lines)
    dialog.resize(wanted.boundedTo(dialog.screen().availableSize() * share))


class Dialog(QDialog):
    """At least so many average characters wide; with `lines`, so large, up to its `share` of the screen."""

    def __init__(
        self, title: str, parent: QWidget | None, letters: int = 0, lines: int = 0, share: float = 0.9
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        if lines:
            make_room(self, letters, lines, share)
        else:
            self.setMinimumWidth(self.fontMetrics().averageCharWidth() * letters)


# Qt breaks a line after a space, a slash or a hyphen. A name of 255 characters may have none of these, and
# would widen the window: where it has more than 40, it may be broken after each 20.
_UNBROKEN = re.compile(r"[^\s/\\-]{41,}")
_IN_PIECES = re.compile(r".{1,20}")
_NAMED_BY_VALUE = sys.platform != "win32"
_LONGEST_LINE = 160  # mean characters of the font, which are wider than those of most texts


class Prose(QLabel):
    """Wrapped text in lines that the eye can follow, however wide the page is, and however long a word is."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setText(text)

    def setText(self, text: str) -> None:
        self._text = text
        super().setText(breakable(text))

    def text(self) -> str:
        return self._text

    def sizeHint(self) -> QSize:
        return super().sizeHint() - QSize(self.contentsMargins().right(), 0)

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint() - QSize(self.contentsMargins().right(), 0)

    def heightForWidth(self, width: int) -> int:
        room = self.contentsMargins().right()  # which QLabel takes off
        return super().heightForWidth(min(width, longest_line(self)) + room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = max(0, self.width() - longest_line(self)) if self.wordWrap() else 0
        if room != self.contentsMargins().right():
            self.setContentsMargins(0, 0, room, 0)


def breakable(text: str) -> str:
    # A space of no width: the line may break there, and nothing is seen of it.
    return _UNBROKEN.sub(lambda word: "\u200b".join(_IN_PIECES.findall(word[0])), text)


def longest_line(widget: QWidget) -> int:
    return widget.fontMetrics().averageCharWidth() * _LONGEST_LINE


def label(text: str, role: str = "", wrap: bool = True) -> QLabel:
    made = Prose(visible(text)) if wrap else QLabel(visible(text))
    made.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        made.setProperty("role", role)
    return made


class BigLabel(QLabel):
    """So many times as large as other text, and bold."""

    def __init__(self, times: float, text: str = "") -> None:
        super().__init__(text, textFormat=Qt.TextFormat.PlainText)
        self._times = times
        self.restyle()

    def restyle(self) -> None:
        font = QFont()
        font.setPointSizeF(font.pointSizeF() * self._times)
        font.setWeight(QFont.Weight.DemiBold)
        self.setFont(font)


def heading(text: str) -> QLabel:
    return label(text, "heading", wrap=False)


def hint(text: str, wrap: bool = True) -> QLabel:
    return label(text, "hint", wrap)


def silent(role: str, wrap: bool = True) -> QLabel:
    """A label that is hidden until `show_text` gives it something to say."""
    made = label("", role, wrap)
    made.hide()
    return made


def show_text(shown: QLabel, text: str) -> None:
    """Show a text with all its letters; a label that has nothing to say is hidden."""
    shown.setText(visible(text))
    shown.setVisible(bool(text))


def set_role(widget: QWidget, role: str) -> None:
    if widget.property("role") != role:
        widget.setProperty("role", role)
        polish_again(widget)


def polish_again(widget: QWidget) -> None:
    # Only then Qt reads for the style sheet what properties a widget has, and how large its text is.
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def panel(*parts: Part, role: str = "panel") -> QFrame:
    frame = QFrame()
    frame.setProperty("role", role)
    in_column(*parts, on=frame, margins=(12, 10, 12, 10), spacing=8)
    return frame


def stack(*shown: QWidget) -> QtWidgets.QStackedWidget:
    """Of which one is seen at a time, at first the first."""
    made = QtWidgets.QStackedWidget()
    for each in shown:
        made.addWidget(each)
    return made


def column(*widgets: QWidget) -> QWidget:
    """Widgets one below the other, as wide as there is room; what is left over is below them."""
    return as_column(*widgets, STRETCH, margins=(0, 0, 6, 0), spacing=10, role="content")


def scrolling(inside: QWidget, accessible: str = "") -> QtWidgets.QScrollArea:
    """A widget that is scrolled where there is too little room for it; by keys, too, where it has a name."""
    area = QtWidgets.QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(inside)
    area.setAccessibleName(accessible)
    if not accessible:
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area


class DownScroll(QtWidgets.QScrollArea):
    """Scrolls up and down alone, so it is never narrower than what is in it; by keys, too, with a name."""

    def __init__(self, inside: QWidget | None = None, accessible: str = "") -> None:
        super().__init__()
        self.setAccessibleName(accessible)
        if not accessible:
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if inside is not None:
            self.setWidget(inside)

    def minimumSizeHint(self) -> QSize:
        inside, size = self.widget(), super().minimumSizeHint()
        if inside is not None:
            bar = self.verticalScrollBar().sizeHint().width()
            size.setWidth(inside.minimumSizeHint().width() + bar + 2 * self.frameWidth())
        return size

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def main_button(text: str, do: Callable[[], object], accessible: str = "", what: str = "") -> QPushButton:
    made = button(text, do, accessible, what)
    made.setProperty("role", "main")
    return made


def name(widget: QWidget, accessible: str, what: str = "") -> None:
    """Give a control its accessible name, and a tool tip where `what` says more."""
    widget.setAccessibleName(accessible)
    if what:
        widget.setToolTip(what)
    if what or isinstance(widget, QtWidgets.QComboBox):
        describe(widget, what)


def keep_room(*widgets: QWidget) -> None:
    """Nothing beside these moves where they come or go: what is pressed stays under the hand."""
    for widget in widgets:
        policy = widget.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        widget.setSizePolicy(policy)


def describe(widget: QWidget, what: str) -> None:
    """Tell who has the screen read more of a control than its name."""
    # But on Windows, Qt tells what a box is set to as its name: "All items", of what?
    purpose = widget.accessibleName() if _NAMED_BY_VALUE and isinstance(widget, QtWidgets.QComboBox) else ""
    widget.setAccessibleDescription(". ".join(dict.fromkeys(filter(None, (purpose, what)))))


def narrow(box: QtWidgets.QComboBox, letters: int = 12) -> None:
    box.setSizeAdjustPolicy(QtWidgets.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)
