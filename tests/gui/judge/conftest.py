"""What the tests of the Judge page share: a model that was tried, a page, the run of a window."""

import pytest
from pytestqt.qtbot import QtBot

from gui.judge.judge_page import JudgePage
from gui.judge.run_control import RunControl
from gui.workspace.workspace import Workspace
from tests.gui.judge.pages import new_page


@pytest.fixture(autouse=True)
def tried(demo_tried: None) -> None:
    """Nothing tries the demo model once more."""


@pytest.fixture
def page(qtbot: QtBot, workspace: Workspace) -> JudgePage:
    return new_page(qtbot, workspace)


@pytest.fixture
def control(workspace: Workspace) -> RunControl:
    return RunControl(workspace)
