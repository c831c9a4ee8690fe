"""An incomplete submission in the window: opened, what it lacks labelled with keys, exported whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.core.items import Prediction, Preference
from engine.core.judgments import NewOverride
from engine.core.label_sources import JUDGE_ALONE
from engine.data.submission import Submission, read_submission, write_submission
from engine.store.run_store import RunStore
from gui.results.export_dialog import ExportDialog
from gui.results.export_jobs import Form
from gui.review.review_table import MARKS
from gui.window.check_dialog import CheckDialog
from gui.window.frame import MainWindow
from gui.window.interior import Interior
from gui.work.page_name import PageName
from gui.work.state import State
from tests.gui.review.steps import current, press, save

A_WHILE = 60_000
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
def interior(qtbot: QtBot, tmp_path: Path, shared_data: Path) -> Iterator[Interior]:
    """A window with the items that the baseline answers."""
    frame = MainWindow(State(tmp_path / "state"))
    qtbot.addWidget(frame)
    frame.resize(1280, 720)
    frame.show()
    made = Interior(frame, tmp_path / "runs.sqlite")
    made.begin(shared_data / "eloquent" / "validation.tsv")
    made.workspace.set_author("Ada")
    qtbot.waitUntil(lambda: made.workspace.dataset is not None, timeout=A_WHILE)
    yield made
    assert made.end()


def without(whole: Submission, places: Sequence[int], path: Path) -> Path:
    """A submission without some of its items, in a file."""
    rows = tuple(row for place, row in enumerate(whole.rows) if place not in places)
    write_submission(path, replace(whole, rows=rows))
    return path


def wait_for(qtbot: QtBot, interior: Interior, title: str) -> None:
    def is_open() -> bool:
        run = interior.workspace.run
        return run is not None and run.results.run.title == title and bool(interior.review.list.shown)

    qtbot.waitUntil(is_open, timeout=A_WHILE)
    qtbot.waitUntil(lambda: interior.frame.page is PageName.REVIEW)


def exported(qtbot: QtBot, interior: Interior, path: Path) -> bytes:
    interior.results.export_explained(path=path)
    qtbot.waitUntil(path.exists, timeout=A_WHILE)
    return path.read_bytes()


def measured(interior: Interior) -> int:
    """How many items Results has measured."""
    scores = interior.results.measurer.scores
    return len(scores.system.rows) if scores is not None else 0


@pytest.mark.slow
def test_the_baseline_without_eight_items_is_completed_with_keys(
    qtbot: QtBot, interior: Interior, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    rows, empty = list(whole.rows), whole.criteria[2]
    why = rows[EMPTIED].predictions[empty].explanation
    rows[EMPTIED] = replace(
        rows[EMPTIED], predictions={**rows[EMPTIED].predictions, empty: Prediction(None, why)}
    )
    interior.submissions.open(without(replace(whole, rows=tuple(rows)), TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, interior, "Submission part.tsv")
    page, run = interior.review, interior.workspace.run
    assert run is not None
    assert "ids missing (8 of 99)" in interior.notices.text
    assert "The 8 items that it lacks stand in Review" in interior.notices.text
    assert exported(qtbot, interior, tmp_path / "as-it-was.tsv") == (tmp_path / "part.tsv").read_bytes()
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
        with qtbot.waitSignal(interior.workspace.note) as told:
            qtbot.keyClick(page, Qt.Key.Key_Return)  # not yet
        assert told.args[0].startswith("Label it first: ")
        said = dict(rows[place].predictions)
        for at, criterion in enumerate(whole.criteria):
            if place == EMPTIED and criterion != empty:
                continue
            press(qtbot, page, str(at + 1))
            key = "ABGX"[(number + at) % 4]
            with qtbot.waitSignal(interior.workspace.overrides_changed):
                press(qtbot, page, key)
            said[criterion] = Prediction(_KEYS[key], why if place == EMPTIED else None)
        if number == 0:  # and why, of one
            press(qtbot, page, "1E")
            QTest.keyClicks(page.desk.card.editor.field, WHY)
            with qtbot.waitSignal(interior.workspace.overrides_changed):
                save(qtbot, page.desk.card.editor.field)
            said[whole.criteria[0]] = Prediction(Preference.A, WHY)
        rows[place] = replace(rows[place], predictions=said)
        with qtbot.waitSignal(interior.workspace.reviewed):
            qtbot.keyClick(page, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda done=place: current(page) != whole.rows[done].id)  # type: ignore[misc]
    expected = tmp_path / "expected.tsv"
    write_submission(expected, replace(whole, rows=tuple(rows)))
    assert exported(qtbot, interior, tmp_path / "whole.tsv") == expected.read_bytes()
    assert "it answers all 99 items" not in interior.notices.text  # 39 of them have no explanation


@pytest.mark.slow
def test_one_that_an_earlier_version_kept_is_completed_as_it_is_opened(
    qtbot: QtBot, interior: Interior, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    interior.submissions.open(without(whole, TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, interior, "Submission part.tsv")
    with RunStore(interior.workspace.store_path) as store, store._file.writing(1) as db:
        db.execute("DELETE FROM judged_item WHERE run_id = 1 AND position IN (0, 1, 12, 40, 41, 42, 77, 98)")
        db.execute("DELETE FROM unscored WHERE run_id = 1")
    with qtbot.waitSignal(interior.workspace.run_changed):
        interior.workspace.read_run_again()
    run = interior.workspace.run
    assert run is not None
    assert (run.results.run.judged, len(run.results.judged), run.results.left) == (91, 99, 8)


@pytest.mark.slow
def test_results_and_exports_say_that_it_is_complete(
    qtbot: QtBot, interior: Interior, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    interior.submissions.open(without(whole, TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, interior, "Submission part.tsv")
    with RunStore(interior.workspace.store_path) as store:
        for place in TAKEN:
            for criterion, said in whole.rows[place].predictions.items():
                item_id = whole.rows[place].id
                store.override(1, NewOverride(item_id, criterion, said.preference, said.explanation, "Ada"))
    interior.frame.show_page(PageName.RESULTS)
    with qtbot.waitSignal(interior.workspace.run_changed):
        interior.workspace.read_run_again()
    qtbot.waitUntil(lambda: measured(interior) == 99, timeout=A_WHILE)
    assert exported(qtbot, interior, tmp_path / "whole.tsv") == baseline.read_bytes()
    qtbot.waitUntil(lambda: "it answers all 99 items completely" in interior.notices.text)
    run = interior.workspace.run
    assert run is not None
    check = CheckDialog(interior.workspace, run)
    qtbot.addWidget(check)
    qtbot.waitUntil(lambda: check.outcome.text() == "Nothing is wrong: it is complete.")
    what = interior.results._exported()
    assert what is not None
    dialog = ExportDialog(Form.EXPLAINED, what, tmp_path, interior.workspace.threads)
    qtbot.addWidget(dialog)
    assert dialog.facts["Items"].text() == "91 of 99 answered, 8 labelled by people"
    assert not dialog.unfinished.isVisibleTo(dialog)
    interior.notices.dismiss_all()
    with qtbot.waitSignals([interior.submissions.opened, interior.workspace.run_changed]):
        interior.submissions.open(tmp_path / "part.tsv")  # once more
    assert not re.findall("91 of the 99|lacks|missing", interior.notices.text)
    qtbot.waitUntil(lambda: interior.frame.page is PageName.REVIEW)
    interior.results.whose.choose(JUDGE_ALONE)
    interior.frame.show_page(PageName.RESULTS)
    qtbot.waitUntil(lambda: measured(interior) == 91, timeout=A_WHILE)
