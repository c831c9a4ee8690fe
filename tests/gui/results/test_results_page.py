"""The Results page: scores of a real run, overrides, foreign text, use without a mouse, model measures."""

import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QLabel,
    QTableView,
)
from pytestqt.qtbot import QtBot

from engine.annotations.records import JUDGE_ALONE, new_review
from engine.core.items import Preference
from engine.core.judgments import Explanation, JudgmentKey
from engine.core.tables import Table
from engine.data.dataset import load_dataset
from engine.settings.rows import JudgeSettings, Mode
from engine.settings.run_lists import run_in_lines
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.results.export_jobs import Form
from gui.results.results_page import ResultsPage
from gui.results.score_jobs import Measuring, ModelMeasure, measure_labels
from gui.results.scores_panel import MeasureModelDialog
from gui.runs.runs_dialog import MODE, RunsTableModel
from gui.widgets.text_views import SheetView
from gui.workspace.open_run import UnderWay
from gui.workspace.workspace import Workspace
from tests.commands import ROOT
from tests.gui.jobs import done
from tests.gui.labels import text_of
from tests.gui.results.steps import (
    Save,
    click,
    doubts,
    in_short,
    judge,
    measured,
    open_run,
    override,
    problem_after,
    table_of,
)
from tests.judged import run_of_copies, stored_run
from tests.steps import judge_in_methods

pytestmark = pytest.mark.usefixtures("demo_tried")

HOSTILE_ID = "<img src=x> <|eot_id|> \u202etxt"


# Scores


def test_without_a_run_the_page_leads_to_judge_or_to_the_run_under_way(
    qtbot: QtBot, page: ResultsPage
) -> None:
    assert page.judge_button.isVisible()
    assert not page.export_button.isEnabled()
    with qtbot.waitSignal(page.workspace.page_wanted) as wanted:
        click(page.judge_button)
    assert wanted.args == ["Judge"]
    page.workspace.tell_judging(UnderWay(1, 94, 240))
    assert page._empty_title.text() == "Run 1 is being judged (94 of 240)"
    assert not page.judge_button.isVisible()
    with qtbot.waitSignal(page.workspace.run_changed):
        click(page.so_far_button)
    page.workspace.tell_judging(None)
    assert page._empty_title.text() == "No run yet"


def test_a_hidden_page_measures_when_it_is_entered(qtbot: QtBot, page: ResultsPage) -> None:
    page.hide()
    with qtbot.waitSignals([page.workspace.run_changed, page.can_export_changed]):
        page.workspace.open_run(1)
    assert page.measurer.scores is None
    page.show()
    page.entered()
    measured(qtbot, page)


def test_a_lost_dataset_leaves_what_the_run_says_by_itself(
    qtbot: QtBot, space: Workspace, page: ResultsPage, two_runs: Path, demo_gold: Path
) -> None:
    shutil.copy(two_runs, space.store_path)
    db = sqlite3.connect(space.store_path)
    db.execute("UPDATE run SET dataset_path = ? WHERE id = 2", (str(two_runs.with_name("gone.tsv")),))
    db.commit()
    db.close()
    open_run(qtbot, page, 2)
    assert "choose a labelled dataset" in in_short(page)
    assert "gone.tsv is missing or has changed" in page.gold.status.text()
    assert table_of(page, "labels_given").rowCount() == 5
    assert "nothing to report" in problem_after(qtbot, page, lambda: page.export(Form.REPORT)).problem
    space.open_gold(demo_gold)
    qtbot.waitUntil(lambda: table_of(page, "accuracy").rowCount() == 6)
    assert "run 2 lacks 27 items of gold.tsv, not scored" in doubts(page)
    click(page.gold.own)
    qtbot.waitUntil(lambda: table_of(page, "accuracy").rowCount() == 0)


def test_labels_of_other_items_and_a_file_that_cannot_measure_are_refused(
    qtbot: QtBot, opened: ResultsPage, save: Save
) -> None:
    dialog = MeasureModelDialog(ModelMeasure.BERTSCORE, opened.workspace)
    qtbot.addWidget(dialog)
    dialog.choose(save("&lt;x.gguf", b"not a model"))
    qtbot.waitUntil(lambda: "&lt;x.gguf" in dialog.status.text())
    assert not dialog.start.isEnabled()
    other = save("&lt;other.tsv", b"id\tinstruction\toutput_a\toutput_b\tsafety_preference\nx\ti\ta\tb\tA\n")
    opened.workspace.open_gold(other)
    qtbot.waitUntil(lambda: "no id in common" in doubts(opened))
    assert "Choose labels…" in doubts(opened)
    assert table_of(opened, "labels_given").rowCount() == 5
    assert opened.gold.status.text() == "Against the human labels of &lt;other.tsv, chosen on Results"
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in opened.findChildren(QLabel))


