"""What this computer tells of itself, and what becomes of a hint that it does not give."""

import math
import os
import sys
from pathlib import Path

import psutil
import pytest

from engine.core.errors import SetupError
from engine.core.events import CancelToken
from engine.llama.context import ThreadCount
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.system import computer
from engine.system.files import free_room
from engine.system.paths import demo_model
from engine.system.sandbox import SandboxedReader
from engine.system.subprocess_worker import run_child
from tests import gate_works as works
from tests.full_disk import disk_that_holds


@pytest.fixture(params=["absent", "empty"])
def silent(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that tells nothing: of its table of processes and processors nothing is there, or nothing is
    in it.
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("where psutil reads files")
    if request.param == "empty":
        own = tmp_path / str(os.getpid())
        own.mkdir()
        for path in [
            *(tmp_path / name for name in ("stat", "meminfo", "cpuinfo")),
            own / "stat",
            own / "statm",
        ]:
            path.touch()
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))


@pytest.mark.usefixtures("silent")
def test_what_the_system_does_not_tell_is_not_known_and_nothing_comes_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert computer.default_threads() >= 1
    assert math.isnan(computer.idle_seconds())
    assert computer.available_memory() is None
    assert computer.on_mains() in {True, False}
    assert computer.memory_of(os.getpid()) == computer.own_memory() == 0
    assert check_memory(read_model_file(demo_model()), 256) is None
    validator = SandboxedReader()
    monkeypatch.setattr("engine.system.sandbox.the_gate", validator)
    assert works.process_of(Path("a.tsv"))[0] != os.getpid()
    validator.close()


@pytest.mark.usefixtures("silent")
def test_a_session_that_may_choose_keeps_its_threads_where_idle_time_is_not_known() -> None:
    threads = ThreadCount(4)
    for _ in range(8):
        threads.saw(1.0, 0.5)
    assert threads.count == 4


def test_room_that_is_not_known_is_not_none(tmp_path: Path) -> None:
    assert free_room(tmp_path / "gone") is None
    assert free_room(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX limit")
def test_a_process_for_whose_question_there_is_no_room_is_named() -> None:
    with disk_that_holds(0), pytest.raises(SetupError, match="needs cannot be started"):
        run_child([sys.executable, "-c", ""], CancelToken(), given=b"x" * 100_000)
