"""A model file is tried in a child process; one found good is remembered by its content."""

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.cli.shared.console import FAULT
from engine.core.errors import EngineBug, Hint, ModelFileError, NoRoomError, Setting, SetupError
from engine.core.events import Cancelled, CancelToken
from engine.models.checked_model import CheckedModel, checked_model, trial_report, try_model
from engine.models.model_file import read_model_file
from engine.system.paths import cache_folder
from models.demo.gguf_files import CONTROL, TokenTable
from tests.commands import MAIN
from tests.random_models import HEADERS, Shape, byte_level_bpe, write_random_model
from tests.small_models import HEADER_TOKENS, SPLIT, split_model
from tests.steps import refused

SmallModel = Callable[[str], Path]
ChildThat = Callable[[str], None]

REPORT = '{"problem": "model.gguf: llama.cpp makes no room", "remedy": ["Close other programs."]}'
NO_ROOM = f"print({REPORT!r}); raise SystemExit(4)"
SOUND = "print('{}')"
CRASHES = "import os; os.abort()"
NO_TRIAL = "raise SystemExit('no trial was expected')"


def check(path: Path) -> CheckedModel:
    return checked_model(read_model_file(path), CancelToken())


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


@pytest.mark.slow
@pytest.mark.parametrize("family", ["instructions", "no_template"])
def test_a_sound_model_passes(small_model: SmallModel, family: str) -> None:
    checked = check(small_model(family))
    assert len(checked.hash) == 64
    checked.check_unchanged()


def test_a_split_model_is_tried_and_known_by_all_its_parts(tmp_path: Path, child_that: ChildThat) -> None:
    described = read_model_file(split_model(tmp_path).with_name(SPLIT[1]))
    child_that(SOUND)
    checked = checked_model(described, CancelToken())
    content = b"".join((tmp_path / name).read_bytes() for name in SPLIT)
    assert checked.hash == hashlib.sha256(content).hexdigest()
    assert (checked.path, checked.size_bytes) == (tmp_path / SPLIT[0], len(content))
    child_that(NO_TRIAL)
    assert checked_model(described, CancelToken()) == checked
    os.utime(tmp_path / SPLIT[2])
    with pytest.raises(ModelFileError, match="has changed"):
        checked.check_unchanged()


def test_the_same_content_elsewhere_needs_no_child_and_changed_content_is_tried_again(
    known: Path, child_that: ChildThat
) -> None:
    child_that(CRASHES)
    first = check(known)
    copy = known.with_name("copy.gguf")
    copy.write_bytes(known.read_bytes())
    assert check(copy).hash == first.hash
    copy.write_bytes(changed(known))
    with pytest.raises(ModelFileError, match="crashes"):
        check(copy)


def changed(model: Path) -> bytes:
    """Other content of the same size."""
    data = bytearray(model.read_bytes())
    data[-1] ^= 1
    return bytes(data)


def replaced(model: Path, data: bytes) -> None:
    """Another file in the place of a model, as a program that copies puts it there."""
    other = model.with_name("other.gguf")
    other.write_bytes(data)
    other.replace(model)


@pytest.mark.skipif(sys.platform == "win32", reason="no time there tells that a file was written in place")
@pytest.mark.parametrize("write", [Path.write_bytes, replaced])
def test_other_content_of_the_same_size_and_time_is_tried_again(
    known: Path, child_that: ChildThat, write: Callable[[Path, bytes], object]
) -> None:
    first, then = check(known), known.stat().st_mtime_ns
    write(known, changed(known))
    os.utime(known, ns=(then, then))
    child_that(CRASHES)
    with pytest.raises(ModelFileError, match="crashes"):
        check(known)
    child_that(SOUND)
    assert check(known).hash != first.hash


# On Windows ctypes.string_at(0) is an OSError, and a signal that is raised ends a process with 3.
FAULTY = "import faulthandler; faulthandler._read_null()"


@pytest.mark.parametrize("program", ["import os; os.abort()", FAULTY])
def test_a_child_that_breaks_speaks_against_a_file(model: Path, child_that: ChildThat, program: str) -> None:
    child_that(program)
    with pytest.raises(ModelFileError, match=r"model\.gguf: llama\.cpp crashes on this file"):
        check(model)


