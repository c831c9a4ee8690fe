"""The line at the head of every page: it names what is acted on, and each part opens its choice."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from engine.settings.run_lists import run_in_a_line
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset
from gui.review.annotation_exchange import AssignDialog
from gui.widgets.actions import CurrentChoice
from gui.window.main_content import MainContent
from gui.workspace.open_run import UnderWay
from gui.workspace.state import PageName
from tests.gui.steps import dataset_of, is_open, offered, open_dataset, open_run, whole_window


@pytest.fixture
def main(qtbot: QtBot, demo_copy: Path, demo_gold: Path) -> Iterator[MainContent]:
    with whole_window(qtbot, demo_copy.parent, demo_gold, run=1, author="Ada") as made:
        yield made


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A dataset that nothing has judged, with the longest name that disks take."""
    folders = len(str(tmp_path)) if os.name == "nt" else 0  # Windows counts them: 259 characters at most
    path = tmp_path / ("L" * (240 - folders) + ".tsv")
    shutil.copy(demo_dataset(), path)
    return path


def named(main: MainContent) -> list[str]:
    head = main.head
    return [part.text().replace("&&", "&") for part in (head.dataset, head.run, head.rubric, head.who)]


def test_it_is_the_same_on_all_pages_its_parts_have_names_and_lead_on(main: MainContent) -> None:
    for page in PageName:
        main.frame.show_page(page)
        assert main.head.isVisible()
        assert named(main) == ["gold.tsv", "Run 1: demo-judge", "Rubric task", "You are Ada"]
    told = [part.accessibleName() for part in main.head.findChildren(CurrentChoice)]
    assert told == ["Dataset: gold.tsv", "Run 1: demo-judge", "Rubric task", "Annotator: You are Ada"]
    assert str(dataset_of(main.workspace).path) in main.head.dataset.accessibleDescription()
    main.workspace.set_author("Bea & Bo")
    assert named(main)[-1] == "You are Bea & Bo"
    offered(main.head.who)["Assign items to annotators…"].trigger()
    dialog = main.annotation_exchange.asking
    assert isinstance(dialog, AssignDialog)
    assert dialog.annotators.toPlainText() == "Bea & Bo"
    dialog.close()
    main.frame.show_page(PageName.RESULTS)
    main.workspace.page_wanted.emit(PageName.REVIEW)
    assert main._back.text() == "Back to Results"
    main._back.click()
    assert main.frame.page is PageName.RESULTS
    main.frame.show_page(PageName.REVIEW)
    assert main._back.isHidden()


def test_a_dataset_takes_its_run_along_and_a_run_its_dataset(
    qtbot: QtBot, main: MainContent, other: Path
) -> None:
    space = main.workspace
    main.frame.show_page(PageName.REVIEW)
    open_dataset(qtbot, space, other)
    qtbot.waitUntil(lambda: named(main)[1] == "No run yet")
    assert main.review.nothing.isVisible()
    assert main.review.context.text() == ""
    for number, said in ((1, "No run yet"), (7, "Run 7 is being judged")):  # run 1 is of gold.tsv
        space.judging = UnderWay(number, 1, 240)
        space.judging_changed.emit()
        assert named(main)[1] == said
    of_gold = offered(main.head.run)["Runs of gold.tsv"].menu()
    assert isinstance(of_gold, QMenu)
    [entry] = of_gold.actions()
    assert entry.text() == run_in_a_line(space.runs[0])
    entry.trigger()
    qtbot.waitUntil(lambda: is_open(space, 1))
    assert named(main)[:2] == ["gold.tsv", "Run 1: demo-judge"]
    assert dataset_of(space).path.name == "gold.tsv"
    assert offered(main.head.run)[run_in_a_line(space.runs[0])].isChecked()
    open_dataset(qtbot, space, other)
    qtbot.waitUntil(lambda: space.run is None)
    # Back there, and the run that was looked at last is open again.
    [gold] = [entry for text, entry in offered(main.head.dataset).items() if text.startswith("gold.tsv")]
    gold.trigger()
    qtbot.waitUntil(lambda: is_open(space, 1))


def test_a_dataset_comes_back_with_its_run_that_was_looked_at_last_not_with_the_newest(
    qtbot: QtBot, main: MainContent, other: Path
) -> None:
    space = main.workspace
    gold = dataset_of(space).path
    space.label_by_hand()
    qtbot.waitUntil(lambda: is_open(space, 2))
    open_run(qtbot, space, 1)
    open_dataset(qtbot, space, other)
    qtbot.waitUntil(lambda: space.run is None)
    space.label_by_hand()
    qtbot.waitUntil(lambda: is_open(space, 3))
    open_dataset(qtbot, space, gold)
    qtbot.waitUntil(lambda: space.run is not None and space.run.id != 3)
    assert named(main)[:2] == ["gold.tsv", "Run 1: demo-judge"]


