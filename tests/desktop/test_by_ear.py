"""The first study of README.md without a screen and without a mouse: keys, and what a screen reader says."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.desktop.by_ear import Annotator, somebody
from tests.desktop.desk import ROOT, Desk

_ITEMS = "6"
_JUDGING = 300  # seconds at the most, on a computer that does much else


@pytest.fixture
def annotator(a_desk: Desk) -> Iterator[Annotator]:
    with somebody(a_desk) as made:
        yield made


def judge(annotator: Annotator) -> None:
    annotator.press("ctrl+2")
    annotator.tab_to("Run (Ctrl+R)")
    assert annotator.tab_to("All items") == "All items, combo box, Which items to judge"
    annotator.lead_to("Only the first, combo box, Which items to judge", "Down")
    annotator.tab_to("How many items to judge")
    annotator.type(_ITEMS)
    assert annotator.press("Tab", "shift+Tab").endswith(f"spin box, {_ITEMS}, {_ITEMS} items")
    annotator.announced.clear()
    annotator.press("ctrl+r")
    annotator.hears("The run begins")
    annotator.hears("has finished", _JUDGING)


def read_results(annotator: Annotator) -> None:
    """The page says in words what the scores mean, and its parts are reached by arrows."""
    annotator.hears("Run 1 is open")
    annotator.lead_to("Dataset: demo.tsv", "F7")
    annotator.lead_to("Run 1: demo-judge", "Tab")
    annotator.lead_to("Export", "ctrl+3")
    annotator.reads("^In short$")
    annotator.tab_to("Scores")
    annotator.lead_to("Figures, page tab", "Right")


def review(annotator: Annotator) -> None:
    """Say another label and other words, and go on to the next item."""
    annotator.press("ctrl+4")
    first = annotator.hears("^Item ")
    annotator.announced.clear()
    annotator.press("Down")
    second = annotator.hears("^Item ")
    assert second != first
    annotator.lead_to("Your name, text", "a")
    assert annotator.window().startswith("Who is annotating?")
    annotator.lead_to("to do, cell, selected", "Return")
    annotator.press("x")
    annotator.hears(": both bad$")
    annotator.lead_to("Your explanation, text", "e")
    assert annotator.type("Neither says it.") == "Your explanation, text, Neither says it."
    annotator.lead_to("to do, cell, selected", "ctrl+Return")
    annotator.hears("^Explanation: Neither says it.$")
    annotator.announced.clear()
    annotator.press("Return")
    assert annotator.hears("^Item ") != second


def export(annotator: Annotator, target: Path) -> None:
    annotator.lead_to("File, text", "ctrl+e")
    assert annotator.window().startswith("Export run 1")
    annotator.press("ctrl+a")
    assert str(target) in annotator.type(str(target))
    annotator.press("Return")
    annotator.hears(f"^Written: {target.name}")
    assert "both_bad" in target.read_text("utf-8")
    annotator.lead_to("Open, push button", "F8")
    annotator.tab_to("Dismiss this notice")
    annotator.lead_to("to do, cell, selected", "space")


def rank(annotator: Annotator, dataset: Path) -> None:
    """Open the dataset of candidates by its name, judge a part of it, read who is better."""
    annotator.lead_to("File name:, text", "ctrl+o")
    annotator.type(str(dataset))
    annotator.press("Return")
    annotator.hears(f"^{dataset.name} is open")
    judge(annotator)
    annotator.hears("Run 2 is open")
    annotator.lead_to("Dataset: demo-candidates.tsv", "F7")
    annotator.lead_to("Run 2: demo-judge", "Tab")
    annotator.lead_to("Rank the candidates", "ctrl+6")
    annotator.reads("^In short$")
    assert annotator.tab_to("hazel").startswith("hazel, cell")
    annotator.lead_to("rowan, cell", "Down")


def test_the_first_study_is_done_by_keys_and_by_ear(annotator: Annotator, tmp_path: Path) -> None:
    dataset = Path(shutil.copy(ROOT / "examples" / "demo-candidates.tsv", tmp_path))
    with annotator.desk.program(home=tmp_path) as program:
        annotator.reader.program()
        annotator.lead_to("Judge, list item, selected")
        judge(annotator)
        read_results(annotator)
        review(annotator)
        export(annotator, tmp_path / "labels.tsv")
        rank(annotator, dataset)
        annotator.desk.press("ctrl+q")
        assert program.wait(60) == 0
