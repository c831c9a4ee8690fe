"""The application as it is started: what it says of a window that a fault ended."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import faulthandler, sys
from PySide6.QtCore import QTimer
from gui import app
fill = app.fill
def filled(window):
    made = fill(window)
    QTimer.singleShot(0, lambda: (print(made.notices.text), window.close()))
    return made
app.fill = FILL
sys.exit(app.open_window())
"""


def start(home: Path, fill: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TIEBREAK_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", PROGRAM.replace("FILL", fill)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_a_window_that_a_fault_ended_says_so_at_its_next_start(tmp_path: Path) -> None:
    assert start(tmp_path, "lambda window: faulthandler._read_null()").returncode not in (0, 1, 2, 3)
    again = start(tmp_path, "filled")
    assert again.returncode == 0
    assert "A bug ended Tiebreak last time." in again.stdout
    assert "tiebreak.log" in again.stdout
