"""The help, the pane of a prompt."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from engine.core.health import HealthVerdict, Sign
from engine.core.prompt_text import PlacedToken, Source, Span
from engine.core.rubric import ELOQUENT
from engine.results.health import LEAST_ITEMS, LIMITS
from gui.review.progress import STATE_SIGNS, STATE_WORDS
from gui.widgets import glossary
from gui.widgets.glossary import GLOSSARY, HelpDialog, HelpMark, Topic
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.prompt_pane import PromptPane, ShownPrompt
from gui.widgets.theme import ThemeChoice, apply_theme
from tests.gui.labels import shown_text
from tests.gui.seen import picture

ROOT = Path(__file__).resolve().parents[3]
EVERYTHING = "\n".join(entry.text for entry in GLOSSARY.values())


def source_of(folder: str) -> str:
    """All code of a folder but the glossary itself."""
    files = [path for path in (ROOT / folder).rglob("*.py") if path.name != "glossary.py"]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_every_topic_is_explained_and_linked_from_where_its_word_stands() -> None:
    assert set(GLOSSARY) == set(Topic)
    code = source_of("gui")
    by_tip = {Topic.LABELS, Topic.ANSWER_MASS, Topic.FLIPPED, Topic.MARKS, Topic.CONTEXT}  # F1 is named there
    linked = {Topic[name] for name in re.findall(r"Topic\.([A-Z_]+)", code)}
    sections = re.findall(r"help=\(([^)]*)\)", source_of("engine/report"))
    linked |= {Topic(word) for words in sections for word in re.findall(r'"([^"]+)"', words)}
    assert linked == set(Topic) - by_tip
    assert code.count("{MORE_BY_F1}") + code.count(", MORE_BY_F1]") >= 5
    assert "F1" in glossary.MORE_BY_F1


def test_the_words_and_signs_are_those_of_the_window() -> None:
    for word in (*LABEL_WORDS.values(), *STATE_WORDS.values(), *filter(None, STATE_SIGNS.values())):
        assert word.casefold() in EVERYTHING.casefold(), word
    table = (ROOT / "gui" / "review" / "review_table.py").read_text(encoding="utf-8")
    for sign in re.findall(r'\("(\S)", sum', table):
        assert sign in GLOSSARY[Topic.MARKS].text, sign


def test_the_numbers_are_those_of_the_engine() -> None:
    mass, flipped = LIMITS[Sign.ANSWER_MASS], LIMITS[Sign.FLIPPED]
    health = GLOSSARY[Topic.HEALTH].text
    assert f"from {LEAST_ITEMS} items on" in health
    for said, limits in (("below", mass), ("more than", flipped)):
        for limit in (limits.look, limits.serious):
            assert f"{said} {100 * limit:.0f} %" in health
    assert f"The default is {ELOQUENT.tie_threshold:g} points" in GLOSSARY[Topic.TIE_THRESHOLD].text
    for verdict in (HealthVerdict.LOOK, HealthVerdict.DOES_NOT_JUDGE):
        assert verdict.value.replace("_", " ") in health.casefold()


WRITTEN_AFTER = {
    "how-it-judges.md": [
        "The margin is halved for each of",
        "1, if it has no label; 0, if an annotator overrode it",
        "if its two orders, each by itself and before calibration, give different labels",
        "more than half of the criteria",
        "An item that does not fit is unscored",
    ],
    "measures.md": [
        "no label depends on which response is A",
        "Items of one instruction are not independent",
        "unscored is a label of its own",
        "mean over the labels that occur of F1 = 2 · precision · recall / (precision + recall)",
        "explanations in other scripts score 0",
        "reads the item, both labels and both explanations",
        "10 · (P(it is preferred) + P(both_good))",
        "≤ tie threshold (0.5 by default)",
    ],
}


def test_the_pages_of_docs_are_there_and_still_say_what_the_help_was_written_after() -> None:
    for page in {entry.page for entry in GLOSSARY.values()}:
        text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
        assert [said for said in WRITTEN_AFTER.get(page, []) if said not in text] == []


def test_it_is_searched_and_nothing_is_a_link(qtbot: QtBot) -> None:
    dialog = HelpDialog()
    qtbot.addWidget(dialog)
    dialog.search.setText("TIE threshold")
    assert [topic for topic, section in dialog.sections.items() if not section.isHidden()] == [
        Topic.TIE_THRESHOLD
    ]
    dialog.search.setText("xylophone")
    assert "No explanation has this text." in shown_text(dialog)
    assert "http" not in EVERYTHING
    assert "<" not in EVERYTHING


def test_a_mark_shows_its_word_at_the_top_of_the_one_help_of_the_window(qtbot: QtBot) -> None:
    mark = HelpMark(Topic.CALIBRATION)
    qtbot.addWidget(mark)
    mark.show()
    mark.click()
    dialog = glossary.show_help(mark.window(), Topic.CALIBRATION)
    assert len(mark.window().findChildren(HelpDialog)) == 1
    bar, section = dialog.area.verticalScrollBar(), dialog.sections[Topic.CALIBRATION]
    qtbot.waitUntil(lambda: 0 < bar.value() == min(section.y(), bar.maximum()))
    assert mark.accessibleName() == "What is meant: calibration"


def test_the_first_steps_are_three_with_the_keys_that_lead_there() -> None:
    assert glossary.WHAT_IT_DOES.count(". ") == 0
    assert [title for title, _ in glossary.THREE_STEPS] == ["Judge", "Check", "Correct"]
    assert [re.search(r"Ctrl\+.", what)[0] for _, what in glossary.THREE_STEPS] == [
        "Ctrl+R",
        "Ctrl+3",
        "Ctrl+4",
    ]


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


def cursor_at(pane: PromptPane, place: int) -> QTextCursor:
    cursor = QTextCursor(pane.document())
    cursor.setPosition(place)
    return cursor


def format_at(pane: PromptPane, place: int) -> tuple[str, int]:
    """The colour and the ground's strength of the character at a place."""
    style = cursor_at(pane, place + 1).charFormat()
    return style.foreground().color().name(), style.background().color().alpha()


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
    with qtbot.waitSignal(pane.token_changed) as told:
        pane.setTextCursor(cursor_at(pane, 13))
    assert told.args == [r'".\n"   id 4   instruction and Tiebreak' + "'s words"]


