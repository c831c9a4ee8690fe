"""What all pages of the window have in common, and parts of a page whose sizes the user can change.

Knows: the frame of a page, whether parts were ever on the screen. Does not know: any page.
"""

from collections.abc import Callable
from typing import ClassVar

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QSplitter, QWidget

from gui.widgets.action_table import of_page
from gui.widgets.actions import add_key, controls
from gui.widgets.foreign_text import OneLine
from gui.widgets.labels import STRETCH, in_column, in_row, title
from gui.widgets.views import RowsView
from gui.workspace.state import PageName
from gui.workspace.workspace import Workspace


class PageSplitter(QSplitter):
    """Parts side by side or above each other, of which none can be lost from sight.

    `seen`: whether it was shown once. Before that its parts have no sizes that are worth remembering.
    `keeps_first`: whether the first part stays as large as it is where there is less room, as far as it can.
    """

    def __init__(self, direction: Qt.Orientation) -> None:
        super().__init__(direction)
        self.setChildrenCollapsible(False)
        self.keeps_first = False
        self.seen = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt takes what lacks from all parts alike, whatever their stretch."""
        first, *_ = before = self.sizes()
        super().resizeEvent(event)
        if self.keeps_first and self.seen and self.sizes()[0] != first:
            self.setSizes([first, sum(self.sizes()) - first, *before[2:]])

    def showEvent(self, event: QShowEvent) -> None:
        """Its parts have their sizes now."""
        super().showEvent(event)
        self.seen = True


def two_parts(direction: Qt.Orientation, first: QWidget, second: QWidget) -> PageSplitter:
    """Two parts that keep their share."""
    made = PageSplitter(direction)
    made.addWidget(first)
    made.addWidget(second)
    made.setStretchFactor(0, 1)
    made.setStretchFactor(1, 1)
    made.setHandleWidth(8)
    return made


class Page(QWidget):
    """One page of the window: its title, a line beside it, its own actions at the right, and its body."""

    restyled = Signal()

    NAME: ClassVar[PageName]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self.setObjectName(f"page-{self.NAME.lower()}")
        self.setAccessibleName(f"{self.NAME} page")
        self._looks_old = True  # until it is shown
        self.context: QLabel = OneLine()
        self.header = in_row(title(self.NAME), self.context, STRETCH, spacing=10)
        self.body = in_column(spacing=10)
        in_column(self.header, (self.body, STRETCH), on=self, margins=(16, 12, 16, 10), spacing=10)

    def entered(self) -> None:
        """The page is shown now: bring up to date what may be old. Nothing by default."""

    def take_focus(self) -> None:
        """Let the keys work here: the focus goes to the page's focus proxy, or to its first control."""
        proxy = self.focusProxy()
        for target in [proxy] if proxy is not None else controls(self)[:1]:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def add_keys(self, **does: Callable[[], object]) -> None:
        """Let keys work wherever the focus is in the page; by the names of its actions in the table."""
        for action, do in does.items():
            for key in of_page(self.NAME, action).sequences:
                add_key(self, key, do, inside=True)

    def keep_splitter(self, key: str, splitter: PageSplitter) -> None:
        """Remember the sizes of its parts, unless it was never on the screen."""
        if splitter.seen:
            self.workspace.state.set_layout(key, splitter.saveState())

    def keep_layout(self) -> None:
        """Remember splitters and columns; called before the window closes. Nothing by default."""

    @Slot()
    def follow_look(self) -> None:
        """Colours or text size have changed: a page that nobody sees follows when it is shown."""
        self._looks_old = not self.isVisible()
        if not self._looks_old:
            self.restyle()

    def restyle(self) -> None:
        """Follow colours and text size; most widgets do so by themselves."""
        for view in self.findChildren(RowsView):
            view.fit_rows()
        self.restyled.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Look as the window does now."""
        super().showEvent(event)
        if self._looks_old:
            self.follow_look()
