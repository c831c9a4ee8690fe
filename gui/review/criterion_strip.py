"""A button for each criterion of an item, with its label and marks; one is open.

They stand in one row, in more where their names need them, whatever the marks of an item are: where there is
too little room for these, the ends of the longest names are left out.

Knows: rows of a review. Does not know: judgments.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QToolButton, QWidget

from engine.core.formatting import words
from gui.kit.flow import FlowLayout
from gui.kit.foreign_text import set_tip
from gui.kit.label_mark import label_icon
from gui.kit.labels import name
from gui.kit.layouts import take_out
from gui.review.review_table import in_words, row_marks

if TYPE_CHECKING:
    from engine.review.doubt import ReviewRow


_GAP = 4  # pixels between two buttons
_MOST_ROWS = 3
_FEWEST_LETTERS = 2  # of a name; with fewer the number says more


class CriterionStrip(QWidget):
    """The criteria of a run, numbered as their keys are."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._layout = FlowLayout(self, gap=_GAP, whole=True)
        self._group = QButtonGroup(self, exclusive=True)
        self._group.buttonClicked.connect(self._tell)
        self._criteria: tuple[str, ...] = ()
        self._rows: Sequence[ReviewRow] = ()
        self._begun: Collection[str] = ()
        self.setAccessibleName("Criteria of the item")

    @property
    def buttons(self) -> Sequence[QAbstractButton]:
        """One for each criterion."""
        return self._group.buttons()

    def show_rows(self, rows: "Sequence[ReviewRow]", criterion: str, begun: Collection[str] = ()) -> None:
        """Show an item's labels, with one criterion open; `begun`: those of which there is a draft."""
        criteria = tuple(row.criterion for row in rows)
        if criteria != self._criteria:
            self._make(criteria)
        self._rows, self._begun = rows, begun
        side = self.fontMetrics().height()
        for button, row, place in zip(self.buttons, rows, range(1, len(rows) + 1), strict=True):
            button.setIcon(QIcon() if row.hidden else label_icon(row.preference, self.palette()))
            button.setIconSize(QSize(side, side))
            button.setChecked(row.criterion == criterion)
            # Tab comes to the open one, the arrows to the others; a click leaves the search.
            tabbed = row.criterion == criterion
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus if tabbed else Qt.FocusPolicy.ClickFocus)
            said = in_words(row, row.criterion in begun)
            name(button, f"Criterion {place}, {said}")
            set_tip(button, said)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much of the names as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Shorten the longest names until all buttons stand in as many rows as they need without marks."""
        metrics = self.fontMetrics()
        names = [words(row.criterion).capitalize() for row in self._rows]
        if not names:
            return
        widths = [metrics.horizontalAdvance(title) for title in names]
        bare = self._widths_without_names([""] * len(names))
        marks = [row_marks(row, row.criterion in self._begun) for row in self._rows]
        marked = self._widths_without_names(marks)
        rows = min(_MOST_ROWS, _rows_taken(map(int.__add__, bare, widths), self.width()))
        limit, fewest = max(widths), metrics.averageCharWidth() * _FEWEST_LETTERS
        while limit > fewest:
            shortened = (other + min(width, limit) for other, width in zip(marked, widths, strict=True))
            if _rows_taken(shortened, self.width()) <= rows:
                break
            limit -= 1
        for place, title in enumerate(names):
            short = title
            if widths[place] > limit:
                short = (
                    metrics.elidedText(title, Qt.TextElideMode.ElideRight, limit) if limit > fewest else ""
                )
            self.buttons[place].setText(_text(place, short, marks[place]))

    def _widths_without_names(self, marks: Sequence[str]) -> list[int]:
        """How wide each button is without its name, with these marks."""
        found = []
        for place, button in enumerate(self.buttons):
            button.setText(_text(place, " ", marks[place]))  # one more that stands beside a name
            found.append(button.sizeHint().width())
        return found

    def restyle(self) -> None:
        """Follow the colours."""
        if self._rows:
            chosen = self._group.checkedButton()
            self.show_rows(self._rows, chosen.property("criterion") if chosen else "", self._begun)

    def _make(self, criteria: tuple[str, ...]) -> None:
        self._rows = ()  # showing a button lays the strip out, which would look for the rows of before
        gone = self.buttons
        for button in gone:
            self._group.removeButton(button)
        take_out(self._layout, gone)
        for criterion in criteria:
            button = QToolButton(toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setCheckable(True)
            button.setAutoExclusive(True)  # the group does that; Qt asks here whether one of several is told
            button.setProperty("role", "button")
            button.setProperty("compact", True)
            button.setProperty("criterion", criterion)
            self._group.addButton(button)
            self._layout.addWidget(button)
            button.show()  # now: else the strip has no height until later, and the card takes too little
        self._criteria = criteria

    @Slot(QAbstractButton)
    def _tell(self, button: QAbstractButton) -> None:
        self.chosen.emit(button.property("criterion"))


def _text(place: int, title: str, marks: str) -> str:
    """What a button shows: number, name, marks."""
    return f" {' '.join(part for part in (str(place + 1), title, marks) if part)}"


def _rows_taken(widths: Iterable[int], room: int) -> int:
    """How many rows buttons of these widths take."""
    rows, left = 1, 0
    for width in widths:
        if left and left + width > room:
            rows, left = rows + 1, 0
        rows += width > room  # too wide even alone
        left += width + _GAP
    return rows
