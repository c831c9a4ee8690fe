"""Exports of the Results page: what is written, what is said of it, what is never overwritten."""

import csv
import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from engine.annotations.records import JUDGE_ALONE
from engine.core.errors import Hint
from engine.core.health import Health, Sign, Symptom
from engine.core.items import Preference
from engine.data.dataset import load_dataset
from engine.data.submission import read_submission, write_submission
from engine.results.completeness import open_submission
from engine.results.run_results import load_results, submission_of
from engine.settings.rows import JudgeSettings, Mode
from engine.store.run_store import RunStore
from gui.results.export_dialog import ExportDialog
from gui.results.export_jobs import Form
from gui.results.results_page import ResultsPage
from gui.widgets.files import FileChoice
from gui.workspace.workspace import Workspace
from tests.conftest import DEMO_ITEMS
from tests.foreign_gold import foreign_gold, judged_by_columns
from tests.gui.results.steps import (
    Save,
    click,
    doubts,
    exported,
    judge,
    measured,
    open_labels,
    open_run,
    override,
    problem_after,
    table_of,
)
from tests.kept_trust import kept_trust_of

pytestmark = pytest.mark.usefixtures("demo_tried")


def test_submissions_are_those_of_the_engine_and_say_what_is_a_persons(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path
) -> None:
    def written(form: Form, name: str) -> str:
        return exported(qtbot, opened, lambda: opened.export(form, tmp_path / name)).text

    with RunStore(opened.workspace.store_path) as store:
        expected = submission_of(load_results(store, 1))
    write_submission(tmp_path / "expected.tsv", expected)
    written(Form.EXPLAINED, "explained.tsv")
    assert (tmp_path / "explained.tsv").read_bytes() == (tmp_path / "expected.tsv").read_bytes()
    override(qtbot, opened, expected.rows[0].id, Preference.BOTH_BAD)
    said = written(Form.LABELS, "labels.tsv")
    assert "1 judgment of run 1 is overridden by annotators: 1 label" in said
    labels = read_submission(tmp_path / "labels.tsv")
    assert not labels.with_explanations
    assert [row.id for row in labels.rows] == [row.id for row in expected.rows]
    opened.whose.choose(JUDGE_ALONE)
    assert "Labels chosen on the Results page: judge only." in written(Form.LABELS, "alone.tsv")
    assert (tmp_path / "alone.tsv").read_bytes() != (tmp_path / "labels.tsv").read_bytes()


def test_labels_alone_have_no_explanations_to_export(
    qtbot: QtBot, space: Workspace, page: ResultsPage, two_runs: Path, tmp_path: Path
) -> None:
    shutil.copy(two_runs, space.store_path)
    open_run(qtbot, page, 2)
    error = problem_after(qtbot, page, lambda: page.export(Form.EXPLAINED, tmp_path / "never.tsv"))
    assert "Run 2 has only labels" in error.problem
    assert table_of(page, "explanations").rowCount() == 0


def test_the_csv_has_the_labels_that_the_run_is_held_against_and_is_taken_as_labels_itself(
    qtbot: QtBot, opened: ResultsPage, save: Save, demo_gold: Path, tmp_path: Path
) -> None:
    other = save("other.tsv", demo_gold.read_bytes().replace(b"\tboth_good\t", b"\tboth_bad\t"))
    with qtbot.waitSignal(opened.workspace.gold_changed):
        opened.gold.open(other)
    override(qtbot, opened, load_dataset(demo_gold).ids[0], Preference.BOTH_BAD)
    exported(qtbot, opened, lambda: opened.export(Form.CSV, tmp_path / "all.csv"))
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        labels = {row["human_preference"] for row in csv.DictReader(file)}
    assert "both_bad" in labels
    assert "both_good" not in labels
    with qtbot.waitSignal(opened.workspace.notice) as said:
        open_labels(qtbot, opened, tmp_path / "all.csv")
    assert "its human labels are those that annotators gave or accepted (1 of 150" in said.args[0].text
    assert "Against the human labels of all.csv" in opened.gold.status.text()


@pytest.mark.slow
def test_no_file_in_use_is_overwritten(
    qtbot: QtBot, opened: ResultsPage, save: Save, demo_gold: Path
) -> None:
    gold = save("chosen.tsv", demo_gold.read_bytes())
    with qtbot.waitSignal(opened.workspace.gold_changed):
        opened.gold.open(gold)
    examples = save("examples.tsv", b"of the Judge page")
    FileChoice("labelled examples", "", opened).set_path(examples)
    click(opened.calibration.fit_button)
    qtbot.waitUntil(lambda: opened.calibration.proposal is not None)
    measured(qtbot, opened)
    for path in (demo_gold, gold, examples, opened.workspace.store_path):
        before = path.read_bytes()
        for act in (
            lambda path=path: opened.export(Form.CSV, path),
            lambda path=path: opened.calibration.save(path),
            lambda path=path: opened.figures.files.save("accuracy", path),
        ):
            assert "would be overwritten" in problem_after(qtbot, opened, act).problem
        assert path.read_bytes() == before


