"""The file that an edited rubric is saved in: written, and watched for what other programs do to it.

Knows: when to ask before something is lost. Does not know: what is edited.
"""

import re
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from engine.core.errors import EngineError, SetupError
from engine.core.formatting import file_stem, short_name
from engine.core.rubric import Rubric
from engine.system.files import make_folder
from engine.system.paths import rubrics_folder
from gui.judge import rubric_jobs
from gui.judge.rubric_jobs import SUFFIX, RubricFile, RubricWritten
from gui.widgets.files import ask_target
from gui.widgets.notice import question
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import EngineThreads, ThreadName

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
        """Write a rubric to its file; where it has none, to one that is asked for."""
        if self.path is None:
            self.save_as(rubric)
        else:
            self._write(self.path, rubric, self._digest)

    def save_as(self, rubric: Rubric) -> None:
        """Ask for a file, and write a rubric to it."""
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
        """See whether another program has changed the file."""
        if self.path is not None and not self._writing.busy:
            self._looking.start(rubric_jobs.look_at(self.path))

    @Slot()
    def read(self) -> None:
        """Read the file again."""
        if self.path is not None:
            self._reading.start(rubric_jobs.read_rubric(self.path))

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
        self._writing.start(rubric_jobs.write_rubric(path, rubric, digest))

    @Slot(object)
    def _take_written(self, written: RubricWritten) -> None:
        if written.file is not None:
            self.path = written.file.path
            self._digest = self._told = written.file.digest
            self.saved.emit(written.file)
            return
        wanted = self._wanted
        if wanted is not None and self._may_replace(wanted[0]):
            self._write(*wanted, None)
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
