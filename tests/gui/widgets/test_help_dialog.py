"""The help: what it explains is what the window says and what the engine does, and it is found from there."""

import re
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from engine.core.health import HealthVerdict, Sign
from engine.core.rubric import ELOQUENT
from engine.results.health import LEAST_ITEMS, LIMITS
from gui.review.progress import STATE_SIGNS, STATE_WORDS
from gui.widgets.glossary import GLOSSARY, MORE_BY_F1, THREE_STEPS, WHAT_IT_DOES, Topic
from gui.widgets.help_dialog import HelpDialog, HelpMark, show_help
from gui.widgets.label_mark import LABEL_WORDS
from gui.widgets.labels import shown_text

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
    assert "F1" in MORE_BY_F1


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
    assert f"below {mass.look:.0%}".replace("%", " %") in health
    assert f"below {mass.serious:.0%}".replace("%", " %") in health
    assert f"more than {flipped.look:.0%}".replace("%", " %") in health
    assert f"more than {flipped.serious:.0%}".replace("%", " %") in health
    assert f"The default is {ELOQUENT.tie_threshold:g} points" in GLOSSARY[Topic.TIE_THRESHOLD].text
    assert HealthVerdict.LOOK.value.replace("_", " ") in health.casefold()
    assert HealthVerdict.DOES_NOT_JUDGE.value.replace("_", " ") in health.casefold()


@pytest.mark.parametrize(
    ("page", "said"),
    [
        ("how-it-judges.md", "The margin is halved for each of"),
        ("how-it-judges.md", "1, if it has no label; 0, if an annotator overrode it"),
        (
            "how-it-judges.md",
            "if its two orders, each by itself and before calibration, give different labels",
        ),
        ("how-it-judges.md", "more than half of the criteria"),
        ("measures.md", "no label depends on which response is A"),
        ("measures.md", "Items of one instruction are not independent"),
        ("measures.md", "unscored is a label of its own"),
        (
            "measures.md",
            "mean over the labels that occur of F1 = 2 · precision · recall / (precision + recall)",
        ),
        ("measures.md", "explanations in other scripts score 0"),
        ("measures.md", "reads the item, both labels and both explanations"),
        ("how-it-judges.md", "An item that does not fit is unscored"),
        ("measures.md", "10 · (P(it is preferred) + P(both_good))"),
        ("measures.md", "≤ tie threshold (0.5 by default)"),
    ],
)
def test_the_pages_of_docs_still_say_what_the_help_was_written_after(page: str, said: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert said in " ".join(text.split())


def test_each_page_that_is_named_is_there() -> None:
    for entry in GLOSSARY.values():
        assert (ROOT / "docs" / entry.page).is_file()


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
    dialog = show_help(mark.window(), Topic.CALIBRATION)
    assert len(mark.window().findChildren(HelpDialog)) == 1
    bar, section = dialog.area.verticalScrollBar(), dialog.sections[Topic.CALIBRATION]
    qtbot.waitUntil(lambda: 0 < bar.value() == min(section.y(), bar.maximum()))
    assert mark.accessibleName() == "What is meant: calibration"


def test_the_first_steps_are_three_with_the_keys_that_lead_there() -> None:
    assert WHAT_IT_DOES.count(". ") == 0
    assert [title for title, _ in THREE_STEPS] == ["Judge", "Check", "Correct"]
    assert [re.search(r"Ctrl\+.", what)[0] for _, what in THREE_STEPS] == ["Ctrl+R", "Ctrl+3", "Ctrl+4"]  # type: ignore[index]
