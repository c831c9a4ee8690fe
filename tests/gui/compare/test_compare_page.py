"""The page Compare with a real run of the demo judge, submission files and labels; the way to Review."""

import json
import re
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from engine.annotations.records import JUDGE_ALONE, LAST, Undo
from engine.core.column_map import JudgeFile
from engine.core.formatting import words
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey
from engine.report.comparison import borda_table, measure_table
from engine.store.run_store import RunStore
from gui.compare.compare_page import ComparePage
from gui.widgets.notice import problem_of
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.engine.data.test_outputs import SINGLE
from tests.gui.compare.steps import Save, cells, choose, choose_labels, compare, differences, listed
from tests.gui.steps import open_run, press, shown


def test_the_empty_page_says_what_is_missing(qtbot: QtBot, page: ComparePage, demo_gold: Path) -> None:
    assert "Tick two systems or more" in page.needs.text()
    assert "Choose a dataset with human labels" in page.needs.text()
    assert not page.choosing.compare_button.isEnabled()
    choose(qtbot, page, demo_gold)
    assert page.needs.text().startswith("Tick one more system")
    assert "gold.tsv: 30 items, 5 criteria" in page.choosing.gold_text.text()
    assert not page.save_button.isEnabled()


def test_without_a_run_the_page_leads_to_judge(qtbot: QtBot, workspace: Workspace) -> None:
    page = shown(qtbot, ComparePage(workspace))
    with qtbot.waitSignal(workspace.page_wanted) as wanted:
        QTest.mouseClick(page.judge_button, Qt.MouseButton.LeftButton)
    assert wanted.args == ["Judge"]


def test_a_run_and_a_submission_are_ranked_and_saved_never_over_what_was_compared(
    qtbot: QtBot, both: ComparePage, worse: Path, tmp_path: Path
) -> None:
    table = cells(both.view.measures)
    measured = measure_table(both.compared.comparison)
    assert table[1:] == [list(row) for row in measured.texts()]
    assert table[0] == ["measure", "run 1: demo-judge", "worse.tsv", "best baseline"]
    assert both.view.in_short.text().startswith("Use run 1: its accuracy, ")
    assert table[1][0] == "accuracy (%), relevance"
    assert table[1][1].endswith(" [1]")
    assert both.view.measures.index(0, 1).data(Qt.ItemDataRole.FontRole).bold()
    assert both.view.measures.index(0, 2).data(Qt.ItemDataRole.FontRole) is None
    assert cells(both.view.borda)[1:] == [list(row) for row in borda_table(both.compared.comparison).texts()]
    assert len(cells(both.view.agreement)) == 1 + 5 + 1
    assert both.view.published.rowCount() == 0  # of the task, whose items these are not
    first, second = both.view.systems.text().splitlines()
    assert first.startswith("run 1: demo-judge on gold.tsv")
    assert second.startswith("worse.tsv: submission")
    assert "The best of 2 systems is selected on these items" in both.view._notes["measures"].text()
    path = tmp_path / "comparison.json"
    with qtbot.waitSignal(both.workspace.notice):
        both.save(path)
    saved = json.loads(path.read_text("utf-8"))
    assert saved["systems"] == ["run 1", "worse.tsv"]
    assert saved["scores"]["run 1"]["details"]["items"] == DEMO_ITEMS
    before = worse.read_bytes()
    both.save(worse)
    qtbot.waitUntil(both.notice.isVisible)
    assert "would be overwritten" in both.notice.text
    assert worse.read_bytes() == before


