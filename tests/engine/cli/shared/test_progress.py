"""Progress bars of measures in a terminal."""

import re
from collections.abc import Generator

import pytest

from engine.cli.shared.progress import show_measure
from engine.core.events import MeasureProgress, Note


def measured() -> Generator[MeasureProgress | Note, None, int]:
    yield MeasureProgress(1, 2)
    yield Note("What to know.")
    yield MeasureProgress(2, 2)
    return 7


def test_a_note_stands_on_a_line_of_its_own_beside_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_measure("Counting", measured()) == 7
    printed = capsys.readouterr().err
    assert "What to know." in re.split(r"[\r\n]", printed)
    assert "Counting: 2/2" in printed.splitlines()[-1]
