"""What kind of file a file is, and what is said where it was given as another one."""

import csv
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from engine.analysis.recipe import Recipe, load_recipe, save_recipe
from engine.annotations.records import new_override, new_review
from engine.cli.shared.hints import OPTIONS
from engine.core.column_map import ColumnMap
from engine.core.errors import ColumnsError, FileKind, InputError, SetupError, WrongKindError
from engine.core.judgments import CriterionCalibration, Origin
from engine.core.rubric import ELOQUENT
from engine.data.dataset import Dataset, load_dataset
from engine.data.file_kinds import LABELS_BY_ANNOTATORS, ORIGINS_BY_ANNOTATORS, kind_of
from engine.data.label_origins import label_origins
from engine.data.rubrics.files import load_rubric, rubric_text
from engine.data.submission import read_submission, write_submission
from engine.metrics.evaluation import evaluate, official_json
from engine.metrics.matching import match, system_of_run
from engine.ranking.weight_fit import load_comparisons, load_fitted_weights
from engine.results.annotation_file import annotation_file, save_annotation_file
from engine.results.calibration import Calibration, JudgeIdentity, load_calibration, save_calibration
from engine.results.exports import as_json, write_results_csv
from engine.results.run_dataset import labelled_dataset
from engine.results.run_results import RunResults, load_results, submission_of
from engine.settings.run_setup import RunSetup
from engine.store.migrations import APPLICATION_ID
from engine.store.run_store import RunStore
from engine.system.files import write_json
from engine.system.paths import demo_model
from gui.widgets.notice import IN_THE_WINDOW
from tests.judged import BAD, GOOD, SURE_A, TIE, A, B, dataset, stored_run, with_texts

GOLD = dataset({"safety": [A, B], "overall_quality": [A, B]})
TABLE = "id\tinstruction\toutput_a\toutput_b\n1\tWhy?\tyes\tno\n"
NEUTRAL = CriterionCalibration(1, (0, 0, 0, 0), None, 1)
JUDGE = JudgeIdentity("a model", "a" * 64, "1", ("AB", "BA"), "")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[FileKind, Path]:
    """A file of each kind, most of them as this program writes it."""
    folder = tmp_path_factory.mktemp("kinds")
    columns = {"safety": [SURE_A] * 2, "overall_quality": [SURE_A] * 2}
    results = stored_run(folder, GOLD, columns).results
    assert results is not None
    (folder / "data.tsv").write_text(TABLE)
    write_submission(folder / "labels.tsv", submission_of(results))
    (folder / "verdicts.csv").write_text("id,verdict,reason\n1,A,It answers.\n2,tie,Both answer it.\n")
    write_results_csv(folder / "all.csv", results, GOLD)
    write_json(folder / "all.json", as_json(results, GOLD))
    neutral = Calibration(JUDGE, "", "", {"safety": NEUTRAL}, {})
    save_calibration(folder / "calibration.json", neutral)
    setup = RunSetup(folder / "data.tsv", folder / "model.bin")
    save_recipe(folder / "recipe.json", Recipe(setup, neutral))
    write_json(
        folder / "weights.json", {"items": [], "fitted": {"weights": {"safety": 1}, "tie_threshold": 0.5}}
    )
    write_json(folder / "scores.json", official_json(evaluate(match(system_of_run(results), GOLD))))
    write_json(folder / "compared.json", [{"id": "1", "scores_a": {"x": 1}, "scores_b": {"x": 2}}])
    (folder / "own.toml").write_text(rubric_text(ELOQUENT))
    shutil.copy(demo_model(), folder / "model.bin")
    with RunStore(folder / "runs.sqlite") as store:
        store.annotate(1, new_override("1", "safety", B, None, "Ada"))
        save_annotation_file(folder / "people.json", annotation_file(store, 1))
    names = "data.tsv labels.tsv verdicts.csv all.csv all.json calibration.json recipe.json weights.json"
    found = [*names.split(), "scores.json", "compared.json", "own.toml", "model.bin", "people.json"]
    return {kind: folder / name for kind, name in zip(FileKind, [*found, "runs.sqlite"], strict=True)}


def test_each_kind_is_known(files: dict[FileKind, Path]) -> None:
    assert {kind: kind_of(path) for kind, path in files.items()} == {kind: kind for kind in FileKind}


READERS: dict[FileKind, Callable[[Path], object]] = {
    FileKind.DATASET: load_dataset,
    FileKind.SUBMISSION: read_submission,
    FileKind.CALIBRATION: load_calibration,
    FileKind.RECIPE: load_recipe,
    FileKind.WEIGHTS: lambda path: load_fitted_weights(path, "Write it again."),
    FileKind.COMPARISONS: lambda path: load_comparisons(path, ["x"]),
    FileKind.RUBRIC: load_rubric,
}
TAKEN = {
    FileKind.DATASET: {FileKind.DATASET, FileKind.RUN_DATA},
    FileKind.CALIBRATION: {FileKind.CALIBRATION, FileKind.RECIPE},
}


@pytest.mark.parametrize("wanted", READERS)
def test_another_kind_of_file_is_named_with_its_use(files: dict[FileKind, Path], wanted: FileKind) -> None:
    for kind, path in files.items():
        if kind in TAKEN.get(wanted, {wanted}):
            READERS[wanted](path)
            continue
        with pytest.raises(WrongKindError) as caught:
            READERS[wanted](path)
        assert caught.value.kind is kind
        assert caught.value.problem == f"{path.name}: is {kind.value}, not {wanted.value}."
        assert OPTIONS.of(caught.value.hint) == OPTIONS.kinds[kind]
        assert IN_THE_WINDOW.of(caught.value.hint) == IN_THE_WINDOW.kinds[kind]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("x.tsv", "id\tsafety_preference\n", FileKind.SUBMISSION),
        ("x.tsv", "id\tsafety_preference\tnote\n1\tA\tlong enough to be a text\n", FileKind.SUBMISSION),
        ("x.csv", "id,safety_preference\n1,A\n", FileKind.SUBMISSION),
        ("x.tsv", "id\tsafety_preference\tinstruction\n", None),
        ("x.tsv", "id\tnote\n", None),
        ("x.csv", "prompt,response_a,response_b,human_preference\nWhy?,So.,Not so.,A\n", FileKind.DATASET),
        (
            "x.json",
            '{"data": [{"id": 1, "instruction": "q", "output_a": "", "output_b": ""}]}',
            FileKind.DATASET,
        ),
        ("x.json", '{"scores": [1', None),
        ("x.json", '[{"scores_a": 1}]', None),
        ("x.sqlite", "SQLite format 3\0 of another program", None),
        ("x.gguf", "", FileKind.MODEL),
    ],
)
def test_what_a_file_is_shows_within_it(tmp_path: Path, name: str, text: str, kind: FileKind | None) -> None:
    (tmp_path / name).write_text(text)
    found = None
    try:
        found = kind_of(tmp_path / name)
    except SetupError:
        assert kind is None
    assert found is kind


