"""Explanations of the open run that are not for the effective labels: how many, and writing them again."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFrame

from engine.core.errors import EngineError
from engine.core.events import MeasureProgress
from gui.widgets.actions import BusyLine
from gui.widgets.labels import STRETCH, button, hint, in_column, in_row, label, name
from gui.workspace import store_jobs
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.judging.run import Rewritten

_IDS_SHOWN = 5


class Rewriter(QObject):
    """Made once for a workspace: all pages show the same work."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self.stale = 0  # explanations of the open run that its model could write again
        self.progress: MeasureProgress | None = None
        self._run_id = 0  # of the run that is written, or was last
        self._counted_id = 0
        self._counting = TaskPanel(
            workspace.threads, ThreadName.FILES, self, self._take_count, failed=workspace.failures
        )
        self._writing = TaskPanel(
            workspace.threads, ThreadName.MODEL, self, self._take, failed=self._fail, follow=self._follow
        )
        self._writing.busy_changed.connect(self.changed)
        workspace.run_changed.connect(self._count)
        workspace.overrides_changed.connect(self._count)
        workspace.judging_changed.connect(self.changed)

    @property
    def busy(self) -> bool:
        return self._writing.busy

    @property
    def doing(self) -> str:
        if self.progress is None:
            return f"Run {self._run_id}: waiting for the model …"
        return f"Run {self._run_id}: {self.progress.done:,} of {self.progress.total:,} written again"

    @property
    def obstacle(self) -> str:
        run = self._workspace.run
        if run is None:
            return "No run is open."
        if self._workspace.judging is not None:
            return "A run is being judged; this can start when it ends."
        if run.dataset is None:
            return "The dataset of this run is not loaded: open it on the Dataset page."
        if run.results.run.identity.examples:
            return "This run has few-shot examples: use the command “runs rewrite” with them."
        return ""

    def start(self) -> None:
        run = self._workspace.run
        if self.busy or self.obstacle or not self.stale or run is None or run.dataset is None:
            return
        self._run_id, self.progress = run.id, None
        self._writing.start(store_jobs.rewrite(self._workspace.store_path, run.id, run.dataset))

    def cancel(self) -> None:
        if self.progress is None:
            self._writing.drop()  # it may still wait for other work, which can take long
        else:
            self._writing.cancel()

    def _count(self) -> None:
        run = self._workspace.run
        if run is None or run.id != self._counted_id:
            self.stale = 0
        self._counting.drop()
        if run is not None and run.results.run.by_a_model:
            self._counted_id = run.id
            self._counting.start(store_jobs.count_stale(run.results))
        self.changed.emit()

    def _take_count(self, stale: int) -> None:
        self.stale = stale
        self.changed.emit()

    def _follow(self, progress: MeasureProgress) -> None:
        self.progress = progress
        self.changed.emit()

    def _take(self, made: "Rewritten") -> None:
        self._workspace.failures.end(self)
        said = [f"Run {self._run_id}: {made.written:,} of {made.stale:,} explanations are written again."]
        if made.stopped:
            said.append("It was stopped before the end.")
        if made.wordless:
            said.append(f"For {made.wordless:,} of them the model wrote no text: the old ones stay.")
        if made.too_long:
            more = "" if len(made.too_long) <= _IDS_SHOWN else ", …"
            ids = ", ".join(made.too_long[:_IDS_SHOWN])
            said.append(f"Too long for the context: items {ids}{more}.")
        self._workspace.note.emit(" ".join(said))
        self._show_written()

    def _fail(self, error: EngineError) -> None:
        self._workspace.failures.fail(self, error)
        self._show_written()

    def _show_written(self) -> None:
        # a group of items is stored at a time: some may be there also where it went wrong
        run = self._workspace.run
        if run is not None and run.id == self._run_id:
            self._workspace.read_run_again()


class StaleLine(QFrame):
    """Hidden where nothing is stale. `across`: beside each other, for a wide page."""

    def __init__(self, rewriter: Rewriter, across: bool) -> None:
        super().__init__()
        self.setProperty("role", "note")
        self._rewriter = rewriter
        self.text = label("")
        self.why_not = hint("")
        self.button = button("", rewriter.start)
        self.busy = BusyLine()
        self.busy.cancelled.connect(rewriter.cancel)
        beside = in_row if across else in_column
        line = beside((self.text, STRETCH), (self.button, Qt.AlignmentFlag.AlignLeft))
        in_column(line, self.why_not, self.busy, on=self, margins=(12, 8, 12, 8), spacing=6)
        rewriter.changed.connect(self.follow)
        self.follow()

    def follow(self) -> None:
        stale, busy, why_not = self._rewriter.stale, self._rewriter.busy, self._rewriter.obstacle
        single = stale == 1
        many = "1 explanation was" if single else f"{stale:,} explanations were"
        self.text.setText(f"{many} written for another label than the effective one.")
        self.button.setText("Write it again" if single else "Write them again")
        name(self.button, f"{many} written for another label: {self.button.text().lower()}")
        self.button.setEnabled(not why_not)
        self.button.setToolTip(why_not or "By the run's model, for the effective labels")
        self.button.setAccessibleDescription(why_not)
        self.button.setVisible(not busy)
        self.text.setVisible(stale > 0)
        self.why_not.setText(why_not)
        self.why_not.setVisible(bool(why_not) and not busy)
        progress = self._rewriter.progress
        if not busy:
            self.busy.end()
        elif self.busy.isHidden():
            self.busy.begin(self._rewriter.doing)
        if busy and progress is not None:
            self.busy.go_on(self._rewriter.doing, progress.done, progress.total)
        self.setVisible(stale > 0 or busy)
