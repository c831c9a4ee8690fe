"""Diagnostics come to the clipboard, and the window's own facts are in them."""

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gui.window.dialogs import DiagnosticsCopier
from gui.workspace.state import BLIND
from gui.workspace.workspace import Workspace
from tests.commands import ROOT


def test_the_diagnostics_are_copied_with_the_screen_and_changed_settings(
    qtbot: QtBot, workspace: Workspace
) -> None:
    workspace.state.set_text("theme", "Grandma")
    workspace.state.set_text(BLIND, "on")
    workspace.state.set_number("text_size", 150)
    workspace.set_author("Grandma")
    copier = DiagnosticsCopier(workspace)
    with qtbot.waitSignals([workspace.note, workspace.note]):
        copier.copy()
    text = QGuiApplication.clipboard().text()
    assert "on offscreen, style" in text
    assert "  text size: 150 %\n  blind: on\n" in text
    assert "theme" not in text
    assert "Grandma" not in text


_TELLING = """
from pathlib import Path
from engine.core.events import CancelToken
from gui.window.submission_jobs import tell
from gui.workspace.threads import JobControl
told = tell([("screen", "small")], [], Path("none.sqlite"))(JobControl(CancelToken(), print))
print(told)
"""


def test_they_are_told_where_llama_cpp_cannot_be_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a process of its own: this one may have loaded it already.
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", _TELLING], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    assert "  llama.cpp: llama.cpp cannot be loaded: FileNotFoundError\n" in done.stdout
    assert "  screen: small\n" in done.stdout