def test_a_dataset_of_labels_has_those_of_people_and_of_the_judge_only_if_it_is_ticked(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path, demo_gold: Path
) -> None:
    error = problem_after(qtbot, opened, lambda: opened.export(Form.DATASET, tmp_path / "none.tsv"))
    assert "no human labels in run 1 to write" in error.problem
    gold = load_dataset(demo_gold)
    override(qtbot, opened, gold.ids[0], Preference.BOTH_BAD)
    said = exported(qtbot, opened, lambda: opened.export(Form.DATASET, tmp_path / "labelled.json"))
    assert "1 of 150 labels are human ones, by" in said.text
    assert (said.role, "149 cells are empty" in said.text) == ("done", True)
    found = load_dataset(tmp_path / "labelled.json")
    assert found.labels("safety") == {gold.ids[0]: Preference.BOTH_BAD}
    assert found.texts("safety_preference_before").to_pylist() == gold.texts("safety_preference").to_pylist()
    opened.workspace.state.set_text("last/export", str(tmp_path))
    dialog = dialog_of(opened, Form.DATASET)
    assert dialog.facts["Given or accepted"].text().startswith("1 by ")
    dialog.with_judge.click()
    dialog.field.setText("all.parquet")
    said = exported(qtbot, opened, lambda: press_return(dialog))
    assert "149 labels are of demo-judge, the judge, as requested" in said.text
    assert len(load_dataset(tmp_path / "all.parquet").labels("safety")) == 30
    dialog = dialog_of(opened, Form.CSV)
    assert not dialog.with_judge.isVisible()
    dialog.reject()


def test_only_labels_that_may_stand_are_exported_where_it_is_kept_which(
    qtbot: QtBot, space: Workspace, page: ResultsPage, two_runs: Path, tmp_path: Path
) -> None:
    shutil.copy(two_runs, space.store_path)
    with RunStore(space.store_path) as store:
        criteria = store.run(1).identity.criteria
        kept_trust_of(dict.fromkeys(criteria, 0.0) | {"safety": None}).keep(store, 1)
    open_run(qtbot, page, 1)
    dialog = dialog_of(page, Form.LABELS)
    dialog.only_accepted.click()
    dialog.field.setText(str(tmp_path / "accepted.tsv"))
    said = exported(qtbot, page, lambda: press_return(dialog))
    assert "Only labels that may stand: at least 85.0 % of these labels agree with people" in said.text
    assert "Safety: none; 30 labels are left out." in said.text
    rows = read_submission(tmp_path / "accepted.tsv").rows
    assert {row.predictions["safety"].preference for row in rows} == {None}
    assert None not in {row.predictions["relevance"].preference for row in rows}
    dialog = dialog_of(page, Form.REPORT)
    assert not dialog.only_accepted.isVisible()
    dialog.reject()


# The dialog


def dialog_of(page: ResultsPage, form: Form) -> ExportDialog:
    page.export(form)
    dialog = page.exporter.dialog
    assert dialog.isVisible()
    return dialog


def says(dialog: ExportDialog, words: str) -> bool:
    return words in dialog.status.text()


def press_return(dialog: ExportDialog) -> None:
    QTest.keyClick(dialog.field, Qt.Key.Key_Return)


