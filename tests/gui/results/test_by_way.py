"""A run in several ways of asking on the Results page, and in the lists of runs."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.store.run_store import RunStore
from gui.results.results_page import ResultsPage
from gui.runs.runs_table import MODE, RunsTableModel
from gui.workspace.page import RunPicker
from gui.workspace.workspace import Workspace
from tests.gui.labels import text_of
from tests.gui.results.steps import in_short, open_run, table_of
from tests.steps import judge_in_methods

pytestmark = pytest.mark.usefixtures("demo_tried")


@pytest.mark.slow
def test_what_each_way_alone_would_have_said_stands_in_a_table_and_lists_say_how_a_run_was_asked(
    qtbot: QtBot, space: Workspace, page: ResultsPage, demo_gold: Path
) -> None:
    judge_in_methods(demo_gold, space.store_path)
    open_run(qtbot, page, 2)
    assert "By elicitation method" in text_of(page.scores)
    assert "Elicitation: letters, absolute, graded." in in_short(page)
    methods = table_of(page, "ways")
    first = [methods.index(row, 0).data() for row in range(methods.rowCount())]
    assert first == ["All together", "LabelTokens", "PointwiseYesNo", "PointwiseGrade"]
    with RunStore(space.store_path) as store:
        runs = store.runs()
    table = RunsTableModel()
    table.show_runs(runs, {})
    cells = [table.index(row, MODE) for row in range(2)]
    assert [cell.data() for cell in cells] == ["explain", "labels, 3 methods"]
    tips = [str(cell.data(Qt.ItemDataRole.ToolTipRole)) for cell in cells]
    assert ["Elicitation methods" in tip for tip in tips] == [False, True]
    picker = RunPicker(space)
    qtbot.addWidget(picker)
    with qtbot.waitSignal(space.runs_changed, timeout=10_000):
        space.refresh_runs()
    entries = [str(picker.itemData(place, Qt.ItemDataRole.ToolTipRole)) for place in range(2)]
    assert (
        sum(
            "Elicitation methods: label tokens, pointwise yes/no, pointwise grade" in entry
            for entry in entries
        )
        == 1
    )


def test_a_run_of_letters_alone_has_no_such_table(opened: ResultsPage) -> None:
    assert "By elicitation method" not in text_of(opened.scores)
    assert "asked by" not in in_short(opened)
