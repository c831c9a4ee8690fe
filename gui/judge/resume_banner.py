"""The offer to go on with the run that was not finished last time.

Knows: which run that is, and how far it came. Does not know: what the page does to go on.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton

from engine.core.errors import EngineError
from engine.core.events import RunEnded
from engine.core.formatting import visible, without_middle
from engine.core.run_setup import RunSetup
from gui.judge.run_control import RunControl
from gui.kit.foreign_text import one_line, set_tip
from gui.kit.labels import guard, label, name
from gui.kit.layouts import STRETCH, in_row
from gui.work.workspace import Workspace

_LONGEST_NAME = 80  # characters


class ResumeBanner(QFrame):
    """Hidden until there is such a run; gone when a run starts, back where the page cannot go on with it."""

    resumed = Signal(object)  # a RunSetup that names the run
    queue_wanted = Signal(object)  # the same

    def __init__(
        self,
        workspace: Workspace,
        control: RunControl,
        described: Callable[[], RunSetup],
    ) -> None:
        """`described`: the run that the page describes."""
        super().__init__()
        self._workspace = workspace
        self._control = control
        self._described = described
        self._offered: RunSetup | None = None
        self._which = "The last run"
        self.setProperty("role", "note")
        self._text = label("")
        resume = QPushButton("Resume")
        name(resume, "Resume the run that was not finished")
        resume.clicked.connect(self._resume)
        queue = QPushButton("Add to queue")
        name(queue, "Add the run that was not finished to the queue", "It is resumed in its turn.")
        queue.clicked.connect(self._queue)
        dismiss = QPushButton("Dismiss")
        name(dismiss, "Dismiss the offer to resume", "Judged items stay in the store.")
        dismiss.clicked.connect(self._dismiss)
        guard(resume, queue, dismiss)
        in_row((self._text, STRETCH), resume, queue, dismiss, on=self, margins=(12, 8, 12, 8))
        control.started.connect(self._withdraw)
        control.ended.connect(self._follow_end)
        workspace.runs_changed.connect(self._say)
        workspace.runs_deleted.connect(self._follow_deletion)
        self._offer()

    @property
    def text(self) -> str:
        """What it says."""
        return self._text.text()

    def _offer(self) -> None:
        setup = self._control.unfinished
        self._offered = setup and replace(setup, resumes=self._control.unfinished_run)
        self.setVisible(setup is not None)
        self._say()

    @Slot()
    def _say(self) -> None:
        if self._offered is None:
            return
        number = self._offered.resumes
        stored = next((run for run in self._workspace.runs if run.id == number), None)
        far = f": {stored.judged:,} of {stored.identity.items:,} items are judged" if stored else ""
        whole = self._offered.dataset_in_words
        dataset = one_line(without_middle(whole, _LONGEST_NAME))
        text = visible(f"{self._which}, of {dataset}, was not finished{far}.")
        self._text.setText(text)
        set_tip(self._text, whole if len(whole) > _LONGEST_NAME else "")
        self.setAccessibleName(text)

    @Slot()
    def _resume(self) -> None:
        self.resumed.emit(self._offered)

    @Slot()
    def _queue(self) -> None:
        """The queue remembers this one from now on; the one that was begun before it is offered."""
        self.queue_wanted.emit(self._offered)
        self._control.forget_unfinished()
        self._which = "An earlier run"
        self._offer()

    @Slot()
    def _dismiss(self) -> None:
        self._control.forget_unfinished()
        self._withdraw()

    @Slot(object)
    def _follow_deletion(self, run_ids: Sequence[int]) -> None:
        if self._offered is not None and self._offered.resumes in run_ids:
            self._withdraw()

    @Slot()
    def _withdraw(self) -> None:
        self._offered, self._which = None, "The last run"
        self.hide()

    @Slot(object)
    def _follow_end(self, how: RunEnded | EngineError | None) -> None:
        asked, number = self._control.setup, self._control.unfinished_run
        if asked is None or number is None:
            return
        now = self._described()
        same_items = (now.dataset_path, now.ids, now.sample) == (
            *(asked.dataset_path.absolute(), asked.ids, asked.sample),
        )
        elsewhere = self._workspace.dataset is None or not same_items
        refused = isinstance(how, EngineError) and asked.resumes == number
        # Where the user turned to other items meanwhile, the page's own button would judge these.
        stopped = isinstance(how, RunEnded) and how.stopped and how.run_id == number
        if refused or (stopped and elsewhere):
            self._offer()
