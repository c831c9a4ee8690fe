"""A job as a page or a dialog shows it. Each kind has one panel, which does the newest job alone."""

from collections.abc import Callable, Hashable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from engine.core.errors import EngineError, SetupError
from engine.core.events import MeasureProgress, Preparing
from engine.core.tables import Sheet
from gui.widgets.actions import BusyLine
from gui.widgets.files import open_file, show_folder
from gui.widgets.foreign_text import plain_label
from gui.widgets.labels import STRETCH, Dialog, as_column, in_column, make_room, scrolling, show_text
from gui.widgets.notice import Message, Notice
from gui.widgets.text_views import SheetView
from gui.workspace import threads as workers
from gui.workspace.threads import AtWork, EngineThreads, Failures, Hear, Job, LatestTask, Task, ThreadName
from gui.workspace.workspace import Workspace

Failed = Failures | Notice | Callable[[EngineError], object]


class TaskPanel(LatestTask):
    """Jobs of which the newest counts; those of a dialog are abandoned once it is closed. `done` is told of
    the result, `follow` of each event (None: `show_progress`). `failed`: what tells an error; `stopped`: the
    user stopped it; `changed`: one begins, or none is under way. `at_once`: the line's button abandons the
    job, untold.
    """

    def __init__(
        self,
        threads: EngineThreads,
        thread_name: ThreadName,
        parent: QObject,
        done: Hear | None = None,
        *,
        follow: Hear | None = None,
        failed: Failed | None = None,
        stopped: Callable[[], object] | None = None,
        changed: Callable[[], object] | None = None,
        at_once: bool = False,
    ) -> None:
        super().__init__(threads, thread_name, parent, done)
        self._text, self._at_once, self._changed = "", at_once, changed
        self._notice = failed if isinstance(failed, Notice) else None
        self.progress.connect(follow or self.show_progress)
        if isinstance(failed, Failures):
            failed.follow(self)
        elif failed is not None:
            self.failed.connect(failed.show_error if isinstance(failed, Notice) else failed)
        if stopped is not None:
            self.cancelled.connect(stopped)
        self.busy_changed.connect(self._follow_busy)
        if isinstance(parent, QDialog):
            parent.finished.connect(self.drop)

    @cached_property
    def line(self) -> BusyLine:
        line = BusyLine()
        # A job that opens a model may wait long for another one: nobody waits for it to begin only to stop.
        stop = self.stop if self._thread_name is ThreadName.MODEL else self.cancel
        line.cancelled.connect(self.drop if self._at_once else stop)
        return line

    def begin(self, job: Job[Any], text: str) -> None:
        waits = self._thread_name is ThreadName.MODEL and self._threads.busy(ThreadName.MODEL)
        if self._notice is not None:
            self._notice.dismiss()
        self._text = text
        self.start(job)
        self.line.begin(f"{workers.WAITING} …" if waits else text)

    def show_progress(self, event: object) -> None:
        if isinstance(event, AtWork):
            self.line.go_on(event.text, event.done, event.total)
        elif isinstance(event, MeasureProgress):
            self.line.go_on(self._text, event.done, event.total)
        elif isinstance(event, Preparing):
            self.line.go_on(f"{event.what} …")

    def _follow_busy(self, busy: bool) -> None:
        if not busy and "line" in self.__dict__:
            self.line.end()
        if self._changed is not None:
            self._changed()


def write_file(
    workspace: Workspace, job: Job[Path], kind: Hashable, thread_name: ThreadName = ThreadName.FILES
) -> Task:
    """Write a file that the user asked for, to its end also where the window closes; `kind`: of failures."""
    task = workspace.threads.start(thread_name, job, partial(tell_written, workspace), must_end=True)
    workspace.failures.follow(task, kind)
    return task


def tell_written(workspace: Workspace, path: Path, text: str = "", role: str = "done") -> None:
    """Say that a file or folder is written, and offer it; `text`: in place of its name."""

    def show(shown: Callable[[Path], bool], what: Path) -> None:
        try:
            if not shown(what):
                workspace.note.emit(f"No program opens it here: {what}")
        except SetupError as error:
            workspace.problem.emit(error)

    steps = {} if path.is_dir() else {"Open": partial(show, open_file, path)}
    steps["Show in folder"] = partial(show, show_folder, path if path.is_dir() else path.parent)
    said = Message(text or f"Written: {path.name}", role=role, steps=steps, about=path)
    workspace.notice.emit(said)


class TaskDialog(Dialog):
    """Asks for something, does it while it is open, shows a sheet of it. A subclass makes the `task`, calls
    `lay_out`, connects `act_button` and `use_button`.
    """

    task: TaskPanel

    def __init__(self, title: str, act: str, use: str, parent: QWidget | None) -> None:
        super().__init__(title, parent)
        self.notice, self.outcome, self.sheet = Notice(), plain_label(role="heading"), SheetView()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.use_button = self.buttons.addButton(use, QDialogButtonBox.ButtonRole.ActionRole)
        self.act_button = self.buttons.addButton(act, QDialogButtonBox.ButtonRole.ActionRole)
        self.buttons.rejected.connect(self.reject)

    def lay_out(self, asked: QWidget, letters: int, lines: int) -> None:
        shown = (self.notice, self.task.line, self.outcome, self.sheet)
        inside = as_column(asked, *shown, STRETCH, spacing=8)
        self.outcome.hide()
        in_column((scrolling(inside), STRETCH), self.buttons, on=self, margins=None, spacing=8)
        self.act_button.setDefault(True)
        make_room(self, letters, lines)

    def begin(self, job: Job[Any], text: str) -> None:
        self.outcome.hide()
        self.sheet.show_sheet(None)
        self.task.begin(job, text)

    def show_outcome(self, text: str, sheet: Sheet) -> None:
        show_text(self.outcome, text)
        self.sheet.show_sheet(sheet)
        self.use_button.show()
        self.use_button.setFocus(Qt.FocusReason.OtherFocusReason)