def test_differences_are_filtered(qtbot: QtBot, both: ComparePage) -> None:
    everything = differences(qtbot, both)
    assert len(everything) == len(both.compared.differences) > 10
    assert {row[4] for row in everything} <= {"A", "A ✓"}
    found = both.view.differences
    found.criterion.setCurrentIndex(found.criterion.findData("safety"))
    safety = differences(qtbot, both)
    assert safety == [row for row in everything if row[1] == "Safety"]
    found.one_is_right.setChecked(True)
    assert differences(qtbot, both) == [row for row in safety if "✓" in row[3] + row[4]]
    found.criterion.setCurrentIndex(0)
    found.one_is_right.setChecked(False)
    both.view.setCurrentWidget(found)
    press(found.view, Qt.Key.Key_Slash)
    assert found.search.hasFocus()
    QTest.keyClicks(found.search, everything[0][-1].upper()[:20])
    found_now = differences(qtbot, both)
    assert everything[0] in found_now
    assert len(found_now) < len(everything)
    found.search.setText("no such words anywhere")
    assert differences(qtbot, both) == []
    assert not found.open_button.isEnabled()


def test_what_one_lacks_is_scored_for_none_and_systems_without_a_shared_item_are_refused(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path, save: Save
) -> None:
    short = save("short.tsv", b"\n".join(worse.read_bytes().split(b"\n")[:-3]) + b"\n")
    choose(qtbot, page, demo_gold, short)
    assert compare(qtbot, page) == ""
    assert page.compared.comparison.items == DEMO_ITEMS - 2
    assert "short.tsv lacks 2 items of gold.tsv" in page.view.notes.text()
    save("short.tsv", b"id\tsafety_preference\nx1\tA\n")
    assert "run 1, short.tsv and gold.tsv have no id in common" in compare(qtbot, page)


PAIRS = b"id\tinstruction\toutput_a\toutput_b\n1\tq\ta\tb\n"


def test_what_cannot_be_compared_is_refused_another_kind_of_file_told_where_a_button_opens_it(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, save: Save
) -> None:
    for name, data, says in (
        ("pairs.tsv", PAIRS, ("a dataset of pairs", "To judge it, open it with File > Open dataset")),
        ("x.csv", b"prompt,chosen,rejected\nWhat?,This.,That.\n", ("a dataset of pairs", "To judge it")),
        ("x.gguf", b"GGUF", ("is a model",)),
    ):
        with qtbot.waitSignal(page.workspace.problem) as problem:
            page.choosing.add_files([save(name, data)])
        assert all(text in " ".join(problem_of(problem.args[0])) for text in says)
        assert page.notice.isHidden()
    choose(qtbot, page, demo_gold)
    bad, outputs = b"id\tsafety_preference\n1\tgood\n2\t<b>A</b>\n1\tB\n", json.dumps(SINGLE).encode()
    for name, data, says in (
        ("x.json", outputs, ("the outputs of one candidate (m)", "Tiebreak judges pairs")),
        ("1.tsv", b"id\tsafety_preference\nx1\tA\nx2\tB\n", ("other items: its 2 ids are not in", "labels")),
        ("2.tsv", b"id\twit_preference\n1\tA\n2\tB\n", ("other criteria (wit): gold.tsv has", "labels")),
        ("3.tsv", b"id\tnote\n1\tA\n", ("no column names a criterion",)),
        ("bad.tsv", bad, ("bad.tsv: 3 problems", "'<b>A</b>'")),
    ):
        with qtbot.waitSignal(page.choosing.refused):
            page.choosing.add_files([save(name, data)])
        assert all(text in page.notice.text for text in says)
        assert page.choosing.systems.all_files == ()


def test_what_does_not_fit_after_a_restart_is_named_and_not_ticked(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path, save: Save
) -> None:
    choose(qtbot, page, demo_gold, worse)
    save(worse.name, PAIRS)
    again = listed(qtbot, space)
    view = again.choosing.systems.view
    qtbot.waitUntil(lambda: view.item(view.count() - 1).text() == "worse.tsv (does not fit)")
    assert again.choosing.choice.files == ()
    assert "worse.tsv: is a dataset of pairs" in again.choosing.systems._gone.text()
    assert again.needs.text().startswith("Tick one more system")


