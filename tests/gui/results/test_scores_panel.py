"""The panel of scores, of tables that were made by hand."""

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from engine.core.measure_words import NO_WIDTH
from engine.core.value_tables import Table
from engine.measure.evaluation import evaluate
from engine.report.evaluation_sheet import evaluation_sheet
from gui.kit.labels import shown_text
from gui.results.score_jobs import Scores
from gui.results.scores_panel import ScoresPanel
from tests.judged import A, B, matched


def test_below_the_accuracies_it_is_said_that_an_interval_has_no_width(qtbot: QtBot) -> None:
    panel = ScoresPanel(QWidget())
    qtbot.addWidget(panel)
    for labels, said in (([A] * 8, True), ([A, B] * 4, False)):
        found = evaluate(matched(labels, [A] * 8))
        panel.show_scores(Scores(found.matched.system, found, evaluation_sheet(found), Table((), ())))
        assert (NO_WIDTH in shown_text(panel)) is said
