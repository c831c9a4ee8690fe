"""Labels one after the other: which judgment each key is of, whatever lies between, and who adjudicates.

One criterion is chosen above the list, or the list goes on by itself; another annotator labels, a list is
still made, the store is busy, a run ends.
"""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from engine.annotations.effective import Reviews
from engine.annotations.records import ListOrder, new_note, new_override, new_review
from engine.core.health import NOT_LOOKED_AT
from engine.core.items import HumanLabel, Preference
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from engine.results.run_results import load_results, load_reviews
from engine.store.run_store import RunStore
from gui.review.judgment_desk import NEXT_ITEM
from gui.workspace.state import NEXT_CRITERION
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open, Page, choose_criterion, open_panel
from tests.gui.steps import pick

A, B, GOOD, BAD = Preference
RELEVANCE, NATURALNESS = "relevance", "naturalness"


@pytest.fixture
def blind() -> bool:
    return False


also_blind = pytest.mark.parametrize("blind", [False, True], ids=["not blind", "blind"])


@pytest.fixture
def on_relevance(page: Page, blind: bool) -> Page:
    """The page with one criterion chosen, in the order of the dataset, at its first item."""
    page.reviewer.switch_blind(blind)
    choose_criterion(page, RELEVANCE)
    page.list.choose("1")
    return page


def go_on_by_itself(page: Page) -> None:
    while page.workspace.state.text(NEXT_CRITERION) != NEXT_ITEM:
        QTest.keyClick(page, Qt.Key.Key_L)


def labels(page: Page) -> dict[str, list[tuple[str, HumanLabel]]]:
    """By item the labels of Ada, each with its criterion, once all that is said is stored."""
    page.until(lambda: page.workspace.words.count == 0 and not page.workspace.words._waiting)
    found: dict[str, list[tuple[str, HumanLabel]]] = {}
    for key, label in page.reviews.labels.get("Ada", {}).items():
        found.setdefault(key.item_id, []).append((key.criterion, label))
    return found


@also_blind
def test_each_label_and_enter_is_of_the_chosen_criterion_of_another_item(
    on_relevance: Page, blind: bool
) -> None:
    page, items, notes = on_relevance, [], on_relevance.told()
    for key in "ABG":
        items.append(page.item)
        page.press(key)
        page.confirm()
    assert items == ["1", "2", "3"]
    given = {"1": [(RELEVANCE, A)], "2": [(RELEVANCE, B)], "3": [(RELEVANCE, GOOD)]}
    assert labels(page) == given
    assert page.reviews.state("1", "Ada") is ReviewState.TO_DO
    assert page.list.queue.text.text() == "3 of 30 done on relevance, 27 left"
    effective = page.session.effective_labels()[RELEVANCE]
    page.confirm()  # without a label of his own
    if blind:
        assert notes[-1] == "Label it first: relevance."
        assert (page.item, page.session.criterion) == ("4", RELEVANCE)
    else:
        assert page.item == "5"
        assert labels(page) == {**given, "4": [(RELEVANCE, effective)]}
    choose_criterion(page, NATURALNESS)
    assert page.list.queue.text.text() == "0 of 30 done on naturalness, 30 left"


@also_blind
def test_the_last_criterion_of_an_item_closes_it_for_all_of_them(on_relevance: Page) -> None:
    page = on_relevance
    for criterion in page.session.criteria:
        choose_criterion(page, criterion)
        page.list.choose("1")
        page.press("A")
        page.confirm()
    assert len(labels(page)["1"]) == 5
    assert page.reviews.state("1", "Ada") is ReviewState.DONE
    assert page.list.queue.text.text().startswith("1 of 30 done on ")


def test_a_label_of_the_chosen_criterion_is_taken_back_by_u_and_not_by_t_nor_counted_if_it_is_not_kept(
    on_relevance: Page,
) -> None:
    page, notes, text = on_relevance, on_relevance.told(), on_relevance.list.queue.text
    page.press("S")
    page.list.choose("1")
    assert text.text() == "0 of 30 done on relevance, 1 skipped, 29 left"
    page.press("TA")
    assert labels(page) == {"1": [(RELEVANCE, A)]}
    assert page.list.queue.again.isHidden()
    page.press("T")
    assert notes[-1] == "You have labelled relevance: U undoes that, another label replaces it."
    page.press("U")
    assert labels(page) == {}
    assert text.text() == "0 of 30 done on relevance, 30 left"
    key = JudgmentKey("2", RELEVANCE)
    page.reviewer.blind.given[key] = A
    page.reviewer.progress._follow("2")
    assert text.text().startswith("1 of 30")
    page.workspace.unsaid.emit(new_override(*key, A, None, "Ada"))
    assert text.text().startswith("0 of 30")


