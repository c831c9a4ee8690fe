"""Columns are asked for wherever the window takes a file of items: once, by the same dialog."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QWidget
from pytestqt.qtbot import QtBot

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError
from engine.data.column_memory import remember, remembered
from engine.store.run_store import RunStore
from gui.compare.compare_page import ComparePage
from gui.dataset.columns_dialog import ColumnAsker, ColumnsDialog
from gui.judge.run_control import default_setup
from gui.judge.settings_panel import AdvancedPanel
from gui.results.scores_panel import GoldPicker
from gui.review.notices import MissingDataset
from gui.window.openers import SubmissionOpener
from gui.workspace.state import State
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.foreign_gold import COLUMNS, foreign_gold, judged_by_columns, with_a_mistake

OWN = ("uid", "prompt", "response_a", "response_b", "winner")


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def asker(space: Workspace, window: QWidget) -> ColumnAsker:
    return ColumnAsker(space, window)


@pytest.fixture
def foreign(demo_gold: Path, tmp_path: Path) -> Path:
    return foreign_gold(demo_gold, tmp_path)


def asked(qtbot: QtBot, asker: ColumnAsker) -> ColumnsDialog:
    """The dialog, once what is guessed can be opened."""
    qtbot.waitUntil(lambda: asker.dialog is not None, timeout=10_000)
    dialog = asker.dialog
    assert dialog is not None
    qtbot.waitUntil(lambda: bool(dialog.items.toPlainText()), timeout=10_000)
    return dialog


def answer(qtbot: QtBot, asker: ColumnAsker, keep: bool = True) -> None:
    """Take what is guessed."""
    dialog = asked(qtbot, asker)
    dialog.remember.setChecked(keep)
    qtbot.waitUntil(dialog.open_button.isEnabled)
    QTest.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    asker.dialog = None


def leave(dialog: ColumnsDialog) -> None:
    QTest.mouseClick(dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel), Qt.MouseButton.LeftButton)


def open_run(qtbot: QtBot, space: Workspace) -> None:
    with qtbot.waitSignal(space.run_changed, timeout=10_000):
        space.open_run(1)


@pytest.mark.parametrize("keep", [True, False])
def test_other_human_labels_on_results(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path, keep: bool
) -> None:
    open_run(qtbot, space)
    picker = GoldPicker(space)
    qtbot.addWidget(picker)
    picker.open(foreign)
    asked(qtbot, asker)
    assert "Reading" not in picker.status.text()
    with qtbot.waitSignal(space.gold_changed, timeout=10_000):
        answer(qtbot, asker, keep)
    assert space.gold is not None
    assert (space.gold.path, space.gold.criteria) == (foreign, ("overall_quality",))
    assert "foreign.csv, chosen on Results" in picker.status.text()
    assert remembered(OWN) == (COLUMNS if keep else None)
    if keep:
        with qtbot.waitSignal(space.gold_changed, timeout=10_000):
            space.open_gold(foreign)
        assert asker.dialog is None


def test_who_leaves_the_question_keeps_the_labels_of_before(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    open_run(qtbot, space)
    before = space.gold
    space.open_gold(foreign)
    with qtbot.assertNotEmitted(space.problem, wait=100):
        leave(asked(qtbot, asker))
    assert space.gold is before


def test_a_mistake_further_down_is_shown_where_the_columns_are_asked_again(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    open_run(qtbot, space)
    mistaken = with_a_mistake(foreign)
    remember(OWN, COLUMNS)
    space.open_gold(mistaken)
    dialog = asked(qtbot, asker)
    assert dialog.request.problem.startswith("mistaken.csv")
    assert "unknown label 'the left one'" in dialog.request.problem
    assert dialog.labels.boxes["the left one"].currentText() == "?"
    with qtbot.waitSignal(space.problem) as told:
        leave(dialog)
    assert told.args is not None
    assert isinstance(told.args[0], ColumnsError)


def test_who_needs_labels_is_asked_which_column_holds_them(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    """Where nothing was said of labels, also if that is remembered."""
    remember(OWN, ColumnMap.of({**COLUMNS.source_of, "overall_quality_preference": ""}))
    open_run(qtbot, space)
    space.open_gold(foreign)
    dialog = asked(qtbot, asker)
    assert dialog.request.problem == "foreign.csv: no column is chosen for human labels."
    field = dialog.fields["overall"].by_target["overall_quality_preference"]
    field.setCurrentIndex(field.findData("winner"))
    qtbot.waitUntil(lambda: dialog.labels.labels.get("tie (bothgood)") == "both_good", timeout=10_000)
    with qtbot.waitSignal(space.gold_changed, timeout=10_000):
        answer(qtbot, asker)
    assert space.gold is not None
    assert space.gold.criteria == ("overall_quality",)


def test_what_was_not_to_be_remembered_is_not_ticked_when_it_is_asked_again(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    space.open_gold(with_a_mistake(foreign))
    dialog = asked(qtbot, asker)
    assert dialog.remember.isChecked()
    dialog.remember.setChecked(False)
    asker.dialog = None
    dialog.chosen.emit(dialog.request.path, COLUMNS, dialog.remember.isChecked())
    assert not asked(qtbot, asker).remember.isChecked()


def test_labels_on_compare(qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path) -> None:
    page = ComparePage(space)
    qtbot.addWidget(page)
    page.choosing.choose_gold(foreign)
    with qtbot.waitSignal(page.choosing.gold_changed, timeout=10_000):
        answer(qtbot, asker)
    assert f"foreign.csv: {DEMO_ITEMS} items, 1 criterion" in page.choosing.gold_text.text()


def test_labelled_examples_on_judge(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    panel = AdvancedPanel(space)
    qtbot.addWidget(panel)
    panel._examples._take(foreign)
    leave(asked(qtbot, asker))
    assert panel.in_setup(default_setup()).examples_path is None
    asker.dialog = None
    panel._examples._take(foreign)
    with qtbot.waitSignal(panel.changed, timeout=10_000):
        answer(qtbot, asker, keep=False)
    setup = panel.in_setup(default_setup())
    assert (setup.examples_path, setup.example_columns) == (foreign, COLUMNS)
    panel._examples._take(foreign)
    leave(asked(qtbot, asker))
    setup = panel.in_setup(default_setup())
    assert (setup.examples_path, setup.example_columns) == (foreign, COLUMNS)
    panel._examples._take(None)
    assert panel.in_setup(default_setup()).example_columns is None


def test_the_dataset_of_a_run_that_lies_elsewhere_is_read_as_the_run_read_it(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    judged_by_columns(space.store_path, foreign)
    moved = Path(shutil.move(foreign, foreign.with_name("moved.csv")))
    missing = MissingDataset(space)
    qtbot.addWidget(missing)
    open_run(qtbot, space)
    missing.follow()
    with qtbot.waitSignal(space.run_changed, timeout=10_000):
        missing.look_in(moved)
    assert space.run is not None
    assert space.run.dataset is not None
    assert (space.run.dataset.path, space.run.dataset.columns) == (moved, COLUMNS)
    assert asker.dialog is None


def test_the_dataset_of_an_older_run_is_asked_for_where_it_is_looked_for(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    judged_by_columns(space.store_path, foreign.with_name("gone.csv"), columns=None)
    missing = MissingDataset(space)
    qtbot.addWidget(missing)
    open_run(qtbot, space)
    with qtbot.assertNotEmitted(space.dataset_failed):  # which would lead to the page Dataset
        missing.look_in(foreign)
        asked(qtbot, asker)
    with qtbot.waitSignal(space.run_changed, timeout=10_000):
        answer(qtbot, asker)
    assert space.run is not None
    assert space.run.dataset is not None


def test_the_dataset_that_a_submission_answers(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, window: QWidget, foreign: Path, demo_store: Path
) -> None:
    submission = Path(shutil.copy(demo_store.with_name("submission.tsv"), foreign.with_name("sub.tsv")))
    opener = SubmissionOpener(space, window)
    opener.open(submission, foreign)
    with qtbot.waitSignal(space.run_changed, timeout=20_000):
        answer(qtbot, asker, keep=False)
    assert space.run is not None
    assert space.run.dataset is not None
    assert space.run.results.run.columns == space.run.dataset.columns == COLUMNS
    again = Workspace(space.threads, State(foreign.parent / "other"), space.store_path)
    with qtbot.waitSignal(again.run_changed, timeout=10_000):
        again.open_run(space.run.id)
    assert again.run is not None
    assert again.run.dataset is not None


def test_a_submission_waits_for_the_columns_of_the_dataset_that_came_with_it(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, window: QWidget, foreign: Path, demo_store: Path
) -> None:
    submission = Path(shutil.copy(demo_store.with_name("submission.tsv"), foreign.with_name("sub.tsv")))
    opener = SubmissionOpener(space, window)
    with qtbot.waitSignal(space.dataset_failed, timeout=10_000):
        opener.open_files([foreign, submission])
    with qtbot.waitSignal(space.run_changed, timeout=20_000):
        space.open_dataset(foreign, COLUMNS, remember=False)  # as the page Dataset does
    assert space.run is not None
    assert space.run.results.run.submitted


def test_a_run_finds_its_items_after_a_restart_by_the_columns_it_was_judged_with(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    judged_by_columns(space.store_path, foreign)
    open_run(qtbot, space)
    assert space.run is not None
    assert space.run.dataset is not None
    assert space.run.dataset.columns == COLUMNS
    assert space.gold is not None
    with qtbot.waitSignal(space.gold_changed, timeout=10_000):
        space.open_gold(foreign)  # also where a person chooses the file once more
    assert asker.dialog is None


def test_the_dataset_of_last_time_is_open_again_also_where_its_columns_are_not_remembered(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    with qtbot.waitSignal(space.dataset_changed, timeout=10_000):
        space.open_dataset(foreign, COLUMNS, remember=False)
    again = Workspace(space.threads, space.state, space.store_path)
    with qtbot.waitSignal(again.dataset_changed, timeout=10_000):
        again.open_last(foreign)
    assert again.dataset is not None
    assert again.dataset.columns == COLUMNS
    with qtbot.waitSignal(again.dataset_failed, timeout=10_000):
        again.open_dataset(foreign)


def test_labels_may_be_said_to_mean_something_else_than_for_the_run(
    qtbot: QtBot, space: Workspace, foreign: Path
) -> None:
    """What a person says now comes before what the run keeps."""
    judged_by_columns(space.store_path, foreign)
    other = ColumnMap.of(COLUMNS.source_of, {**COLUMNS.meaning_of, "tie (bothgood)": ""})
    with qtbot.waitSignal(space.dataset_changed, timeout=10_000):
        space.open_dataset(foreign, other, remember=False)
    open_run(qtbot, space)
    assert space.gold is not None
    assert space.gold.columns == other
    with RunStore(space.store_path) as store:
        assert store.run(1).columns == COLUMNS
