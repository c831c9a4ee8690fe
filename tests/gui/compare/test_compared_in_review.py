"""From the Compare page to Review: one item on which systems differ, or all of them."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.annotations.records import WantedItems
from engine.core.formatting import words
from gui.compare.compare_page import ComparePage
from gui.workspace.workspace import Workspace
from tests.gui.compare.steps import choose, compare, differences, press


def test_return_opens_a_difference_in_review(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse)
    compare(qtbot, page)
    rows = differences(qtbot, page)
    page.view.setCurrentWidget(page.view.differences)
    view = page.view.differences.view
    view.selectRow(2)
    received: list[tuple[str, ...]] = []
    space.page_wanted.connect(lambda page_name: received.append((page_name,)))
    space.review_wanted.connect(lambda key: received.append((key.item_id, words(key.criterion).capitalize())))
    press(view, Qt.Key.Key_Return)
    assert received == []  # the run must be opened first
    qtbot.waitUntil(lambda: len(received) == 2)
    press(view, Qt.Key.Key_Return)
    assert received == 2 * [("Review",), tuple(rows[2][:2])]
    assert space.run is not None
    assert space.run.id == 1


def wanted_in_review(qtbot: QtBot, space: Workspace, act: Callable[[], object]) -> WantedItems:
    """The set of items that Review is asked for after an act."""
    with qtbot.waitSignal(space.listing_wanted, timeout=10_000) as asked:
        act()
    wanted = asked.args[0]
    assert isinstance(wanted, WantedItems)
    return wanted


def test_all_items_that_differ_are_listed_in_review(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse)
    compare(qtbot, page)
    found = page.view.differences
    found.criterion.setCurrentIndex(found.criterion.findData("safety"))
    rows = differences(qtbot, page)
    wanted = wanted_in_review(qtbot, space, found.list_button.click)
    assert (wanted.run_id, wanted.filters.criterion) == (1, "safety")
    assert set(wanted.filters.ids or ()) == {row[0] for row in rows}
    assert wanted.words.endswith(" differ, on safety")
    assert "worse" in wanted.words


def test_a_row_of_the_agreement_lists_where_its_two_systems_differ(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse)
    compare(qtbot, page)
    view = page.view.agreement_view
    page.view.setCurrentIndex(1)
    view.setCurrentIndex(page.view.agreement.index(1, 0))
    assert page.compared is not None
    pair = page.compared.comparison.agreements[1]
    wanted = wanted_in_review(qtbot, space, lambda: press(view, Qt.Key.Key_Return))
    assert wanted.filters.criterion == pair.criterion
    assert len(wanted.filters.ids or ()) == round(pair.items * (1 - pair.same)) > 0


def test_two_submissions_cannot_be_opened_in_review(
    qtbot: QtBot, page: ComparePage, demo_store: Path, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse, demo_store.with_name("submission.tsv"))
    page.choosing.systems.view.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert compare(qtbot, page) == ""
    assert differences(qtbot, page)
    assert not page.view.differences.open_button.isEnabled()
    assert not page.view.differences.list_button.isEnabled()
