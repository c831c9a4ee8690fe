"""“New dataset from prompts”: two models respond, and their files go on to the pairs."""

import json
import shutil
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from engine.system.paths import demo_model
from gui.judge.prompts_dialog import PromptsDialog
from gui.workspace.workspace import Workspace
from tests.gui.steps import shown


def test_prompts_become_files_for_pairs(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.json"
    prompts.write_text(json.dumps([{"id": "1", "instruction": "Name a fruit."}]), "utf-8")
    window = shown(qtbot, QWidget())  # kept: Python would collect it, and Qt the dialog with it
    dialog = PromptsDialog(workspace, window)
    with qtbot.waitExposed(dialog):
        dialog.show()
    dialog.prompts.set_path(prompts)
    dialog.prompts.changed.emit()
    assert not dialog.act_button.isEnabled()  # no model is ticked
    for name in ("one", "two"):
        dialog._add(Path(shutil.copy(demo_model(), tmp_path / f"{name}.gguf")), name, ticked=True)
    dialog.max_tokens.setValue(6)
    QTest.mouseClick(dialog.act_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.use_button.isVisible)
    assert dialog.folder == tmp_path / "prompts-responses"
    with qtbot.waitSignal(dialog.made) as made:
        QTest.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    assert [path.name for path in made.args[0]] == ["one.jsonl", "two.jsonl"]
    assert all(path.stat().st_size for path in made.args[0])
