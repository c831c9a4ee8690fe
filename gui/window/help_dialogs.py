"""What the menu Help says of the program: all its keys, its version and parts.

Knows: words about the program, how a list of keys looks. Does not know: what the keys do.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QScrollArea, QWidget

from engine.core import VERSION
from engine.system.paths import third_party_licences
from gui.kit.labels import heading, hint, label, title
from gui.kit.layouts import in_column, make_room

PACKAGES = (
    "llama-cpp-python",
    "PySide6-Essentials",
    "pandas",
    "pyarrow",
    "numpy",
    "scikit-learn",
    "matplotlib",
    "rouge-score",
)
Keys = Sequence[tuple[str, str]]


def package_versions() -> list[str]:
    """The packages that do the work, with their versions."""
    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:  # a bundle may come without the records of its packages
            found.append(package)
    return found


class AboutDialog(QDialog):
    """Name, purpose, versions, licence."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Tiebreak")
        layout = in_column(
            title(f"Tiebreak {VERSION}"),
            label(
                "Judges pairs of LLM responses with a local GGUF model, and shows how far its judgments can"
                " be trusted. No part of it uses the network: no telemetry, no update check, no download."
            ),
            hint(f"Qt {qVersion()}, {', '.join(package_versions())}"),
            hint("Licence: MIT."),
            on=self,
            margins=None,
            spacing=10,
        )
        if licences := third_party_licences():
            layout.addWidget(hint(f"Licences of its parts: {licences}"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout.addWidget(buttons)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 64)


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
        area = QScrollArea(widgetResizable=True)
        area.setWidget(content)
        area.setAccessibleName("All keys")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column(area, buttons, on=self, margins=None)
        make_room(self, 72, 34)