def test_what_is_chosen_last_leads(qtbot: QtBot, main: MainContent, other: Path) -> None:
    space = main.workspace
    space.open_dataset(other)
    space.open_run(1)  # while the other dataset is read
    qtbot.waitUntil(lambda: not space.loading and not space._opening.busy)
    assert named(main)[:2] == ["gold.tsv", "Run 1: demo-judge"]
    space.open_run(1)
    space.open_dataset(other)
    qtbot.waitUntil(lambda: not space.loading and not space._opening.busy and space.run is None)
    assert named(main)[0].endswith("LLL.tsv")


def test_a_run_whose_dataset_is_gone_is_named_so(qtbot: QtBot, main: MainContent, tmp_path: Path) -> None:
    space = main.workspace
    gold, moved, small = dataset_of(space).path, tmp_path / "moved.tsv", tmp_path / "small.tsv"
    small.write_text("id\tinstruction\toutput_a\toutput_b\n1\tx\ty\tz\n", "utf-8")
    shutil.copy(gold, moved)
    open_dataset(qtbot, space, small)
    qtbot.waitUntil(lambda: space.run is None)
    gold.rename(away := gold.with_name("away.tsv"))
    try:
        open_run(qtbot, space, 1)
        assert named(main)[:2] == ["gold.tsv (missing)", "Run 1: demo-judge"]
        assert space.dataset is None
        open_dataset(qtbot, space, moved)  # which holds its items
        qtbot.waitUntil(lambda: space.run is not None and space.run.dataset is not None)
        assert named(main)[:2] == ["moved.tsv", "Run 1: demo-judge"]
    finally:
        away.rename(gold)


def test_runs_of_other_datasets_cannot_be_ticked_for_compare(
    qtbot: QtBot, main: MainContent, other: Path
) -> None:
    systems = main.compare.choosing.systems
    [row] = [systems.view.item(number) for number in range(systems.view.count())]
    row.setCheckState(Qt.CheckState.Checked)
    assert list(systems.runs) == [1]
    open_dataset(qtbot, main.workspace, other)
    qtbot.waitUntil(lambda: main.workspace.run is None)
    rows = [systems.view.item(number) for number in range(systems.view.count())]
    assert [row.text().partition("\n")[0] for row in rows] == [
        "Of another dataset, gold.tsv:",
        "Run 1: demo-judge",
    ]
    assert not any(row.flags() & Qt.ItemFlag.ItemIsUserCheckable for row in rows)
    assert list(systems.runs) == []
    open_run(qtbot, main.workspace, 1)
    assert list(systems.runs) == [1]  # what was ticked is not forgotten


def test_keys_open_each_choice(qtbot: QtBot, main: MainContent) -> None:
    with qtbot.waitActive(main.frame):
        main.frame.activateWindow()
    main.frame.show_page(PageName.REVIEW)
    QTest.keyClick(main.frame.focusWidget(), Qt.Key.Key_F7)
    head = main.head
    for part in (head.dataset, head.run, head.rubric, head.who):
        assert QApplication.focusWidget() is part
        QTest.keyClick(part, Qt.Key.Key_Down)
        assert part.menu().isVisible()
        QTest.keyClick(part.menu(), Qt.Key.Key_Escape)
        QTest.keyClick(part, Qt.Key.Key_Tab)
    head.run.setFocus()
    QTest.keyClick(head.run, Qt.Key.Key_F7)
    assert main.review.isAncestorOf(main.frame.focusWidget())


@pytest.mark.parametrize("percent", [100, 200])
def test_long_names_lack_their_middle_and_all_parts_are_seen(
    qtbot: QtBot, main: MainContent, other: Path, percent: int
) -> None:
    space = main.workspace
    with RunStore(space.store_path) as store:
        store.name(1, "n" * 255)
    space.set_author("W" * 255)
    open_dataset(qtbot, space, other)
    main.frame.set_text_size(percent)
    qtbot.wait(50)
    head = main.head
    for part in (head.dataset, head.run, head.rubric, head.who):
        assert part.isVisible()
        assert part.mapTo(main.frame, QPoint(part.width(), 0)).x() <= main.frame.width() == 1280
    assert "…" in head.dataset.text()
    assert dataset_of(main.workspace).path.name in head.dataset.toolTip().replace("\u200b", "")
    main.frame.set_text_size(100)


def test_recent_files_that_are_gone_are_marked_and_can_be_removed(qtbot: QtBot, main: MainContent) -> None:
    state, head = main.workspace.state, main.head.dataset
    gone = state.path.with_name("gone & away.tsv")
    state.add_recent("datasets", gone)

    def marked() -> list[str]:
        return [text for text in offered(head) if text.startswith("Not there: gone  away.tsv")]

    qtbot.waitUntil(lambda: len(marked()) == 1)
    [text] = marked()
    offered(head)[text].trigger()
    assert gone not in state.recent("datasets")
    with qtbot.waitSignal(main.workspace.dataset_changed):
        offered(head)["Open the demo dataset"].trigger()