def test_what_was_stopped_goes_on(qtbot: QtBot, page: ResultsPage) -> None:
    page.measurer.progress.connect(lambda event: page.measurer.cancel() if event else None)
    page.workspace.open_run(1)
    qtbot.waitUntil(page.stopped.isVisible)
    assert table_of(page, "accuracy").rowCount() == 0  # nothing is known yet
    page.measurer.progress.disconnect()

    def stop(event: Measuring | None) -> None:
        if event is not None and "explanations" in event.text:  # said as the job begins
            page.measurer.cancel()

    page.measurer.progress.connect(stop)
    page.entered()
    qtbot.waitUntil(page.scores.go_on_button.isVisible)
    qtbot.waitUntil(lambda: not page.measurer.busy)
    assert table_of(page, "accuracy").rowCount() == 6
    page.measurer.progress.disconnect()
    click(page.scores.go_on_button)
    measured(qtbot, page)
    assert table_of(page, "explanations").rowCount() == 6


def test_a_model_that_does_not_judge_is_named_before_everything_else(
    qtbot: QtBot, page: ResultsPage, demo_gold: Path
) -> None:
    unsure = (0.1, 0.05, 0.05, 0.05)
    gold = load_dataset(demo_gold)
    columns = {"safety": [unsure] * len(gold), "relevance": [unsure] * len(gold)}
    stored = stored_run(page.workspace.store_path.parent, gold, columns, dataset_path=demo_gold)
    open_run(qtbot, page, stored.results.run.id)
    caveats = doubts(page).splitlines()
    assert caveats[0] == "The model does not judge: do not use its labels. In its answers for 30 items:"
    assert caveats[1].startswith("- The answer mass on all criteria is 25.0 %")
    assert "No technical problem" not in in_short(page)


def test_another_run_does_not_show_the_scores_of_the_last(
    qtbot: QtBot, opened: ResultsPage, two_runs: Path
) -> None:
    before = opened.measurer.scores
    with qtbot.waitSignal(opened.workspace.run_changed):
        opened.workspace.read_run_again()
    measured(qtbot, opened)
    assert opened.measurer.scores is before  # of the same run
    shutil.copy(two_runs, opened.workspace.store_path)
    with qtbot.waitSignal(opened.workspace.run_changed):
        opened.workspace.open_run(2)
    qtbot.waitUntil(lambda: table_of(opened, "explanations").rowCount() == 0)
    measured(qtbot, opened)
    assert table_of(opened, "accuracy").index(0, 1).data() == "3"


def test_what_could_not_be_judged_is_listed_with_its_reason(
    qtbot: QtBot, space: Workspace, page: ResultsPage, save: Save
) -> None:
    row = f'"{HOSTILE_ID}"\tDo it.\t{"long " * 2000}\tb\tA\n'
    path = save("long.tsv", f"id\tinstruction\toutput_a\toutput_b\tsafety_preference\n{row}".encode())
    open_run(qtbot, page, judge(space.store_path, path, JudgeSettings(mode=Mode.LABELS, context=512)))
    page.scores.unscored.set_open(True)
    table = page.scores.listed
    assert "the context holds 512" in table.index(0, 2).data()
    assert table.index(0, 0).data() == HOSTILE_ID.replace("\u202e", "\\u202e")
    assert "<img" not in table.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    with qtbot.waitSignal(space.review_wanted) as wanted:
        page.scores._unscored_view.activated.emit(table.index(0, 0))
    assert wanted.args == [JudgmentKey(HOSTILE_ID, "relevance")]


def test_scores_follow_overrides_and_the_model_alone_does_not(qtbot: QtBot, opened: ResultsPage) -> None:
    assert not opened.whose.isEnabled()
    before = table_of(opened, "accuracy").as_text()
    results = opened.workspace.run.results if opened.workspace.run else None
    judgment = results.judgments["safety"][0]
    other = Preference.A if results.label(judgment) is not Preference.A else Preference.B
    override(qtbot, opened, judgment.item_id, other)
    measured(qtbot, opened)
    assert table_of(opened, "accuracy").as_text() != before
    assert "1 label of these items is a human override; the scores include it" in doubts(opened)
    opened.whose.box.setFocus()
    QTest.keyClicks(opened.whose.box, "Judge")
    assert opened.whose.source == JUDGE_ALONE
    measured(qtbot, opened)
    assert table_of(opened, "accuracy").as_text() == before


