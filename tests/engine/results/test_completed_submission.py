"""What an opened submission lacks stands in its run, is no fault of its judge, and is completed by people."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.analysis.review_order import by_item, review_rows
from engine.annotations.records import new_override
from engine.core.judgments import Unscored
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import read_submission, write_submission
from engine.metrics.annotator_agreement import agreement_of_annotators
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import match, system_of_file, system_of_run
from engine.report.run import labels_given_section, unscored_table
from engine.results.completeness import gaps, incomplete
from engine.results.exports import as_json, write_results_csv
from engine.results.health import run_health, submission_health
from engine.results.opened_submission import NOT_ANSWERED, add_unanswered, findings, open_submission
from engine.results.run_results import RunResults, load_results, submission_of
from engine.store.run_store import RunStore
from tests.commands import run_here
from tests.judged import BAD, GOOD, A, B, Labels, dataset, system

EIGHT = (0, 1, 12, 40, 41, 42, 77, 98)
"""Places of items that are taken away: the first, the last, neighbours, single ones."""


@pytest.fixture
def answered() -> Dataset:
    return dataset({"safety": [A, A, GOOD, B], "relevance": [A, A, A, B]})


def opened(store: RunStore, answered: Dataset, folder: Path) -> RunResults:
    """A submission that answers the second and the last of four items."""
    said: dict[str, Labels] = {"safety": [A, B], "relevance": [A, None]}
    path = folder / "judge.tsv"
    write_submission(
        path, system(said, {"safety": ["A.", "B."], "relevance": ["A.", None]}, ids=["2", "4"]).submission
    )
    return load_results(store, open_submission(path, answered, store).id)


def labelled(store: RunStore, results: RunResults, *keys: tuple[str, str]) -> RunResults:
    for item_id, criterion in keys:
        store.annotate(results.run.id, new_override(item_id, criterion, A, "By hand.", "Ada"))
    return load_results(store, results.run.id)


def without(path: Path, places: Sequence[int], target: Path) -> Path:
    """A submission without some of its items, byte for byte."""
    columns, *_ = path.read_bytes().splitlines(keepends=True)
    whole = read_submission(path)
    rows = [row for place, row in enumerate(whole.rows) if place not in places]
    write_submission(target, type(whole)(tuple(rows), whole.criteria, whole.with_explanations))
    assert target.read_bytes().startswith(columns)
    return target


def test_what_it_lacks_stands_first_in_its_list(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    results = opened(store, answered, tmp_path)
    assert [item.item_id for item in results.judged] == ["1", "2", "3", "4"]
    assert results.judgments["safety"][0] == Unscored("1", "safety", NOT_ANSWERED)
    assert [item.item_id for item in by_item(review_rows(results, answered))] == ["1", "3", "4", "2"]
    assert (results.run.judged, results.run.complete, results.left) == (2, False, 2)
    said = "judge.tsv has predictions for 2 of the 4 items of gold.tsv, matched by id."
    assert incomplete(results) == results.joined_in_words == said


def test_nothing_counts_what_it_never_said(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    results = opened(store, answered, tmp_path)
    file = system_of_file(tmp_path / "judge.tsv")
    run = system_of_run(results)
    assert run.submission.rows == file.submission.rows
    assert run.content_hashes.keys() == {"2", "4"}
    ours, theirs = (evaluate(match(one, answered, partial=True)) for one in (run, file))
    assert ours.labels == theirs.labels
    assert ours.matched.missing == theirs.matched.missing == ("1", "3")
    assert run_health(results) == submission_health(file.submission)
    assert [gap.sentence for gap in gaps(results)] == [
        "1 judgment is unscored; its cell is empty.",
    ]
    assert len(unscored_table(run.results or results).rows) == 1
    assert [row[5] for row in labels_given_section(run.results or results).parts[0].rows] == [0, 1]  # type: ignore[union-attr]
    written = tmp_path / "again.tsv"
    write_submission(written, submission_of(results))
    assert written.read_bytes() == (tmp_path / "judge.tsv").read_bytes()


def test_one_that_people_label_counts_once_all_its_criteria_are(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    results = labelled(store, opened(store, answered, tmp_path), ("1", "safety"))
    assert [row.id for row in submission_of(results).rows] == ["2", "4"]
    assert results.left == 2
    assert not results.answered.overrides
    results = labelled(store, results, ("1", "relevance"), ("2", "safety"))
    assert [row.id for row in submission_of(results).rows] == ["1", "2", "4"]
    assert results.left == 1
    assert results.joined_in_words.startswith(
        "3 of the 4 items of gold.tsv have predictions: 2 by judge.tsv,"
    )
    assert len(system_of_run(results).overrides) == 3
    assert [gap.sentence for gap in gaps(results)] == [
        "1 judgment of the submission judge.tsv is overridden by annotators: 1 label and 1 explanation,"
        " by Ada.",
        "1 item that the submission judge.tsv does not answer is labelled by annotators: 2 labels and 2"
        " explanations, by Ada.",
        "1 judgment is unscored; its cell is empty.",
    ]
    alone = results.model_alone()
    assert (alone.left, [row.id for row in submission_of(alone).rows]) == (2, ["2", "4"])


def test_it_is_complete_once_people_labelled_all_of_it(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    keys = [(item_id, name) for item_id in ("1", "3") for name in ("safety", "relevance")]
    results = labelled(store, opened(store, answered, tmp_path), *keys, ("4", "relevance"))
    assert results.left == 0
    said = "All 4 items of gold.tsv have predictions: 2 by judge.tsv, matched by id, 2 by Ada."
    assert results.joined_in_words == said
    assert incomplete(results) == said
    assert {results.only(ids).joined_in_words for ids in ("1", "24", "123")} == {said}
    assert "2 of the 4" in results.only("13").model_alone().joined_in_words
    assert match(system_of_run(results), answered).left_out == [said]
    assert as_json(results)["run"]["complete"]
    assert [each for each in findings(results, answered) if "ids" in each or "empty" in each] == []
    assert match(system_of_run(results), answered).missing == ()


def test_a_judge_is_not_wrong_beside_people_where_it_said_nothing(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    results = labelled(
        store, opened(store, answered, tmp_path), ("1", "safety"), ("1", "relevance"), ("2", "safety")
    )
    found = agreement_of_annotators(results, answered)
    assert found is not None
    with_model = [pair for pair in found.pairs if pair.other == "the judge" and pair.criterion is None]
    assert [pair.items for pair in with_model] == [1]


def test_all_its_data_says_what_is_not_answered(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    results = opened(store, answered, tmp_path)
    plain = json.loads(json.dumps(as_json(results)))
    assert (plain["run"]["judged"], len(plain["items"])) == (2, 4)
    assert plain["items"][0]["judgments"]["safety"]["unscored"] == NOT_ANSWERED
    write_results_csv(tmp_path / "all.csv", results)
    assert f"{NOT_ANSWERED}" in (tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()[1]


def test_runs_share_only_what_is_answered(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    part = opened(store, answered, tmp_path)
    path = tmp_path / "whole.tsv"
    write_submission(path, system({"safety": [A, B, B, BAD]}).submission)
    whole = open_submission(path, answered, store)
    assert store.shared_items(whole.id) == {part.run.id: 2}
    assert store.shared_items(part.run.id) == {whole.id: 4}


def test_one_that_an_earlier_version_kept_is_completed_from_its_dataset(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    run = opened(store, answered, tmp_path).run
    with store._file.writing(run.id) as db:  # as earlier versions left it
        db.execute("DELETE FROM judged_item WHERE position IN (0, 2)")
        db.execute("DELETE FROM unscored")
    before = load_results(store, run.id)
    assert [row.id for row in submission_of(before).rows] == ["2", "4"]
    assert (before.run.judged, before.left) == (2, 2)
    add_unanswered(store, before.run, answered)
    add_unanswered(store, before.run, answered)
    assert [item.item_id for item in load_results(store, run.id).judged] == ["1", "2", "3", "4"]


@pytest.mark.slow
def test_the_baseline_without_eight_items_is_completed_to_its_bytes(
    shared_data: Path, tmp_path: Path
) -> None:
    gold = load_dataset(shared_data / "eloquent" / "validation.tsv")
    baseline = shared_data / "eloquent" / "second_subtask_sample_submission.tsv"
    part = without(baseline, EIGHT, tmp_path / "part.tsv")
    store = ("--store", tmp_path / "runs.sqlite")
    dataset_of = ("--dataset", gold.path)
    added = run_here("runs", "add", part, *dataset_of, *store)
    assert (added.returncode, added.stderr) == (1, "")
    assert "has predictions for 91 of the 99 items" in added.stdout
    again = tmp_path / "again.tsv"
    exported = run_here("runs", "export", 1, "--out", again, *store)
    assert again.read_bytes() == part.read_bytes()
    assert exported.returncode == 1
    sentence = "part.tsv lacks 8 items of validation.tsv, not scored: 0, 1, 12, 40, 41"
    held = ("--gold", gold.path, "--partial", *store)
    for command in (
        ("evaluate", 1),
        ("evaluate", part),
        ("compare", 1, baseline),
        ("compare", part, baseline),
    ):
        printed = run_here(*command, *held)
        assert printed.returncode == 0, printed.stderr
        assert sentence in printed.stderr
    assert "On 91 of 99 items with the human labels" in printed.stdout
    assert "not answered (8): 0, 1, 12" in run_here("runs", "show", 1, *store).stdout
    whole = read_submission(baseline)
    with RunStore(tmp_path / "runs.sqlite") as kept:
        for place in EIGHT:
            row = whole.rows[place]
            for criterion, said in row.predictions.items():
                kept.annotate(1, new_override(row.id, criterion, said.preference, said.explanation, "Ada"))
    exported = run_here("runs", "export", 1, "--out", again, *store)
    assert again.read_bytes() == baseline.read_bytes()
    assert (exported.returncode, "91 of the 99" in exported.stderr) == (0, False)
    added = run_here("runs", "add", part, *dataset_of, *store)
    assert added.stdout.startswith("All 99 items of validation.tsv have predictions: 91 by part.tsv")
    assert (added.returncode, "lacks" in added.stdout) == (0, False)
    assert run_here("check", again, "--against", gold.path).returncode == 0
