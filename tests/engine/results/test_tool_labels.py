"""Labels that people gave with another tool become annotations of a run of the same items, by their names."""

import json
import os
from pathlib import Path

import pytest

from engine.core.column_map import ColumnMap, JudgeColumn
from engine.core.errors import InputError
from engine.core.items import HumanLabel, Prediction
from engine.core.judgments import JudgmentKey
from engine.data.catalogue import Known, every_known
from engine.data.dataset import Dataset, load_dataset
from engine.data.recognition import remembered
from engine.data.submission import Submission, SubmissionRow, write_submission
from engine.results.annotation_file import load_annotations
from engine.results.annotation_import import join, look_at
from engine.results.completeness import open_submission
from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from tests.commands import run_here
from tests.judged import A, B

TOOLS = ("argilla-1-feedback", "argilla-2", "label-studio", "mturk", "prolific")
KNOWN = [
    pytest.param(known, id=known.slug)
    for known in every_known()
    if known.slug.startswith(TOOLS) and known.kind == "pairs" and "annotator" in known.columns
]


def opened(dataset: Dataset, store: RunStore, folder: Path) -> int:
    """A run of the items of a dataset, all of which somebody called A."""
    rows = tuple(SubmissionRow(item.id, {"overall_quality": Prediction(A)}) for item in dataset)
    path = folder / "of_a_judge.tsv"
    write_submission(path, Submission(rows, ("overall_quality",), with_explanations=False))
    return open_submission(path, dataset, store, JudgeColumn()).id


def imported(path: Path, store: RunStore, run_id: int, by: str = "") -> dict[str, dict[str, HumanLabel]]:
    """What each annotator says of each item after a file is imported."""
    made = load_annotations(path, store, run_id, by)
    join(store, look_at(store, run_id, [(path.name, made)]))
    labels = load_results(store, run_id).reviews.labels
    return {who: {key.item_id: label for key, label in given.items()} for who, given in labels.items()}


@pytest.mark.parametrize("known", KNOWN)
def test_the_labels_of_a_tool_are_annotations_with_their_authors(
    known: Known, store: RunStore, tmp_path: Path
) -> None:
    path = tmp_path / "export.jsonl"
    path.write_text(known.rows.strip(), encoding="utf-8")
    dataset = load_dataset(path)
    run_id = opened(dataset, store, tmp_path)
    labels = imported(path, store, run_id)
    assert labels
    for item in dataset:
        gold = item.gold.get("overall_quality")
        if gold is not None and gold.annotators:
            assert {who: said[item.id] for who, said in labels.items() if item.id in said} == gold.annotators
        elif gold is not None and gold.label is not None:
            assert [said[item.id] for said in labels.values() if item.id in said] == [gold.label]
    os.utime(path, (later := path.stat().st_mtime + 60, later))  # as of a copy
    again = look_at(store, run_id, [(path.name, load_annotations(path, store, run_id))])
    assert (again.new, again.namesakes) == (0, ())


@pytest.fixture
def three(tmp_path: Path) -> Dataset:
    path = tmp_path / "three.tsv"
    rows = "".join(f"{at}\tSay {at}.\tOne {at}.\tTwo {at}.\n" for at in (1, 2, 3))
    path.write_text(f"id\tinstruction\toutput_a\toutput_b\n{rows}", encoding="utf-8")
    return load_dataset(path)


