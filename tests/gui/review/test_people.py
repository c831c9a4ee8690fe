"""Several people on the Review page: states, confirmed labels, names, blind labels, notes and tags."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from engine.annotations.effective import Reviews
from engine.annotations.records import Filters, ListOrder, WantedItems, new_review
from engine.core.items import PREFERENCES, Preference
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from engine.data.label_origins import in_drawn_order
from engine.results.completeness import random_part
from engine.results.exports import as_json
from engine.results.run_results import load_results, load_reviews
from engine.settings.sampling import DEFAULT_SEED, LARGEST_SEED
from engine.store.run_store import RunStore
from gui.review.annotators import WhoDialog
from gui.review.filter_bar import SeedDialog
from gui.review.note_line import NoteDialog
from gui.review.review_page import ReviewPage
from gui.review.review_table import HIDDEN, LABELS, MARKS, STATE, UNCERTAINTY
from gui.widgets.value_table import SORT_ROLE
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace
from tests.full_disk import disk_that_holds
from tests.gui.review.steps import Open, current, overrides, press, wait_for_override, wanted_elsewhere
from tests.gui.window.test_words import held

LONG = "W" * 255


def reviews(store: Path) -> Reviews:
    with RunStore(store) as opened:
        return load_reviews(opened, 1)


def say(qtbot: QtBot, page: ReviewPage, act: Callable[[], object]) -> None:
    """Do what changes what people say, and wait until the window knows."""
    with qtbot.waitSignal(page.workspace.reviewed):
        act()
    qtbot.waitUntil(lambda: not page.workspace.threads.busy(page.list._reading._thread_name))


def enter(qtbot: QtBot, page: ReviewPage) -> None:
    say(qtbot, page, lambda: qtbot.keyClick(page, Qt.Key.Key_Return))


def state_sign(page: ReviewPage, item_id: str) -> str:
    row = page.list.table.row_of(item_id)
    assert row is not None
    return str(page.list.table.index(row, STATE).data())


def marks(page: ReviewPage, item_id: str) -> str:
    row = page.list.table.row_of(item_id)
    assert row is not None
    return str(page.list.table.index(row, MARKS).data())


def labels(page: ReviewPage, item_id: str) -> list[str]:
    row = page.list.table.row_of(item_id)
    assert row is not None
    return list(page.list.table.index(row, LABELS).data(SORT_ROLE))


def choose_state(page: ReviewPage, state: ReviewState | None) -> None:
    box = page.list.annotators.state
    box.setCurrentIndex(box.findData(state and state.value))
    box.activated.emit(box.currentIndex())


# States and confirmations


def test_enter_confirms_all_labels_in_force_and_goes_on(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    first = current(page)
    effective = dict(page.session.effective_labels())
    other = next(label for label in PREFERENCES if label is not effective[page.session.criterion])
    criterion = page.session.criterion
    press(qtbot, page, {"A": "A", "B": "B", "both_good": "G", "both_bad": "X"}[other.value])
    enter(qtbot, page)  # at once: the label that was asked for is the one that is confirmed
    qtbot.waitUntil(lambda: len(reviews(store).confirmations) == 5)
    given = reviews(store).labels["Ada"]
    assert {name: given[JudgmentKey(first, name)] for name in effective} == {**effective, criterion: other}
    assert len(overrides(store)) == 1
    assert reviews(store).state(first, "Ada") is ReviewState.DONE
    assert current(page) != first
    assert state_sign(page, first) == "✓"
    assert page.list.queue.text.text() == "1 of 30 done, 29 left"


def test_the_name_is_not_looked_up_for_each_item(
    qtbot: QtBot, page: ReviewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    state = page.workspace.state
    text = state.text

    def look_up(key: str) -> str:
        looked_up.append(key)
        return text(key)

    monkeypatch.setattr(state, "text", look_up)
    enter(qtbot, page)
    after_enter = looked_up.count("author")
    choose_state(page, ReviewState.TO_DO)
    qtbot.waitUntil(lambda: page.list.shown == 29)
    assert after_enter < page.list.shown
    assert looked_up.count("author") - after_enter < page.list.shown


def test_s_skips_and_t_takes_back(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    first = current(page)
    say(qtbot, page, lambda: press(qtbot, page, "S"))
    assert (state_sign(page, first), page.list.queue.text.text()) == ("»", "0 of 30 done, 1 skipped, 29 left")
    assert reviews(store).confirmations == ()
    press(qtbot, page, "K")
    assert current(page) == first
    assert not page.list.queue.again.isHidden()
    say(qtbot, page, lambda: press(qtbot, page, "T"))
    assert (state_sign(page, first), page.list.queue.text.text()) == ("", "0 of 30 done, 30 left")
    assert current(page) == first


def test_the_queue_ends_and_says_so(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    page.list.filters.search.setText(current(page))
    page.list.filters.search.returnPressed.emit()
    qtbot.waitUntil(lambda: page.list.shown < 30)
    shown = page.list.shown
    page.list.take_focus()
    for left in range(shown - 1, 0, -1):
        enter(qtbot, page)
        assert page.list.queue.text.text().endswith(f"{left} left by this filter")
    with qtbot.waitSignal(page.workspace.note, check_params_cb=lambda text: "No item is left" in text):
        qtbot.keyClick(page, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(reviews(store).marks) == shown)


def test_the_list_is_filtered_by_state(qtbot: QtBot, page: ReviewPage) -> None:
    first = current(page)
    enter(qtbot, page)
    second = current(page)
    choose_state(page, ReviewState.DONE)
    qtbot.waitUntil(lambda: page.list.shown == 1)
    assert page.list.table.row_of(first) == 0
    choose_state(page, ReviewState.TO_DO)
    qtbot.waitUntil(lambda: page.list.shown == 29)
    page.list.choose(second)
    enter(qtbot, page)
    assert page.list.shown == 29  # it stays in its place until the list is made again
    assert page.list.queue.text.text() == "2 of 30 done, 28 left by this filter"


def narrow_to(qtbot: QtBot, page: ReviewPage, box: QComboBox, data: str) -> None:
    """Choose in one of a person's filters, and wait for the one item that passes."""
    box.setCurrentIndex(box.findData(data))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: page.list.shown == 1)


