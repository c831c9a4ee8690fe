"""One criterion is chosen above the list, or the list goes on by itself: which judgment each key is of."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.annotations.effective import Reviews
from engine.annotations.records import ListOrder, new_override
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from engine.results.run_results import load_reviews
from engine.store.run_store import RunStore
from gui.review.judgment_desk import NEXT_ITEM
from gui.review.review_page import ReviewPage
from gui.workspace.state import NEXT_CRITERION
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open, current, open_panel, press

A, B, GOOD = Preference.A, Preference.B, Preference.BOTH_GOOD
RELEVANCE, NATURALNESS = "relevance", "naturalness"


@pytest.fixture
def reviews(store: Path) -> Callable[[], Reviews]:
    """Looks up what people have said of run 1."""

    def look_up() -> Reviews:
        with RunStore(store) as opened:
            return load_reviews(opened, 1)

    return look_up


@pytest.fixture(params=[False, True], ids=["not blind", "blind"])
def blind(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def on_relevance(qtbot: QtBot, page: ReviewPage, blind: bool) -> ReviewPage:
    """The page with one criterion chosen, in the order of the dataset, at its first item."""
    page.reviewer.switch_blind(blind)
    choose_criterion(qtbot, page, RELEVANCE)
    page.list.choose("1")
    return page


def choose_criterion(
    qtbot: QtBot, page: ReviewPage, criterion: str, order: ListOrder = ListOrder.DATASET
) -> None:
    box = page.list.filters.criterion
    box.setCurrentIndex(box.findData(criterion))
    page.list.filters.choose_order(order)
    qtbot.waitUntil(lambda: not page.list._listing.busy)


def go_on_by_itself(page: ReviewPage) -> None:
    while page.workspace.state.text(NEXT_CRITERION) != NEXT_ITEM:
        QTest.keyClick(page, Qt.Key.Key_L)


def received(page: ReviewPage) -> list[str]:
    """What the status bar says from now on."""
    notes: list[str] = []
    page.workspace.note.connect(notes.append)
    return notes


def enter(page: ReviewPage) -> None:
    QTest.keyClick(page, Qt.Key.Key_Return)


def labels(
    qtbot: QtBot, page: ReviewPage, look_up: Callable[[], Reviews]
) -> dict[str, list[tuple[str, Preference]]]:
    """By item the labels of Ada, each with its criterion, once all that is said is stored."""
    qtbot.waitUntil(lambda: page.workspace.words.count == 0 and not page.workspace.words._waiting)
    found: dict[str, list[tuple[str, Preference]]] = {}
    for key, label in look_up().labels.get("Ada", {}).items():
        found.setdefault(key.item_id, []).append((key.criterion, label))
    return found


def test_each_label_and_enter_is_of_the_chosen_criterion_of_another_item(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page, items = on_relevance, []
    for key in "ABG":
        items.append(current(page))
        press(qtbot, page, key)
        enter(page)
    assert items == ["1", "2", "3"]
    assert labels(qtbot, page, reviews) == {
        "1": [(RELEVANCE, A)],
        "2": [(RELEVANCE, B)],
        "3": [(RELEVANCE, GOOD)],
    }
    assert reviews().state("1", "Ada") is ReviewState.TO_DO
    assert page.list.queue.text.text() == "3 of 30 done on relevance, 27 left"
    choose_criterion(qtbot, page, NATURALNESS)
    assert page.list.queue.text.text() == "0 of 30 done on naturalness, 30 left"


def test_enter_alone_confirms_the_chosen_criterion_or_asks_for_its_label(
    qtbot: QtBot, on_relevance: ReviewPage, blind: bool, reviews: Callable[[], Reviews]
) -> None:
    page, notes = on_relevance, received(on_relevance)
    effective = page.session.effective_labels()[RELEVANCE]
    enter(page)
    if blind:
        assert notes[-1] == "Label it first: relevance."
        assert (current(page), page.session.criterion) == ("1", RELEVANCE)
    else:
        assert current(page) == "2"
        assert labels(qtbot, page, reviews) == {"1": [(RELEVANCE, effective)]}


def test_the_last_criterion_of_an_item_closes_it_for_all_of_them(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page = on_relevance
    for criterion in page.session.criteria:
        choose_criterion(qtbot, page, criterion)
        page.list.choose("1")
        press(qtbot, page, "A")
        enter(page)
    assert len(labels(qtbot, page, reviews)["1"]) == 5
    assert reviews().state("1", "Ada") is ReviewState.DONE
    assert page.list.queue.text.text().startswith("1 of 30 done on ")


def test_a_label_of_the_chosen_criterion_is_taken_back_by_u_and_not_by_t(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page, notes = on_relevance, received(on_relevance)
    press(qtbot, page, "S")
    page.list.choose("1")
    assert page.list.queue.text.text() == "0 of 30 done on relevance, 1 skipped, 29 left"
    press(qtbot, page, "TA")
    assert labels(qtbot, page, reviews) == {"1": [(RELEVANCE, A)]}
    assert page.list.queue.again.isHidden()
    press(qtbot, page, "T")
    assert notes[-1] == "You have labelled relevance: U undoes that, another label replaces it."
    press(qtbot, page, "U")
    assert labels(qtbot, page, reviews) == {}
    assert page.list.queue.text.text() == "0 of 30 done on relevance, 30 left"


def test_a_key_right_after_the_choice_is_of_the_chosen_criterion(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page, box = on_relevance, on_relevance.list.filters.criterion
    box.setCurrentIndex(box.findData(NATURALNESS))
    box.activated.emit(box.currentIndex())
    press(qtbot, page, "A")  # while the list is still made
    assert labels(qtbot, page, reviews) == {"1": [(NATURALNESS, A)]}


def test_what_cannot_be_kept_is_not_counted(qtbot: QtBot, on_relevance: ReviewPage) -> None:
    page, key = on_relevance, JudgmentKey("1", RELEVANCE)
    page.reviewer.blind.give(key)
    page.reviewer.progress._follow("1")
    assert page.list.queue.text.text().startswith("1 of 30")
    page.workspace.unsaid.emit(new_override(*key, A, None, "Ada"))
    assert page.list.queue.text.text().startswith("0 of 30")


def test_a_random_sample_of_one_criterion_is_gone_through_on_that_criterion(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page = on_relevance
    choose_criterion(qtbot, page, RELEVANCE, ListOrder.RANDOM)
    for row in range(2):
        page.list._go(row)
        press(qtbot, page, "A")
    labels(qtbot, page, reviews)
    choose_criterion(qtbot, page, NATURALNESS, ListOrder.RANDOM)
    page.list._go(1)
    press(qtbot, page, "B")
    labels(qtbot, page, reviews)
    given = reviews()
    origins = [(each.criterion, each.origin) for each in given.overrides]
    origins += [(each.criterion, each.origin) for each in given.confirmations]
    assert sorted(origins) == [(NATURALNESS, Origin.CHOSEN), *[(RELEVANCE, Origin.RANDOM)] * 2]


# Going on by itself


def test_the_list_goes_on_by_itself_after_a_label_of_the_chosen_criterion(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page = on_relevance
    press(qtbot, page, "A")
    assert current(page) == "1"
    go_on_by_itself(page)
    press(qtbot, page, "BGA")
    assert labels(qtbot, page, reviews) == {
        "1": [(RELEVANCE, B)],
        "2": [(RELEVANCE, GOOD)],
        "3": [(RELEVANCE, A)],
    }
    assert (current(page), page.session.criterion) == ("4", RELEVANCE)


def test_without_a_chosen_criterion_it_goes_on_after_the_last_open_one(
    qtbot: QtBot, page: ReviewPage, blind: bool, reviews: Callable[[], Reviews]
) -> None:
    page.reviewer.switch_blind(blind)
    qtbot.waitUntil(lambda: not page.list._listing.busy)
    go_on_by_itself(page)
    item = current(page)
    press(qtbot, page, "3ABGA")
    assert current(page) == item
    press(qtbot, page, "B")
    assert current(page) != item
    assert len(labels(qtbot, page, reviews)[item]) == 5
    assert reviews().state(item, "Ada") is ReviewState.DONE


def test_undo_after_going_on_by_itself_is_of_the_item_that_was_left(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page, notes = on_relevance, received(on_relevance)
    go_on_by_itself(page)
    press(qtbot, page, "AB")
    assert labels(qtbot, page, reviews).keys() == {"1", "2"}
    assert page.desk.card.buttons.undo.isEnabled()
    press(qtbot, page, "U")
    assert (current(page), page.session.criterion) == ("2", RELEVANCE)
    assert notes[-1].endswith("(item 2).")
    assert labels(qtbot, page, reviews).keys() == {"1"}
    press(qtbot, page, "U")
    assert current(page) == "1"
    assert labels(qtbot, page, reviews) == {}
    press(qtbot, page, "U")
    assert notes[-1] == "There is nothing of yours on this item to undo."
    press(qtbot, page, "GJKU")  # who went elsewhere himself is not led away
    assert current(page) == "2"
    assert labels(qtbot, page, reviews) == {"1": [(RELEVANCE, GOOD)]}


def test_undo_after_the_last_criterion_opens_the_item_again(
    qtbot: QtBot, page: ReviewPage, blind: bool, reviews: Callable[[], Reviews]
) -> None:
    page.reviewer.switch_blind(blind)
    qtbot.waitUntil(lambda: not page.list._listing.busy)
    go_on_by_itself(page)
    item, criteria = current(page), page.session.criteria
    press(qtbot, page, "1ABGAB")
    press(qtbot, page, "U")
    assert (current(page), page.session.criterion) == (item, criteria[-1])
    assert [criterion for criterion, _ in labels(qtbot, page, reviews)[item]] == list(criteria[:-1])
    assert reviews().state(item, "Ada") is ReviewState.TO_DO


def test_at_the_last_item_to_do_it_stays_and_says_so(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page, notes = on_relevance, received(on_relevance)
    go_on_by_itself(page)
    page.list.filters.search.setText("1")
    with qtbot.waitSignal(page.list.listed):
        page.list.filters.search.returnPressed.emit()
    shown = page.list.shown
    assert 1 < shown < 30
    page.list._go(shown - 1)
    press(qtbot, page, "A" * shown)
    assert len(labels(qtbot, page, reviews)) == shown
    assert notes[-1] == "No item is left to do by this filter."
    item = current(page)
    press(qtbot, page, "U")
    assert (current(page), item in labels(qtbot, page, reviews)) == (item, False)


def test_a_submission_is_gone_through_on_one_criterion(qtbot: QtBot, page: ReviewPage, store: Path) -> None:
    run_id = open_panel(qtbot, page, store)
    choose_criterion(qtbot, page, RELEVANCE)
    go_on_by_itself(page)
    page.list.choose("1")
    press(qtbot, page, "AB")
    qtbot.waitUntil(lambda: page.workspace.words.count == 0)
    with RunStore(store) as opened:
        given = load_reviews(opened, run_id).labels["Ada"]
    assert given.keys() == {JudgmentKey("1", RELEVANCE), JudgmentKey("2", RELEVANCE)}


def test_a_double_click_labels_or_confirms_one_item(
    qtbot: QtBot, on_relevance: ReviewPage, blind: bool, reviews: Callable[[], Reviews]
) -> None:
    page = on_relevance
    go_on_by_itself(page)
    with qtbot.waitActive(page):
        page.activateWindow()
    given = labels(qtbot, page, reviews)
    for button in (page.desk.card.buttons.labels[B], page.list.queue.confirm):
        items = 0 if blind and button is page.list.queue.confirm else 1
        spot = button.mapTo(page, button.rect().center())
        QTest.mouseDClick(
            page.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot
        )
        before, given = given, labels(qtbot, page, reviews)
        assert len(given) - len(before) == items


def test_a_key_that_is_held_labels_and_confirms_one_item(
    qtbot: QtBot, on_relevance: ReviewPage, reviews: Callable[[], Reviews]
) -> None:
    page = on_relevance
    go_on_by_itself(page)
    shortcuts = {found.key().toString(): found for found in page.findChildren(QShortcut)}
    assert not any(shortcuts[key].autoRepeat() for key in ("A", "B", "G", "X", "S", "Return", "Enter"))
    for key, name in ((Qt.Key.Key_A, "A"), (Qt.Key.Key_S, "S")):
        for time in (1000, 1033, 1066):  # as X11 tells of it, each release and the next press at one time
            for kind in (QEvent.Type.KeyRelease, QEvent.Type.ShortcutOverride):
                told = QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier)
                told.setTimestamp(time)
                QApplication.sendEvent(page, told)
            shortcuts[name].activated.emit()
    assert (labels(qtbot, page, reviews), reviews().marks) == ({}, ())
    press(qtbot, page, "AB")
    assert labels(qtbot, page, reviews).keys() == {"1", "2"}


def test_what_follows_a_label_is_remembered(qtbot: QtBot, page: ReviewPage) -> None:
    notes = received(page)
    press(qtbot, page, "LL")
    assert notes == [
        "After a label: go to the next unlabelled criterion.",
        "After a label: go to the next criterion, then the next item.",
    ]
    assert page.workspace.state.text(NEXT_CRITERION) == NEXT_ITEM
    press(qtbot, page, "L")
    assert notes[-1] == "After a label: stay on the criterion."


def test_opened_again_it_goes_on_where_the_chosen_criterion_is_to_do(
    qtbot: QtBot, workspace: Workspace, on_relevance: ReviewPage, open_page: Open
) -> None:
    go_on_by_itself(on_relevance)
    press(qtbot, on_relevance, "AB")
    qtbot.waitUntil(lambda: workspace.words.count == 0)
    on_relevance.keep_layout()
    on_relevance.hide()
    again = open_page()
    qtbot.waitUntil(lambda: again.list.shown == 30)
    assert (current(again), again.session.criterion) == ("3", RELEVANCE)
