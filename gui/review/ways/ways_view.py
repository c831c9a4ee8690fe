"""What each way of asking said of a judgment, beside what all of them say together.

Knows: readings of several ways, how they stand side by side. Does not know: decisions, how a way asks.
"""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from engine.core.items import Order, Way
from engine.core.judgments import Reading
from engine.core.ways.all_ways import together
from gui.kit.foreign_text import plain_label
from gui.kit.labels import heading, hint
from gui.review.order_bars import ORDER_NAMES, OrderBars
from gui.review.ways.thoughts import Thoughts
from gui.review.ways.way_words import said_of_each

_TOGETHER = "all together"


class WaysView(QWidget):
    """A column for each order, with a bar for each way; in words what is said of each response; thoughts.

    Hidden where one way was asked that the bars of the orders show whole.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bars = {order: OrderBars() for order in Order}
        self._columns: dict[Order, QWidget] = {}
        self._beside = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._beside.setSpacing(24)
        for order, bars in self.bars.items():
            column = QWidget()
            inside = QVBoxLayout(column)
            inside.setContentsMargins(0, 0, 0, 0)
            inside.setSpacing(2)
            inside.addWidget(hint(ORDER_NAMES[order]))
            inside.addWidget(bars)
            self._beside.addWidget(column, 1)
            self._columns[order] = column
        self.words = plain_label()
        self.thoughts = Thoughts()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(heading("What each way of asking said"))
        layout.addLayout(self._beside)
        layout.addWidget(self.words)
        layout.addWidget(self.thoughts)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    @property
    def usual_height(self) -> int:
        """Without thoughts that are open."""
        hint_size: QSize = self.sizeHint()
        inside = self.thoughts.sizeHint().height() - self.thoughts.fold.button_height
        return hint_size.height() - (inside if not self.thoughts.isHidden() else 0)

    def show_readings(self, readings: Sequence[Reading]) -> None:
        """Show what these say, or nothing where there are letters alone."""
        ways = tuple(way for way in Way if any(reading.way is way for reading in readings))
        words = "\n".join(said_of_each(readings))
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.thoughts.show_readings(readings)
        self.setVisible(len(ways) > 1 or bool(words) or Way.THINKING in ways)
        both = {reading.order: reading for reading in together(readings)} if len(ways) > 1 else {}
        for order, bars in self.bars.items():
            own = {reading.way: reading for reading in readings if reading.order is order}
            lines: list[tuple[str, Reading | None]] = [(_TOGETHER, both[order])] if order in both else []
            bars.show_lines(ORDER_NAMES[order], [*lines, *((way.value, own.get(way)) for way in ways)])
            self._columns[order].setVisible(len(ways) > 1 and bool(own))
        shown = (bars for order, bars in self.bars.items() if not self._columns[order].isHidden())
        said = "; ".join(bars.accessibleName() for bars in shown)
        self.setAccessibleName("What each way of asking said")
        self.setAccessibleDescription(f"{said}; {words}".replace("\n", ", "))

    def set_narrow(self, narrow: bool) -> None:
        """Put the orders one below the other, or side by side."""
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._beside.direction() != direction:
            self._beside.setDirection(direction)
