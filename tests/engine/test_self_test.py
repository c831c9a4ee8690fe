"""The self-test: it passes here, and each of its checks can fail."""

import socket
import sqlite3
import sys
import threading
from itertools import islice
from pathlib import Path

import psutil
import pytest

from engine.core.events import Cancelled, CancelToken
from engine.operations.self_test import Check, self_test
from engine.system.paths import cache_folder, data_folder, log_folder
from tests.commands import run, run_here

NAMES = (
    *("versions", "data folder", "cache folder", "log folder", "run store", "memory"),
    *("llama.cpp", "processor", "GPU", "demo model", "trial in a child process", "judging", "internet"),
)


def failed(checks: list[Check]) -> list[str]:
    assert all(bool(check.hint) is not check.passed for check in checks)
    assert all(check.found for check in checks)
    return [check.name for check in checks if not check.passed]


def test_the_command_passes_here_and_names_all_checks() -> None:
    done = run_here("selftest")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert all(line.startswith(f"passed  {name} ") for line, name in zip(lines, NAMES, strict=False))
    assert f"; SQLite {sqlite3.sqlite_version}; " in lines[0]
    assert lines[len(NAMES) :] == ["All checks passed."]


@pytest.mark.slow
def test_an_open_socket_is_seen_and_nothing_that_was_written_is_left() -> None:
    checks = []
    with socket.socket(socket.AF_INET) as listening:
        for check in self_test(CancelToken()):
            checks.append(check)
            if check.name == "judging":
                listening.bind(("127.0.0.1", 0))
                listening.listen()
                if not psutil.Process().net_connections(kind="inet"):
                    pytest.skip("this system does not list a process's sockets, as Wine does not")
    assert tuple(check.name for check in checks) == NAMES
    assert failed(checks) == ["internet"]
    assert "127.0.0.1" in checks[-1].found
    assert not list(data_folder().iterdir())
    assert not list(log_folder().iterdir())
    assert [path.name for path in cache_folder().iterdir()] == ["models.sqlite"]


def test_a_folder_that_cannot_be_written_fails_what_needs_it_and_no_more() -> None:
    data_folder().parent.mkdir()
    data_folder().write_text("a file, no folder")
    assert failed(list(islice(self_test(CancelToken()), 5))) == ["data folder", "run store"]


@pytest.mark.slow
def test_without_llama_cpp_all_else_is_tried_and_the_reason_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    done = run("selftest")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    without = [line for line in lines if "llama.cpp cannot be loaded: FileNotFoundError: " in line]
    assert len([line for line in lines if line.startswith("FAILED  ")]) == len(without) == 5
    assert without[0].startswith("FAILED  llama.cpp ")
    assert len([line for line in lines if line.startswith("passed  ")]) == len(NAMES) - 5
    assert lines[-1] == "Failed: 5."


@pytest.mark.parametrize("model", [None, b"GGUF, but no more"])
def test_a_missing_or_damaged_demo_model_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: bytes | None
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    (tmp_path / "models").mkdir()
    if model is not None:
        (tmp_path / "models" / "demo-judge.gguf").write_bytes(model)
    needs_it = ["memory", "demo model", "trial in a child process", "judging"]
    # A bundle that is none cannot start itself to look for a GPU either.
    assert failed(list(self_test(CancelToken()))) == ["memory", "GPU", *needs_it[1:]]


def test_a_stop_ends_the_trial_in_a_child_at_once() -> None:
    cancel = CancelToken()
    before = set(psutil.Process().children())
    checks = self_test(cancel)
    assert [check.name for check in islice(checks, 10)][-1] == "demo model"
    stop = threading.Timer(0.2, cancel.cancel)
    stop.start()
    with pytest.raises(Cancelled):
        next(checks)
    stop.join()
    assert set(psutil.Process().children()) <= before


def test_a_stop_ends_it() -> None:
    cancel = CancelToken()
    checks = self_test(cancel)
    next(checks)
    cancel.cancel()
    with pytest.raises(Cancelled):
        next(checks)
