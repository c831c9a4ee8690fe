"""The list of the Review page: search, filters, and a judgment that another page wants shown."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.analysis.review_order import Remarks
from engine.core.judgments import JudgmentKey
from gui.review.review_page import ReviewPage
from tests.gui.review.steps import (
    HOSTILE,
    current,
    judge_hostile_items,
    overrides,
    press,
    wanted_elsewhere,
)


def test_letters_typed_in_the_search_are_no_keys_and_keys_leave_it(
    qtbot: QtBot, page: ReviewPage, store: Path
) -> None:
    search = page.list.filters.search
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Down, Qt.Key.Key_Escape):
        press(qtbot, page, "/")
        assert search.hasFocus()
        search.clear()
        qtbot.keyClicks(search, "a bag")
        assert search.text() == "a bag"
        qtbot.keyClick(search, key)
        if key == Qt.Key.Key_Escape:
            assert search.text() == ""
            qtbot.keyClick(search, key)
        assert page.window().focusWidget() is page.list.view
    assert not overrides(store)


def test_the_search_narrows_the_list_and_one_click_clears_it(qtbot: QtBot, page: ReviewPage) -> None:
    run = page.workspace.run
    assert run is not None
    assert run.dataset is not None
    word = "opposite"
    remarks = Remarks(run.results)
    texts = [
        (item.id, item.instruction, item.output_a, item.output_b, *(text for _, text in remarks.of(place)))
        for place, item in enumerate(run.dataset)
    ]
    hits = sum(any(word in text.casefold() for text in row) for row in texts)
    assert 0 < hits < 30
    page.list.filters.search.setText(word)
    qtbot.waitUntil(lambda: page.list.shown == hits)
    found = sum(text.casefold().count(word) for row in texts for text in row)
    assert page.context.text() == f"{hits} of 30 items, {found} hits"
    page.list.filters.clear_all.click()
    qtbot.waitUntil(lambda: page.list.shown == 30)


def test_a_filter_opens_a_criterion_that_passes(qtbot: QtBot, page: ReviewPage) -> None:
    review = page.list.review
    assert review is not None
    differing = {row.item_id for row in review.rows if row.differs_from_human}
    assert 0 < len(differing) < 30
    page.list.filters.chips["differs_from_human"].click()
    qtbot.waitUntil(lambda: page.list.shown == len(differing))
    for _ in differing:
        [row] = [
            entry for entry in review.of_item(current(page)) if entry.criterion == page.session.criterion
        ]
        assert row.differs_from_human
        page.list.step(1)


def test_where_nothing_passes_the_page_says_so(qtbot: QtBot, page: ReviewPage) -> None:
    page.list.filters.chips["overridden"].click()
    qtbot.waitUntil(lambda: page.list.shown == 0)
    assert page.list._nothing.isVisible()
    assert not page.desk.isVisible()
    press(qtbot, page, "AUEJ1")
    page.list._all.click()
    qtbot.waitUntil(lambda: page.list.shown == 30)
    assert page.desk.isVisible()
    assert page.desk.isEnabled()


def test_a_wanted_judgment_is_shown_though_filters_hide_it_and_one_that_is_not_in_the_run_is_said(
    qtbot: QtBot, page: ReviewPage
) -> None:
    page.list.filters.search.setText("no text has this")
    qtbot.waitUntil(lambda: page.list.shown == 0)
    page.workspace.review_wanted.emit(JudgmentKey("7", "safety"))
    qtbot.waitUntil(lambda: page.list.current is not None)
    assert (current(page), page.session.criterion) == ("7", "safety")
    assert page.list.filters.search.text() == ""
    with qtbot.waitSignal(page.workspace.note):
        page.workspace.review_wanted.emit(JudgmentKey("no such item", "safety"))
    assert current(page) == "7"


@pytest.mark.parametrize("hidden", [True, False])
def test_a_judgment_that_is_wanted_of_the_next_run_is_looked_for_there(
    qtbot: QtBot, page: ReviewPage, store: Path, tmp_path: Path, hidden: bool
) -> None:
    judge_hostile_items(tmp_path / "hostile.tsv", store)
    notes: list[str] = []
    page.workspace.note.connect(notes.append)
    page.setHidden(hidden)
    page.workspace.run_changed.disconnect(page._refresh)  # so that it hears of the run after the wish
    page.workspace.run_changed.connect(
        lambda: page.workspace.review_wanted.emit(JudgmentKey(HOSTILE, "safety"))
    )
    page.workspace.run_changed.connect(page._refresh)
    with qtbot.waitSignal(page.workspace.run_changed):
        page.workspace.open_run(2)
    page.show()
    qtbot.waitUntil(lambda: page.session.run_id == 2)
    assert (current(page), page.session.criterion) == (HOSTILE, "safety")
    assert not any("has not judged" in note for note in notes)


def test_a_wanted_judgment_comes_before_the_one_looked_at_last_time(qtbot: QtBot, page: ReviewPage) -> None:
    press(qtbot, page, "JJ")
    page.keep_layout()
    again = wanted_elsewhere(qtbot, page, "7", "safety")
    assert (current(again), again.session.criterion) == ("7", "safety")


def test_after_clear_and_a_filter_keys_are_keys(qtbot: QtBot, page: ReviewPage) -> None:
    filters = page.list.filters
    press(qtbot, page, "/")
    qtbot.keyClicks(filters.search, "the")
    qtbot.waitUntil(filters.clear_all.isVisible)
    filters.clear_all.setFocus()
    filters.clear_all.click()
    assert page.window().focusWidget() is page.list.view
    press(qtbot, page, "/")
    assert not filters.chips["flipped"].isVisible()
    qtbot.mouseClick(filters.more, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(filters.chips["flipped"], Qt.MouseButton.LeftButton)
    assert filters.more.text() == "Filters: 1"
    assert page.window().focusWidget() is filters.chips["flipped"]