def test_a_random_sample_of_one_criterion_is_gone_through_on_that_criterion(on_relevance: Page) -> None:
    page = on_relevance
    choose_criterion(page, RELEVANCE, ListOrder.RANDOM)
    for row in range(2):
        page.list._go(row)
        page.press("A")
    labels(page)
    choose_criterion(page, NATURALNESS, ListOrder.RANDOM)
    page.list._go(1)
    page.press("B")
    labels(page)
    given = page.reviews
    origins = [(each.criterion, each.origin) for each in given.overrides]
    origins += [(each.criterion, each.origin) for each in given.confirmations]
    assert sorted(origins) == [(NATURALNESS, Origin.CHOSEN), *[(RELEVANCE, Origin.RANDOM)] * 2]


@also_blind
def test_the_list_goes_on_by_itself_after_a_label_and_undo_is_of_the_item_that_was_left(
    on_relevance: Page,
) -> None:
    page, notes = on_relevance, on_relevance.told()
    page.press("A")
    assert page.item == "1"
    page.press("U")
    go_on_by_itself(page)
    page.press("AB")
    assert (page.item, page.session.criterion) == ("3", RELEVANCE)
    assert labels(page) == {"1": [(RELEVANCE, A)], "2": [(RELEVANCE, B)]}
    assert page.desk.card.buttons.undo.isEnabled()
    page.press("U")
    assert (page.item, page.session.criterion) == ("2", RELEVANCE)
    assert notes[-1].endswith("(item 2).")
    assert labels(page).keys() == {"1"}
    page.press("U")
    assert page.item == "1"
    assert labels(page) == {}
    page.press("U")
    assert notes[-1] == "There is nothing of yours on this item to undo."
    page.press("GJKU")  # who went elsewhere himself is not led away
    assert page.item == "2"
    assert labels(page) == {"1": [(RELEVANCE, GOOD)]}


@also_blind
def test_without_a_chosen_criterion_it_goes_on_after_the_last_open_one_which_undo_opens_again(
    page: Page, blind: bool
) -> None:
    page.reviewer.switch_blind(blind)
    page.until(lambda: not page.list._listing.busy)
    go_on_by_itself(page)
    item, criteria = page.item, page.session.criteria
    page.press("3ABGA")
    assert page.item == item
    page.press("B")
    assert page.item != item
    assert len(labels(page)[item]) == 5
    assert page.reviews.state(item, "Ada") is ReviewState.DONE
    page.press("U")
    assert (page.item, page.session.criterion) == (item, criteria[1])
    assert {criterion for criterion, _ in labels(page)[item]} == {*criteria} - {criteria[1]}
    assert page.reviews.state(item, "Ada") is ReviewState.TO_DO


def test_at_the_last_item_to_do_it_stays_and_says_so(on_relevance: Page) -> None:
    page, notes = on_relevance, on_relevance.told()
    go_on_by_itself(page)
    page.list.filters.search.setText("1")
    with on_relevance.signal(page.list.listed):
        page.list.filters.search.returnPressed.emit()
    shown = page.list.shown
    assert 1 < shown < 30
    page.list._go(shown - 1)
    page.press("A" * shown)
    assert len(labels(page)) == shown
    assert notes[-1] == "No item is left to do by this filter."
    item = page.item
    page.press("U")
    assert (page.item, item in labels(page)) == (item, False)


def test_a_submission_is_gone_through_on_one_criterion(page: Page) -> None:
    run_id = open_panel(page.qtbot, page)
    choose_criterion(page, RELEVANCE)
    go_on_by_itself(page)
    page.list.choose("1")
    page.press("AB")
    page.until(lambda: page.workspace.words.count == 0)
    with RunStore(page.store) as opened:
        given = load_reviews(opened, run_id).labels["Ada"]
    assert given.keys() == {JudgmentKey("1", RELEVANCE), JudgmentKey("2", RELEVANCE)}