def test_other_labels_in_the_same_file_and_explanations_written_again_are_measured_anew(
    qtbot: QtBot, opened: ResultsPage, save: Save, demo_gold: Path
) -> None:
    tables = []
    for data in (demo_gold.read_bytes().replace(b"\tboth_good\t", b"\tA\t"), demo_gold.read_bytes()):
        with qtbot.waitSignal(opened.workspace.gold_changed):
            opened.gold.open(save("labels.tsv", data))
        measured(qtbot, opened)
        tables.append(table_of(opened, "accuracy").as_text())
    assert tables[0] != tables[1]
    run = opened.workspace.run
    item, judgment = run.results.judged[0], run.results.judgments["safety"][0]
    other = Preference.A if run.results.label(judgment) is not Preference.A else Preference.B
    override(qtbot, opened, item.item_id, other)
    measured(qtbot, opened)
    before = table_of(opened, "explanations").as_text()
    with RunStore(opened.workspace.store_path) as store:
        store.add_rewritten(1, {item.position: {"safety": Explanation("Words of no other kind.", other)}})
        store.describe(1, {**store.run(1).manifest, "rewritten": [{"explanations": 1}]})
    with qtbot.waitSignal(opened.workspace.run_changed):
        opened.workspace.read_run_again()
    measured(qtbot, opened)
    assert table_of(opened, "explanations").as_text() != before


def test_a_part_of_a_run_says_so_and_can_be_read_again(
    qtbot: QtBot, space: Workspace, page: ResultsPage, demo_gold: Path
) -> None:
    run = judge(space.store_path, demo_gold, JudgeSettings(mode=Mode.LABELS, context=4096), items=3)
    open_run(qtbot, page, run)
    assert page.snapshot.isVisible()
    assert "of 30 items" in page.snapshot.text.text()
    with qtbot.waitSignal(space.run_changed):
        click(page.snapshot.again_button)
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)
    assert not page.snapshot.isVisible()


@pytest.mark.slow
def test_no_two_tables_are_called_alike(qtbot: QtBot, opened: ResultsPage) -> None:
    opened.calibration.fit_button.click()
    qtbot.waitUntil(lambda: opened.calibration.sheet.section("quality") is not None)
    names = [view.accessibleName() for view in opened.findChildren(QTableView)]
    assert len(names) > 10
    assert sorted(names) == sorted(set(names))
    assert {
        "Accuracy",
        "Before and after calibration, table 1 of 2",
        "What was fitted, table 2 of 2: additional feature",
    } <= set(names)


def test_people_among_themselves_stand_beside_the_judge_at_once_also_without_human_labels(
    qtbot: QtBot, opened: ResultsPage
) -> None:
    space, before = opened.workspace, opened.measurer.scores

    def say(item: str, author: str, label: Preference) -> None:
        with qtbot.waitSignal(space.reviewed):
            space.say(new_review(item, author, confirmed={"safety": label}))

    assert table_of(opened, "pairs").rowCount() == 0
    say("1", "Ada", Preference.A)
    say("1", "W" * 255, Preference.B)
    measured(qtbot, opened)
    shown = table_of(opened, "people")
    assert shown.as_text().split("\n")[1] == "safety\t2\t1\t0.0\t0\t0"
    view = next(each for each in opened.findChildren(QTableView) if each.model() is shown)
    with qtbot.waitSignal(space.listing_wanted) as wanted:
        view.setFocus()
        view.setCurrentIndex(view.model().index(0, 3))
        qtbot.keyClick(view, Qt.Key.Key_Return)
    [asked] = wanted.args
    assert (asked.words, asked.filters.criterion) == ("annotators disagree on safety", "safety")
    assert asked.filters.ids == {"1"}
    pairs = table_of(opened, "pairs").as_text()
    for part in (f"Ada\t{'W' * 20}…\tsafety\t1\t0.0\t", "\tthe judge\t", "\tthe human labels\t"):
        assert part in pairs
    assert "safety\tall, in turn\t2\t0\t0.0\t50.0\t50.0" in table_of(opened, "others").as_text()
    after = opened.measurer.scores
    assert after.evaluation.labels is before.evaluation.labels  # nothing is measured again
    assert after.explained
    for judged in space.run.results.judged[1:12]:
        for author in ("Ada", "Ben"):
            say(judged.item_id, author, Preference.A)
    alone = done(measure_labels(space.run.results, None, own=space.run.dataset))
    [annotators] = [section for section in alone.sheet.sections if section.key == "people"]
    [table, *_] = annotators.parts
    assert isinstance(table, Table)
    assert table.texts()[0][:3] == ["safety", "3", "12"]
    assert re.fullmatch(r"[\d.]+ \([\d.]+ to [\d.]+\)", table.texts()[0][3])
    assert done(measure_labels(space.run.results, None, known=[alone])).own is None


