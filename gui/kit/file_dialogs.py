"""Questions for files and folders, asked in one way everywhere.

Knows: the file dialog of the system. Does not know: what files hold.
"""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

DATASETS = "Datasets (*.tsv *.csv *.json *.jsonl *.ndjson *.parquet *.gz)"
ALL_FILES = "All files (*)"


def ask_target(parent: QWidget, title: str, suggestion: Path, kind: str) -> Path | None:
    """Where to write: a file with the suffix of the suggestion; asks before it replaces one.

    `kind`: what such files are, `Submissions (*.tsv)`. None where nothing was chosen.
    """
    dialog = QFileDialog(parent, title, str(suggestion.parent), kind)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    # Here, not afterwards: the dialog then asks for the name that is really written.
    dialog.setDefaultSuffix(suggestion.suffix.lstrip("."))
    dialog.selectFile(suggestion.name)
    chosen = dialog.selectedFiles()[0] if dialog.exec() else ""
    dialog.deleteLater()
    return Path(chosen) if chosen else None


def ask_source(parent: QWidget, title: str, folder: Path, kind: str) -> Path | None:
    """What to read; None where nothing was chosen."""
    chosen, _ = QFileDialog.getOpenFileName(parent, title, str(folder), f"{kind};;{ALL_FILES}")
    return Path(chosen) if chosen else None


def ask_folder(parent: QWidget, title: str, folder: Path) -> Path | None:
    """A folder to write into; None where nothing was chosen."""
    chosen = QFileDialog.getExistingDirectory(parent, title, str(folder))
    return Path(chosen) if chosen else None
