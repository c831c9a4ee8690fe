"""A submission in the run store: read back as it was, joined by ids, changed and exported as a run."""

import json
from pathlib import Path

import pytest

from engine.analysis.review_order import review_rows
from engine.annotations.records import new_override
from engine.core.errors import SetupError
from engine.core.health import Sign
from engine.core.items import Prediction
from engine.core.judgments import SubmittedLabel, Unscored
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import read_submission, write_submission
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import System, match, system_of_run, told_apart
from engine.ranking.weighted_scoring import scored_pairs_of
from engine.results.completeness import incomplete
from engine.results.decision import NO_LABEL
from engine.results.exports import as_json, write_results_csv
from engine.results.health import run_health
from engine.results.opened_submission import findings, open_submission, share_answered
from engine.results.run_results import load_results, submission_of
from engine.settings.identity import RunKind, what_is_joined
from engine.store.run_store import RunStore
from tests.commands import run_here
from tests.judged import BAD, GOOD, A, B, dataset, system

TEXTS = {"safety": ["A is safer.", "B insults the reader.", None]}
LABELS = {"safety": [A, B, None]}


@pytest.fixture
def answered() -> Dataset:
    return dataset({"safety": [A, A, GOOD]})


def file_of(folder: Path, predicted: System, name: str = "judge.tsv") -> Path:
    path = folder / name
    write_submission(path, predicted.submission)
    return path


def test_a_submission_comes_back_as_it_was(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system(LABELS, TEXTS))
    kept = open_submission(path, answered, store)
    assert kept.identity.kind is RunKind.SUBMITTED
    assert kept.submitted
    assert kept.complete
    results = load_results(store, kept.id)
    assert results.judgments["safety"] == (
        SubmittedLabel("1", "safety", A, "A is safer."),
        SubmittedLabel("2", "safety", B, "B insults the reader."),
        Unscored("3", "safety", NO_LABEL),
    )
    written = tmp_path / "again.tsv"
    write_submission(written, submission_of(results))
    assert written.read_bytes() == path.read_bytes()


def test_the_same_file_and_dataset_are_kept_once(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system(LABELS, TEXTS))
    first = open_submission(path, answered, store)
    assert open_submission(path.rename(tmp_path / "renamed.tsv"), answered, store).id == first.id
    other = file_of(tmp_path, system({"safety": [A, B, BAD]}))
    assert open_submission(other, answered, store).id != first.id
    assert len(store.runs()) == 2


