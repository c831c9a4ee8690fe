"""What the tests of the Dataset page share: the page as a person has it before him."""

import pytest
from pytestqt.qtbot import QtBot

from gui.dataset.dataset_page import DatasetPage
from gui.work.workspace import Workspace


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> DatasetPage:
    made = DatasetPage(workspace)
    qtbot.addWidget(made)
    made.resize(1180, 640)
    with qtbot.waitExposed(made):
        made.show()
    made.activateWindow()
    return made
