"""All that a window has for its runs: the queue, the dialog of all runs, what is shown while nobody looks.

What a run means for the computer and for a window that nobody looks at.

While runs are judged the computer stays awake, and the title says how far they are, for a minimised window
shows nothing else. At their end the task bar calls.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QWidget

from engine.core.errors import SetupError
from engine.system.computer import Awake, KeepAwake
from gui.judge.judge_page import JudgePage
from gui.judge.run_control import RunControl
from gui.judge.run_jobs import DescribedAudit
from gui.runs.queue import RunQueue
from gui.runs.queue_panel import QueuePanel
from gui.runs.runs_dialog import RunsDialog
from gui.runs.runs_table import RunHealth
from gui.workspace.state import PageName, State
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.settings.identity import StoredRun

KEEP_AWAKE = "keep_awake"
"""Where the state keeps when the computer shall stay awake."""
_TICK_MS = 20_000  # a run may tell nothing for minutes, and the computer go to its battery meanwhile


def kept_awake(state: State) -> KeepAwake:
    """When the computer shall stay awake: as the user chose, else on mains."""
    chosen = state.text(KEEP_AWAKE, KeepAwake.MAINS)
    return KeepAwake(chosen) if chosen in set(KeepAwake) else KeepAwake.MAINS


class RunWatch(QObject):
    """Follows the runs of one window; `say_awake` is told whether the computer is kept awake."""

    def __init__(
        self,
        control: RunControl,
        queue: RunQueue,
        state: State,
        window: QWidget,
        say_awake: Callable[[bool], object],
    ) -> None:
        super().__init__(window)
        self._control = control
        self._queue = queue
        self._state = state
        self._window = window
        self._say_awake = say_awake
        self._awake: Awake | None = None
        self._name = window.windowTitle()
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._follow)
        control.started.connect(self._follow)
        control.progressed.connect(self._follow)
        control.ended.connect(self._follow_end)
        queue.changed.connect(self._follow)
        queue.ended.connect(self._call)

    @property
    def awake(self) -> bool:
        """Whether the computer is kept awake now."""
        return self._awake is not None and self._awake.active

    def set_name(self, name: str) -> None:
        """What the window is called while nothing is under way."""
        self._name = name
        self._show_title()

    @Slot()
    def follow_settings(self) -> None:
        """Keep the computer awake, or no more, as is chosen now."""
        self._release()
        self._follow()

    @Slot()
    def _follow(self) -> None:
        if self._control.running or self._queue.going:
            if self._awake is None:
                self._awake = Awake(kept_awake(self._state))
                self._tick.start()
            self._awake.refresh()
        else:
            self._release()
        self._say_awake(self.awake)
        self._show_title()

    def _release(self) -> None:
        self._tick.stop()
        if self._awake is not None:
            self._awake.release()
            self._awake = None

    @Slot(object)
    def _follow_end(self, _how: object) -> None:
        self._follow()
        if not self._queue.going:
            self._call()

    @Slot()
    def _call(self) -> None:
        """Let the task bar call until somebody looks; where the window is looked at, nothing happens."""
        QApplication.alert(self._window)

    def _show_title(self) -> None:
        self._window.setWindowTitle(f"{self._far}{self._name}")

    @property
    def _far(self) -> str:
        """How far the run under way is, before the name of the window; empty where there is none."""
        progress, part = self._control.progress, self._queue.part
        if not self._control.running:
            return ""
        of_queue = f"run {part[0]} of {part[1]}" if part is not None and part[1] > 1 else ""
        share = f"{100 * progress.judged // max(1, progress.items)} %" if progress is not None else ""
        return " - ".join([*filter(None, (", ".join(filter(None, (share, of_queue))),)), ""])


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
