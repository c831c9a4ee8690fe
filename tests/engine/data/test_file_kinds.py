"""What kind of file a file is, and what is said where it was given as another one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.analysis.recipe import Recipe, load_recipe, save_recipe
from engine.annotations.records import new_override
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import ColumnsError, FileKind, InputError, SetupError, WrongKindError
from engine.core.judgments import CriterionCalibration
from engine.core.rubric import ELOQUENT
from engine.data.dataset import load_dataset
from engine.data.file_kinds import kind_of
from engine.data.rubrics.files import load_rubric, rubric_text
from engine.data.submission import read_submission, write_submission
from engine.metrics.evaluation import evaluate, official_json
from engine.metrics.matching import match, system_of_run
from engine.ranking.weight_fit import load_comparisons, load_fitted_weights
from engine.results.annotation_file import annotation_file, save_annotation_file
from engine.results.calibration import Calibration, JudgeIdentity, load_calibration, save_calibration
from engine.results.exports import as_json, write_results_csv
from engine.results.run_results import submission_of
from engine.settings.run_setup import RunSetup
from engine.store.migrations import APPLICATION_ID
from engine.store.run_store import RunStore
from engine.system.files import write_json
from engine.system.paths import demo_model
from gui.widgets.notice import IN_THE_WINDOW
from tests.judged import SURE_A, A, B, dataset, stored_run

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
    names = "data.tsv labels.tsv all.csv all.json calibration.json recipe.json weights.json scores.json"
    found = [*names.split(), "compared.json", "own.toml", "model.bin", "people.json", "runs.sqlite"]
    return {kind: folder / name for kind, name in zip(FileKind, found, strict=True)}


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
def test_a_file_of_another_kind_is_named_with_what_takes_it(
    files: dict[FileKind, Path], wanted: FileKind
) -> None:
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
def test_what_a_file_is_shows_in_what_it_holds(
    tmp_path: Path, name: str, text: str, kind: FileKind | None
) -> None:
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
