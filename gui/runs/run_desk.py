"""All that a window has for its runs: the queue, the dialog of all runs, what is shown while nobody looks.

Knows: how these meet the Judge page and the workspace. Does not know: what any of them does.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from engine.core.errors import SetupError
from gui.judge.audit_jobs import DescribedAudit
from gui.judge.judge_page import JudgePage
from gui.runs.queue_panel import QueuePanel
from gui.runs.run_health import RunHealth
from gui.runs.run_queue import RunQueue
from gui.runs.run_watch import RunWatch
from gui.runs.runs_dialog import RunsDialog
from gui.work.page_name import PageName
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.core.run_records import StoredRun


class RunDesk(QObject):
    """Made once for a window; puts the queue on its Judge page."""

    def __init__(self, workspace: Workspace, judge: JudgePage, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._window = window
        self._judge = judge
        self.queue = RunQueue(judge.control, workspace, self)
        self.panel = QueuePanel(self.queue, judge.wanted)
        judge.take_in(self.panel.add_button, self.panel)
        judge.restyled.connect(self.panel.restyle)
        self.watch = RunWatch(judge.control, self.queue, workspace.state, window, judge.run_panel.show_awake)
        self.health = RunHealth(workspace, self)
        workspace.runs_deleted.connect(self.queue.forget_runs)
        judge.banner.queue_wanted.connect(self.panel.add)
        judge.audit_described.connect(self._queue_audit)
        self.panel.added.connect(workspace.note)
        self.queue.ended.connect(workspace.note)

    @Slot(object)
    def _queue_audit(self, described: DescribedAudit) -> None:
        """Put an audit into the queue; which perturbations could not be made is said with what is said of
        that.
        """
        said = self.panel.add(described.setup)
        if described.lacking:
            self._workspace.note.emit(f"{said} {described.lacking}")

    @Slot()
    def show_runs(self) -> None:
        """Show the dialog of all runs."""
        dialog = RunsDialog(self._workspace, self.health, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.deleted.connect(self._workspace.forget_runs)
        dialog.resume_wanted.connect(lambda run: self._resume(run, dialog))
        dialog.open()

    def _resume(self, run: "StoredRun", dialog: RunsDialog) -> None:
        """Go on with a run, at once or in the queue; the dialog says why where that cannot be."""
        try:
            setup = self._judge.control.going_on_with(run)
        except SetupError as error:
            dialog.tell_problem(error)
            return
        if self._judge.control.running:
            dialog.say(self.panel.add(setup))
            return
        dialog.accept()
        self._workspace.page_wanted.emit(PageName.JUDGE)
        self._judge.resume(setup)

    @Slot()
    def add_to_queue(self) -> None:
        """Put the run that the Judge page describes into the queue."""
        self._workspace.page_wanted.emit(PageName.JUDGE)
        self.panel.add_run()

    @Slot()
    def start_queue(self) -> None:
        """Begin with the runs that wait."""
        self._workspace.page_wanted.emit(PageName.JUDGE)
        self.queue.start()
        if not self.queue.entries:
            self._workspace.note.emit("The queue is empty: describe a run and press Add to queue.")
