"""A file that may be chosen: its name, and buttons to choose another or none.

Knows: the file dialog. Does not know: what the file is for.
"""

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from engine.system.paths import home
from gui.kit.file_dialogs import ask_source
from gui.kit.foreign_text import OneLine, one_line, set_tip
from gui.kit.labels import name
from gui.kit.layouts import STRETCH, in_row


class FileChoice(QWidget):
    """`what` names the file in dialogs and to screen readers: `labelled examples`."""

    changed = Signal()

    def __init__(self, what: str, kinds: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what, self._kinds = what, kinds
        self._path: Path | None = None
        self._shown = OneLine(role="")
        self._choose = QPushButton("Choose…")
        name(self._choose, f"Choose a file of {what}")
        self._choose.clicked.connect(self._ask)
        self._clear = QPushButton("Remove")
        name(self._clear, f"Use no {what}")
        self._clear.clicked.connect(lambda: self._take(None))
        in_row((self._shown, STRETCH), self._choose, self._clear, on=self)
        self.set_path(None)

    @property
    def what(self) -> str:
        """What the file is for."""
        return self._what

    @property
    def path(self) -> Path | None:
        """The chosen file, None for none."""
        return self._path

    def set_path(self, path: Path | None) -> None:
        """Show a file as chosen."""
        self._path = path
        self._shown.setText(one_line(path.name) if path else "None")
        set_tip(self._shown, str(path) if path else "")
        self._clear.setVisible(path is not None)
        self.setAccessibleName(f"{self._what}: {self._shown.text()}")

    def _take(self, path: Path | None) -> None:
        self.set_path(path)
        self.changed.emit()

    def _ask(self) -> None:
        start = self._path.parent if self._path else home()
        chosen = ask_source(self, f"Choose a file of {self._what}", start, self._kinds)
        if chosen is not None:
            self._take(chosen)
