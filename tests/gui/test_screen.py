"""A window is not tried where Qt would end the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from gui import screen

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux may lack a display")


def test_no_display_is_said_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SetupError, match="no display") as caught:
        screen.check()
    assert str(caught.value.remedy) == "Open it on a computer with a screen, or over ssh -X."


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
    root = Path(__file__).resolve().parent.parent.parent
    done = subprocess.run(
        [sys.executable, str(root / "main.py")], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "There is no display here to open the window on.\n"
        "Open it on a computer with a screen, or over ssh -X."
        " To judge without a window: python main.py judge --help\n"
    )
