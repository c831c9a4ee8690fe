"""The Judge page, with the real demo model, real files and real threads."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableView,
)
from pytestqt.qtbot import QtBot

from engine.core.column_map import ColumnMap
from engine.core.errors import Hint, Setting, SetupError
from engine.core.events import ItemJudged, RunEnded, RunProgress
from engine.core.health import Health, Sign, Symptom
from engine.core.judgments import JudgmentKey
from engine.data.submission import write_dataset
from engine.settings.rows import ExampleKind, Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from gui.judge.judge_page import JudgePage
from gui.judge.run_control import RunControl, default_setup
from gui.judge.run_panel import MOST_ROWS, RunPanel
from gui.models import model_picker
from gui.models.model_jobs import Candidate
from gui.models.model_table import MODEL, about
from gui.widgets.glossary import HelpDialog
from gui.widgets.label_mark import PILL_ROLE
from gui.workspace.workspace import Workspace
from tests.able import longest_name
from tests.gui.judge.pages import (
    EXPLAINED,
    LABELS,
    cut_off,
    kept,
    new_page,
    open_dataset,
    plan_of,
    remember_unfinished,
    run_to_the_end,
    says,
    stop,
    wait_for_plan,
)
from tests.gui.labels import text_of
from tests.gui.steps import answer, click
from tests.model_files import JUDGES, PublishedFile
from tests.small_models import SPLIT, split_model

HOSTILE = "<b>x</b><img src='file:///etc/passwd'> <|eot_id|> \u202eabc"
SHOWN_HOSTILE = "<b>x</b><img src='file:///etc/passwd'> <|eot_id|> \\u202eabc"


@pytest.fixture
def ready(qtbot: QtBot, workspace: Workspace, demo_gold: Path) -> JudgePage:
    """A page with 4 items and a plan to judge labels alone, on one thread: other tests are at work too."""
    page = new_page(qtbot, workspace, LABELS)
    open_dataset(qtbot, page, demo_gold, items=4)
    return page


def judged_before(page: JudgePage) -> int:
    return page.control.progress.judged_before if page.control.progress else 0


def open_run(page: JudgePage) -> int | None:
    return page.workspace.run.id if page.workspace.run else None


def tokens_of(page: JudgePage) -> str:
    """What the plan says of tokens; empty while it is made."""
    value = page.plan_panel._lines["Tokens"][1]
    return value.text() if value.isVisible() else ""


def candidates(page: JudgePage) -> list[Candidate]:
    return page.picker.table.candidates


def test_what_seems_read_wrong_is_judged_if_confirmed(qtbot: QtBot, page: JudgePage, tmp_path: Path) -> None:
    path, days = tmp_path / "log.jsonl", range(1, 9)
    rows = ({"when": f"2026-05-{day:02d}T10:00:00Z", "one": f"Text {day}.", "two": "Other."} for day in days)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    page.settings.show_setup(LABELS)
    with qtbot.waitSignal(page.workspace.dataset_changed):
        sources = {"instruction": "when", "output_a": "one", "output_b": "two"}
        page.workspace.open_dataset(path, columns=ColumnMap.of(sources))
    wait_for_plan(qtbot, page)
    said = answer("Do not judge")
    page.run()
    assert "8 instructions are dates (all)" in said[0]
    assert not page.control.running
    answer("Judge it so")
    assert run_to_the_end(qtbot, page).judged == 8


def test_a_judge_that_is_a_candidate_is_asked_about_once_the_plan_is_there(
    qtbot: QtBot, page: JudgePage, tmp_path: Path
) -> None:
    path = tmp_path / "pairs.tsv"
    columns = {"id": ["1"], "instruction": ["Who?"], "output_a": ["Ada"], "output_b": ["Ben"]}
    write_dataset(path, {**columns, "candidate_a": ["7"], "candidate_b": ["demo-judge"]})
    page.settings.show_setup(LABELS)
    with qtbot.waitSignal(page.workspace.dataset_changed):
        page.workspace.open_dataset(path)
    with qtbot.waitSignal(page.workspace.note) as noted:
        page.run()
    assert "press Run once it is there" in noted.args[0]
    wait_for_plan(qtbot, page)
    said = answer("Do not judge")
    page.run()
    assert "candidates are demo-judge (itself)" in said[0]
    assert not page.control.running
    answer("Judge it so")
    assert run_to_the_end(qtbot, page).judged == 1


def test_the_first_start_says_what_to_do(qtbot: QtBot, page: JudgePage, workspace: Workspace) -> None:
    assert "No dataset is open" in text_of(page)
    assert not page.run_button.isEnabled()
    qtbot.waitUntil(lambda: page.picker.candidate is not None)
    assert page.picker.path == demo_model()
    first = page.picker.view.model().index(0, MODEL)
    assert first.data(PILL_ROLE) == ("demo", "plain")
    assert first.siblingAtColumn(1).data() == "fits"
    assert "demo-judge: a model for trying" in text_of(page.picker)
    assert not page.first_steps.isVisible()
    workspace.refresh_runs()
    qtbot.waitUntil(page.first_steps.isVisible)
    said = text_of(page.first_steps)
    assert "shows how far its judgments can be trusted." in said
    assert "1. Judge" in said
    click(page.first_steps, "What the words mean (F1)")
    assert page.window().findChild(HelpDialog) is not None
    click(page.first_steps, "Close")
    with qtbot.waitSignal(workspace.runs_changed):
        workspace.refresh_runs()
    assert not page.first_steps.isVisible()
    click(page, "Open the demo dataset")
    wait_for_plan(qtbot, page)
    assert "240 items x 5 criteria x both orders = 2,400" in text_of(page.plan_panel)


def test_who_has_judged_before_reads_no_first_steps(qtbot: QtBot, space: Workspace) -> None:
    page = new_page(qtbot, space)
    with qtbot.waitSignal(space.runs_changed):
        space.refresh_runs()
    assert not page.first_steps.isVisible()


def test_a_run_is_timed_shown_and_leads_to_review_and_results(qtbot: QtBot, ready: JudgePage) -> None:
    ready.first_steps.closed.emit()
    QApplication.processEvents()
    panel, place, received = ready.run_panel, ready.plan_panel.pos(), list[ItemJudged]()
    assert "not known before a run with this model" in text_of(ready.plan_panel)
    click(ready.plan_panel, "Time some items")
    says(qtbot, ready.plan_panel, "at the speed of some items of typical length")
    assert ready.run_button.text() == "Run"
    ready.control.judged.connect(received.append)
    run_to_the_end(qtbot, ready)
    assert "Run 1 is complete: 4 of 4 items are judged" in text_of(panel)
    assert [panel.table.index(row, 0).data() for row in range(panel.table.rowCount())] == list("4321")
    assert ready.control.health == Health(4, enough=False)  # looked at, though they are few
    assert ready.plan_panel.pos() == place
    assert panel.y() > ready.plan_panel.geometry().bottom()
    with qtbot.waitSignal(ready.workspace.page_wanted) as page_wanted:
        ready.results_button.click()
    assert page_wanted.args == ["Results"]
    panel.view.setCurrentIndex(panel.view.model().index(3, 2))
    with qtbot.waitSignal(ready.workspace.review_wanted) as wanted:
        QTest.keyClick(panel.view, Qt.Key.Key_Return)
    assert wanted.args == [JudgmentKey("1", "naturalness")]
    for added in (received[:1] * (MOST_ROWS + 50), received[1:]):
        panel.table.add(added)
        assert panel.table.rowCount() == MOST_ROWS
    assert [panel.table.item_id(row) for row in range(4)] == list("4321")


@pytest.fixture
def panel(qtbot: QtBot, workspace: Workspace) -> RunPanel:
    panel = RunPanel(RunControl(workspace))
    qtbot.addWidget(panel)
    panel.show()
    panel.begin(("safety",), "gold.tsv")
    return panel


def test_what_speaks_against_the_model_is_said_while_it_judges(panel: RunPanel) -> None:
    panel._control.health_seen.emit(Health(10, enough=True))
    assert "10 items" not in text_of(panel)
    sign = Symptom(Sign.CUT, {"safety": 0.5}, 0.2, True, "Half are cut.", Hint(Setting.EXPLANATION_TOKENS))
    panel._control.health_seen.emit(Health(10, True, (sign,)))
    words = "The model does not judge: do not use its labels. In its answers for 10 items:\n- Half are cut."
    assert words in text_of(panel)
    assert "What to do: “Longest explanation”" in text_of(panel)


def test_a_run_of_a_model_that_does_not_judge_ends_without_green(panel: RunPanel) -> None:
    ended, progress = RunEnded(1, 30, 30, stopped=False), RunProgress(1, 30, 30, 0)
    sign = Symptom(Sign.ONE_LABEL, {"A": 1.0}, 0.9, True, "All are A.", Hint("Stop."))
    look = Symptom(Sign.CUT, {"safety": 0.5}, 0.2, False, "Half are cut.", Hint("Stop."))
    for health, role, said in (
        (Health(30, True, (sign,)), "bad", "The model does not judge: do not use its labels."),
        (Health(30, True, (look,)), "warning", "The model may not judge properly."),
        (Health(30, True), "good", "Run 1 is complete: 30 of 30 items are judged, in 0:00."),
        (Health(4, False), "", "Run 1 is complete: 30 of 30 items are judged, in 0:00."),
        (Health(8, False, (sign,)), "warning", "but they already show problems."),
    ):
        panel.begin(("safety",), "gold.tsv")
        panel.show_health(health)
        panel.end(ended, progress)
        assert panel._result.property("role") == role
        assert panel._result.text().endswith(said)
    for ranks in (True, False):
        panel.begin(("safety",), "gold.tsv", ranks)
        panel.end(ended, progress)
        assert panel._ranking.isVisible() is ranks
    assert panel._result.property("role") == ""  # nothing is known yet
    panel.show_health(Health(30, True, (sign,)))  # of the whole run, once it is read
    assert panel._result.property("role") == "bad"


def test_a_run_that_has_no_item_left_for_what_is_open_does_not_say_that_it_is_clear(panel: RunPanel) -> None:
    progress = RunProgress(1, 30, 12, 0)
    left = "2 of 3 answers are open, and no remaining item could resolve more"
    for is_open, why in ((0, "everything is resolved"), (2, left)):
        panel.begin(("safety",), "gold.tsv")
        panel.end(RunEnded(1, 30, 12, stopped=False, open=is_open, asked=3), progress)
        assert f"Run 1 stopped early: {why}" in text_of(panel)
    panel.follow(progress)
    before = panel.minimumSizeHint().width()
    panel.begin(("safety",), "n" * 251 + ".tsv")  # which widens nothing
    panel.follow(progress)
    assert panel.minimumSizeHint().width() == before


@pytest.mark.slow
def test_escape_stops_no_run_stop_does_and_it_is_resumed(
    qtbot: QtBot, page: JudgePage, demo_gold: Path
) -> None:
    page.settings.show_setup(EXPLAINED)
    open_dataset(qtbot, page, demo_gold)
    with qtbot.waitActive(page):
        page.activateWindow()
    page.run_button.setFocus()
    QTest.keyClick(page.run_button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: kept(page) >= 2)
    assert page.picker.isEnabled()  # another run can be described meanwhile, for the queue
    assert not page.run_button.isVisible()
    assert page.stop_button.hasFocus()  # the keys did not pass it
    QTest.keyClick(page.stop_button, Qt.Key.Key_Escape)
    assert not page.control.stopping
    with qtbot.waitSignal(page.control.ended):
        QTest.keyClick(page.stop_button, Qt.Key.Key_Space)
    assert "was stopped" in text_of(page.run_panel)
    wait_for_plan(qtbot, page)
    assert page.run_button.text() == "Resume"
    assert "items are judged in run 1, which is resumed" in text_of(page.plan_panel)
    assert page.over_button.isVisible()
    page.settings.show_setup(replace(LABELS, criteria=("safety",)))
    again = new_page(qtbot, page.workspace)
    assert f"The last run, of {demo_gold.name}, was not finished" in text_of(again.banner)
    qtbot.waitUntil(lambda: " of 30 items are judged" in text_of(again.banner))
    click(again.banner, "Resume")
    assert not again.banner.isVisible()
    qtbot.waitUntil(lambda: kept(again) >= 1)
    assert again.control.progress.judged_before >= 2
    assert again.setup().mode is Mode.EXPLAIN
    stop(qtbot, again.control)
    third = new_page(qtbot, page.workspace)
    click(third.banner, "Dismiss")
    assert not third.banner.isVisible()
    assert third.control.unfinished is None


def test_items_that_do_not_fit_are_named_with_what_helps(
    qtbot: QtBot, page: JudgePage, save: Callable[[str, bytes], Path]
) -> None:
    text = "id\tinstruction\toutput_a\toutput_b\nshort\tq\ta\tb\nlong\tq\t" + "many words " * 300 + "\tb\n"
    page.settings.show_setup(replace(default_setup(), mode=Mode.LABELS, context=512))
    open_dataset(qtbot, page, save("long.tsv", text.encode()))
    assert "1 of 2 items will be unscored: long." in text_of(page.plan_panel)
    click(page.plan_panel, "Shorten them")
    says(qtbot, page.plan_panel, "1 of 2 items will be shortened: long.")
    assert page.setup().shorten
    page.plan_panel._more_room.click()
    says(qtbot, page.plan_panel, "every item fits")


def test_a_context_too_small_names_the_fields_that_help(
    qtbot: QtBot, page: JudgePage, demo_gold: Path
) -> None:
    page.settings.fold.set_open(True)
    page.settings.show_setup(replace(LABELS, context=512, examples_path=demo_gold, shots=8))
    page.workspace.open_dataset(demo_gold)
    says(qtbot, page.plan_panel, "the context holds 512: no item fits.")
    advice = "Use a larger “Context”, fewer “Few-shot examples” or shorter examples."
    assert advice in text_of(page.plan_panel)
    assert {"Context", "Few-shot examples"} <= {*text_of(page.settings).splitlines()}


def test_nearest_examples_are_chosen_and_remembered(qtbot: QtBot, page: JudgePage, demo_gold: Path) -> None:
    page.settings.fold.set_open(True)
    page.settings.show_setup(LABELS)
    field = page.settings.advanced.default.by_name["example_choice"]
    assert (field.currentText(), field.isEnabled()) == ("the same for all items", False)
    page.settings.show_setup(replace(LABELS, examples_path=demo_gold, shots=1))
    open_dataset(qtbot, page, demo_gold)
    same = tokens_of(page)
    assert field.isEnabled()
    field.setCurrentText("nearest neighbours")
    qtbot.waitUntil(lambda: tokens_of(page) not in ("", same))
    setup = page.settings.in_setup(default_setup())
    assert setup.example_choice is ExampleKind.NEAR
    page.settings.show_setup(default_setup())
    assert field.currentText() == "the same for all items"
    page.settings.show_setup(RunSetup.of_json(setup.as_json(), default_setup()))
    assert field.currentText() == "nearest neighbours"


def test_no_figure_of_another_dataset_stands_while_a_plan_is_made(
    qtbot: QtBot, ready: JudgePage, tmp_path: Path, demo_gold: Path
) -> None:
    panel, said = ready.plan_panel, list[str]()
    assert "4 items x 5 criteria" in text_of(panel)
    place = panel.geometry()
    other = tmp_path / "other.tsv"
    other.write_bytes(b"".join(demo_gold.read_bytes().splitlines(keepends=True)[:8]))
    panel._planning.progress.connect(lambda _: said.append(text_of(panel)))
    ready.workspace.open_dataset(other)
    assert text_of(panel) == "Plan\nA plan follows when the dataset is read."
    assert ready.wanted() is None  # nor is the other dataset judged instead
    wait_for_plan(qtbot, ready)
    assert said
    assert not [text for text in said if "4 items" in text]
    assert "7 items x 5 criteria" in text_of(panel)
    assert panel.geometry().topLeft() == place.topLeft()


def test_a_file_that_is_no_model_is_folded_away_and_says_why(
    qtbot: QtBot, ready: JudgePage, save: Callable[[str, bytes], Path]
) -> None:
    bad = save("a&lt;.gguf", b"not a model")
    ready.choose_model(bad)
    says(qtbot, ready.plan_panel, "a&lt;.gguf")
    qtbot.waitUntil(lambda: len(candidates(ready)) == 2)
    order, unusable = ready.picker.view.model(), ready.picker.unusable
    assert [order.index(row, MODEL).data() for row in range(order.rowCount())] == ["demo-judge"]
    qtbot.waitUntil(unusable.isVisible)
    unusable.set_open(True)
    says(qtbot, unusable, f"a&lt; ({bad.parent})")
    assert "This is not a GGUF file: it begins with the text 'not '." in text_of(unusable)
    ready.picker.view.selectRow(0)
    wait_for_plan(qtbot, ready)


def test_a_model_file_is_offered_by_itself_once_nobody_writes_to_it(
    qtbot: QtBot, page: JudgePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_picker, "PAUSE_MS", 50)
    picker, folder = page.picker, tmp_path / "models" / "maker" / "model"
    folder.mkdir(parents=True)
    with qtbot.waitSignal(picker._searching.finished):
        picker.add_folder(tmp_path / "models")
    qtbot.waitUntil(lambda: len(candidates(page)) == 1)
    qtbot.waitUntil(picker._busy.isHidden)
    data, cleared, high = demo_model().read_bytes(), [], picker.view.height()
    picker.table.modelReset.connect(lambda: cleared.append(True))
    (folder / "other.gguf.part").write_bytes(data)
    with (folder / "new.gguf").open("wb") as file:
        for start in range(0, len(data), len(data) // 4 + 1):
            file.write(data[start : start + len(data) // 4 + 1])
            file.flush()
            with qtbot.waitSignal(picker.watch._listing.finished):
                picker.watch.look()
            assert not picker.table.row_of(folder / "new.gguf")
    qtbot.waitUntil(lambda: len(candidates(page)) == 2)
    assert [one.path.name for one in candidates(page) if one.usable] == ["demo-judge.gguf", "new.gguf"]
    assert picker.view.height() == high  # what is below it has not moved
    (folder / "new.gguf").unlink()
    qtbot.waitUntil(lambda: len(candidates(page)) == 1)
    assert not cleared
    last = tmp_path / "last.gguf"  # of last time: in no folder that is searched, nor added
    last.write_bytes(data)
    picker._select(last)
    with qtbot.waitSignal(picker._searching.finished):
        pass
    with qtbot.assertNotEmitted(picker.watch.changed, wait=300):
        pass
    page.hide()
    qtbot.waitUntil(lambda: not picker.watch._rest.isActive() and not picker.watch._listing.busy)


def test_an_added_folder_and_a_chosen_file_can_be_removed_again(
    qtbot: QtBot, page: JudgePage, small_model: Callable[[str], Path], tmp_path: Path
) -> None:
    places, added = page.picker.places, tmp_path / ("longname" * 30)[: longest_name(tmp_path, 2)]
    added.mkdir()
    PublishedFile("in-folder.gguf").write(added)
    assert not places.button.isVisible()
    page.choose_model(added)
    page.choose_model(small_model("short_context"))
    qtbot.waitUntil(lambda: len(candidates(page)) == 3)
    places.button.menu().aboutToShow.emit()
    entries = [entry for entry in places.button.menu().actions() if not entry.isSeparator()]
    assert len(entries) == 2
    assert all(len(entry.text()) <= 70 for entry in entries)
    assert str(added) in entries[0].toolTip()
    for entry in entries:
        entry.trigger()
    qtbot.waitUntil(lambda: [one.name for one in candidates(page)] == ["demo-judge"])
    assert (places.folders, places.files) == ([], [])
    assert page.picker.path == demo_model()
    assert not places.button.isVisible()
    assert (added / "in-folder.gguf").exists()


def test_the_keyboard_chooses_a_model_and_a_filter_does_not(
    qtbot: QtBot, page: JudgePage, small_model: Callable[[str], Path]
) -> None:
    other = small_model("short_context")
    page.choose_model(other)
    qtbot.waitUntil(lambda: len(candidates(page)) == 2)
    qtbot.waitUntil(lambda: bool(page.picker.view.selectionModel().selectedRows()))
    page.picker._filter.setText("demo")
    assert page.picker.view.model().rowCount() == 1
    assert page.picker.path == other
    page.picker._filter.clear()
    key = Qt.Key.Key_Down if page.picker.view.currentIndex().row() == 0 else Qt.Key.Key_Up
    QTest.keyClick(page.picker.view, key)
    assert page.picker.path == demo_model()


def test_a_part_of_a_split_model_stands_for_the_whole(qtbot: QtBot, page: JudgePage, tmp_path: Path) -> None:
    first = split_model(tmp_path)
    page.choose_model(tmp_path / SPLIT[2])
    qtbot.waitUntil(lambda: page.picker.path == first)
    assert [one.name for one in candidates(page) if not one.is_demo] == ["Split-1B-Instruct-F16"]
    assert "and 2 other parts" in about(candidates(page)[1])


def test_the_chosen_model_is_in_sight_among_many(qtbot: QtBot, page: JudgePage, tmp_path: Path) -> None:
    for file, _ in JUDGES:
        file.write(tmp_path)
    chosen = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    picker = page.picker
    picker.add_folder(tmp_path)
    page.choose_model(chosen)
    qtbot.waitUntil(lambda: len(candidates(page)) == 1 + len(JUDGES))
    view = picker.view
    in_sight = view.viewport().rect
    qtbot.waitUntil(lambda: in_sight().intersects(view.visualRect(view.currentIndex())))
    assert view.currentIndex().siblingAtColumn(MODEL).data() == chosen.stem
    assert f"{chosen.stem}, called Smollm2 135M 8k Lc100K Mix1 Ep2 in its header" in text_of(picker)


def test_memory_is_estimated_anew_for_another_context(qtbot: QtBot, page: JudgePage) -> None:
    def kv_cache() -> int:
        candidate = page.picker.candidate
        return candidate.estimate.kv_cache if candidate and candidate.estimate else 0

    qtbot.waitUntil(lambda: kv_cache() > 0)
    before = kv_cache()
    page.settings.advanced.default.by_name["context"].setValue(1024)
    qtbot.waitUntil(lambda: kv_cache() == before // 4)


def test_settings_without_a_criterion_make_no_run_others_are_kept(qtbot: QtBot, ready: JudgePage) -> None:
    for box in ready.settings.criteria.boxes.values():
        box.setChecked(False)
    assert "Choose at least one criterion" in text_of(ready.plan_panel)
    assert not ready.run_button.isEnabled()
    click(ready, "Back to defaults")
    assert ready.run_button.isEnabled()
    chosen = replace(LABELS, criteria=("safety",), both_orders=False, context=1024, gpu_layers=0)
    ready.settings.show_setup(chosen)
    again = new_page(qtbot, ready.workspace)
    assert again.setup() == replace(ready.setup(), items=again.setup().items)
    assert again.setup().criteria == ("safety",)
    assert again.setup().gpu_layers == 0


@pytest.mark.slow
def test_a_margin_counts_where_the_second_order_is_read_in_doubt(qtbot: QtBot, ready: JudgePage) -> None:
    orders, fields = ready.settings._orders, ready.settings.advanced.default.by_name
    margin = fields["second_order_below"]
    assert not margin.isEnabled()
    orders.setCurrentText("In both only if uncertain")
    assert margin.isEnabled()
    assert (ready.setup().both_orders, ready.setup().second_order_below) == (True, 0.5)
    margin.setValue(0.3)
    ready.dataset_line.set_items(8)
    wait_for_plan(qtbot, ready)
    assert "x both orders if uncertain = 80 at most; no run tells" in text_of(ready.plan_panel)
    again = new_page(qtbot, ready.workspace)
    assert again.setup().second_order_below == 0.3
    run_to_the_end(qtbot, ready)
    flips = {ready.run_panel.table.index(row, 6).data() for row in range(8)}
    assert "-" in flips  # nobody knows of these whether they are flipped
    wait_for_plan(qtbot, ready)
    orders.setCurrentText("In one order (half the time)")
    assert (ready.setup().both_orders, ready.setup().second_order_below) == (False, None)


def test_foreign_text_is_shown_as_text(
    qtbot: QtBot, page: JudgePage, save: Callable[[str, bytes], Path]
) -> None:
    page.settings.show_setup(LABELS)
    row = "\t".join([HOSTILE] * 4)
    path = save("hostile.tsv", f"id\tinstruction\toutput_a\toutput_b\n{row}\n".encode())
    open_dataset(qtbot, page, path)
    run_to_the_end(qtbot, page)
    cell = page.run_panel.table.index(0, 0)
    assert cell.data() == SHOWN_HOSTILE
    assert "<b>" not in cell.data(Qt.ItemDataRole.ToolTipRole)
    found = page.plan_panel.findChildren(QLabel)
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in found)


@pytest.fixture
def stopped(workspace: Workspace, own_gold: Path) -> Workspace:
    """A workspace whose run 1, of the first 4 of 30 items, was cut off after two of them."""
    setup = replace(EXPLAINED, dataset_path=own_gold, items=4)
    cut_off(plan_of(setup), workspace.store_path)
    remember_unfinished(workspace, 1, setup)
    return workspace


@pytest.fixture
def own_gold(demo_gold: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(demo_gold, tmp_path / "own.tsv"))


def test_what_changed_since_a_run_began_is_named(qtbot: QtBot, stopped: Workspace, own_gold: Path) -> None:
    before = own_gold.read_bytes()
    head, _, rest = before.partition(b"\n")
    own_gold.write_bytes(head + b"\n" + rest.replace(b"\t", b"\tother ", 1))
    again = new_page(qtbot, stopped)
    with qtbot.waitSignal(again.control.ended) as ended:
        click(again.banner, "Resume")
    assert isinstance(ended.args[0], SetupError)
    assert ended.args[0].problem == "Run 1 cannot be resumed. Changed since its start: the items of own.tsv."
    assert again.banner.isVisible()
    own_gold.write_bytes(before)
    click(again.banner, "Resume")
    qtbot.waitUntil(lambda: judged_before(again) >= 2)
    stop(qtbot, again.control)
    with RunStore(stopped.store_path) as store:
        assert [run.id for run in store.runs()] == [1]


@pytest.mark.slow
def test_a_run_that_was_started_over_is_resumed_with_its_items_though_another_dataset_is_open(
    qtbot: QtBot, stopped: Workspace, demo_gold: Path, own_gold: Path
) -> None:
    page = new_page(qtbot, stopped, EXPLAINED)
    open_dataset(qtbot, page, own_gold, items=4)
    with qtbot.waitSignal(page.control.ended):
        page.over_button.click()
    assert page.control.unfinished.resumes == 1
    open_dataset(qtbot, page, demo_gold)
    assert page.setup().items is None
    again = new_page(qtbot, stopped)
    wait_for_plan(qtbot, again)
    with qtbot.waitSignal(again.control.ended) as ended:
        click(again.banner, "Resume")
    assert ended.args[0] == RunEnded(run_id=1, items=4, judged=4, stopped=False)
    wait_for_plan(qtbot, again)
    assert (again.setup().dataset_path.name, again.setup().items) == ("own.tsv", 4)
    assert "all 4 items are judged in run 2" in text_of(again.plan_panel)  # the newest of this setup


@pytest.mark.slow
def test_only_its_button_judges_a_complete_run_again(qtbot: QtBot, ready: JudgePage) -> None:
    run_to_the_end(qtbot, ready)
    with qtbot.waitSignal(ready.workspace.note) as note:
        ready.run()
    assert note.args == ["All 4 items are judged in run 1; press Judge again for a new run."]
    assert not ready.control.running
    with qtbot.waitSignal(ready.control.ended) as ended:
        click(ready, "Judge again")
    assert ended.args[0].run_id == 2
    ready.workspace.open_run(1)
    qtbot.waitUntil(lambda: open_run(ready) == 1)
    click(ready.run_panel, "Review")
    qtbot.waitUntil(lambda: open_run(ready) == 2)


def test_while_a_dataset_is_read_the_page_says_so(qtbot: QtBot, page: JudgePage, demo_gold: Path) -> None:
    page.workspace.open_dataset(demo_gold)
    assert "A plan follows when the dataset is read." in text_of(page.plan_panel)
    assert "No dataset is open" not in text_of(page)
    page.workspace.cancel_loading()
    qtbot.waitUntil(lambda: "A plan follows when the dataset is read." not in text_of(page.plan_panel))
    if page.workspace.dataset is None:
        assert "No dataset is open" in text_of(page)
        assert "Open a dataset to see" in text_of(page.plan_panel)


def test_a_model_of_last_time_that_is_gone_is_replaced_and_named(qtbot: QtBot, workspace: Workspace) -> None:
    workspace.state.set_text("last/model", str(workspace.store_path.with_name("gone.gguf")))
    with qtbot.waitSignal(workspace.note) as note:
        page = new_page(qtbot, workspace)
    assert "gone.gguf" in note.args[0]
    assert note.args[0].endswith("The demo model is chosen instead.")
    assert page.picker.path == demo_model()


def test_every_control_has_a_name_and_takes_the_keyboard(page: JudgePage) -> None:
    kinds = (QPushButton, QComboBox, QCheckBox, QAbstractSpinBox, QTableView, QLineEdit)
    controls = [control for kind in kinds for control in page.findChildren(kind)]
    own = [control for control in controls if not isinstance(control.parent(), QAbstractSpinBox)]
    assert len(own) > 30
    for control in own:
        text = control.text() if isinstance(control, QPushButton | QCheckBox) else ""
        assert control.accessibleName() or text or control is page.plan_panel._more_room, control
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus
