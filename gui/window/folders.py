"""Folders shown in the system's own program for files.

Knows: how Qt asks the system for it. Does not know: what is in them.
"""

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from engine.system.files import make_folder
from engine.system.paths import environment_of_the_system


def show_folder(path: Path) -> bool:
    """Show a folder, made where there is none; False where the system knows no program for it.

    Raises SetupError where it cannot be made.
    """
    make_folder(path)
    with environment_of_the_system():
        return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
