"""What a judgment's card shows below its head, scrolled: both orders large, its parts, each way of asking.

Knows: where its parts stand, how one gets to the ways. Does not know: what the parts show.
"""

from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QWidget

from engine.core.judgments import Judgment
from engine.core.ways.all_ways import together
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, as_column
from gui.review.order_bars import OrdersView
from gui.review.ways_view import WaysView


class CardBody(QScrollArea):
    """Scrolled where there is little room. The large orders stand above the columns where they are wanted."""

    def __init__(self, columns: QBoxLayout) -> None:
        super().__init__()
        self.large = OrdersView()
        self.large.hide()
        self.ways = WaysView()
        inside = as_column(self.large, (columns, STRETCH), self.ways, role="content")
        self.setWidgetResizable(True)
        self.setWidget(inside)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        name(self, "The judgment in full: Up and Down scroll")
        self.ways.thoughts.fold.opened.connect(self._show_thoughts)

    def sizeHint(self) -> QSize:
        """As high as the probabilities of both orders, and of all ways; longer explanations are scrolled."""
        ways = 0 if self.ways.isHidden() else self.ways.usual_height
        return QSize(super().sizeHint().width(), 6 * (self.fontMetrics().height() + 3) + 8 + ways)

    def minimumSizeHint(self) -> QSize:
        """A few lines."""
        return QSize(100, 2 * self.fontMetrics().lineSpacing())

    def show_scored(self, scored: Judgment | None) -> None:
        """Show what the model said in each order and way; nothing where it did not."""
        readings, probabilities = (scored.readings, scored.probabilities) if scored else ((), ())
        panel = any(reading.judge for reading in readings)
        self.large.show_readings(together(readings), probabilities, panel)
        self.ways.show_readings(readings)
        self.updateGeometry()  # what is in it does not tell

    def to_top(self) -> None:
        """Scroll back."""
        self.verticalScrollBar().setValue(0)

    @property
    def at_ways(self) -> bool:
        """True while the ways, or their thoughts, have the focus."""
        focused = self.window().focusWidget()
        return self.ways.hasFocus() or (focused is not None and self.ways.isAncestorOf(focused))

    def go_to_ways(self) -> None:
        """Scroll to what each way said; from there keys scroll on."""
        self.ways.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._scroll_to(self.ways)

    @Slot()
    def _show_thoughts(self) -> None:
        self._scroll_to(self.ways.thoughts)

    def _scroll_to(self, part: QWidget) -> None:
        QTimer.singleShot(0, part, partial(self._scroll, part))  # once it is known what is shown

    def _scroll(self, part: QWidget) -> None:
        inside = self.widget()
        if inside is not None:
            # Layouts within layouts take their time: its place is wanted now.
            for widget in (*reversed(inside.findChildren(QWidget)), inside):
                layout = widget.layout()
                if layout is not None:
                    layout.activate()
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))
            self.verticalScrollBar().setValue(part.mapTo(inside, QPoint(0, 0)).y())
