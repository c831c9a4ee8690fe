"""A window is not tried where Qt would end the process."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from gui import screen
from tests.commands import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux may lack a display")


LACKING = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM", "MAKEFLAGS", "MAKELEVEL")


def run(*command: str, **display: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in LACKING}
    environment = {**kept, **display}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_a_display_is_looked_for_a_chosen_platform_left_to_qt(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in LACKING:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SetupError, match="no display") as caught:
        screen.check()
    assert str(caught.value.hint) == "Open it on a computer with a screen, or over ssh -X."
    monkeypatch.setenv("DISPLAY", ":4711")  # which does not answer
    with pytest.raises(SetupError, match=":4711"):
        screen.check()
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    screen.check()


def test_the_program_says_so_and_how_to_judge_without_instead_of_ending_in_qt() -> None:
    done = run(sys.executable, str(ROOT / "main.py"))
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


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_the_first_command_opens_the_window_or_judges_the_demo_and_says_why(environment: Path) -> None:
    done = run("make", "--no-print-directory", "run", f"VENV={environment}")
    assert done.returncode == 0
    assert done.stderr == (
        "There is no display here to open the window on.\n"
        "Open it on a computer with a screen, or over ssh -X.\n"
        "So the demo dataset is judged here in the terminal, as make judge does.\n"
    )
    judge = "python main.py judge examples/demo.tsv --model demo --out submission.tsv"
    assert done.stdout.splitlines()[-1] == judge
    done = run("make", "--no-print-directory", "run", f"VENV={environment}", QT_QPA_PLATFORM="offscreen")
    assert (done.returncode, done.stdout, done.stderr) == (0, "python main.py\n", "")
