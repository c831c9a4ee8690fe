"""All keys of the window, page by page.

Knows: how a list of keys looks. Does not know: what the keys do.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from gui.kit.labels import heading, label

Keys = Sequence[tuple[str, str]]


class KeysDialog(QDialog):
    """Two columns: the key, and what it does."""

    def __init__(self, keys: Mapping[str, Keys], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys")
        content = QWidget()
        content.setProperty("role", "content")
        grid = QGridLayout(content)
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(24)
        for place, entries in keys.items():
            if not entries:
                continue
            grid.addWidget(heading(place), grid.rowCount(), 0, 1, 2)
            for key, what in entries:
                row = grid.rowCount()
                grid.addWidget(label(key, wrap=False), row, 0)
                grid.addWidget(label(what, "hint"), row, 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(content)
        area.setAccessibleName("All keys")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(area)
        layout.addWidget(buttons)
        wanted = QSize(self.fontMetrics().averageCharWidth() * 72, self.fontMetrics().height() * 34)
        self.resize(wanted.boundedTo(self.screen().availableSize() * 0.9))
