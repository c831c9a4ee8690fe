"""What a screen reader is told of a review, by keys alone."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.review.review_page import ReviewPage
from gui.widgets.label_mark import LABEL_WORDS
from gui.window.frame import MainWindow
from gui.workspace.state import State
from tests.gui.review.steps import current, press, save, wait_for_override


@pytest.fixture
def said(page: ReviewPage) -> list[str]:
    texts: list[str] = []
    page.announcements.said.connect(texts.append)
    return texts


def told(page: ReviewPage) -> str:
    """The open item as it is to be announced: its instruction is shorter than what is read of one."""
    return f"Item {current(page)}: {page.reading.instruction.text}"


def test_j_tells_the_next_item_and_k_the_one_before(qtbot: QtBot, page: ReviewPage, said: list[str]) -> None:
    first = told(page)
    press(qtbot, page, "J")
    assert said == [told(page)]
    assert said != [first]
    press(qtbot, page, "K")
    assert said[1:] == [first]


def test_enter_tells_the_item_that_follows(qtbot: QtBot, page: ReviewPage, said: list[str]) -> None:
    first = current(page)
    qtbot.keyClick(page.list.view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: current(page) != first)
    assert said == [told(page)]


def test_a_label_key_tells_the_label_once_it_counts(qtbot: QtBot, page: ReviewPage, said: list[str]) -> None:
    press(qtbot, page, "1")
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "X"))
    assert said[-1] == "Relevance: both bad"
    assert said.count("Relevance: both bad") == 1
    press(qtbot, page, "U")
    qtbot.waitUntil(lambda: said[-1] != "Relevance: both bad")
    assert said[-1].startswith("Relevance: ")


def test_an_explanation_is_told_once_it_counts(qtbot: QtBot, page: ReviewPage, said: list[str]) -> None:
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText("Neither says it.")
    wait_for_override(qtbot, page, lambda: save(qtbot, page.desk.card.editor.field))
    assert said == ["Explanation: Neither says it."]
    press(qtbot, page, "U")
    qtbot.waitUntil(lambda: len(said) > 1)
    assert said[1].startswith("Explanation: ")
    assert said[1] != said[0]


def test_a_digit_tells_the_criterion_with_its_label(qtbot: QtBot, page: ReviewPage, said: list[str]) -> None:
    press(qtbot, page, "12")
    assert page.session.shown is not None
    assert said[-1] == f"Naturalness: {LABEL_WORDS[page.session.shown.label]}"


def test_what_is_shown_again_is_not_told_again(qtbot: QtBot, page: ReviewPage, said: list[str]) -> None:
    page.list.list_again()
    with qtbot.waitSignal(page.list.chosen):
        pass
    page.desk.show_changes()
    assert said == []


def test_a_page_that_nobody_sees_is_silent(qtbot: QtBot, page: ReviewPage, said: list[str]) -> None:
    page.hide()
    page.list.step(1)
    assert said == []


def test_what_the_status_bar_says_is_told(qtbot: QtBot, tmp_path_factory: pytest.TempPathFactory) -> None:
    frame = MainWindow(State(tmp_path_factory.mktemp("state")))
    qtbot.addWidget(frame)
    frame.show()
    with qtbot.waitSignal(frame.announcer.said) as received:
        frame.show_note("No item is left to do by this filter.")
    assert received.args == ["No item is left to do by this filter."]
