"""Files of rubrics: found, read, written and watched; when to ask before something is lost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from engine.core.errors import EngineError, SetupError
from engine.core.formatting import file_stem, short_name
from engine.core.rubric import Rubric
from engine.system.files import file_hash, make_folder
from engine.system.paths import PathKind, rubrics_folder, seen_at
from gui.widgets.files import ask_target
from gui.widgets.notice import question
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, JobControl, ThreadName, job

SUFFIX = ".toml"
_MOST_FILES = 200  # all are read whenever the list is seen


@dataclass(frozen=True)
class RubricFile:
    """A file of a rubric as it was read. `error`: why there is no rubric in it; `digest`: of its bytes."""

    path: Path
    rubric: Rubric | None
    digest: str = ""
    error: EngineError | None = None


@dataclass(frozen=True)
class RubricsFound:
    """Those that come with the program, and those in files, in the order in which they are offered."""

    shipped: tuple[Rubric, ...]
    files: tuple[RubricFile, ...]


@job
def find_rubrics(control: JobControl, others: Sequence[Path]) -> RubricsFound:
    """All rubrics: those of the program, of the user's folder, and some other files that are still there."""
    from engine.data.rubrics.files import own_rubrics, shipped_rubrics

    found = []
    for path in dict.fromkeys([*own_rubrics()[:_MOST_FILES], *others]):
        control.cancel.raise_if_requested()
        if seen_at(path) is PathKind.FILE:
            found.append(_read(path))
    return RubricsFound(shipped_rubrics(), tuple(found))


@job
def read_rubric(_control: JobControl, path: Path) -> RubricFile:
    """One file; SetupError where no rubric is in it."""
    found = _read(path)
    if found.error is not None:
        raise found.error
    return found


@job
def write_rubric(_control: JobControl, path: Path, rubric: Rubric, digest: str | None) -> RubricFile | None:
    """Write a rubric whole or not at all; None: not over a file whose bytes are not those of `digest`.

    None for `digest`: whatever is there. SetupError where it cannot be written.
    """
    from engine.data.rubrics.files import save_rubric

    if digest is not None and (there := _digest(path)) and there != digest:
        return None
    if path.parent == rubrics_folder():
        make_folder(path.parent)
    save_rubric(path, rubric)
    return RubricFile(path, rubric, _digest(path))


@job
def look_at(_control: JobControl, path: Path) -> str:
    """The digest of a file as it is now; empty where it is gone."""
    return _digest(path)


@job
def draft_of(_control: JobControl, columns: Sequence[str], name: str) -> Rubric | None:
    """A draft of the criteria that a dataset has labels on; None where it names none of its own."""
    from engine.data.rubrics.files import draft_rubric

    return draft_rubric(columns, name)


def _read(path: Path) -> RubricFile:
    from engine.data.rubrics.files import load_rubric

    digest = _digest(path)
    try:
        return RubricFile(path, load_rubric(path), digest)
    except SetupError as error:
        return RubricFile(path, None, digest, error)


def _digest(path: Path) -> str:
    try:
        return file_hash(path)
    except OSError:
        return ""


KIND = f"Rubrics (*{SUFFIX})"
_LONGEST_STEM = 60  # bytes
_NO_STEM = re.compile(r"[^\w-]+")


class RubricOnDisk(QObject):
    """One file, or none yet. After `save`, `saved` or `not_saved` follows."""

    saved = Signal(object)  # a RubricFile
    not_saved = Signal()
    failed = Signal(object)  # an EngineError; after it not_saved
    changed_outside = Signal()  # the file holds something else than was read or written here
    read_again = Signal(object)  # a RubricFile

    def __init__(self, threads: EngineThreads, file: RubricFile | None, widget: QWidget) -> None:
        """`widget`: before which questions stand."""
        super().__init__(widget)
        self._widget = widget
        self.path = file.path if file is not None else None
        self._digest = file.digest if file is not None else ""
        self._told = self._digest  # what the user knows to be in it
        self._wanted: tuple[Path, Rubric] | None = None  # that is being written
        self._writing = TaskPanel(threads, ThreadName.FILES, self, self._take_written, failed=self._fail)
        self._looking = TaskPanel(threads, ThreadName.FILES, self, self._take_look)
        self._reading = TaskPanel(threads, ThreadName.FILES, self, self._take_read, failed=self._fail)

    def drop(self) -> None:
        """Let go of what is only looked at; what is written is written to its end."""
        self._looking.drop()
        self._reading.drop()

    def save(self, rubric: Rubric) -> None:
        if self.path is None:
            self.save_as(rubric)
        else:
            self._write(self.path, rubric, self._digest)

    def save_as(self, rubric: Rubric) -> None:
        try:
            path = ask_target(self._widget, "Save rubric", self._suggestion(rubric), KIND)
        except SetupError as error:
            self._fail(error)
            return
        if path is None:
            self.not_saved.emit()
        else:
            self._write(path, rubric, None)  # whether it may be replaced was asked

    def look(self) -> None:
        if self.path is not None and not self._writing.busy:
            self._looking.start(look_at(self.path))

    @Slot()
    def read(self) -> None:
        if self.path is not None:
            self._reading.start(read_rubric(self.path))

    def _suggestion(self, rubric: Rubric) -> Path:
        if self.path is not None:
            return self.path
        folder = rubrics_folder()
        make_folder(folder)
        stem = file_stem(_NO_STEM.sub("-", rubric.name.strip()).strip("-"), _LONGEST_STEM)
        return folder / f"{stem or 'rubric'}{SUFFIX}"

    def _write(self, path: Path, rubric: Rubric, digest: str | None) -> None:
        self._wanted = path, rubric
        self._looking.drop()
        self._writing.start(write_rubric(path, rubric, digest))

    @Slot(object)
    def _take_written(self, written: RubricFile | None) -> None:
        if written is not None:
            self.path, self._digest, self._told = written.path, written.digest, written.digest
            self.saved.emit(written)
        elif self._wanted is not None and self._may_replace(self._wanted[0]):
            self._write(*self._wanted, None)
        else:
            self.not_saved.emit()

    def _may_replace(self, path: Path) -> bool:
        changed = f"{short_name(path.name)} was changed by another program."
        lost = "If you replace it, its new content is lost. Nothing is saved yet."
        box = question(self._widget, "The file was changed", changed, lost)
        box.setIcon(QMessageBox.Icon.Warning)
        replace = box.addButton("Replace it", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Do not save", QMessageBox.ButtonRole.RejectRole))
        box.exec()
        box.deleteLater()
        return box.clickedButton() is replace

    @Slot(object)
    def _take_look(self, digest: str) -> None:
        if digest not in ("", self._told):
            self._told = digest
            self.changed_outside.emit()

    @Slot(object)
    def _take_read(self, file: RubricFile) -> None:
        self._digest = self._told = file.digest
        self.read_again.emit(file)

    @Slot(object)
    def _fail(self, error: EngineError) -> None:
        self.failed.emit(error)
        self.not_saved.emit()
