"""What the window remembers from one day to the next, in a plain file in the user's data folder.

The names of the pages, in the order of the rail.

All windows of an account write the same file. What this one read at its start or wrote since holds for its
life: who labels, blind or not, by which weights. What another one writes is what the next one starts with.
"""

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QSettings, QTimer, Signal, Slot

from engine.core.codec import LARGEST, plain_values
from engine.core.errors import SetupError
from engine.system.paths import data_folder, shown
from gui.widgets.files import folder_for_new_files


class PageName(StrEnum):
    """A page of the window."""

    DATASET = "Dataset"
    JUDGE = "Judge"
    RESULTS = "Results"
    REVIEW = "Review"
    COMPARE = "Compare"
    RANKING = "Ranking"


MOST_RECENT = 12
AUTHOR = "author"
"""Who labels."""
MOST_OF_QT = 2**31 - 1
"""The largest whole number that Qt takes for a place or a size."""
BLIND = "review/blind"
"""`on` while the user labels blind."""
NEXT_CRITERION = "review/next criterion"
"""`on` where a label takes the cursor to the next criterion, `items` where then to the next item, too."""
_FILE = "window.ini"
_LOOK_MS = 500  # after a change, until the file is written; Qt would do it about then, too
_EXPORTED = "last/export"  # the folder


class State(QObject):
    """The remembered things, as this window has them; what is damaged counts as not remembered."""

    recent_changed = Signal()
    trouble = Signal(object)  # a SetupError: the disk does not take the file; once, until it does again

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        path = (folder or data_folder()) / _FILE
        self._settings = QSettings(str(path), QSettings.Format.IniFormat)
        self._held: dict[str, object] = {key: self._settings.value(key) for key in self._settings.allKeys()}
        self._told = False
        self._looking = QTimer(self, singleShot=True, interval=_LOOK_MS)
        self._looking.timeout.connect(self.save)

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self._settings.fileName())

    @Slot()
    def save(self) -> None:
        """Write the file now, and see whether that worked: Qt is silent where it did not."""
        self._looking.stop()
        self._settings.sync()
        failed = self._settings.status() == QSettings.Status.AccessError
        told, self._told = self._told, failed
        if failed and not told:
            self.trouble.emit(
                SetupError(
                    f"The window's state (layout, recent files and choices) cannot"
                    f" be written to {shown(self.path)}: the disk is full or read-only.",
                    "Free some space, or make the folder writable. Labels, drafts and"
                    " the queue are in files of their own.",
                )
            )

    def text(self, name: str, default: str = "") -> str:
        """A remembered text."""
        value = self._held.get(name)
        return value if isinstance(value, str) else default

    def set_text(self, name: str, value: str) -> None:
        """Remember a text."""
        self._set(name, value)

    def number(self, name: str, default: int, most: int = LARGEST) -> int:
        """A remembered whole number; one beyond `most` is damaged."""
        try:
            number = int(self.text(name, str(default)))
        except ValueError:
            return default
        return number if abs(number) <= most else default

    def set_number(self, name: str, value: int) -> None:
        """Remember a whole number."""
        self._set(name, str(value))

    def record(self, name: str) -> dict[str, Any]:
        """Remembered plain values; empty where there are none."""
        value = _plain(self.text(name))
        return value if isinstance(value, dict) else {}

    def record_of_all(self, name: str) -> dict[str, Any]:
        """The same as the windows have it together by now: for what each of them adds to."""
        self._settings.sync()  # Qt would read what other processes wrote at its next writing
        value = _plain(self._settings.value(name))
        return value if isinstance(value, dict) else {}

    def set_record(self, name: str, values: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> None:
        """Remember plain values; `own`: what this window has of them, where others have added to them."""
        self._set(name, json.dumps(values))
        if own is not None:
            self._held[name] = json.dumps(own)

    def forget(self, name: str) -> None:
        """Remember a thing no more."""
        self._held.pop(name, None)
        if self._settings.contains(name):
            self._settings.remove(name)
            self.save()

    def layout(self, name: str) -> QByteArray:
        """The remembered layout of a window, splitter or header; empty where there is none."""
        value = self._held.get(f"layout/{name}")
        return value if isinstance(value, QByteArray) else QByteArray()

    def set_layout(self, name: str, value: QByteArray) -> None:
        """Remember a layout."""
        self._set(f"layout/{name}", value)

    def recent(self, kind: str) -> list[Path]:
        """The files of a kind (`datasets`, `models`) that were opened last, the newest first."""
        self._settings.sync()
        names = _plain(self._settings.value(f"recent/{kind}"))
        return [Path(name) for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def add_recent(self, kind: str, path: Path) -> None:
        """Remember a file as the one opened last."""
        path = path.absolute()
        others = [known for known in self.recent(kind) if known != path]
        self._write_recent(kind, [path, *others][:MOST_RECENT])

    def remove_recent(self, kind: str, path: Path) -> None:
        """Forget a file."""
        self._write_recent(kind, [known for known in self.recent(kind) if known != path])

    def clear_recent(self, kind: str) -> None:
        """Forget all files of a kind."""
        self._write_recent(kind, [])

    def export_folder(self, otherwise: Path | None = None) -> Path:
        """Where to offer to write a file: where one was written last, else here."""
        last = self.text(_EXPORTED)
        return folder_for_new_files(*filter(None, (Path(last) if last else None, otherwise)))

    def keep_export_folder(self, folder: Path) -> None:
        """Offer this folder the next time."""
        self.set_text(_EXPORTED, str(folder))

    def forget_all_but(self, *names: str) -> None:
        """Back to how it was at first; what `names` name is kept."""
        kept = {name: self._settings.value(name) for name in names if self._settings.contains(name)}
        self._held = {name: value for name, value in self._held.items() if name in names}
        self._settings.clear()
        for name, value in kept.items():
            self._settings.setValue(name, value)
        self.save()
        self.recent_changed.emit()

    def _set(self, name: str, value: object) -> None:
        self._held[name] = value
        self._settings.setValue(name, value)
        if not self._looking.isActive():
            self._looking.start()

    def _write_recent(self, kind: str, paths: list[Path]) -> None:
        self._set(f"recent/{kind}", json.dumps([str(path) for path in paths]))
        self.recent_changed.emit()


def _plain(value: object) -> Any:
    """Plain values out of what is kept; None where nothing is, or no such ones as are kept here."""
    try:
        return plain_values(value, most=MOST_OF_QT) if isinstance(value, str) else None
    except ValueError:
        return None