def test_a_comparison_can_be_cancelled_and_the_main_button_stays_where_it_is(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path
) -> None:
    def place() -> QRect:
        button = page.choosing.compare_button
        return QRect(button.mapTo(page, button.rect().topLeft()), button.size())

    before = place()
    choose(qtbot, page, demo_gold, worse)
    assert place() == before
    page.compare()
    assert not page.choosing.compare_button.isEnabled()
    page._comparing.line.cancelled.emit()
    qtbot.waitUntil(lambda: not page._comparing.busy)
    assert page.compared is None
    assert not page._comparing.line.isVisible()
    assert compare(qtbot, page) == ""
    assert place() == before
    press(page.choosing.systems.view, Qt.Key.Key_Space)
    assert page.choosing._lacking.isVisible()
    assert place() == before


def test_the_choice_is_remembered_and_a_lost_file_is_named(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse)
    page.choosing.whose.choose(JUDGE_ALONE)
    before = page.choosing.choice
    again = shown(qtbot, ComparePage(space))
    assert again.choosing.choice == before
    worse.unlink()
    again.entered()
    qtbot.waitUntil(lambda: again.choosing.choice.files == ())
    assert [again.choosing.systems.view.item(row).text() for row in (0, 1)] == [
        "Run 1: demo-judge\n30 items",
        "worse.tsv (not found)",
    ]
    again.choosing.systems.view.setCurrentRow(1)
    press(again.choosing.systems.view, Qt.Key.Key_Delete)
    assert again.choosing.systems.all_files == ()


def test_a_damaged_memory_is_an_empty_choice(qtbot: QtBot, space: Workspace) -> None:
    damaged: list[dict[str, object]] = [
        {"runs": "1", "files": [["x"], 7, ["a", 1]]},
        {"runs": [[]], "files": {}},
    ]
    for kept in damaged:
        space.state.set_record("compare", kept)
        page = ComparePage(space)
        qtbot.addWidget(page)
        assert page.choosing.choice.systems == 0


def test_a_comparison_of_other_things_is_stale(qtbot: QtBot, both: ComparePage, space: Workspace) -> None:
    assert not both.stale.isVisible()
    both.choosing.whose.choose(JUDGE_ALONE)
    assert both.stale.isVisible()
    both.choosing.whose.choose(LAST)
    assert not both.stale.isVisible()
    open_run(qtbot, space, 1)
    assert not both.stale.isVisible()
    item = space.run.results.judged[0].item_id
    with qtbot.waitSignal(space.overrides_changed):
        space.override(JudgmentKey(item, "safety"), Preference.BOTH_BAD, None)
    assert both.stale.isVisible()
    with qtbot.waitSignal(space.overrides_changed):
        [step] = space.steps(space.run.results.judged[0])
        space.take_back(Undo(item, "", space.author, step.at))
    assert not both.stale.isVisible()
    with RunStore(space.store_path) as store:  # judged otherwise since
        store.describe(1, {**store.run(1).manifest, "rewritten": [{"explanations": 1}]})
    with qtbot.waitSignal(space.runs_changed):
        both.entered()
    assert both.stale.isVisible()
    compare(qtbot, both)
    assert not both.stale.isVisible()


def with_cell(path: Path, column: int, text: str) -> bytes:
    """A file with another text in a column, from 0, of its first item."""
    head, first, *others = path.read_bytes().split(b"\n")
    cells = first.split(b"\t")
    cells[column] = text.encode()
    return b"\n".join([head, b"\t".join(cells), *others])


@pytest.mark.slow
def test_hostile_texts_are_shown_as_text(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path, save: Save
) -> None:
    gold = save("gold &lt;i.tsv", with_cell(demo_gold, 1, "<b>x</b><img src=x> <|eot_id|> \u202egnp"))
    other = save("&lt;\u202e.tsv", worse.read_bytes())
    page.choosing.add_files([worse, other])
    choose_labels(qtbot, page, gold)
    assert compare(qtbot, page) == ""
    assert page.view.systems.textFormat() is Qt.TextFormat.PlainText
    assert "&lt;\\u202e.tsv: submission" in page.view.systems.text()
    assert page.choosing.systems.view.item(2).text() == "&lt;\\u202e.tsv"
    table = page.view.differences.table
    assert differences(qtbot, page) == []
    save(other.name, worse.read_bytes().replace(b"\tA\t", b"\tB\t"))
    assert compare(qtbot, page) == ""
    row = differences(qtbot, page)[0]
    assert row[-1] == "<b>x</b><img src=x> <|eot_id|> \\u202egnp"
    tip = table.index(0, table.columnCount() - 1).data(Qt.ItemDataRole.ToolTipRole)
    assert "<b>" not in tip
    assert table.headerData(4, Qt.Orientation.Horizontal) == "&lt;\\u202e.tsv"


