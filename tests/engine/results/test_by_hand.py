"""A dataset that annotators label without a judge: begun once, measured among them, and then human labels."""

import json
from pathlib import Path

import pytest

from engine.annotations.records import new_override, new_review
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import match, system_of_run
from engine.report.evaluation import run_sheet
from engine.report.run import labels_given_section, unscored_table
from engine.results.completeness import begin_by_hand, gaps
from engine.results.health import run_health
from engine.results.run_dataset import dataset_of_run, labels_as_dataset
from engine.results.run_results import load_results
from engine.settings.identity import RunKind
from engine.settings.run_lists import run_in_a_line, run_list
from engine.store.run_store import RunStore
from tests.commands import run_here
from tests.judged import SURE_A, SURE_B, A, B, stored_run
from tests.steps import results_of

PAIRS = [{"instruction": f"q{n}", "output_a": f"left {n}", "output_b": f"right {n}"} for n in range(12)]
COLUMNS = "instruction=instruction,output_a=output_a,output_b=output_b"


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """A store where a file of pairs without ids and labels is labelled on safety: the labels are run 1."""
    (tmp_path / "pairs.json").write_text(json.dumps(PAIRS), "utf-8")
    begin = "annotations", "begin", tmp_path / "pairs.json", "--columns", COLUMNS, "--criteria", "safety"
    path = tmp_path / "runs.sqlite"
    for _ in range(2):  # the second call finds the run of the first one
        done = run_here(*begin, "--store", path)
        assert done.returncode == 0, done.stderr
        assert "Labels by hand 1, 12 items" in done.stdout
    return path


@pytest.fixture
def items(store_path: Path) -> Dataset:
    """Ada labelled eleven of its items, Ben the first five, of which one otherwise."""
    with RunStore(store_path) as store:
        for number in range(1, 12):
            store.annotate(1, new_override(str(number), "safety", A, None, "Ada"))
        for number in range(1, 6):
            own = new_review(str(number), "Ben", None, {"safety": A}, blind=True)
            other = new_override(str(number), "safety", B, "It is safe.", "Ben")
            store.annotate(1, other if number == 5 else own)
        return dataset_of_run(store.run(1))


def test_they_are_a_run_without_a_judge(store_path: Path, items: Dataset) -> None:
    with RunStore(store_path) as store:
        results = load_results(store, 1)
        assert store.run(1).identity.kind is RunKind.BY_HAND
        rubric = ELOQUENT.only(("relevance",))
        assert begin_by_hand(items, rubric, store).id == 2  # what is asked is another question
    run = results.run
    assert (run.title, run.called) == ("Labels by hand 1", "labels by hand 1")
    assert run.stem == "labels-by-hand-1-pairs"
    assert (run.complete, run.by_a_model, results.left) == (True, False, 1)
    assert run_health(results).in_short == ""
    assert run_in_a_line(run).startswith("Labels by hand 1, 12 items, ")
    assert run_list([run]).rows[0][3] == "labels"
    assert gaps(results) == []
    assert results.joined_in_words == "11 of the 12 items of pairs.json are labelled by hand, by Ada, Ben."


def test_results_say_what_is_labelled_and_how_annotators_agree(store_path: Path, items: Dataset) -> None:
    results = results_of(store_path)
    [labels] = [part for part in labels_given_section(results).parts if hasattr(part, "rows")]
    assert labels.rows == [["safety", 10, 1, 0, 0, 1, 11, 5]]
    sheet = run_sheet(system_of_run(results), [], [], own=items)
    keys = [section.key for section in sheet.sections]
    assert keys == ["in_short", "labels_given", "people", "pairs", "pace"]
    assert "judge" not in sheet.sections[-1].note
    assert unscored_table(results.answered).rows == []


def test_a_later_model_is_measured_against_them(store_path: Path, items: Dataset, tmp_path: Path) -> None:
    judged = stored_run(tmp_path / "judge", items, {"safety": [SURE_A] * 4 + [SURE_B] * 8})
    human = labels_as_dataset(results_of(store_path), items)
    assert (human.name, human.hash, human.criteria) == ("Labels by hand 1", items.hash, ("safety",))
    assert human[4].gold["safety"].annotators == {"Ada": A, "Ben": B}
    evaluation = evaluate(match(judged, human, partial=True))
    assert evaluation.labels["safety"].items == 11
    # Four of both, and that of Ben.
    assert evaluation.labels["safety"].accuracy == pytest.approx(5 / 11)


def test_they_are_exported_as_a_dataset_and_judge_nothing(store_path: Path, items: Dataset) -> None:
    out, stored = store_path.with_name("labels.tsv"), ("--store", store_path)
    done = run_here("runs", "export", 1, "--as-dataset", out, *stored)
    assert done.returncode == 0, done.stderr
    assert load_dataset(out).labels("safety")["1"] is A
    shown = run_here("runs", "show", 1, *stored).stdout
    assert "Labels by hand" in shown
    assert "not labelled (1): 12" in shown
    wished = ("--gold", out, "--out", out.with_suffix(".json"))
    for refused in (("runs", "recalibrate", 1, "--none"), ("calibrate", 1, *wished)):
        assert "no model judged" in run_here(*refused, *stored).stderr
