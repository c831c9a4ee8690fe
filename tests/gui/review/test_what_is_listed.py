"""What the list of the Review page holds: labels, sets that other pages want, hits of a search, an order."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from engine.analysis.review_order import ReviewRow
from engine.annotations.records import Filters, ListOrder, WantedItems
from engine.core.formatting import words
from engine.core.items import Preference
from engine.core.judgments import Judgment
from engine.results.health import run_health
from gui.review.review_page import ReviewPage
from gui.review.review_table import ID, INSTRUCTION, Search
from gui.widgets.theme import DARK, LIGHT, Colours
from gui.workspace.rewriter import Rewriter
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open, current, judge_hostile_items, press, wait_for_override

A, B, GOOD, BAD = Preference


def rows_of(page: ReviewPage) -> list[ReviewRow]:
    assert page.list.review is not None
    return page.list.review.rows


def listed(page: ReviewPage) -> set[str]:
    return {item.item_id for item in page.list.table.listing.items}


def after_listing(qtbot: QtBot, page: ReviewPage, act: Callable[[], object]) -> None:
    with qtbot.waitSignal(page.list.listed):
        act()


def pick(box: QComboBox, data: str) -> None:
    box.setCurrentIndex(box.findData(data))
    assert box.currentData() == data
    box.activated.emit(box.currentIndex())


# Labels


@pytest.mark.parametrize("whose", ["own", "label", "human"])
def test_a_label_is_filtered_on_any_criterion_and_on_one(qtbot: QtBot, page: ReviewPage, whose: str) -> None:
    field = {"own": "own", "label": "preference", "human": "human"}[whose]
    having = [row for row in rows_of(page) if getattr(row, field) is B]
    after_listing(qtbot, page, lambda: pick(page.list.filters.labels[whose], "B"))
    assert listed(page) == {row.item_id for row in having}
    for _ in range(page.list.shown):
        assert (page.session.criterion, current(page)) in {(row.criterion, row.item_id) for row in having}
        press(qtbot, page, "J")
    after_listing(qtbot, page, lambda: pick(page.list.filters.criterion, "safety"))
    assert listed(page) == {row.item_id for row in having if row.criterion == "safety"}


def test_labels_that_are_filtered_are_remembered(qtbot: QtBot, page: ReviewPage, open_page: Open) -> None:
    after_listing(qtbot, page, lambda: pick(page.list.filters.labels["own"], "none"))
    page.list._all.click()
    after_listing(qtbot, page, lambda: pick(page.list.filters.labels["human"], "both_good"))
    page.keep_layout()
    page.hide()
    again = open_page()
    assert again.list.filters.request == Filters(human=GOOD)


def said(page: ReviewPage) -> list[str]:
    """Which filters the folded panel says."""
    return [button.text() for button in page.list.filters.active.values() if button.isVisible()]


def test_filters_that_are_folded_away_are_said_and_ended_one_by_one(qtbot: QtBot, page: ReviewPage) -> None:
    filters = page.list.filters
    after_listing(qtbot, page, filters.chips["flipped"].click)
    after_listing(qtbot, page, lambda: pick(filters.labels["own"], "A"))
    choose_slice(qtbot, page, "longer", "A")
    assert not filters.chips["flipped"].isVisible()
    assert said(page) == ["Flipped  ×", "Judge: A  ×", f"{filters.slices.words}  ×"]
    filters.more.click()
    assert said(page) == []  # there they are themselves
    filters.more.click()
    for left, button in ((2, filters.chips["flipped"]), (1, filters.slices), (0, filters.labels["own"])):
        after_listing(qtbot, page, filters.active[button].click)
        assert len(said(page)) == left
        assert page.window().focusWidget() in (page.list, page.list.view)
    assert page.list.shown == 30
    after_listing(qtbot, page, filters.chips["flipped"].click)
    after_listing(qtbot, page, page.reviewer.blind_button.click)
    assert (said(page), filters.clear_all.isVisible(), page.list.shown) == ([], False, 30)


def test_filters_end_with_the_run_that_they_were_made_for(
    qtbot: QtBot, page: ReviewPage, store: Path, tmp_path: Path, open_page: Open
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", store)
    filters, annotators = page.list.filters, page.list.annotators
    after_listing(qtbot, page, lambda: filters.search.setText("no such word"))
    after_listing(qtbot, page, filters.chips["overridden"].click)
    after_listing(qtbot, page, lambda: pick(annotators.state, "done"))
    page.workspace.open_run(2)
    qtbot.waitUntil(lambda: page.list.shown == 2)
    assert (filters.narrows, filters.search.text(), annotators.state.currentData()) == (False, "", None)
    after_listing(qtbot, page, filters.chips["unscored"].click)
    page.keep_layout()
    page.hide()
    again = open_page()  # of run 1, as after a start at which another one is opened
    qtbot.waitUntil(lambda: again.list.shown == 30)
    assert not again.list.filters.narrows


# Sets


def test_a_set_of_filters_is_listed_said_and_left(qtbot: QtBot, page: ReviewPage) -> None:
    press(qtbot, page, "/")
    page.list.filters.search.setText("the")
    wanted = Filters(criterion="relevance", human=A, label=A)
    expected = {
        row.item_id
        for row in rows_of(page)
        if (row.criterion, row.human, row.preference) == ("relevance", A, A)
    }
    after_listing(
        qtbot,
        page,
        lambda: page.workspace.listing_wanted.emit(WantedItems(1, wanted, "human A, judge A, on relevance")),
    )
    assert listed(page) == expected
    assert page.list.filters.search.text() == ""
    line = page.list.wanted_line
    assert line.isVisible()
    assert line.text.text() == f"{len(expected)} items: human A, judge A, on relevance"
    assert page.session.criterion == "relevance"
    after_listing(qtbot, page, line.show_all.click)
    assert (line.isVisible(), page.list.shown) == (False, 30)


def test_items_by_id_are_listed_and_narrowed(qtbot: QtBot, page: ReviewPage) -> None:
    ids = frozenset({"3", "7", "9", "no such item"})
    wanted = WantedItems(1, Filters(ids=ids), "<b>where two systems differ</b>")
    after_listing(qtbot, page, lambda: page.workspace.listing_wanted.emit(wanted))
    assert listed(page) == {"3", "7", "9"}
    line = page.list.wanted_line
    assert line.text.text() == "3 of 4 items: <b>where two systems differ</b>"
    chip = page.list.filters.chips["unscored"]
    after_listing(qtbot, page, chip.click)
    assert (page.list.shown, line.isVisible()) == (0, True)
    after_listing(qtbot, page, page.list._all.click)
    assert (page.list.shown, line.isVisible()) == (30, False)


def test_a_set_is_left_by_another_filter_and_not_remembered(
    qtbot: QtBot, page: ReviewPage, open_page: Open
) -> None:
    wanted = WantedItems(1, Filters(criterion="safety"), "on safety")
    after_listing(qtbot, page, lambda: page.workspace.listing_wanted.emit(wanted))
    after_listing(qtbot, page, page.list.filters.chips["flipped"].click)
    assert not page.list.wanted_line.isVisible()
    ids = WantedItems(1, Filters(ids=frozenset({"3"})), "one")
    after_listing(qtbot, page, lambda: page.workspace.listing_wanted.emit(ids))
    page.keep_layout()
    page.hide()
    again = open_page()
    assert again.list.shown == 30


def test_a_set_that_is_wanted_before_the_page_was_shown_is_listed_then(
    qtbot: QtBot, store: Path, workspace: Workspace
) -> None:
    page = ReviewPage(workspace, Rewriter(workspace))
    qtbot.addWidget(page)
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    workspace.listing_wanted.emit(WantedItems(1, Filters(criterion="safety", ids=frozenset("12")), "two"))
    page.show()
    qtbot.waitUntil(lambda: page.list.shown == 2)
    assert page.list.filters.criterion.currentData() == "safety"
    assert page.list.wanted_line.text.text() == "2 items: two"


def test_a_set_of_one_run_is_no_set_of_the_next(
    qtbot: QtBot, page: ReviewPage, store: Path, tmp_path: Path
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", store)
    wanted = WantedItems(1, Filters(ids=frozenset({"3"})), "one")
    after_listing(qtbot, page, lambda: page.workspace.listing_wanted.emit(wanted))
    page.workspace.open_run(2)
    qtbot.waitUntil(lambda: page.session.run_id == 2)
    qtbot.waitUntil(lambda: page.list.shown == 2)
    assert not page.list.wanted_line.isVisible()


# Order


def test_where_all_doubts_are_alike_another_order_is_offered(qtbot: QtBot, page: ReviewPage) -> None:
    alike = page.list.alike
    assert not alike.isVisible()
    rows = rows_of(page)
    rows[:] = [replace(row, uncertainty=0.995 + 0.004 * (row.position % 2)) for row in rows]
    after_listing(qtbot, page, page.list.list_again)
    assert alike.isVisible()
    assert "All uncertainties are alike" in alike.text.text()
    after_listing(qtbot, page, alike.by_annotators.click)
    assert page.list.filters.list_order is ListOrder.DISAGREEMENT
    assert not alike.isVisible()
    differing = [item.differing for item in page.list.table.listing.items]
    assert differing == sorted(differing, reverse=True)
    assert differing[0] > 0
    first = page.list.table.item_at(0)
    assert first is not None
    page.list.step(-30)
    page.list._go(0)
    [row] = [row for row in rows if (row.item_id, row.criterion) == (first.item_id, page.session.criterion)]
    assert row.differs_from_human
    pick(page.list.filters.order, "doubt")
    qtbot.waitUntil(alike.isVisible)
    after_listing(qtbot, page, alike.by_dataset.click)
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


# Hits


def hits_in(page: ReviewPage) -> list[str]:
    return [
        selection.cursor.selectedText().casefold()
        for pane in (page.reading.instruction, page.reading.a, page.reading.b)
        for selection in pane.view.extraSelections()
        if selection.format.fontUnderline()
    ]


def test_hits_are_marked_in_the_texts_and_counted(qtbot: QtBot, page: ReviewPage) -> None:
    reading = page.reading
    panes = (reading.instruction, reading.a, reading.b)
    for key in ("", "M", "D", "M"):  # as they are, as Markdown, with differences in it, with these alone
        press(qtbot, page, key)
        after_listing(qtbot, page, lambda: page.list.filters.search.setText("the opposite"))
        qtbot.waitUntil(lambda: bool(hits_in(page)))
        assert set(hits_in(page)) == {"the", "opposite"}
        shown = sum(pane.text.casefold().count(word) for pane in panes for word in ("the", "opposite"))
        assert len(hits_in(page)) == shown
        assert "hit" in "".join(pane.note for pane in panes)
        assert page.context.text().endswith(" hits")
        page.list.filters.clear_all.click()
        qtbot.waitUntil(lambda: not hits_in(page))
        assert "hit" not in reading.a.note


def test_the_list_shows_the_text_from_the_hit_on(qtbot: QtBot, page: ReviewPage) -> None:
    run = page.workspace.run
    assert run is not None
    assert run.dataset is not None
    item = run.dataset[4]
    word = item.output_b.split()[-1].strip(".!?")
    search = Search(f"{word}")
    after_listing(qtbot, page, lambda: page.list.filters.search.setText(word))
    row = page.list.table.row_of(item.id)
    assert row is not None
    cell = page.list.table.index(row, INSTRUCTION).data()
    assert search.spans(cell)
    assert search.spans(cell)[0][0] <= 12


@pytest.mark.parametrize("used", [LIGHT, DARK])
def test_a_hit_has_a_ground_of_its_own_on_which_text_is_read(used: Colours) -> None:
    grounds = [used.hit_ground, used.own_ground, used.shared_ground, used.selection, used.field]
    assert len(set(grounds)) == len(grounds)

    def luminance(colour: str) -> float:
        def linear(part: float) -> float:
            return part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4

        parts = QColor(colour)
        red, green, blue = map(linear, (parts.redF(), parts.greenF(), parts.blueF()))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(used.hit_ground), luminance(used.text)))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_hits_are_painted_in_the_list(qtbot: QtBot, page: ReviewPage) -> None:
    after_listing(qtbot, page, lambda: page.list.filters.search.setText("the"))
    view = page.list.view
    ground = QColor(LIGHT.hit_ground if view.palette().base().color().lightness() > 127 else DARK.hit_ground)

    def painted() -> bool:
        picture = view.viewport().grab().toImage()
        place = view.visualRect(page.list.table.index(1, INSTRUCTION))
        return any(
            picture.pixelColor(x, y) == ground
            for x in range(place.left(), min(place.right(), picture.width()))
            for y in range(place.top(), place.bottom())
        )

    qtbot.waitUntil(painted)
    after_listing(qtbot, page, page.list.filters.clear)
    qtbot.waitUntil(lambda: not painted())


def test_a_search_of_ids_marks_ids(qtbot: QtBot, page: ReviewPage) -> None:
    after_listing(qtbot, page, lambda: page.list.filters.search.setText("17"))
    assert page.list.table.index(0, ID).data() == "17"
    assert page.list.search.spans("17") == [(0, 2)]


def search_for(qtbot: QtBot, page: ReviewPage, text: str) -> set[str]:
    """The items that are listed once this is searched for; in other words than before."""
    after_listing(qtbot, page, lambda: page.list.filters.search.setText(text))
    return listed(page)


def cell(page: ReviewPage, item_id: str) -> str:
    row = page.list.table.row_of(item_id)
    assert row is not None
    return str(page.list.table.index(row, INSTRUCTION).data())


def test_a_search_finds_explanations_in_force_and_earlier_ones_notes_and_tags(
    qtbot: QtBot, page: ReviewPage
) -> None:
    space, item_id = page.workspace, current(page)
    own = page.session.shown
    assert own is not None
    assert own.explanation
    word = next(word for word in own.explanation.split() if word == "rightly")
    wait_for_override(qtbot, page, lambda: space.override(page.session.key, None, "quixotic words"))
    assert search_for(qtbot, page, "QUIXOTIC words") == {item_id}
    assert cell(page, item_id) == f"{words(page.session.criterion).capitalize()}: quixotic words"
    assert page.context.text() == "1 of 30 items, 2 hits"
    assert item_id in search_for(qtbot, page, word)  # the model's, which is in force no more
    run = space.run
    assert run is not None
    with qtbot.waitSignal(space.noted):
        space.note_item(run.results.judged[4].content_hash, "to be asked of Zoe", ["zebra stripes"])
    noted = run.results.judged[4].item_id
    assert search_for(qtbot, page, "zoe") == {noted}
    assert cell(page, noted) == "Note: …Zoe"
    assert search_for(qtbot, page, "zebra zoe") == {noted}
    assert search_for(qtbot, page, "zebra quixotic") == set()


def test_a_search_tells_nothing_to_who_labels_blind(qtbot: QtBot, page: ReviewPage) -> None:
    space, key = page.workspace, page.session.key
    run = space.run
    assert run is not None
    wait_for_override(qtbot, page, lambda: space.override(key, None, "quixotic words"))
    noted = run.results.judged[4]
    with qtbot.waitSignal(space.noted):
        space.note_item(noted.content_hash, "zebra", [])
    assert search_for(qtbot, page, "quixotic") == {key.item_id}
    after_listing(qtbot, page, lambda: space.set_author("Ben"))
    after_listing(qtbot, page, page.reviewer.blind_button.click)
    assert listed(page) == set()
    assert search_for(qtbot, page, "zebra") == set()
    assert search_for(qtbot, page, "") != set()
    space.review_wanted.emit(key)
    wait_for_override(qtbot, page, lambda: press(qtbot, page, "A"))
    assert search_for(qtbot, page, "quixotic") == {key.item_id}
    after_listing(qtbot, page, lambda: space.set_author("Ada"))
    assert search_for(qtbot, page, "zebra") == {noted.item_id}  # her own


def test_without_the_dataset_ids_and_what_is_said_are_searched(
    qtbot: QtBot, store: Path, open_page: Open
) -> None:
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE run SET dataset_path = '/nowhere/gold.tsv'")
    page = open_page()
    assert page.workspace.run is not None
    assert page.workspace.run.dataset is None
    assert search_for(qtbot, page, "17") == {"17"}
    assert 0 < len(search_for(qtbot, page, "rightly")) < 30
    assert "rightly" in cell(page, listed(page).pop())


def test_spans_are_counted_as_qt_counts_and_words_may_hold_each_other() -> None:
    assert Search("an a").spans("😀 An a") == [(3, 5), (6, 7)]
    assert Search("").spans("text") == []
    assert Search("x").from_hit("text") == "text"
    assert Search("x").from_hit("a text") == "a text"
    assert Search("x").from_hit("a long text") == "…xt"
    assert Search("x").from_hit("none") is None


# Health


def test_the_head_says_that_the_judge_is_not_to_be_trusted(page: ReviewPage) -> None:
    run = page.workspace.run
    assert run is not None
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


# Slices


def choose_slice(qtbot: QtBot, page: ReviewPage, by: str, key: str) -> frozenset[str]:
    slices = page.list.filters.slices
    after_listing(qtbot, page, lambda: slices.choose(by, key))
    assert slices.ids is not None
    return slices.ids


def test_a_slice_is_listed_alone_and_left(qtbot: QtBot, page: ReviewPage) -> None:
    ids = choose_slice(qtbot, page, "longer", "A")
    assert 0 < len(ids) < len(rows_of(page)) / 5
    assert listed(page) == ids
    assert page.list.filters.more.text() == "Filters: 1"
    having = {row.item_id for row in rows_of(page) if row.human is B}
    after_listing(qtbot, page, lambda: pick(page.list.filters.labels["human"], "B"))
    assert listed(page) == ids & having
    after_listing(qtbot, page, page.list.filters.clear_all.click)
    assert len(listed(page)) == len(rows_of(page)) / 5
    assert page.list.filters.slices.ids is None


def test_who_labels_blind_is_not_told_labels_by_a_slice(qtbot: QtBot, page: ReviewPage) -> None:
    ids = choose_slice(qtbot, page, "label:safety", "both_good")
    assert listed(page) == ids
    after_listing(qtbot, page, page.reviewer.blind_button.click)
    assert len(listed(page)) == len(rows_of(page)) / 5
    assert not page.list.filters.slices.isVisible()


def test_an_item_that_is_wanted_leaves_the_slice(qtbot: QtBot, page: ReviewPage) -> None:
    ids = choose_slice(qtbot, page, "longer", "A")
    other = next(row.item_id for row in rows_of(page) if row.item_id not in ids)
    after_listing(qtbot, page, lambda: page.list.choose(other))
    assert current(page) == other
