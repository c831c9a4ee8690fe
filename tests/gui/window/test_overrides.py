"""What happens where a method that Qt calls goes wrong: an error that is told, in a process that lives on."""

import subprocess
import sys

import pytest

PROGRAM = """
import os
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from gui.window.start import guard_overrides

class Before(QWidget):
    def resizeEvent(self, event):
        [][0]

guard_overrides()

class After(QWidget):
    def resizeEvent(self, event):
        [][0]

class Heir(After):
    pass

app = QApplication([])
parent = QWidget()
layout = QVBoxLayout(parent)
layout.addWidget(MADE())
try:
    parent.show()
except IndexError as error:
    print("told:", error)
"""


@pytest.mark.parametrize("made", ["Before", "After", "Heir"])
def test_a_fault_in_a_method_that_qt_calls_leaves_the_process_alive(made: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("MADE", made)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "list index out of range" in done.stdout) == (0, True), done.stderr
