"""What the window leaves in the user's folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT

DIALOG = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog
from gui.app import make_application

app = make_application([])
dialog = QFileDialog()
dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
QTimer.singleShot(100, dialog.accept)
dialog.setFileMode(QFileDialog.FileMode.Directory)
dialog.exec()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's own dialogs are used")
def test_what_qts_file_dialog_remembers_is_in_a_folder_of_ours(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "TIEBREAK_"))}
    environment = {**kept, "HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    subprocess.run([sys.executable, "-c", DIALOG], cwd=ROOT, env=environment, check=True)
    written = [path for path in tmp_path.rglob("*") if path.is_file() and "fontconfig" not in path.parts]
    assert written == [tmp_path / ".local" / "share" / "Tiebreak" / "QtProject.conf"]
