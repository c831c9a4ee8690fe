"""File > Export > My annotations, with texts only where it is ticked, and File > Import annotations: those of
others are counted, asked about, added, shown at once.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QWidget
from pytestqt.qtbot import QtBot

from engine.core.judgments import JudgmentKey
from engine.results.annotation_file import annotation_file, load_annotation_file, save_annotation_file
from engine.store.run_store import RunStore
from gui.review import annotation_exchange
from gui.review.annotation_exchange import (
    AddWordsDialog,
    AnnotationExchange,
    AssignDialog,
    ExportWordsDialog,
    SheetDialog,
)
from gui.widgets.notice import Message
from gui.widgets.views import TableModel
from gui.workspace.workspace import Workspace
from tests.engine.results.laptops import START, Laptop
from tests.gui.labels import shown_text
from tests.judged import BAD, GOOD, B, dataset

KEY = JudgmentKey("1", "safety")


@pytest.fixture
def space(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> Workspace:
    """One in which Ada labelled the first of 20 items."""
    laptop = Laptop(tmp_path / "desk")
    laptop.label(1, GOOD, "Ada")
    workspace.store_path = workspace.words._store_path = workspace.watch._store_path = laptop.path
    workspace.set_author("Ada")
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    return workspace


@pytest.fixture
def desk(
    qtbot: QtBot, space: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AnnotationExchange:
    """Its window, in which the file to be written is always `mine.json`."""
    monkeypatch.setattr(annotation_exchange, "ask_target", lambda *_asked: tmp_path / "mine.json")
    window = QWidget()
    qtbot.addWidget(window)
    return AnnotationExchange(space, window)


def file_of(folder: Path, name: str) -> Path:
    """What one of this name said of two items on another laptop."""
    away = Laptop(folder / "away")
    away.at = START + timedelta(hours=1)
    away.label(1, BAD, name)
    away.label(2, B, name)
    path = folder / "away.json"
    save_annotation_file(path, away.file())
    return path


def opened(qtbot: QtBot, desk: AnnotationExchange, path: Path) -> AddWordsDialog:
    desk.count([path])
    qtbot.waitUntil(lambda: desk.dialog is not None)
    return desk.dialog


def asked(desk: AnnotationExchange) -> ExportWordsDialog:
    """The dialog that comes before a file is named."""
    desk.export_mine()
    assert isinstance(desk.asking, ExportWordsDialog)
    return desk.asking


def assigning(desk: AnnotationExchange) -> AssignDialog:
    desk.assign()
    assert isinstance(desk.asking, AssignDialog)
    return desk.asking


def problem(qtbot: QtBot, space: Workspace, act: Callable[[], object]) -> str:
    with qtbot.waitSignal(space.problem) as told:
        act()
    return str(told.args[0])


def test_texts_of_the_dataset_go_along_only_where_it_is_ticked(
    qtbot: QtBot, space: Workspace, desk: AnnotationExchange, tmp_path: Path
) -> None:
    space.run = replace(space.run, dataset=dataset({"safety": [GOOD] * 20}))
    for ticked, said in (
        (False, "It holds no texts of the dataset."),
        (True, "It holds the instruction and both responses of each of them."),
    ):
        dialog = asked(desk)
        assert not dialog.tick.isChecked()
        dialog.tick.setChecked(ticked)
        with qtbot.waitSignal(space.notice) as told:
            qtbot.keyClick(dialog.tick, Qt.Key.Key_Return)
        assert isinstance(message := told.args[0], Message)
        assert message.text == f"Written: mine.json\n1 annotation of Ada on 1 item. {said}"
        assert "Show in folder" in message.steps
        made = load_annotation_file(tmp_path / "mine.json")
        assert made.annotators == ("Ada",)
        assert [item.output_a for item in made.texts.values()] == ["a"] * ticked


def test_nothing_is_written_where_the_question_is_left_nor_texts_that_are_not_at_hand(
    desk: AnnotationExchange, tmp_path: Path
) -> None:
    dialog = asked(desk)
    assert not dialog.tick.isEnabled()
    assert "not loaded" in shown_text(dialog)
    dialog.reject()
    assert desk.asking is None
    assert not (tmp_path / "mine.json").exists()


def test_who_said_nothing_has_nothing_to_export_and_a_file_that_is_none_is_told(
    qtbot: QtBot, space: Workspace, desk: AnnotationExchange, tmp_path: Path
) -> None:
    space.set_author("Dee")
    assert "has no annotations of Dee" in problem(qtbot, space, asked(desk).accept)
    path = tmp_path / "labels.json"
    path.write_text("{}", "utf-8")
    assert "annotation file" in problem(qtbot, space, lambda: desk.count([path]))
    assert desk.dialog is None


def test_a_sheet_of_the_runs_items_and_criteria_is_written_blind_and_of_a_sample_as_it_is_asked_for(
    qtbot: QtBot, space: Workspace, desk: AnnotationExchange, tmp_path: Path
) -> None:
    space.dataset = None
    assert "No dataset is open" in problem(qtbot, space, desk.export_sheet)
    space.run = replace(space.run, dataset=dataset({"safety": [GOOD] * 20}))
    desk.export_sheet()
    dialog = desk.asking
    assert isinstance(dialog, SheetDialog)
    assert (dialog.tick.isChecked(), dialog.number.maximum(), dialog.sample) == (False, 20, None)
    dialog.tick.setChecked(True)
    dialog.number.setValue(7)
    with qtbot.waitSignal(space.notice) as told:
        qtbot.keyClick(dialog.number, Qt.Key.Key_Return)
    message = told.args[0]
    assert isinstance(message, Message)
    assert message.text.startswith(
        "Written: mine.json: 7 items of gold.tsv at random, seed 0, 1 criterion, blind."
    )
    assert '"name":"safety"' in (tmp_path / "mine.json").read_text("ascii")


def test_items_are_assigned_as_the_plan_says_over_no_file_that_is_there(
    qtbot: QtBot,
    space: Workspace,
    desk: AnnotationExchange,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "dealt"
    monkeypatch.setattr(annotation_exchange, "ask_folder", lambda *_asked: folder)
    space.run = replace(space.run, dataset=dataset({"safety": [GOOD] * 20}))
    dialog = assigning(desk)
    assert dialog.annotators.toPlainText() == "Ada"
    dialog.numbers["overlap"].setValue(2)
    dialog.act_button.click()
    qtbot.waitUntil(lambda: "overlap of 2" in shown_text(dialog.notice))
    assert not dialog.planned
    qtbot.keyClick(dialog.annotators, Qt.Key.Key_Return)
    qtbot.keyClicks(dialog.annotators, "Ben ")
    for each, number in {"training": 2, "gold": 3, "repeats": 4}.items():
        dialog.numbers[each].setValue(number)
    dialog.act_button.click()
    qtbot.waitUntil(lambda: dialog.planned)
    [table] = dialog.sheet.findChildren(TableModel)
    cells = [[table.index(row, column).data() for column in range(5)] for row in range(table.rowCount())]
    assert cells == [["Ada", "2", "3", "15", "4"], ["Ben", "2", "3", "15", "4"]]
    assert not folder.exists()
    dialog.numbers["repeats"].setValue(1)
    assert not dialog.planned
    assert not dialog.use_button.isVisible()
    dialog.act_button.click()
    qtbot.waitUntil(dialog.use_button.isVisible)
    with qtbot.waitSignal(space.notice) as told:
        dialog.use_button.click()
    assert told.args[0].text.startswith("Written: dealt\nAda.tsv: 2 training items")
    assert {path.name for path in folder.iterdir()} == {"Ben.tsv", "Ada.tsv", "assignment.tsv"}
    again = assigning(desk)
    again.annotators.setPlainText("Ben")
    again.act_button.click()
    qtbot.waitUntil(lambda: again.planned)
    again.use_button.click()
    refused = "has Ben.tsv, assignment.tsv already"
    qtbot.waitUntil(lambda: refused in shown_text(again.notice))

    def write_and_close() -> None:
        again.use_button.click()
        again.reject()

    assert refused in problem(qtbot, space, write_and_close)


def test_labels_of_others_are_counted_and_then_shown_at_once(
    qtbot: QtBot, space: Workspace, desk: AnnotationExchange, tmp_path: Path
) -> None:
    dialog = opened(qtbot, desk, file_of(tmp_path, "Ben"))
    dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel).click()
    with RunStore(space.store_path) as store:
        assert annotation_file(store, 1).annotators == ("Ada",)
    dialog = opened(qtbot, desk, tmp_path / "away.json")
    assert space.run.results.overrides[KEY].author == "Ada"
    assert not dialog.questions
    assert dialog.status.text() == "2 annotations will be added; nothing else changes."
    with qtbot.waitSignal(space.reviewed, timeout=5000):
        dialog.add.click()
    assert space.run.results.overrides[KEY].author == "Ben"
    assert opened(qtbot, desk, tmp_path / "away.json").add.isEnabled() is False


def test_a_namesake_is_asked_about_before_anything_is_added(
    qtbot: QtBot, space: Workspace, desk: AnnotationExchange, tmp_path: Path
) -> None:
    dialog = opened(qtbot, desk, file_of(tmp_path, "Ada"))
    [question] = dialog.questions
    assert not dialog.add.isEnabled()
    assert dialog.status.text() == "1 name is still to be decided."
    qtbot.keyClick(question.one, Qt.Key.Key_Space)
    assert dialog.answers == {(question.asked.store, "Ada"): "Ada"}
    question.two.setChecked(True)
    question.field.setText("Ada")
    assert not dialog.add.isEnabled()  # another person needs another name
    question.field.setText("Ada of the lab")
    with qtbot.waitSignal(space.reviewed, timeout=5000):
        dialog.add.click()
    assert space.run.results.reviews.annotators == ("Ada", "Ada of the lab")