def test_the_dialog_names_what_is_exported_and_a_judge_that_did_not_judge_before_and_after(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path
) -> None:
    opened.weighted_scoring.controls["safety"].field.setValue(5)
    opened.weighted_scoring.save_as("safety first")
    dialog = dialog_of(opened, Form.REPORT)
    said = {title: shown.text() for title, shown in dialog.facts.items()}
    assert said["Run"].startswith("Run 1, made 20")
    assert (said["Dataset"], said["Model"]) == ("gold.tsv", "demo-judge")
    assert said["Items"] == "30 of 30 judged"
    assert (said["Given by annotators"], said["Calibration"]) == ("nothing", "none")
    assert said["Weights"] == "saved as “safety first”; tie threshold 0.5 points"
    assert said["Human labels"] == "gold.tsv, the run's own"
    assert "No technical problem in the" in dialog.health.text()
    assert not dialog.unfinished.isVisible()
    dialog.reject()
    run = opened.workspace.run
    symptom = Symptom(Sign.ONE_LABEL, {"A": 1.0}, 0.9, True, "100 % of all labels are “A”.", Hint("Stop."))
    opened.workspace.run = replace(run, health=Health(30, True, (symptom,)))
    dialog = dialog_of(opened, Form.LABELS)
    assert (dialog.only_accepted.isVisible(), dialog.only_accepted.isEnabled()) == (True, False)
    assert dialog.health.text().startswith("The model does not judge: do not use its labels.")
    assert "100 % of all labels" in dialog.health.text()
    assert dialog.health.property("role") == "bad"
    dialog.field.setText(str(tmp_path / "labels.tsv"))
    told = exported(qtbot, opened, lambda: press_return(dialog))
    assert "The model does not judge" in told.text
    assert told.role == "problem"


def test_a_submission_is_checked_against_the_dataset_as_the_run_read_it(
    qtbot: QtBot, space: Workspace, page: ResultsPage, tmp_path: Path, demo_gold: Path
) -> None:
    judged_by_columns(space.store_path, foreign_gold(demo_gold, tmp_path))
    open_run(qtbot, page, 1)
    said = exported(qtbot, page, lambda: page.export(Form.LABELS, tmp_path / "labels.tsv"))
    assert "Checked against foreign.csv: it answers all 30 items completely." in said.text


def test_any_name_is_a_name_what_cannot_be_written_is_said_and_a_file_is_replaced_only_once_that_is(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path, demo_gold: Path, save: Save
) -> None:
    there = save("there.tsv", b"mine")
    opened.workspace.state.set_text("last/export", str(tmp_path))
    dialog = dialog_of(opened, Form.LABELS)
    assert dialog.path == tmp_path / "run-1-gold-demo-judge-labels.tsv"
    assert dialog.start.text() == "Export run 1"
    for written, name in (
        ("~notes of nobody", "~notes of nobody.tsv"),
        ("gpt-4.1", "gpt-4.1.tsv"),
        ("labels.TSV", "labels.TSV"),
        ("labels.txt", "labels.txt.tsv"),
    ):
        dialog.field.setText(written)
        dialog.field.textEdited.emit(written)
        assert dialog.path == tmp_path / name
    for name, said in (
        (str(demo_gold), "would be overwritten"),
        (str(tmp_path / "no" / "folder.tsv"), "does not exist"),
        ("", "Name a file."),
        (str(there.with_suffix("")), "is there already"),  # the suffix is added
    ):
        dialog.field.setText(name)
        dialog._follow_name()
        press_return(dialog)
        qtbot.waitUntil(partial(says, dialog, said))
        assert dialog.isVisible()
    assert there.read_bytes() == b"mine"
    assert dialog.start.text() == "Replace the file"
    told = exported(qtbot, opened, lambda: press_return(dialog)).text
    assert read_submission(there).rows
    assert "Checked against gold.tsv: it answers all 30 items completely." in told
    assert "Run 1 of gold.tsv by demo-judge; calibration: none." in told


