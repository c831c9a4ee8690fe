"""What a run is worth: caveats, a verdict in words, tables, what could not be judged.

Knows: how scores are laid out. Does not know: how they are measured.
"""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from engine.core.formatting import visible
from engine.core.judgments import JudgmentKey
from engine.core.value_tables import Row, Table
from gui.kit.fold import Fold
from gui.kit.labels import heading, hint, label, name, panel
from gui.kit.notice import problem_of
from gui.kit.value_table import TableModel
from gui.kit.views import measure_view, table_view
from gui.reading.glossary import Topic
from gui.reading.help_dialog import headed
from gui.results.model_measure_jobs import ModelMeasure
from gui.results.score_jobs import Scores, ScoreTable

_NO_LABELS = (
    "There are no human labels for this run. With them you see here how often the judge is right, beside what"
    " trivial judges reach: choose a labelled dataset with “Other labels…”."
)
_LINES_OF_UNSCORED = 8
_WIDEST_COLUMN = 40  # mean letters, of the same table


class ScoresPanel(QWidget):
    """Shows Scores as they grow."""

    measure_wanted = Signal(object)  # a ModelMeasure
    explanations_wanted = Signal()
    item_wanted = Signal(object)  # a JudgmentKey

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.caveats = label("")
        self._caveat_panel = panel(self.caveats, role="note")
        self.verdict = label("")
        self._verdict_panel = panel(headed("In short", Topic.HEALTH), self.verdict)
        self.warnings = label("", "warning")
        self._models = {part: TableModel(self) for part in ScoreTable}
        self._views: dict[ScoreTable, QTableView] = {}
        self.notes: dict[ScoreTable, QLabel] = {}
        self._unscored: Sequence[Row] = ()
        self._sections = {part: self._section(part) for part in ScoreTable if part is not ScoreTable.UNSCORED}
        self._unscored_view = table_view(
            self._models[ScoreTable.UNSCORED], "Judgments that could not be made"
        )
        self._unscored_view.activated.connect(self._open_item)
        self.unscored = Fold("Could not be judged", self._unscored_view)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 6, 0)
        layout.setSpacing(10)
        layout.addWidget(self._caveat_panel)
        layout.addWidget(self._verdict_panel)
        for section in self._sections.values():
            layout.addWidget(section)
        layout.addWidget(self.unscored)
        layout.addStretch(1)
        self.show_scores(None)

    def table(self, part: ScoreTable) -> TableModel:
        """The table of a part."""
        return self._models[part]

    def show_scores(self, scores: Scores | None) -> None:
        """Show what is known now; nothing for None."""
        self._say_caveats(scores)
        self._say_verdict(scores)
        for part, model in self._models.items():
            table = scores.tables.get(part) if scores else None
            _show(model, table)
            if part is not ScoreTable.UNSCORED:
                self._sections[part].setVisible(table is not None)
                self.notes[part].setText(table.note if table else "")
                self.notes[part].setVisible(bool(table and table.note))
        self._show_explanations(scores)
        self._unscored = scores.tables[ScoreTable.UNSCORED].rows if scores else ()
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
        for column in range(self._models[ScoreTable.UNSCORED].columnCount()):
            view.setColumnWidth(column, min(view.columnWidth(column), widest))

    def put_before_explanations(self, widget: QWidget) -> None:
        """Show something of the page's own where the explanations are measured."""
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self._sections[ScoreTable.EXPLANATIONS]), widget)

    def allow_model_measures(self, possible: bool) -> None:
        """Say whether a model could measure now."""
        for button in self.model_buttons.values():
            button.setEnabled(possible)

    def _say_caveats(self, scores: Scores | None) -> None:
        caveats = list(scores.caveats) if scores else []
        if scores and scores.problem:
            caveats = ["\n".join(problem_of(scores.problem)), *caveats]
        self.caveats.setText(visible("\n".join(caveats)))
        self._caveat_panel.setVisible(bool(caveats))

    def _say_verdict(self, scores: Scores | None) -> None:
        sentences: Sequence[str] = scores.sentences if scores else ()
        if scores and scores.evaluation is None and scores.problem is None:
            sentences = [*sentences, _NO_LABELS]
        self.verdict.setText(visible("\n".join(sentences)))
        self._verdict_panel.setVisible(bool(sentences))

    def _show_explanations(self, scores: Scores | None) -> None:
        """The part of the explanations stands there before its table does."""
        explains = scores is not None and scores.evaluation is not None and scores.system.explains
        known = scores is not None and ScoreTable.EXPLANATIONS in scores.tables
        unfinished = explains and scores is not None and not scores.explained
        self._sections[ScoreTable.EXPLANATIONS].setVisible(known or unfinished)
        self._views[ScoreTable.EXPLANATIONS].setVisible(known)
        self.go_on_button.setVisible(unfinished)
        self.warnings.setText(visible("\n".join(scores.warnings)) if scores else "")
        self.warnings.setVisible(bool(scores and scores.warnings))
        self.allow_model_measures(known and not unfinished)

    def show_measuring(self, under_way: bool) -> None:
        """While explanations are measured nobody needs to ask for it."""
        self.go_on_button.setEnabled(not under_way)

    def _section(self, part: ScoreTable) -> QFrame:
        title, what = _WORDS[part]
        view = measure_view(self._models[part], title)
        self._views[part] = view
        self.notes[part] = hint("")
        titled = headed(title, _TOPICS[part]) if part in _TOPICS else heading(title)
        frame = panel(titled, hint(what))
        layout = frame.layout()
        assert isinstance(layout, QVBoxLayout)
        if part is ScoreTable.EXPLANATIONS:
            layout.addLayout(self._model_buttons_line())
            layout.addWidget(self.warnings)
        layout.addWidget(view)
        layout.addWidget(self.notes[part])
        frame.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        return frame

    def _model_buttons_line(self) -> QHBoxLayout:
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
        line = QHBoxLayout()
        for measure, button in self.model_buttons.items():
            button.clicked.connect(lambda _checked=False, wanted=measure: self.measure_wanted.emit(wanted))
            line.addWidget(button)
        self.go_on_button = QPushButton("Go on measuring ROUGE-L")
        name(self.go_on_button, "Go on measuring ROUGE-L", "Measure the explanations that are left")
        self.go_on_button.clicked.connect(self.explanations_wanted)
        line.addWidget(self.go_on_button)
        line.addStretch(1)
        return line

    def _open_item(self, index: QModelIndex) -> None:
        item, criterion, *_ = self._unscored[index.row()]
        self.item_wanted.emit(JudgmentKey(str(item), str(criterion)))


