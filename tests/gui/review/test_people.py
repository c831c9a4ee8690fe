"""Several people on the Review page: states, confirmed labels, names, blind labels, notes and tags."""

import json
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QWidget
from pytestqt.qtbot import QtBot

from engine.analysis.review_order import by_item
from engine.annotations.effective import Reviews
from engine.annotations.records import Filters, ListOrder, WantedItems, new_review
from engine.core.items import PREFERENCES, HumanLabel, Preference
from engine.core.judgments import JudgmentKey, Origin, ReviewState
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.data.label_origins import in_drawn_order
from engine.results.completeness import begin_by_hand, random_part
from engine.results.exports import as_json
from engine.results.run_results import load_results, load_reviews
from engine.settings.sampling import DEFAULT_SEED, LARGEST_SEED, hidden_place
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset
from gui.review.annotators import NoteDialog
from gui.review.filter_bar import SeedDialog
from gui.review.review_table import HIDDEN, LABELS, MARKS, STATE, UNCERTAINTY
from gui.widgets.views import SORT_ROLE
from gui.workspace.state import HIDDEN_SHARE
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace
from tests.full_disk import disk_that_holds
from tests.gui.review.steps import KEYS, Open, Page, add_run, wanted_elsewhere
from tests.gui.steps import pick
from tests.gui.window.test_words import held

LONG = "W" * 255
limits_files = pytest.mark.skipif(sys.platform == "win32", reason="has no limit for the size of files")


def labels(page: Page, item_id: str) -> list[str]:
    return list(page.cell(item_id, LABELS, SORT_ROLE))


def test_enter_confirms_all_labels_in_force_and_goes_on(page: Page) -> None:
    first, criterion = page.item, page.session.criterion
    effective = dict(page.session.effective_labels())
    other = next(label for label in PREFERENCES if label is not effective[criterion])
    page.press(KEYS[other])
    page.enter()  # at once: the label that was asked for is the one that is confirmed
    page.until(lambda: len(page.reviews.confirmations) == 5)
    given = page.reviews.labels["Ada"]
    assert {name: given[JudgmentKey(first, name)] for name in effective} == {**effective, criterion: other}
    assert len(page.overrides) == 1
    assert page.reviews.state(first, "Ada") is ReviewState.DONE
    assert page.item != first
    assert page.cell(first, STATE) == "✓"
    assert page.list.queue.text.text() == "1 of 30 done, 29 left"


def test_s_skips_t_takes_back_and_the_queue_ends_and_says_so(page: Page) -> None:
    first, text = page.item, page.list.queue.text
    page.say("S")
    assert (page.cell(first, STATE), text.text()) == ("»", "0 of 30 done, 1 skipped, 29 left")
    assert page.reviews.confirmations == ()
    page.press("K")
    assert page.item == first
    assert not page.list.queue.again.isHidden()
    page.say("T")
    assert (page.cell(first, STATE), text.text()) == ("", "0 of 30 done, 30 left")
    assert page.item == first
    page.list.filters.search.setText(page.item)
    page.list.filters.search.returnPressed.emit()
    page.until(lambda: page.list.shown < 30)
    shown = page.list.shown
    page.list.take_focus()
    for left in range(shown - 1, 0, -1):
        page.enter()
        assert text.text().endswith(f"{left} left by this filter")
    with page.hears("No item is left"):
        page.confirm()
    page.until(lambda: len({mark.item_id for mark in page.reviews.marks}) == shown)


