"""A Judge page as tests use it: opened, planned, its buttons pressed.

Knows: the page. Does not know: what a test is about.
"""

from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gui.judge.judge_page import JudgePage
from gui.judge.run_control import RunControl
from gui.work.workspace import Workspace

A_WHILE = 60_000


def new_page(qtbot: QtBot, workspace: Workspace) -> JudgePage:
    page = JudgePage(workspace, RunControl(workspace))
    qtbot.addWidget(page)
    page.resize(1180, 640)
    with qtbot.waitExposed(page):
        page.show()
    page.entered()
    return page


def wait_for_plan(qtbot: QtBot, page: JudgePage) -> None:
    qtbot.waitUntil(lambda: page.can_run, timeout=A_WHILE)


def press(widget: QWidget, text: str) -> None:
    """The one button of that text that is seen."""
    (button,) = [
        found for found in widget.findChildren(QPushButton) if found.text() == text and found.isVisible()
    ]
    button.click()


def kept(page: JudgePage) -> int:
    """How many items of the run are in the store; those that are only read are shown, too."""
    return page.control.progress.judged if page.control.progress else 0
