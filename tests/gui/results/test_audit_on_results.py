"""What is wrong with a judge on Results: for a run of copies, with human labels and without."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QTableView
from pytestqt.qtbot import QtBot

from gui.results.score_jobs import Scores, measure_labels
from gui.widgets.text_views import SheetView
from tests.gui.jobs import done
from tests.judged import run_of_copies


def keys(scores: Scores) -> list[str]:
    return [section.key for section in scores.sheet.sections]


def test_scores_of_a_run_of_copies_say_what_is_wrong_with_its_judge(tmp_path: Path) -> None:
    audited, perturbations = run_of_copies(tmp_path)
    assert audited.results is not None
    held = done(measure_labels(audited.results, perturbations))
    alone = done(measure_labels(audited.results, None, own=perturbations))
    unknown = done(measure_labels(audited.results, None))
    assert [keys(scores).count("audit") for scores in (held, alone, unknown)] == [1, 1, 0]


@pytest.mark.parametrize("percent", [100, 150])
def test_no_line_of_the_table_is_cut(qtbot: QtBot, tmp_path: Path, percent: int) -> None:
    audited, perturbations = run_of_copies(tmp_path)
    assert audited.results is not None
    sheet = SheetView()
    qtbot.addWidget(sheet)
    font = sheet.font()
    font.setPointSizeF(font.pointSizeF() * percent / 100)
    sheet.setFont(font)
    sheet.resize(1080, 640)
    sheet.show()
    sheet.show_sheet(done(measure_labels(audited.results, perturbations)).sheet)
    section = sheet.section("audit")
    assert section is not None
    [view] = section.findChildren(QTableView)
    model = view.model()
    for column in range(model.columnCount()):
        texts = [str(model.index(row, column).data()) for row in range(model.rowCount())]
        assert max(map(view.fontMetrics().horizontalAdvance, texts)) < view.columnWidth(column)
    assert view.horizontalScrollBar().maximum() == 0
