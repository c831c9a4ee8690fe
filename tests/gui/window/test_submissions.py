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
from gui.results.export_jobs import Form
from gui.widgets.action_table import keys_of
from gui.window.dialogs import CheckDialog
from gui.window.frame import MainWindow
from gui.window.main_content import MainContent
from gui.workspace.run_picker import CHECK, OPEN_SUBMISSION
from gui.workspace.state import PageName, State
from tests.gui.steps import whole_window

LONG = "n" * 251 + ".tsv"


@pytest.fixture
def main_content(qtbot: QtBot, tmp_path: Path, demo_gold: Path) -> Iterator[MainContent]:
    """A window with the labelled items that `submission` answers."""
    with whole_window(qtbot, tmp_path, demo_gold) as made:
        yield made


@pytest.fixture
def submission(demo_store: Path, tmp_path: Path) -> Path:
    path = tmp_path / "baseline.tsv"
    path.write_bytes(demo_store.with_name("submission.tsv").read_bytes())
    return path


def with_lines(path: Path, *lines: str) -> Path:
    """A submission of labels for one criterion."""
    path.write_text("\n".join(["id\tsafety_preference", *lines, ""]), encoding="utf-8")
    return path


def is_open(main_content: MainContent) -> str:
    """What is open, by its title; empty where no run is."""
    run = main_content.workspace.run
    return run.results.run.title if run else ""


def wait_for(qtbot: QtBot, main_content: MainContent, title: str) -> None:
    qtbot.waitUntil(lambda: is_open(main_content) == title)
    qtbot.waitUntil(lambda: main_content.frame.page is PageName.REVIEW)


def press(widget: QPushButton | None) -> None:
    assert widget is not None
    widget.click()


def button(parent: object, text: str) -> QPushButton | None:
    assert hasattr(parent, "findChildren")
    buttons = parent.findChildren(QPushButton)
    return next((each for each in buttons if each.text().replace("&", "") == text), None)


@pytest.mark.slow
def test_a_dropped_one_is_opened_with_the_open_dataset_and_shown_in_review(
    qtbot: QtBot, main_content: MainContent, submission: Path
) -> None:
    notes: list[str] = []
    main_content.workspace.note.connect(notes.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(submission))])
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    main_content.frame.dropEvent(QDropEvent(QPointF(5, 5), *how))
    wait_for(qtbot, main_content, "Submission baseline.tsv")
    qtbot.waitUntil(lambda: bool(main_content.review.desk.card.badge.text))
    assert any(
        "baseline.tsv has predictions for 30 of the 30 items of gold.tsv, matched by" in note
        for note in notes
    )
    assert main_content.notices.isHidden()
    assert main_content.review.reading.a.text
    picker = main_content.results.picker
    qtbot.waitUntil(lambda: "Submission baseline.tsv on gold.tsv, 30 of 30 items" in picker.currentText())
    for key in (Qt.Key.Key_Space, Qt.Key.Key_W):
        with qtbot.waitSignal(
            main_content.workspace.note, check_params_cb=lambda text: "only labels" in text
        ):
            qtbot.keyClick(main_content.review.list.view, key)


@pytest.mark.slow
def test_nobody_calls_it_a_run_by_its_number(
    qtbot: QtBot, main_content: MainContent, submission: Path
) -> None:
    few = submission.with_name("few.tsv")
    few.write_bytes(b"\n".join(submission.read_bytes().split(b"\n")[:21]) + b"\n")
    said: list[str] = []
    main_content.workspace.note.connect(said.append)
    main_content.submissions.open(few)
    wait_for(qtbot, main_content, "Submission few.tsv")
    said.append(main_content.notices.text)
    answers = [text for text in said if "few.tsv has predictions for 20 of the 30 items of gold.tsv" in text]
    assert len(answers) == 1  # in the status bar, and not once more in the notice
    assert main_content.notices.text.startswith("Found in few.tsv:")
    assert "ids missing (10 of 30)" in main_content.notices.text
    main_content.frame.show_page(PageName.RESULTS)
    qtbot.waitUntil(lambda: main_content.results.measurer.scores is not None)
    assert main_content.results.snapshot.isHidden()
    assert "no probabilities" in main_content.results.calibration.state.text()
    assert not main_content.results.calibration.fit_button.isEnabled()
    assert not main_content.results.calibration.load_button.isEnabled()
    assert not [text for text in said if "run 1" in text.lower()]


@pytest.mark.slow
def test_a_recent_dataset_is_found_that_has_its_ids(
    qtbot: QtBot, main_content: MainContent, submission: Path, tmp_path: Path, demo_gold: Path
) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("id\tinstruction\toutput_a\toutput_b\n1\tq\ta\tb\n", encoding="utf-8")
    main_content.workspace.open_dataset(other)
    main_content.submissions.open(submission)  # while another dataset is read
    wait_for(qtbot, main_content, "Submission baseline.tsv")
    run = main_content.workspace.run
    assert run is not None
    assert run.dataset is not None
    assert run.dataset.path == demo_gold


