"""The list of runs: what is no run is obeyed only where it is chosen from the open list."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.workspace.page import CHECK, OPEN_SUBMISSION, RunPicker
from gui.workspace.workspace import Workspace
from tests.gui.wheel import turn_wheel


@pytest.fixture
def picker(qtbot: QtBot, space: Workspace) -> RunPicker:
    """Shown, with run 1 open."""
    made = RunPicker(space)
    qtbot.addWidget(made)
    made.show()
    space.refresh_runs()
    space.open_run(1)
    qtbot.waitUntil(lambda: made.currentData() == 1 and made.findText(CHECK) > 0)
    return made


@pytest.fixture
def asked(space: Workspace) -> list[str]:
    """What was asked for."""
    found: list[str] = []
    space.submission_wanted.connect(lambda: found.append(OPEN_SUBMISSION))
    space.check_wanted.connect(lambda: found.append(CHECK))
    return found


def test_the_wheel_over_the_closed_box_chooses_nothing(picker: RunPicker, asked: list[str]) -> None:
    event = turn_wheel(picker)
    assert (asked, picker.currentData()) == ([], 1)
    assert not event.isAccepted()  # what is below may be scrolled


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_End, Qt.Key.Key_O, Qt.Key.Key_C])
def test_keys_that_go_through_the_closed_box_open_no_dialog(
    qtbot: QtBot, picker: RunPicker, asked: list[str], key: Qt.Key
) -> None:
    qtbot.keyClick(picker, key)
    assert (asked, picker.currentData()) == ([], 1)


@pytest.mark.parametrize("wanted", [OPEN_SUBMISSION, CHECK])
def test_in_the_open_list_they_are_obeyed(
    qtbot: QtBot, picker: RunPicker, asked: list[str], wanted: str
) -> None:
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Space)
    view = picker.view()
    qtbot.waitUntil(view.isVisible)
    view.setCurrentIndex(picker.model().index(picker.findText(wanted), 0))
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert (asked, picker.currentData()) == ([wanted], 1)
