"""The human labels of the Compare page: those of the shown run, or chosen for this page alone."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gui.compare.compare_page import ComparePage
from gui.workspace.workspace import Workspace
from tests.gui.compare.steps import Save, choose, compare


def test_only_other_labels_make_a_comparison_old(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path, save: Save
) -> None:
    same = demo_gold.read_bytes()
    choose(qtbot, page, save("labels.tsv", same), worse)
    compare(qtbot, page)
    for data, stale in ((same, False), (same.replace(b"\tboth_good\t", b"\tA\t"), True)):
        with qtbot.waitSignal(page.choosing.gold_changed):
            page.choosing.choose_gold(save("labels.tsv", data))
        qtbot.waitUntil(lambda: not page._looking.busy)
        assert page.stale.isVisible() is stale


def test_labels_chosen_here_stay_here(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, save: Save
) -> None:
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    assert page.choosing.gold is space.gold
    assert "gold.tsv: 30 items, 5 criteria with labels (the labels of run 1, which is open)" in (
        page.choosing.gold_text.text()
    )
    other = save("other.tsv", demo_gold.read_bytes())
    with qtbot.waitSignal(page.choosing.gold_changed):
        page.choosing.choose_gold(other)
    assert "(chosen here)" in page.choosing.gold_text.text()
    assert page.choosing.gold is not None
    assert page.choosing.gold.path == other
    assert space.gold is not None
    assert space.gold.path == demo_gold
    assert other in space.files_in_use(page).values()
    with qtbot.waitSignal(space.gold_changed):
        space.open_gold(save("third.tsv", demo_gold.read_bytes()))
    assert page.choosing.gold.path == other
    QTest.mouseClick(page.choosing._own_button, Qt.MouseButton.LeftButton)
    assert page.choosing.gold is space.own_gold
    assert other not in space.files_in_use(page).values()


def test_labels_that_cannot_be_read_leave_those_that_were_there(
    qtbot: QtBot, page: ComparePage, space: Workspace, save: Save
) -> None:
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    with qtbot.waitSignal(space.problem):
        page.choosing.choose_gold(save("bad.parquet", b"no dataset"))
    assert page.choosing.gold is space.own_gold
    assert page.choosing.gold_text.text().startswith("gold.tsv")


def test_the_shown_run_and_what_is_joined_by_ids_are_named(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    assert page.choosing.systems.view.item(0).text().startswith("Run 1 (shown): demo-judge")
    assert page.choosing.choice.runs == (1,)  # nobody has chosen yet
    assert space.state.record("compare") == {}
    with qtbot.waitSignal(page.choosing.systems.changed):
        page.choosing.add_files([worse])
    assert compare(qtbot, page) == ""
    assert "30 of 30 ids of worse.tsv are in gold.tsv." in page.view.notes.text()
    assert "of run 1 are in" not in page.view.notes.text()


def test_other_texts_under_the_same_ids_are_refused(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path, save: Save
) -> None:
    lines = demo_gold.read_bytes().split(b"\n")
    first = lines[1].split(b"\t")
    first[2] = b"Another response."
    other = save("other.tsv", b"\n".join([lines[0], b"\t".join(first), *lines[2:]]))
    choose(qtbot, page, other, worse)
    assert "has other texts than run 1 judged under the same ids (1 of 30)" in compare(qtbot, page)


def test_a_choice_that_was_made_does_not_follow_the_shown_run(
    qtbot: QtBot, page: ComparePage, space: Workspace, worse: Path
) -> None:
    with qtbot.waitSignal(page.choosing.systems.changed):
        page.choosing.add_files([worse])
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    assert page.choosing.choice.runs == ()
