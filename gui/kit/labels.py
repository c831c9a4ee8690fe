"""Labels in the roles that the style sheet knows, and frames for what belongs together.

Knows: roles. Does not know: what they say.
"""

import re
import sys

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLabel, QPushButton, QScrollArea, QWidget

from engine.core.formatting import visible
from gui.kit.layouts import STRETCH, Part, as_column, in_column

# Qt breaks a line after a space, a slash or a hyphen. A name of 255 characters may have none of these, and
# would widen the window: where it has more than 40, it may be broken after each 20.
_UNBROKEN = re.compile(r"[^\s/\\-]{41,}")
_IN_PIECES = re.compile(r".{1,20}")
_GUARDED = "guarded"
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
        """Show a text. Its longest words, such as names of files, may be broken over lines."""
        self._text = text
        super().setText(breakable(text))

    def text(self) -> str:
        """The text as it was given."""
        return self._text

    def sizeHint(self) -> QSize:
        """Without the empty room at the right."""
        return super().sizeHint() - QSize(self.contentsMargins().right(), 0)

    def minimumSizeHint(self) -> QSize:
        """Without the empty room at the right."""
        return super().minimumSizeHint() - QSize(self.contentsMargins().right(), 0)

    def heightForWidth(self, width: int) -> int:
        """That of the text in lines of the longest length."""
        room = self.contentsMargins().right()  # which QLabel takes off
        return super().heightForWidth(min(width, longest_line(self)) + room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the rest of a wide page empty."""
        super().resizeEvent(event)
        room = max(0, self.width() - longest_line(self)) if self.wordWrap() else 0
        if room != self.contentsMargins().right():
            self.setContentsMargins(0, 0, room, 0)


def breakable(text: str) -> str:
    """A text whose longest words, such as names of files, may be broken over lines where it is wrapped."""
    # A space of no width: the line may break there, and nothing is seen of it.
    return _UNBROKEN.sub(lambda word: "\u200b".join(_IN_PIECES.findall(word[0])), text)


def longest_line(widget: QWidget) -> int:
    """How wide a line of text may be, in pixels."""
    return widget.fontMetrics().averageCharWidth() * _LONGEST_LINE


def label(text: str, role: str = "", wrap: bool = True) -> QLabel:
    """A label of plain text; `role` is one of the style sheet's."""
    made = Prose(visible(text)) if wrap else QLabel(visible(text))
    made.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        made.setProperty("role", role)
    return made


def title(text: str) -> QLabel:
    """The title of a page."""
    return label(text, "title", wrap=False)


def heading(text: str) -> QLabel:
    """The heading of a part of a page."""
    return label(text, "heading", wrap=False)


def hint(text: str, wrap: bool = True) -> QLabel:
    """A quieter sentence."""
    return label(text, "hint", wrap)


def show_text(shown: QLabel, text: str) -> None:
    """Show a text in letters that can all be seen; a label that has nothing to say is hidden."""
    shown.setText(visible(text))
    shown.setVisible(bool(text))


def set_role(widget: QWidget, role: str) -> None:
    """Give a widget another role, and let the style sheet see it."""
    if widget.property("role") != role:
        widget.setProperty("role", role)
        # Qt reads properties for the style sheet only when it polishes a widget.
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def panel(*parts: Part, role: str = "panel") -> QFrame:
    """A frame around parts, one below the other."""
    frame = QFrame()
    frame.setProperty("role", role)
    in_column(*parts, on=frame, margins=(12, 10, 12, 10), spacing=8)
    return frame


def column(*widgets: QWidget) -> QWidget:
    """Widgets one below the other, as wide as there is room; what is left over is below them."""
    return as_column(*widgets, STRETCH, margins=(0, 0, 6, 0), spacing=10, role="content")


def scrolling(inside: QWidget, accessible: str = "") -> QScrollArea:
    """A widget that is scrolled where there is too little room for it; by keys, too, where it has a name."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(inside)
    area.setAccessibleName(accessible)
    if not accessible:
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area


class DownScroll(QScrollArea):
    """Scrolls up and down alone, so it is never narrower than what is in it."""

    def __init__(self, inside: QWidget | None = None) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if inside is not None:
            self.setWidget(inside)

    def minimumSizeHint(self) -> QSize:
        """As wide as what is in it must be at least, beside the bar."""
        inside, size = self.widget(), super().minimumSizeHint()
        if inside is not None:
            bar = self.verticalScrollBar().sizeHint().width()
            size.setWidth(inside.minimumSizeHint().width() + bar + 2 * self.frameWidth())
        return size

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell the layout around when what is in it needs another width."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)


def main_button(text: str) -> QPushButton:
    """The button of what a page is for."""
    button = QPushButton(text)
    button.setProperty("role", "main")
    return button


def name(widget: QWidget, accessible: str, what: str = "") -> None:
    """Give a control its accessible name, and a tool tip where `what` says more."""
    widget.setAccessibleName(accessible)
    if what:
        widget.setToolTip(what)
    if what or isinstance(widget, QComboBox):
        describe(widget, what)


def guard(*widgets: QWidget) -> None:
    """What a click on these does is kept, or gone: nothing that comes and goes by itself lies over them."""
    for widget in widgets:
        widget.setProperty(_GUARDED, True)


def keep_room(*widgets: QWidget) -> None:
    """Nothing beside these moves where they come or go: what is pressed stays under the hand."""
    for widget in widgets:
        policy = widget.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        widget.setSizePolicy(policy)


def is_guarded(widget: QWidget) -> bool:
    """Whether nothing may lie over it."""
    return widget.property(_GUARDED) is True


def describe(widget: QWidget, what: str) -> None:
    """Tell who has the screen read more of a control than its name."""
    # But on Windows, Qt tells what a box is set to as its name: "All items", of what?
    purpose = widget.accessibleName() if _NAMED_BY_VALUE and isinstance(widget, QComboBox) else ""
    widget.setAccessibleDescription(". ".join(dict.fromkeys(filter(None, (purpose, what)))))


def narrow(box: QComboBox, letters: int = 12) -> None:
    """Let a list be narrower than its longest entry where there is little room."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(letters)


def shown_text(widget: QWidget) -> str:
    """What the labels in a widget say, a line each, but for those that are hidden or empty."""
    labels = (label for label in widget.findChildren(QLabel) if not label.isHidden())
    return "\n".join(label.text() for label in labels if label.text())
