"""What a judgment's card shows below its head, scrolled: both orders large, its parts, each elicitation
method.

Knows: where its parts stand, how one gets to the methods. Does not know: what the parts show.
"""

from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QSize, Qt, QTimer, Slot
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QWidget

from engine.core.judgments import Judgment
from engine.core.ways.all_ways import together
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, as_column
from gui.review.order_bars import OrdersView
from gui.review.ways_view import MethodsView


class CardBody(QScrollArea):
    """Scrolled where there is little room. The large orders stand above the columns where they are wanted."""

    def __init__(self, columns: QBoxLayout) -> None:
        super().__init__()
        self.large = OrdersView()
        self.large.hide()
        self.methods = MethodsView()
        inside = as_column(self.large, (columns, STRETCH), self.methods, role="content")
        self.setWidgetResizable(True)
        self.setWidget(inside)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        name(self, "The judgment in full: Up and Down scroll")
        self.methods.reasoning_samples.fold.opened.connect(self._show_thoughts)

    def sizeHint(self) -> QSize:
        """As high as the probabilities of both orders, and of all methods; longer explanations are
        scrolled.
        """
        methods = 0 if self.methods.isHidden() else self.methods.default_height
        return QSize(super().sizeHint().width(), 6 * (self.fontMetrics().height() + 3) + 8 + methods)

    def minimumSizeHint(self) -> QSize:
        """A few lines."""
        return QSize(100, 2 * self.fontMetrics().lineSpacing())

    def show_scored(self, scored: Judgment | None) -> None:
        """Show what the model said in each order and way; nothing where it did not."""
        raw_predictions, probabilities = (
            (scored.raw_predictions, scored.probabilities) if scored else ((), ())
        )
        panel = any(reading.judge for reading in raw_predictions)
        self.large.show_raw_predictions(together(raw_predictions), probabilities, panel)
        self.methods.show_raw_predictions(raw_predictions)
        self.updateGeometry()  # what is in it does not tell

    def to_top(self) -> None:
        """Scroll back."""
        self.verticalScrollBar().setValue(0)

    @property
    def at_methods(self) -> bool:
        """True while the methods, or their reasoning, have the focus."""
        focused = self.window().focusWidget()
        return self.methods.hasFocus() or (focused is not None and self.methods.isAncestorOf(focused))

    def go_to_methods(self) -> None:
        """Scroll to what each method said; from there keys scroll on."""
        self.methods.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._scroll_to(self.methods)

    @Slot()
    def _show_thoughts(self) -> None:
        self._scroll_to(self.methods.reasoning_samples)

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
