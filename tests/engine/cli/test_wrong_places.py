"""Files in a wrong place: named for what they are, with what takes them; and never written over."""

import shutil
from pathlib import Path

import pytest

from engine.cli.shared.arguments import model_file
from engine.cli.shared.hints import OPTIONS
from engine.core.errors import FileKind, WrongKindError
from engine.store.run_store import RunStore
from engine.system.paths import demo_model
from tests.commands import refusal
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


@pytest.mark.parametrize(
    "line",
    [
        "evaluate MINE --gold GOLD --json MINE",
        "evaluate MINE --gold GOLD --json GOLD",
        "evaluate 1 --gold GOLD --latex GOLD",
        "compare MINE 1 --gold GOLD --json MINE",
        "compare MINE 1 --gold GOLD --markdown GOLD",
        "weighted-score MINE --gold GOLD --json MINE",
        "weighted-score 1 --json GOLD",
        "weighted-score 1 --gold GOLD --latex GOLD",
        "calibrate 1 --gold GOLD --out OUT.json --latex GOLD",
        "learning-curve 1 --gold GOLD --latex GOLD",
        "orders 1 --json GOLD",
        "audit 1 --json GOLD",
        "rank GOLD --markdown GOLD",
        "rank GOLD --with MINE --csv MINE",
        "runs export 1 --csv GOLD",
        "runs export 1 --csv OUT --json OUT",
        "runs export 1 --as-dataset GOLD --dataset GOLD",
        "runs export 1 --out OUT.tsv --json STORE",
        "judge GOLD --model demo --out GOLD",
        "judge GOLD --model demo --out OUT.tsv --json GOLD",
        "judge GOLD --model demo --examples SHOWN --out SHOWN",
        "judge GOLD --model demo --ids SHOWN --out SHOWN",
        "judge GOLD --model demo --out OUT.tsv --json STORE",
        "judge GOLD --model MODEL --out OUT.tsv --json MODEL",
    ],
)
def test_no_command_writes_over_what_it_reads(
    demo_copy: Path, demo_store: Path, demo_gold: Path, tmp_path: Path, line: str
) -> None:
    mine, shown, model = (tmp_path / name for name in ("mine.tsv", "shown.tsv", "model.gguf"))
    copied = {mine: demo_store.with_name("submission.tsv"), shown: demo_gold, model: demo_model()}
    for path, source in copied.items():
        shutil.copy(source, path)
    before = [path.read_bytes() for path in (demo_gold, *copied)]
    named = {"MINE": mine, "GOLD": demo_gold, "STORE": demo_copy, "SHOWN": shown, "MODEL": model}
    for name, path in {**named, "OUT": tmp_path / "out"}.items():
        line = line.replace(name, str(path))
    assert "would be overwritten" in refusal(*line.split(), "--store", demo_copy)
    assert [path.read_bytes() for path in (demo_gold, *copied)] == before
    assert not list(tmp_path.glob("out*"))
    RunStore(demo_copy).close()  # it is a store still


def test_a_model_may_have_any_name(tmp_path: Path) -> None:
    path = Path(shutil.copy(demo_model(), tmp_path / "sha256-1234"))
    assert model_file(str(path)) == path
    assert model_file(str(tmp_path / "gone")) == tmp_path / "gone"
