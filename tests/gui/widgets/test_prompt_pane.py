"""The text that a model is shown: whose it is, its tokens, where the verdict is read, in Qt's own places."""

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QColor, QHelpEvent, QImage, QTextCursor
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from engine.core.prompt_text import PlacedToken, Source, Span
from gui.widgets.prompt_pane import PromptPane, ShownPrompt
from gui.widgets.theme import ThemeChoice, apply_theme

TEXT = "<|im|>Say 🙂.\nVerdict:"
SPANS = (Span(0, 6, Source.CONTROL), Span(6, 13, Source.INSTRUCTION), Span(13, 22, Source.OWN))
TOKENS = (
    PlacedToken(1, '"<|im|>"', 0, 6, (Source.CONTROL,)),
    PlacedToken(20, '"Say "', 6, 10, (Source.INSTRUCTION,)),
    PlacedToken(31, r'"\\xf0"', 10, 12, (Source.INSTRUCTION,)),
    PlacedToken(32, r'"\\x9f"', 10, 12, (Source.INSTRUCTION,)),
    PlacedToken(4, r'".\n"', 12, 14, (Source.INSTRUCTION, Source.OWN)),
    PlacedToken(5, '"Verdict:"', 14, 22, (Source.OWN,)),
)
PROMPT = ShownPrompt(TEXT, SPANS, TOKENS, 1, 4, True, TEXT)


@pytest.fixture
def pane(qtbot: QtBot) -> PromptPane:
    made = PromptPane()
    qtbot.addWidget(made)
    made.resize(500, 200)
    made.show()
    made.show_prompt(PROMPT)
    return made


def format_at(pane: PromptPane, place: int) -> tuple[str, int]:
    """The colour and the ground's strength of the character at a place."""
    cursor = QTextCursor(pane.document())
    cursor.setPosition(place + 1)
    style = cursor.charFormat()
    return style.foreground().color().name(), style.background().color().alpha()


def drawn(pane: PromptPane) -> QImage:
    return pane.grab().toImage()


def test_the_text_is_whole_and_foreign_text_has_a_ground(pane: PromptPane) -> None:
    assert pane.toPlainText() == TEXT
    grounds = [format_at(pane, place)[1] for place in (0, 7, 15)]
    assert grounds[0] == grounds[2] == 255  # no brush: Qt's default colour
    assert 0 < grounds[1] < 255
    assert format_at(pane, 0)[0] != format_at(pane, 15)[0]


@pytest.mark.parametrize(
    ("place", "ids"), [(0, [1]), (5, [1]), (6, [20]), (10, [31, 32]), (11, [31, 32]), (13, [4]), (21, [5])]
)
def test_each_character_knows_its_tokens(pane: PromptPane, place: int, ids: list[int]) -> None:
    assert [token.id for token in pane.tokens_at(place)] == ids


def test_the_token_at_the_cursor_is_told_for_the_keyboard(qtbot: QtBot, pane: PromptPane) -> None:
    cursor = pane.textCursor()
    cursor.setPosition(13)
    with qtbot.waitSignal(pane.token_changed) as told:
        pane.setTextCursor(cursor)
    assert told.args == [r'".\n"   id 4   instruction and Tiebreak' + "'s words"]


def test_the_token_under_the_mouse_is_told(qtbot: QtBot, pane: PromptPane) -> None:
    cursor = QTextCursor(pane.document())
    cursor.setPosition(8)
    point = pane.cursorRect(cursor).center() + QPoint(1, 0)
    event = QHelpEvent(QEvent.Type.ToolTip, point, pane.viewport().mapToGlobal(point))
    QApplication.sendEvent(pane.viewport(), event)
    qtbot.waitUntil(lambda: "id 20" in QToolTip.text())
    QToolTip.hideText()


def test_marks_are_drawn_and_change_no_text(pane: PromptPane) -> None:
    before = drawn(pane)
    pane.show_tokens(True)
    assert drawn(pane) != before
    assert pane.toPlainText() == TEXT
    pane.show_tokens(False)
    assert drawn(pane) == before


def test_the_place_of_the_verdict_is_drawn_after_the_last_letter(pane: PromptPane) -> None:
    end = QTextCursor(pane.document())
    end.movePosition(QTextCursor.MoveOperation.End)
    place = pane.cursorRect(end)
    corner = pane.viewport().mapTo(pane, place.topLeft() + QPoint(3, place.height() // 2))
    accent = pane.palette().accent().color()
    assert QColor(drawn(pane).pixel(corner)).name() in {accent.name(), "#2166a5", "#6fb1ec"}


def test_colours_follow_the_theme_and_the_place_stays(qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    pane = PromptPane()
    qtbot.addWidget(pane)
    pane.resize(300, 80)
    pane.show()
    long = "a line\n" * 200
    pane.show_prompt(ShownPrompt(long, (Span(0, len(long), Source.OWN),), (), 0, 0, True, long))
    points = app.font().pointSizeF()
    try:
        apply_theme(app, ThemeChoice.LIGHT, 100, points)
        light = format_at(pane, 3)
        pane.verticalScrollBar().setValue(50)
        apply_theme(app, ThemeChoice.DARK, 100, points)
        qtbot.waitUntil(lambda: format_at(pane, 3) != light)
        assert pane.verticalScrollBar().value() == 50
    finally:
        app.setStyleSheet("")
        app.setPalette(app.style().standardPalette())
