"""Diagnostics come to the clipboard, and the window's own facts are in them."""

from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gui.window.diagnostics import DiagnosticsCopier
from gui.work.state import BLIND
from gui.work.workspace import Workspace


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