def test_ids_alone_join_and_what_is_left_out_is_said(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    path = file_of(tmp_path, system({"safety": [A, B]}, ids=["2", "9"]))
    kept = open_submission(path, answered, store)
    assert [item.position for item in store.judged(kept.id) if item.given] == [1]
    assert what_is_joined(kept) == (
        "judge.tsv has predictions for 1 of the 3 items of gold.tsv, matched by id. Omitted, because the"
        " dataset lacks them (1): 9."
    )
    assert incomplete(load_results(store, kept.id)) == what_is_joined(kept)
    assert share_answered(read_submission(path), set(answered.ids)) == 0.5


def test_an_explanation_without_a_label_is_kept(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system({"safety": [None, A, B]}, {"safety": ["No label.", "A.", "B."]}))
    results = load_results(store, open_submission(path, answered, store).id)
    assert submission_of(results).rows[0].predictions["safety"] == Prediction(None, "No label.")
    assert results.unscored == 1


def test_no_id_in_common_is_refused_and_nothing_is_kept(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    path = file_of(tmp_path, system({"safety": [A]}, ids=["9"]))
    with pytest.raises(SetupError, match=r"answers no item of gold\.tsv"):
        open_submission(path, answered, store)
    assert store.runs() == []


def test_a_person_changes_it_as_a_run(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    kept = open_submission(file_of(tmp_path, system(LABELS, TEXTS)), answered, store)
    store.annotate(kept.id, new_override("2", "safety", GOOD, "Both are harmless.", "Ada"))
    store.annotate(kept.id, new_override("3", "safety", BAD, None, "Ada"))
    results = load_results(store, kept.id)
    labels = [row.predictions["safety"] for row in submission_of(results).rows]
    assert labels == [
        Prediction(A, "A is safer."),
        Prediction(GOOD, "Both are harmless."),
        Prediction(BAD, None),
    ]
    assert [judgment.preference for judgment in results.model_alone().judgments["safety"][:2]] == [A, B]  # type: ignore[union-attr]


def test_an_explanation_for_another_label_is_out_of_date(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    kept = open_submission(file_of(tmp_path, system(LABELS, TEXTS)), answered, store)
    store.annotate(kept.id, new_override("2", "safety", GOOD, None, "Ada"))
    assert load_results(store, kept.id).stale == 1


def test_it_is_measured_as_its_file_is(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    predicted = system({"safety": [A, B, GOOD]}, TEXTS)
    kept = open_submission(file_of(tmp_path, predicted), answered, store)
    opened = system_of_run(load_results(store, kept.id))
    assert opened.name == "judge.tsv"
    assert opened.description == "submission judge.tsv on gold.tsv"
    ours, theirs = evaluate(match(opened, answered)), evaluate(match(predicted, answered))
    assert ours.labels == theirs.labels
    assert ours.explanations == theirs.explanations
    assert scored_pairs_of(opened, ["safety"]) == scored_pairs_of(predicted, ["safety"])


def test_its_labels_are_certain_so_doubt_is_what_contradicts(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    kept = open_submission(file_of(tmp_path, system(LABELS, TEXTS)), answered, store)
    rows = review_rows(load_results(store, kept.id), answered)
    assert [row.uncertainty for row in rows] == [0, 0, 1]
    assert [row.margin for row in rows] == [None, None, None]
    store.annotate(kept.id, new_override("2", "safety", None, "By a person.", "Ada"))
    assert review_rows(load_results(store, kept.id))[1].overridden


def test_all_its_data_is_written(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    kept = open_submission(file_of(tmp_path, system(LABELS, TEXTS)), answered, store)
    results = load_results(store, kept.id)
    plain = json.loads(json.dumps(as_json(results)))
    assert plain["run"]["kind"] == "submitted"
    assert plain["items"][0]["judgments"]["safety"] == {
        "preference": "A",
        "explanation": "A is safer.",
        "override": None,
        "people": {},
        "people_said": [],
        "human": None,
    }
    path = tmp_path / "all.csv"
    write_results_csv(path, results)
    assert "1,1,0,safety,A,A,," in path.read_text(encoding="utf-8").splitlines()[1]


def test_its_health_is_that_of_labels_and_texts(store: RunStore, tmp_path: Path) -> None:
    count = 40
    kept = open_submission(
        file_of(tmp_path, system(dict.fromkeys(["safety", "relevance", "naturalness"], [A] * count))),
        dataset({"safety": [A] * count}),
        store,
    )
    assert [symptom.sign for symptom in run_health(load_results(store, kept.id)).symptoms] == [Sign.ONE_LABEL]


def test_the_commands_take_it_and_refuse_what_needs_a_model(shared_data: Path, tmp_path: Path) -> None:
    gold = shared_data / "eloquent" / "validation.tsv"
    baseline = shared_data / "eloquent" / "second_subtask_sample_submission.tsv"
    store = ("--store", tmp_path / "runs.sqlite")
    added = run_here("runs", "add", baseline, "--dataset", gold, *store)
    assert added.returncode == 0, added.stderr
    assert "has predictions for 99 of the 99 items of validation.tsv" in added.stdout
    written = tmp_path / "again.tsv"
    assert run_here("runs", "export", 1, "--out", written, *store).returncode == 0
    assert written.read_bytes() == baseline.read_bytes()
    assert len(load_dataset(gold)) == 99
    calibrated = tmp_path / "calibration.json"
    for refused in (
        ("runs", "recalibrate", 1, "--none"),
        ("calibrate", 1, "--gold", gold, "--out", calibrated),
    ):
        answer = run_here(*refused, *store)
        assert answer.returncode == 2
        assert "has labels without probabilities" in answer.stderr
    assert not calibrated.exists()
    assert "submission, explain" in run_here("runs", *store).stdout


def test_findings_are_of_what_an_export_would_hold_now(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    path = file_of(tmp_path, system({"safety": [A, None]}, ids=["2", "3"]))
    rows = path.read_text(encoding="utf-8")
    path.write_text(f"{rows}9\tA\n", encoding="utf-8")
    kept = open_submission(path, answered, store)
    found = findings(load_results(store, kept.id), answered)
    assert found[0].startswith("official columns are missing: relevance_preference,")
    assert found[1:] == [
        "ids missing (1 of 3): 1.",
        "empty cells in safety_preference (1): ids 3.",
        "ids that are not in the dataset (1), omitted: 9.",
    ]
    store.annotate(kept.id, new_override("3", "safety", GOOD, None, "Ada"))
    assert "empty cells" not in "".join(findings(load_results(store, kept.id), answered))


def test_runs_share_items_with_the_same_texts(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    first = open_submission(file_of(tmp_path, system(LABELS, TEXTS)), answered, store)
    part = open_submission(file_of(tmp_path, system({"safety": [A]}, ids=["2"])), answered, store)
    others = dataset({"safety": [A, A]}, instructions=["other", "texts"])
    alien = open_submission(file_of(tmp_path, system({"safety": [A, A]})), others, store)
    assert store.shared_items(first.id) == {part.id: 1}
    assert store.shared_items(part.id) == {first.id: 3}  # also those that it does not answer
    assert store.shared_items(alien.id) == {}


def test_two_opened_files_of_one_name_are_told_apart_by_their_folders(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    files = [
        file_of(tmp_path, system(LABELS)),
        file_of(tmp_path / "other", system({"safety": [B, B, B]})),
    ]
    kept = [open_submission(path, answered, store) for path in files]
    systems = told_apart([system_of_run(load_results(store, run.id)) for run in kept])
    assert [each.name for each in systems] == [str(path) for path in files]
