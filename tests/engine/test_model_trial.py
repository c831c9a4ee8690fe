"""A model file is tried in a child process once; what was found is remembered by its content."""

import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import model_trial
from engine.cancel import Cancelled, CancelToken
from engine.errors import EngineBug, ModelFileError
from engine.model_trial import checked_model, trial_report, try_model
from engine.paths import cache_folder
from models.demo.random_model import HEADERS, Shape, byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS

SmallModel = Callable[[str], Path]


@pytest.fixture
def model(small_model: SmallModel, tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(small_model("headers").read_bytes())
    return path


def child_that(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let the trial's child process be a real one that does something else."""
    monkeypatch.setattr(model_trial, "self_command", lambda: [sys.executable, "-c", program])


def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    child_that(monkeypatch, "raise SystemExit('no trial was expected')")


@pytest.mark.parametrize("family", ["headers", "chatml", "instructions", "no_system", "no_template"])
def test_a_sound_model_passes(small_model: SmallModel, family: str) -> None:
    checked = checked_model(small_model(family), CancelToken())
    assert len(checked.hash) == 64
    checked.check_unchanged()


def test_a_second_look_needs_no_child(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = checked_model(model, CancelToken())
    no_child(monkeypatch)
    assert checked_model(model, CancelToken()) == first


def test_the_same_content_elsewhere_needs_no_child(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = checked_model(model, CancelToken())
    no_child(monkeypatch)
    copy = model.with_name("copy.gguf")
    copy.write_bytes(model.read_bytes())
    assert checked_model(copy, CancelToken()).hash == first.hash


def test_changed_content_is_tried_again(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked_model(model, CancelToken())
    child_that(monkeypatch, "import os; os.abort()")
    data = bytearray(model.read_bytes())
    data[-1] ^= 1
    model.write_bytes(data)
    with pytest.raises(ModelFileError, match="breaks down"):
        checked_model(model, CancelToken())


@pytest.mark.skipif(sys.platform == "win32", reason="os.abort ends with an exit code there")
def test_a_child_that_dies_is_the_files_fault_and_remembered(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child_that(monkeypatch, "import os; os.abort()")
    with pytest.raises(
        ModelFileError, match=r"model\.gguf: llama\.cpp breaks down on this file \(signal 6\)"
    ):
        checked_model(model, CancelToken())
    no_child(monkeypatch)
    with pytest.raises(ModelFileError, match="breaks down"):
        checked_model(model, CancelToken())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_child_that_was_killed_says_nothing_of_the_file(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        child_that(patch, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        with pytest.raises(ModelFileError, match="want of memory"):
            checked_model(model, CancelToken())
    checked_model(model, CancelToken())


def test_a_trial_that_fails_by_our_fault_does_not_condemn_the_file(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        child_that(patch, "raise SystemExit(1)")
        with pytest.raises(EngineBug, match="exit code 1"):
            checked_model(model, CancelToken())
    checked_model(model, CancelToken())


def test_a_trial_can_be_stopped(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child_that(monkeypatch, "import time; time.sleep(60)")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        checked_model(model, cancel)


def test_a_model_whose_context_is_too_small_is_refused(tmp_path: Path) -> None:
    path = write_random_model(
        tmp_path / "tiny.gguf", byte_level_bpe(HEADER_TOKENS), HEADERS, Shape(context=300)
    )
    with pytest.raises(ModelFileError, match="its context of 300 tokens is too small"):
        try_model(path)


def test_the_report_names_the_problem(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    code, report = trial_report(path)
    assert code == 2
    assert "cannot load" in json.loads(report)["problem"]


def test_a_cache_that_cannot_be_used_only_costs_time(model: Path, private_home: Path) -> None:
    cache_folder().parent.mkdir(parents=True)
    cache_folder().write_text("a file where the folder should be", encoding="utf-8")
    checked_model(model, CancelToken())


def test_a_damaged_cache_only_costs_time(model: Path) -> None:
    cache_folder().mkdir(parents=True)
    (cache_folder() / "models.sqlite").write_text("no database " * 100, encoding="utf-8")
    checked_model(model, CancelToken())


def test_a_verdict_belongs_to_a_build_of_llama_cpp(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked_model(model, CancelToken())
    db = sqlite3.connect(cache_folder() / "models.sqlite")
    db.execute("UPDATE verdict SET build = 'an older one'")
    db.commit()
    db.close()
    child_that(monkeypatch, "import os; os.abort()")
    with pytest.raises(ModelFileError, match="breaks down"):
        checked_model(model, CancelToken())
