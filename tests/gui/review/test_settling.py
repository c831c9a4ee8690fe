"""Settling on the Review page: where people differ, what each said, one key that says what counts."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.annotations.effective import Reviews
from engine.annotations.records import new_note, new_override, new_review
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.results.run_results import load_results, load_reviews
from engine.store.run_store import RunStore
from gui.review.review_page import ReviewPage
from tests.gui.review.steps import press

A, B, GOOD, BAD = Preference
SAID = {  # by item and criterion, what Ada, Ben and Cleo say
    ("3", "safety"): (A, A, B),
    ("5", "safety"): (A, B, None),
    ("5", "relevance"): (GOOD, GOOD, BAD),
    ("8", "safety"): (B, B, B),
}


@pytest.fixture
def annotators(page: ReviewPage, qtbot: QtBot, store: Path) -> ReviewPage:
    """The page once three people labelled four judgments, and Dora looks."""
    with RunStore(store) as opened:
        for (item, criterion), labels in SAID.items():
            for author, label in zip(("Ada", "Ben", "Cleo"), labels, strict=True):
                if label is not None:
                    text = f"{author} says why." if author == "Cleo" else None
                    opened.annotate(
                        1, new_override(item, criterion, label, text, author, blind=author == "Ben")
                    )
        opened.annotate(
            None, new_note(load_results(opened, 1).content_hashes["3"], "Look at the dose.", ["dose"], "Ben")
        )
    page.workspace.set_author("Dora")
    with qtbot.waitSignal(page.workspace.run_changed):
        page.workspace.read_run_again()
    qtbot.waitUntil(lambda: page.list.shown == 30 and page.reviewer.adjudicate_button.isVisible())
    return page


def reviews(store: Path) -> Reviews:
    with RunStore(store) as opened:
        return load_reviews(opened, 1)


def begin(qtbot: QtBot, page: ReviewPage) -> None:
    page.reviewer.adjudicate_button.click()
    qtbot.waitUntil(lambda: page.list.table.item_at(0).item_id in {"3", "5"})  # type: ignore[union-attr]
    look_at(qtbot, page, "3")


def look_at(qtbot: QtBot, page: ReviewPage, item: str) -> None:
    page.list.choose(item)
    qtbot.waitUntil(lambda: page.session.item_id == item)
    page.desk.choose_criterion("safety")


def enter(qtbot: QtBot, page: ReviewPage) -> None:
    qtbot.keyClick(page, Qt.Key.Key_Return)


def test_only_where_people_differ_can_anything_be_settled(page: ReviewPage) -> None:
    assert page.reviewer.adjudicate_button.isHidden()


def test_each_person_stands_beside_the_others_with_text_and_note(
    qtbot: QtBot, annotators: ReviewPage
) -> None:
    begin(qtbot, annotators)
    found = [each for each in annotators.beside.columns.texts if each.system in SAID_BY]
    assert [(each.system, each.label, each.text, each.remark) for each in found] == [
        ("Ada", A, None, ""),
        ("Ben", A, None, "Note: Look at the dose."),
        ("Cleo", B, "Cleo says why.", ""),
    ]
    [ben] = [each for each in found if each.system == "Ben"]
    assert [word for word, *_ in ben.marks] == ["blind", "dose"]
    own = annotators.beside.columns.own.shown
    assert own is not None
    assert own.system == "To adjudicate"
    assert own.remark.startswith("Majority: A (2 of 3)")


SAID_BY = ("Ada", "Ben", "Cleo")


@pytest.mark.slow
def test_enter_settles_as_most_people_say_and_goes_on(
    qtbot: QtBot, annotators: ReviewPage, store: Path
) -> None:
    begin(qtbot, annotators)
    assert annotators.list.queue.text.text() == "0 of 3 adjudicated"
    enter(qtbot, annotators)
    qtbot.waitUntil(lambda: annotators.list.queue.text.text() == "1 of 3 adjudicated")
    qtbot.waitUntil(
        lambda: annotators.session.key == JudgmentKey("5", "safety") or annotators.session.item_id == "5"
    )
    annotators.desk.choose_criterion("safety")
    enter(qtbot, annotators)  # one says A, the other B: nothing is settled by that
    assert len(reviews(store).adjudicated) == 1
    press(qtbot, annotators, "B")
    qtbot.waitUntil(lambda: annotators.list.queue.text.text() == "2 of 3 adjudicated")
    enter(qtbot, annotators)  # it is settled: on to the next
    qtbot.waitUntil(lambda: annotators.session.key == JudgmentKey("5", "relevance"))
    enter(qtbot, annotators)
    qtbot.waitUntil(lambda: annotators.list.queue.text.text() == "3 of 3 adjudicated")
    found = {key: (each.preference, each.label_by) for key, each in reviews(store).adjudicated.items()}
    assert found == {
        JudgmentKey("3", "safety"): (A, ("Dora",)),
        JudgmentKey("5", "safety"): (B, ("Dora",)),
        JudgmentKey("5", "relevance"): (GOOD, ("Dora",)),
    }
    assert "Dora" not in reviews(store).labels  # what she settled is no label of hers


@pytest.mark.slow
def test_what_is_settled_is_locked_for_others_until_it_is_taken_back(
    qtbot: QtBot, annotators: ReviewPage, store: Path
) -> None:
    begin(qtbot, annotators)
    enter(qtbot, annotators)
    qtbot.waitUntil(lambda: annotators.list.queue.text.text() == "1 of 3 adjudicated")
    annotators.reviewer.adjudicate_button.click()
    annotators.workspace.set_author("Ben")
    look_at(qtbot, annotators, "3")
    with qtbot.waitSignal(annotators.workspace.note) as told:
        press(qtbot, annotators, "G")
    assert told.args == ["Dora adjudicated this label: use Adjudicate to change it."]
    assert "Adjudicated: label A by Dora" in annotators.desk.card.by.text()
    annotators.workspace.set_author("Dora")
    with qtbot.waitSignal(annotators.workspace.reviewed):
        press(qtbot, annotators, "U")
    assert reviews(store).adjudicated == {}


def test_who_settles_does_not_label_blind(qtbot: QtBot, annotators: ReviewPage) -> None:
    annotators.reviewer.blind_button.click()
    begin(qtbot, annotators)
    assert not annotators.reviewer.blind.on
    annotators.reviewer.blind_button.click()
    assert not annotators.reviewer.settling
    assert not annotators.session.settling


def test_confirmed_labels_differ_from_others_too(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    with RunStore(store) as opened:
        opened.annotate(1, new_review("2", "Ada", confirmed={"safety": A}))
        opened.annotate(1, new_review("2", "Ben", confirmed={"safety": B}))
    assert reviews(store).differing == {JudgmentKey("2", "safety")}
    assert reviews(store).proposed(JudgmentKey("2", "safety")) is None
