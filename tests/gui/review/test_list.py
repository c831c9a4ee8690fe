"""What the list of the Review page holds, in which order: labels, sets that are wanted, hits of a search."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from engine.analysis.review_order import Remarks, ReviewRow
from engine.annotations.records import Filters, ListOrder, WantedItems
from engine.core.formatting import words
from engine.core.items import Preference
from engine.core.judgments import Judgment, JudgmentKey, Origin
from engine.results.health import run_health
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from gui.review.review_table import ID, INSTRUCTION, LABELS, MARKS, STATE, TITLE_ORDERS, UNCERTAINTY, Search
from gui.widgets.theme import DARK, LIGHT, Colours
from gui.workspace.state import ANSWERS
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import HOSTILE, Open, Page, judge_hostile_items, wanted_elsewhere
from tests.gui.seen import contrast
from tests.gui.steps import pick
from tests.kept_trust import kept_trust_of

A, B, GOOD, BAD = Preference


def rows_of(page: Page) -> list[ReviewRow]:
    return page.list.review.rows


def listed(page: Page) -> set[str]:
    return {item.item_id for item in page.list.table.listing.items}


def test_a_label_is_filtered_on_any_criterion_and_on_one_and_remembered(page: Page, open_page: Open) -> None:
    for whose, field in (("own", "own"), ("label", "preference"), ("human", "human")):
        having = [row for row in rows_of(page) if getattr(row, field) is B]
        page.listing(partial(pick, page.list.filters.labels[whose], "B"))
        assert listed(page) == {row.item_id for row in having}
        for _ in range(page.list.shown):
            assert (page.session.criterion, page.item) in {(row.criterion, row.item_id) for row in having}
            page.press("J")
        page.listing(lambda: pick(page.list.filters.criterion, "safety"))
        assert listed(page) == {row.item_id for row in having if row.criterion == "safety"}
        page.listing(page.list.filters.clear)
    page.listing(lambda: pick(page.list.filters.labels["own"], "none"))
    page.list._all.click()
    page.listing(lambda: pick(page.list.filters.labels["human"], "both_good"))
    page.left()
    assert open_page().list.filters.request == Filters(human=GOOD)


def said(page: Page) -> list[str]:
    return [button.text() for button in page.list.filters.active.values() if button.isVisible()]


def test_filters_that_are_folded_away_are_said_and_ended_one_by_one(page: Page) -> None:
    filters = page.list.filters
    page.listing(filters.chips["flipped"].click)
    page.listing(lambda: pick(filters.labels["own"], "A"))
    choose_slice(page, "longer", "A")
    assert not filters.chips["flipped"].isVisible()
    assert said(page) == ["Flipped  ×", "Judge: A  ×", f"{filters.slices.words}  ×"]
    filters.more.click()
    assert said(page) == []  # there they are themselves
    filters.more.click()
    for left, button in ((2, filters.chips["flipped"]), (1, filters.slices), (0, filters.labels["own"])):
        page.listing(filters.active[button].click)
        assert len(said(page)) == left
        assert page.window().focusWidget() in (page.list, page.list.view)
    assert page.list.shown == 30
    page.listing(filters.chips["flipped"].click)
    page.listing(page.reviewer.blind_button.click)
    assert (said(page), filters.clear_all.isVisible(), page.list.shown) == ([], False, 30)


def test_what_may_not_stand_is_counted_listed_also_blind_and_stands_once_a_person_labelled_it(
    store: Path, open_page: Open
) -> None:
    with RunStore(store) as opened:
        judged = [each for each in load_results(opened, 1).judgments["safety"] if isinstance(each, Judgment)]
        least = sorted(max(each.probabilities) for each in judged)[7]
        kept_trust_of({"safety": least, "relevance": None}).keep(opened, 1)
    expected = {each.item_id for each in judged if max(each.probabilities) < least}
    assert 0 < len(expected) < 30
    page = open_page()
    chip, filters = page.list.filters.chips["escalated"], page.list.filters
    assert chip.text() == "Escalated: 30"  # on most criteria nothing may stand
    page.listing(lambda: pick(filters.criterion, "safety"))
    page.listing(chip.click)
    assert (listed(page), chip.text()) == (expected, f"Escalated: {len(expected)}")
    page.listing(page.reviewer.blind_button.click)
    assert (listed(page), said(page)) == (expected, [f"Escalated: {len(expected)}  ×"])
    page.say("A")
    page.until(lambda: chip.text() == f"Escalated: {len(expected) - 1}")
    page.listing(page.list.list_again)
    assert len(listed(page)) == len(expected) - 1
    page.listing(filters.active[chip].click)
    assert page.list.shown == 30


def test_a_set_of_filters_is_listed_said_and_left_by_another_filter(page: Page) -> None:
    page.press("/")
    page.list.filters.search.setText("the")
    wanted, line = Filters(criterion="relevance", human=A, label=A), page.list.wanted_line
    found = ((row.item_id, row.criterion, row.human, row.preference) for row in rows_of(page))
    expected = {item for item, *said in found if said == ["relevance", A, A]}
    page.list_wanted(WantedItems(1, wanted, "human A, judge A, on relevance"))
    assert listed(page) == expected
    assert page.list.filters.search.text() == ""
    assert line.isVisible()
    assert line.text.text() == f"{len(expected)} items: human A, judge A, on relevance"
    assert page.session.criterion == "relevance"
    page.listing(line.show_all.click)
    assert (line.isVisible(), page.list.shown) == (False, 30)
    page.list_wanted(WantedItems(1, Filters(criterion="safety"), "on safety"))
    page.listing(page.list.filters.chips["flipped"].click)
    assert not line.isVisible()


def test_items_by_id_are_listed_narrowed_and_not_remembered(page: Page, open_page: Open) -> None:
    ids, line = frozenset({"3", "7", "9", "no such item"}), page.list.wanted_line
    wanted = WantedItems(1, Filters(ids=ids), "<b>where two systems differ</b>")
    page.list_wanted(wanted)
    assert listed(page) == {"3", "7", "9"}
    assert line.text.text() == "3 of 4 items: <b>where two systems differ</b>"
    page.listing(page.list.filters.chips["unscored"].click)
    assert (page.list.shown, line.isVisible()) == (0, True)
    page.listing(page.list._all.click)
    assert (page.list.shown, line.isVisible()) == (30, False)
    page.list_wanted(wanted)
    page.left()
    assert open_page().list.shown == 30


def test_a_set_that_is_wanted_before_the_page_was_shown_is_listed_then(
    qtbot: QtBot, store: Path, workspace: Workspace
) -> None:
    page = Page(qtbot, workspace)
    qtbot.addWidget(page)
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    workspace.listing_wanted.emit(WantedItems(1, Filters(criterion="safety", ids=frozenset("12")), "two"))
    page.show()
    qtbot.waitUntil(lambda: page.list.shown == 2)
    assert page.list.filters.criterion.currentData() == "safety"
    assert page.list.wanted_line.text.text() == "2 items: two"


def test_filters_and_sets_end_with_the_run_that_they_were_made_for(
    page: Page, tmp_path: Path, open_page: Open
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", page.store)
    filters, annotators = page.list.filters, page.list.annotators
    page.list_wanted(WantedItems(1, Filters(ids=frozenset({"3"})), "one"))
    page.workspace.open_run(2)
    page.until(lambda: page.session.run_id == 2 and page.list.shown == 2)
    assert not page.list.wanted_line.isVisible()
    page.workspace.open_run(1)
    page.until(lambda: page.session.run_id == 1 and page.list.shown == 30)
    page.listing(lambda: filters.search.setText("no such word"))
    page.listing(filters.chips["overridden"].click)
    page.listing(lambda: pick(annotators.state, "done"))
    page.workspace.open_run(2)
    page.until(lambda: page.list.shown == 2)
    assert (filters.narrows, filters.search.text(), annotators.state.currentData()) == (False, "", None)
    page.listing(filters.chips["unscored"].click)
    page.left()
    again = open_page()  # of run 1, as after a start at which another one is opened
    page.until(lambda: again.list.shown == 30)
    assert not again.list.filters.narrows


def test_where_all_doubts_are_alike_another_order_is_offered(page: Page) -> None:
    alike = page.list.alike
    assert not alike.isVisible()
    rows = rows_of(page)
    rows[:] = [replace(row, uncertainty=0.995 + 0.004 * (row.position % 2)) for row in rows]
    page.listing(page.list.list_again)
    assert alike.isVisible()
    assert "All uncertainties are alike" in alike.text.text()
    page.listing(alike.by_annotators.click)
    assert page.list.filters.list_order is ListOrder.DISAGREEMENT
    assert not alike.isVisible()
    differing = [item.differing for item in page.list.table.listing.items]
    assert differing == sorted(differing, reverse=True)
    assert differing[0] > 0
    first = page.list.table.item_at(0)
    page.list.step(-30)
    page.list._go(0)
    [row] = [row for row in rows if (row.item_id, row.criterion) == (first.item_id, page.session.criterion)]
    assert row.differs_from_human
    pick(page.list.filters.order, "doubt")
    page.until(alike.isVisible)
    page.listing(alike.by_dataset.click)
    assert [item.position for item in page.list.table.listing.items] == list(range(30))


def test_without_human_labels_nothing_is_offered_that_needs_them(
    qtbot: QtBot, workspace: Workspace, open_page: Open, tmp_path: Path
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", workspace.store_path)
    page = open_page()
    assert not page.list.filters.labels["human"].isEnabled()
    assert page.list.filters.order.findData("disagreement") < 0
    page.list.alike.follow(ListOrder.UNCERTAINTY, 10, 0.0, labelled=False)
    assert page.list.alike.isVisible()
    assert not page.list.alike.by_annotators.isVisible()


def hits_in(page: Page) -> list[str]:
    return [
        selection.cursor.selectedText().casefold()
        for pane in (page.reading.instruction, page.reading.a, page.reading.b)
        for selection in pane.view.extraSelections()
        if selection.format.fontUnderline()
    ]


def test_hits_are_marked_in_the_texts_and_counted(page: Page) -> None:
    reading = page.reading
    panes = (reading.instruction, reading.a, reading.b)
    for key in ("", "M", "D", "M"):  # as they are, as Markdown, with differences in it, with these alone
        page.press(key)
        page.listing(lambda: page.list.filters.search.setText("the opposite"))
        page.until(lambda: bool(hits_in(page)))
        assert set(hits_in(page)) == {"the", "opposite"}
        shown = sum(pane.text.casefold().count(word) for pane in panes for word in ("the", "opposite"))
        assert len(hits_in(page)) == shown
        assert "hit" in "".join(pane.note for pane in panes)
        assert page.context.text().endswith(" hits")
        page.list.filters.clear_all.click()
        page.until(lambda: not hits_in(page))
        assert "hit" not in reading.a.note


def test_hits_are_painted_in_the_list_which_shows_the_text_from_them_on(page: Page) -> None:
    item = page.dataset[4]
    word = item.output_b.split()[-1].strip(".!?")
    page.listing(lambda: page.list.filters.search.setText(word))
    [(start, _), *_] = Search(word).spans(page.cell(item.id, INSTRUCTION))
    assert start <= 12
    page.listing(lambda: page.list.filters.search.setText("17"))
    assert page.list.table.index(0, ID).data() == "17"
    assert page.list.view.hits.search.spans("17") == [(0, 2)]
    page.listing(lambda: page.list.filters.search.setText("the"))
    view = page.list.view
    ground = QColor(LIGHT.hit_ground if view.palette().base().color().lightness() > 127 else DARK.hit_ground)

    def painted() -> bool:
        picture, place = (
            view.viewport().grab().toImage(),
            view.visualRect(page.list.table.index(1, INSTRUCTION)),
        )
        across = range(place.left(), min(place.right(), picture.width()))
        spots = ((x, y) for x in across for y in range(place.top(), place.bottom()))
        return any(picture.pixelColor(x, y) == ground for x, y in spots)

    page.until(painted)
    page.listing(page.list.filters.clear)
    page.until(lambda: not painted())


@pytest.mark.parametrize("used", [LIGHT, DARK])
def test_a_hit_has_a_ground_of_its_own_on_which_text_is_read(used: Colours) -> None:
    grounds = [used.hit_ground, used.own_ground, used.shared_ground, used.selection, used.field]
    assert len(set(grounds)) == len(grounds)
    assert contrast(QColor(used.hit_ground), QColor(used.text)) >= 4.5


def search_for(page: Page, text: str) -> set[str]:
    page.listing(lambda: page.list.filters.search.setText(text))
    return listed(page)


def test_a_search_finds_explanations_in_force_and_earlier_ones_notes_and_tags(page: Page) -> None:
    space, item_id = page.workspace, page.item
    own = page.session.shown
    assert own.explanation
    word = next(word for word in own.explanation.split() if word == "rightly")
    page.overriding(lambda: space.override(page.session.key, None, "quixotic words"))
    assert search_for(page, "QUIXOTIC words") == {item_id}
    assert page.cell(item_id, INSTRUCTION) == f"{words(page.session.criterion).capitalize()}: quixotic words"
    assert page.context.text() == "1 of 30 items, 2 hits"
    assert item_id in search_for(page, word)  # the model's, which is in force no more
    run = space.run
    with page.signal(space.noted):
        space.note_item(run.results.judged[4].content_hash, "to be asked of Zoe", ["zebra stripes"])
    noted = run.results.judged[4].item_id
    assert search_for(page, "zoe") == {noted}
    assert page.cell(noted, INSTRUCTION) == "Note: …Zoe"
    assert search_for(page, "zebra zoe") == {noted}
    assert search_for(page, "zebra quixotic") == set()


def test_a_search_tells_nothing_to_who_labels_blind(page: Page) -> None:
    space, key = page.workspace, page.session.key
    run = space.run
    page.overriding(lambda: space.override(key, None, "quixotic words"))
    noted = run.results.judged[4]
    with page.signal(space.noted):
        space.note_item(noted.content_hash, "zebra", [])
    assert search_for(page, "quixotic") == {key.item_id}
    page.listing(lambda: space.set_author("Ben"))
    page.listing(page.reviewer.blind_button.click)
    assert listed(page) == set()
    assert search_for(page, "zebra") == set()
    assert search_for(page, "") != set()
    space.review_wanted.emit(key)
    page.override("A")
    assert search_for(page, "quixotic") == set()
    page.workspace.state.set_text(ANSWERS, "on")  # to train annotators
    page.listing(page.workspace.blind_changed.emit)
    assert listed(page) == {key.item_id}
    page.listing(lambda: space.set_author("Ada"))
    assert search_for(page, "zebra") == {noted.item_id}  # her own


def test_without_the_dataset_ids_and_what_is_said_are_searched(
    qtbot: QtBot, store: Path, open_page: Open
) -> None:
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE run SET dataset_path = '/nowhere/gold.tsv'")
    page = open_page()
    assert page.workspace.run.dataset is None
    assert search_for(page, "17") == {"17"}
    assert 0 < len(search_for(page, "rightly")) < 30
    assert "rightly" in page.cell(listed(page).pop(), INSTRUCTION)


def test_spans_are_counted_as_qt_counts_and_words_may_hold_each_other() -> None:
    assert Search("an a").spans("😀 An a") == [(3, 5), (6, 7)]
    assert Search("").spans("text") == []
    assert Search("x").from_hit("text") == "text"
    assert Search("x").from_hit("a text") == "a text"
    assert Search("x").from_hit("a long text") == "…xt"
    assert Search("x").from_hit("none") is None


def test_the_head_says_that_the_judge_is_not_to_be_trusted(page: Page) -> None:
    run = page.run
    assert page.health.isHidden()
    flipped = {
        name: tuple(
            replace(judgment, flipped=True, answer_mass=0.1)
            for judgment in column
            if isinstance(judgment, Judgment)
        )
        for name, column in run.results.judgments.items()
    }
    page.workspace.run = replace(run, health=run_health(replace(run.results, judgments=flipped)))
    page.workspace.run_changed.emit()
    assert page.health.isVisible()  # at once: it was looked at when the run was opened
    assert page.health.text() == "⚠ The model does not judge"
    assert "are position-inconsistent" in page.health.toolTip()
    assert page.health.property("role") == "bad"
    page.health.look_at(replace(run, health=replace(page.workspace.run.health, items=8, enough=False)))
    assert page.health.text() == "⚠ Few items, with signs that the model does not judge"
    page.health.look_at(run)
    assert page.health.isHidden()


def choose_slice(page: Page, by: str, key: str) -> frozenset[str]:
    slices = page.list.filters.slices
    page.listing(lambda: slices.choose(by, key))
    return slices.ids


def test_a_slice_is_listed_alone_and_left_and_a_filter_opens_a_criterion_that_passes(page: Page) -> None:
    filters, review = page.list.filters, page.review
    ids = choose_slice(page, "longer", "A")
    assert 0 < len(ids) < 30
    assert listed(page) == ids
    assert filters.more.text() == "Filters: 1"
    having = {row.item_id for row in rows_of(page) if row.human is B}
    page.listing(lambda: pick(filters.labels["human"], "B"))
    assert listed(page) == ids & having
    page.listing(filters.clear_all.click)
    assert len(listed(page)) == 30
    assert filters.slices.ids is None
    ids = choose_slice(page, "longer", "A")
    other = next(row.item_id for row in rows_of(page) if row.item_id not in ids)
    page.listing(lambda: page.list.choose(other))  # an item that is wanted leaves the slice
    assert page.item == other
    differing = {row.item_id for row in review.rows if row.differs_from_human}
    assert 0 < len(differing) < 30
    page.listing(filters.chips["differs_from_human"].click)
    assert listed(page) == differing
    page.list._go(0)
    for _ in differing:
        [row] = [entry for entry in review.of_item(page.item) if entry.criterion == page.session.criterion]
        assert row.differs_from_human
        page.list.step(1)


def test_the_search_narrows_the_list_and_one_click_clears_it_also_where_nothing_passes(page: Page) -> None:
    word = "opposite"
    remarks = Remarks(page.run.results)
    texts = [
        (item.id, item.instruction, item.output_a, item.output_b, *(text for _, text in remarks.of(place)))
        for place, item in enumerate(page.dataset)
    ]
    hits = sum(any(word in text.casefold() for text in row) for row in texts)
    assert 0 < hits < 30
    page.list.filters.search.setText(word)
    page.until(lambda: page.list.shown == hits)
    found = sum(text.casefold().count(word) for row in texts for text in row)
    assert page.context.text() == f"{hits} of 30 items, {found} hits"
    page.list.filters.clear_all.click()
    page.until(lambda: page.list.shown == 30)
    page.list.filters.chips["overridden"].click()
    page.until(lambda: page.list.shown == 0)
    assert page.list._nothing.isVisible()
    assert not page.desk.isVisible()
    page.press("AUEJ1")
    page.list._all.click()
    page.until(lambda: page.list.shown == 30)
    assert page.desk.isVisible()
    assert page.desk.isEnabled()


@pytest.mark.parametrize("hidden", [True, False])
def test_a_judgment_that_is_wanted_of_the_next_run_is_looked_for_there(
    page: Page, tmp_path: Path, hidden: bool
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", page.store)
    notes: list[str] = []
    page.workspace.note.connect(notes.append)
    page.setHidden(hidden)
    page.workspace.run_changed.disconnect(page._refresh)  # so that it hears of the run after the wish
    page.workspace.run_changed.connect(
        lambda: page.workspace.review_wanted.emit(JudgmentKey(HOSTILE, "safety"))
    )
    page.workspace.run_changed.connect(page._refresh)
    page.open_run(2)
    page.show()
    page.until(lambda: page.session.run_id == 2)
    assert (page.item, page.session.criterion) == (HOSTILE, "safety")
    assert not any("has not judged" in note for note in notes)


def test_a_wanted_judgment_is_shown_though_filters_hide_it_and_before_the_one_looked_at_last_time(
    page: Page,
) -> None:
    page.list.filters.search.setText("no text has this")
    page.until(lambda: page.list.shown == 0)
    page.workspace.review_wanted.emit(JudgmentKey("7", "safety"))
    page.until(lambda: page.list.current is not None)
    assert (page.item, page.session.criterion) == ("7", "safety")
    assert page.list.filters.search.text() == ""
    with page.signal(page.workspace.note):
        page.workspace.review_wanted.emit(JudgmentKey("no such item", "safety"))
    assert page.item == "7"
    page.keep_layout()
    again = wanted_elsewhere(page, "9", "relevance")
    assert (again.item, again.session.criterion) == ("9", "relevance")


def test_letters_typed_in_the_search_are_no_keys_and_keys_clear_and_filters_leave_it(
    page: Page,
) -> None:
    filters = page.list.filters
    search = filters.search
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Escape):
        page.press("/")
        assert search.hasFocus()
        search.clear()
        page.qtbot.keyClicks(search, "a bag")
        assert search.text() == "a bag"
        page.qtbot.keyClick(search, key)
        if key == Qt.Key.Key_Escape:
            assert search.text() == ""
            page.qtbot.keyClick(search, key)
        assert page.window().focusWidget() is page.list.view
    assert not page.overrides
    page.press("/")
    page.qtbot.keyClicks(search, "the")
    page.until(filters.clear_all.isVisible)
    filters.clear_all.setFocus()
    filters.clear_all.click()
    assert page.window().focusWidget() is page.list.view
    page.press("/")
    assert not filters.chips["flipped"].isVisible()
    page.qtbot.mouseClick(filters.more, Qt.MouseButton.LeftButton)
    page.qtbot.mouseClick(filters.chips["flipped"], Qt.MouseButton.LeftButton)
    assert filters.more.text() == "Filters: 1"
    assert page.window().focusWidget() is filters.chips["flipped"]


def click_title(page: Page, column: int) -> None:
    header = page.list.view.horizontalHeader()
    page.list.view.horizontalScrollBar().setValue(header.sectionPosition(column))
    place = QPoint(header.sectionViewportPosition(column) + 8, header.height() // 2)
    page.listing(lambda: page.qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=place))


def shown(page: Page, column: int) -> list[Any]:
    table = page.list.table
    return [table.index(row, column).data() for row in range(table.rowCount())]


def order(page: Page) -> ListOrder:
    return page.list.filters.list_order


def origin(page: Page) -> Origin | None:
    return page.session.origin


def marked(page: Page) -> tuple[int, Qt.SortOrder]:
    header = page.list.view.horizontalHeader()
    return header.sortIndicatorSection(), header.sortIndicatorOrder()


def test_each_order_of_a_title_can_be_chosen_by_keys_and_marks_the_title(page: Page) -> None:
    box = page.list.filters.order
    for (of, direction), wanted in TITLE_ORDERS.items():
        if of in (STATE, LABELS, MARKS, INSTRUCTION):
            page.list.filters.choose_order(ListOrder.DATASET)
            box.setFocus()
            with page.signal(page.list.listed):
                box.setCurrentIndex(box.findData(wanted.value) - 1)
                page.qtbot.keyClick(box, Qt.Key.Key_Down)
            assert order(page) is wanted
            assert marked(page) == (of, direction)


def test_who_labels_blind_learns_nothing_by_a_slice_or_a_title(page: Page) -> None:
    ids = choose_slice(page, "label:safety", "both_good")
    assert listed(page) == ids
    page.listing(page.reviewer.blind_button.click)
    assert page.list.shown == 30
    assert not page.list.filters.slices.isVisible()
    before = order(page)
    assert before is ListOrder.DATASET
    for column in (LABELS, MARKS):
        click_title(page, column)
        assert order(page) is before
        assert marked(page)[0] == -1
    offered = {page.list.filters.order.itemData(row) for row in range(page.list.filters.order.count())}
    assert not offered & {"doubt", "least doubt", "labels", "most marks", "disagreement"}
    click_title(page, ID)
    assert order(page) is ListOrder.ID


def test_a_title_sorts_turns_and_goes_back_to_the_dataset_and_the_box_says_so(page: Page) -> None:
    filters = page.list.filters
    assert marked(page) == (UNCERTAINTY, Qt.SortOrder.DescendingOrder)
    click_title(page, ID)
    assert shown(page, ID) == [str(number) for number in range(1, 31)]
    assert (filters.order.currentText(), order(page)) == ("By id", ListOrder.ID)
    assert origin(page) is Origin.CHOSEN  # a person picks the items himself
    click_title(page, ID)
    assert shown(page, ID) == [str(number) for number in range(30, 0, -1)]
    assert filters.order.currentText() == "By id, backwards"
    click_title(page, ID)
    assert order(page) is ListOrder.DATASET
    assert marked(page)[0] == -1
    click_title(page, UNCERTAINTY)
    assert order(page) is ListOrder.UNCERTAINTY
    assert origin(page) is Origin.UNCERTAINTY
    click_title(page, UNCERTAINTY)
    assert shown(page, UNCERTAINTY) == sorted(shown(page, UNCERTAINTY))
    page.say("S")
    for place in (-1, 0):
        click_title(page, STATE)
        assert shown(page, STATE)[place] == "»"
