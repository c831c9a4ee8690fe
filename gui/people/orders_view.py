"""What the model read in each order of the responses, large: bars for each order, and for both together.

Knows: readings, painting. Does not know: how readings become a judgment.
"""

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from engine.core.formatting import percent
from engine.core.items import PREFERENCES, Order, Preference
from gui.kit.bars import ProbabilityBars
from gui.kit.label_words import LABEL_WORDS
from gui.kit.labels import heading, hint

_TITLES = {Order.AB: "A shown first", Order.BA: "B shown first"}
_TOGETHER = "Both together"
_FROM_ONE = "Decided from this order alone"


class OrdersView(QWidget):
    """Up to three columns."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(24)
        self._columns = []
        for _ in range(3):
            column, title, words, bars = QWidget(), heading(""), hint(""), ProbabilityBars()
            inside = QVBoxLayout(column)
            inside.setContentsMargins(0, 0, 0, 0)
            inside.setSpacing(3)
            for widget in (title, bars, words):
                inside.addWidget(widget)
            inside.addStretch(1)
            layout.addWidget(column, 1)
            self._columns.append((column, title, words, bars))

    def show_orders(
        self,
        orders: Sequence[tuple[Order, Sequence[float]]],
        together: Sequence[float],
    ) -> None:
        """Show the probabilities of each order, by the item's own A and B, and the judgment's."""
        shown = [(_TITLES[order], shares) for order, shares in orders]
        if together:
            shown.append((_TOGETHER if len(orders) > 1 else _FROM_ONE, together))
        for place, (column, title, words, bars) in enumerate(self._columns):
            column.setVisible(place < len(shown))
            text, shares = shown[place] if place < len(shown) else ("", ())
            title.setText(text)
            words.setText(_best(shares))
            bars.show_probabilities(shares)

    @property
    def titles(self) -> Sequence[str]:
        """What the columns that are shown say, from the left."""
        return [title.text() for column, title, _, _ in self._columns if not column.isHidden()]


def _best(shares: Sequence[float]) -> str:
    if not shares:
        return ""
    best: Preference = max(zip(shares, PREFERENCES, strict=True), key=lambda each: each[0])[1]
    return f"Says {LABEL_WORDS[best]}, {percent(max(shares))}"
