"""The window in which everything has a long name, for the tests of all its pages and dialogs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gui.window.main_content import MainContent
from tests.gui.window.study import MainContentOf, Study, opened
from tests.gui.windows import end_window


@pytest.fixture
def main_content_of(qtbot: QtBot, tmp_path: Path) -> MainContentOf:
    @contextmanager
    def main_content_of(letter: str, text_percent: int = 100) -> Iterator[tuple[MainContent, Study]]:
        study = Study(tmp_path, letter)
        made = opened(qtbot, study, text_percent)
        try:
            yield made, study
        finally:
            made.frame.set_text_size(100)  # else it is the system's of the next window
            end_window(made)

    return main_content_of
