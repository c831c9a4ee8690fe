"""A submission in the run store: read back as it was, joined by ids, completed and exported as a run."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.analysis.review_order import by_column, by_item, review_rows
from engine.annotations.records import ListOrder, new_override
from engine.core.column_map import JudgeColumn
from engine.core.errors import SetupError
from engine.core.health import Sign
from engine.core.items import Prediction, Tie
from engine.core.judgments import SubmittedLabel, Unscored
from engine.core.tables import Table
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import read_submission, write_submission
from engine.metrics.annotator_agreement import agreement_of_annotators
from engine.metrics.evaluation import evaluate
from engine.metrics.matching import System, match, system_of_file, system_of_run, told_apart
from engine.ranking.weighted_scoring import scored_pairs_of
from engine.report.run import labels_given_section, unscored_table
from engine.results import completeness
from engine.results.completeness import open_submission
from engine.results.decision import NO_LABEL
from engine.results.exports import as_json, write_results_csv
from engine.results.health import run_health, submission_health
from engine.results.run_results import RunResults, load_results, submission_of
from engine.settings.identity import RunKind, what_is_joined
from engine.store.run_store import RunStore
from tests.commands import refusal, run_here
from tests.judged import BAD, GOOD, A, B, Labels, Texts, dataset, system
from tests.steps import there

TEXTS = {"safety": ["A is safer.", "B insults the reader.", None]}
LABELS = {"safety": [A, B, None]}


@pytest.fixture
def answered() -> Dataset:
    return dataset({"safety": [A, A, GOOD]})


def file_of(folder: Path, predicted: System, name: str = "judge.tsv") -> Path:
    path = folder / name
    write_submission(path, predicted.submission)
    return path


def kept_of(store: RunStore, gold: Dataset, path: Path) -> RunResults:
    """A submission that is opened, as it counts."""
    return load_results(store, open_submission(path, gold, store).id)


def test_a_submission_comes_back_as_it_was(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system(LABELS, TEXTS))
    results = kept_of(store, answered, path)
    kept = results.run
    assert kept.identity.kind is RunKind.SUBMITTED
    assert kept.submitted
    assert kept.complete
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


def test_ids_alone_join_and_what_is_out_is_said(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system({"safety": [A, B]}, ids=["2", "9"]))
    kept = open_submission(path, answered, store)
    assert [item.position for item in store.judged(kept.id) if item.given] == [1]
    assert what_is_joined(kept) == (
        "judge.tsv has predictions for 1 of the 3 items of gold.tsv, matched by id. Omitted, because the"
        " dataset lacks them (1): 9."
    )
    assert completeness.incomplete(load_results(store, kept.id)) == what_is_joined(kept)
    assert completeness.share_answered(read_submission(path), set(answered.ids)) == 0.5


def test_another_judges_mere_ties_are_kept_measured_and_listed_and_no_submission_has_them(
    store: RunStore, answered: Dataset, tmp_path: Path
) -> None:
    path = tmp_path / "verdicts.csv"
    path.write_text("id,safety_preference\n1,A\n2,tie\n3,tie\n", encoding="utf-8")
    results = load_results(store, open_submission(path, answered, store).id)
    assert [results.label(each) for each in results.judgments["safety"]] == [A, Tie.TIE, Tie.TIE]
    assert evaluate(match(system_of_run(results), answered)).labels["safety"].accuracy == pytest.approx(2 / 3)
    rows = review_rows(results, answered)
    assert [row.preference for row in rows] == [A, Tie.TIE, Tie.TIE]
    rows_of = {row.item_id: [row] for row in rows}.__getitem__
    assert by_column(by_item(rows), ListOrder.LABELS_BACKWARDS, rows_of, {}, None)[-1].item_id == "1"
    with pytest.raises(SetupError, match="'tie' is not a prediction: write which tie"):
        write_submission(tmp_path / "out.tsv", submission_of(results))
    table = labels_given_section(results).parts[0]
    assert isinstance(table, Table)
    assert table.rows[0][1:6] == [1, 0, 0, 0, 2]


def test_two_columns_of_one_file_are_two_judges(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "judges.csv"
    path.write_text("id,gpt,claude\n1,A,B\n2,A,B\n3,tie,A\n", encoding="utf-8")
    opened = [open_submission(path, answered, store, JudgeColumn(name)) for name in ("gpt", "claude", "gpt")]
    assert [run.id for run in opened] == [1, 2, 1]
    assert [run.identity.model_name for run in opened[:2]] == ["gpt of judges.csv", "claude of judges.csv"]


def test_an_explanation_without_a_label_is_kept(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system({"safety": [None, A, B]}, {"safety": ["No label.", "A.", "B."]}))
    results = kept_of(store, answered, path)
    assert submission_of(results).rows[0].predictions["safety"] == Prediction(None, "No label.")
    assert results.unscored == 1


def test_no_common_id_is_refused_and_nothing_kept(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system({"safety": [A]}, ids=["9"]))
    with pytest.raises(SetupError, match=r"answers no item of gold\.tsv"):
        open_submission(path, answered, store)
    assert store.runs() == []


def test_a_person_changes_it_as_a_run(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    kept = open_submission(file_of(tmp_path, system(LABELS, TEXTS)), answered, store)
    store.annotate(kept.id, new_override("2", "safety", GOOD, "Both are harmless.", "Ada"))
    store.annotate(kept.id, new_override("3", "safety", BAD, None, "Ada"))
    results = load_results(store, kept.id)
    said = [row.predictions["safety"] for row in submission_of(results).rows]
    own, overridden = Prediction(A, "A is safer."), Prediction(GOOD, "Both are harmless.")
    assert said == [own, overridden, Prediction(BAD, None)]
    assert [judgment.preference for judgment in results.model_alone().judgments["safety"][:2]] == [A, B]  # type: ignore[union-attr]
    store.annotate(kept.id, new_override("1", "safety", GOOD, None, "Ada"))
    assert load_results(store, kept.id).stale == 1


def test_it_is_measured_as_its_file_is(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    predicted = system({"safety": [A, B, GOOD]}, TEXTS)
    opened = system_of_run(kept_of(store, answered, file_of(tmp_path, predicted)))
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
    results = kept_of(store, answered, file_of(tmp_path, system(LABELS, TEXTS)))
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
    labels = [A] * 40
    path = file_of(tmp_path, system(dict.fromkeys(["safety", "relevance", "naturalness"], labels)))
    found = run_health(kept_of(store, dataset({"safety": labels}), path))
    assert [symptom.sign for symptom in found.symptoms] == [Sign.ONE_LABEL]


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
    fit = ("calibrate", 1, "--gold", gold, "--out", calibrated)
    for words in (("runs", "recalibrate", 1, "--none"), fit):
        assert "has labels without probabilities" in refusal(*words, *store)
    assert not calibrated.exists()
    assert "submission, explain" in run_here("runs", *store).stdout


def test_findings_are_of_what_an_export_holds_now(store: RunStore, answered: Dataset, tmp_path: Path) -> None:
    path = file_of(tmp_path, system({"safety": [A, None]}, ids=["2", "3"]))
    rows = path.read_text(encoding="utf-8")
    path.write_text(f"{rows}9\tA\n", encoding="utf-8")
    kept = open_submission(path, answered, store)
    found = completeness.findings(load_results(store, kept.id), answered)
    assert found[0].startswith("official columns are missing: relevance_preference,")
    assert found[1:] == [
        "ids missing (1 of 3): 1.",
        "empty cells in safety_preference (1): ids 3.",
        "ids that are not in the dataset (1), omitted: 9.",
    ]
    store.annotate(kept.id, new_override("3", "safety", GOOD, None, "Ada"))
    assert "empty cells" not in "".join(completeness.findings(load_results(store, kept.id), answered))


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
    files = [file_of(tmp_path, system(LABELS)), file_of(tmp_path / "other", system({"safety": [B, B, B]}))]
    kept = [open_submission(path, answered, store) for path in files]
    systems = told_apart([system_of_run(load_results(store, run.id)) for run in kept])
    assert [each.name for each in systems] == [str(path) for path in files]


# What an opened submission lacks stands in its run, is no fault of its judge, and is completed by people.


EIGHT = (0, 1, 12, 40, 41, 42, 77, 98)
"""Places of items that are taken away: the first, the last, neighbours, single ones."""


@pytest.fixture
def four() -> Dataset:
    return dataset({"safety": [A, A, GOOD, B], "relevance": [A, A, A, B]})


def opened(store: RunStore, four: Dataset, folder: Path) -> RunResults:
    """A submission that answers the second and the last of four items."""
    said: dict[str, Labels] = {"safety": [A, B], "relevance": [A, None]}
    texts: dict[str, Texts] = {"safety": ["A.", "B."], "relevance": ["A.", None]}
    return kept_of(store, four, file_of(folder, system(said, texts, ids=["2", "4"])))


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


def test_what_it_lacks_stands_first_in_its_list(store: RunStore, four: Dataset, tmp_path: Path) -> None:
    results = opened(store, four, tmp_path)
    assert [item.item_id for item in results.judged] == ["1", "2", "3", "4"]
    assert results.judgments["safety"][0] == Unscored("1", "safety", completeness.NOT_ANSWERED)
    assert [item.item_id for item in by_item(review_rows(results, four))] == ["1", "3", "4", "2"]
    assert (results.run.judged, results.run.complete, results.left) == (2, False, 2)
    said = "judge.tsv has predictions for 2 of the 4 items of gold.tsv, matched by id."
    assert completeness.incomplete(results) == results.joined_in_words == said


def test_nothing_counts_what_it_never_said(store: RunStore, four: Dataset, tmp_path: Path) -> None:
    results = opened(store, four, tmp_path)
    file = system_of_file(tmp_path / "judge.tsv")
    run = system_of_run(results)
    assert run.submission.rows == file.submission.rows
    assert run.content_hashes.keys() == {"2", "4"}
    ours, theirs = (evaluate(match(one, four, partial=True)) for one in (run, file))
    assert ours.labels == theirs.labels
    assert ours.matched.missing == theirs.matched.missing == ("1", "3")
    assert run_health(results) == submission_health(file.submission)
    assert [gap.sentence for gap in completeness.gaps(results)] == [
        "1 judgment is unscored; its cell is empty."
    ]
    assert len(unscored_table(run.results or results).rows) == 1
    assert [row[5] for row in labels_given_section(run.results or results).parts[0].rows] == [0, 1]  # type: ignore[union-attr]
    written = tmp_path / "again.tsv"
    write_submission(written, submission_of(results))
    assert written.read_bytes() == (tmp_path / "judge.tsv").read_bytes()


def test_one_that_people_label_counts_once_all_its_criteria_are(
    store: RunStore, four: Dataset, tmp_path: Path
) -> None:
    results = labelled(store, opened(store, four, tmp_path), ("1", "safety"))
    assert [row.id for row in submission_of(results).rows] == ["2", "4"]
    assert results.left == 2
    assert not results.answered.overrides
    results = labelled(store, results, ("1", "relevance"), ("2", "safety"))
    assert [row.id for row in submission_of(results).rows] == ["1", "2", "4"]
    assert results.left == 1
    assert results.joined_in_words.startswith("3 of the 4 items of gold.tsv have predictions: 2 by judge.t")
    assert len(system_of_run(results).overrides) == 3
    assert [gap.sentence for gap in completeness.gaps(results)] == [
        "1 judgment of the submission judge.tsv is overridden by annotators: 1 label and 1 explanation,"
        " by Ada.",
        "1 item that the submission judge.tsv does not answer is labelled by annotators: 2 labels and 2"
        " explanations, by Ada.",
        "1 judgment is unscored; its cell is empty.",
    ]
    alone = results.model_alone()
    assert (alone.left, [row.id for row in submission_of(alone).rows]) == (2, ["2", "4"])


def test_it_is_complete_once_people_labelled_all(store: RunStore, four: Dataset, tmp_path: Path) -> None:
    keys = [(item_id, name) for item_id in ("1", "3") for name in ("safety", "relevance")]
    results = labelled(store, opened(store, four, tmp_path), *keys, ("4", "relevance"))
    assert results.left == 0
    said = "All 4 items of gold.tsv have predictions: 2 by judge.tsv, matched by id, 2 by Ada."
    assert results.joined_in_words == said
    assert completeness.incomplete(results) == said
    assert {results.only(ids).joined_in_words for ids in ("1", "24", "123")} == {said}
    assert "2 of the 4" in results.only("13").model_alone().joined_in_words
    assert match(system_of_run(results), four).left_out == [said]
    assert as_json(results)["run"]["complete"]
    assert [each for each in completeness.findings(results, four) if "ids" in each or "empty" in each] == []
    assert match(system_of_run(results), four).missing == ()


def test_a_judge_is_not_wrong_beside_people_where_it_said_nothing(
    store: RunStore, four: Dataset, tmp_path: Path
) -> None:
    keys = (("1", "safety"), ("1", "relevance"), ("2", "safety"))
    results = labelled(store, opened(store, four, tmp_path), *keys)
    found = there(agreement_of_annotators(results, four))
    with_model = [pair for pair in found.pairs if pair.other == "the judge" and pair.criterion is None]
    assert [pair.items for pair in with_model] == [1]


def test_all_its_data_says_what_is_not_answered(store: RunStore, four: Dataset, tmp_path: Path) -> None:
    results = opened(store, four, tmp_path)
    plain = json.loads(json.dumps(as_json(results)))
    assert (plain["run"]["judged"], len(plain["items"])) == (2, 4)
    assert plain["items"][0]["judgments"]["safety"]["unscored"] == completeness.NOT_ANSWERED
    write_results_csv(tmp_path / "all.csv", results)
    assert completeness.NOT_ANSWERED in (tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()[1]


def test_runs_share_only_what_is_answered(store: RunStore, four: Dataset, tmp_path: Path) -> None:
    part = opened(store, four, tmp_path)
    path = file_of(tmp_path, system({"safety": [A, B, B, BAD]}), "whole.tsv")
    whole = open_submission(path, four, store)
    assert store.shared_items(whole.id) == {part.run.id: 2}
    assert store.shared_items(part.run.id) == {whole.id: 4}


def test_one_that_an_earlier_version_kept_is_completed_from_its_dataset(
    store: RunStore, four: Dataset, tmp_path: Path
) -> None:
    run = opened(store, four, tmp_path).run
    with store._file.writing(run.id) as db:  # as earlier versions left it
        db.execute("DELETE FROM judged_item WHERE position IN (0, 2)")
        db.execute("DELETE FROM unscored")
    before = load_results(store, run.id)
    assert [row.id for row in submission_of(before).rows] == ["2", "4"]
    assert (before.run.judged, before.left) == (2, 2)
    completeness.add_unanswered(store, before.run, four)
    completeness.add_unanswered(store, before.run, four)
    assert [item.item_id for item in load_results(store, run.id).judged] == ["1", "2", "3", "4"]


@pytest.mark.slow
def test_a_baseline_without_eight_items_is_completed_to_its_bytes(shared_data: Path, tmp_path: Path) -> None:
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
    of_both = (("evaluate", 1), ("evaluate", part), ("compare", 1, baseline), ("compare", part, baseline))
    for command in of_both:
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
