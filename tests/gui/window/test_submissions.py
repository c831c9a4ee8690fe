"""Submissions: opened with what they answer, completed, not written over; files opened in the wrong place."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from engine.annotations.records import JUDGE_ALONE, new_override
from engine.core.column_map import JudgeFile
from engine.core.health import NOT_LOOKED_AT
from engine.core.items import Prediction, Preference
from engine.core.judgments import CriterionCalibration, JudgmentKey
from engine.core.rubric import ELOQUENT
from engine.data.rubrics.files import rubric_text
from engine.data.submission import Submission, read_submission, write_submission
from engine.results.calibration import Calibration, judge_of_run, save_calibration
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.results.export_dialog import ExportDialog
from gui.results.export_jobs import Form
from gui.review.review_table import MARKS
from gui.widgets.action_table import keys_of
from gui.window.dialogs import CheckDialog
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from gui.workspace.threads import ThreadName
from tests.able import longest_name
from tests.gui.review.steps import current, press, save
from tests.gui.steps import click, dataset_of, drop, items_of, offered, open_run, run_of, whole_window


@pytest.fixture
def main(qtbot: QtBot, tmp_path: Path, demo_gold: Path) -> Iterator[MainContent]:
    """A window with the labelled items that `submission` answers."""
    with whole_window(qtbot, tmp_path, demo_gold) as made:
        yield made


@pytest.fixture
def submission(demo_store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(demo_store.with_name("submission.tsv"), tmp_path / "baseline.tsv"))


def with_lines(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(["id\tsafety_preference", *lines, ""]), encoding="utf-8")
    return path


def open_one(main: MainContent) -> str:
    """What is open, by its title; empty where no run is."""
    run = main.workspace.run
    return run.results.run.title if run else ""


def wait_for(qtbot: QtBot, main: MainContent, title: str) -> None:
    qtbot.waitUntil(lambda: open_one(main) == title and bool(main.review.list.shown))
    qtbot.waitUntil(lambda: main.frame.page is PageName.REVIEW)


def file_dialog(qtbot: QtBot, main: MainContent) -> QFileDialog:
    qtbot.waitUntil(lambda: bool(main.frame.findChildren(QFileDialog)))
    [dialog] = main.frame.findChildren(QFileDialog)
    return dialog


@pytest.mark.slow
def test_a_dropped_one_is_opened_with_the_open_dataset_and_shown_in_review(
    qtbot: QtBot, main: MainContent, submission: Path
) -> None:
    notes: list[str] = []
    main.workspace.note.connect(notes.append)
    drop(main.frame, submission)
    wait_for(qtbot, main, "Submission baseline.tsv")
    qtbot.waitUntil(lambda: bool(main.review.desk.card.badge.text))
    assert "baseline.tsv has predictions for 30 of the 30 items of gold.tsv, matched by" in "\n".join(notes)
    assert main.notices.isHidden()
    assert main.review.reading.a.text
    qtbot.waitUntil(lambda: main.head.run.text() == "Submission baseline.tsv")
    assert main.head.dataset.text() == "gold.tsv"
    for key in (Qt.Key.Key_Space, Qt.Key.Key_W):
        notes.clear()
        qtbot.keyClick(main.review.list.view, key)
        qtbot.waitUntil(lambda: "only labels" in "\n".join(notes))


@pytest.mark.slow
def test_nobody_calls_it_a_run_by_its_number(qtbot: QtBot, main: MainContent, submission: Path) -> None:
    few = submission.with_name("few.tsv")
    few.write_bytes(b"\n".join(submission.read_bytes().split(b"\n")[:21]) + b"\n")
    said: list[str] = []
    main.workspace.note.connect(said.append)
    main.submissions.open(few)
    wait_for(qtbot, main, "Submission few.tsv")
    said.append(main.notices.text)
    answers = [text for text in said if "few.tsv has predictions for 20 of the 30 items of gold.tsv" in text]
    assert len(answers) == 1  # in the status bar, and not once more in the notice
    assert main.notices.text.startswith("Found in few.tsv:")
    assert "ids missing (10 of 30)" in main.notices.text
    main.frame.show_page(PageName.RESULTS)
    qtbot.waitUntil(lambda: main.results.measurer.scores is not None)
    assert main.results.snapshot.isHidden()
    calibration = main.results.calibration
    assert "no probabilities" in calibration.state.text()
    assert not any(button.isEnabled() for button in (calibration.fit_button, calibration.load_button))
    assert not [text for text in said if "run 1" in text.lower()]


@pytest.mark.slow
def test_its_dataset_is_found_or_asked_for(
    qtbot: QtBot, main: MainContent, submission: Path, tmp_path: Path, demo_gold: Path
) -> None:
    opener, other = main.submissions, tmp_path / "other.tsv"
    other.write_text("id\tinstruction\toutput_a\toutput_b\nx9\tq\ta\tb\n", encoding="utf-8")
    opener.open(with_lines(tmp_path / "few.tsv", "1\tA", "2\tB", "x9\tA"))
    qtbot.waitUntil(lambda: opener.question is not None)
    box = opener.question
    assert "few.tsv answers 3 items." in box.text()
    assert "gold.tsv has 2 of them." in box.informativeText()
    assert (open_one(main), main.workspace.runs) == ("", [])
    click(box, "Use gold.tsv")
    wait_for(qtbot, main, "Submission few.tsv")
    assert "ids that are not in the dataset (1), omitted: x9." in main.notices.text
    opener.open(with_lines(tmp_path / "one.tsv", "x9\tA"))
    qtbot.waitUntil(lambda: opener.question not in (None, box))
    click(opener.question, "Choose dataset…")
    dialog = file_dialog(qtbot, main)
    assert "one.tsv answers" in dialog.windowTitle()
    dialog.fileSelected.emit(str(other))
    dialog.close()
    wait_for(qtbot, main, "Submission one.tsv")
    main.workspace.open_dataset(other)
    opener.open(submission)  # while another dataset is read: a recent one has its ids
    wait_for(qtbot, main, "Submission baseline.tsv")
    assert items_of(main.workspace).path == demo_gold


def test_a_wrong_file_is_refused_and_nothing_is_kept(
    qtbot: QtBot, main: MainContent, tmp_path: Path, demo_gold: Path
) -> None:
    for name, data, said in (
        ("data.tsv", b"id\tinstruction\toutput_a\toutput_b\n1\tq\ta\tb\n", "is a dataset of pairs, not"),
        ("damaged.tsv", b"id\tsafety_preference\n1\tC\n", "damaged.tsv"),
        ("gone.tsv", None, "gone.tsv"),
    ):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        main.submissions.open(path)
        qtbot.waitUntil(lambda said=said: said in main.notices.text)  # type: ignore[misc]
        assert open_one(main) == ""
        assert main.submissions.question is None
    main.submissions.open(with_lines(tmp_path / "few.tsv", "x9\tA"), demo_gold)
    qtbot.waitUntil(lambda: "few.tsv answers no item of gold.tsv" in main.notices.text)
    assert "Open the dataset that it answers first" in main.notices.text
    if main.workspace.store_path.exists():
        with RunStore(main.workspace.store_path) as store:
            assert store.runs() == []


@pytest.mark.parametrize("swapped", [False, True])
def test_a_dataset_and_its_submission_are_opened_together(
    qtbot: QtBot, tmp_path: Path, demo_gold: Path, submission: Path, swapped: bool
) -> None:
    files = [submission, demo_gold] if swapped else [demo_gold, submission]
    with whole_window(qtbot, tmp_path, *files) as main:
        wait_for(qtbot, main, "Submission baseline.tsv")
        assert dataset_of(main.workspace).path == demo_gold


@pytest.mark.slow
def test_the_file_that_was_opened_is_not_written_over_whatever_it_is_called(
    qtbot: QtBot, main: MainContent, submission: Path
) -> None:
    copy = submission.with_name("copy.tsv")
    copy.write_bytes(before := submission.read_bytes())
    main.submissions.open(submission)
    wait_for(qtbot, main, "Submission baseline.tsv")
    main.submissions.open(copy)
    qtbot.waitUntil(lambda: "It is identical to baseline.tsv" in main.notices.text)
    for path in (copy, submission):
        with qtbot.waitSignal(main.workspace.problem) as problem:
            main.results.export(Form.EXPLAINED, path)
        assert "would be overwritten" in str(problem.args[0])
        assert path.read_bytes() == before


@pytest.mark.slow
def test_a_run_that_ends_names_the_submission_that_stays_and_its_long_name_widens_nothing(
    qtbot: QtBot, main: MainContent, submission: Path
) -> None:
    letters = "n" * (longest_name(submission.parent) - len("R&D.tsv"))
    long = submission.rename(submission.with_name(f"R&D{letters}.tsv"))
    space, frame = main.workspace, main.frame
    width, least = frame.width(), frame.minimumSizeHint().width()
    main.submissions.open(long)
    qtbot.waitUntil(lambda: open_one(main).startswith("Submission R&D"))
    called = run_of(space).results.run.called
    assert called.startswith("the submission R&Dn")
    qtbot.waitUntil(lambda: any(run.called == called for run in space.runs))
    space.tell_ended(7, "has finished", NOT_LOOKED_AT)
    assert f"exports still show {called}" in main.notices.text.replace("\u200b", "")
    for page in PageName:
        frame.show_page(page)
        QApplication.processEvents()
    assert (frame.width(), frame.minimumSizeHint().width()) == (width, least)


def test_keys_and_the_list_of_runs_lead_to_the_question_for_a_file(qtbot: QtBot, main: MainContent) -> None:
    assert ("Ctrl+Shift+O", "Open submission") in [(one.keys, what) for one, what in keys_of("Everywhere")]
    wanted: list[Callable[[], object]] = [
        offered(main.head.run)["Open submission…"].trigger,
        main.review.nothing.submission.click,
    ]
    for ask in wanted:
        ask()
        dialog = file_dialog(qtbot, main)
        assert dialog.windowTitle().startswith("Open submission")
        dialog.close()
        qtbot.waitUntil(lambda: not main.frame.findChildren(QFileDialog))


@pytest.mark.slow
def test_the_check_lists_what_an_export_would_lack_and_copies_it(
    qtbot: QtBot, main: MainContent, tmp_path: Path, demo_gold: Path
) -> None:
    main.submissions.open(with_lines(tmp_path / "few.tsv", "1\tA", "2\t", "x9\tA"), demo_gold)
    wait_for(qtbot, main, "Submission few.tsv")
    offered(main.head.run)["Check the submission…"].trigger()
    [dialog] = main.frame.findChildren(CheckDialog)
    qtbot.waitUntil(lambda: "findings" in dialog.outcome.text())
    assert "empty cells in safety_preference (1): ids 2." in dialog.list.toPlainText()
    assert "omitted: x9" in dialog.list.toPlainText()
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == dialog.text
    dialog.other.click()
    file_dialog(qtbot, main).close()


def test_it_is_reviewed_and_exported_but_never_written_over_and_nobody_offers_to_explain_it_again(
    qtbot: QtBot, main: MainContent, submission: Path, tmp_path: Path
) -> None:
    before = submission.read_bytes()
    main.workspace.set_author("Ada")
    main.submissions.open(submission)
    wait_for(qtbot, main, "Submission baseline.tsv")
    card = main.review.desk.card
    qtbot.waitUntil(lambda: bool(card.badge.text))
    assert all(part.isHidden() for part in (card.bars, card.orders, card.mass))
    own = card.badge.text
    item, criterion = main.review.session.item_id, main.review.session.criterion
    other = Preference.BOTH_BAD if own != "Both bad" else Preference.BOTH_GOOD
    main.review.desk.override_label(other)
    qtbot.waitUntil(lambda: card.own.text().startswith("The judge's own: "))
    assert not card.stale.isHidden()
    assert main.review.stale.isHidden()
    with qtbot.waitSignal(main.workspace.overrides_changed):
        main.workspace.override(JudgmentKey(item, criterion), None, "Because I say so.")
    qtbot.waitUntil(lambda: card.explanation.text() == "Because I say so.")
    assert "The judge's own explanation:" in card.by.text()
    main.results.export(Form.EXPLAINED, submission)
    qtbot.waitUntil(lambda: "would be overwritten" in main.notices.text)
    assert "submission that is open" in main.notices.text
    assert submission.read_bytes() == before
    again = tmp_path / "again.tsv"
    main.results.export(Form.EXPLAINED, again)
    qtbot.waitUntil(again.exists)
    [row] = [row for row in read_submission(again).rows if row.id == item]
    assert row.predictions[criterion].explanation == "Because I say so."
    same = [row for row in read_submission(submission).rows if row.id != item]
    assert [row for row in read_submission(again).rows if row.id != item] == same


TAKEN = (0, 1, 12, 40, 41, 42, 77, 98)
"""Places of items that are taken away: the first, the last, neighbours, single ones."""
EMPTIED = 50
"""The place of one that loses a label and keeps its explanation."""
_KEYS = {"A": Preference.A, "B": Preference.B, "G": Preference.BOTH_GOOD, "X": Preference.BOTH_BAD}
WHY = "Response A is right."


@pytest.fixture
def baseline(shared_data: Path) -> Path:
    return shared_data / "eloquent" / "second_subtask_sample_submission.tsv"


@pytest.fixture
def of_the_lab(qtbot: QtBot, tmp_path: Path, shared_data: Path) -> Iterator[MainContent]:
    """A window with the items that the baseline answers."""
    items = shared_data / "eloquent" / "validation.tsv"
    with whole_window(qtbot, tmp_path, items, author="Ada") as made:
        yield made


def without(whole: Submission, places: Sequence[int], path: Path) -> Path:
    rows = tuple(row for place, row in enumerate(whole.rows) if place not in places)
    write_submission(path, replace(whole, rows=rows))
    return path


def exported(qtbot: QtBot, main: MainContent, path: Path) -> bytes:
    main.results.export(Form.EXPLAINED, path)
    qtbot.waitUntil(path.exists)
    return path.read_bytes()


def measured(main: MainContent) -> int:
    scores = main.results.measurer.scores
    return len(scores.system.rows) if scores is not None else 0


@pytest.mark.slow
def test_the_baseline_without_eight_items_is_completed_with_keys(
    qtbot: QtBot, of_the_lab: MainContent, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    rows, empty = list(whole.rows), whole.criteria[2]
    why = rows[EMPTIED].predictions[empty].explanation
    rows[EMPTIED] = replace(
        rows[EMPTIED], predictions={**rows[EMPTIED].predictions, empty: Prediction(None, why)}
    )
    of_the_lab.submissions.open(without(replace(whole, rows=tuple(rows)), TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, of_the_lab, "Submission part.tsv")
    page = of_the_lab.review
    assert "ids missing (8 of 99)" in of_the_lab.notices.text
    assert "The 8 missing items are in Review" in of_the_lab.notices.text
    assert exported(qtbot, of_the_lab, tmp_path / "as-it-was.tsv") == (tmp_path / "part.tsv").read_bytes()
    places = sorted([*TAKEN, EMPTIED])
    lacking = [whole.rows[place].id for place in places]
    table = page.list.table
    assert [item.item_id for item in table.listing.items[:9]] == lacking
    assert "∅5" in table.index(0, MARKS).data()
    assert "∅1" in table.index(places.index(EMPTIED), MARKS).data()
    qtbot.waitUntil(lambda: current(page) == lacking[0] and not page.desk.card.reason.isHidden())
    assert page.desk.card.reason.text() == "The submission does not answer this item."
    for number, place in enumerate(places):
        assert current(page) == lacking[number]
        with qtbot.waitSignal(of_the_lab.workspace.note) as told:
            qtbot.keyClick(page, Qt.Key.Key_Return)  # not yet
        assert told.args[0].startswith("Label it first: ")
        said = dict(rows[place].predictions)
        for at, criterion in enumerate(whole.criteria):
            if place == EMPTIED and criterion != empty:
                continue
            press(qtbot, page, str(at + 1))
            key = "ABGX"[(number + at) % 4]
            with qtbot.waitSignal(of_the_lab.workspace.overrides_changed):
                press(qtbot, page, key)
            said[criterion] = Prediction(_KEYS[key], why if place == EMPTIED else None)
        if number == 0:  # and why, of one
            press(qtbot, page, "1E")
            QTest.keyClicks(page.desk.card.editor.field, WHY)
            with qtbot.waitSignal(of_the_lab.workspace.overrides_changed):
                save(qtbot, page.desk.card.editor.field)
            said[whole.criteria[0]] = Prediction(Preference.A, WHY)
        rows[place] = replace(rows[place], predictions=said)
        with qtbot.waitSignal(of_the_lab.workspace.reviewed):
            qtbot.keyClick(page, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda done=place: current(page) != whole.rows[done].id)  # type: ignore[misc]
    expected = tmp_path / "expected.tsv"
    write_submission(expected, replace(whole, rows=tuple(rows)))
    assert exported(qtbot, of_the_lab, tmp_path / "whole.tsv") == expected.read_bytes()
    assert "it answers all 99 items" not in of_the_lab.notices.text  # 39 of them have no explanation


@pytest.mark.slow
def test_one_that_an_earlier_version_kept_is_completed_and_results_and_exports_say_so(
    qtbot: QtBot, of_the_lab: MainContent, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    of_the_lab.submissions.open(without(whole, TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, of_the_lab, "Submission part.tsv")
    with RunStore(of_the_lab.workspace.store_path) as store, store._file.writing(1) as db:
        db.execute("DELETE FROM judged_item WHERE run_id = 1 AND position IN (0, 1, 12, 40, 41, 42, 77, 98)")
        db.execute("DELETE FROM unscored WHERE run_id = 1")
    with qtbot.waitSignal(of_the_lab.workspace.run_changed):
        of_the_lab.workspace.read_run_again()
    results = run_of(of_the_lab.workspace).results
    assert (results.run.judged, len(results.judged), results.left) == (91, 99, 8)
    with RunStore(of_the_lab.workspace.store_path) as store:
        for place in TAKEN:
            for criterion, said in whole.rows[place].predictions.items():
                item_id = whole.rows[place].id
                store.annotate(1, new_override(item_id, criterion, said.preference, said.explanation, "Ada"))
    of_the_lab.frame.show_page(PageName.RESULTS)
    with qtbot.waitSignal(of_the_lab.workspace.run_changed):
        of_the_lab.workspace.read_run_again()
    qtbot.waitUntil(lambda: measured(of_the_lab) == 99)
    assert exported(qtbot, of_the_lab, tmp_path / "whole.tsv") == baseline.read_bytes()
    qtbot.waitUntil(lambda: "it answers all 99 items completely" in of_the_lab.notices.text)
    check = CheckDialog(of_the_lab.workspace, run_of(of_the_lab.workspace))
    qtbot.addWidget(check)
    qtbot.waitUntil(lambda: check.outcome.text() == "No problems: it is complete.")
    what = of_the_lab.results._exported()
    dialog = ExportDialog(Form.EXPLAINED, what, tmp_path, of_the_lab.workspace.threads)
    qtbot.addWidget(dialog)
    assert dialog.facts["Items"].text() == "91 of 99 answered, 8 labelled by annotators"
    assert not dialog.unfinished.isVisibleTo(dialog)
    of_the_lab.notices.dismiss_all()
    with qtbot.waitSignals([of_the_lab.submissions.opened, of_the_lab.workspace.run_changed]):
        of_the_lab.submissions.open(tmp_path / "part.tsv")  # once more
    assert not re.findall("91 of the 99|lacks|missing", of_the_lab.notices.text)
    qtbot.waitUntil(lambda: of_the_lab.frame.page is PageName.REVIEW)
    of_the_lab.results.whose.choose(JUDGE_ALONE)
    of_the_lab.frame.show_page(PageName.RESULTS)
    qtbot.waitUntil(lambda: measured(of_the_lab) == 91)


NEUTRAL = CriterionCalibration(1, (0, 0, 0, 0), None, 1)


@pytest.fixture
def judged(qtbot: QtBot, demo_copy: Path, demo_gold: Path) -> Iterator[MainContent]:
    """A window with the demo run of `demo_gold`, which is not open."""
    with whole_window(qtbot, demo_copy.parent, demo_gold) as made:
        yield made


def step(qtbot: QtBot, main: MainContent, problem: str, words: str) -> None:
    """Wait until a notice says a problem, and press its button."""
    qtbot.waitUntil(lambda: problem in main.notices.text)
    main.notices.take_keys()
    click(main.notices, words)


def test_what_is_opened_in_the_wrong_place_is_opened_by_a_button(
    qtbot: QtBot, judged: MainContent, submission: Path, demo_gold: Path, tmp_path: Path
) -> None:
    """A submission as a dataset and as labels; a dataset as a submission and as a system to compare."""
    space, frame = judged.workspace, judged.frame
    judged.datasets.open(submission)
    step(qtbot, judged, "baseline.tsv: is a submission, not a dataset of pairs.", "Open as submission")
    qtbot.waitUntil(lambda: frame.page is PageName.REVIEW)
    assert run_of(space).results.run.title == "Submission baseline.tsv"
    assert judged.dataset.notice.isHidden()
    assert "not a dataset" not in judged.notices.text
    one, other = (Path(shutil.copy(demo_gold, tmp_path / f"{name}.tsv")) for name in ("one", "other"))
    judged.submissions.open(one)
    step(qtbot, judged, "one.tsv: is a dataset of pairs, not a submission.", "Open as dataset")
    qtbot.waitUntil(lambda: dataset_of(space).path == one)
    assert frame.page is PageName.DATASET
    frame.show_page(PageName.COMPARE)
    judged.compare.choosing.add_files([submission, other])
    step(qtbot, judged, "other.tsv: is a dataset of pairs, not a submission.", "Open as dataset")
    qtbot.waitUntil(lambda: dataset_of(space).path == other)
    assert judged.compare.choosing.systems.all_files == (JudgeFile(submission),)
    assert judged.compare.notice.isHidden()
    open_run(qtbot, space, 1)
    judged.results.gold.open(submission)
    step(qtbot, judged, "is a submission, not a dataset", "Open as submission")
    qtbot.waitUntil(lambda: frame.page is PageName.REVIEW)


def calibration(judged: MainContent, path: Path) -> None:
    with RunStore(judged.workspace.store_path) as store:
        judge = judge_of_run(store.run(1).identity)
    save_calibration(path, Calibration(judge, "gold.tsv", "", dict.fromkeys(ELOQUENT.names, NEUTRAL), {}))


@pytest.mark.slow
def test_what_is_dropped_is_opened_where_it_belongs(
    qtbot: QtBot, judged: MainContent, tmp_path: Path
) -> None:
    open_run(qtbot, judged.workspace, 1)
    calibration(judged, tmp_path / "c.json")
    own = rubric_text(ELOQUENT).replace("eloquent", "mine").replace("ELOQUENT", "mine")
    (tmp_path / "own.toml").write_text(own, "utf-8")
    model = Path(shutil.copy(demo_model(), tmp_path / "sha256-12"))
    for path, page, there in (
        (tmp_path / "c.json", PageName.RESULTS, lambda: judged.results.tabs.currentIndex() == 3),
        (tmp_path / "own.toml", PageName.DATASET, lambda: judged.workspace.rubric.path is not None),
        (model, PageName.JUDGE, lambda: judged.judge.picker.path == model),
    ):
        judged.frame.show_page(PageName.DATASET)
        judged.frame.files_dropped.emit([path])
        qtbot.waitUntil(there)
        assert judged.frame.page is page


def test_what_the_window_does_not_open_is_named_and_what_a_calibration_lacks(
    qtbot: QtBot, judged: MainContent, tmp_path: Path
) -> None:
    judged.frame.files_dropped.emit([judged.workspace.store_path])
    qtbot.waitUntil(lambda: "runs.sqlite: is a run store, not" in judged.notices.text)
    assert "TIEBREAK_HOME" in judged.notices.text
    calibration(judged, tmp_path / "c.json")
    qtbot.waitUntil(lambda: not any(map(judged.threads.busy, ThreadName)))  # a run may still be opened
    judged.workspace.run = None
    judged.frame.files_dropped.emit([tmp_path / "c.json"])
    qtbot.waitUntil(lambda: "no run is open for this calibration" in judged.notices.text)
