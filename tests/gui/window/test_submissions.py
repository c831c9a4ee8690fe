"""Submissions in the window: opened with the dataset that they answer, refused, checked, not written over."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from engine.core.health import NOT_LOOKED_AT
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.data.submission import read_submission
from engine.store.run_store import RunStore
from gui.window.check_dialog import CheckDialog
from gui.window.frame import MainWindow
from gui.window.interior import Interior
from gui.work.page_name import PageName
from gui.work.run_picker import CHECK, OPEN_SUBMISSION
from gui.work.state import State

A_WHILE = 60_000
LONG = "n" * 251 + ".tsv"


@pytest.fixture
def interior(qtbot: QtBot, tmp_path: Path, demo_gold: Path) -> Iterator[Interior]:
    """A window with the labelled items that `submission` answers."""
    frame = MainWindow(State(tmp_path / "state"))
    qtbot.addWidget(frame)
    frame.resize(1280, 720)
    frame.show()
    made = Interior(frame, tmp_path / "runs.sqlite")
    made.begin(demo_gold)
    qtbot.waitUntil(lambda: made.workspace.dataset is not None, timeout=A_WHILE)
    yield made
    assert made.end()


@pytest.fixture
def submission(demo_store: Path, tmp_path: Path) -> Path:
    path = tmp_path / "baseline.tsv"
    path.write_bytes(demo_store.with_name("submission.tsv").read_bytes())
    return path


def with_lines(path: Path, *lines: str) -> Path:
    """A submission of labels for one criterion."""
    path.write_text("\n".join(["id\tsafety_preference", *lines, ""]), encoding="utf-8")
    return path


def is_open(interior: Interior) -> str:
    """What is open, by its title; empty where no run is."""
    run = interior.workspace.run
    return run.results.run.title if run else ""


def wait_for(qtbot: QtBot, interior: Interior, title: str) -> None:
    qtbot.waitUntil(lambda: is_open(interior) == title, timeout=A_WHILE)
    qtbot.waitUntil(lambda: interior.frame.page is PageName.REVIEW)


def press(widget: QPushButton | None) -> None:
    assert widget is not None
    widget.click()


def button(parent: object, text: str) -> QPushButton | None:
    assert hasattr(parent, "findChildren")
    buttons = parent.findChildren(QPushButton)
    return next((each for each in buttons if each.text().replace("&", "") == text), None)


@pytest.mark.slow
def test_a_dropped_one_is_opened_with_the_open_dataset_and_shown_in_review(
    qtbot: QtBot, interior: Interior, submission: Path
) -> None:
    notes: list[str] = []
    interior.workspace.note.connect(notes.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(submission))])
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    interior.frame.dropEvent(QDropEvent(QPointF(5, 5), *how))
    wait_for(qtbot, interior, "Submission baseline.tsv")
    qtbot.waitUntil(lambda: bool(interior.review.desk.card.badge.text))
    assert any("baseline.tsv answers 30 of the 30 items of gold.tsv, joined by" in note for note in notes)
    assert interior.notices.isHidden()
    assert interior.review.reading.a.text
    picker = interior.results.picker
    qtbot.waitUntil(lambda: "Submission baseline.tsv on gold.tsv, 30 of 30 items" in picker.currentText())
    for key in (Qt.Key.Key_Space, Qt.Key.Key_W):
        with qtbot.waitSignal(interior.workspace.note, check_params_cb=lambda text: "labels alone" in text):
            qtbot.keyClick(interior.review.list.view, key)


@pytest.mark.slow
def test_nobody_calls_it_a_run_by_its_number(qtbot: QtBot, interior: Interior, submission: Path) -> None:
    few = submission.with_name("few.tsv")
    few.write_bytes(b"\n".join(submission.read_bytes().split(b"\n")[:21]) + b"\n")
    said: list[str] = []
    interior.workspace.note.connect(said.append)
    interior.submissions.open(few)
    wait_for(qtbot, interior, "Submission few.tsv")
    said.append(interior.notices.text)
    answers = [text for text in said if "few.tsv answers 20 of the 30 items of gold.tsv" in text]
    assert len(answers) == 1  # in the status bar, and not once more in the notice
    assert interior.notices.text.startswith("Found in few.tsv:")
    assert "ids missing (10 of 30)" in interior.notices.text
    interior.frame.show_page(PageName.RESULTS)
    qtbot.waitUntil(lambda: interior.results.measurer.scores is not None, timeout=A_WHILE)
    assert interior.results.snapshot.isHidden()
    assert "no probabilities" in interior.results.calibration.state.text()
    assert not interior.results.calibration.fit_button.isEnabled()
    assert not interior.results.calibration.load_button.isEnabled()
    assert not [text for text in said if "run 1" in text.lower()]


@pytest.mark.slow
def test_a_recent_dataset_is_found_that_has_its_ids(
    qtbot: QtBot, interior: Interior, submission: Path, tmp_path: Path, demo_gold: Path
) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("id\tinstruction\toutput_a\toutput_b\n1\tq\ta\tb\n", encoding="utf-8")
    interior.workspace.open_dataset(other)
    interior.submissions.open(submission)  # while another dataset is read
    wait_for(qtbot, interior, "Submission baseline.tsv")
    run = interior.workspace.run
    assert run is not None
    assert run.dataset is not None
    assert run.dataset.path == demo_gold


@pytest.mark.slow
def test_where_no_dataset_has_its_ids_it_says_so_and_asks(
    qtbot: QtBot, interior: Interior, tmp_path: Path
) -> None:
    interior.submissions.open(with_lines(tmp_path / "few.tsv", "1\tA", "2\tB", "x9\tA"))
    qtbot.waitUntil(lambda: interior.submissions.question is not None)
    box = interior.submissions.question
    assert box is not None
    assert "few.tsv answers 3 items." in box.text()
    assert "gold.tsv has 2 of them." in box.informativeText()
    assert is_open(interior) == ""
    assert not interior.workspace.runs
    press(button(box, "Use gold.tsv"))
    wait_for(qtbot, interior, "Submission few.tsv")
    assert "ids that are not in the dataset (1), left out: x9." in interior.notices.text


@pytest.mark.slow
def test_the_dataset_may_be_chosen(qtbot: QtBot, interior: Interior, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("id\tinstruction\toutput_a\toutput_b\nx9\tq\ta\tb\n", encoding="utf-8")
    interior.submissions.open(with_lines(tmp_path / "few.tsv", "x9\tA"))
    qtbot.waitUntil(lambda: interior.submissions.question is not None)
    press(button(interior.submissions.question, "Choose dataset…"))
    qtbot.waitUntil(lambda: bool(interior.frame.findChildren(QFileDialog)))
    [dialog] = interior.frame.findChildren(QFileDialog)
    assert "few.tsv answers" in dialog.windowTitle()
    dialog.fileSelected.emit(str(other))
    dialog.close()
    wait_for(qtbot, interior, "Submission few.tsv")
    assert other in interior.workspace.state.recent("datasets")


def test_a_wrong_file_is_refused_and_nothing_is_kept(
    qtbot: QtBot, interior: Interior, tmp_path: Path, demo_gold: Path
) -> None:
    for name, data, said in (
        ("data.tsv", b"id\tinstruction\toutput_a\toutput_b\n1\tq\ta\tb\n", "is a dataset of pairs, not"),
        ("damaged.tsv", b"id\tsafety_preference\n1\tC\n", "damaged.tsv"),
        ("gone.tsv", None, "gone.tsv"),
    ):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        interior.submissions.open(path)
        qtbot.waitUntil(lambda said=said: said in interior.notices.text)  # type: ignore[misc]
        assert is_open(interior) == ""
        assert interior.submissions.question is None
    interior.submissions.open(with_lines(tmp_path / "few.tsv", "x9\tA"), demo_gold)
    qtbot.waitUntil(lambda: "few.tsv answers no item of gold.tsv" in interior.notices.text)
    assert "Open it with the dataset that it answers" in interior.notices.text
    if interior.workspace.store_path.exists():
        with RunStore(interior.workspace.store_path) as store:
            assert store.runs() == []


@pytest.mark.parametrize("swapped", [False, True])
def test_a_dataset_and_its_submission_are_opened_together(
    qtbot: QtBot, tmp_path: Path, demo_gold: Path, submission: Path, swapped: bool
) -> None:
    frame = MainWindow(State(tmp_path / "fresh"))
    qtbot.addWidget(frame)
    frame.show()
    interior = Interior(frame, tmp_path / "runs.sqlite")
    try:
        interior.begin(*([submission, demo_gold] if swapped else [demo_gold, submission]))
        wait_for(qtbot, interior, "Submission baseline.tsv")
        assert interior.workspace.dataset is not None
        assert interior.workspace.dataset.path == demo_gold
    finally:
        assert interior.end()


@pytest.mark.slow
def test_the_file_that_was_opened_is_not_written_over_whatever_it_is_called(
    qtbot: QtBot, interior: Interior, submission: Path
) -> None:
    copy = submission.with_name("copy.tsv")
    copy.write_bytes(before := submission.read_bytes())
    interior.submissions.open(submission)
    wait_for(qtbot, interior, "Submission baseline.tsv")
    interior.submissions.open(copy)
    qtbot.waitUntil(lambda: "holds what baseline.tsv holds" in interior.notices.text)
    for path in (copy, submission):
        with qtbot.waitSignal(interior.workspace.problem) as problem:
            interior.results.export_explained(path=path)
        assert "would be overwritten" in str(problem.args[0])
        assert path.read_bytes() == before


@pytest.mark.slow
def test_a_run_that_ends_names_the_submission_that_stays_and_its_long_name_widens_nothing(
    qtbot: QtBot, interior: Interior, submission: Path
) -> None:
    long = submission.rename(submission.with_name(f"R&D{LONG[3:]}"))
    space, frame = interior.workspace, interior.frame
    width, least = frame.width(), frame.minimumSizeHint().width()
    interior.submissions.open(long)
    qtbot.waitUntil(lambda: is_open(interior).startswith("Submission R&D"), timeout=A_WHILE)
    assert space.run is not None
    called = space.run.results.run.called
    assert called.startswith("the submission R&Dn")
    qtbot.waitUntil(lambda: any(run.called == called for run in space.runs), timeout=A_WHILE)
    space.tell_ended(7, "has finished", NOT_LOOKED_AT)
    assert f"exports stay with {called}" in interior.notices.text.replace("\u200b", "")
    for page in PageName:
        frame.show_page(page)
        QApplication.processEvents()
    assert (frame.width(), frame.minimumSizeHint().width()) == (width, least)


def test_keys_and_the_list_of_runs_lead_to_the_question_for_a_file(qtbot: QtBot, interior: Interior) -> None:
    keys = interior.menus.keys()
    assert ("Ctrl+Shift+O", "Open submission") in keys
    picker = interior.results.picker
    assert picker.itemText(picker.count() - 1) == OPEN_SUBMISSION
    wanted: list[Callable[[], object]] = [
        partial(picker.activated.emit, picker.findText(OPEN_SUBMISSION)),
        interior.review.nothing.submission.click,
    ]
    for ask in wanted:
        ask()
        qtbot.waitUntil(lambda: bool(interior.frame.findChildren(QFileDialog)))
        [dialog] = interior.frame.findChildren(QFileDialog)
        assert dialog.windowTitle().startswith("Open submission")
        dialog.close()
        qtbot.waitUntil(lambda: not interior.frame.findChildren(QFileDialog))


@pytest.mark.slow
def test_the_check_lists_what_an_export_would_lack_and_copies_it(
    qtbot: QtBot, interior: Interior, tmp_path: Path, demo_gold: Path
) -> None:
    interior.submissions.open(with_lines(tmp_path / "few.tsv", "1\tA", "2\t", "x9\tA"), demo_gold)
    wait_for(qtbot, interior, "Submission few.tsv")
    interior.results.picker.activated.emit(interior.results.picker.findText(CHECK))
    [dialog] = interior.frame.findChildren(CheckDialog)
    qtbot.waitUntil(lambda: "findings" in dialog.outcome.text())
    assert "empty cells in safety_preference (1): ids 2." in dialog.list.toPlainText()
    assert "left out: x9" in dialog.list.toPlainText()
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.text
    dialog.other.click()
    qtbot.waitUntil(lambda: bool(interior.frame.findChildren(QFileDialog)))
    interior.frame.findChildren(QFileDialog)[0].close()


def test_it_is_reviewed_and_exported_but_never_written_over(
    qtbot: QtBot, interior: Interior, submission: Path, tmp_path: Path
) -> None:
    before = submission.read_bytes()
    interior.workspace.set_author("Ada")
    interior.submissions.open(submission)
    wait_for(qtbot, interior, "Submission baseline.tsv")
    card = interior.review.desk.card
    qtbot.waitUntil(lambda: bool(card.badge.text))
    assert card.bars.isHidden()
    assert card.orders.isHidden()
    assert card.mass.isHidden()
    own = card.badge.text
    item, criterion = interior.review.session.item_id, interior.review.session.criterion
    with qtbot.waitSignal(interior.workspace.overrides_changed):
        interior.workspace.override(JudgmentKey(item, criterion), None, "Because I say so.")
    qtbot.waitUntil(lambda: card.explanation.text() == "Because I say so.")
    assert "The judge's own explanation:" in card.by.text()
    other = Preference.BOTH_BAD if own != "Both bad" else Preference.BOTH_GOOD
    interior.review.desk.override_label(other)
    qtbot.waitUntil(lambda: card.own.text().startswith("The judge's own: "))
    interior.results.export_explained(path=submission)
    qtbot.waitUntil(lambda: "would be overwritten" in interior.notices.text)
    assert "submission that is open" in interior.notices.text
    assert submission.read_bytes() == before
    again = tmp_path / "again.tsv"
    interior.results.export_explained(path=again)
    qtbot.waitUntil(again.exists, timeout=A_WHILE)
    [row] = [row for row in read_submission(again).rows if row.id == item]
    assert row.predictions[criterion].explanation == "Because I say so."
    same = [row for row in read_submission(submission).rows if row.id != item]
    assert [row for row in read_submission(again).rows if row.id != item] == same


@pytest.mark.slow
def test_nobody_offers_to_write_its_explanations_again(
    qtbot: QtBot, interior: Interior, submission: Path
) -> None:
    interior.workspace.set_author("Ada")
    interior.submissions.open(submission)
    wait_for(qtbot, interior, "Submission baseline.tsv")
    desk = interior.review.desk
    qtbot.waitUntil(lambda: desk.session.item_id != "", timeout=A_WHILE)
    checked = [label for label, button in desk.card.buttons.labels.items() if button.isChecked()]
    desk.override_label(next(label for label in Preference if label not in checked))
    qtbot.waitUntil(lambda: not desk.card.outdated.isHidden(), timeout=A_WHILE)
    assert interior.review.outdated.isHidden()
