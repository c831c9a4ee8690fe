"""What this computer tells of itself, and what becomes of a hint that it does not give."""

import linecache
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from engine.core.events import CancelToken
from engine.llama.context import ThreadCount
from engine.models.memory import check_memory
from engine.models.model_file import read_model_file
from engine.system import computer
from engine.system.computer import MOST_FILES, Awake, KeepAwake, can_stay_awake, keep_few_sources, program_for
from engine.system.files import free_room
from engine.system.paths import demo_model
from engine.system.sandbox import SandboxedReader
from engine.system.subprocess_worker import run_child
from tests import gate_works as works
from tests.commands import ROOT, said_by
from tests.full_disk import disk_that_holds
from tests.inhibitors import asked, inhibitor, runs, until
from tests.steps import refused


@pytest.fixture(params=["absent", "empty"])
def silent(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that tells nothing: of its table of processes and processors nothing is there, or nothing is
    in it.
    """
    if not sys.platform.startswith("linux"):
        pytest.skip("where psutil reads files")
    if request.param == "empty":
        own = str(os.getpid())
        (tmp_path / own).mkdir()
        for name in ("stat", "meminfo", "cpuinfo", f"{own}/stat", f"{own}/statm"):
            (tmp_path / name).touch()
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(tmp_path))


@pytest.mark.usefixtures("silent")
def test_what_the_system_does_not_tell_is_not_known_without_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    assert computer.default_threads() >= 1
    assert math.isnan(computer.idle_seconds())
    threads = ThreadCount(4)
    for _ in range(8):
        threads.saw(1.0, 0.5)
    assert threads.count == 4  # a session that may choose keeps its threads
    assert computer.available_memory() is None
    assert computer.on_mains() in {True, False}
    assert computer.memory_of(os.getpid()) == computer.own_memory() == 0
    assert check_memory(read_model_file(demo_model()), 256) is None
    validator = SandboxedReader()
    monkeypatch.setattr("engine.system.sandbox.the_gate", validator)
    assert works.process_of(Path("a.tsv"))[0] != os.getpid()
    validator.close()


def test_room_that_is_not_known_is_not_none(tmp_path: Path) -> None:
    assert free_room(tmp_path / "gone") is None
    assert free_room(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX limit")
def test_a_process_for_whose_question_there_is_no_room_is_named() -> None:
    given = b"x" * 100_000
    with disk_that_holds(0):
        refused(lambda: run_child([sys.executable], CancelToken(), given=given), "needs cannot be started")


LOADED = """
import linecache
from gui.app import make_application
app = make_application([])
import sklearn.metrics
kept = [entry for entry in linecache.cache.values() if len(entry) == 4]
print(len(linecache.cache), sum(len(entry[2]) for entry in kept))
"""


def test_few_files_are_kept_and_all_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linecache, "cache", {})
    keep_few_sources()
    for number in range(100):
        path = tmp_path / f"{number}.py"
        path.write_text(f"number = {number}\n", encoding="utf-8")
        assert linecache.getline(str(path), 1) == f"number = {number}\n"
    assert len(linecache.cache) == MOST_FILES
    assert linecache.getline(str(tmp_path / "0.py"), 1) == "number = 0\n"


@pytest.mark.slow
def test_the_window_keeps_no_lines_of_the_libraries_that_it_imports() -> None:
    files, lines = map(int, said_by(LOADED, QT_QPA_PLATFORM="offscreen").split()[-2:])
    assert files <= MOST_FILES
    assert lines < 100_000


needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program of Linux")


@pytest.fixture
def inhibit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A systemd-inhibit on PATH; the file in which it notes what it was asked."""
    with inhibitor(tmp_path) as told:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
        yield told


def begin(kept: Awake, inhibit: Path, times: int = 1) -> int:
    """Keep the computer awake, as it is asked the first or a later time; the process that does."""
    kept.refresh()
    until(lambda: len(asked(inhibit)) == times)
    return asked(inhibit)[-1]


@needs_linux
def test_the_program_runs_until_the_end_of_the_block_also_where_that_fails(inhibit: Path) -> None:
    def fail() -> None:
        with Awake(KeepAwake.YES) as kept:
            before, process = kept.active, begin(kept, inhibit)
            kept.refresh()
            assert (before, kept.active, runs(process)) == (False, True, True)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    (process,) = asked(inhibit)
    assert not runs(process)
    assert "--what=idle:sleep --who=Tiebreak" in inhibit.read_text("utf-8")


@needs_linux
def test_the_program_ends_with_us_also_where_we_are_killed(inhibit: Path) -> None:
    code = (
        "import time; from engine.system.computer import *; kept = Awake(KeepAwake.YES); kept.refresh();"
        " print(1, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as child:
        until(lambda: asked(inhibit))
        (process,) = asked(inhibit)
        assert runs(process)
        child.kill()
    until(lambda: not runs(process))


@needs_linux
def test_on_a_battery_it_is_let_sleep_unless_that_is_not_wanted(
    inhibit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computer, "_AWAKE_SECONDS_BETWEEN", 0.0)
    plugged = [True]
    with Awake(KeepAwake.MAINS, lambda: plugged[0]) as kept:
        begin(kept, inhibit)
        plugged[0] = False
        kept.refresh()
        plugged[0], on_battery = True, kept.active
        begin(kept, inhibit, times=2)
        assert (on_battery, kept.active) == (False, True)
    for when, mains in ((KeepAwake.YES, False), (KeepAwake.NO, True)):
        with Awake(when, partial(bool, mains)) as kept:
            kept.refresh()
            assert kept.active is (when is KeepAwake.YES)


@needs_linux
def test_a_program_that_is_not_allowed_to_is_no_error(inhibit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = inhibit.parent / "bin" / "systemd-inhibit"
    program.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    with Awake(KeepAwake.YES) as kept:
        kept.refresh()
        until(lambda: not kept.active)


def test_without_any_program_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with Awake(KeepAwake.YES) as kept:
        kept.refresh()
        assert kept.active is (sys.platform == "win32")
    assert can_stay_awake() is (sys.platform == "win32")


@pytest.mark.parametrize(
    ("system", "there", "begins", "ends"),
    [
        ("darwin", "caffeinate", "caffeinate", "42"),
        ("darwin", "cat", "", ""),
        ("linux", "systemd-inhibit gnome-session-inhibit cat", "systemd-inhibit", "cat"),
        ("linux", "gnome-session-inhibit cat", "gnome-session-inhibit", "cat"),
        ("linux", "cat", "", ""),
        ("freebsd14", "cat systemd-inhibit", "", ""),
    ],
)
def test_each_system_has_its_own_program(system: str, there: str, begins: str, ends: str) -> None:
    command = program_for(system, 42, lambda name: name if name in there.split() else None)
    assert (command or ["", ""])[:: len(command or "ab") - 1] == [begins, ends]
    assert can_stay_awake("win32")
