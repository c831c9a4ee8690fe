"""“New dataset from prompts”: two models respond, and their files go on to the pairs."""

import json
import shutil
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from engine.system.paths import demo_model
from gui.judge.prompts_dialog import PromptsDialog
from gui.workspace.workspace import Workspace
from tests.gui.fits import wrong_with
from tests.gui.steps import shown


def test_prompts_become_files_for_pairs(qtbot: QtBot, workspace: Workspace, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts.json"
    prompts.write_text(json.dumps([{"id": "1", "instruction": "Name a fruit."}]), "utf-8")
    dialog = shown(qtbot, PromptsDialog(workspace))
    dialog.prompts.set_path(prompts)
    dialog.prompts.changed.emit()
    assert not dialog.act_button.isEnabled()  # no model is ticked
    for name in ("one", "two" * 50):  # Windows allows 259 letters, with the folders
        dialog._add(Path(shutil.copy(demo_model(), tmp_path / f"{name}.gguf")), name, ticked=True)
    for most in (40, 6):
        dialog.max_tokens.setValue(most)
        qtbot.waitUntil(lambda: dialog.sheet.section("plan") is not None)
        section = dialog.sheet.section("plan")
        assert section is not None
        (planned,) = section.tables
        assert [planned.table.rows[row][3] for row in range(2)] == [most, most]
        assert not wrong_with(dialog)
    notes = dialog.sheet.section("notes")
    assert notes is not None
    assert "Measure it on the page Judge" in "".join(label.text() for label in notes.findChildren(QLabel))
    assert not (tmp_path / "prompts-responses").exists()
    QTest.mouseClick(dialog.act_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(dialog.use_button.isVisible)
    assert dialog.folder == tmp_path / "prompts-responses"
    with qtbot.waitSignal(dialog.made) as made:
        QTest.mouseClick(dialog.use_button, Qt.MouseButton.LeftButton)
    assert [path.name[:6] for path in made.args[0]] == ["one.js", "twotwo"]
    assert all(path.stat().st_size for path in made.args[0])
