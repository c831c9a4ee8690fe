"""What the tests of the Review page share: a store with the demo run, and the page that shows it."""

import shutil
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gui.review.review_page import ReviewPage
from gui.workspace.rewriter import Rewriter
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open


@pytest.fixture
def store(demo_store: Path, workspace: Workspace) -> Path:
    """The run of the demo items in the workspace's own store."""
    shutil.copy(demo_store, workspace.store_path)
    return workspace.store_path


@pytest.fixture
def open_page(qtbot: QtBot, workspace: Workspace) -> Open:
    """Opens run 1 on a page that is shown, and waits for its first item."""

    def open_page() -> ReviewPage:
        workspace.set_author(workspace.state.text("author") or "Ada")
        page = ReviewPage(workspace, Rewriter(workspace))
        qtbot.addWidget(page)
        page.resize(1180, 640)
        page.show()
        workspace.open_run(1)
        qtbot.waitUntil(lambda: bool(page.desk.card.badge.text))
        return page

    return open_page


@pytest.fixture
def page(store: Path, open_page: Open) -> ReviewPage:
    return open_page()