def test_the_token_under_the_mouse_is_told(qtbot: QtBot, pane: PromptPane) -> None:
    point = pane.cursorRect(cursor_at(pane, 8)).center() + QPoint(1, 0)
    event = QHelpEvent(QEvent.Type.ToolTip, point, pane.viewport().mapToGlobal(point))
    QApplication.sendEvent(pane.viewport(), event)
    qtbot.waitUntil(lambda: "id 20" in QToolTip.text())
    QToolTip.hideText()


def test_marks_are_drawn_and_change_no_text(pane: PromptPane) -> None:
    before = picture(pane)
    pane.show_tokens(True)
    assert picture(pane) != before
    assert pane.toPlainText() == TEXT
    pane.show_tokens(False)
    assert picture(pane) == before


def test_the_place_of_the_verdict_is_drawn_after_the_last_letter(pane: PromptPane) -> None:
    place = pane.cursorRect(cursor_at(pane, len(TEXT) + 1))  # Qt counts the picture twice
    corner = pane.viewport().mapTo(pane, place.topLeft() + QPoint(3, place.height() // 2))
    accent = pane.palette().accent().color()
    assert picture(pane).pixelColor(corner).name() in {accent.name(), "#2166a5", "#6fb1ec"}


def test_colours_follow_the_theme_the_place_stays(qtbot: QtBot, qapp: QApplication, pane: PromptPane) -> None:
    pane.resize(300, 80)
    long = "a line\n" * 200
    pane.show_prompt(ShownPrompt(long, (Span(0, len(long), Source.OWN),), (), 0, 0, True, long))
    points = qapp.font().pointSizeF()
    apply_theme(qapp, ThemeChoice.LIGHT, 100, points)
    light = format_at(pane, 3)
    pane.verticalScrollBar().setValue(50)
    apply_theme(qapp, ThemeChoice.DARK, 100, points)
    qtbot.waitUntil(lambda: format_at(pane, 3) != light)
    assert pane.verticalScrollBar().value() == 50
    qapp.setStyleSheet("")
    qapp.setPalette(qapp.style().standardPalette())
