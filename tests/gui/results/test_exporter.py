"""Exports of the Results page: what is written, what is said of it, what is never overwritten."""

import csv
import json
import shutil
from pathlib import Path

from pytestqt.qtbot import QtBot

from engine.core.items import Preference
from engine.data.dataset import load_dataset
from engine.data.submission import read_submission, write_submission
from engine.decisions.run_results import load_results, submission_of
from engine.store.run_store import RunStore
from gui.kit.file_choice import FileChoice
from gui.results.results_page import ResultsPage
from gui.results.score_jobs import ScoreTable
from gui.work.workspace import Workspace
from tests.gui.results.steps import Save, click, exported, measured, open_run, override, problem_after


def test_submissions_are_those_of_the_engine(qtbot: QtBot, opened: ResultsPage, tmp_path: Path) -> None:
    with RunStore(opened.workspace.store_path) as store:
        expected = submission_of(load_results(store, 1))
    write_submission(tmp_path / "expected.tsv", expected)
    exported(qtbot, opened, lambda: opened.export_explained(path=tmp_path / "explained.tsv"))
    assert (tmp_path / "explained.tsv").read_bytes() == (tmp_path / "expected.tsv").read_bytes()
    exported(qtbot, opened, lambda: opened.export_labels(path=tmp_path / "labels.tsv"))
    labels = read_submission(tmp_path / "labels.tsv")
    assert not labels.with_explanations
    assert [row.id for row in labels.rows] == [row.id for row in expected.rows]


def test_all_data_report_and_figures_are_written(qtbot: QtBot, opened: ResultsPage, tmp_path: Path) -> None:
    exported(qtbot, opened, lambda: opened.export_csv(path=tmp_path / "all.csv"))
    exported(qtbot, opened, lambda: opened.export_json(path=tmp_path / "all.json"))
    exported(qtbot, opened, lambda: opened.export_report(path=tmp_path / "report.html"))
    assert (tmp_path / "all.csv").read_bytes().count(b"\n") > 150
    assert len(json.loads((tmp_path / "all.json").read_bytes())["items"]) == 30
    (tmp_path / "run-1-figures").mkdir()
    exported(qtbot, opened, lambda: opened.export_figures(folder=tmp_path))
    assert not list((tmp_path / "run-1-figures").iterdir())
    assert len(list((tmp_path / "run-1-figures-2").iterdir())) == 8


def test_an_export_says_what_is_a_persons(qtbot: QtBot, opened: ResultsPage, tmp_path: Path) -> None:
    item = load_dataset(opened.workspace.run.results.run.identity.dataset_path).ids[0]  # type: ignore[union-attr]
    override(qtbot, opened, item, Preference.BOTH_BAD)
    exported(qtbot, opened, lambda: opened.export_labels(path=tmp_path / "labels.tsv"))
    assert "1 judgment of run 1 is overridden by people: 1 label" in opened.notice.text
    opened.model_alone.setChecked(True)
    exported(qtbot, opened, lambda: opened.export_labels(path=tmp_path / "alone.tsv"))
    assert "Without what people overrode (1 label, by" in opened.notice.text
    assert "“Model alone” is ticked" in opened.notice.text
    assert (tmp_path / "alone.tsv").read_bytes() != (tmp_path / "labels.tsv").read_bytes()


def test_what_was_judged_is_never_overwritten(qtbot: QtBot, opened: ResultsPage, demo_gold: Path) -> None:
    before = demo_gold.read_bytes()
    assert "overwritten" in problem_after(qtbot, opened, lambda: opened.export_csv(path=demo_gold)).problem
    assert demo_gold.read_bytes() == before


def test_labels_alone_have_no_explanations_to_export(
    qtbot: QtBot, space: Workspace, page: ResultsPage, two_runs: Path, tmp_path: Path
) -> None:
    shutil.copy(two_runs, space.store_path)
    open_run(qtbot, page, 2)
    error = problem_after(qtbot, page, lambda: page.export_explained(path=tmp_path / "never.tsv"))
    assert "labels alone" in error.problem
    assert page.scores.table(ScoreTable.EXPLANATIONS).rowCount() == 0


def test_on_another_page_the_status_bar_says_what_was_left_out(
    qtbot: QtBot, opened: ResultsPage, tmp_path: Path
) -> None:
    item = load_dataset(opened.workspace.run.results.run.identity.dataset_path).ids[0]  # type: ignore[union-attr]
    override(qtbot, opened, item, Preference.BOTH_BAD)
    opened.model_alone.setChecked(True)
    opened.hide()
    with qtbot.waitSignal(opened.workspace.note, timeout=10_000) as note:
        opened.export_labels(path=tmp_path / "alone.tsv")
    assert "Without what people overrode (1 label, by" in note.args[0]


def test_the_csv_has_the_labels_that_the_run_is_held_against(
    qtbot: QtBot, opened: ResultsPage, save: Save, demo_gold: Path, tmp_path: Path
) -> None:
    other = save("other.tsv", demo_gold.read_bytes().replace(b"\tboth_good\t", b"\tboth_bad\t"))
    with qtbot.waitSignal(opened.workspace.gold_changed, timeout=10_000):
        opened.gold.open(other)
    exported(qtbot, opened, lambda: opened.export_csv(path=tmp_path / "all.csv"))
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        labels = {row["human_preference"] for row in csv.DictReader(file)}
    assert "both_bad" in labels
    assert "both_good" not in labels


def test_no_file_in_use_is_overwritten(
    qtbot: QtBot, opened: ResultsPage, save: Save, demo_gold: Path
) -> None:
    gold = save("chosen.tsv", demo_gold.read_bytes())
    with qtbot.waitSignal(opened.workspace.gold_changed, timeout=10_000):
        opened.gold.open(gold)
    examples = save("examples.tsv", b"of the Judge page")
    FileChoice("labelled examples", "", opened).set_path(examples)
    click(opened.calibration.fit_button)
    qtbot.waitUntil(lambda: opened.calibration.proposal is not None, timeout=30_000)
    measured(qtbot, opened)
    for path in (gold, examples, opened.workspace.store_path):
        before = path.read_bytes()
        for act in (
            lambda path=path: opened.export_csv(path=path),
            lambda path=path: opened.calibration.save(path),
            lambda path=path: opened.figures.save("accuracy", path),
        ):
            assert "would be overwritten" in problem_after(qtbot, opened, act).problem
        assert path.read_bytes() == before
