"""What the program is, its version, and what it is made with.

Knows: words about the program. Does not know: anything else.
"""

from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from engine.core import VERSION
from engine.system.paths import third_party_licences
from gui.kit.labels import hint, label, title

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
        layout = QVBoxLayout(self)
        layout.setSpacing(10)
        layout.addWidget(title(f"Tiebreak {VERSION}"))
        layout.addWidget(
            label(
                "Judges pairs of LLM responses with a local GGUF model, and shows how far its judgments can"
                " be trusted. No part of it uses the network: no telemetry, no update check, no download."
            )
        )
        layout.addWidget(hint(f"Qt {qVersion()}, {', '.join(package_versions())}"))
        layout.addWidget(hint("Licence: MIT."))
        if licences := third_party_licences():
            layout.addWidget(hint(f"Licences of its parts: {licences}"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout.addWidget(buttons)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 64)
