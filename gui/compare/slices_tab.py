"""The systems that are compared, slice by slice; the choice of one slice that restricts the whole comparison.

Knows: how slices are laid out, the way to the items of one. Does not know: how they are measured.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from engine.core.formatting import visible
from engine.core.review_filters import Filters
from gui.compare.slice_jobs import ComparedSlices, compare_slices
from gui.kit.foreign_text import OneLine
from gui.kit.labels import heading, hint
from gui.kit.value_table import TableModel
from gui.kit.views import measure_view
from gui.work.lanes import Lane, LatestTask
from gui.work.slice_choice import SliceChoice
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from gui.compare.compare_jobs import Compared

_NOTHING = (
    "Choose above by what the items are divided (“Items: all”): by a column of the dataset, lengths, the"
    " script of the texts, the human label or the tags of people. Each system is measured here on each part."
)
_WIDEST = "100.0 (100.0 to 100.0)"  # of nearly all values; others are whole in a tip
_BESIDE = 12  # pixels
_HOW = "A click or Enter on a row lists its items in Review."
_WINS = (
    "How often the weighted judge, with the rubric's weights, makes A or B the winner, in percent. What a"
    " system prefers on one part and not on another may be a bias."
)


class SlicesTab(QWidget):
    """Follows one comparison. `choice` stands elsewhere on the page.

    `divided`: a person chose by what the items are divided. `listed`: Filters of the items of a row that are
    wanted, and what they have in common.
    """

    divided = Signal()
    listed = Signal(object, str)

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = SliceChoice(workspace)
        self.choice.by.activated.connect(self.divided)
        self.choice.changed.connect(self._measure)
        self.slices: ComparedSlices | None = None
        self._compared: Compared | None = None
        self._measuring = LatestTask(workspace.threads, Lane.MEASURE, self)
        self._measuring.finished.connect(self._take)
        self._measuring.failed.connect(workspace.problem)
        self.title = OneLine(role="heading")
        self.what = hint("")
        self.accuracy, self.wins = TableModel(self), TableModel(self)
        self.view = measure_view(self.accuracy, "Accuracy of each system by slice")
        self.wins_view = measure_view(self.wins, "How often A and B win, by slice")
        for signal in (self.view.clicked, self.view.activated):
            signal.connect(self._want)
        for signal in (self.wins_view.clicked, self.wins_view.activated):
            signal.connect(self._want_of_system)
        self._wins_part = QWidget()
        below = QVBoxLayout(self._wins_part)
        below.setContentsMargins(0, 12, 0, 0)
        below.addWidget(heading("Win rates"))
        below.addWidget(hint(_WINS))
        below.addWidget(self.wins_view)
        self.setProperty("role", "content")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 8, 0)
        for widget in (self.title, self.what, self.view, self._wins_part):
            layout.addWidget(widget)
        layout.addStretch(1)
        self._show(None)

    def show_comparison(self, compared: "Compared") -> None:
        """Divide the items of a comparison, which may be another one or a part of the same."""
        before, self._compared = self._compared, compared
        self.choice.show_dataset(compared.dataset)
        if before is None or before.whole is not compared.whole:
            self._measure()

    def restyle(self) -> None:
        """No name makes a column wider than its values."""
        for view in (self.view, self.wins_view):
            widest = view.fontMetrics().horizontalAdvance(_WIDEST) + _BESIDE
            view.horizontalHeader().setMaximumSectionSize(widest)

    @Slot()
    def _measure(self) -> None:
        slicing, known = self.choice.slicing, self.slices
        if self._compared is None or slicing is None:
            self._measuring.drop()
            self._show(None)
        elif known is None or known.whole is not self._compared.whole or known.division != slicing:
            self._measuring.start(compare_slices(self._compared.whole, slicing))

    @Slot(object)
    def _take(self, slices: ComparedSlices) -> None:
        self._show(slices)

    def _show(self, slices: ComparedSlices | None) -> None:
        self.slices = slices
        self.view.setVisible(slices is not None)
        self._wins_part.setVisible(slices is not None and slices.wins is not None)
        if slices is None:
            self.title.setText("By slice")
            self.what.setText(_NOTHING)
            self.accuracy.clear()
            self.wins.clear()
            return
        self.title.setText(visible(f"By {slices.division.words}: accuracy in percent, with 95 % intervals"))
        self.what.setText(f"{_HOW} {slices.note}")
        self.accuracy.show_table(slices.accuracy)
        if slices.wins is not None:
            self.wins.show_table(slices.wins)

    @Slot(QModelIndex)
    def _want(self, index: QModelIndex) -> None:
        """List the items of a row in Review."""
        if self.slices is not None and index.isValid():
            self._list(self.slices, index.row())

    @Slot(QModelIndex)
    def _want_of_system(self, index: QModelIndex) -> None:
        """The same of a row of the win rates, where each slice has one for each system."""
        if self.slices is not None and index.isValid():
            self._list(self.slices, index.row() // len(self.slices.weighed))

    def _list(self, slices: ComparedSlices, place: int) -> None:
        part = slices.parts[place]
        self.listed.emit(Filters(ids=part.known), slices.division.in_words(part))
