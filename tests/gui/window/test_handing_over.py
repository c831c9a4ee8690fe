"""The whole window and the labels of others: the entries of its menu, two windows on one run."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

from engine.core.items import Preference
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName, State
from tests.gui.windows import end_window

Open = Callable[[str], MainContent]


@pytest.fixture
def opened(demo_store: Path, tmp_path: Path) -> Iterator[Open]:
    """Opens a window of a person on one store with a demo run."""
    path = Path(shutil.copy(demo_store, tmp_path / "runs.sqlite"))
    made: list[MainContent] = []

    def opened(author: str) -> MainContent:
        frame = MainWindow(State(tmp_path / author))
        frame.show()
        made.append(MainContent(frame, path))
        made[-1].workspace.set_author(author)
        return made[-1]

    yield opened
    for main_content in made:
        end_window(main_content)


def entries(main_content: MainContent) -> dict[str, QAction]:
    """Those of the menus that concern labels of people."""
    actions = main_content.frame.menuBar().findChildren(QAction)
    named = {action.text().replace("&", ""): action for action in actions}
    return {title: action for title, action in named.items() if "nnotations" in title}


def test_labels_go_out_and_in_by_the_menu_once_a_run_is_open(opened: Open, qtbot: QtBot) -> None:
    main_content = opened("Ada")
    found = entries(main_content)
    assert sorted(found) == [
        "Annotations of all annotators…",
        "Import annotations…",
        "My annotations…",
    ]
    assert not any(action.isEnabled() for action in found.values())
    with qtbot.waitSignal(main_content.workspace.run_changed):
        main_content.workspace.open_run(1)
    assert all(action.isEnabled() for action in found.values())


@pytest.mark.slow
def test_what_is_said_in_one_window_is_shown_in_the_other_and_nobody_is_disturbed(
    opened: Open, qtbot: QtBot
) -> None:
    here, there = opened("Ada"), opened("Ben")
    for main_content in (here, there):
        with qtbot.waitSignal(main_content.workspace.run_changed):
            main_content.workspace.open_run(1)
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
    assert ("Ben", Preference.BOTH_GOOD) in shown.annotators
