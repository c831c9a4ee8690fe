"""What a run is worth: its sheet and figures, the human labels it is compared with, a model that measures."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from engine.annotations.records import Filters, WantedItems
from engine.core.errors import EngineError
from engine.core.formatting import short_name, visible
from engine.core.judgments import JudgmentKey
from engine.core.tables import Row
from engine.system.paths import demo_model, models_folder
from gui.results import export_jobs, score_jobs
from gui.results.export_jobs import TITLES
from gui.results.score_jobs import ModelMeasure, Scores
from gui.widgets import labels
from gui.widgets.fields import ComboBox, Fold
from gui.widgets.files import DATASETS, ask_source, ask_target
from gui.widgets.foreign_text import OneLine, one_line, set_tip
from gui.widgets.labels import STRETCH, button, hint, in_column, in_row, label, name
from gui.widgets.notice import problem_of
from gui.widgets.text_views import SheetView
from gui.widgets.theme import is_dark
from gui.widgets.views import TableModel, table_view
from gui.workspace.figures import DRAWING, DrawnFigure, FigureFiles, FigureMark, FigureView
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import Job, ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.metrics.evaluation import Evaluation

_KIND = "GGUF models (*.gguf)"
_WORDS = {
    ModelMeasure.BERTSCORE: (
        "Measure &BERTScore…",
        "Compare the explanations by an encoder model",
        "encoders",
        "BERTScore compares the tokens of two explanations by the embeddings of an encoder. The"
        " task uses roberta-large: a GGUF file of it, cut to its first 17 layers.",
    ),
    ModelMeasure.AGREEMENT: (
        "Measure agreement…",
        "Ask a judge model whether the explanations agree",
        "agreement-models",
        "A second model reads each item with the human explanation and the judge's, and is asked whether they"
        " agree. Choose a model that follows instructions well, preferably not the judge itself.",
    ),
}
"""Of each measure: its button and what that does, by which word its files are remembered, what it is."""


class MeasureModelDialog(labels.Dialog):
    """`chosen` tells the measure and the file, once the file was seen to be of use."""

    chosen = Signal(object, object)  # a ModelMeasure, a Path

    def __init__(self, measure: ModelMeasure, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(f"Measure {measure}", parent, 70)
        self._measure, self._workspace = measure, workspace
        *_, self._kind, what = _WORDS[measure]
        threads, files = workspace.threads, ThreadName.FILES
        self._looking = TaskPanel(threads, files, self, self._take, failed=self._refuse)
        self._cutting = TaskPanel(threads, files, self, self.choose, failed=self._refuse)
        self.files = ComboBox()
        name(self.files, "Model file")
        self.files.activated.connect(self._look)
        browse = button("Browse…", self._browse, "Browse for a model file")
        self.status = label("")
        layers = "Write a copy with only the layers that bert-score uses"
        self.cut = button("Cut a copy…", self._ask_to_cut, "Cut a copy", layers)
        buttons, self.start = labels.cancel_or(self, "Measure", self._accept)
        line = in_row((self.files, STRETCH), browse)
        stored = hint("Results are stored: measuring the same again is quick.")
        in_column(hint(what), line, self.status, self.cut, stored, buttons, on=self, margins=None)
        own = [demo_model()] if measure is ModelMeasure.AGREEMENT else []
        for path in (*workspace.state.recent(self._kind), *own):
            self._add(path, self.files.count())
        self._look()

    def choose(self, path: Path) -> None:
        self._add(path, 0)
        self.files.setCurrentIndex(self.files.findData(str(path)))
        self._look()

    @property
    def path(self) -> Path | None:
        data = self.files.currentData()
        return Path(data) if data else None

    def _add(self, path: Path, place: int) -> None:
        if self.files.findData(str(path)) < 0:
            self.files.insertItem(place, one_line(path.name), str(path))

    def _look(self) -> None:
        self.start.setEnabled(False)
        self.cut.hide()
        path = self.path
        set_tip(self.files, str(path) if path else "")
        self._say("Looking at the file …" if path else "Choose a file with “Browse…”.", "hint")
        if path:
            self._looking.start(score_jobs.look_at_model(self._measure, path))

    def _take(self, found: tuple[str, str]) -> None:
        called, notice = found
        self._say(f"{called}: {notice}" if notice else called, "warning" if notice else "good")
        self.cut.setVisible(self._measure is ModelMeasure.BERTSCORE and bool(notice))
        self.start.setEnabled(True)

    def _refuse(self, error: EngineError) -> None:
        self._say(" ".join(problem_of(error)), "bad")

    def _say(self, text: str, role: str) -> None:
        self.status.setText(one_line(text) if role != "bad" else visible(text))
        labels.set_role(self.status, role)

    def _browse(self) -> None:
        folder = self.path.parent if self.path else models_folder()
        path = ask_source(self, "Choose a model file", folder, _KIND)
        if path is not None:
            self.choose(path)

    def _ask_to_cut(self) -> None:
        if (path := self.path) is None:
            return
        target = ask_target(self, "Write the cut copy", path.with_name(f"{path.stem}-cut.gguf"), _KIND)
        if target is not None:
            self._say("Cutting …", "hint")
            self._cutting.start(score_jobs.cut_encoder(path, target, self._workspace.files_in_use(self)))

    def _accept(self) -> None:
        if (path := self.path) is not None:
            self._workspace.state.add_recent(self._kind, path)
            self.chosen.emit(self._measure, path)
            self.accept()


_EXPLANATIONS = "explanations"
_LINES_OF_UNSCORED = 8
_WIDEST_COLUMN = 40  # mean characters, of the same table


class ScoresPanel(QWidget):
    """Shows Scores as they grow. `sheet`: what is said of them; `stale`: what to do about explanations."""

    measure_wanted = Signal(object)  # a ModelMeasure
    rest_wanted = Signal()  # of the explanations, to be measured
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
        self.sheet.show_sheet(scores.sheet if scores else None)
        self.go_on_button.setVisible(scores is not None and not scores.explained)
        self.allow_model_measures(scores is not None and scores.explained)
        self._unscored, count = (scores.listed.rows, scores.unscored) if scores else ((), 0)
        if scores:
            self.listed.show_table(scores.listed)
        self.unscored.setVisible(count > 0)
        listed = f", the first {len(self._unscored):,} of them" if count > len(self._unscored) else ""
        self.unscored.set_title(f"Could not be judged ({count:,}): items and reasons{listed}")
        self.restyle()

    def restyle(self) -> None:
        view, count = self._unscored_view, len(self._unscored)
        lines = min(count, _LINES_OF_UNSCORED) + 2
        view.setFixedHeight(lines * view.verticalHeader().defaultSectionSize())
        view.resizeColumnsToContents()
        widest = view.fontMetrics().averageCharWidth() * _WIDEST_COLUMN
        for column in range(self.listed.columnCount()):
            view.setColumnWidth(column, min(view.columnWidth(column), widest))

    def allow_model_measures(self, possible: bool) -> None:
        for each in self.model_buttons.values():
            each.setEnabled(possible)

    def _model_buttons(self) -> QWidget:
        self.model_buttons = {
            measure: button(text, partial(self.measure_wanted.emit, measure), f"Measure {measure}", what)
            for measure, (text, what, *_) in _WORDS.items()
        }
        rouge, left = "Go on measuring ROUGE-L", "Measure the explanations that are left"
        self.go_on_button = button(rouge, self.rest_wanted.emit, rouge, left)
        return labels.as_row(*self.model_buttons.values(), self.go_on_button, STRETCH)

    def _open_item(self, index: QModelIndex) -> None:
        item, criterion, *_ = self._unscored[index.row()]
        self.item_wanted.emit(JudgmentKey(str(item), str(criterion)))


_HINT = (
    "To save or copy a figure or its numbers: right-click it, or press Enter on it. Files use the"
    " light colours. Click a bar of labels or a cell of a matrix to list its items in Review."
)
_NOTHING = "Figures need human labels: choose a labelled dataset with “Choose labels…”."
_FAILED = "The figures could not be drawn. Open another tab and come back to try again."


class FiguresPanel(QWidget):
    """One figure below the other; two side by side where there is room."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self._evaluation: Evaluation | None = None
        self._name, self._run_id = "run", 0
        self._dark: bool | None = None
        threads, fail = workspace.threads, self._give_up
        self._drawing = TaskPanel(threads, DRAWING, self, self._end, follow=self._take, failed=fail)
        self.files = FigureFiles(workspace, self, self._drawn_bytes, lambda name: f"{self._name}-{name}")
        self.hint = hint(_NOTHING)
        self.views = {name: FigureView(name) for name in TITLES}
        self._cells: dict[str, QWidget] = {}
        self._grid = QGridLayout()
        self._grid.setSpacing(12)
        for key, view in self.views.items():
            view.save_wanted.connect(self.files.ask_where)
            view.copy_wanted.connect(self.files.copy)
            view.spot_wanted.connect(self._list_items)
            self._cells[key] = labels.as_column(labels.heading(TITLES[key]), view, STRETCH)
        self._hide_all()
        in_column(self.hint, self._grid, STRETCH, on=self, margins=(0, 0, 6, 0))
        self._columns = 0
        self._arrange(1)

    def show_scores(self, scores: Scores | None) -> None:
        # Explanations change none of the figures: these are drawn anew only where the labels are others.
        evaluation = scores.evaluation if scores else None
        before, self._evaluation = self._evaluation, evaluation
        if scores is not None:
            self._run_id, self._name = scores.results.run.id, scores.results.run.stem
        if evaluation is None:
            self._drawing.drop()
            self._hide_all()
        elif before is None or before.labels is not evaluation.labels:
            self._hide_all()
            self._dark = None
            self.restyle()

    def restyle(self) -> None:
        # Drawing takes long: it waits where nobody looks, and is done again only in another theme.
        dark = is_dark(QGuiApplication.palette())
        if self._evaluation is not None and self.isVisible() and self._dark is not dark:
            self._dark = dark
            self.hint.setText("Drawing …")
            self._drawing.start(export_jobs.draw(self._evaluation, dark))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.restyle()

    def _drawn_bytes(self, name: str, form: str) -> Job[bytes] | None:
        if self._evaluation is None:
            return None
        return export_jobs.figure_bytes(partial(export_jobs.figure_of, self._evaluation, name), form)

    def _list_items(self, spot: FigureMark) -> None:
        filters = Filters(criterion=spot.criterion, ids=spot.ids)
        self._workspace.show_in_review(WantedItems(self._run_id, filters, spot.words))

    def _take(self, drawn: DrawnFigure) -> None:
        self._workspace.failures.end(self)
        if drawn.name in self.views:
            self.views[drawn.name].show_figure(drawn)
            self._cells[drawn.name].show()

    def _end(self) -> None:
        self.hint.setText(_HINT)

    def _give_up(self, error: EngineError) -> None:
        self._dark = None  # it is tried again when the page is shown again
        self.hint.setText(_FAILED)
        self._workspace.failures.fail(self, error)

    def _hide_all(self) -> None:
        self.hint.setText(_NOTHING)
        for cell in self._cells.values():
            cell.hide()

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for place, cell in enumerate(self._cells.values()):
            self._grid.addWidget(cell, place // columns, place % columns)
        for column in range(2):
            self._grid.setColumnStretch(column, int(column < columns))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(2 if self.width() > 84 * self.fontMetrics().height() else 1)


class GoldPicker(QWidget):
    """Follows the workspace; choosing a dataset opens it there."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.status = OneLine()
        self.status.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        others = "Score the run against the human labels of another dataset"
        other = button("Ch&oose labels…", self._ask, "Choose labels", others)
        self.by_hand = button("", self._use_labels, "Use the labels by hand")
        back = "Score the run against the labels of its own dataset again"
        self.own = button("Run's own", workspace.use_own_labels, "Run's own labels", back)
        in_row(self.status, other, self.by_hand, self.own, on=self)
        signals = (workspace.gold_changed, workspace.run_changed, workspace.runs_changed, workspace.problem)
        for signal in signals:
            signal.connect(self.follow)  # the last: the reading may have failed
        self.follow()

    def open(self, path: Path) -> None:
        self.status.setText(visible(f"Reading {path.name} …"))
        self._workspace.open_gold(path)

    def follow(self) -> None:
        gold, run = self._workspace.gold, self._workspace.run
        text = "Without human labels"
        if gold is not None:
            text = f"Against the human labels of {short_name(gold.name)}, {self._workspace.gold_from}"
        elif run is not None:
            judged = run.results.run.identity.dataset_path.name
            why = "has none" if run.dataset is not None else "is missing or has changed"
            text = f"{text}: {judged} {why}"
        self.status.setText(visible(text))
        set_tip(self.status, str(gold.path) if gold is not None else "")
        self.own.setVisible(self._workspace.has_chosen_gold)
        labels_by_hand = self._workspace.labelled_by_hand
        self.by_hand.setVisible(labels_by_hand is not None)
        if labels_by_hand is not None:
            self.by_hand.setText(f"Use {labels_by_hand.in_short}")
            what = "Score the run against the labels that annotators gave without a judge"
            name(self.by_hand, f"Use {labels_by_hand.in_short}", what)

    def _use_labels(self) -> None:
        if (labels_by_hand := self._workspace.labelled_by_hand) is not None:
            self._workspace.use_labels_of(labels_by_hand.id)

    def _ask(self) -> None:
        gold, run = self._workspace.gold, self._workspace.run
        near = gold.path if gold else run.results.run.identity.dataset_path if run else None
        folder = near.parent if near else Path.home()
        path = ask_source(self, "Choose a dataset with human labels", folder, DATASETS)
        if path is not None:
            self.open(path)
