"""The dialog that asks which columns of a foreign file are which, wherever the window takes one."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialogButtonBox, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError
from engine.core.items import Preference
from engine.core.rubric import Criterion, Rubric
from engine.data.recognition import remember, remembered
from engine.store.run_store import RunStore
from gui.compare.compare_page import ComparePage
from gui.dataset.columns_dialog import NOTHING, AnnotatorsButton, ColumnAsker, ColumnsDialog, SourceFields
from gui.dataset.dataset_page import DatasetPage
from gui.judge.run_control import default_setup
from gui.judge.settings_panel import AdvancedPanel
from gui.results.scores_panel import GoldPicker
from gui.review.notices import MissingDataset
from gui.window.openers import SubmissionOpener
from gui.workspace.state import State
from gui.workspace.workspace import Workspace
from tests.able import longest_name
from tests.conftest import DEMO_ITEMS
from tests.foreign_gold import COLUMNS as FOREIGN
from tests.foreign_gold import foreign_gold, judged_by_columns, with_a_mistake
from tests.gui.steps import dataset_of, gold_of, items_of, run_of
from tests.published_shapes import (
    alpaca_eval_weighted,
    unknown_arena,
    unknown_hh_rlhf,
    unknown_kaggle_arena,
    unknown_llm_bar,
    unknown_panda_lm,
    unknown_reward_bench,
    unknown_ultra_feedback,
)

COLUMNS = {"instruction": "input", "output_a": "output_1", "output_b": "output_2"}


def asked(qtbot: QtBot, page: DatasetPage, path: Path) -> ColumnsDialog:
    """The dialog that opening a foreign file opens, once it shows the first rows."""
    with qtbot.waitSignal(page.workspace.dataset_failed):
        page.workspace.open_dataset(path)
    return guessed(qtbot, page.asker)


def guessed(qtbot: QtBot, asker: ColumnAsker) -> ColumnsDialog:
    """The dialog, once it shows the first rows."""
    qtbot.waitUntil(lambda: asker.dialog is not None)
    dialog = asker.dialog
    qtbot.waitUntil(lambda: bool(dialog.items.toPlainText()))
    return dialog


def say(dialog: ColumnsDialog, meanings: Mapping[str, str]) -> None:
    """Say what the label values mean of which nobody has said it yet."""
    for value in dialog.labels.unsaid:
        box = dialog.labels.boxes[value]
        box.setCurrentIndex(box.findData(meanings[value]))


def accept(qtbot: QtBot, page: DatasetPage, dialog: ColumnsDialog) -> None:
    qtbot.waitUntil(dialog.open_button.isEnabled)
    with qtbot.waitSignal(page.workspace.dataset_changed):
        QTest.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)


def test_shares_are_labels_once_a_number_is_written(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    dialog = asked(qtbot, page, alpaca_eval_weighted(tmp_path))
    field = dialog.fields["overall"].by_target["overall_quality_preference"]
    assert field.source == "preference"
    field.setEditText("1.5>preference")
    accept(qtbot, page, dialog)
    assert all(item.gold for item in dataset_of(page.workspace))
    assert page.columns_button.isVisible()


def test_the_first_rows_are_shown_as_they_would_be_read(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    dialog = asked(qtbot, page, unknown_arena(tmp_path))
    text = dialog.items.toPlainText()
    assert "Instruction: Name a prime number above ten." in text
    assert "Response B: Because air scatters blue light more." in text
    assert text.count("Item ") == 3
    assert "Overall label: tie" in text
    assert "These rows can be read" in dialog.problem.text()


def test_context_and_reference_answer_have_fields_that_are_guessed(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    row = {
        "query": "Who?",
        "answer_1": "Bo.",
        "answer_2": "Ann.",
        "reference_answer": "Ann",
        "passage": "By Ann.",
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps([row, {**row, "query": "And who else?"}]), "utf-8")
    dialog = asked(qtbot, page, path)
    assert "Context: By Ann.\nReference answer: Ann\n" in dialog.items.toPlainText()
    dialog.fields["item"].by_target["context"].choose(NOTHING)
    qtbot.waitUntil(lambda: "Context:" not in dialog.items.toPlainText())
    accept(qtbot, page, dialog)
    assert dataset_of(page.workspace)[1].background == {"reference": "Ann"}


def test_another_choice_is_shown_at_once_and_enter_opens_the_file(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    dialog = asked(qtbot, page, unknown_llm_bar(tmp_path))
    before = dialog.items.toPlainText()
    field = dialog.fields["outputs"].by_target["output_a"]
    field.setCurrentIndex(field.findData("output_2"))
    qtbot.waitUntil(lambda: dialog.items.toPlainText() != before)
    assert "Response A: Twelve, of course, is one." in dialog.items.toPlainText()
    say(dialog, {"1": "A", "2": "B"})
    qtbot.waitUntil(dialog.open_button.isEnabled)
    with qtbot.waitSignal(page.workspace.dataset_changed):
        QTest.keyClick(dialog.fields["item"].by_target["instruction"], Qt.Key.Key_Return)
    assert dataset_of(page.workspace)[0].output_a == "Twelve, of course, is one."


def test_the_confidence_of_a_guess_goes_with_the_guess(qtbot: QtBot) -> None:
    fields = SourceFields({"output_a": "Response A"}, ["chosen", "rejected"], [])
    qtbot.addWidget(fields)
    confidence = fields._confidence["output_a"]
    confidence.setText("uncertain")
    fields.by_target["output_a"].changed.emit()
    assert not confidence.text()


def test_a_source_may_be_written(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    dialog = asked(qtbot, page, unknown_ultra_feedback(tmp_path))
    field = dialog.fields["outputs"].by_target["output_b"]
    field.setEditText("completions[3].response")
    qtbot.waitUntil(lambda: "Response B: Fourth." in dialog.items.toPlainText())
    field.setEditText("completions[9].response")
    qtbot.waitUntil(lambda: not dialog.open_button.isEnabled())
    assert "holds no entry 9" in dialog.problem.text()


def test_a_problem_keeps_the_file_from_being_opened(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    dialog = asked(qtbot, page, unknown_llm_bar(tmp_path))
    field = dialog.fields["item"].by_target["instruction"]
    field.setEditText("nope")
    qtbot.waitUntil(lambda: "the file has no column 'nope'" in dialog.problem.text())
    field.setEditText(NOTHING)
    qtbot.waitUntil(lambda: "'instruction' has no column" in dialog.problem.text())
    assert not dialog.open_button.isEnabled()


def test_numbers_keep_a_file_closed_until_a_person_says_what_they_mean_which_can_be_something_else(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    dialog = asked(qtbot, page, unknown_llm_bar(tmp_path))
    qtbot.waitUntil(lambda: "unknown label '1': choose its meaning." in dialog.problem.text())
    assert dialog.labels.unsaid == ["1", "2"]
    assert [label.text() for label in dialog.labels.findChildren(QLabel)] == ["1", "2 times", "2", "2 times"]
    assert not dialog.open_button.isEnabled()
    say(dialog, {"1": "A", "2": "tie"})
    qtbot.waitUntil(lambda: "Overall label: tie" in dialog.items.toPlainText())
    assert dialog.labels.labels == {"1": "A", "2": "tie"}
    box = dialog.labels.boxes["2"]
    box.setCurrentIndex(box.findData(Preference.BOTH_BAD.value))
    qtbot.waitUntil(lambda: "Overall label: both bad" in dialog.items.toPlainText())
    box.setCurrentIndex(0)
    qtbot.waitUntil(lambda: "unknown label '2'" in dialog.problem.text())
    box.setCurrentIndex(box.findData(""))
    qtbot.waitUntil(dialog.open_button.isEnabled)
    accept(qtbot, page, dialog)
    items = dataset_of(page.workspace)
    labels = [item.gold["overall_quality"].label if item.gold else "" for item in items]
    assert labels == ["A", "", "A", ""]


def test_several_annotators_are_chosen_from_a_menu(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    dialog = asked(qtbot, page, unknown_panda_lm(tmp_path))
    field = dialog.fields["overall"].by_target["overall_quality_preference"]
    assert field.source == "annotator1|annotator2|annotator3"
    button = dialog.fields["overall"].findChild(AnnotatorsButton)
    button.menu().aboutToShow.emit()
    boxes = {box.text(): box for box in button.menu().findChildren(QCheckBox)}
    assert [text for text, box in boxes.items() if box.isChecked()] == field.source.split("|")
    boxes["annotator2"].click()
    assert field.source == "annotator1|annotator3"
    boxes["annotator2"].click()
    say(dialog, {"0": "tie", "1": "A", "2": "B"})
    qtbot.waitUntil(lambda: "annotator1 A, annotator3 B, annotator2 A" in dialog.items.toPlainText())
    accept(qtbot, page, dialog)
    dataset = dataset_of(page.workspace)
    assert list(dataset.annotators["overall_quality"]) == ["annotator1", "annotator3", "annotator2"]
    shown = page.summary.findChildren(QLabel)
    qtbot.waitUntil(lambda: any("of 3 annotators, two give the same" in label.text() for label in shown))


def test_labels_of_another_column_mean_what_they_mean_there(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    path = tmp_path / "two.jsonl"
    records = (
        {
            "prompt": f"Please do {n}",
            "response_a": f"A text number {n} long enough",
            "response_b": f"B text number {n} long enough",
            "label": ("left", "right")[n % 2],
            "winner2": ("0", "1", "right")[n % 3],
        }
        for n in range(12)
    )
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    dialog = asked(qtbot, page, path)
    field = dialog.fields["overall"].by_target["overall_quality_preference"]
    assert field.source == "label"
    first = {"left": "A", "right": "B"}
    assert dialog.labels.labels == first
    field.setCurrentIndex(field.findData("winner2"))
    qtbot.waitUntil(lambda: dialog.labels.unsaid == ["0", "1"])
    assert dialog.labels.labels == {"right": "B"}
    box = dialog.labels.boxes["right"]
    box.setCurrentIndex(box.findData(Preference.BOTH_BAD.value))
    field.setCurrentIndex(field.findData("label"))
    qtbot.waitUntil(lambda: set(dialog.labels.labels) == {"left", "right"})
    assert dialog.labels.labels == {**first, "right": Preference.BOTH_BAD.value}


def test_a_chosen_and_a_rejected_response_have_fields_of_their_own(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    dialog = asked(qtbot, page, unknown_hh_rlhf(tmp_path))
    assert dialog.kind.currentText() == "A chosen and a rejected response"
    assert dialog.fields["ranked"].isVisible()
    assert not dialog.fields["outputs"].isVisible()
    dialog.kind.setCurrentIndex(0)
    qtbot.waitUntil(lambda: "'output_a' has no column" in dialog.problem.text())
    assert dialog.fields["outputs"].isVisible()


def test_columns_are_remembered_or_not_as_is_ticked(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    path = unknown_reward_bench(tmp_path)
    dialog = asked(qtbot, page, path)
    dialog.remember.setChecked(False)
    accept(qtbot, page, dialog)
    assert remembered(dataset_of(page.workspace).file_columns) is None
    dialog = asked(qtbot, page, path)
    accept(qtbot, page, dialog)
    assert remembered(dataset_of(page.workspace).file_columns) == dataset_of(page.workspace).columns
    with qtbot.waitSignal(page.workspace.dataset_changed):
        page.workspace.open_dataset(path)


def test_columns_of_an_open_file_can_be_changed(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    path = unknown_kaggle_arena(tmp_path)
    accept(qtbot, page, asked(qtbot, page, path))
    QTest.mouseClick(page.columns_button, Qt.MouseButton.LeftButton)
    dialog = guessed(qtbot, page.asker)
    qtbot.waitUntil(lambda: dialog.columns == dataset_of(page.workspace).columns)
    field = dialog.fields["overall"].by_target["overall_quality_preference"]
    field.show_source("")
    accept(qtbot, page, dialog)
    assert not dataset_of(page.workspace).criteria


def test_a_remembered_map_that_fails_can_be_mended(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    path = unknown_llm_bar(tmp_path)
    records = json.loads(path.read_text("utf-8"))
    records.append({**records[0], "winner": "best"})
    path.write_text(json.dumps(records), encoding="utf-8")
    sources = {**COLUMNS, "overall_quality_preference": "winner"}
    remember(list(records[0]), ColumnMap.of(sources, {"1": "A", "2": "B"}))
    with qtbot.waitSignal(page.workspace.dataset_failed):
        page.workspace.open_dataset(path)
    assert not page.findChildren(ColumnsDialog)
    assert "unknown label 'best'" in page.notice.text
    buttons = page.notice.findChildren(QPushButton)
    again = next(button for button in buttons if "columns" in button.text())
    QTest.mouseClick(again, Qt.MouseButton.LeftButton)
    dialog = page.asker.dialog
    qtbot.waitUntil(lambda: "unknown label 'best'" in dialog.problem.text())
    say(dialog, {"best": "A"})
    accept(qtbot, page, dialog)


def test_a_cancelled_dialog_leaves_what_was_open_and_offers_itself_again(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    dialog = asked(qtbot, page, unknown_llm_bar(tmp_path))
    cancel = dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel)
    QTest.mouseClick(cancel, Qt.MouseButton.LeftButton)
    assert page.workspace.dataset is None
    assert "llmbar.json: its columns have other names than a dataset's." in page.notice.text
    assert page.notice.isVisible()


def test_many_long_and_hostile_names_widen_nothing(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    names = [f"<b>{n}</b> {'x' * 245}" for n in range(200)]
    record = dict.fromkeys(names, "cell") | {"input": "Why?", "output_1": "a", "output_2": "b", "label": 1}
    path = tmp_path / f"{'f' * (longest_name(tmp_path) - 15)}.json"
    path.write_text(json.dumps([record, {**record, "label": "<i>" + "y" * 90}]), encoding="utf-8")
    dialog = asked(qtbot, page, path)
    assert dialog.minimumSizeHint().width() <= 1280
    assert dialog.minimumSizeHint().height() <= 720
    field = dialog.fields["overall"].by_target["overall_quality_explanation"]
    field.setCurrentIndex(field.findData(names[7]))
    assert field.source == names[7]
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in dialog.labels.findChildren(QLabel))


def test_an_empty_table_is_refused_in_the_dialog(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("prompt,a,b\n", encoding="utf-8")
    with qtbot.waitSignal(page.workspace.dataset_failed):
        page.workspace.open_dataset(path)
    dialog = page.asker.dialog
    qtbot.waitUntil(lambda: "has no rows" in dialog.problem.text())
    assert not dialog.open_button.isEnabled()


def test_a_label_value_far_down_in_the_file_can_be_said_to_mean_something(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    record = {"input": "Why is it so?", "output_1": "So it is.", "output_2": "It is not.", "v": {"w": "left"}}
    late = {**record, "v": {"w": "neither of them"}}
    path.write_text(json.dumps([*[record] * 150, late]), encoding="utf-8")
    sources = {**COLUMNS, "overall_quality_preference": "v.w"}
    with qtbot.waitSignal(page.workspace.dataset_failed):
        page.workspace.open_dataset(path, ColumnMap.of(sources, {"left": "A"}))
    page._asked = {path: ColumnMap.of(sources, {"left": "A"})}
    again = next(b for b in page.notice.findChildren(QPushButton) if "columns" in b.text())
    QTest.mouseClick(again, Qt.MouseButton.LeftButton)
    dialog = guessed(qtbot, page.asker)
    box = dialog.labels.boxes["neither of them"]
    assert box.currentText() == "?"
    box.setCurrentIndex(box.findData(Preference.BOTH_BAD.value))
    qtbot.waitUntil(lambda: ("neither of them", "both_bad") in dialog.columns.labels)
    accept(qtbot, page, dialog)


def test_labels_are_asked_for_the_criteria_of_the_rubric_at_hand(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    long = "n" * 255
    criteria = (Criterion("politeness", "Which is more polite?"), Criterion("brevity", "Which is shorter?"))
    page.workspace.rubric.choose(Rubric("manners", (Criterion(long, "Which?"), *criteria)))
    path = tmp_path / "x.json"
    record = {"input": "Why is it so?", "output_1": "So it is.", "output_2": "It is not.", "vote": 1}
    path.write_text(json.dumps([record, {**record, "vote": 2}]), encoding="utf-8")
    dialog = asked(qtbot, page, path)
    assert dialog.minimumSizeHint().width() <= 1024
    assert set(dialog.fields["overall"].sources) == {"brevity_preference", "brevity_explanation"}
    names = {f"{name}_{part}" for name in ("politeness", long) for part in ("preference", "explanation")}
    assert set(dialog.fields["others"].sources) == names
    assert dialog.fields["others"].isVisible()
    for target, source in (("brevity_preference", ""), ("politeness_preference", "vote")):
        part = "overall" if target.startswith("brevity") else "others"
        dialog.fields[part].by_target[target].setCurrentText(source or NOTHING)
    qtbot.waitUntil(lambda: list(dialog.labels.boxes) == ["1", "2"])
    say(dialog, {"1": "A", "2": "B"})
    qtbot.waitUntil(lambda: "Politeness: A" in dialog.items.toPlainText())
    accept(qtbot, page, dialog)
    dataset = dataset_of(page.workspace)
    assert dataset.criteria == ("politeness",)
    assert dataset[1].gold["politeness"].label is Preference.B


def test_who_wrote_the_responses_is_shown_and_carried_into_the_dataset(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    dialog = asked(qtbot, page, unknown_arena(tmp_path))
    assert dialog.fields["candidates"].sources == {"candidate_a": "model_a", "candidate_b": "model_b"}
    assert "Candidate A: vicuna-13b\nCandidate B: koala-13b" in dialog.items.toPlainText()
    accept(qtbot, page, dialog)
    assert dataset_of(page.workspace).names_candidates


def test_of_ranked_responses_it_is_said_who_wrote_the_chosen(
    qtbot: QtBot, page: DatasetPage, tmp_path: Path
) -> None:
    dialog = asked(qtbot, page, unknown_reward_bench(tmp_path))
    shown_titles = [one.text() for one in dialog.fields["candidates"].findChildren(QLabel)]
    assert {"Chosen: candidate", "Rejected: candidate"} <= {*shown_titles}
    assert dialog.fields["candidates"].by_target["candidate_a"].source == "chosen_model"


OWN = ("uid", "prompt", "response_a", "response_b", "winner")


@pytest.fixture
def window(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


@pytest.fixture
def asker(space: Workspace, window: QWidget) -> ColumnAsker:
    return ColumnAsker(space, window)


@pytest.fixture
def foreign(demo_gold: Path, tmp_path: Path) -> Path:
    return foreign_gold(demo_gold, tmp_path)


def answer(qtbot: QtBot, asker: ColumnAsker, keep: bool = True) -> None:
    """Take what is guessed."""
    dialog = guessed(qtbot, asker)
    dialog.remember.setChecked(keep)
    qtbot.waitUntil(dialog.open_button.isEnabled)
    QTest.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    asker.dialog = None


def leave(dialog: ColumnsDialog) -> None:
    QTest.mouseClick(dialog.buttons.button(QDialogButtonBox.StandardButton.Cancel), Qt.MouseButton.LeftButton)


def open_run(qtbot: QtBot, space: Workspace) -> None:
    with qtbot.waitSignal(space.run_changed):
        space.open_run(1)


@pytest.mark.parametrize("keep", [True, False])
def test_other_human_labels_on_results(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path, keep: bool
) -> None:
    open_run(qtbot, space)
    picker = GoldPicker(space)
    qtbot.addWidget(picker)
    picker.open(foreign)
    guessed(qtbot, asker)
    assert "Reading" not in picker.status.text()
    with qtbot.waitSignal(space.gold_changed):
        answer(qtbot, asker, keep)
    assert (gold_of(space).path, gold_of(space).criteria) == (foreign, ("overall_quality",))
    assert "foreign.csv, chosen on Results" in picker.status.text()
    assert remembered(OWN) == (FOREIGN if keep else None)
    if keep:
        with qtbot.waitSignal(space.gold_changed):
            space.open_gold(foreign)
        assert asker.dialog is None


def test_who_leaves_the_question_keeps_the_labels_of_before(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    open_run(qtbot, space)
    before = space.gold
    space.open_gold(foreign)
    with qtbot.assertNotEmitted(space.problem, wait=100):
        leave(guessed(qtbot, asker))
    assert space.gold is before


def test_a_mistake_further_down_is_shown_where_the_columns_are_asked_again(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    open_run(qtbot, space)
    mistaken = with_a_mistake(foreign)
    remember(OWN, FOREIGN)
    space.open_gold(mistaken)
    dialog = guessed(qtbot, asker)
    assert dialog.request.problem.startswith("mistaken.csv")
    assert "unknown label 'the left one'" in dialog.request.problem
    assert dialog.labels.boxes["the left one"].currentText() == "?"
    with qtbot.waitSignal(space.problem) as told:
        leave(dialog)
    assert isinstance(told.args[0], ColumnsError)


def test_who_needs_labels_is_asked_which_column_holds_them(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    """Where nothing was said of labels, also if that is remembered."""
    remember(OWN, ColumnMap.of({**FOREIGN.source_of, "overall_quality_preference": ""}))
    open_run(qtbot, space)
    space.open_gold(foreign)
    dialog = guessed(qtbot, asker)
    assert dialog.request.problem == "foreign.csv: no column is chosen for human labels."
    field = dialog.fields["overall"].by_target["overall_quality_preference"]
    field.setCurrentIndex(field.findData("winner"))
    qtbot.waitUntil(lambda: dialog.labels.labels.get("tie (bothgood)") == "both_good")
    with qtbot.waitSignal(space.gold_changed):
        answer(qtbot, asker)
    assert gold_of(space).criteria == ("overall_quality",)


def test_what_was_not_to_be_remembered_is_not_ticked_when_it_is_asked_again(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    space.open_gold(with_a_mistake(foreign))
    dialog = guessed(qtbot, asker)
    assert dialog.remember.isChecked()
    dialog.remember.setChecked(False)
    asker.dialog = None
    dialog.chosen.emit(dialog.request.path, FOREIGN, dialog.remember.isChecked())
    assert not guessed(qtbot, asker).remember.isChecked()


def test_labels_on_compare(qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path) -> None:
    page = ComparePage(space)
    qtbot.addWidget(page)
    page.choosing.choose_gold(foreign)
    with qtbot.waitSignal(page.choosing.gold_changed):
        answer(qtbot, asker)
    assert f"foreign.csv: {DEMO_ITEMS} items, 1 criterion" in page.choosing.gold_text.text()


def test_labelled_examples_on_judge(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    panel = AdvancedPanel(space)
    qtbot.addWidget(panel)
    panel._examples._take(foreign)
    leave(guessed(qtbot, asker))
    assert panel.in_setup(default_setup()).examples_path is None
    asker.dialog = None
    panel._examples._take(foreign)
    with qtbot.waitSignal(panel.changed):
        answer(qtbot, asker, keep=False)
    setup = panel.in_setup(default_setup())
    assert (setup.examples_path, setup.example_columns) == (foreign, FOREIGN)
    panel._examples._take(foreign)
    leave(guessed(qtbot, asker))
    setup = panel.in_setup(default_setup())
    assert (setup.examples_path, setup.example_columns) == (foreign, FOREIGN)
    panel._examples._take(None)
    assert panel.in_setup(default_setup()).example_columns is None


def test_the_dataset_of_a_run_that_lies_elsewhere_is_read_as_the_run_read_it(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    judged_by_columns(space.store_path, foreign)
    moved = Path(shutil.move(foreign, foreign.with_name("moved.csv")))
    missing = MissingDataset(space)
    qtbot.addWidget(missing)
    open_run(qtbot, space)
    missing.follow()
    with qtbot.waitSignal(space.run_changed):
        missing.look_in(moved)
    assert (items_of(space).path, items_of(space).columns) == (moved, FOREIGN)
    assert asker.dialog is None


def test_the_dataset_of_an_older_run_is_asked_for_where_it_is_looked_for(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    judged_by_columns(space.store_path, foreign.with_name("gone.csv"), columns=None)
    missing = MissingDataset(space)
    qtbot.addWidget(missing)
    open_run(qtbot, space)
    with qtbot.assertNotEmitted(space.dataset_failed):  # which would lead to the page Dataset
        missing.look_in(foreign)
        guessed(qtbot, asker)
    with qtbot.waitSignal(space.run_changed):
        answer(qtbot, asker)
    assert run_of(space).dataset is not None


def test_the_dataset_that_a_submission_answers(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, window: QWidget, foreign: Path, demo_store: Path
) -> None:
    submission = Path(shutil.copy(demo_store.with_name("submission.tsv"), foreign.with_name("sub.tsv")))
    opener = SubmissionOpener(space, window)
    opener.open(submission, foreign)
    with qtbot.waitSignal(space.run_changed):
        answer(qtbot, asker, keep=False)
    assert run_of(space).results.run.columns == items_of(space).columns == FOREIGN
    again = Workspace(space.threads, State(foreign.parent / "other"), space.store_path)
    with qtbot.waitSignal(again.run_changed):
        again.open_run(run_of(space).id)
    assert run_of(again).dataset is not None


def test_a_submission_waits_for_the_columns_of_the_dataset_that_came_with_it(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, window: QWidget, foreign: Path, demo_store: Path
) -> None:
    submission = Path(shutil.copy(demo_store.with_name("submission.tsv"), foreign.with_name("sub.tsv")))
    opener = SubmissionOpener(space, window)
    with qtbot.waitSignal(space.dataset_failed):
        opener.open_files([foreign, submission])
    with qtbot.waitSignal(space.run_changed):
        space.open_dataset(foreign, FOREIGN, remember=False)  # as the page Dataset does
    assert run_of(space).results.run.submitted


def test_a_run_finds_its_items_after_a_restart_by_the_columns_it_was_judged_with(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    judged_by_columns(space.store_path, foreign)
    open_run(qtbot, space)
    assert items_of(space).columns == FOREIGN
    assert space.gold is not None
    with qtbot.waitSignal(space.gold_changed):
        space.open_gold(foreign)  # also where a person chooses the file once more
    assert asker.dialog is None


def test_the_dataset_of_last_time_is_open_again_also_where_its_columns_are_not_remembered(
    qtbot: QtBot, space: Workspace, asker: ColumnAsker, foreign: Path
) -> None:
    with qtbot.waitSignal(space.dataset_changed):
        space.open_dataset(foreign, FOREIGN, remember=False)
    again = Workspace(space.threads, space.state, space.store_path)
    with qtbot.waitSignal(again.dataset_changed):
        again.open_last(foreign)
    assert dataset_of(again).columns == FOREIGN
    with qtbot.waitSignal(again.dataset_failed):
        again.open_dataset(foreign)


def test_labels_may_be_said_to_mean_something_else_than_for_the_run(
    qtbot: QtBot, space: Workspace, foreign: Path
) -> None:
    """What a person says now comes before what the run keeps."""
    judged_by_columns(space.store_path, foreign)
    other = ColumnMap.of(FOREIGN.source_of, {**FOREIGN.meaning_of, "tie (bothgood)": ""})
    with qtbot.waitSignal(space.dataset_changed):
        space.open_dataset(foreign, other, remember=False)
    open_run(qtbot, space)
    assert gold_of(space).columns == other
    with RunStore(space.store_path) as store:
        assert store.run(1).columns == FOREIGN


def test_of_a_scale_it_is_asked_once_which_end_is_a(qtbot: QtBot, page: DatasetPage, tmp_path: Path) -> None:
    path = tmp_path / "likert.json"
    rows = [
        {"prompt": f"What is {n}?", "response_a": f"One {n}.", "response_b": f"Two {n}.", "preference": n - 3}
        for n in (4, 1, 5, 3, 2, 6, 0)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    dialog = asked(qtbot, page, path)
    assert list(dialog.labels.boxes) == ["-3", "-2", "-1", "0", "1", "2", "3"]
    (scale,) = [box for box in dialog.labels.findChildren(QComboBox) if box.itemText(0) == "Which end is A?"]
    scale.setCurrentIndex(2)
    scale.activated.emit(2)
    assert dialog.labels.labels == {**dict.fromkeys("123", "A"), "0": "tie", "-1": "B", "-2": "B", "-3": "B"}
    accept(qtbot, page, dialog)
    assert dataset_of(page.workspace).texts("overall_quality_preference").to_pylist()[:3] == ["A", "B", "A"]
