"""What the window remembers, in plain files in the user's data folder. All windows of an account write one
file of choices and layout; what this one read or wrote holds for its life. Work that the user has begun is in
a file of each window: two cannot overwrite each other, and the next one takes over what one leaves.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal

from engine.core.codec import LARGEST, plain_values
from engine.core.errors import SetupError
from engine.system.files import Claim, claimed, left_by_the_dead, make_folder, sync_folder, write_whole
from engine.system.paths import data_folder, shown
from gui.widgets.actions import timer
from gui.widgets.files import folder_for_new_files


class PageName(StrEnum):
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
ANSWERS = "review/answers"
"""`on` where who labels blind is shown the other labels after each of their own, in training."""
HIDDEN_SHARE = "review/hidden share"
"""The percentage of a run's items, drawn by its seed, whose labels annotators see after their own."""
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
        self._looking = timer(self, _LOOK_MS, self.save)

    @property
    def path(self) -> Path:
        return Path(self._settings.fileName())

    def save(self) -> None:
        # Qt is silent where that did not work
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
        value = self._held.get(name)
        return value if isinstance(value, str) else default

    def set_text(self, name: str, value: str) -> None:
        self._set(name, value)

    def number(self, name: str, default: int, most: int = LARGEST) -> int:
        try:
            number = int(self.text(name, str(default)))
        except ValueError:
            return default
        return number if abs(number) <= most else default

    def set_number(self, name: str, value: int) -> None:
        self._set(name, str(value))

    def record(self, name: str) -> dict[str, Any]:
        value = _plain(self.text(name))
        return value if isinstance(value, dict) else {}

    def record_of_all(self, name: str) -> dict[str, Any]:
        self._settings.sync()  # Qt would read what other processes wrote at its next writing
        value = _plain(self._settings.value(name))
        return value if isinstance(value, dict) else {}

    def set_record(self, name: str, values: Mapping[str, Any], own: Mapping[str, Any] | None = None) -> None:
        """Remember plain values; `own`: what this window has of them, where others have added to them."""
        self._set(name, json.dumps(values))
        if own is not None:
            self._held[name] = json.dumps(own)

    def forget(self, name: str) -> None:
        self._held.pop(name, None)
        if self._settings.contains(name):
            self._settings.remove(name)
            self.save()

    def layout(self, name: str) -> QByteArray:
        value = self._held.get(f"layout/{name}")
        return value if isinstance(value, QByteArray) else QByteArray()

    def set_layout(self, name: str, value: QByteArray) -> None:
        self._set(f"layout/{name}", value)

    def recent(self, kind: str) -> list[Path]:
        self._settings.sync()
        names = _plain(self._settings.value(f"recent/{kind}"))
        return [Path(name) for name in names if isinstance(name, str)] if isinstance(names, list) else []

    def recent_folder(self, kind: str) -> Path | None:
        return next((path.parent for path in self.recent(kind)), None)

    def add_recent(self, kind: str, path: Path) -> None:
        path = path.absolute()
        others = [known for known in self.recent(kind) if known != path]
        self._write_recent(kind, [path, *others][:MOST_RECENT])

    def remove_recent(self, kind: str, path: Path) -> None:
        self._write_recent(kind, [known for known in self.recent(kind) if known != path])

    def clear_recent(self, kind: str) -> None:
        self._write_recent(kind, [])

    def export_folder(self, otherwise: Path | None = None) -> Path:
        last = self.text(_EXPORTED)
        return folder_for_new_files(*filter(None, (Path(last) if last else None, otherwise)))

    def keep_export_folder(self, folder: Path) -> None:
        self.set_text(_EXPORTED, str(folder))

    def forget_all_but(self, *names: str) -> None:
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
    try:
        return plain_values(value, most=MOST_OF_QT) if isinstance(value, str) else None
    except ValueError:
        return None


_BEFORE, _AFTER = "begun-", ".json"
_LARGEST = 1 << 26  # bytes of a file; 500 long runs take one in sixty
_IN_STATE = {"queue": "entries", "unfinished": "runs"}
"""Where earlier versions kept these, in the memory of the window: the name, and that of the list in it."""


class BegunWork:
    """Lists of plain values by name; what is damaged counts as not begun. Read when it is first asked for."""

    def __init__(self, state: State) -> None:
        self._state, self._folder = state, state.path.parent
        self._lists: dict[str, list[Any]] | None = None
        self._claim: Claim | None = None
        self._taken: list[Claim] = []  # of others, removed as soon as this window's own file has it all

    def entries(self, name: str) -> Sequence[Any]:
        return tuple(self._kept.get(name, ()))

    def keep(self, name: str, entries: Sequence[Any]) -> None:
        """Keep these, on the disk when this returns. SetupError: then those of before are kept."""
        before = self._kept.get(name, [])
        self._kept[name] = list(entries)
        try:
            self._write()
        except SetupError:
            self._kept[name] = before
            raise

    def close(self) -> None:
        for claim in (*self._taken, *([self._claim] if self._claim else [])):
            claim.close()
        self._taken, self._claim, self._lists = [], None, None

    @property
    def _kept(self) -> dict[str, list[Any]]:
        if self._lists is None:
            # Have what windows that are gone have left, and what an earlier version has.
            self._lists = {}
            old = {name: self._state.record(name).get(part) for name, part in _IN_STATE.items()}
            self._join(old)
            for claim in left_by_the_dead(self._folder, _BEFORE, _AFTER):
                with suppress(OSError, ValueError):
                    if claim.path.stat().st_size <= _LARGEST:
                        self._join(plain_values(claim.path.read_bytes()))
                self._taken.append(claim)
            if any(old.values()) or self._taken:
                with suppress(SetupError):  # told as soon as something is begun
                    self._write()
        return self._lists

    def _join(self, others: object) -> None:
        assert self._lists is not None
        for name, entries in others.items() if isinstance(others, Mapping) else ():
            if isinstance(entries, list):
                own = self._lists.setdefault(name, [])
                own += [entry for entry in entries if entry not in own]

    def _write(self) -> None:
        kept = {name: entries for name, entries in (self._lists or {}).items() if entries}
        make_folder(self._folder)
        try:
            if self._claim is None:
                self._claim = claimed(self._folder, _BEFORE, _AFTER)
            if kept:
                write_whole(self._claim.path, json.dumps(kept).encode("utf-8"))
            else:
                self._claim.path.unlink(missing_ok=True)
            sync_folder(self._folder)
        except OSError as error:
            raise SetupError(
                f"The folder {self._folder} takes no file: {error.strerror or error}.",
                "Make sure that it exists and that you can write in it.",
            ) from error
        while self._taken:
            with suppress(OSError):
                self._taken.pop().remove()
        for name in _IN_STATE:
            self._state.forget(name)
