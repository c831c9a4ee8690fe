"""A model file is tried in a child process; one found good is remembered by its content."""

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.cli.shared.console import FAULT
from engine.core.errors import EngineBug, EngineError, Hint, ModelFileError, NoRoomError, Setting
from engine.core.events import Cancelled, CancelToken
from engine.models.checked_model import checked_model
from engine.models.model_file import read_model_file
from engine.models.trial import trial_report, try_model
from engine.system.paths import cache_folder
from models.demo.gguf_files import CONTROL, TokenTable
from tests.commands import ROOT
from tests.random_models import HEADERS, Shape, byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS, SPLIT, split_model

SmallModel = Callable[[str], Path]

REPORT = '{"problem": "model.gguf: llama.cpp makes no room", "remedy": ["Close other programs."]}'
NO_ROOM = f"print({REPORT!r}); raise SystemExit(4)"
SOUND = "print('{}')"


@pytest.fixture
def model(small_model: SmallModel, tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(small_model("headers").read_bytes())
    return path


@pytest.fixture
def known(model: Path, tried_model: SmallModel) -> Path:
    """A model whose content was found good before."""
    tried_model("headers")
    return model


def child_that(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """Let the trial's child process be a real one that does something else."""
    monkeypatch.setattr("engine.models.checked_model.self_command", lambda: [sys.executable, "-c", program])


def no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    child_that(monkeypatch, "raise SystemExit('no trial was expected')")


@pytest.mark.slow
@pytest.mark.parametrize("family", ["instructions", "no_template"])
def test_a_sound_model_passes(small_model: SmallModel, family: str) -> None:
    checked = checked_model(read_model_file(small_model(family)), CancelToken())
    assert len(checked.hash) == 64
    checked.check_unchanged()


def test_a_split_model_is_tried_and_known_by_all_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = read_model_file(split_model(tmp_path).with_name(SPLIT[1]))
    child_that(monkeypatch, SOUND)
    checked = checked_model(described, CancelToken())
    content = b"".join((tmp_path / name).read_bytes() for name in SPLIT)
    assert checked.hash == hashlib.sha256(content).hexdigest()
    assert (checked.path, checked.size_bytes) == (tmp_path / SPLIT[0], len(content))
    no_child(monkeypatch)
    assert checked_model(described, CancelToken()) == checked
    os.utime(tmp_path / SPLIT[2])
    with pytest.raises(ModelFileError, match="has changed"):
        checked.check_unchanged()


def test_the_same_content_elsewhere_needs_no_child(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    no_child(monkeypatch)
    first = checked_model(read_model_file(known), CancelToken())
    copy = known.with_name("copy.gguf")
    copy.write_bytes(known.read_bytes())
    assert checked_model(read_model_file(copy), CancelToken()).hash == first.hash


def test_changed_content_is_tried_again(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child_that(monkeypatch, "import os; os.abort()")
    checked_model(read_model_file(known), CancelToken())
    data = bytearray(known.read_bytes())
    data[-1] ^= 1
    known.write_bytes(data)
    with pytest.raises(ModelFileError, match="crashes"):
        checked_model(read_model_file(known), CancelToken())


def replaced(model: Path, data: bytes) -> None:
    """Another file in the place of a model, as a program that copies puts it there."""
    other = model.with_name("other.gguf")
    other.write_bytes(data)
    other.replace(model)


@pytest.mark.skipif(sys.platform == "win32", reason="no time there tells that a file was written in place")
@pytest.mark.parametrize("write", [Path.write_bytes, replaced])
def test_other_content_of_the_same_size_and_time_is_tried_again(
    known: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, bytes], object]
) -> None:
    first, then = checked_model(read_model_file(known), CancelToken()), known.stat().st_mtime_ns
    data = bytearray(known.read_bytes())
    data[-1] ^= 1
    write(known, bytes(data))
    os.utime(known, ns=(then, then))
    child_that(monkeypatch, "import os; os.abort()")
    with pytest.raises(ModelFileError, match="crashes"):
        checked_model(read_model_file(known), CancelToken())
    child_that(monkeypatch, SOUND)
    assert checked_model(read_model_file(known), CancelToken()).hash != first.hash


@pytest.mark.parametrize("program", ["import os; os.abort()", "import ctypes; ctypes.string_at(0)"])
def test_a_child_that_breaks_down_speaks_against_the_file(
    model: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    child_that(monkeypatch, program)
    with pytest.raises(ModelFileError, match=r"model\.gguf: llama\.cpp crashes on this file"):
        checked_model(read_model_file(model), CancelToken())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", ["SIGKILL", "SIGINT", "SIGTERM"])
def test_a_child_that_was_ended_from_outside_says_nothing_of_the_file(
    model: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    ends_itself = f"signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.{number})"
    child_that(monkeypatch, f"import os, signal; {ends_itself}")
    with pytest.raises(NoRoomError, match="ended from outside"):
        checked_model(read_model_file(model), CancelToken())


def test_nothing_bad_is_remembered(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cause may have been the computer's: a sound file must never stay condemned."""
    for program in ("import os; os.abort()", "raise SystemExit(3)", "print('{}')", NO_ROOM):
        with monkeypatch.context() as patch:
            child_that(patch, f"{program}; raise SystemExit(1)")
            with pytest.raises(EngineError):
                checked_model(read_model_file(model), CancelToken())
    child_that(monkeypatch, SOUND)
    checked_model(read_model_file(model), CancelToken())


def test_a_fault_of_ours_is_told_as_one(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program itself ends with where its trial has a bug."""
    child_that(monkeypatch, f"raise SystemExit({FAULT})")
    with pytest.raises(EngineBug, match="exit code 3"):
        checked_model(read_model_file(model), CancelToken())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal's Ctrl-C reaches a process group here")
def test_ctrl_c_at_a_terminal_during_the_trial_only_stops(model: Path, private_home: Path) -> None:
    """The signal goes to all processes of the terminal, as a shell sends it."""
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), "models", "check", str(model)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert child.stdout
    child.stdout.readline()
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode in (0, 1), err
    checked_model(read_model_file(model), CancelToken())


def test_a_trial_can_be_stopped(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child_that(monkeypatch, "import time; time.sleep(60)")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        checked_model(read_model_file(model), cancel)


def test_a_model_whose_context_is_too_small_is_refused(tmp_path: Path) -> None:
    path = write_random_model(
        tmp_path / "tiny.gguf", byte_level_bpe(HEADER_TOKENS), HEADERS, Shape(context=300)
    )
    with pytest.raises(ModelFileError, match="its context of 300 tokens is too small") as caught:
        try_model(path)
    assert str(caught.value.hint) == "Choose another model."


def test_a_tokenizer_that_does_not_suit_its_vocabulary_is_found_by_the_trial(tmp_path: Path) -> None:
    """This one writes -1 for what it has no token for: here for all that is not ASCII."""
    table = TokenTable("rwkv", "default")
    for code in range(128):
        table.add(f"\\x{code:02x}")
    table.add("<s>", CONTROL)
    table.add("</s>", CONTROL)
    path = write_random_model(tmp_path / "rwkv.gguf", table, HEADERS)
    with pytest.raises(
        ModelFileError, match=r"does not suit .* gives the token -1, but there are 130 tokens"
    ):
        try_model(path)


def test_a_setting_in_a_remedy_comes_back_from_the_child(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = Hint("Use a smaller ", Setting.CONTEXT, ", or close other programs.")
    report = json.dumps({"problem": "no room", "remedy": hint.as_json()})
    child_that(monkeypatch, f"print({report!r}); raise SystemExit(4)")
    with pytest.raises(NoRoomError, match="no room") as caught:
        checked_model(read_model_file(model), CancelToken())
    assert caught.value.hint == hint


def test_the_report_names_the_problem(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    code, report = trial_report(path)
    assert code == 2
    assert "cannot load" in json.loads(report)["problem"]


def a_file_for_a_folder() -> None:
    cache_folder().parent.mkdir(parents=True)
    cache_folder().write_text("a file where the folder should be", encoding="utf-8")


def no_database() -> None:
    cache_folder().mkdir(parents=True)
    (cache_folder() / "models.sqlite").write_text("no database " * 100, encoding="utf-8")


@pytest.mark.parametrize("spoil", [a_file_for_a_folder, no_database])
def test_a_cache_that_cannot_be_used_only_costs_time(
    model: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[], None]
) -> None:
    child_that(monkeypatch, SOUND)
    spoil()
    checked_model(read_model_file(model), CancelToken())


def test_a_verdict_belongs_to_a_build_of_llama_cpp(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked_model(read_model_file(known), CancelToken())
    db = sqlite3.connect(cache_folder() / "models.sqlite")
    db.execute("UPDATE good SET build = 'an older one'")
    db.commit()
    db.close()
    child_that(monkeypatch, "import os; os.abort()")
    with pytest.raises(ModelFileError, match="crashes"):
        checked_model(read_model_file(known), CancelToken())