def test_a_file_without_texts_names_items_by_ids(three: Dataset, store: RunStore, tmp_path: Path) -> None:
    run_id = opened(three, store, tmp_path)
    path = tmp_path / "annotations.jsonl"
    said = [("1", "ann", "A"), ("2", "ann", "B"), ("1", "ben", "B"), ("9", "ben", "A")]
    rows = [
        {"instance_id": item, "user_id": who, "labels": {"preference": {"selection": label}}, "spans": {}}
        for item, who, label in said
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    joining = look_at(store, run_id, [(path.name, load_annotations(path, store, run_id))])
    assert joining.files[0].items.missing == ("9",)
    assert imported(path, store, run_id) == {"ann": {"1": A, "2": B}, "ben": {"1": B}}


def test_responses_in_the_other_order_turn_the_label(three: Dataset, store: RunStore, tmp_path: Path) -> None:
    run_id = opened(three, store, tmp_path)
    path = tmp_path / "labels.csv"
    rows = "x1,Say 1.,Two 1.,One 1.,A\nx2,Say 2.,One 2.,Two 2.,A\nx3,Say 4.,One 2.,Two 2.,A\n"
    path.write_text(f"id,prompt,response_a,response_b,winner\n{rows}", encoding="utf-8")
    with pytest.raises(InputError, match="holds no label of a person whose name it says"):
        load_annotations(path, store, run_id)
    assert imported(path, store, run_id, by="Ada") == {"Ada": {"1": B, "2": A}}


@pytest.mark.parametrize(("head", "item_id"), [("id,", "2,"), ("", "")])
def test_each_annotator_may_have_a_row_for_an_item_in_an_order_of_its_own(
    three: Dataset, store: RunStore, tmp_path: Path, head: str, item_id: str
) -> None:
    # In a run of its own: another file's labels are others, unless both files are of the same second.
    run_id = opened(three, store, tmp_path)
    path = tmp_path / "labels.csv"
    rows = f"{item_id}Say 2.,One 2.,Two 2.,A,ann\n{item_id}Say 2.,Two 2.,One 2.,A,ben\n"
    path.write_text(f"{head}prompt,response_a,response_b,winner,annotator\n{rows}", encoding="utf-8")
    assert imported(path, store, run_id) == {"ann": {"2": A}, "ben": {"2": B}}


def test_a_hidden_repeat_is_no_label_where_a_column_names_the_annotator(
    three: Dataset, store: RunStore, tmp_path: Path
) -> None:
    run_id = opened(three, store, tmp_path)
    path = tmp_path / "ann.json"
    texts = {"instruction": "Say 2.", "output_a": "One 2.", "output_b": "Two 2.", "by": "ann"}
    rows = [{"id": f"place-{place}", **texts, "is": said} for place, said in ((1, "A"), (2, "B"))]
    path.write_text(json.dumps({"meta": [{"a": 1}], "of": {"rows": rows}}), encoding="utf-8")
    named = {"overall_quality_preference": "is", "annotator": "by", "records": "of.rows"}
    columns = ColumnMap.of(named)
    made = load_annotations(path, store, run_id, columns=columns)
    join(store, look_at(store, run_id, [(path.name, made)]))
    key = JudgmentKey("2", "overall_quality")
    assert load_results(store, run_id).reviews.labels == {"ann": {key: A}}


def test_ids_with_labels_in_our_columns_are_read_without_bad_rows_and_the_columns_stored(
    three: Dataset, store: RunStore, tmp_path: Path
) -> None:
    run_id = opened(three, store, tmp_path)
    path = tmp_path / "filled.tsv"
    path.write_text("id\toverall_quality_preference\n1\tA\n2\twon\n3\toops\n", encoding="utf-8")
    asked = ("annotations", "import", run_id, path, "--by", "Ada", "--store", store.path)
    printed = run_here(*asked, "--labels", "won=B", "--skip-bad-rows", "--save-columns").stdout
    assert "1 row that cannot be read is left out: line 4" in printed
    assert {
        key.item_id: label for key, label in load_results(store, run_id).reviews.labels["Ada"].items()
    } == {"1": A, "2": B}
    assert remembered(["id", "overall_quality_preference"]) is not None


def test_the_command_imports_them_and_says_what_is_not_in_the_run(
    three: Dataset, store: RunStore, tmp_path: Path
) -> None:
    run_id = opened(three, store, tmp_path)
    path = tmp_path / "labels.csv"
    rows = "x,Say 1.,One 1.,Two 1.,tie\ny,Say 9.,1,2,A\n"
    path.write_text(f"id,prompt,response_a,response_b,winner\n{rows}", encoding="utf-8")
    printed = run_here("annotations", "import", run_id, path, "--by", "Ada", "--store", store.path).stdout
    assert "1 of 2 items is in this run; 1 of them matched by its texts only; 1 is not in it, re" in printed
    label = load_results(store, run_id).reviews.labels["Ada"][JudgmentKey("1", "overall_quality")]
    assert label == "tie"


def test_ids_and_labels_of_several_people_need_no_texts_and_a_models_labels_are_refused(
    three: Dataset, store: RunStore, tmp_path: Path
) -> None:
    run_id = opened(three, store, tmp_path)
    path = tmp_path / "labels.csv"
    path.write_text("id,label,annotator\n1,A,ann\n2,B,ann\n1,tie,ben\n", encoding="utf-8")
    assert imported(path, store, run_id) == {"ann": {"1": A, "2": B}, "ben": {"1": "tie"}}
    [known] = (known for known in every_known() if known.slug == "alpacaeval-annotations")
    path = tmp_path / "annotations.jsonl"
    path.write_text(known.rows.strip(), encoding="utf-8")
    with pytest.raises(InputError, match="the labels are a model's, no person's"):
        load_annotations(path, store, run_id)
