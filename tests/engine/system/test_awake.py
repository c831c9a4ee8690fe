"""The computer kept awake: by a real child program that ends with us, and never on a battery by default."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.system import computer
from engine.system.computer import Awake, KeepAwake, can_stay_awake, program_for
from tests.inhibitors import asked, inhibitor, runs, until

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a program of Linux")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def inhibit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A systemd-inhibit on PATH; the file in which it notes what it was asked."""
    with inhibitor(tmp_path) as told:
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
        yield told


def keeps(kept: Awake) -> bool:
    """Whether the computer is kept awake now."""
    return kept.active


@needs_linux
def test_the_program_runs_until_the_end_of_the_block(inhibit: Path) -> None:
    with Awake(KeepAwake.YES) as kept:
        assert not keeps(kept)
        kept.refresh()
        kept.refresh()
        until(lambda: asked(inhibit))
        (process,) = asked(inhibit)
        assert keeps(kept)
        assert runs(process)
    assert not keeps(kept)
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
def test_it_is_released_when_what_is_done_fails(inhibit: Path) -> None:
    def fail() -> None:
        with Awake(KeepAwake.YES) as kept:
            kept.refresh()
            until(lambda: asked(inhibit))
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert not runs(asked(inhibit)[0])


@needs_linux
def test_on_a_battery_it_is_let_sleep_unless_that_is_not_wanted(
    inhibit: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(computer, "_AWAKE_SECONDS_BETWEEN", 0.0)
    plugged = [True]
    with Awake(KeepAwake.MAINS, lambda: plugged[0]) as kept:
        kept.refresh()
        until(lambda: asked(inhibit))
        plugged[0] = False
        kept.refresh()
        assert not keeps(kept)
        plugged[0] = True
        kept.refresh()
        until(lambda: len(asked(inhibit)) == 2)
        assert keeps(kept)
    with Awake(KeepAwake.YES, lambda: False) as kept:
        kept.refresh()
        assert keeps(kept)
    with Awake(KeepAwake.NO, lambda: True) as kept:
        kept.refresh()
        assert not keeps(kept)


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


def test_each_system_has_its_own_program() -> None:
    def only(*names: str) -> Callable[[str], str | None]:
        return lambda name: f"/bin/{name}" if name in names else None

    assert program_for("darwin", 42, only("caffeinate")) == ["/bin/caffeinate", "-i", "-w", "42"]
    assert program_for("darwin", 42, only("cat")) is None
    both = program_for("linux", 42, only("systemd-inhibit", "gnome-session-inhibit", "cat"))
    assert both is not None
    assert (both[0], both[-1]) == ("/bin/systemd-inhibit", "cat")
    gnome = program_for("linux", 42, only("gnome-session-inhibit", "cat"))
    assert gnome is not None
    assert (gnome[0], gnome[-1]) == ("/bin/gnome-session-inhibit", "cat")
    assert program_for("linux", 42, only("cat")) is None
    assert program_for("freebsd14", 42, only("cat", "systemd-inhibit")) is None
    assert can_stay_awake("win32")
