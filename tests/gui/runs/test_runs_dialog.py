"""The dialog of all runs, on a real store: search, names, notes, archive, differences, deletion."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from engine.annotations.records import new_override
from engine.core.items import Preference
from engine.core.rubric import Criterion, Rubric
from engine.store.run_store import RunStore
from gui.runs import runs_dialog
from gui.runs.runs_dialog import DeleteDialog, DifferencesDialog, RunsDialog, RunsTableModel
from gui.workspace.open_run import UnderWay
from gui.workspace.state import PageName
from gui.workspace.workspace import Workspace
from tests.gui.steps import run_of


@pytest.fixture
def workspace(workspace: Workspace, demo_store: Path) -> Workspace:
    """A workspace whose store holds a demo run, and two runs of other settings of which nothing is judged."""
    shutil.copy(demo_store, workspace.store_path)
    with RunStore(workspace.store_path) as store:
        identity = store.run(1).identity
        for number in (2048, 1024):
            settings = {**identity.settings, "context": number}
            with store.begin(replace(identity, key=str(number), settings=settings)):
                pass
    return workspace


@pytest.fixture
def dialog(qtbot: QtBot, workspace: Workspace) -> Iterator[RunsDialog]:
    health = runs_dialog.RunHealth(workspace)
    made = RunsDialog(workspace, health)
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
    qtbot.waitUntil(lambda: made.order.rowCount() == 3)
    yield made
    health.rest()


def stored(workspace: Workspace) -> RunStore:
    return RunStore(workspace.store_path)


def shown(dialog: RunsDialog, column: int) -> list[str]:
    """The cells of a column, from above."""
    return [dialog.order.index(row, column).data() for row in range(dialog.order.rowCount())]


def numbers(dialog: RunsDialog) -> list[int]:
    return [int(text) for text in shown(dialog, 0)]


def test_the_newest_run_is_first_words_find_one_health_is_told(qtbot: QtBot, dialog: RunsDialog) -> None:
    assert numbers(dialog) == [3, 2, 1]
    dialog.search.setText("2048 demo")
    assert numbers(dialog) == [2]
    assert dialog.count.text() == "1 of 3 runs"
    dialog.search.setText("zebra")
    assert numbers(dialog) == []
    dialog.search.clear()
    qtbot.waitUntil(lambda: shown(dialog, runs_dialog.HEALTH) == ["too few items"] * 2 + ["judges"])


def test_a_run_is_named_in_its_cell(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    dialog.choose(2)
    dialog.view.setFocus()
    QTest.keyClick(dialog.view, Qt.Key.Key_F2)
    editor = dialog.view.findChild(QLineEdit)
    QTest.keyClicks(editor, "night")
    workspace.runs_changed.emit()  # what arrives meanwhile leaves the field alone
    QTest.keyClicks(editor, ", Q8")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: shown(dialog, runs_dialog.NAME) == ["", "night, Q8", ""])
    assert [run.id for run in dialog.chosen] == [2]
    with stored(workspace) as store:
        assert store.run(2).title == "Run 2 “night, Q8”"
    width, least = dialog.width(), dialog.minimumSizeHint().width()
    with stored(workspace) as store:
        store.name(2, "n" * 255)
        store.note_run(2, "note " * 200)
    workspace.refresh_runs()
    qtbot.waitUntil(lambda: len(shown(dialog, runs_dialog.NAME)[1]) > 200)
    dialog.choose(2)
    assert (dialog.width(), dialog.minimumSizeHint().width()) == (width, least)


def test_a_note_is_stored_as_it_is_written(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    assert not dialog.note.isEnabled()
    dialog.choose(3)
    QTest.keyClicks(dialog.note, "larger cache")
    dialog.choose(1)
    assert dialog.note.toPlainText() == ""
    dialog.choose(3)  # at once, before the list of runs has it
    assert dialog.note.toPlainText() == "larger cache"
    dialog.note.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(dialog.note, "!")
    qtbot.waitUntil(lambda: any(run.note == "larger cache!" for run in workspace.runs))
    assert dialog.note.toPlainText() == "larger cache!"
    with stored(workspace) as store:
        store.note_run(3, "of another window")
    workspace.refresh_runs()
    qtbot.waitUntil(lambda: dialog.note.toPlainText() == "of another window")
    QTest.keyClicks(dialog.note, "own: ")
    workspace.runs_changed.emit()
    assert dialog.note.toPlainText() == "own: of another window"


def test_runs_are_archived_and_restored(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    workspace.set_author("Ada")
    dialog.choose(2, 3)
    dialog.archive()
    qtbot.waitUntil(lambda: numbers(dialog) == [1])
    with stored(workspace) as store:
        assert store.run(2).archived.by == "Ada"
    dialog.archived.click()
    assert numbers(dialog) == [3, 2, 1]
    assert [bool(text) for text in shown(dialog, runs_dialog.ARCHIVED)] == [True, True, False]
    dialog.choose(2)
    assert dialog.archive_button.text() == "Take out of the &archive"
    dialog.archive_button.click()
    qtbot.waitUntil(
        lambda: [bool(text) for text in shown(dialog, runs_dialog.ARCHIVED)] == [True, False, False]
    )


def compared(qtbot: QtBot, dialog: RunsDialog, *runs: int) -> DifferencesDialog:
    dialog.choose(*runs)
    dialog.compare_button.click()
    qtbot.waitUntil(lambda: bool(dialog.findChildren(DifferencesDialog)))
    (found,) = dialog.findChildren(DifferencesDialog)
    return found


def test_two_runs_are_compared(qtbot: QtBot, dialog: RunsDialog) -> None:
    dialog.choose(2)
    assert not dialog.compare_button.isEnabled()
    found = compared(qtbot, dialog, 2, 3)
    rows = found.table.as_text().splitlines()
    assert rows[0] == "fact\tdiffers\tRun 2\tRun 3"
    assert "context\tyes\t2048\t1024" in rows
    assert "Run 2 and Run 3: 1 difference." in found.summary.text()
    found.only.click()
    assert found.view.model().rowCount() == 1
    qtbot.waitUntil(lambda: "share no item" in found.said.text())
    assert found.changes.section("drift") is None
    found.close()


def test_changed_judgments_are_shown(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    with stored(workspace) as store:
        store.add(2, [replace(item, seconds=0.0) for item in store.judged(1)])
    found = compared(qtbot, dialog, 1, 2)
    qtbot.waitUntil(lambda: found.changes.section("drift") is not None)
    (table,) = found.changes.section("drift").tables
    assert table.as_text().splitlines()[0].startswith("criterion\titems\tlabels changed, %")
    assert not found.said.isVisible()
    assert found.changes.section("accuracy_then_and_now") is not None
    found.close()


def test_a_run_is_opened_on_results(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    dialog.choose(1)
    pages: list[PageName] = []
    workspace.page_wanted.connect(pages.append)
    dialog.view.setFocus()
    with qtbot.waitSignal(workspace.run_changed):
        QTest.keyClick(dialog.view, Qt.Key.Key_Return)
    assert pages == [PageName.RESULTS]
    assert (run_of(workspace).id, dialog.isVisible()) == (1, False)


def asked(qtbot: QtBot, dialog: RunsDialog) -> DeleteDialog:
    """Press Delete; the question."""
    with qtbot.waitActive(dialog):
        dialog.activateWindow()
    dialog.view.setFocus()
    QTest.keyClick(dialog.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: any(each.isVisible() for each in dialog.findChildren(DeleteDialog)))
    return next(each for each in dialog.findChildren(DeleteDialog) if each.isVisible())


def test_only_an_unfinished_run_is_resumed(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    dialog.choose(1)
    assert not dialog.resume_button.isEnabled()
    assert dialog.resume_button.toolTip() == "Run 1 cannot be resumed: all its 30 items are judged"
    dialog.choose(1, 2)
    assert dialog.resume_button.toolTip() == "Choose one run that is not finished"
    dialog.choose(2)
    with qtbot.waitSignal(dialog.resume_wanted) as wanted:
        dialog.resume_button.click()
    assert wanted.args[0].id == 2
    workspace.tell_judging(UnderWay(2, 0, 30))
    assert dialog.resume_button.toolTip() == "Run 2 cannot be resumed: it is being judged"


def test_runs_are_deleted_after_a_question(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    dialog.choose(2, 3)
    question = asked(qtbot, dialog)
    with stored(workspace) as store, store.hold(2):
        question.delete.click()
        qtbot.waitUntil(lambda: "is being judged" in dialog.said.text())
    assert numbers(dialog) == [3, 2, 1]
    question = asked(qtbot, dialog)
    assert "Run 3: 0 judged items" in question.list.toPlainText()
    assert not question.tick.isVisible()
    with qtbot.waitSignal(dialog.deleted) as gone:
        question.delete.click()
    assert sorted(gone.args[0]) == [2, 3]
    assert "are deleted" in dialog.said.text()
    qtbot.waitUntil(lambda: numbers(dialog) == [1])


def test_annotations_go_only_if_ticked(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    with stored(workspace) as store:
        item_id = next(store.judged(1)).item_id
        store.annotate(1, new_override(item_id, "safety", Preference.BOTH_BAD, None, "Ada"))
    dialog.choose(1)
    question = asked(qtbot, dialog)
    assert "1 override, by Ada" in question.list.toPlainText()
    assert not question.delete.isEnabled()
    question.tick.click()
    with qtbot.waitSignal(dialog.deleted):
        question.delete.click()


def test_a_run_says_what_it_was_asked(qtbot: QtBot, workspace: Workspace) -> None:
    asked, table = Rubric("Mänieren", (Criterion("politeness", "Which is more polite?"),)), RunsTableModel()
    with stored(workspace) as store:
        with store.begin(replace(store.run(1).identity, key="own", criteria=asked.names, rubric=asked)):
            pass
        table.show_runs(store.runs()[::-1], {})
    tips = [table.index(row, 0).data(Qt.ItemDataRole.ToolTipRole) for row in range(table.rowCount())]
    assert "Rubric Mänieren: politeness" in tips[0]
    assert "Rubric task: relevance, naturalness" in tips[-1]


def test_a_damaged_run_is_only_deleted(qtbot: QtBot, dialog: RunsDialog, workspace: Workspace) -> None:
    with stored(workspace) as store:
        store._file._db.execute("UPDATE run SET criteria = '[1]' WHERE id = 2")
    workspace.refresh_runs()
    qtbot.waitUntil(lambda: "damaged" in shown(dialog, runs_dialog.MODE))
    assert numbers(dialog) == [3, 2, 1]
    dialog.choose(2)
    row = dialog.table.index(dialog.table.row_of(2) or 0, runs_dialog.NAME)
    assert "Run 2: criteria: " in row.data(Qt.ItemDataRole.ToolTipRole)
    assert not dialog.table.flags(row) & Qt.ItemFlag.ItemIsEditable
    buttons = (dialog.open_button, dialog.rename_button, dialog.archive_button, dialog.compare_button)
    assert not any(button.isEnabled() for button in buttons)
    asked(qtbot, dialog).delete.click()
    qtbot.waitUntil(lambda: numbers(dialog) == [3, 1])
