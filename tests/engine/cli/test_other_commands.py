"""`check`, `models`, `runs` and `weigh`: what they print, and how they refuse."""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.store.run_store import RunStore
from engine.system.write_ahead_log import WriteAheadLog
from tests.commands import MAIN, ROOT, give, printed, refusal, run, run_here
from tests.read_only import read_only

SmallModel = Callable[[str], Path]

SAMPLE = ROOT / "examples" / "sample.tsv"


def test_check_lists_all_problems_of_a_dataset(tmp_path: Path) -> None:
    path = tmp_path / "bad.tsv"
    path.write_text(
        "id\tinstruction\toutput_a\toutput_b\tsafety_preference\n1\tq\ta\tb\tA\n1\tq\ta\tb\tbest\n",
        encoding="utf-8",
    )
    done = refusal("check", path)
    assert "bad.tsv: 2 problems." in done
    assert "line 3, id: id '1' is already used by line 2." in done
    assert "line 3, safety_preference: unknown label 'best'" in done


@pytest.mark.slow
def test_a_missing_file_is_a_problem_with_a_remedy() -> None:
    """In a process of its own, for what it ends with and where it speaks."""
    done = run("check", "missing.json")
    assert done.returncode == 2
    assert "missing.json" in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_models_lists_the_demo_model_and_says_what_it_is_for() -> None:
    done = printed("models")
    assert "demo-judge.gguf" in done
    assert "its judgments of other data mean nothing" in done


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda data: data[: len(data) // 2], "the download is incomplete"),
        (lambda data: data.replace(b"blk.1.attn_q.weight", b"blk.1.attn_X.weight"), "llama.cpp cannot load"),
    ],
    ids=["truncated", "missing tensor"],
)
def test_models_check_says_what_is_wrong_with_a_file(
    small_model: SmallModel, tmp_path: Path, damage: Callable[[bytes], bytes], problem: str
) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(damage(small_model("headers").read_bytes()))
    assert problem in refusal("models", "check", path)


def test_runs_of_a_store_without_runs_are_none(tmp_path: Path) -> None:
    for store in (tmp_path / "new.sqlite", tmp_path / "empty.sqlite"):
        if store.name == "empty.sqlite":
            RunStore(store).close()
        assert "No runs yet" in printed("runs", "--store", store)


def test_a_store_that_is_read_only_is_read_by_commands_and_changed_by_none(
    demo_store: Path, demo_gold: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    store, out, gold = Path(shutil.copy(demo_store, folder)), tmp_path / "out.tsv", ("--gold", demo_gold)
    reading: list[tuple[object, ...]] = [
        ("runs",),
        ("runs", "show", 1),
        ("runs", "export", 1, "--out", out),
        ("evaluate", 1, *gold),
        ("compare", 1, demo_store.with_name("submission.tsv"), *gold),
        ("weighted-score", 1),
    ]
    write_ahead_log = WriteAheadLog(store)
    write_ahead_log.say({"kind": "note"})
    name = write_ahead_log.name
    write_ahead_log.close()
    with read_only(folder, store):
        for words in reading:
            assert run_here(*words, "--store", store).returncode == 0, words
        assert "1 annotation is in the write-ahead log" in run_here("runs", "--store", store).stderr
        refused = refusal("runs", "recalibrate", 1, "--none", "--store", store)
        assert "Nothing can be changed in the run store" in refused
    assert {path.name for path in folder.iterdir()} == {store.name, name, f"{name}.lock"}


def test_runs_show_of_a_store_that_is_not_there_makes_none(tmp_path: Path) -> None:
    assert "There is no run store" in refusal("runs", "show", 9, "--store", tmp_path / "runs.sqlite")
    assert not (tmp_path / "runs.sqlite").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
@pytest.mark.parametrize("redirection", ["| true", "> /dev/full", "2>&-", ">&-"])
def test_output_that_cannot_be_written_ends_without_a_traceback(redirection: str) -> None:
    command = shlex.join([sys.executable, str(MAIN), "--help"]) + f" {redirection}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def _scores(path: Path, *comparisons: dict[str, object]) -> Path:
    path.write_text(json.dumps(list(comparisons)), encoding="utf-8")
    return path


def test_weigh_refuses_an_absent_criterion_with_its_id(tmp_path: Path) -> None:
    path = _scores(
        tmp_path / "scores.json", {"id": "seven", "scores_a": {"quality": 8}, "scores_b": {"relevance": 8}}
    )
    done = refusal("weighted-score", path, "--weights", "quality=1")
    assert "seven" in done
    assert "quality" in done


@pytest.mark.parametrize("weights", ["quality", "quality=", "=1", "a=1,a=2", "a=x", "a=-1", ""])
def test_weigh_refuses_weights_that_mean_nothing(tmp_path: Path, weights: str) -> None:
    path = _scores(tmp_path / "scores.json", {"id": "1", "scores_a": {"a": 1}, "scores_b": {"a": 1}})
    with pytest.raises(SetupError, match="eight"):
        give("weighted-score", path, f"--weights={weights}")