def list_some(page: ReviewPage) -> None:
    wanted = WantedItems(1, Filters(ids=frozenset({"1", "2", "3"})), "three")
    page.workspace.listing_wanted.emit(wanted)


def test_clear_show_all_and_a_wanted_set_leave_a_persons_filters_too(qtbot: QtBot, page: ReviewPage) -> None:
    annotators, clear = page.list.annotators, page.list.filters.clear_all
    note(qtbot, page, "", "odd")
    enter(qtbot, page)
    for box, data in ((annotators.state, "done"), (annotators.tag, "odd")):
        assert clear.isHidden()
        narrow_to(qtbot, page, box, data)
        assert not clear.isHidden()  # it counts though nothing else is filtered
        clear.click()
        qtbot.waitUntil(lambda: page.list.shown == 30)
        assert (annotators.narrows, clear.isHidden()) == (False, True)
        narrow_to(qtbot, page, box, data)
        list_some(page)
        qtbot.waitUntil(lambda: page.list.shown == 3)
        assert not annotators.narrows
        choose_state(page, ReviewState.SKIPPED)
        qtbot.waitUntil(lambda: page.list.shown == 0)
        page.list.wanted_line.show_all.click()
        qtbot.waitUntil(lambda: page.list.shown == 30)


def test_a_wanted_sample_is_listed_in_its_order_from_what_is_to_do(qtbot: QtBot, page: ReviewPage) -> None:
    with qtbot.waitSignal(page.list.listed):
        page.workspace.listing_wanted.emit(WantedItems(1, Filters(), "the sample", ListOrder.RANDOM))
    ids = [page.list.table.item_at(row).item_id for row in range(page.list.shown)]  # type: ignore[union-attr]
    assert ids == in_drawn_order(ids, DEFAULT_SEED)
    assert current(page) == ids[0]
    assert "the sample" in page.list.wanted_line.text.text()


@pytest.mark.parametrize("blind", [False, True])
def test_what_is_labelled_is_left_out_of_a_wanted_sample_that_goes_on_at_random(
    qtbot: QtBot, page: ReviewPage, store: Path, blind: bool
) -> None:
    if blind:
        page.reviewer.blind_button.click()
    with RunStore(store) as opened:
        first, second, third, fourth, *_others = in_drawn_order(
            [each.item_id for each in opened.judged(1)], DEFAULT_SEED
        )
    with qtbot.waitSignal(page.list.listed):
        request = Filters(criterion="safety", labelled=frozenset({first, third}))
        page.workspace.listing_wanted.emit(WantedItems(1, request, "without a label", ListOrder.RANDOM))
    assert page.list.shown == 28
    found = [(current(page), page.session.origin)]
    page.list.step(1)
    found.append((current(page), page.session.origin))
    assert found == [(second, Origin.RANDOM), (fourth, Origin.CHOSEN)]  # the one before is not labelled
    page.list.filters.clear_all.click()
    qtbot.waitUntil(lambda: page.list.shown == 30)


