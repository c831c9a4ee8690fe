"""What lies between: another annotator's label, a list that is still made, a busy store, a run that ends."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from engine.annotations.effective import Reviews
from engine.annotations.records import ListOrder, new_override
from engine.core.health import NOT_LOOKED_AT
from engine.core.judgments import JudgmentKey, Origin
from engine.results.run_results import load_reviews
from engine.store.run_store import RunStore
from gui.review.review_page import ReviewPage
from tests.gui.review.steps import current, open_panel, press
from tests.gui.review.test_one_criterion import (
    NATURALNESS,
    RELEVANCE,
    A,
    B,
    choose_criterion,
    go_on_by_itself,
)


def reviews(qtbot: QtBot, page: ReviewPage) -> Reviews:
    """What people have said of run 1, once all of it is stored and shown."""
    qtbot.waitUntil(lambda: page.workspace.words.count == 0)
    qtbot.waitUntil(lambda: not page.list._listing.busy and not page.list._reading.busy)
    with RunStore(page.workspace.store_path) as opened:
        return load_reviews(opened, 1)


def test_going_on_by_itself_agrees_with_nobody_else(qtbot: QtBot, page: ReviewPage) -> None:
    item, criteria = current(page), page.session.criteria
    for name in criteria[:4]:
        page.workspace.say(new_override(item, name, A, None, "Ada"))
        reviews(qtbot, page)
    page.workspace.say(new_override(item, criteria[0], B, None, "Ben"))
    reviews(qtbot, page)
    go_on_by_itself(page)
    press(qtbot, page, "5X")
    assert reviews(qtbot, page).labels["Ada"][JudgmentKey(item, criteria[0])] is A
    assert current(page) != item


def test_while_the_list_is_made_all_keys_are_of_the_criterion_that_was_chosen(
    qtbot: QtBot, page: ReviewPage
) -> None:
    choose_criterion(qtbot, page, RELEVANCE)
    page.list.choose("1")
    go_on_by_itself(page)
    box = page.list.filters.criterion
    box.setCurrentIndex(box.findData(NATURALNESS))
    box.activated.emit(box.currentIndex())
    press(qtbot, page, "AB")
    assert {key.criterion for key in reviews(qtbot, page).labels["Ada"]} == {NATURALNESS}


def test_a_label_of_the_moment_in_which_a_criterion_was_chosen_is_of_no_random_sample(
    qtbot: QtBot, page: ReviewPage
) -> None:
    choose_criterion(qtbot, page, RELEVANCE, ListOrder.RANDOM)
    press(qtbot, page, "A")
    reviews(qtbot, page)
    page.list.view.setCurrentIndex(page.list.table.index(1, 0))
    box = page.list.filters.criterion
    box.setCurrentIndex(box.findData(NATURALNESS))
    box.activated.emit(box.currentIndex())
    press(qtbot, page, "B")
    said = reviews(qtbot, page)
    (given,) = [each for each in said.overrides if each.criterion == NATURALNESS]
    assert given.origin is Origin.CHOSEN  # the item above has no label on this criterion


def test_what_is_settled_is_no_label_of_whoever_settles(qtbot: QtBot, page: ReviewPage) -> None:
    page.list.choose("1")
    for label, author in ((A, "Cy"), (B, "Ben")):
        page.workspace.say(new_override("1", RELEVANCE, label, None, author))
        reviews(qtbot, page)
    page.reviewer.adjudicate_button.setChecked(True)
    reviews(qtbot, page)
    page.list.choose("1")
    page.desk.choose_criterion(RELEVANCE)
    press(qtbot, page, "G")
    reviews(qtbot, page)
    page.reviewer.adjudicate_button.setChecked(False)
    choose_criterion(qtbot, page, RELEVANCE)
    assert page.list.queue.text.text().startswith("0 of")


def test_undo_leaves_the_other_labels_that_wait_for_the_store(qtbot: QtBot, page: ReviewPage) -> None:
    choose_criterion(qtbot, page, RELEVANCE)
    page.list.choose("1")
    go_on_by_itself(page)
    with RunStore(page.workspace.store_path) as store, store._file.writing():
        press(qtbot, page, "ABG")
        press(qtbot, page, "U")
        assert page.reviewer.blind.given >= {JudgmentKey("1", RELEVANCE), JudgmentKey("2", RELEVANCE)}


def beside_run_1(qtbot: QtBot, page: ReviewPage, store: Path) -> int:
    """Another run of the store, while run 1 is the open one; its number."""
    space, other = page.workspace, open_panel(qtbot, page, store)
    space.open_run(1)
    qtbot.waitUntil(lambda: space.run is not None and space.run.id == 1)
    return other


def test_a_run_that_ended_waits_for_whoever_began_to_label_while_it_was_read(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    space, ended = page.workspace, beside_run_1(qtbot, page, store)
    reviews(qtbot, page)
    space.reviewing = False
    space.tell_begun()
    space.tell_ended(ended, "has finished", NOT_LOOKED_AT)
    space.reviewing = True
    press(qtbot, page, "A")
    qtbot.waitUntil(lambda: space.offered == ended)
    assert space.run is not None
    assert space.run.id == 1


def test_a_run_that_another_window_deletes_is_offered_no_more(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    space, ended = page.workspace, beside_run_1(qtbot, page, store)
    space.refresh_runs()
    qtbot.waitUntil(lambda: ended in [run.id for run in space.runs])
    space._offer(ended)
    with RunStore(store) as opened:
        opened.delete([ended])
    space.refresh_runs()
    qtbot.waitUntil(lambda: space.offered is None)
