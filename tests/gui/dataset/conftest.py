"""What the tests of the Dataset page share: the page as a person has it before him."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gui.dataset.dataset_page import DatasetPage
from gui.workspace.workspace import Workspace


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> DatasetPage:
    made = DatasetPage(workspace)
    qtbot.addWidget(made)
    made.resize(1180, 640)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    QTest.keyClick(
        made, Qt.Key.Key_F24
    )  # Qt keeps the Shift of a key of the test before, and rows are chosen by it
    return made