_TOPICS = {
    ScoreTable.ACCURACY: Topic.INTERVAL,
    ScoreTable.PEOPLE: Topic.KAPPA,
    ScoreTable.EXPLANATIONS: Topic.ROUGE_L,
}
_WORDS = {
    ScoreTable.LABELS_GIVEN: (
        "Labels given",
        "How often each label is in force, how often the order of the responses alone decided, and how much"
        " of the model's probability the four labels hold (near 1: it understood what it was asked).",
    ),
    ScoreTable.ACCURACY: (
        "Accuracy",
        "The share of human labels that the judge gives too, beside judges that read nothing. “Better?” says"
        " whether it beats the best of these. F1 explains intervals, kappa and macro-F1.",
    ),
    ScoreTable.LABELS: (
        "Labels",
        "Which labels the judge and people gave. Flipped: the order of the responses alone decided. Format"
        " mass near 1: the model understood what it was asked.",
    ),
    ScoreTable.WAYS: (
        "By way of asking",
        "What the model would have said, had it been asked in one way alone, and what all of its ways say"
        " together: its own labels, without a calibration and without what people overrode.",
    ),
    ScoreTable.PEOPLE: (
        "People among themselves",
        "How often people who labelled the same items of this run gave equal labels: no judge can be right"
        " for two people where they differ.",
    ),
    ScoreTable.PAIRS: (
        "Who agrees with whom",
        "Each two people, each of them with the model alone, and with the human labels of the dataset. Labels"
        " that were given blind (on Review) say more than labels that were given in sight of the model's.",
    ),
    ScoreTable.EXPLANATIONS: (
        "Explanations",
        "Against human ones, all × 100 but items, words and missing. “Most typical” always repeats the most"
        " typical human explanation. F1 explains ROUGE-L and agreement.",
    ),
}


def _show(model: TableModel, table: Table | None) -> None:
    if table is None:
        model.clear()
    else:
        model.show_table(table)
