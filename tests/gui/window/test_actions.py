"""The table of actions: each of its keys does something. And the diagnostics that a menu copies."""

from PySide6.QtGui import QAction, QGuiApplication, QShortcut
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gui.judge.rubric_dialog import RubricDialog, RubricRequest
from gui.judge.rubric_edit import EditedRubric
from gui.widgets.action_table import PAGES, RUBRIC_EDITOR
from gui.window.dialogs import DiagnosticsCopier, KeysDialog
from gui.window.main_content import MainContent
from gui.workspace.state import BLIND, PageName
from gui.workspace.workspace import Workspace
from tests.gui.labels import text_of


def bound(widget: QWidget) -> set[str]:
    keys = [shortcut.key() for shortcut in widget.findChildren(QShortcut)]
    keys += [key for action in widget.findChildren(QAction) for key in action.shortcuts()]
    return {key.toString() for key in keys}


def test_each_key_of_the_table_that_is_not_qts_own_is_bound(qtbot: QtBot, main: MainContent) -> None:
    space = main.workspace
    editor = RubricDialog(space, RubricRequest(EditedRubric.of(space.rubric.rubric), None, None))
    qtbot.addWidget(editor)
    assert tuple(PAGES) == tuple(PageName)
    places = [*zip(main.pages, PAGES.values(), strict=True), (editor, RUBRIC_EDITOR)]
    for widget, rows in places:
        named = [action for action in rows if action.name and action.keys != "1 to 9"]
        wanted = {key.toString() for action in named for key in action.sequences}
        assert wanted <= bound(widget), widget
    assert set("123456789") <= bound(main.review)


def test_the_list_of_keys_begins_with_those_of_the_page_and_has_all(qtbot: QtBot) -> None:
    dialog = KeysDialog("Review")
    qtbot.addWidget(dialog)
    dialog.show()
    said = text_of(dialog)
    assert said.index("Next, previous item") < said.index("Quit") < said.index("Rank again")


def test_the_diagnostics_are_copied_with_screen_and_settings(qtbot: QtBot, workspace: Workspace) -> None:
    workspace.state.set_text("theme", "Grandma")
    workspace.state.set_text(BLIND, "on")
    workspace.state.set_number("text_size", 150)
    workspace.set_author("Grandma")
    copier = DiagnosticsCopier(workspace)
    with qtbot.waitSignals([workspace.note, workspace.note]):
        copier.copy()
    text = QGuiApplication.clipboard().text()
    assert "on offscreen, style" in text
    assert "  text size: 150 %\n  blind: on\n" in text
    assert "theme" not in text
    assert "Grandma" not in text