def test_what_is_wrong_in_a_file_of_the_right_kind_is_said_as_before(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("id\tsafety_preference\n1\tC\n")
    with pytest.raises(InputError, match="unknown label 'C'"):
        read_submission(path)
    path.write_text("prompt\tresponse_a\tresponse_b\nWhy?\tSo.\tNot so.\n")
    with pytest.raises(ColumnsError, match="no column 'instruction'"):
        load_dataset(path)
    with pytest.raises(SetupError, match="does not exist"):
        load_dataset(tmp_path / "gone.tsv")
    (tmp_path / "x.json").write_text(json.dumps({"tiebreak_calibration": 99}))
    with pytest.raises(InputError, match="its version is 99"):
        load_calibration(tmp_path / "x.json")


def test_the_mark_of_a_store_is_that_of_its_header() -> None:
    assert APPLICATION_ID.to_bytes(4, "big") == b"TBK1"


# All data of a run, as CSV, opened as a dataset: the labels of people, and a sentence that says so


OF_RUN = with_texts(dataset({"safety": [BAD, None, A], "truthfulness": [B, B, B]}), id=["7", "id,\n2", "ß"])


@pytest.fixture
def reviewed(tmp_path: Path) -> RunResults:
    """A run that says A; Ada and Ben labelled two of its three items."""
    stored_run(tmp_path, OF_RUN, {"safety": [SURE_A] * 3, "relevance": [SURE_A] * 3}, {"safety": "A, safe."})
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.annotate(1, new_review("7", "Ben", confirmed={"safety": A}))
        store.annotate(1, new_override("7", "safety", B, "B, for me.", "Ada", origin=Origin.UNCERTAINTY))
        store.annotate(1, new_review("id,\n2", "Ben", confirmed={"safety": A, "relevance": A}))
        store.annotate(1, new_override("ß", "relevance", None, "Only words.", "Ada"))
        return load_results(store, 1)


def exported(folder: Path, results: RunResults, gold: Dataset | None = OF_RUN) -> Path:
    path = folder / "all.csv"
    write_results_csv(path, results, gold)
    return path


def changed(path: Path, *left_out: str, **cells: str) -> Path:
    """The same file without some columns, and with other cells in its first row."""
    with path.open(encoding="utf-8", newline="") as file:
        rows: list[Mapping[str, str]] = list(csv.DictReader(file))
    rows = [{name: text for name, text in row.items() if name not in left_out} for row in rows]
    rows[0] = {**rows[0], **cells}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.usefixtures("reviewed")
def test_it_is_the_dataset_that_the_labels_make(tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        store.annotate(1, new_override("ß", "safety", TIE, None, "Ada"))  # as another tool's file says it
        reviewed = load_results(store, 1)
    found = load_dataset(exported(tmp_path, reviewed))
    made = labelled_dataset(reviewed, OF_RUN).columns
    assert found.hash == OF_RUN.hash
    for name in ("safety", "relevance"):
        for part in ("preference", "explanation", "preference|Ada", "preference|Ben", "origin"):
            column = f"{name}_{part}"
            cells = [cell or "" for cell in made.get(column, [""] * 3)]
            assert found.texts(column).to_pylist() == cells, column
    assert found.texts("safety_preference_before").to_pylist() == ["both_bad", "", "A"]
    assert label_origins(found, "safety") == {"7": Origin.UNCERTAINTY, "id,\n2": None, "ß": None}
    assert found.read_as == (
        "All data of run 1: its human labels are those that annotators gave or accepted (4 of 6, by Ada,"
        " Ben),"
        " not the judge's own."
    )
    assert found.notices[0] == found.read_as
    assert found.columns is None
    assert not {"model_preference", "human_preference"} & {*found.file_columns, *found.other_columns}


def test_a_run_that_nobody_labelled_has_no_human_labels(tmp_path: Path) -> None:
    results = stored_run(tmp_path, OF_RUN, {"safety": [SURE_A] * 3}).results
    assert results
    found = load_dataset(exported(tmp_path, results))
    assert found.criteria == ()
    assert found.read_as == (
        "All data of run 1: it has no human labels, and the judge's own labels are not human ones."
    )


def test_one_of_an_earlier_version_has_the_labels_of_overrides(reviewed: RunResults, tmp_path: Path) -> None:
    path = changed(exported(tmp_path, reviewed), LABELS_BY_ANNOTATORS, ORIGINS_BY_ANNOTATORS, "random_sample")
    found = load_dataset(path)
    assert found.labels("safety") == {"7": B}
    assert found[0].gold["safety"].annotators == {"Ada": B}
    assert label_origins(found, "safety") == {"7": None}


def test_a_file_without_texts_is_named_for_what_it_is(reviewed: RunResults, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="all data of a run, but no texts"):
        load_dataset(exported(tmp_path, reviewed, gold=None))
    other = with_texts(OF_RUN, output_a=["x", "a", "a"])
    found = load_dataset(exported(tmp_path, reviewed, other))
    assert found.ids == ["id,\n2", "ß"]
    assert found.notices[1].startswith("2 rows have no texts, and are omitted")


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"preference": "perhaps"}, "unknown label 'perhaps'"),
        ({"criterion": "relevance"}, "'relevance' of item '7' occurs twice"),
    ],
)
def test_what_was_changed_wrongly_is_named_by_its_line(
    reviewed: RunResults, tmp_path: Path, cells: dict[str, str], problem: str
) -> None:
    path = changed(exported(tmp_path, reviewed), **cells)
    with pytest.raises(InputError, match=f"line [23], .*{problem}"):
        load_dataset(path)


def test_columns_that_a_person_names_come_first(tmp_path: Path) -> None:
    results = stored_run(tmp_path, OF_RUN, {"safety": [SURE_A] * 3}).results
    assert results
    columns = ColumnMap.of({"id": "item_id", "safety_preference": "preference"})
    found = load_dataset(exported(tmp_path, results), columns=columns)
    assert (found.read_as, found.labels("safety")) == ("", dict.fromkeys(OF_RUN.ids, A))
    assert GOOD not in found.label_counts("safety")
