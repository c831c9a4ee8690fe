"""A file that a command was given in the wrong place: it is named for what it is, with what takes it."""

import shutil
from pathlib import Path

import pytest

from engine.cli.shared.arguments import model_file
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import FileKind, WrongKindError
from engine.system.paths import demo_model
from tests.engine.cli.in_process import Streams, give_runs


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("evaluate", "gold.tsv", "--gold", "gold.tsv"), FileKind.DATASET),
        (("evaluate", 1, "--gold", "submission.tsv"), FileKind.SUBMISSION),
        (("runs", "recalibrate", 1, "--calibration", "gold.tsv"), FileKind.DATASET),
        (("judge", "submission.tsv", "--model", "demo", "--plan"), FileKind.SUBMISSION),
        (("judge", "gold.tsv", "--model", "gold.tsv", "--plan"), FileKind.DATASET),
        (("evaluate", 1, "--gold", "runs.sqlite"), FileKind.RUN_STORE),
    ],
)
def test_the_error_names_what_it_is_and_the_command_that_takes_it(
    streams: Streams,
    demo_store: Path,
    demo_gold: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[object, ...],
    kind: FileKind,
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, name in (
        (demo_gold, "gold.tsv"),
        (demo_store.with_name("submission.tsv"), "submission.tsv"),
        (demo_store, "runs.sqlite"),
    ):
        shutil.copy(path, tmp_path / name)
    with pytest.raises(WrongKindError) as caught:
        streams(str(words[0]), *words[1:])
    assert caught.value.kind is kind
    assert OPTIONS.of(caught.value.hint) == OPTIONS.kinds[kind]


def test_a_dataset_is_no_run_store(demo_gold: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(demo_gold, tmp_path))
    before = path.read_bytes()
    with pytest.raises(WrongKindError, match="is a dataset of pairs, not a run store"):
        give_runs(path)
    assert path.read_bytes() == before


def test_a_model_may_have_any_name(tmp_path: Path) -> None:
    path = Path(shutil.copy(demo_model(), tmp_path / "sha256-1234"))
    assert model_file(str(path)) == path
    assert model_file(str(tmp_path / "gone")) == tmp_path / "gone"