@also_blind
def test_a_double_click_labels_or_confirms_one_item(on_relevance: Page, blind: bool) -> None:
    page = on_relevance
    go_on_by_itself(page)
    with on_relevance.qtbot.waitActive(page):
        page.activateWindow()
    given = labels(page)
    for button in (page.desk.card.buttons.labels[B], page.list.queue.confirm):
        items = 0 if blind and button is page.list.queue.confirm else 1
        spot = button.mapTo(page, button.rect().center())
        QTest.mouseDClick(
            page.windowHandle(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot
        )
        before, given = given, labels(page)
        assert len(given) - len(before) == items


def test_a_key_that_is_held_labels_and_confirms_one_item(on_relevance: Page) -> None:
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
    assert (labels(page), page.reviews.marks) == ({}, ())
    page.press("AB")
    assert labels(page).keys() == {"1", "2"}


def test_what_follows_a_label_is_remembered(page: Page) -> None:
    notes = page.told()
    page.press("LL")
    assert notes == [
        "After a label: go to the next unlabelled criterion.",
        "After a label: go to the next criterion, then the next item.",
    ]
    assert page.workspace.state.text(NEXT_CRITERION) == NEXT_ITEM
    page.press("L")
    assert notes[-1] == "After a label: stay on the criterion."
    assert page.reviewer.adjudicate_button.isHidden()  # nobody differs
    with RunStore(page.store) as opened:
        opened.annotate(1, new_review("2", "Ada", confirmed={"safety": A}))
        opened.annotate(1, new_review("2", "Ben", confirmed={"safety": B}))
    assert page.reviews.differing == {JudgmentKey("2", "safety")}
    assert page.reviews.proposed(JudgmentKey("2", "safety")) is None


def test_opened_again_it_goes_on_where_the_chosen_criterion_is_to_do(
    workspace: Workspace, on_relevance: Page, open_page: Open
) -> None:
    go_on_by_itself(on_relevance)
    on_relevance.press("AB")
    on_relevance.until(lambda: workspace.words.count == 0)
    on_relevance.left()
    again = open_page()
    on_relevance.until(lambda: again.list.shown == 30)
    assert (again.item, again.session.criterion) == ("3", RELEVANCE)


def reviews(page: Page) -> Reviews:
    page.until(lambda: page.workspace.words.count == 0)
    page.until(lambda: not page.list._listing.busy and not page.list._reading.busy)
    with RunStore(page.workspace.store_path) as opened:
        return load_reviews(opened, 1)


def test_going_on_by_itself_agrees_with_nobody_else(page: Page) -> None:
    item, criteria = page.item, page.session.criteria
    for name in criteria[:4]:
        page.workspace.say(new_override(item, name, A, None, "Ada"))
        reviews(page)
    page.workspace.say(new_override(item, criteria[0], B, None, "Ben"))
    reviews(page)
    go_on_by_itself(page)
    page.press("5X")
    assert reviews(page).labels["Ada"][JudgmentKey(item, criteria[0])] is A
    assert page.item != item


def test_a_label_of_the_moment_in_which_a_criterion_was_chosen_is_of_no_random_sample(page: Page) -> None:
    choose_criterion(page, RELEVANCE, ListOrder.RANDOM)
    page.press("A")
    reviews(page)
    page.list.view.setCurrentIndex(page.list.table.index(1, 0))
    pick(page.list.filters.criterion, NATURALNESS)
    page.press("B")
    (given,) = [each for each in reviews(page).overrides if each.criterion == NATURALNESS]
    assert given.origin is Origin.CHOSEN  # the item above has no label on this criterion


def test_what_is_settled_is_no_label_of_whoever_settles(page: Page) -> None:
    page.list.choose("1")
    for label, author in ((A, "Cy"), (B, "Ben")):
        page.workspace.say(new_override("1", RELEVANCE, label, None, author))
        reviews(page)
    page.reviewer.adjudicate_button.setChecked(True)
    reviews(page)
    page.list.choose("1")
    page.desk.choose_criterion(RELEVANCE)
    page.press("G")
    reviews(page)
    page.reviewer.adjudicate_button.setChecked(False)
    choose_criterion(page, RELEVANCE)
    assert page.list.queue.text.text().startswith("0 of")


def test_while_the_list_is_made_all_keys_are_of_the_criterion_that_was_chosen_and_undo_leaves_what_waits(
    on_relevance: Page,
) -> None:
    page = on_relevance
    go_on_by_itself(page)
    pick(page.list.filters.criterion, NATURALNESS)
    page.press("AB")
    assert labels(page) == {"1": [(NATURALNESS, A)], "2": [(NATURALNESS, B)]}
    with RunStore(page.workspace.store_path) as store, store._file.writing():
        page.press("GABU")
        assert page.reviewer.blind.given.keys() >= {JudgmentKey(item, NATURALNESS) for item in ("3", "4")}


def test_a_run_that_ended_waits_for_whoever_labels_until_another_window_deletes_it(
    page: Page,
) -> None:
    space, ended = page.workspace, open_panel(page.qtbot, page)
    space.open_run(1)
    page.until(lambda: space.run is not None and space.run.id == 1)
    reviews(page)
    space.reviewing = False
    space.tell_begun()
    space.tell_ended(ended, "has finished", NOT_LOOKED_AT)
    space.reviewing = True
    page.press("A")
    page.until(lambda: space.offered == ended)
    assert space.run.id == 1
    space.refresh_runs()
    page.until(lambda: ended in [run.id for run in space.runs])
    with RunStore(page.store) as opened:
        opened.delete([ended])
    space.refresh_runs()
    page.until(lambda: space.offered is None)


SAID = {  # by item and criterion, what Ada, Ben and Cleo say
    ("3", "safety"): (A, A, B),
    ("5", "safety"): (A, B, None),
    ("5", "relevance"): (GOOD, GOOD, BAD),
    ("8", "safety"): (B, B, B),
}


@pytest.fixture
def annotators(page: Page) -> Page:
    """The page once three people labelled four judgments, and Dora looks."""
    with RunStore(page.store) as opened:
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
    with page.signal(page.workspace.run_changed):
        page.workspace.read_run_again()
    page.until(lambda: page.list.shown == 30 and page.reviewer.adjudicate_button.isVisible())
    return page


def begin(page: Page) -> None:
    page.reviewer.adjudicate_button.click()
    page.until(lambda: page.list.table.item_at(0).item_id in {"3", "5"})
    look_at(page, "3")


def look_at(page: Page, item: str) -> None:
    page.list.choose(item)
    page.until(lambda: page.session.item_id == item)
    page.desk.choose_criterion("safety")


SAID_BY = ("Ada", "Ben", "Cleo")


@pytest.mark.slow
def test_enter_settles_as_most_people_say_and_goes_on(annotators: Page, store: Path) -> None:
    begin(annotators)
    assert annotators.list.queue.text.text() == "0 of 3 adjudicated"
    annotators.confirm()
    annotators.until(lambda: annotators.list.queue.text.text() == "1 of 3 adjudicated")
    annotators.until(
        lambda: annotators.session.key == JudgmentKey("5", "safety") or annotators.session.item_id == "5"
    )
    annotators.desk.choose_criterion("safety")
    annotators.confirm()  # one says A, the other B: nothing is settled by that
    assert len(annotators.reviews.adjudicated) == 1
    annotators.press("B")
    annotators.until(lambda: annotators.list.queue.text.text() == "2 of 3 adjudicated")
    annotators.confirm()  # it is settled: on to the next
    annotators.until(lambda: annotators.session.key == JudgmentKey("5", "relevance"))
    annotators.confirm()
    annotators.until(lambda: annotators.list.queue.text.text() == "3 of 3 adjudicated")
    found = {key: (each.preference, each.label_by) for key, each in annotators.reviews.adjudicated.items()}
    assert found == {
        JudgmentKey("3", "safety"): (A, ("Dora",)),
        JudgmentKey("5", "safety"): (B, ("Dora",)),
        JudgmentKey("5", "relevance"): (GOOD, ("Dora",)),
    }
    assert "Dora" not in annotators.reviews.labels  # what she settled is no label of hers


@pytest.mark.slow
def test_what_is_settled_is_locked_for_others_until_it_is_taken_back(annotators: Page, store: Path) -> None:
    begin(annotators)
    annotators.confirm()
    annotators.until(lambda: annotators.list.queue.text.text() == "1 of 3 adjudicated")
    annotators.reviewer.adjudicate_button.click()
    annotators.workspace.set_author("Ben")
    look_at(annotators, "3")
    with annotators.signal(annotators.workspace.note) as told:
        annotators.press("G")
    assert told.args == ["Dora adjudicated this label: use Adjudicate to change it."]
    assert "Adjudicated: label A by Dora" in annotators.desk.card.by.text()
    annotators.workspace.set_author("Dora")
    annotators.say("U")
    assert annotators.reviews.adjudicated == {}


def test_each_person_stands_beside_the_others_with_text_and_note_and_who_settles_is_not_blind(
    annotators: Page,
) -> None:
    annotators.reviewer.blind_button.click()
    begin(annotators)
    assert not annotators.reviewer.blind.on
    found = [each for each in annotators.beside.columns.texts if each.system in SAID_BY]
    assert [(each.system, each.label, each.text, each.remark) for each in found] == [
        ("Ada", A, None, ""),
        ("Ben", A, None, "Note: Look at the dose."),
        ("Cleo", B, "Cleo says why.", ""),
    ]
    [ben] = [each for each in found if each.system == "Ben"]
    assert [word for word, *_ in ben.marks] == ["blind", "dose"]
    own = annotators.beside.columns.own.shown
    assert own.system == "To adjudicate"
    assert own.remark.startswith("Majority: A (2 of 3)")
    run = annotators.workspace.run.results
    annotators.workspace.note_item(run.content_hashes["3"], "So it is.", [])
    annotators.until(lambda: "Note: So it is." in [each.remark for each in annotators.beside.columns.texts])
    annotators.reviewer.blind_button.click()
    assert not annotators.reviewer.adjudicate_button.isChecked()
    assert not annotators.session.adjudicating


def test_enter_is_named_as_what_it_does_once_nobody_adjudicates_any_more(annotators: Page) -> None:
    begin(annotators)
    confirm = annotators.list.queue.confirm
    assert confirm.text() == "Majority (Enter)"
    annotators.reviewer.adjudicate_button.click()
    assert confirm.text() == "Accept (Enter)"
