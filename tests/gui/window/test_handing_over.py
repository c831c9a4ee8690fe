"""The whole window and the labels of others: the entries of its menu, two windows on one run."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from engine.core.items import Preference
from gui.window.frame import MainWindow
from gui.window.interior import Interior
from gui.work.page_name import PageName
from gui.work.state import State
from tests.gui.windows import end_window

Open = Callable[[str], Interior]


@pytest.fixture
def opened(demo_store: Path, tmp_path: Path) -> Iterator[Open]:
    """Opens a window of a person on one store with a demo run."""
    path = Path(shutil.copy(demo_store, tmp_path / "runs.sqlite"))
    made: list[Interior] = []

    def opened(author: str) -> Interior:
        frame = MainWindow(State(tmp_path / author))
        frame.show()
        made.append(Interior(frame, path))
        made[-1].workspace.set_author(author)
        return made[-1]

    yield opened
    for interior in made:
        end_window(interior)


def entries(interior: Interior) -> dict[str, QAction]:
    """Those of the menus that concern labels of people."""
    actions = interior.frame.menuBar().findChildren(QAction)
    named = {action.text().replace("&", ""): action for action in actions}
    return {title: action for title, action in named.items() if "abels of" in title or "My labels" in title}


def test_labels_go_out_and_in_by_the_menu_once_a_run_is_open(opened: Open, qtbot: QtBot) -> None:
    interior = opened("Ada")
    found = entries(interior)
    assert sorted(found) == [
        "Add labels of others…",
        "Labels of all people, for another computer…",
        "My labels, for another computer…",
    ]
    assert not any(action.isEnabled() for action in found.values())
    with qtbot.waitSignal(interior.workspace.run_changed):
        interior.workspace.open_run(1)
    assert all(action.isEnabled() for action in found.values())


@pytest.mark.slow
def test_what_is_said_in_one_window_is_shown_in_the_other_and_nobody_is_disturbed(
    opened: Open, qtbot: QtBot
) -> None:
    here, there = opened("Ada"), opened("Ben")
    for interior in (here, there):
        with qtbot.waitSignal(interior.workspace.run_changed):
            interior.workspace.open_run(1)
    here.frame.show_page(PageName.REVIEW)
    page = here.review
    qtbot.waitUntil(lambda: bool(page.session.item_id))
    key = page.session.key
    page.desk.edit()
    page.desk.card.editor.field.setPlainText("I am writing.")
    with qtbot.waitSignal(here.workspace.reviewed):
        there.workspace.override(key, Preference.BOTH_GOOD, None)
    assert page.session.key == key
    assert page.desk.card.editor.field.toPlainText() == "I am writing."
    shown = page.session.shown
    assert shown is not None
    assert ("Ben", Preference.BOTH_GOOD) in shown.people