def test_after_a_wanted_item_the_next_list_does_not_go_elsewhere(qtbot: QtBot, page: ReviewPage) -> None:
    enter(qtbot, page)
    again = wanted_elsewhere(qtbot, page, "7", "safety")
    assert current(again) == "7"
    with qtbot.waitSignal(again.list.listed):
        again.list.filters.choose_order(ListOrder.DATASET)
    assert current(again) == "7"


def test_opened_again_it_goes_on_at_the_first_item_to_do(
    qtbot: QtBot, page: ReviewPage, open_page: Open
) -> None:
    page.list.filters.order.setCurrentIndex(1)
    page.list.filters.order.activated.emit(1)
    qtbot.waitUntil(lambda: page.list.table.row_of("1") == 0)
    page.list.choose("1")
    enter(qtbot, page)
    enter(qtbot, page)
    press(qtbot, page, "JJJ")
    choose_state(page, ReviewState.TO_DO)
    qtbot.waitUntil(lambda: page.list.shown == 28)
    page.keep_layout()
    page.hide()
    again = open_page()
    qtbot.waitUntil(lambda: again.list.shown == 28)
    assert (current(again), again.list.view.currentIndex().row()) == ("3", 0)


def add_run(store: Path) -> int:
    """Another run of the same items; its id."""
    with RunStore(store) as opened:
        made = opened.run(1)
        with opened.begin(made.identity, fresh=True) as second:
            opened.add(second.id, list(opened.judged(1)))
        return second.id


def test_nothing_is_said_of_the_open_run_while_an_item_of_another_is_shown(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    workspace, second = page.workspace, add_run(store)
    item = current(page)
    with RunStore(store) as opened:
        opened.annotate(second, new_review(item, "Ada", ReviewState.SKIPPED))
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(second)
    assert (page.session.run_id, page.session.item_id) == (1, item)  # the list of the new run is not made yet
    asked: list[str] = []
    page.reviewer.progress.changed.connect(asked.append)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_S, Qt.Key.Key_T):
        qtbot.keyClick(page, key)
    assert asked == []
    qtbot.waitUntil(lambda: page.session.run_id == second)
    assert page.reviewer.progress.counts[ReviewState.SKIPPED] == 1


