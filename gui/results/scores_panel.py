"""What a run is worth: its sheet, what could not be judged, and the ways to measure more.

Knows: what stands beside the sheet. Does not know: how anything is measured, what the sheet says.
"""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from engine.core.judgments import JudgmentKey
from engine.core.value_tables import Row
from gui.kit.fold import Fold
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, in_column, in_row
from gui.kit.value_table import TableModel
from gui.kit.views import table_view
from gui.reading.sheet_view import SheetView
from gui.results.model_measure_jobs import ModelMeasure
from gui.results.score_jobs import Scores

_EXPLANATIONS = "explanations"
_LINES_OF_UNSCORED = 8
_WIDEST_COLUMN = 40  # mean characters, of the same table


class ScoresPanel(QWidget):
    """Shows Scores as they grow. `sheet`: what is said of them; `stale`: what to do about explanations."""

    measure_wanted = Signal(object)  # a ModelMeasure
    explanations_wanted = Signal()
    item_wanted = Signal(object)  # a JudgmentKey

    def __init__(self, stale: QWidget) -> None:
        super().__init__()
        self.sheet = SheetView({_EXPLANATIONS: self._model_buttons()}, {_EXPLANATIONS: stale})
        self.listed = TableModel(self)
        self._unscored: Sequence[Row] = ()
        self._unscored_view = table_view(self.listed, "Judgments that could not be made")
        self._unscored_view.activated.connect(self._open_item)
        self.unscored = Fold("Could not be judged", self._unscored_view)
        in_column(self.sheet, self.unscored, STRETCH, on=self, margins=(0, 0, 6, 0), spacing=10)
        self.show_scores(None)

    def show_scores(self, scores: Scores | None) -> None:
        """Show what is known now; nothing for None."""
        self.sheet.show_sheet(scores.sheet if scores else None)
        unfinished = scores is not None and not scores.explained
        self.go_on_button.setVisible(unfinished)
        self.allow_model_measures(scores is not None and not unfinished)
        self._unscored = scores.listed.rows if scores else ()
        if scores:
            self.listed.show_table(scores.listed)
        count = scores.unscored if scores else 0
        self.unscored.setVisible(count > 0)
        listed = f", the first {len(self._unscored):,} of them" if count > len(self._unscored) else ""
        self.unscored.set_title(f"Could not be judged ({count:,}): items and reasons{listed}")
        self.restyle()

    def restyle(self) -> None:
        """Fit the list of what could not be judged to its rows and the size of the text."""
        view, count = self._unscored_view, len(self._unscored)
        lines = min(count, _LINES_OF_UNSCORED) + 2
        view.setFixedHeight(lines * view.verticalHeader().defaultSectionSize())
        view.resizeColumnsToContents()
        widest = view.fontMetrics().averageCharWidth() * _WIDEST_COLUMN
        for column in range(self.listed.columnCount()):
            view.setColumnWidth(column, min(view.columnWidth(column), widest))

    def allow_model_measures(self, possible: bool) -> None:
        """Say whether a model could measure now."""
        for button in self.model_buttons.values():
            button.setEnabled(possible)

    def show_measuring(self, under_way: bool) -> None:
        """While explanations are measured nobody needs to ask for it."""
        self.go_on_button.setEnabled(not under_way)

    def _model_buttons(self) -> QWidget:
        self.model_buttons = {
            ModelMeasure.BERTSCORE: QPushButton("Measure &BERTScore…"),
            ModelMeasure.AGREEMENT: QPushButton("Measure agreement…"),
        }
        name(
            self.model_buttons[ModelMeasure.BERTSCORE],
            "Measure BERTScore",
            "Compare the explanations by an encoder model",
        )
        name(
            self.model_buttons[ModelMeasure.AGREEMENT],
            "Measure agreement",
            "Ask a judge model whether the explanations agree",
        )
        made = QWidget()
        for measure, button in self.model_buttons.items():
            button.clicked.connect(lambda _checked=False, wanted=measure: self.measure_wanted.emit(wanted))
        self.go_on_button = QPushButton("Go on measuring ROUGE-L")
        name(self.go_on_button, "Go on measuring ROUGE-L", "Measure the explanations that are left")
        self.go_on_button.clicked.connect(self.explanations_wanted)
        in_row(*self.model_buttons.values(), self.go_on_button, STRETCH, on=made)
        return made

    def _open_item(self, index: QModelIndex) -> None:
        item, criterion, *_ = self._unscored[index.row()]
        self.item_wanted.emit(JudgmentKey(str(item), str(criterion)))
