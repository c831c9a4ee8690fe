"""What the tests of the Compare page share: the page with the demo run listed, and a worse submission."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gui.compare.compare_page import ComparePage
from gui.workspace.workspace import Workspace
from tests.gui.compare.steps import Save, choose, compare, listed


@pytest.fixture
def page(qtbot: QtBot, space: Workspace) -> ComparePage:
    return listed(qtbot, space)


@pytest.fixture
def worse(demo_store: Path, save: Save) -> Path:
    """The run's submission with other labels in places."""
    data = demo_store.with_name("submission.tsv").read_bytes()
    return save("worse.tsv", data.replace(b"\tboth_good\t", b"\tA\t"))


@pytest.fixture
def both(qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path) -> ComparePage:
    choose(qtbot, page, demo_gold, worse)
    assert compare(qtbot, page) == ""
    return page
