"""Labels: wrapped text fits a narrow page, whatever it says."""

import pytest
from pytestqt.qtbot import QtBot

from gui.widgets.labels import Prose


@pytest.mark.parametrize("word", ["n" * 255, "päiväkirja_" * 30, "x" * 60 + "/" + "y" * 60])
def test_a_long_word_is_broken_over_lines_and_given_back_whole(qtbot: QtBot, word: str) -> None:
    shown = Prose(f"{word}: there is no such file.")
    qtbot.addWidget(shown)
    assert shown.text() == f"{word}: there is no such file."
    assert shown.minimumSizeHint().width() < 40 * shown.fontMetrics().averageCharWidth()
    shown.setText("Other words.")
    assert shown.text() == "Other words."


def test_what_can_be_broken_already_is_shown_as_it_is(qtbot: QtBot) -> None:
    path = "/home/ada/models/" + "a folder/" * 20 + "SmolLM2-135M-Instruct-Q8_0.gguf"
    shown = Prose(path)
    qtbot.addWidget(shown)
    assert super(Prose, shown).text() == path  # selected and copied, it is the path
