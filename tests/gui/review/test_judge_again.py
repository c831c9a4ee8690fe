"""Items of a review judged again: a menu of the list, and keys."""

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from engine.core.rubric import ELOQUENT
from engine.data.rubrics.files import shipped_rubrics
from gui.review.review_page import ReviewPage
from gui.workspace.workspace import Workspace
from tests.gui.review.steps import Open, current

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def entries(page: ReviewPage) -> list[str]:
    page.list.view.customContextMenuRequested.emit(QPoint(5, 5))
    texts = [action.text() for action in page.judge_again.menu.actions() if action.text()]
    page.judge_again.menu.close()
    return texts


def test_the_chosen_item_is_asked_for_by_its_key(qtbot: QtBot, page: ReviewPage, demo_gold: Path) -> None:
    page.list.step(2)
    with qtbot.waitSignal(page.workspace.items_wanted) as wanted:
        qtbot.keyClick(page, Qt.Key.Key_J, CTRL)
    assert wanted.args == [demo_gold, (current(page),), None]


def test_all_listed_items_are_asked_for(qtbot: QtBot, page: ReviewPage, demo_gold: Path) -> None:
    page.list.filters.chips["differs_from_human"].click()
    qtbot.waitUntil(lambda: page.list.shown < 30)
    listed = page.list.table.listing.items
    with qtbot.waitSignal(page.workspace.items_wanted) as wanted:
        qtbot.keyClick(page, Qt.Key.Key_J, CTRL | SHIFT)
    assert wanted.args == [demo_gold, tuple(item.item_id for item in listed), None]


def test_the_menu_says_how_many_items_are_listed(qtbot: QtBot, page: ReviewPage) -> None:
    judging = ["Judge this item again…", "Judge the 30 listed items…"]
    assert entries(page) == [*judging, "Prompt… (P)"]
    page.list.filters.search.setText(current(page))
    qtbot.waitUntil(lambda: page.list.shown < 30)
    assert entries(page)[1].startswith(f"Judge the {page.list.shown} listed item")
    with qtbot.waitSignal(page.workspace.items_wanted) as wanted:
        page.judge_again.menu.actions()[0].trigger()
    assert wanted.args[1] == (current(page),)


def test_without_listed_items_nothing_is_asked_for(qtbot: QtBot, page: ReviewPage) -> None:
    page.list.filters.chips["overridden"].click()
    qtbot.waitUntil(lambda: page.list.shown == 0)
    with qtbot.assertNotEmitted(page.workspace.items_wanted):
        qtbot.keyClick(page, Qt.Key.Key_J, CTRL)
        qtbot.keyClick(page, Qt.Key.Key_J, CTRL | SHIFT)


def test_without_its_dataset_a_run_says_what_is_missing(
    qtbot: QtBot, workspace: Workspace, store: Path, demo_gold: Path, open_page: Open, tmp_path: Path
) -> None:
    moved = tmp_path / "moved.tsv"
    demo_gold.replace(moved)
    try:
        page = open_page()
        with qtbot.assertNotEmitted(workspace.items_wanted), qtbot.waitSignal(workspace.note) as note:
            qtbot.keyClick(page, Qt.Key.Key_J, CTRL)
        assert note.args == ["The dataset of this run is missing: find it, then judge its items."]
    finally:
        moved.replace(demo_gold)


def test_what_the_run_was_asked_is_asked_again(qtbot: QtBot, page: ReviewPage) -> None:
    page.workspace.rubric.choose(shipped_rubrics()[1])
    with qtbot.waitSignal(page.workspace.items_wanted):
        qtbot.keyClick(page, Qt.Key.Key_J, CTRL)
    assert page.workspace.rubric.rubric == ELOQUENT
