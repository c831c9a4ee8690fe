"""The first study of README.md without a screen and without a mouse: keys, and what a screen reader says."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desktop.by_ear import Person, somebody
from tests.desktop.desk import ROOT, Desk

_ITEMS = "6"
_JUDGING = 300  # seconds at the most, on a computer that does much else


@pytest.fixture
def person(a_desk: Desk) -> Iterator[Person]:
    """Somebody who hears a desk, before there is anything to hear."""
    with somebody(a_desk) as made:
        yield made


def judge(person: Person) -> None:
    """The first items of the dataset that is open."""
    person.press("ctrl+2")
    person.tab_to("Run (Ctrl+R)")
    assert person.tab_to("All items") == "All items, combo box, Which items to judge"
    person.lead_to("Only the first, combo box, Which items to judge", "Down")
    person.tab_to("How many items to judge")
    person.type(_ITEMS)
    assert person.press("Tab", "shift+Tab").endswith(f"spin box, {_ITEMS}, {_ITEMS} items")
    person.announced.clear()
    person.press("ctrl+r")
    person.hears("The run begins")
    person.hears("has finished", _JUDGING)


def read_results(person: Person) -> None:
    """The page says in words what the scores mean, and its parts are reached by arrows."""
    person.hears("Run 1 is open")
    person.lead_to("Run 1: demo.tsv, demo-judge", "ctrl+3")
    person.reads("^In short$")
    person.tab_to("Scores")
    person.lead_to("Figures, page tab", "Right")


def review(person: Person) -> None:
    """Say another label and other words, and go on to the next item."""
    person.press("ctrl+4")
    first = person.hears("^Item ")
    person.announced.clear()
    person.press("Down")
    second = person.hears("^Item ")
    assert second != first
    person.lead_to("Your name, text", "a")
    assert person.window().startswith("Who labels?")
    person.lead_to("to do, cell, selected", "Return")
    person.press("x")
    person.hears(": both bad$")
    person.lead_to("Your explanation, text", "e")
    assert person.type("Neither says it.") == "Your explanation, text, Neither says it."
    person.lead_to("to do, cell, selected", "ctrl+Return")
    person.hears("^Explanation: Neither says it.$")
    person.announced.clear()
    person.press("Return")
    assert person.hears("^Item ") != second


def export(person: Person, target: Path) -> None:
    """Write the submission through its dialog."""
    person.lead_to("File, text", "ctrl+e")
    assert person.window().startswith("Export run 1")
    person.press("ctrl+a")
    assert str(target) in person.type(str(target))
    person.press("Return")
    person.hears(f"^Written: {target.name}")
    assert "both_bad" in target.read_text("utf-8")
    person.lead_to("Open, push button", "F8")
    person.tab_to("Dismiss this notice")
    person.lead_to("to do, cell, selected", "space")


def rank(person: Person, dataset: Path) -> None:
    """Open the dataset of candidates by its name, judge a part of it, read who is better."""
    person.lead_to("File name:, text", "ctrl+o")
    person.type(str(dataset))
    person.press("Return")
    person.hears(f"^{dataset.name} is open")
    judge(person)
    person.hears("Run 2 is open")
    person.lead_to("Run 2: demo-candidates.tsv", "ctrl+6")
    person.reads("^In short$")
    assert person.tab_to("hazel").startswith("hazel, cell")
    person.lead_to("rowan, cell", "Down")


def test_the_first_study_is_done_by_keys_and_by_ear(person: Person, tmp_path: Path) -> None:
    dataset = Path(shutil.copy(ROOT / "examples" / "demo-candidates.tsv", tmp_path))
    with person.desk.program(home=tmp_path) as program:
        person.reader.program()
        person.lead_to("Judge, list item, selected")
        judge(person)
        read_results(person)
        review(person)
        export(person, tmp_path / "labels.tsv")
        rank(person, dataset)
        person.desk.press("ctrl+q")
        assert program.wait(60) == 0
