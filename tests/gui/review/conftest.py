"""What the tests of the Review page share: a store with the demo run, and the page that shows it."""

import shutil
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open, Page


@pytest.fixture
def store(demo_store: Path, workspace: Workspace) -> Path:
    """The run of the demo items in the workspace's own store."""
    shutil.copy(demo_store, workspace.store_path)
    return workspace.store_path


@pytest.fixture
def open_page(qtbot: QtBot, workspace: Workspace) -> Open:
    """Opens run 1 on a page that is shown, and waits for its first item."""

    def open_page() -> Page:
        workspace.set_author(workspace.state.text("author") or "Ada")
        page = Page(qtbot, workspace)
        workspace.open_run(1)
        qtbot.waitUntil(lambda: bool(page.desk.card.badge.text))
        return page

    return open_page


@pytest.fixture
def page(store: Path, open_page: Open) -> Page:
    return open_page()