def test_scores_of_a_run_of_copies_say_what_is_wrong_with_its_judge_in_a_table_of_which_no_line_is_cut(
    qtbot: QtBot, tmp_path: Path
) -> None:
    audited, perturbations = run_of_copies(tmp_path)
    held = done(measure_labels(audited.results, perturbations))
    alone = done(measure_labels(audited.results, None, own=perturbations))
    unknown = done(measure_labels(audited.results, None))
    found = [[section.key for section in each.sheet.sections] for each in (held, alone, unknown)]
    assert [keys.count("audit") for keys in found] == [1, 1, 0]
    for percent in (100, 150):
        sheet = SheetView()
        qtbot.addWidget(sheet)
        font = sheet.font()
        font.setPointSizeF(font.pointSizeF() * percent / 100)
        sheet.setFont(font)
        sheet.resize(1080, 640)
        sheet.show()
        sheet.show_sheet(held.sheet)
        [view] = sheet.section("audit").findChildren(QTableView)
        model = view.model()
        for column in range(model.columnCount()):
            texts = [str(model.index(row, column).data()) for row in range(model.rowCount())]
            assert max(map(view.fontMetrics().horizontalAdvance, texts)) < view.columnWidth(column)
        assert view.horizontalScrollBar().maximum() == 0


@pytest.mark.slow
def test_what_each_way_alone_would_have_said_stands_in_a_table_and_lists_say_how_a_run_was_asked(
    qtbot: QtBot, space: Workspace, page: ResultsPage, demo_gold: Path
) -> None:
    judge_in_methods(demo_gold, space.store_path)
    open_run(qtbot, page, 2)
    asked = "label tokens, pointwise yes/no, pointwise grade"
    assert "By elicitation method" in text_of(page.scores)
    assert f"Elicitation: {asked}." in in_short(page)
    methods = table_of(page, "ways")
    first = [methods.index(row, 0).data() for row in range(methods.rowCount())]
    assert first == ["All combined", "Label tokens", "Pointwise yes/no", "Pointwise grade"]
    with RunStore(space.store_path) as store:
        runs = store.runs()
    table = RunsTableModel()
    table.show_runs(runs, {})
    cells = [table.index(row, MODE) for row in range(2)]
    assert [cell.data() for cell in cells] == ["explain", "labels, 3 methods"]
    tips = [str(cell.data(Qt.ItemDataRole.ToolTipRole)) for cell in cells]
    assert ["Elicitation methods" in tip for tip in tips] == [False, True]
    with qtbot.waitSignal(space.runs_changed):
        space.refresh_runs()
    entries = [run_in_lines(run) for run in space.runs]
    assert sum(f"Elicitation methods: {asked}" in entry for entry in entries) == 1


ENCODER = ROOT / "tests" / "encoders" / "roberta.gguf"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "file", "column"),
    [
        (ModelMeasure.BERTSCORE, ENCODER, 4),
        pytest.param(ModelMeasure.AGREEMENT, demo_model(), 5, marks=pytest.mark.apart),
    ],
)
def test_a_model_fills_its_column(
    qtbot: QtBot,
    page: ResultsPage,
    demo_tried: None,
    save: Save,
    demo_gold: Path,
    measure: ModelMeasure,
    file: Path,
    column: int,
) -> None:
    few = save("few.tsv", b"\n".join(demo_gold.read_bytes().split(b"\n")[:2]))
    page.workspace.open_gold(few)
    qtbot.waitUntil(lambda: page.workspace.has_chosen_gold)
    opened = open_run(qtbot, page, 1)
    click(opened.scores.model_buttons[measure])
    dialog = opened.findChild(MeasureModelDialog)
    assert isinstance(dialog, MeasureModelDialog)
    dialog.choose(file)
    qtbot.waitUntil(dialog.start.isEnabled)
    click(dialog.start)
    table = table_of(opened, "explanations")
    qtbot.waitUntil(lambda: table.index(0, column).data() not in {"-", None})
    assert opened.workspace.state.recent(
        "encoders" if measure is ModelMeasure.BERTSCORE else "agreement-models"
    )
