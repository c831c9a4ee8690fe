"""Every text of a page, dialog, menu or tip stands out from its ground in both themes: 4.5:1 by pixels."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QMenu, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from gui.review.annotators import WhoDialog
from gui.review.note_line import NoteDialog
from gui.widgets.help_dialog import HelpDialog
from gui.widgets.theme import ThemeChoice
from gui.window.dialogs import AboutDialog, SettingsDialog
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.state import State
from tests.gui.painted import hard_to_read
from tests.gui.window.test_long_names import adjudicate
from tests.gui.window.test_sizes import DEFAULT, own_dialogs, places
from tests.gui.windows import end_window

pytestmark = pytest.mark.models  # pictures of the whole window take a minute


@pytest.fixture
def main_content(qtbot: QtBot, demo_store: Path, demo_gold: Path, tmp_path: Path) -> Iterator[MainContent]:
    """The window with the demo judged, one label overridden, a search, and a comparison with itself."""
    state = State(tmp_path)
    state.set_number("last/run", 1)
    state.set_text("author", "Ada")
    frame = MainWindow(state)
    frame.resize(DEFAULT)
    frame.show()
    made = MainContent(frame, Path(shutil.copy(demo_store, tmp_path / "runs.sqlite")))
    made.begin(demo_gold)
    qtbot.waitUntil(lambda: made.workspace.run is not None)
    yield made
    frame.set_theme(ThemeChoice.LIGHT)
    end_window(made)


def dialogs(made: MainContent) -> Iterator[QWidget]:
    yield from own_dialogs(made)
    yield SettingsDialog(made.workspace, made.frame)
    yield AboutDialog(made.frame)
    yield HelpDialog(made.frame)
    yield WhoDialog("Ada", made.frame)
    yield NoteDialog("odd", ["one"], ["one", "two"], made.frame)


def menus(made: MainContent) -> Iterator[QMenu]:
    for menu in made.frame.findChildren(QMenu):
        menu.aboutToShow.emit()
        if any(action.isEnabled() and action.text() for action in menu.actions()):
            menu.popup(made.frame.mapToGlobal(QPoint(0, 0)))
            yield menu
            menu.close()


def tip(made: MainContent) -> QWidget:
    QToolTip.showText(made.frame.mapToGlobal(QPoint(0, 0)), "What a tip says", made.frame)
    return next(each for each in QApplication.topLevelWidgets() if each.inherits("QTipLabel"))


@pytest.mark.parametrize("theme", [ThemeChoice.LIGHT, ThemeChoice.DARK])
def test_each_text_is_read_easily(qtbot: QtBot, main_content: MainContent, theme: ThemeChoice) -> None:
    main_content.frame.set_theme(theme)
    found = {}
    for place in places(qtbot, main_content):
        adjudicate(qtbot, main_content.frame, main_content.threads)
        found[place] = hard_to_read(main_content.frame)
    for dialog in dialogs(main_content):
        dialog.show()
        adjudicate(qtbot, dialog, main_content.threads)
        found[f"{type(dialog).__name__} {dialog.windowTitle()}"] = hard_to_read(dialog)
        dialog.close()
    for menu in menus(main_content):
        found[f"menu {menu.title()}"] = hard_to_read(menu)
    found["tip"] = hard_to_read(tip(main_content))
    assert {place: lines for place, lines in found.items() if lines} == {}
