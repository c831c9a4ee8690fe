"""The table of actions: each of its keys does something, and the tables of keys in docs/ are made of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cogapp import Cog
from PySide6.QtGui import QAction, QShortcut
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.judge.rubric_dialog import RubricDialog, RubricRequest
from gui.judge.rubric_edit import EditedRubric
from gui.widgets.action_table import PAGES, RUBRIC_EDITOR
from gui.window.dialogs import KeysDialog
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import PageName, State
from tests.gui.labels import text_of
from tests.gui.windows import end_window

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def made(qtbot: QtBot, tmp_path: Path) -> Iterator[MainContent]:
    made = MainContent(MainWindow(State(tmp_path / "state")), tmp_path / "runs.sqlite")
    yield made
    end_window(made)


def bound(widget: QWidget) -> set[str]:
    """The keys that work somewhere in a widget."""
    keys = [shortcut.key() for shortcut in widget.findChildren(QShortcut)]
    keys += [key for action in widget.findChildren(QAction) for key in action.shortcuts()]
    return {key.toString() for key in keys}


def test_each_key_of_the_table_that_is_not_qts_own_is_bound(qtbot: QtBot, made: MainContent) -> None:
    editor = RubricDialog(
        made.workspace, RubricRequest(EditedRubric.of(made.workspace.rubric.rubric), None, None)
    )
    qtbot.addWidget(editor)
    assert tuple(PAGES) == tuple(PageName)
    places = [*zip(made.pages, PAGES.values(), strict=True), (editor, RUBRIC_EDITOR)]
    for widget, rows in places:
        named = [action for action in rows if action.name and action.keys != "1 to 9"]
        wanted = {key.toString() for action in named for key in action.sequences}
        assert wanted <= bound(widget), widget
    assert set("123456789") <= bound(made.review)


def test_the_list_of_keys_begins_with_those_of_the_page_and_has_all(qtbot: QtBot) -> None:
    dialog = KeysDialog("Review")
    qtbot.addWidget(dialog)
    dialog.show()
    said = text_of(dialog)
    assert said.index("Next, previous item") < said.index("Quit") < said.index("Rank again")


def test_the_tables_of_keys_in_the_docs_are_those_of_the_table() -> None:
    assert Cog().main(["cog", "--check", "-I", str(ROOT), str(ROOT / "docs" / "window.md")]) == 0