def test_a_name_given_after_another_run_was_opened_confirms_nothing(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    workspace, second, item = page.workspace, add_run(store), current(page)
    workspace.set_author("")
    qtbot.keyClick(page, Qt.Key.Key_Return)
    dialog = asked(page)
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(second)
    qtbot.waitUntil(lambda: page.session.run_id == second and not page.list._listing.busy)
    page.list.choose(item)
    dialog.field.setText("Ada")
    dialog.accept()
    assert page.reviewer.progress.state(item) is ReviewState.TO_DO


def test_space_shows_both_orders_large_but_belongs_to_a_button_and_enter_to_the_search(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    card = page.desk.card
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    page.list.take_focus()
    qtbot.keyClick(page, Qt.Key.Key_Space)
    assert not card.body.large.isHidden()
    assert card.body.large.titles == ["A shown first", "B shown first", "Both orders"]
    qtbot.keyClick(page, Qt.Key.Key_Space)
    assert card.body.large.isHidden()
    page.list.filters.search.setFocus()
    qtbot.keyClick(page.list.filters.search, Qt.Key.Key_Return)
    card.fold.setFocus()
    qtbot.keyClick(card.fold, Qt.Key.Key_Space)
    assert reviews(store).marks == ()
    assert card.folded
    assert card.body.large.isHidden()


# Names


def asked(page: ReviewPage) -> WhoDialog:
    dialog = page.reviewer.who.dialog
    assert dialog is not None
    return dialog


def test_a_name_is_asked_once_and_what_was_wished_is_done_then(
    qtbot: QtBot, store: Path, workspace: Workspace, open_page: Open
) -> None:
    page = open_page()
    workspace.set_author("")
    who = page.reviewer.who
    qtbot.keyClick(page, Qt.Key.Key_Return)
    dialog = asked(page)
    assert dialog.field.text() == workspace.author  # that of the account
    dialog.reject()
    assert reviews(store).marks == ()
    press(qtbot, page, "X")
    dialog = asked(page)
    dialog.field.setText(f"{LONG}\u202e ")
    say(qtbot, page, dialog.accept)
    assert [override.author for override in overrides(store)] == ["W" * 255]
    assert who.width() < page.list.width()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    enter(qtbot, page)
    assert who.dialog is None
    assert page.width() == 1180


def test_each_takes_back_only_his_own(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    workspace = page.workspace
    say(qtbot, page, lambda: press(qtbot, page, "X"))
    workspace.set_author("Ben & Co")
    with qtbot.waitSignal(
        workspace.note, check_params_cb=lambda text: text == "This is Ada's: only Ada can undo it."
    ):
        press(qtbot, page, "U")
    say(qtbot, page, lambda: press(qtbot, page, "A"))
    assert page.desk.card.annotators.text() == "Ada: both bad, Ben & Co: A"
    say(qtbot, page, lambda: press(qtbot, page, "U"))
    assert [(each.author, each.undone is None) for each in overrides(store)] == [
        ("Ada", True),
        ("Ben & Co", False),
    ]
    assert page.desk.card.badge.text == "Both bad"


def explain(qtbot: QtBot, page: ReviewPage, text: str) -> None:
    press(qtbot, page, "E")
    page.desk.card.editor.field.setPlainText(text)
    say(qtbot, page, lambda: page.desk.card.editor.saved.emit(text))


def test_a_label_does_not_become_that_of_who_explains(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    page.workspace.set_author("Ben")
    say(qtbot, page, lambda: press(qtbot, page, "X"))
    page.workspace.set_author("Ada")
    explain(qtbot, page, "Ada's words.")
    assert [(each.author, each.preference, each.explanation) for each in overrides(store)] == [
        ("Ben", Preference.BOTH_BAD, None),
        ("Ada", None, "Ada's words."),
    ]
    assert list(reviews(store).labels) == ["Ben"]
    assert page.desk.card.badge.text == "Both bad"
    with RunStore(store) as opened:
        assert opened.drafts(1) == []
    page.workspace.set_author("Cy")
    say(qtbot, page, lambda: press(qtbot, page, "X"))  # Ben's label, though Ada spoke last
    assert len(overrides(store)) == 2
    [confirmed] = reviews(store).confirmations
    assert (confirmed.author, confirmed.preference) == ("Cy", Preference.BOTH_BAD)


def test_an_explanation_stays_its_persons_also_where_another_labels_meanwhile(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    explain(qtbot, page, "Ada's words.")
    page.workspace.set_author("Ben")
    say(qtbot, page, lambda: press(qtbot, page, "X"))
    page.workspace.set_author("Ada")
    say(qtbot, page, lambda: press(qtbot, page, "G"))
    explain(qtbot, page, "Ada's other words.")
    assert [(each.author, each.preference, each.explanation) for each in overrides(store)] == [
        ("Ada", None, "Ada's words."),
        ("Ben", Preference.BOTH_BAD, None),
        ("Ada", Preference.BOTH_GOOD, "Ada's words."),
        ("Ada", Preference.BOTH_GOOD, "Ada's other words."),
    ]


@pytest.mark.parametrize("key", [Qt.Key.Key_X, Qt.Key.Key_Return])
def test_what_was_wished_of_one_run_is_not_done_in_another(
    qtbot: QtBot, page: ReviewPage, store: Path, key: Qt.Key
) -> None:
    second = add_run(store)
    page.workspace.set_author("")
    item = current(page)
    qtbot.keyClick(page, key)
    dialog = asked(page)
    with qtbot.waitSignal(page.workspace.run_changed):
        page.workspace.open_run(second)
    page.list.choose(item)
    qtbot.waitUntil(lambda: (page.session.run_id, page.session.item_id) == (second, item))
    dialog.field.setText("Ada")
    with qtbot.waitSignal(page.workspace.note, check_params_cb=lambda text: "Another run is open" in text):
        dialog.accept()
    with RunStore(store) as opened:
        assert [load_reviews(opened, number) for number in (1, second)] == [Reviews(), Reviews()]


# Blind


def everything_said(widget: QWidget) -> str:
    """All that a widget and what is in it shows or tells: texts, tips, accessible names."""
    found = [widget, *widget.findChildren(QWidget)]
    parts = []
    for each in found:
        if not each.isVisibleTo(widget):
            continue
        parts += [each.toolTip(), each.accessibleName(), each.accessibleDescription()]
        parts.append(each.text() if isinstance(each, QLabel) else "")
    return "\n".join(parts)


def test_blind_nothing_is_told_before_the_own_label(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    item, card = current(page), page.desk.card
    explanation, human = card.explanation.text(), card.human.text()
    page.reviewer.blind_button.click()
    qtbot.waitUntil(lambda: page.list.table.row_of("1") == 0)  # the order of the dataset
    page.list.choose(item)
    press(qtbot, page, "1")
    assert page.list.view.isColumnHidden(UNCERTAINTY)
    assert labels(page, item) == [HIDDEN] * 5
    row = page.list.table.row_of(item)
    assert row is not None
    assert page.list.table.index(row, MARKS).data() == ""
    tip = page.list.table.index(row, LABELS).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.count("hidden until you have given your label") == 5
    qtbot.keyClick(page, Qt.Key.Key_Space)
    told = everything_said(page.desk)
    assert explanation not in told
    assert human not in told
    assert "%" not in told.replace("<p style", "")
    assert not [word for word in ("Unscored", "flipped", "Probabilities: A", "shown first:") if word in told]
    assert not any(button.isChecked() for button in card.buttons.labels.values())
    filters = page.list.filters
    orders = [filters.order.itemText(place) for place in range(filters.order.count())]
    untold = ["Dataset order", "Random sample", "To do first", "Done first", "By id", "By id, backwards"]
    assert orders == [*untold, "By instruction", "By instruction, backwards"]  # the others tell of labels
    assert filters.more.isHidden()
    assert not any(control.isVisible() for control in (*filters.chips.values(), *filters.labels.values()))
    with qtbot.waitSignal(page.workspace.note, check_params_cb=lambda text: text == card.reason.text()):
        press(qtbot, page, "E")
    assert not page.desk.writing


def test_a_blind_label_confirms_or_overrides_and_shows_its_criterion_alone(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    effective = page.session.effective_labels()
    keys = {"A": "A", "B": "B", "both_good": "G", "both_bad": "X"}
    page.reviewer.blind_button.click()
    press(qtbot, page, "1")
    item = current(page)
    effective = page.session.effective_labels()
    say(qtbot, page, lambda: press(qtbot, page, keys[effective["relevance"].value]))
    assert overrides(store) == []
    [confirmed] = reviews(store).confirmations
    assert (confirmed.criterion, confirmed.preference) == ("relevance", effective["relevance"])
    assert page.desk.card.explanation.text() not in ("", "Hidden.")
    assert labels(page, item) == [effective["relevance"], *[HIDDEN] * 4]
    press(qtbot, page, "2")
    assert page.desk.card.explanation.text() == "Hidden."
    other = next(label for label in PREFERENCES if label is not effective["naturalness"])
    say(qtbot, page, lambda: press(qtbot, page, keys[other.value]))
    [override] = overrides(store)
    assert (override.criterion, override.preference) == ("naturalness", other)
    assert page.desk.card.badge.text.lower().replace(" ", "_") == other.value.lower()


def test_blind_enter_waits_for_all_labels_and_keeps_them(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    page.reviewer.blind_button.click()
    item = current(page)
    press(qtbot, page, "1X2X3X4X")
    with qtbot.waitSignal(page.workspace.note, check_params_cb=lambda text: "overall quality" in text):
        qtbot.keyClick(page, Qt.Key.Key_Return)
    assert (page.session.criterion, current(page)) == ("overall_quality", item)
    press(qtbot, page, "X")
    qtbot.keyClick(page, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: reviews(store).state(item, "Ada") is ReviewState.DONE)
    given = reviews(store).labels["Ada"]
    assert {given[JudgmentKey(item, name)] for name in page.session.criteria} == {Preference.BOTH_BAD}
    assert current(page) != item


def test_what_is_written_becomes_a_draft_where_it_is_hidden(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    press(qtbot, page, "E")
    text = page.desk.card.editor.text
    page.desk.card.editor.field.setPlainText(f"{text} And mine.")
    page.reviewer.blind_button.click()
    assert not page.desk.writing
    assert text not in everything_said(page.desk)
    assert overrides(store) == []
    qtbot.waitUntil(lambda: not page.keys.pausing)
    say(qtbot, page, lambda: press(qtbot, page, "X"))
    press(qtbot, page, "E")
    assert page.desk.card.editor.text == f"{text} And mine."


def test_blind_a_name_that_is_given_to_write_shows_nothing(qtbot: QtBot, page: ReviewPage) -> None:
    page.workspace.set_author("")
    press(qtbot, page, "E")
    dialog = asked(page)
    page.reviewer.blind_button.click()
    dialog.field.setText("Ada")
    dialog.accept()
    assert not page.desk.writing


def test_blind_is_for_each_person_and_is_remembered(qtbot: QtBot, page: ReviewPage, open_page: Open) -> None:
    item = current(page)
    enter(qtbot, page)
    page.reviewer.blind_button.click()
    assert HIDDEN not in labels(page, item)
    page.workspace.set_author("Ben")
    assert labels(page, item) == [HIDDEN] * 5
    page.list.choose(item)
    assert page.desk.card.annotators.text() == ""  # not what Ada said
    page.hide()
    assert open_page().reviewer.blind.on


def test_side_columns_are_blind_too(qtbot: QtBot, page: ReviewPage) -> None:
    human = page.desk.card.human.text()
    page.beside.set_on(True)
    qtbot.waitUntil(page.beside.panel.isVisible)
    assert human in "".join(text.text or "" for text in page.beside.columns.texts)
    page.reviewer.blind_button.click()
    assert [text.text for text in page.beside.columns.texts] == [None] * len(page.beside.columns.texts)
    assert all(text.label is None for text in page.beside.columns.texts)


# Notes


def note(qtbot: QtBot, page: ReviewPage, text: str, *tags: str) -> None:
    press(qtbot, page, "N")
    dialog = page.reviewer.note.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.field.setPlainText(text)
    for tag in tags:
        dialog.tag.setFocus()
        dialog.tag.setText(tag)
        qtbot.keyClick(dialog.tag, Qt.Key.Key_Return)
    with qtbot.waitSignal(page.workspace.noted):
        qtbot.keyClick(dialog.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert page.reviewer.note.dialog is None
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)


def test_notes_and_tags_are_kept_shown_filtered_and_exported(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    item, width = current(page), page.width()
    note(qtbot, page, "<b>odd</b> wording", "odd", LONG, "odd")
    line = page.reviewer.note
    assert line.text.text() == "<b>odd</b> wording"
    assert [pill.text for pill in line.pills if not pill.isHidden()] == ["odd", f"{'W' * 18}…"]
    assert page.width() == width
    box = page.list.annotators.tag
    box.setCurrentIndex(box.findData(LONG))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: page.list.shown == 1)
    assert current(page) == item
    with RunStore(store) as opened:
        exported = json.loads(json.dumps(as_json(load_results(opened, 1))))
    [noted] = [each for each in exported["items"] if each["notes"]]
    assert (noted["id"], noted["tags"], noted["notes"][0]["author"]) == (item, ["odd", LONG], "Ada")
    press(qtbot, page, "N")
    assert line.dialog is not None
    completer = line.dialog.tag.completer()
    assert completer is not None
    qtbot.waitUntil(lambda: line.dialog is not None and line.dialog.tag.completer().completionCount() == 2)
    line.dialog.reject()


def begin_note(qtbot: QtBot, page: ReviewPage, text: str, tag: str) -> NoteDialog:
    press(qtbot, page, "N")
    dialog = page.reviewer.note.dialog
    assert dialog is not None
    qtbot.waitUntil(dialog.isActiveWindow)
    dialog.field.setPlainText(text)
    dialog.tag.setText(tag)
    qtbot.keyClick(dialog.tag, Qt.Key.Key_Return)
    return dialog


def drafts(store: Path) -> list[str]:
    with RunStore(store) as opened:
        return [draft.text for draft in opened.drafts(1)]


def test_esc_leaves_a_note_as_a_draft_that_n_opens_again_and_saving_ends(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    line, item = page.reviewer.note, current(page)
    qtbot.keyClick(begin_note(qtbot, page, "half a thought", "odd"), Qt.Key.Key_Escape)
    assert line.dialog is None
    assert "N opens it" in line.begun.toolTip()
    assert marks(page, item).endswith("*")
    qtbot.waitUntil(lambda: drafts(store) == ['["half a thought", "odd"]'])
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    press(qtbot, page, "JKN")
    [dialog] = page.findChildren(NoteDialog)
    assert dialog.written == ("half a thought", ("odd",))
    with qtbot.waitSignal(page.workspace.noted):
        dialog._save()
    qtbot.waitUntil(lambda: drafts(store) == [])
    assert (line.begun.isHidden(), "*" in marks(page, item)) == (True, False)
    assert line.note is not None
    assert (line.note.text, line.note.tags) == ("half a thought", ("odd",))


def test_what_is_being_noted_is_a_draft_soon_also_while_one_types_on(
    qtbot: QtBot, page: ReviewPage, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.review.drafts.KEEP_MS", 60)
    dialog = begin_note(qtbot, page, "odd", "hard")
    for _ in range(20):
        dialog.field.insertPlainText("x")
        qtbot.wait(10)
        if kept := drafts(store):
            break
    assert kept[0].endswith('odd", "hard"]')
    dialog.reject()


def test_blind_the_notes_of_others_are_hidden(qtbot: QtBot, page: ReviewPage) -> None:
    note(qtbot, page, "A is better", "a-wins")
    page.workspace.set_author("Ben")
    page.reviewer.blind_button.click()
    line = page.reviewer.note
    assert (line.note, line.text.text(), line.text.toolTip()) == (None, "", "")
    assert page.list.annotators.tag.isHidden()
    press(qtbot, page, "N")
    assert line.dialog is not None
    assert line.dialog.field.toPlainText() == ""
    line.dialog.reject()


def test_blind_only_the_own_tags_are_offered(qtbot: QtBot, page: ReviewPage) -> None:
    note(qtbot, page, "A is better", "a-wins")
    page.workspace.set_author("Ben")
    press(qtbot, page, "J")
    note(qtbot, page, "Odd", "odd")
    page.reviewer.blind_button.click()
    press(qtbot, page, "J")
    press(qtbot, page, "N")
    line = page.reviewer.note
    assert line.dialog is not None
    qtbot.waitUntil(lambda: not page.workspace.threads.busy(ThreadName.STORE))
    known = line.dialog.tag.completer().model()
    assert [known.index(row, 0).data() for row in range(known.rowCount())] == ["odd"]
    line.dialog.reject()


def test_before_the_first_note_a_name_is_asked_for(qtbot: QtBot, page: ReviewPage) -> None:
    page.workspace.set_author("")
    press(qtbot, page, "N")
    assert not page.window().findChildren(NoteDialog)
    asked(page).field.setText("Ben")
    asked(page).accept()
    [dialog] = page.window().findChildren(NoteDialog)
    with qtbot.waitSignal(page.workspace.noted):
        dialog.saved.emit("odd", ["odd"])
    noted = page.reviewer.note.note
    assert noted is not None
    assert noted.author == "Ben"
    dialog.reject()


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")
def test_what_a_full_disk_does_not_take_is_told_at_once_and_not_shown(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    item = current(page)
    with disk_that_holds(10), qtbot.waitSignal(page.workspace.problem, timeout=0) as told:
        press(qtbot, page, "S")
    assert "your annotation is not stored" in told.args[0].problem
    assert "is full" in told.args[0].problem
    assert (state_sign(page, item), current(page)) == ("", item)


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")
def test_what_waits_for_the_store_is_shown_on_where_the_disk_takes_no_more(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    item = current(page)
    with held(store):
        press(qtbot, page, "S")
        assert state_sign(page, item) == "»"
        page.list.choose(item)
        with disk_that_holds(10), qtbot.waitSignal(page.workspace.problem, timeout=0):
            press(qtbot, page, "T")
        assert state_sign(page, item) == "»"


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")
def test_a_note_that_a_full_disk_does_not_take_stays_in_its_dialog(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    press(qtbot, page, "N")
    dialog = page.reviewer.note.dialog
    assert dialog is not None
    dialog.field.setPlainText("odd wording")
    with disk_that_holds(10), qtbot.waitSignal(page.workspace.problem, timeout=0):
        dialog._save()
    assert page.reviewer.note.dialog is dialog
    with qtbot.waitSignal(page.workspace.noted):
        dialog._save()
    assert page.reviewer.note.dialog is None


# The random sample


def choose_random(qtbot: QtBot, page: ReviewPage) -> list[str]:
    """List the random sample; its first items."""
    page.list.filters.choose_order(ListOrder.RANDOM)
    with RunStore(page.workspace.store_path) as opened:
        drawn = in_drawn_order([item.item_id for item in opened.judged(1)], seed=0)
    qtbot.waitUntil(lambda: page.list.table.row_of(drawn[0]) == 0)
    return drawn


def origins(store: Path) -> dict[str, Origin | None]:
    return {each.item_id: each.origin for each in reviews(store).confirmations}


def test_who_goes_down_a_random_sample_gives_labels_of_it_and_who_jumps_does_not(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    uncertain = current(page)
    enter(qtbot, page)
    first, second, *others = choose_random(qtbot, page)
    far = next(item for item in others[5:] if item != uncertain)
    page.list.choose(far)
    enter(qtbot, page)
    page.list.choose(first)
    enter(qtbot, page)
    assert current(page) == second
    enter(qtbot, page)
    expected = {far: Origin.CHOSEN, first: Origin.RANDOM, second: Origin.RANDOM}
    qtbot.waitUntil(lambda: expected.items() <= origins(store).items())
    if uncertain not in (first, second):
        assert origins(store)[uncertain] is Origin.UNCERTAINTY
    assert random_part(reviews(store)).labelled >= {first, second}
    assert far not in random_part(reviews(store)).labelled


def test_the_least_sure_unlabelled_items_are_no_sample_and_the_list_says_so(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    filters, line = page.list.filters, page.list.no_sample
    assert not line.isVisible()
    rows = page.list.review.rows if page.list.review else []
    unsure: dict[str, list[float]] = {}
    for row in rows:
        assert row.probabilities is not None
        unsure.setdefault(row.item_id, []).append(-sum(each * np.log(each) for each in row.probabilities))
    first, second = sorted(unsure, key=lambda item_id: -float(np.mean(unsure[item_id])))[:2]
    filters.choose_order(ListOrder.MOST_UNCERTAIN)
    qtbot.waitUntil(lambda: page.list.table.row_of(second) == 1 and line.isVisible())
    assert page.list.table.row_of(first) == 0
    assert (
        "They are not a random sample: for rates, win rates or accuracy, label the random sample"
        in line.text.text()
    )
    tip = filters.order.itemData(filters.order.currentIndex(), Qt.ItemDataRole.ToolTipRole)
    assert "do not compute rates, win rates or accuracy from them" in tip
    page.list.choose(first)
    enter(qtbot, page)
    assert origins(store)[first] is Origin.UNCERTAINTY
    assert page.list.table.row_of(first) == 0  # until the list is made again
    page.list.list_again()
    qtbot.waitUntil(lambda: page.list.table.row_of(first) == page.list.shown - 1)
    assert page.list.table.row_of(second) == 0
    line.at_random.click()
    assert filters.list_order is ListOrder.RANDOM
    qtbot.waitUntil(lambda: page.session.origin is Origin.RANDOM)
    assert not line.isVisible()
    page.reviewer.blind_button.click()
    assert filters.order.findData(ListOrder.MOST_UNCERTAIN.value) < 0  # it tells of labels


def test_who_chooses_a_random_sample_is_at_its_top(qtbot: QtBot, page: ReviewPage) -> None:
    drawn = choose_random(qtbot, page)
    page.list.filters.choose_order(ListOrder.DATASET)
    qtbot.waitUntil(lambda: page.list.table.row_of(drawn[0]) != 0)
    page.list.choose(drawn[5])
    order = page.list.filters.order
    order.setFocus()
    qtbot.keyClick(order, Qt.Key.Key_R)
    assert page.list.filters.list_order is ListOrder.RANDOM
    qtbot.waitUntil(lambda: current(page) == drawn[0])
    assert page.session.origin is Origin.RANDOM


def test_a_random_sample_can_be_labelled_blind_and_by_filters_it_is_none(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    page.reviewer.blind_button.click()
    first, *_others = choose_random(qtbot, page)
    page.list.choose(first)
    assert page.session.origin is Origin.RANDOM
    page.reviewer.blind_button.click()
    assert page.list.filters.list_order is ListOrder.UNCERTAINTY  # as before
    page.list.filters.chips["flipped"].click()
    qtbot.waitUntil(lambda: page.session.origin is Origin.CHOSEN)


def test_another_seed_draws_another_sample_and_labels_keep_theirs(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    button = page.list.filters.seed
    assert button.isHidden()
    first, *_others = choose_random(qtbot, page)
    assert (button.isHidden(), button.text()) == (False, "Seed 0…")
    page.list.choose(first)
    enter(qtbot, page)
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    dialog = button.dialog
    assert dialog is not None
    assert "5 labels by seed 0. They keep their origin" in dialog.said.text()
    qtbot.waitUntil(dialog.isActiveWindow)  # else the keys would be the page's
    dialog.field.setFocus()
    dialog.field.selectAll()
    qtbot.keyClicks(dialog.field, "7")
    qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    with RunStore(store) as opened:
        drawn = in_drawn_order([item.item_id for item in opened.judged(1)], seed=7)
    to_do = [item for item in drawn if item != first]
    qtbot.waitUntil(lambda: page.list.table.row_of(drawn[0]) == 0 and current(page) == to_do[0])
    assert button.text() == "Seed 7…"
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    enter(qtbot, page)
    with RunStore(store) as opened:
        assert opened.run(1).review_seed == 7
    qtbot.waitUntil(lambda: set(seeds(store)) == {first, to_do[0]})
    assert seeds(store) == {first: 0, to_do[0]: 7}
    assert random_part(reviews(store)).labelled == {first, to_do[0]}
    button.click()
    again = button.dialog
    assert again is not None
    assert "5 labels by seed 0, 5 labels by seed 7" in again.said.text()
    again.reject()


def seeds(store: Path) -> dict[str, int | None]:
    return {each.item_id: each.seed for each in reviews(store).confirmations}


def test_a_seed_that_no_field_can_hold_can_be_changed_too(qtbot: QtBot) -> None:
    dialog = SeedDialog(2**40, {2**40: 3})
    qtbot.addWidget(dialog)
    assert f"3 labels by seed {2**40}" in dialog.said.text()
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.accept()
    assert chosen.args == [LARGEST_SEED]


def test_labels_of_annotators_do_not_stand_under_the_heading_of_the_dataset(
    qtbot: QtBot, page: ReviewPage
) -> None:
    card = page.desk.card
    assert card.annotators_heading.isHidden()
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "X"))
    assert (card.annotators_heading.text(), card.annotators.text()) == (
        "Labels of annotators",
        "Ada: both bad",
    )
    assert not card.annotators_heading.isHidden()
    part = card._parts.itemAt(2)
    layout = part.layout() if part else None
    assert layout is not None
    column = [item.widget() if (item := layout.itemAt(place)) else None for place in range(3)]
    assert column[:2] == [card.annotators_heading, card.annotators]
    assert isinstance(column[2], QLabel)
    assert column[2].text() == "Human label"