@pytest.mark.parametrize(
    "number", ["SIGTERM"] if sys.platform == "win32" else ["SIGKILL", "SIGINT", "SIGTERM"]
)
def test_a_child_that_was_ended_from_outside_says_nothing_of_the_file(
    model: Path, child_that: ChildThat, number: str
) -> None:
    ends_itself = f"signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.{number})"
    child_that(f"import os, signal; {ends_itself}")
    with pytest.raises(NoRoomError, match="ended from outside"):
        check(model)


def test_nothing_bad_is_kept_and_a_fault_of_ours_is_told_as_one(model: Path, child_that: ChildThat) -> None:
    """Its cause may have been the computer's: a sound file must never stay condemned."""
    no_report = 7 if sys.platform == "win32" else 1  # which the Task Manager gives
    faults = (f"raise SystemExit({FAULT})", f"{SOUND}; raise SystemExit({no_report})")
    for program in (CRASHES, NO_ROOM, *faults):
        child_that(program)
        with pytest.raises(EngineBug if program in faults else SetupError):
            check(model)
    child_that(SOUND)
    check(model)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a terminal's Ctrl-C reaches a process group here")
def test_ctrl_c_at_a_terminal_during_the_trial_only_stops(model: Path, private_home: Path) -> None:
    """The signal goes to all processes of the terminal, as a shell sends it."""
    command, pipe = [sys.executable, str(MAIN), "models", "check", str(model)], subprocess.PIPE
    child = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    assert child.stdout
    child.stdout.readline()
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode in (0, 1), err
    check(model)


def test_a_trial_can_be_stopped(model: Path, child_that: ChildThat) -> None:
    child_that("import time; time.sleep(60)")
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        checked_model(read_model_file(model), cancel)


def test_a_model_whose_context_is_too_small_is_refused(tmp_path: Path) -> None:
    table, path = byte_level_bpe(HEADER_TOKENS), tmp_path / "tiny.gguf"
    write_random_model(path, table, HEADERS, Shape(context=300))
    error = refused(lambda: try_model(path), "its context of 300 tokens is too small")
    assert str(error.hint) == "Choose another model."


def test_a_tokenizer_that_does_not_suit_its_vocabulary_is_found_by_the_trial(tmp_path: Path) -> None:
    """This one writes -1 for what it has no token for: here for all that is not ASCII."""
    table = TokenTable("rwkv", "default")
    for code in range(128):
        table.add(f"\\x{code:02x}")
    for name in ("<s>", "</s>"):
        table.add(name, CONTROL)
    path = write_random_model(tmp_path / "rwkv.gguf", table, HEADERS)
    refused(lambda: try_model(path), r"does not suit .* gives the token -1, but there are 130 tokens")


def test_a_setting_in_a_remedy_comes_back_from_the_child(model: Path, child_that: ChildThat) -> None:
    hint = Hint("Use a smaller ", Setting.CONTEXT, ", or close other programs.")
    report = json.dumps({"problem": "no room", "remedy": hint.as_json()})
    child_that(f"print({report!r}); raise SystemExit(4)")
    with pytest.raises(NoRoomError, match="no room") as caught:
        check(model)
    assert caught.value.hint == hint


def test_the_report_names_the_problem(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    code, report = trial_report(path)
    assert (code, "cannot load" in json.loads(report)["problem"]) == (2, True)


@pytest.mark.parametrize("spoilt", ["", "models.sqlite"], ids=["a file for the folder", "no database"])
def test_a_cache_that_cannot_be_used_only_costs_time(model: Path, child_that: ChildThat, spoilt: str) -> None:
    child_that(SOUND)
    path = cache_folder() / spoilt
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("no database " * 100, encoding="utf-8")
    check(model)


def test_a_verdict_belongs_to_a_build_of_llama_cpp(known: Path, child_that: ChildThat) -> None:
    check(known)
    with closing(sqlite3.connect(cache_folder() / "models.sqlite")) as db, db:
        db.execute("UPDATE good SET build = 'an older one'")
    child_that(CRASHES)
    with pytest.raises(ModelFileError, match="crashes"):
        check(known)