@pytest.mark.slow
def test_where_no_dataset_has_its_ids_it_says_so_and_asks(
    qtbot: QtBot, main_content: MainContent, tmp_path: Path
) -> None:
    main_content.submissions.open(with_lines(tmp_path / "few.tsv", "1\tA", "2\tB", "x9\tA"))
    qtbot.waitUntil(lambda: main_content.submissions.question is not None)
    box = main_content.submissions.question
    assert box is not None
    assert "few.tsv answers 3 items." in box.text()
    assert "gold.tsv has 2 of them." in box.informativeText()
    assert is_open(main_content) == ""
    assert not main_content.workspace.runs
    press(button(box, "Use gold.tsv"))
    wait_for(qtbot, main_content, "Submission few.tsv")
    assert "ids that are not in the dataset (1), omitted: x9." in main_content.notices.text


@pytest.mark.slow
def test_the_dataset_may_be_chosen(qtbot: QtBot, main_content: MainContent, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("id\tinstruction\toutput_a\toutput_b\nx9\tq\ta\tb\n", encoding="utf-8")
    main_content.submissions.open(with_lines(tmp_path / "few.tsv", "x9\tA"))
    qtbot.waitUntil(lambda: main_content.submissions.question is not None)
    press(button(main_content.submissions.question, "Choose dataset…"))
    qtbot.waitUntil(lambda: bool(main_content.frame.findChildren(QFileDialog)))
    [dialog] = main_content.frame.findChildren(QFileDialog)
    assert "few.tsv answers" in dialog.windowTitle()
    dialog.fileSelected.emit(str(other))
    dialog.close()
    wait_for(qtbot, main_content, "Submission few.tsv")
    assert other in main_content.workspace.state.recent("datasets")


def test_a_wrong_file_is_refused_and_nothing_is_kept(
    qtbot: QtBot, main_content: MainContent, tmp_path: Path, demo_gold: Path
) -> None:
    for name, data, said in (
        ("data.tsv", b"id\tinstruction\toutput_a\toutput_b\n1\tq\ta\tb\n", "is a dataset of pairs, not"),
        ("damaged.tsv", b"id\tsafety_preference\n1\tC\n", "damaged.tsv"),
        ("gone.tsv", None, "gone.tsv"),
    ):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        main_content.submissions.open(path)
        qtbot.waitUntil(lambda said=said: said in main_content.notices.text)  # type: ignore[misc]
        assert is_open(main_content) == ""
        assert main_content.submissions.question is None
    main_content.submissions.open(with_lines(tmp_path / "few.tsv", "x9\tA"), demo_gold)
    qtbot.waitUntil(lambda: "few.tsv answers no item of gold.tsv" in main_content.notices.text)
    assert "Open the dataset that it answers first" in main_content.notices.text
    if main_content.workspace.store_path.exists():
        with RunStore(main_content.workspace.store_path) as store:
            assert store.runs() == []


@pytest.mark.parametrize("swapped", [False, True])
def test_a_dataset_and_its_submission_are_opened_together(
    qtbot: QtBot, tmp_path: Path, demo_gold: Path, submission: Path, swapped: bool
) -> None:
    frame = MainWindow(State(tmp_path / "fresh"))
    qtbot.addWidget(frame)
    frame.show()
    main_content = MainContent(frame, tmp_path / "runs.sqlite")
    try:
        main_content.begin(*([submission, demo_gold] if swapped else [demo_gold, submission]))
        wait_for(qtbot, main_content, "Submission baseline.tsv")
        assert main_content.workspace.dataset is not None
        assert main_content.workspace.dataset.path == demo_gold
    finally:
        assert main_content.end()


@pytest.mark.slow
def test_the_file_that_was_opened_is_not_written_over_whatever_it_is_called(
    qtbot: QtBot, main_content: MainContent, submission: Path
) -> None:
    copy = submission.with_name("copy.tsv")
    copy.write_bytes(before := submission.read_bytes())
    main_content.submissions.open(submission)
    wait_for(qtbot, main_content, "Submission baseline.tsv")
    main_content.submissions.open(copy)
    qtbot.waitUntil(lambda: "It is identical to baseline.tsv" in main_content.notices.text)
    for path in (copy, submission):
        with qtbot.waitSignal(main_content.workspace.problem) as problem:
            main_content.results.export(Form.EXPLAINED, path)
        assert "would be overwritten" in str(problem.args[0])
        assert path.read_bytes() == before


@pytest.mark.slow
def test_a_run_that_ends_names_the_submission_that_stays_and_its_long_name_widens_nothing(
    qtbot: QtBot, main_content: MainContent, submission: Path
) -> None:
    long = submission.rename(submission.with_name(f"R&D{LONG[3:]}"))
    space, frame = main_content.workspace, main_content.frame
    width, least = frame.width(), frame.minimumSizeHint().width()
    main_content.submissions.open(long)
    qtbot.waitUntil(lambda: is_open(main_content).startswith("Submission R&D"))
    assert space.run is not None
    called = space.run.results.run.called
    assert called.startswith("the submission R&Dn")
    qtbot.waitUntil(lambda: any(run.called == called for run in space.runs))
    space.tell_ended(7, "has finished", NOT_LOOKED_AT)
    assert f"exports still show {called}" in main_content.notices.text.replace("\u200b", "")
    for page in PageName:
        frame.show_page(page)
        QApplication.processEvents()
    assert (frame.width(), frame.minimumSizeHint().width()) == (width, least)


def test_keys_and_the_list_of_runs_lead_to_the_question_for_a_file(
    qtbot: QtBot, main_content: MainContent
) -> None:
    assert ("Ctrl+Shift+O", "Open submission") in keys_of("Everywhere")
    picker = main_content.results.picker
    assert picker.itemText(picker.count() - 1) == OPEN_SUBMISSION
    wanted: list[Callable[[], object]] = [
        partial(picker.activated.emit, picker.findText(OPEN_SUBMISSION)),
        main_content.review.nothing.submission.click,
    ]
    for ask in wanted:
        ask()
        qtbot.waitUntil(lambda: bool(main_content.frame.findChildren(QFileDialog)))
        [dialog] = main_content.frame.findChildren(QFileDialog)
        assert dialog.windowTitle().startswith("Open submission")
        dialog.close()
        qtbot.waitUntil(lambda: not main_content.frame.findChildren(QFileDialog))


@pytest.mark.slow
def test_the_check_lists_what_an_export_would_lack_and_copies_it(
    qtbot: QtBot, main_content: MainContent, tmp_path: Path, demo_gold: Path
) -> None:
    main_content.submissions.open(with_lines(tmp_path / "few.tsv", "1\tA", "2\t", "x9\tA"), demo_gold)
    wait_for(qtbot, main_content, "Submission few.tsv")
    main_content.results.picker.activated.emit(main_content.results.picker.findText(CHECK))
    [dialog] = main_content.frame.findChildren(CheckDialog)
    qtbot.waitUntil(lambda: "findings" in dialog.outcome.text())
    assert "empty cells in safety_preference (1): ids 2." in dialog.list.toPlainText()
    assert "omitted: x9" in dialog.list.toPlainText()
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.text
    dialog.other.click()
    qtbot.waitUntil(lambda: bool(main_content.frame.findChildren(QFileDialog)))
    main_content.frame.findChildren(QFileDialog)[0].close()


def test_it_is_reviewed_and_exported_but_never_written_over(
    qtbot: QtBot, main_content: MainContent, submission: Path, tmp_path: Path
) -> None:
    before = submission.read_bytes()
    main_content.workspace.set_author("Ada")
    main_content.submissions.open(submission)
    wait_for(qtbot, main_content, "Submission baseline.tsv")
    card = main_content.review.desk.card
    qtbot.waitUntil(lambda: bool(card.badge.text))
    assert card.bars.isHidden()
    assert card.orders.isHidden()
    assert card.mass.isHidden()
    own = card.badge.text
    item, criterion = main_content.review.session.item_id, main_content.review.session.criterion
    with qtbot.waitSignal(main_content.workspace.overrides_changed):
        main_content.workspace.override(JudgmentKey(item, criterion), None, "Because I say so.")
    qtbot.waitUntil(lambda: card.explanation.text() == "Because I say so.")
    assert "The judge's own explanation:" in card.by.text()
    other = Preference.BOTH_BAD if own != "Both bad" else Preference.BOTH_GOOD
    main_content.review.desk.override_label(other)
    qtbot.waitUntil(lambda: card.own.text().startswith("The judge's own: "))
    main_content.results.export(Form.EXPLAINED, submission)
    qtbot.waitUntil(lambda: "would be overwritten" in main_content.notices.text)
    assert "submission that is open" in main_content.notices.text
    assert submission.read_bytes() == before
    again = tmp_path / "again.tsv"
    main_content.results.export(Form.EXPLAINED, again)
    qtbot.waitUntil(again.exists)
    [row] = [row for row in read_submission(again).rows if row.id == item]
    assert row.predictions[criterion].explanation == "Because I say so."
    same = [row for row in read_submission(submission).rows if row.id != item]
    assert [row for row in read_submission(again).rows if row.id != item] == same


@pytest.mark.slow
def test_nobody_offers_to_write_its_explanations_again(
    qtbot: QtBot, main_content: MainContent, submission: Path
) -> None:
    main_content.workspace.set_author("Ada")
    main_content.submissions.open(submission)
    wait_for(qtbot, main_content, "Submission baseline.tsv")
    desk = main_content.review.desk
    qtbot.waitUntil(lambda: desk.session.item_id != "")
    checked = [label for label, button in desk.card.buttons.labels.items() if button.isChecked()]
    desk.override_label(next(label for label in Preference if label not in checked))
    qtbot.waitUntil(lambda: not desk.card.stale.isHidden())
    assert main_content.review.stale.isHidden()
