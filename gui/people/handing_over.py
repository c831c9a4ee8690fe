"""Exports and imports annotations of the open run: asks for files, starts the jobs, reports the outcome.

Knows: what the user is asked in which order. Does not know: how files are read and written.
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from engine.core.file_names import file_stem
from gui.kit.actions import Entry
from gui.kit.file_dialogs import ask_target, let_choose_several
from gui.kit.notice import Message
from gui.people import hand_over_jobs
from gui.people.hand_over_dialog import AddWordsDialog, ExportWordsDialog
from gui.work.lanes import LatestTask, ThreadName
from gui.work.open_run import OpenRun
from gui.work.workspace import Workspace

_KIND = "Annotations (*.json)"
_FOLDER = "last/words"  # that files of others were in
_ABOUT = "words handed over"
_LONGEST_STEM = 40  # bytes of an annotator's name in that of a file
_NOT_IN_NAMES = re.compile(r"[^\w-]+")


class AnnotationExchange(QObject):
    """Of one window."""

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._window = workspace, window
        self._run_id = 0  # to which files are added
        self.dialog: AddWordsDialog | None = None
        self.asking: ExportWordsDialog | None = None
        self._counting = LatestTask(workspace.threads, ThreadName.FILES, self)
        self._counting.finished.connect(self._show)
        self._counting.failed.connect(workspace.problem)

    @property
    def exports(self) -> tuple[Entry, ...]:
        """The menu entries that export annotations."""
        return (
            Entry("&My annotations…", self.export_mine),
            Entry("Annotations of &all annotators…", self.export_all),
        )

    @Slot()
    def export_mine(self, *, path: Path | None = None) -> None:
        """Export this annotator's annotations of the open run; without a path, dialogs ask, also for texts of
        the dataset.
        """
        self._export((self._workspace.author,), path)

    @Slot()
    def export_all(self, *, path: Path | None = None) -> None:
        """Export those of all annotators."""
        self._export((), path)

    @Slot()
    def add(self) -> None:
        """Ask for files of others, and count what they would add to the open run."""
        kept = self._workspace.state.text(_FOLDER)
        let_choose_several(self._window, "Import annotations", kept, _KIND, self.count)

    def count(self, paths: Sequence[Path]) -> None:
        """Count what files would add to the open run, and show it."""
        space = self._workspace
        if space.run is None or not paths:
            return
        self._run_id = space.run.id
        space.state.set_text(_FOLDER, str(paths[0].absolute().parent))
        self._counting.start(hand_over_jobs.count_files(space.store_path, self._run_id, paths))

    def _export(self, annotators: Sequence[str], path: Path | None) -> None:
        space = self._workspace
        if space.run is None:
            return
        if path is not None:
            self._write(space.run, annotators, path)
            return
        self.asking = asking = ExportWordsDialog(space.run, annotators, self._window)
        asking.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        asking.accepted.connect(partial(self._ask_where, space.run, annotators))
        asking.finished.connect(self._forget_asking)
        asking.open()

    def _ask_where(self, opened: OpenRun, annotators: Sequence[str]) -> None:
        assert self.asking is not None
        title, texts = self.asking.windowTitle(), self.asking.tick.isChecked()
        run = opened.results.run
        who = (
            file_stem(_NOT_IN_NAMES.sub("-", annotators[0]).strip("-"), _LONGEST_STEM)
            if annotators
            else "all"
        )
        folder = self._workspace.state.export_folder(run.identity.dataset_path.parent)
        path = ask_target(self._window, title, folder / f"{run.stem}-{who or 'labels'}.json", _KIND)
        if path is not None:
            self._write(opened, annotators, path, texts)

    def _write(self, opened: OpenRun, annotators: Sequence[str], path: Path, texts: bool = False) -> None:
        space = self._workspace
        dataset = opened.dataset if texts else None
        job = hand_over_jobs.export_words(space.store_path, opened.id, annotators, path, dataset)
        task = space.threads.start(ThreadName.STORE, job, must_end=True)
        space.state.keep_export_folder(path.parent)
        task.finished.connect(partial(self._tell, space.words.count))
        task.failed.connect(space.problem)

    def _tell(self, waiting: int, text: str) -> None:
        left = "\nYour latest annotations are not in the run store yet." if waiting else ""
        self._workspace.notice.emit(Message(text + left, role="note" if waiting else "done", about=_ABOUT))

    @Slot(object)
    def _show(self, found: hand_over_jobs.CountedFiles) -> None:
        if self.dialog is not None:
            self.dialog.close()
        self.dialog = dialog = AddWordsDialog(found, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(self._add)
        dialog.finished.connect(self._forget)
        dialog.open()

    @Slot()
    def _add(self) -> None:
        dialog, space = self.dialog, self._workspace
        if dialog is None:
            return
        job = hand_over_jobs.add_files(space.store_path, self._run_id, dialog.found, dialog.answers)
        task = space.threads.start(ThreadName.STORE, job, must_end=True)
        task.finished.connect(self._tell_added)
        task.failed.connect(space.problem)

    @Slot(str)
    def _tell_added(self, text: str) -> None:
        self._workspace.notice.emit(Message(text, role="done", about=_ABOUT))
        self._workspace.watch.look()

    @Slot()
    def _forget(self) -> None:
        self.dialog = None

    @Slot()
    def _forget_asking(self) -> None:
        self.asking = None
