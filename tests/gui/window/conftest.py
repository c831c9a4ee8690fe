"""A window with the demo, and one in which everything has a long name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gui.window.main_content import MainContent
from tests.gui.steps import whole_window
from tests.gui.window.study import MainContentOf, Study, opened


@pytest.fixture
def main(qtbot: QtBot, tmp_path: Path) -> Iterator[MainContent]:
    """The demo dataset is open; the store is `runs.sqlite` of `tmp_path`."""
    with whole_window(qtbot, tmp_path) as made:
        yield made


@pytest.fixture
def main_content_of(qtbot: QtBot, tmp_path: Path) -> MainContentOf:
    @contextmanager
    def main_content_of(letter: str, text_percent: int = 100) -> Iterator[tuple[MainContent, Study]]:
        study = Study(tmp_path, letter)
        with opened(qtbot, study, text_percent) as made:
            yield made, study

    return main_content_of