def test_the_list_is_filtered_by_state_and_the_name_is_not_looked_up_for_each_item(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    state, first = page.workspace.state, page.item
    text = state.text

    def look_up(key: str) -> str:
        looked_up.append(key)
        return text(key)

    monkeypatch.setattr(state, "text", look_up)
    page.enter()
    after_enter = looked_up.count("author")
    assert after_enter < page.list.shown
    second = page.item
    pick(page.list.annotators.state, ReviewState.TO_DO)
    page.until(lambda: page.list.shown == 29)
    assert looked_up.count("author") - after_enter < page.list.shown
    pick(page.list.annotators.state, ReviewState.DONE)
    page.until(lambda: page.list.shown == 1)
    assert page.list.table.row_of(first) == 0
    pick(page.list.annotators.state, ReviewState.TO_DO)
    page.until(lambda: page.list.shown == 29)
    page.list.choose(second)
    page.enter()
    assert page.list.shown == 29  # it stays in its place until the list is made again
    assert page.list.queue.text.text() == "2 of 30 done, 28 left by this filter"


def narrow_to(page: Page, box: QComboBox, data: str) -> None:
    pick(box, data)
    page.until(lambda: page.list.shown == 1)


def list_some(page: Page) -> None:
    wanted = WantedItems(1, Filters(ids=frozenset({"1", "2", "3"})), "three")
    page.workspace.listing_wanted.emit(wanted)


def test_a_set_that_is_wanted_is_listed_once_its_annotator_is_not_blind_any_more(page: Page) -> None:
    line = page.list.wanted_line
    page.listing(page.reviewer.blind_button.click)
    page.listing(lambda: list_some(page))
    assert (page.list.shown, line.isVisible(), line.show_all.isVisible()) == (30, True, False)
    assert "blind" in line.text.text()
    page.listing(page.reviewer.blind_button.click)
    assert (page.list.shown, line.text.text(), line.show_all.isVisible()) == (3, "3 items: three", True)


def test_clear_show_all_and_a_wanted_set_leave_a_persons_filters_too(page: Page) -> None:
    annotators, clear = page.list.annotators, page.list.filters.clear_all
    note(page, "", "odd")
    page.enter()
    for box, data in ((annotators.state, "done"), (annotators.tag, "odd")):
        assert clear.isHidden()
        narrow_to(page, box, data)
        assert not clear.isHidden()  # it counts though nothing else is filtered
        clear.click()
        page.until(lambda: page.list.shown == 30)
        assert (annotators.narrows, clear.isHidden()) == (False, True)
        narrow_to(page, box, data)
        list_some(page)
        page.until(lambda: page.list.shown == 3)
        assert not annotators.narrows
        pick(page.list.annotators.state, ReviewState.SKIPPED)
        page.until(lambda: page.list.shown == 0)
        page.list.wanted_line.show_all.click()
        page.until(lambda: page.list.shown == 30)


@pytest.mark.parametrize("blind", [False, True])
def test_a_wanted_sample_is_listed_in_its_order_and_goes_on_at_random_without_what_is_labelled(
    page: Page, blind: bool
) -> None:
    if blind:
        page.listing(page.reviewer.blind_button.click)
    drawn = drawn_by(page)
    first, second, third, fourth, *_others = drawn
    page.list_wanted(WantedItems(1, Filters(), "the sample", ListOrder.RANDOM))
    assert [item.item_id for item in page.list.table.listing.items] == drawn
    assert page.item == first
    assert ("the sample" in page.list.wanted_line.text.text()) is not blind
    request = Filters(criterion="safety", labelled=frozenset({first, third}))
    page.list_wanted(WantedItems(1, request, "without a label", ListOrder.RANDOM))
    assert page.list.shown == 28
    found = [(page.item, page.session.origin)]
    page.list.step(1)
    found.append((page.item, page.session.origin))
    assert found == [(second, Origin.RANDOM), (fourth, Origin.CHOSEN)]  # the one before is not labelled
    page.list.filters.clear_all.click()
    page.until(lambda: page.list.shown == 30)


def test_opened_again_it_goes_on_at_the_first_item_to_do_or_stays_at_one_that_is_wanted(
    page: Page, open_page: Open
) -> None:
    page.list.filters.choose_order(ListOrder.DATASET)
    page.until(lambda: page.list.table.row_of("1") == 0)
    page.list.choose("1")
    page.enter()
    page.enter()
    page.press("JJJ")
    pick(page.list.annotators.state, ReviewState.TO_DO)
    page.until(lambda: page.list.shown == 28)
    page.left()
    again = open_page()
    page.until(lambda: again.list.shown == 28)
    assert (again.item, again.list.view.currentIndex().row()) == ("3", 0)
    again.hide()
    wanted = wanted_elsewhere(page, "7", "safety")
    assert wanted.item == "7"
    wanted.listing(lambda: wanted.list.filters.choose_order(ListOrder.UNCERTAINTY))
    assert wanted.item == "7"


def test_nothing_is_said_of_the_open_run_while_an_item_of_another_is_shown(page: Page) -> None:
    workspace, second = page.workspace, add_run(page.store)
    item = page.item
    with RunStore(page.store) as opened:
        opened.annotate(second, new_review(item, "Ada", ReviewState.SKIPPED))
    with page.signal(workspace.run_changed):
        workspace.open_run(second)
    assert (page.session.run_id, page.session.item_id) == (1, item)  # the list of the new run is not made yet
    asked: list[str] = []
    page.reviewer.progress.changed.connect(asked.append)
    for key in (Qt.Key.Key_Return, Qt.Key.Key_S, Qt.Key.Key_T):
        page.qtbot.keyClick(page, key)
    assert asked == []
    page.until(lambda: page.session.run_id == second)
    assert page.reviewer.progress.counts[ReviewState.SKIPPED] == 1


def test_space_shows_both_orders_large_but_belongs_to_a_button_and_enter_to_the_search(page: Page) -> None:
    card = page.desk.card
    page.activate()
    page.list.take_focus()
    page.qtbot.keyClick(page, Qt.Key.Key_Space)
    assert not card.body.large.isHidden()
    assert card.body.large.titles == ["A shown first", "B shown first", "Both orders"]
    page.qtbot.keyClick(page, Qt.Key.Key_Space)
    assert card.body.large.isHidden()
    page.list.filters.search.setFocus()
    page.qtbot.keyClick(page.list.filters.search, Qt.Key.Key_Return)
    card.fold.setFocus()
    page.qtbot.keyClick(card.fold, Qt.Key.Key_Space)
    assert page.reviews.marks == ()
    assert card.folded
    assert card.body.large.isHidden()


def test_each_takes_back_only_his_own_and_all_stand_under_a_heading_of_theirs(page: Page) -> None:
    workspace, card = page.workspace, page.desk.card
    assert card.annotators_heading.isHidden()
    page.say("X")
    assert (card.annotators_heading.text(), card.annotators.text()) == (
        "Labels of annotators",
        "Ada: both bad",
    )
    assert not card.annotators_heading.isHidden()
    part = card._parts.itemAt(2)
    layout = part.layout() if part else None
    column = [item.widget() if (item := layout.itemAt(place)) else None for place in range(3)]
    assert column[:2] == [card.annotators_heading, card.annotators]
    assert isinstance(column[2], QLabel)
    assert column[2].text() == "Human label"  # of the dataset
    workspace.set_author("Ben & Co")
    with page.hears("This is Ada's: only Ada can undo it."):
        page.press("U")
    page.say("A")
    assert card.annotators.text() == "Ada: both bad, Ben & Co: A"
    page.say("U")
    assert [(each.author, each.undone is None) for each in page.overrides] == [
        ("Ada", True),
        ("Ben & Co", False),
    ]
    assert card.badge.text == "Both bad"


def test_a_label_does_not_become_that_of_who_explains_nor_a_text_that_of_who_labels(
    page: Page,
) -> None:
    def said() -> list[tuple[str, HumanLabel | None, str | None]]:
        return [(each.author, each.preference, each.explanation) for each in page.overrides]

    bad, good, mine = Preference.BOTH_BAD, Preference.BOTH_GOOD, "Ada's words."
    page.workspace.set_author("Ben")
    page.say("X")
    page.workspace.set_author("Ada")
    page.explain(mine)
    assert said() == [("Ben", bad, None), ("Ada", None, mine)]
    assert list(page.reviews.labels) == ["Ben"]
    assert page.desk.card.badge.text == "Both bad"
    assert page.drafts() == []
    page.workspace.set_author("Cy")
    page.say("X")  # Ben's label, though Ada spoke last
    assert len(page.overrides) == 2
    [confirmed] = page.reviews.confirmations
    assert (confirmed.author, confirmed.preference) == ("Cy", bad)
    page.workspace.set_author("Ada")
    page.say("G")
    page.explain("Ada's other words.")
    assert said()[2:] == [("Ada", good, mine), ("Ada", good, "Ada's other words.")]


def test_what_waits_for_the_store_or_is_being_written_stays_that_of_who_said_it(page: Page) -> None:
    page.press("X")
    page.write("Ada's words.")
    page.workspace.set_author("Ben")
    assert not page.desk.writing
    page.until(lambda: not page.keys.pausing)
    page.explain("Ben's words.")
    said = [(each.author, each.preference, each.explanation) for each in page.overrides]
    assert said == [("Ada", Preference.BOTH_BAD, None), ("Ben", None, "Ben's words.")]
    assert page.drafts() == ["Ada's words."]


@pytest.mark.parametrize("key", [Qt.Key.Key_X, Qt.Key.Key_Return])
def test_what_was_wished_of_one_run_is_not_done_in_another(page: Page, key: Qt.Key) -> None:
    second = add_run(page.store)
    page.workspace.set_author("")
    item = page.item
    page.qtbot.keyClick(page, key)
    dialog = page.reviewer.who.dialog
    page.open_run(second)
    page.list.choose(item)
    page.until(lambda: (page.session.run_id, page.session.item_id) == (second, item))
    dialog.field.setText("Ada")
    with page.hears("Another run is open"):
        dialog.accept()
    with RunStore(page.store) as opened:
        assert [load_reviews(opened, number) for number in (1, second)] == [Reviews(), Reviews()]


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


def test_blind_nothing_is_told_before_the_own_label(page: Page) -> None:
    item, card = page.item, page.desk.card
    explanation, human = card.explanation.text(), card.human.text()
    page.reviewer.blind_button.click()
    page.until(lambda: page.list.table.row_of("1") == 0)  # the order of the dataset
    page.list.choose(item)
    page.press("1")
    assert page.list.view.isColumnHidden(UNCERTAINTY)
    assert labels(page, item) == [HIDDEN] * 5
    row = page.list.table.row_of(item)
    assert page.list.table.index(row, MARKS).data() == ""
    tip = page.list.table.index(row, LABELS).data(Qt.ItemDataRole.ToolTipRole)
    assert tip.count("hidden while you label blind") == 5
    page.qtbot.keyClick(page, Qt.Key.Key_Space)
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
    with page.hears("Label it first (A, B, G or X), then write: you label blind."):
        page.press("E")
    assert not page.desk.writing
    page.press("BAX")  # of a word that was meant for the editor
    assert page.workspace.acts == []


def test_a_blind_label_confirms_or_overrides_shows_its_criterion_alone_and_enter_waits_for_all(
    page: Page,
) -> None:
    page.reviewer.blind_button.click()
    page.press("1")
    item, effective = page.item, page.session.effective_labels()
    page.say(KEYS[Preference(effective["relevance"])])
    assert page.overrides == []
    [confirmed] = page.reviews.confirmations
    assert (confirmed.criterion, confirmed.preference) == ("relevance", effective["relevance"])
    assert page.desk.card.explanation.text() not in ("", "Hidden.")
    assert labels(page, item) == [effective["relevance"], *[HIDDEN] * 4]
    page.press("2")
    assert page.desk.card.explanation.text() == "Hidden."
    other = next(label for label in PREFERENCES if label is not effective["naturalness"])
    page.say(KEYS[other])
    [override] = page.overrides
    assert (override.criterion, override.preference) == ("naturalness", other)
    assert page.desk.card.badge.text.lower().replace(" ", "_") == other.value.lower()
    page.press("3X4X")
    with page.hears("overall quality"):
        page.confirm()
    assert (page.session.criterion, page.item) == ("overall_quality", item)
    page.press("X")
    page.confirm()
    page.until(lambda: page.reviews.state(item, "Ada") is ReviewState.DONE)
    given = page.reviews.labels["Ada"]
    bad = [Preference.BOTH_BAD] * 3
    expected = [effective["relevance"], other, *bad]
    assert [given[JudgmentKey(item, name)] for name in page.session.criteria] == expected
    assert page.item != item


def test_what_is_written_becomes_a_draft_where_it_is_hidden_also_from_who_gives_a_name_to_write(
    page: Page,
) -> None:
    page.press("E")
    text = page.desk.card.editor.text
    page.desk.card.editor.field.setPlainText(f"{text} And mine.")
    page.reviewer.blind_button.click()
    assert not page.desk.writing
    assert text not in everything_said(page.desk)
    assert page.overrides == []
    page.until(lambda: not page.keys.pausing)
    page.say("X")
    page.press("E")
    assert page.desk.card.editor.text == f"{text} And mine."
    page.reviewer.blind_button.click()
    page.press("J")
    page.workspace.set_author("")
    page.press("E")
    dialog = page.reviewer.who.dialog
    page.reviewer.blind_button.click()
    dialog.field.setText("Ben")
    dialog.accept()
    assert not page.desk.writing


def test_an_explanation_leaves_how_its_label_was_given(page: Page) -> None:
    page.listing(page.reviewer.blind_button.click)
    page.press("1")
    label = next(each for each in Preference if each is not page.session.effective_labels()["relevance"])
    page.say(KEYS[label])
    page.explain("Because.")
    page.listing(page.reviewer.blind_button.click)  # now by uncertainty
    page.press("1")
    page.explain("Because of that.")
    how = [(each.preference, each.blind, each.origin) for each in page.overrides]
    assert how == [(label, True, Origin.DATASET)] * 3


def test_blind_is_for_each_person_and_the_side_columns_and_is_remembered(page: Page, open_page: Open) -> None:
    item, human = page.item, page.desk.card.human.text()
    page.beside.set_on(True)
    page.until(page.beside.panel.isVisible)
    assert human in "".join(text.text or "" for text in page.beside.columns.texts)
    page.reviewer.blind_button.click()
    assert {(text.text, text.label) for text in page.beside.columns.texts} == {(None, None)}
    page.reviewer.blind_button.click()
    page.beside.set_on(False)
    page.list.choose(item)
    page.until(lambda: page.item == item)
    page.enter()
    page.reviewer.blind_button.click()
    assert HIDDEN not in labels(page, item)
    page.workspace.set_author("Ben")
    assert labels(page, item) == [HIDDEN] * 5
    page.list.choose(item)
    assert page.desk.card.annotators.text() == ""  # not what Ada said
    page.hide()
    assert open_page().reviewer.blind.on


def test_on_a_random_share_of_the_items_labels_are_hidden_until_the_own_one(page: Page) -> None:
    ids = [item.item_id for item in page.run.results.judged]
    page.workspace.state.set_number(HIDDEN_SHARE, 50)
    page.listing(page.workspace.blind_changed.emit)
    seed = page.run.results.run.review_seed
    hidden = {item_id for item_id in ids if hidden_place(item_id, seed) < 0.5}
    assert 0 < len(hidden) < len(ids)
    assert {item_id for item_id in ids if labels(page, item_id) == [HIDDEN] * 5} == hidden
    first, other = min(hidden), min({*ids} - hidden)
    assert page.list.view.isColumnHidden(UNCERTAINTY)
    page.list.choose(first)
    page.press("1")
    with page.hears("Label it first"):
        page.confirm()
    page.say("X")
    assert page.desk.card.explanation.text() != "Hidden."
    assert labels(page, first)[1:] == [HIDDEN] * 4
    page.list.choose(other)
    page.until(lambda: page.item == other)
    page.enter()
    blind = {(each.item_id, each.blind) for each in (*page.overrides, *page.reviews.confirmations)}
    assert blind == {(first, True), (other, None)}
    assert page.list.filters.more.isHidden()
    with RunStore(page.workspace.store_path) as store:
        by_hand = begin_by_hand(load_dataset(demo_dataset()), ELOQUENT, store)
    page.workspace.open_run(by_hand.id)  # without a judge nothing is hidden
    page.until(lambda: not page.list.filters.more.isHidden())
    assert not page.reviewer.blind.limits
    assert page.reviewer.blind.seen is None


def begin_note(page: Page, text: str, *tags: str) -> NoteDialog:
    dialog = page.note()
    dialog.field.setPlainText(text)
    for tag in tags:
        dialog.tag.setFocus()
        dialog.tag.setText(tag)
        page.qtbot.keyClick(dialog.tag, Qt.Key.Key_Return)
    return dialog


def note(page: Page, text: str, *tags: str) -> None:
    dialog = begin_note(page, text, *tags)
    with page.signal(page.workspace.noted):
        page.save(dialog.field)
    assert page.reviewer.note.dialog is None
    page.activate()


def test_notes_and_tags_are_kept_shown_filtered_and_exported(page: Page) -> None:
    item, width, line = page.item, page.width(), page.reviewer.note
    note(page, "<b>odd</b> wording", "odd", LONG, "odd")
    assert line.text.text() == "<b>odd</b> wording"
    assert [pill.text for pill in line.pills if not pill.isHidden()] == ["odd", f"{'W' * 18}…"]
    assert page.width() == width
    narrow_to(page, page.list.annotators.tag, LONG)
    assert page.item == item
    with RunStore(page.store) as opened:
        exported = json.loads(json.dumps(as_json(load_results(opened, 1))))
    [noted] = [each for each in exported["items"] if each["notes"]]
    assert (noted["id"], noted["tags"], noted["notes"][0]["author"]) == (item, ["odd", LONG], "Ada")
    page.press("N")
    dialog = page.reviewer.note.dialog
    page.until(lambda: dialog.tag.completer().completionCount() == 2)
    dialog.reject()


def test_a_note_is_a_draft_soon_also_while_one_types_on_which_n_opens_again_and_saving_ends(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gui.review.progress.KEEP_MS", 200)
    line, item = page.reviewer.note, page.item
    dialog = begin_note(page, "odd", "hard")
    assert page.type_on(dialog.field)[0].endswith('odd", "hard"]')
    dialog.field.setPlainText("half a thought")
    page.qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert line.dialog is None
    assert "N opens it" in line.begun.toolTip()
    assert page.cell(item, MARKS).endswith("*")
    page.until(lambda: page.drafts() == ['["half a thought", "hard"]'])
    page.activate()
    page.press("JKN")
    dialog = page.reviewer.note.dialog
    assert dialog.written == ("half a thought", ("hard",))
    with page.signal(page.workspace.noted):
        dialog._save()
    page.until(lambda: page.drafts() == [])
    assert (line.begun.isHidden(), "*" in page.cell(item, MARKS)) == (True, False)
    assert (line.note.text, line.note.tags) == ("half a thought", ("hard",))


def test_blind_the_notes_of_others_are_hidden_and_only_the_own_tags_are_offered(page: Page) -> None:
    line, item = page.reviewer.note, page.item
    note(page, "A is better", "a-wins")
    page.workspace.set_author("Ben")
    page.press("J")
    note(page, "Odd", "odd")
    page.reviewer.blind_button.click()
    page.list.choose(item)
    page.until(lambda: page.item == item)
    assert (line.note, line.text.text(), line.text.toolTip()) == (None, "", "")
    assert page.list.annotators.tag.isHidden()
    page.press("N")
    assert line.dialog.field.toPlainText() == ""
    page.until(lambda: not page.workspace.threads.busy(ThreadName.STORE))
    known = line.dialog.tag.completer().model()
    assert [known.index(row, 0).data() for row in range(known.rowCount())] == ["odd"]
    line.dialog.reject()


def test_a_name_is_asked_once_and_what_was_wished_is_done_then(
    qtbot: QtBot, store: Path, workspace: Workspace, open_page: Open
) -> None:
    page = open_page()
    workspace.set_author("")
    who = page.reviewer.who
    qtbot.keyClick(page, Qt.Key.Key_Return)
    dialog = page.reviewer.who.dialog
    assert dialog.field.text() == workspace.author  # that of the account
    dialog.reject()
    assert page.reviews.marks == ()
    page.press("N")
    assert page.reviewer.note.dialog is None
    page.reviewer.who.dialog.field.setText("Ben")
    page.reviewer.who.dialog.accept()
    [note_dialog] = page.findChildren(NoteDialog)
    with page.signal(workspace.noted):
        note_dialog.saved.emit("odd", ["odd"])
    noted = page.reviewer.note.note
    assert noted.author == "Ben"
    note_dialog.reject()
    page.activate()
    workspace.set_author("")
    page.press("X")
    dialog = page.reviewer.who.dialog
    dialog.field.setText(f"{LONG}\u202e ")
    page.saying(dialog.accept)
    assert [override.author for override in page.overrides] == ["W" * 255]
    assert who.minimumSizeHint().width() < page.list.width() // 2
    page.activate()
    page.enter()
    assert who.dialog is None
    assert page.width() == 1180


@limits_files
def test_what_a_full_disk_does_not_take_is_told_at_once_and_not_shown(page: Page) -> None:
    item = page.item
    with disk_that_holds(10), page.signal(page.workspace.problem, timeout=0) as told:
        page.press("S")
    assert "your annotation is not stored" in told.args[0].problem
    assert "is full" in told.args[0].problem
    assert (page.cell(item, STATE), page.item) == ("", item)
    with held(page.store):
        page.press("S")
        assert page.cell(item, STATE) == "»"
        page.list.choose(item)
        with disk_that_holds(10), page.signal(page.workspace.problem, timeout=0):
            page.press("T")
        assert page.cell(item, STATE) == "»"  # what waits for the store is shown on
    dialog = page.note()
    dialog.field.setPlainText("odd wording")
    with disk_that_holds(10), page.signal(page.workspace.problem, timeout=0):
        dialog._save()
    assert page.reviewer.note.dialog is dialog
    with page.signal(page.workspace.noted):
        dialog._save()
    assert page.reviewer.note.dialog is None


def choose_random(page: Page) -> list[str]:
    page.list.filters.choose_order(ListOrder.RANDOM)
    drawn = drawn_by(page)
    page.until(lambda: page.list.table.row_of(drawn[0]) == 0)
    return drawn


def drawn_by(page: Page, seed: int = DEFAULT_SEED) -> list[str]:
    with RunStore(page.store) as opened:
        return in_drawn_order([item.item_id for item in opened.judged(1)], seed)


def origins(page: Page) -> dict[str, Origin | None]:
    return {each.item_id: each.origin for each in page.reviews.confirmations}


def test_who_goes_down_a_random_sample_gives_labels_of_it_and_who_jumps_does_not(page: Page) -> None:
    uncertain = page.item
    page.enter()
    first, second, *others = choose_random(page)
    far = next(item for item in others[5:] if item != uncertain)
    page.list.choose(far)
    page.enter()
    page.list.choose(first)
    page.enter()
    assert page.item == second
    page.enter()
    expected = {far: Origin.CHOSEN, first: Origin.RANDOM, second: Origin.RANDOM}
    page.until(lambda: expected.items() <= origins(page).items())
    if uncertain not in (first, second):
        assert origins(page)[uncertain] is Origin.UNCERTAINTY
    assert random_part(page.reviews).labelled >= {first, second}
    assert far not in random_part(page.reviews).labelled


def test_the_least_sure_unlabelled_items_are_no_sample_and_the_list_says_so(page: Page) -> None:
    filters, line = page.list.filters, page.list.no_sample
    assert not line.isVisible()
    first, second = (each.item_id for each in by_item(page.review.rows, ListOrder.MOST_UNCERTAIN)[:2])
    filters.choose_order(ListOrder.MOST_UNCERTAIN)
    page.until(lambda: page.list.table.row_of(second) == 1 and line.isVisible())
    assert page.list.table.row_of(first) == 0
    assert (
        "They are not a random sample: for rates, win rates or accuracy, label the random sample"
        in line.text.text()
    )
    tip = filters.order.itemData(filters.order.currentIndex(), Qt.ItemDataRole.ToolTipRole)
    assert "do not compute rates, win rates or accuracy from them" in tip
    page.list.choose(first)
    page.enter()
    assert origins(page)[first] is Origin.UNCERTAINTY
    assert page.list.table.row_of(first) == 0  # until the list is made again
    page.list.list_again()
    page.until(lambda: page.list.table.row_of(first) == page.list.shown - 1)
    assert page.list.table.row_of(second) == 0
    page.list.at_random.click()
    assert filters.list_order is ListOrder.RANDOM
    page.until(lambda: page.session.origin is Origin.RANDOM)
    assert not line.isVisible()
    page.reviewer.blind_button.click()
    assert filters.order.findData(ListOrder.MOST_UNCERTAIN.value) < 0  # it tells of labels


def test_who_chooses_a_random_sample_is_at_its_top_also_blind_and_by_filters_it_is_none(page: Page) -> None:
    drawn = choose_random(page)
    page.list.filters.choose_order(ListOrder.DATASET)
    page.until(lambda: page.list.table.row_of(drawn[0]) != 0)
    page.list.choose(drawn[5])
    order = page.list.filters.order
    order.setFocus()
    page.qtbot.keyClick(order, Qt.Key.Key_R)
    page.until(lambda: page.list.filters.list_order is ListOrder.RANDOM)
    page.until(lambda: page.item == drawn[0])
    assert page.session.origin is Origin.RANDOM
    page.listing(lambda: page.list.filters.choose_order(ListOrder.UNCERTAINTY))
    page.reviewer.blind_button.click()
    choose_random(page)
    page.list.choose(drawn[0])
    assert page.session.origin is Origin.RANDOM
    page.reviewer.blind_button.click()
    assert page.list.filters.list_order is ListOrder.UNCERTAINTY  # as before
    page.list.filters.chips["flipped"].click()
    page.until(lambda: page.session.origin is Origin.CHOSEN)


def test_another_seed_draws_another_sample_and_labels_keep_theirs(page: Page) -> None:
    button = page.list.filters.seed
    assert button.isHidden()
    first, *_others = choose_random(page)
    assert (button.isHidden(), button.text()) == (False, "Seed 0…")
    page.list.choose(first)
    page.enter()
    button.setFocus()
    page.qtbot.keyClick(button, Qt.Key.Key_Space)
    dialog = button.dialog
    assert "5 labels by seed 0. They keep their origin" in dialog.said.text()
    page.until(dialog.isActiveWindow)  # else the keys would be the page's
    dialog.field.setFocus()
    dialog.field.selectAll()
    page.qtbot.keyClicks(dialog.field, "7")
    page.qtbot.keyClick(dialog.field, Qt.Key.Key_Return)
    drawn = drawn_by(page, 7)
    to_do = [item for item in drawn if item != first]
    page.until(lambda: page.list.table.row_of(drawn[0]) == 0 and page.item == to_do[0])
    assert button.text() == "Seed 7…"
    page.activate()
    page.enter()
    with RunStore(page.store) as opened:
        assert opened.run(1).review_seed == 7
    seeds = {first: 0, to_do[0]: 7}
    page.until(lambda: {each.item_id: each.seed for each in page.reviews.confirmations} == seeds)
    assert random_part(page.reviews).labelled == {first, to_do[0]}
    button.click()
    again = button.dialog
    assert "5 labels by seed 0, 5 labels by seed 7" in again.said.text()
    again.reject()


def test_a_seed_that_no_field_can_hold_can_be_changed_too(qtbot: QtBot) -> None:
    dialog = SeedDialog(2**40, {2**40: 3})
    qtbot.addWidget(dialog)
    assert f"3 labels by seed {2**40}" in dialog.said.text()
    with qtbot.waitSignal(dialog.chosen) as chosen:
        dialog.accept()
    assert chosen.args == [LARGEST_SEED]