@pytest.mark.slow
def test_what_was_written_whole_is_a_success_and_can_be_opened(
    qtbot: QtBot,
    opened: ResultsPage,
    few_labels: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []

    def show(url: QUrl) -> bool:
        shown.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    said = exported(qtbot, opened, lambda: opened.export(Form.LABELS, tmp_path / "a b.tsv"))
    assert (said.role, list(said.steps)) == ("done", ["Open", "Show in folder"])
    for step in said.steps.values():
        step()
    assert [Path(path) for path in shown] == [tmp_path / "a b.tsv", tmp_path]
    open_labels(qtbot, opened, few_labels)
    (tmp_path / "run-1-gold-demo-judge-figures").mkdir()  # is left alone
    said = exported(qtbot, opened, lambda: opened.export(Form.FIGURES, tmp_path))
    assert not list((tmp_path / "run-1-gold-demo-judge-figures").iterdir())
    assert len(list((tmp_path / "run-1-gold-demo-judge-figures-2").iterdir())) == 10
    assert list(said.steps) == ["Show in folder"]
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    with qtbot.waitSignal(opened.workspace.note) as note:
        said.steps["Show in folder"]()
    assert note.args[0].endswith("run-1-gold-demo-judge-figures-2")


def test_the_dialog_writes_its_run_though_another_is_shown_meanwhile_which_has_its_own_weights(
    qtbot: QtBot, opened: ResultsPage, two_runs: Path, tmp_path: Path
) -> None:
    opened.weighted_scoring.controls["safety"].field.setValue(5)
    shutil.copy(two_runs, opened.workspace.store_path)
    dialog = dialog_of(opened, Form.LABELS)
    assert dialog.windowTitle() == "Export run 1 (gold.tsv, demo-judge): submission for sub-task 1"
    with qtbot.waitSignal(opened.workspace.run_changed):
        opened.workspace.open_run(2)
    exported(qtbot, opened, lambda: opened.export(Form.JSON, tmp_path / "all.json"))  # right after
    assert json.loads((tmp_path / "all.json").read_bytes())["weighted_judge"]["from"] == "default"
    dialog.field.setText(str(tmp_path / "labels.tsv"))
    exported(qtbot, opened, lambda: press_return(dialog))
    assert len(read_submission(tmp_path / "labels.tsv").rows) == DEMO_ITEMS


def test_an_unfinished_run_is_exported_only_where_that_is_meant_and_one_of_the_first_items_lacks_others(
    qtbot: QtBot, page: ResultsPage, demo_gold: Path, tmp_path: Path
) -> None:
    settings, store = JudgeSettings(mode=Mode.LABELS, context=4096), page.workspace.store_path
    open_run(qtbot, page, judge(store, demo_gold, settings, items=4))
    dialog = dialog_of(page, Form.LABELS)
    assert dialog.unfinished.isVisible()
    assert "26 items are missing in the file" in dialog.unfinished.text()
    assert dialog.start.text() == "Export the unfinished run 2"
    dialog.field.setText(str(tmp_path / "part.tsv"))
    said = exported(qtbot, page, lambda: press_return(dialog))
    assert "Checked against gold.tsv: ids missing (26 of 30)" in said.text
    assert said.role == "note"
    part = replace(load_dataset(demo_gold).head(4), path=demo_gold)
    open_run(qtbot, page, judge(store, demo_gold, settings, dataset=part))
    said = exported(qtbot, page, lambda: page.export(Form.LABELS, tmp_path / "first.tsv"))
    assert "ids missing (26 of 30)" in said.text


@pytest.mark.slow
def test_csv_json_and_report_are_written_and_name_where_weights_come_from(
    qtbot: QtBot, opened: ResultsPage, few_labels: Path, tmp_path: Path
) -> None:
    exported(qtbot, opened, lambda: opened.export(Form.CSV, tmp_path / "all.csv"))
    assert (tmp_path / "all.csv").read_bytes().count(b"\n") > 150
    exported(qtbot, opened, lambda: opened.export(Form.JSON, tmp_path / "default.json"))
    written = json.loads((tmp_path / "default.json").read_bytes())
    assert [item["other_columns"] for item in written["items"]] == [{}] * 30
    assert written["weighted_judge"]["from"] == "default"
    opened.weighted_scoring.controls["safety"].field.setValue(5)
    opened.weighted_scoring.save_as("<i>safety")
    exported(qtbot, opened, lambda: opened.export(Form.JSON, tmp_path / "all.json"))
    weights = json.loads((tmp_path / "all.json").read_bytes())["weighted_judge"]
    assert (weights["weights"]["safety"], weights["from"]) == (5, "saved as “<i>safety”")
    open_labels(qtbot, opened, few_labels)
    opened.workspace.call_run(1, "night")  # after it was measured
    qtbot.waitUntil(lambda: opened.workspace.run.results.run.name == "night")
    exported(qtbot, opened, lambda: opened.export(Form.REPORT, tmp_path / "report.html"))
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "saved as “&lt;i&gt;safety”" in report
    assert "run 1 “night” against" in report


def test_an_opened_submission_is_named_as_one(
    qtbot: QtBot, page: ResultsPage, demo_gold: Path, demo_store: Path, save: Save
) -> None:
    text = demo_store.with_name("submission.tsv").read_bytes()
    part = save("part.tsv", b"".join(text.splitlines(keepends=True)[:-2]))
    with RunStore(page.workspace.store_path) as store:
        open_submission(part, load_dataset(demo_gold), store)
    open_run(qtbot, page, 2)
    dialog = dialog_of(page, Form.LABELS)
    assert dialog.facts["Submission"].text() == "part.tsv"
    assert "2 items are missing in the file (not in the submission)." in dialog.unfinished.text()
    assert dialog.start.text() == "Export the incomplete submission"
    dialog.field.setText(str(part.with_name("again.tsv")))
    said = exported(qtbot, page, lambda: press_return(dialog))
    assert "Submission part.tsv of gold.tsv; calibration: none." in said.text
    assert "has predictions for 28 of the 30 items" in doubts(page)