def test_dropped_submissions_are_added_and_listed_once(
    qtbot: QtBot, page: ComparePage, space: Workspace, worse: Path
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(worse))])
    how = (Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    drop = QDropEvent(QPointF(5, 5), *how)
    page.dropEvent(drop)
    assert drop.isAccepted()
    qtbot.waitUntil(lambda: page.choosing.choice.files == (JudgeFile(worse),))
    with qtbot.waitSignal(space.note) as note:
        page.choosing.add_files([worse.parent / "." / worse.name])
    assert note.args == ["Already in the list: worse.tsv"]
    assert page.choosing.choice.files == (JudgeFile(worse),)


def test_controls_have_accessible_names_and_no_key_is_another_s_or_a_menu_s(page: ComparePage) -> None:
    texts = [button.text() for button in page.findChildren(QAbstractButton)]
    keys = [key.upper() for key in re.findall(r"&(\w)", " ".join(texts))] + [*"FVERH"]
    assert sorted(keys) == sorted(set(keys))
    found = page.view.differences
    of_page = (page.choosing.systems.view, page.choosing.compare_button, page.save_button)
    of_view = (found.view, found.search, found.criterion, page.view.agreement_view)
    assert all(control.accessibleName() for control in (*of_page, *of_view))


def test_only_a_splitter_that_was_seen_is_remembered(qtbot: QtBot, space: Workspace) -> None:
    made = ComparePage(space)
    qtbot.addWidget(made)
    made.keep_layout()
    assert space.state.layout("compare").isEmpty()
    made.resize(1180, 640)
    made.show()
    made.keep_layout()
    assert not space.state.layout("compare").isEmpty()


def test_a_system_that_may_not_judge_is_named(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, demo_store: Path, save: Save
) -> None:
    text = demo_store.with_name("submission.tsv").read_bytes()
    constant = save("constant.tsv", re.sub(rb"\t(A|B|both_good|both_bad)(?=\t)", rb"\tA", text))
    choose(qtbot, page, demo_gold, constant)
    assert compare(qtbot, page) == ""
    assert page.view.notes.text().startswith("constant.tsv: The model may not judge properly.")
    assert "run 1: " not in page.view.notes.text()
    assert page.doubts.text() == "constant.tsv: The model may not judge properly."
    assert page.doubts.isVisible()
    for tab in range(page.view.count()):
        page.view.setCurrentIndex(tab)
        assert page.doubts.isVisible()


def test_only_other_labels_make_a_comparison_old(
    qtbot: QtBot, page: ComparePage, demo_gold: Path, worse: Path, save: Save
) -> None:
    same = demo_gold.read_bytes()
    choose(qtbot, page, save("labels.tsv", same), worse)
    compare(qtbot, page)
    for data, stale in ((same, False), (same.replace(b"\tboth_good\t", b"\tA\t"), True)):
        choose_labels(qtbot, page, save("labels.tsv", data))
        qtbot.waitUntil(lambda: not page._looking.busy)
        assert page.stale.isVisible() is stale


def test_labels_chosen_here_stay_here_and_what_cannot_be_read_leaves_those_that_were_there(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, save: Save
) -> None:
    open_run(qtbot, space, 1)
    with qtbot.waitSignal(space.problem):
        page.choosing.choose_gold(save("bad.parquet", b"no dataset"))
    assert page.choosing.gold is space.gold is space.own_gold
    said = "gold.tsv: 30 items, 5 criteria with labels (the labels of run 1, which is open)"
    assert page.choosing.gold_text.text() == said
    other = save("other.tsv", demo_gold.read_bytes())
    choose_labels(qtbot, page, other)
    assert "(chosen here)" in page.choosing.gold_text.text()
    assert page.choosing.gold.path == other
    assert space.gold.path == demo_gold
    assert other in space.files_in_use(page).values()
    with qtbot.waitSignal(space.gold_changed):
        space.open_gold(save("third.tsv", demo_gold.read_bytes()))
    assert page.choosing.gold.path == other
    QTest.mouseClick(page.choosing._own_button, Qt.MouseButton.LeftButton)
    assert page.choosing.gold is space.own_gold
    assert other not in space.files_in_use(page).values()


def test_the_shown_run_and_what_is_joined_by_ids_are_named(
    qtbot: QtBot, page: ComparePage, space: Workspace, demo_gold: Path, worse: Path
) -> None:
    open_run(qtbot, space, 1)
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
    choose(qtbot, page, save("other.tsv", with_cell(demo_gold, 2, "Another response.")), worse)
    assert "has other texts than run 1 judged under the same ids (1 of 30)" in compare(qtbot, page)


def test_a_choice_that_was_made_does_not_follow_the_shown_run(
    qtbot: QtBot, page: ComparePage, space: Workspace, worse: Path
) -> None:
    with qtbot.waitSignal(page.choosing.systems.changed):
        page.choosing.add_files([worse])
    open_run(qtbot, space, 1)
    assert page.choosing.choice.runs == ()


def test_differences_are_opened_and_listed_in_review(
    qtbot: QtBot, both: ComparePage, space: Workspace
) -> None:
    rows = differences(qtbot, both)
    both.view.setCurrentWidget(both.view.differences)
    view = both.view.differences.view
    view.selectRow(2)
    received: list[tuple[str, ...]] = []
    space.page_wanted.connect(lambda page_name: received.append((page_name,)))
    space.review_wanted.connect(lambda key: received.append((key.item_id, words(key.criterion).capitalize())))
    press(view, Qt.Key.Key_Return)
    assert received == []  # the run must be opened first
    qtbot.waitUntil(lambda: len(received) == 2)
    press(view, Qt.Key.Key_Return)
    assert received == 2 * [("Review",), tuple(rows[2][:2])]
    assert space.run.id == 1
    found = both.view.differences
    found.criterion.setCurrentIndex(found.criterion.findData("safety"))
    rows = differences(qtbot, both)
    with qtbot.waitSignal(space.listing_wanted) as asked:
        found.list_button.click()
    wanted = asked.args[0]
    assert (wanted.run_id, wanted.filters.criterion) == (1, "safety")
    assert wanted.filters.ids == {row[0] for row in rows}
    assert wanted.words.endswith(" differ, on safety")
    assert "worse" in wanted.words
    pairs = both.view.agreement_view
    both.view.setCurrentIndex(1)
    pairs.setCurrentIndex(both.view.agreement.index(1, 0))
    pair = both.compared.comparison.agreements[1]
    with qtbot.waitSignal(space.listing_wanted) as asked:
        press(pairs, Qt.Key.Key_Return)
    wanted = asked.args[0]
    assert wanted.filters.criterion == pair.criterion
    assert len(wanted.filters.ids) == round(pair.items * (1 - pair.same)) > 0


def test_two_submissions_cannot_be_opened_in_review(
    qtbot: QtBot, page: ComparePage, demo_store: Path, demo_gold: Path, worse: Path
) -> None:
    choose(qtbot, page, demo_gold, worse, demo_store.with_name("submission.tsv"))
    page.choosing.systems.view.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert compare(qtbot, page) == ""
    assert differences(qtbot, page)
    assert not page.view.differences.open_button.isEnabled()
    assert not page.view.differences.list_button.isEnabled()
