"""The best settings for the open dataset and the chosen model: how long, how far, what came of it."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from engine.core.events import ItemJudged, MeasureProgress, TuningStage
from engine.core.formatting import counted, short_name
from engine.core.items import Method
from engine.settings.run_setup import RunSetup
from gui.judge.run_jobs import FoundSettings, TuneAsked, find
from gui.widgets.fields import ComboBox, DoubleSpinBox, SpinBox
from gui.widgets.labels import STRETCH, heading, hint, in_row, label, name, panel, show_text
from gui.workspace.task_panel import TaskDialog, TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_WHAT = (
    "Elicitation methods, orders, a shorter prompt and few-shot examples are tried on a part of the labelled"
    " items. The cheapest settings that are as good as the best are chosen and calibrated;"
    " their accuracy is measured on held-out items."
)
_KEPT = (
    "All judgments are stored in runs of their own. If you stop, or the time ends, the search can be resumed."
)
_NO_DATASET = "No dataset is open. Open one with human labels."
_NO_LABELS = "The open dataset has no human labels, which the search needs. Open one with labels."
_DEFAULT_MINUTES = 30.0
_METHODS = {
    "all but chain of thought": tuple(method for method in Method if method is not Method.CHAIN_OF_THOUGHT),
    "label tokens only (fastest)": (Method.LABEL_TOKENS,),
    "all, with chain of thought": tuple(Method),
}
_SIZE = (150, 44)  # characters, lines


class TuneDialog(TaskDialog):
    """`wanted`: the path of the recipe that was found, which the user wants to use."""

    wanted = Signal(object)

    def __init__(
        self, workspace: Workspace, setup: RunSetup, dataset: "Dataset | None", parent: QWidget | None = None
    ) -> None:
        """`setup`: the run that the page describes; `dataset`: its dataset, None where none is open."""
        super().__init__("Find the best settings", "&Find", "&Use these settings", parent)
        self._workspace, self._setup, self._dataset = workspace, setup, dataset
        self.found: FoundSettings | None = None
        self._stage, self._judged, self._part = "", 0, 0.0
        self.minutes, self.items, self.methods = DoubleSpinBox(), SpinBox(), ComboBox()
        threads, tell = workspace.threads, self._tell_stopped
        self.task = TaskPanel(
            threads,
            ThreadName.MODEL,
            self,
            self._take,
            follow=self._follow,
            stopped=tell,
            failed=self.notice,
            changed=self._follow_busy,
        )
        self.lay_out(self._asked(), *_SIZE)
        self.act_button.clicked.connect(self.search)
        self.use_button.clicked.connect(self._use)
        self._enable()

    def search(self) -> None:
        self.found, self._stage, self._judged, self._part = None, "", 0, 0.0
        methods, items = _METHODS[self.methods.currentText()], self.items.value() or None
        asked = TuneAsked(self._setup, self.minutes.value(), methods, items)
        self.begin(find(asked, self._workspace.store_path, self._dataset), "Reading the files …")

    def _asked(self) -> QWidget:
        self.minutes.setRange(1, 7 * 24 * 60)
        self.minutes.setDecimals(0)
        self.minutes.setValue(_DEFAULT_MINUTES)
        self.minutes.setSuffix(" min")
        name(self.minutes, "How long it may take", "The search can be resumed later with more time.")
        self.items.setRange(0, 100_000)
        self.items.setSpecialValueText("as many as the time allows")
        name(self.items, "How many items are judged at most", "A random sample, drawn by instruction.")
        self.methods.addItems(list(_METHODS))
        long = "Chain of thought takes many times as long as all others."
        name(self.methods, "The elicitation methods to try", long)
        dataset = short_name(self._dataset.name) if self._dataset is not None else "no dataset"
        time, items, tried = (
            label(f"{what}:", wrap=False) for what in ("Time", "Items", "Elicitation methods")
        )
        return panel(
            heading(f"{short_name(self._setup.model_path.stem)} on {dataset}"),
            hint(_WHAT),
            in_row(time, self.minutes, items, self.items, STRETCH),
            in_row(tried, self.methods, STRETCH),
            hint(_KEPT),
        )

    @Slot()
    def _enable(self) -> None:
        busy, labelled = self.task.busy, self._dataset is not None and bool(self._dataset.criteria)
        for field in (self.minutes, self.items, self.methods):
            field.setEnabled(not busy)
        self.act_button.setEnabled(not busy and labelled)
        self.use_button.setVisible(self.found is not None)
        if not labelled:
            show_text(self.outcome, _NO_DATASET if self._dataset is None else _NO_LABELS)

    @Slot(object)
    def _follow(self, event: object) -> None:
        if isinstance(event, ItemJudged):
            self._judged += 1
            self._say()
        elif isinstance(event, MeasureProgress):
            self._say(f"{event.done:,} of {event.total:,} compared")
        elif isinstance(event, TuningStage):
            self._stage, self._part = event.what, (event.number - 1) / event.stages
            self._say()
        else:
            self.task.show_progress(event)

    def _say(self, beside: str = "") -> None:
        judged = counted(self._judged, "item", "items")
        text = f"{self._stage}: {beside or f'{judged} judged'} …"
        self.task.line.go_on(text, round(100 * self._part), 100)

    @Slot()
    def _follow_busy(self) -> None:
        if not self.task.busy:
            self._workspace.refresh_runs()
        self._enable()

    @Slot(object)
    def _take(self, found: FoundSettings) -> None:
        self.found = found
        self.show_outcome(f"Judge configuration saved: {found.path}", found.sheet)

    @Slot()
    def _tell_stopped(self) -> None:
        show_text(self.outcome, "Stopped. Judged items are saved: “Find” resumes the search.")

    @Slot()
    def _use(self) -> None:
        if self.found is not None:
            self.wanted.emit(self.found.path)
            self.accept()
