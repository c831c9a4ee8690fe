"""Runs of few and of many criteria, one after the other, whichever page is looked at.

Knows: the whole window. Does not know: what a page shows of a run.
"""

import random
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName, State
from tests.gui.windows import end_window
from tests.judged import BAD, GOOD, SURE_A, A, B, dataset, stored_run

CRITERIA = (1, 2, 5, 12)
SWITCHES = 60


def store_runs(folder: Path) -> None:
    for count in CRITERIA:
        names = [f"criterion_{place + 1}" for place in range(count)]
        gold = dataset({name: [A, B, GOOD, BAD] for name in names})
        stored_run(folder, gold, {name: [SURE_A] * len(gold) for name in names}, key=f"run of {count}")


@pytest.mark.slow
def test_runs_of_other_criteria_follow_each_other_on_all_pages(qtbot: QtBot, tmp_path: Path) -> None:
    """A fault of the order of events would end the process: so many orders, drawn anew from one seed."""
    store_runs(tmp_path)
    main_content = MainContent(MainWindow(State(tmp_path / "state")), tmp_path / "runs.sqlite")
    main_content.frame.show()
    draw = random.Random(28)
    wanted = 0

    def is_shown() -> bool:
        run, buttons = main_content.workspace.run, main_content.review.desk.strip.buttons
        looked_at = main_content.frame.page is PageName.REVIEW
        return (
            run is not None and run.id == wanted and (not looked_at or len(buttons) == CRITERIA[wanted - 1])
        )

    for _ in range(SWITCHES):
        wanted = draw.choice([run for run in (1, 2, 3, 4) if run != wanted])
        main_content.workspace.open_run(wanted)
        if draw.random() < 0.5:
            main_content.frame.show_page(draw.choice(list(PageName)))
        qtbot.waitUntil(is_shown)
    end_window(main_content)
