"""An incomplete submission in the window: opened, what it lacks labelled with keys, exported whole."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.annotations.records import JUDGE_ALONE, new_override
from engine.core.items import Prediction, Preference
from engine.data.submission import Submission, read_submission, write_submission
from engine.store.run_store import RunStore
from gui.results.export_dialog import ExportDialog
from gui.results.export_jobs import Form
from gui.review.review_table import MARKS
from gui.window.dialogs import CheckDialog
from gui.window.main_content import MainContent
from gui.workspace.state import PageName
from tests.gui.review.steps import current, press, save
from tests.gui.steps import whole_window

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
def main_content(qtbot: QtBot, tmp_path: Path, shared_data: Path) -> Iterator[MainContent]:
    """A window with the items that the baseline answers."""
    dataset = shared_data / "eloquent" / "validation.tsv"
    with whole_window(qtbot, tmp_path, dataset, author="Ada") as made:
        yield made


def without(whole: Submission, places: Sequence[int], path: Path) -> Path:
    """A submission without some of its items, in a file."""
    rows = tuple(row for place, row in enumerate(whole.rows) if place not in places)
    write_submission(path, replace(whole, rows=rows))
    return path


def wait_for(qtbot: QtBot, main_content: MainContent, title: str) -> None:
    def is_open() -> bool:
        run = main_content.workspace.run
        return run is not None and run.results.run.title == title and bool(main_content.review.list.shown)

    qtbot.waitUntil(is_open)
    qtbot.waitUntil(lambda: main_content.frame.page is PageName.REVIEW)


def exported(qtbot: QtBot, main_content: MainContent, path: Path) -> bytes:
    main_content.results.export(Form.EXPLAINED, path)
    qtbot.waitUntil(path.exists)
    return path.read_bytes()


def measured(main_content: MainContent) -> int:
    """How many items Results has measured."""
    scores = main_content.results.measurer.scores
    return len(scores.system.rows) if scores is not None else 0


@pytest.mark.slow
def test_the_baseline_without_eight_items_is_completed_with_keys(
    qtbot: QtBot, main_content: MainContent, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    rows, empty = list(whole.rows), whole.criteria[2]
    why = rows[EMPTIED].predictions[empty].explanation
    rows[EMPTIED] = replace(
        rows[EMPTIED], predictions={**rows[EMPTIED].predictions, empty: Prediction(None, why)}
    )
    main_content.submissions.open(without(replace(whole, rows=tuple(rows)), TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, main_content, "Submission part.tsv")
    page, run = main_content.review, main_content.workspace.run
    assert run is not None
    assert "ids missing (8 of 99)" in main_content.notices.text
    assert "The 8 missing items are in Review" in main_content.notices.text
    assert exported(qtbot, main_content, tmp_path / "as-it-was.tsv") == (tmp_path / "part.tsv").read_bytes()
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
        with qtbot.waitSignal(main_content.workspace.note) as told:
            qtbot.keyClick(page, Qt.Key.Key_Return)  # not yet
        assert told.args[0].startswith("Label it first: ")
        said = dict(rows[place].predictions)
        for at, criterion in enumerate(whole.criteria):
            if place == EMPTIED and criterion != empty:
                continue
            press(qtbot, page, str(at + 1))
            key = "ABGX"[(number + at) % 4]
            with qtbot.waitSignal(main_content.workspace.overrides_changed):
                press(qtbot, page, key)
            said[criterion] = Prediction(_KEYS[key], why if place == EMPTIED else None)
        if number == 0:  # and why, of one
            press(qtbot, page, "1E")
            QTest.keyClicks(page.desk.card.editor.field, WHY)
            with qtbot.waitSignal(main_content.workspace.overrides_changed):
                save(qtbot, page.desk.card.editor.field)
            said[whole.criteria[0]] = Prediction(Preference.A, WHY)
        rows[place] = replace(rows[place], predictions=said)
        with qtbot.waitSignal(main_content.workspace.reviewed):
            qtbot.keyClick(page, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda done=place: current(page) != whole.rows[done].id)  # type: ignore[misc]
    expected = tmp_path / "expected.tsv"
    write_submission(expected, replace(whole, rows=tuple(rows)))
    assert exported(qtbot, main_content, tmp_path / "whole.tsv") == expected.read_bytes()
    assert "it answers all 99 items" not in main_content.notices.text  # 39 of them have no explanation


@pytest.mark.slow
def test_one_that_an_earlier_version_kept_is_completed_as_it_is_opened(
    qtbot: QtBot, main_content: MainContent, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    main_content.submissions.open(without(whole, TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, main_content, "Submission part.tsv")
    with RunStore(main_content.workspace.store_path) as store, store._file.writing(1) as db:
        db.execute("DELETE FROM judged_item WHERE run_id = 1 AND position IN (0, 1, 12, 40, 41, 42, 77, 98)")
        db.execute("DELETE FROM unscored WHERE run_id = 1")
    with qtbot.waitSignal(main_content.workspace.run_changed):
        main_content.workspace.read_run_again()
    run = main_content.workspace.run
    assert run is not None
    assert (run.results.run.judged, len(run.results.judged), run.results.left) == (91, 99, 8)


@pytest.mark.slow
def test_results_and_exports_say_that_it_is_complete(
    qtbot: QtBot, main_content: MainContent, baseline: Path, tmp_path: Path
) -> None:
    whole = read_submission(baseline)
    main_content.submissions.open(without(whole, TAKEN, tmp_path / "part.tsv"))
    wait_for(qtbot, main_content, "Submission part.tsv")
    with RunStore(main_content.workspace.store_path) as store:
        for place in TAKEN:
            for criterion, said in whole.rows[place].predictions.items():
                item_id = whole.rows[place].id
                store.annotate(1, new_override(item_id, criterion, said.preference, said.explanation, "Ada"))
    main_content.frame.show_page(PageName.RESULTS)
    with qtbot.waitSignal(main_content.workspace.run_changed):
        main_content.workspace.read_run_again()
    qtbot.waitUntil(lambda: measured(main_content) == 99)
    assert exported(qtbot, main_content, tmp_path / "whole.tsv") == baseline.read_bytes()
    qtbot.waitUntil(lambda: "it answers all 99 items completely" in main_content.notices.text)
    run = main_content.workspace.run
    assert run is not None
    check = CheckDialog(main_content.workspace, run)
    qtbot.addWidget(check)
    qtbot.waitUntil(lambda: check.outcome.text() == "No problems: it is complete.")
    what = main_content.results._exported()
    assert what is not None
    dialog = ExportDialog(Form.EXPLAINED, what, tmp_path, main_content.workspace.threads)
    qtbot.addWidget(dialog)
    assert dialog.facts["Items"].text() == "91 of 99 answered, 8 labelled by annotators"
    assert not dialog.unfinished.isVisibleTo(dialog)
    main_content.notices.dismiss_all()
    with qtbot.waitSignals([main_content.submissions.opened, main_content.workspace.run_changed]):
        main_content.submissions.open(tmp_path / "part.tsv")  # once more
    assert not re.findall("91 of the 99|lacks|missing", main_content.notices.text)
    qtbot.waitUntil(lambda: main_content.frame.page is PageName.REVIEW)
    main_content.results.whose.choose(JUDGE_ALONE)
    main_content.frame.show_page(PageName.RESULTS)
    qtbot.waitUntil(lambda: measured(main_content) == 91)
