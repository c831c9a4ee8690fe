"""A window is not tried where Qt would end the process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from gui import screen

ROOT = Path(__file__).resolve().parent.parent.parent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux may lack a display")


def test_no_display_is_said_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SetupError, match="no display") as caught:
        screen.check()
    assert str(caught.value.hint) == "Open it on a computer with a screen, or over ssh -X."


def test_a_display_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":4711")
    with pytest.raises(SetupError, match=":4711"):
        screen.check()


def test_a_platform_that_was_chosen_is_left_to_qt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    screen.check()


def test_the_program_says_so_and_how_to_judge_without_instead_of_ending_in_qt() -> None:
    lacking = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
    environment = {name: value for name, value in os.environ.items() if name not in lacking}
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "There is no display here to open the window on.\n"
        "Open it on a computer with a screen, or over ssh -X."
        " To judge without a window: python main.py judge --help (the demo dataset: make judge)\n"
    )


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment as make sees it, whose Python repeats what it would do with main.py."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f'#!/bin/sh\ncase "$1" in -m) exec "{sys.executable}" "$@" ;; *) echo "python $*" ;; esac\n', "utf-8"
    )
    python.chmod(0o755)
    (tmp_path / "venv" / "run-time").touch()
    return tmp_path / "venv"


def made(environment: Path, **display: str) -> subprocess.CompletedProcess[str]:
    """`make run` with no display but the named one."""
    lacking = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "MAKEFLAGS", "MAKELEVEL"}
    kept = {name: value for name, value in os.environ.items() if name not in lacking}
    return subprocess.run(
        ["make", "--no-print-directory", "run", f"VENV={environment}"],
        cwd=ROOT,
        env={**kept, **display},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_first_command_judges_the_demo_where_there_is_no_screen_and_says_why(environment: Path) -> None:
    done = made(environment)
    assert done.returncode == 0
    assert done.stderr == (
        "There is no display here to open the window on.\n"
        "Open it on a computer with a screen, or over ssh -X.\n"
        "So the demo dataset is judged here in the terminal, as make judge does.\n"
    )
    assert done.stdout.splitlines()[-1] == (
        "python main.py judge examples/demo.tsv --model demo --out submission.tsv"
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_first_command_opens_the_window_where_there_is_a_screen(environment: Path) -> None:
    done = made(environment, QT_QPA_PLATFORM="offscreen")
    assert (done.returncode, done.stdout, done.stderr) == (0, "python main.py\n", "")
