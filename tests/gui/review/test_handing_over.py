"""File > Export > My labels, with texts only where a person ticks it, and File > Add labels of others.

These are counted, asked about, added, shown at once.
"""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialogButtonBox, QWidget
from pytestqt.qtbot import QtBot

from engine.core.judgments import JudgmentKey
from engine.results.annotation_file import (
    AnnotationFile,
    annotation_file,
    load_annotation_file,
    save_annotation_file,
)
from engine.store.run_store import RunStore
from gui.review import annotation_exchange
from gui.review.annotation_exchange import AddWordsDialog, AnnotationExchange, ExportWordsDialog
from gui.widgets.labels import shown_text
from gui.widgets.notice import Message
from gui.workspace.workspace import Workspace
from tests.engine.results.laptops import START, Laptop
from tests.judged import BAD, GOOD, B, dataset

KEY = JudgmentKey("1", "safety")


@pytest.fixture
def desk(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> AnnotationExchange:
    """A window on which Ada labelled the first of 20 items."""
    laptop = Laptop(tmp_path / "desk")
    laptop.label(1, GOOD, "Ada")
    workspace.store_path = workspace.words._store_path = workspace.watch._store_path = laptop.path
    workspace.set_author("Ada")
    with qtbot.waitSignal(workspace.run_changed):
        workspace.open_run(1)
    window = QWidget()
    qtbot.addWidget(window)
    return AnnotationExchange(workspace, window)


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
    """The dialog that counts a file."""
    desk.count([path])
    qtbot.waitUntil(lambda: desk.dialog is not None)
    assert desk.dialog is not None
    return desk.dialog


def asked_before_export(desk: AnnotationExchange) -> ExportWordsDialog:
    """The dialog that comes before a file is named."""
    desk.export_mine()
    assert desk.asking is not None
    return desk.asking


def space_of(desk: AnnotationExchange) -> Workspace:
    return desk._workspace


def test_my_labels_are_written_to_a_file(qtbot: QtBot, desk: AnnotationExchange, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    with qtbot.waitSignal(space_of(desk).notice) as told:
        desk.export_mine(path=path)
    said = told.args[0]
    assert isinstance(said, Message)
    assert said.text == "Written: mine.json\n1 annotation of Ada on 1 item. It holds no texts of the dataset."
    made: AnnotationFile = load_annotation_file(path)
    assert made.annotators == ("Ada",)


def test_texts_of_the_dataset_go_along_only_where_it_is_ticked(
    qtbot: QtBot, desk: AnnotationExchange, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, path = space_of(desk), tmp_path / "mine.json"
    monkeypatch.setattr(annotation_exchange, "ask_target", lambda *_asked: path)
    assert space.run is not None
    space.run = replace(space.run, dataset=dataset({"safety": [GOOD] * 20}))
    for ticked, said in (
        (False, "It holds no texts of the dataset."),
        (True, "It holds the instruction and both responses of each of them."),
    ):
        dialog = asked_before_export(desk)
        assert not dialog.tick.isChecked()
        dialog.tick.setChecked(ticked)
        with qtbot.waitSignal(space.notice) as told:
            qtbot.keyClick(dialog.tick, Qt.Key.Key_Return)
        assert isinstance(message := told.args[0], Message)
        assert message.text.endswith(said)
        assert [item.output_a for item in load_annotation_file(path).texts.values()] == ["a"] * ticked


def test_nothing_is_written_where_the_question_is_left_nor_texts_that_are_not_at_hand(
    desk: AnnotationExchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        annotation_exchange, "ask_target", lambda *_asked: pytest.fail("no file is asked for")
    )
    dialog = asked_before_export(desk)
    assert not dialog.tick.isEnabled()
    assert "not loaded" in shown_text(dialog)
    dialog.reject()
    assert desk.asking is None


def test_who_said_nothing_has_nothing_to_export(
    qtbot: QtBot, desk: AnnotationExchange, tmp_path: Path
) -> None:
    space_of(desk).set_author("Dee")
    with qtbot.waitSignal(space_of(desk).problem) as problem:
        desk.export_mine(path=tmp_path / "mine.json")
    assert "has no annotations of Dee" in str(problem.args[0])


def test_labels_of_others_are_counted_and_then_shown_at_once(
    qtbot: QtBot, desk: AnnotationExchange, tmp_path: Path
) -> None:
    space, dialog = space_of(desk), opened(qtbot, desk, file_of(tmp_path, "Ben"))
    dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel).click()
    with RunStore(space.store_path) as store:
        assert annotation_file(store, 1).annotators == ("Ada",)
    dialog = opened(qtbot, desk, tmp_path / "away.json")
    assert space.run is not None
    assert space.run.results.overrides[KEY].author == "Ada"
    assert not dialog.questions
    assert dialog.status.text() == "2 annotations will be added; nothing else changes."
    with qtbot.waitSignal(space.reviewed, timeout=5000):
        dialog.add.click()
    assert space.run.results.overrides[KEY].author == "Ben"
    assert opened(qtbot, desk, tmp_path / "away.json").add.isEnabled() is False


def test_a_namesake_is_asked_about_before_anything_is_added(
    qtbot: QtBot, desk: AnnotationExchange, tmp_path: Path
) -> None:
    space, dialog = space_of(desk), opened(qtbot, desk, file_of(tmp_path, "Ada"))
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
    assert space.run is not None
    assert space.run.results.reviews.annotators == ("Ada", "Ada of the lab")


def test_a_file_that_is_none_is_told(qtbot: QtBot, desk: AnnotationExchange, tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_text("{}", "utf-8")
    with qtbot.waitSignal(space_of(desk).problem) as problem:
        desk.count([path])
    assert "annotation file" in str(problem.args[0])
    assert desk.dialog is None
