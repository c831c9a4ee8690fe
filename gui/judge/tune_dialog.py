"""The best settings found for the open dataset and the chosen model: how long, how far, what came of it.

Knows: what is asked, what is shown of it. Does not know: how settings are found.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QWidget

from engine.core.errors import EngineError
from engine.core.events import ItemJudged, MeasureProgress, Preparing, TuningStage
from engine.core.formatting import counted, short_name
from engine.core.items import Way
from engine.core.run_setup import RunSetup
from gui.judge.tune_jobs import FoundSettings, TuneAsked, find
from gui.kit.busy import BusyLine
from gui.kit.fields import ComboBox, DoubleSpinBox, SpinBox
from gui.kit.foreign_text import plain_label
from gui.kit.labels import heading, hint, label, name, panel, scrolling, show_text
from gui.kit.layouts import STRETCH, in_column, in_row, make_room
from gui.kit.notice import Notice
from gui.reading.sheet_view import SheetView
from gui.work.lanes import WAITING, Lane, LatestTask
from gui.work.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_WHAT = (
    "Ways of asking, orders, a shorter wording and labelled examples are tried on a part of the labelled"
    " items. The cheapest of those that are as good as the best is chosen and calibrated; what it is worth is"
    " measured on items that took no part in the choice."
)
_KEPT = (
    "Everything that is judged is kept in runs of its own. If you stop, or the time ends, the same search"
    " goes on from there."
)
_NO_DATASET = "No dataset is open. Open one with human labels."
_NO_LABELS = (
    "The open dataset has no human labels, and without them nothing can be chosen. Open one with labels."
)
_USUAL_MINUTES = 30.0
_WAYS = {
    "all but thoughts": tuple(way for way in Way if way is not Way.THINKING),
    "the letter alone, which is fastest": (Way.LETTERS,),
    "all, thoughts too": tuple(Way),
}
_SIZE = (150, 44)  # letters, lines


class TuneDialog(QDialog):
    """`wanted`: the path of the recipe that was found, which a person wants to use."""

    wanted = Signal(object)

    def __init__(
        self, workspace: Workspace, setup: RunSetup, dataset: "Dataset | None", parent: QWidget | None = None
    ) -> None:
        """`setup`: the run that the page describes; `dataset`: its dataset, None where none is open."""
        super().__init__(parent)
        self._workspace, self._setup, self._dataset = workspace, setup, dataset
        self.found: FoundSettings | None = None
        self._stage, self._judged, self._part = "", 0, 0.0
        self.setWindowTitle("Find the best settings")
        self.minutes, self.items, self.ways = DoubleSpinBox(), SpinBox(), ComboBox()
        self.notice, self.busy, self.outcome = Notice(), BusyLine(), plain_label(role="heading")
        self.sheet = SheetView()
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.use_button = self.buttons.addButton(
            "&Use these settings", QDialogButtonBox.ButtonRole.ActionRole
        )
        self.find_button = self.buttons.addButton("&Find", QDialogButtonBox.ButtonRole.ActionRole)
        self._finding = LatestTask(workspace.threads, Lane.MODEL, self)
        self._lay_out()
        self._connect()
        self._enable()

    @property
    def searching(self) -> bool:
        """Whether a search is under way."""
        return self._finding.busy

    @property
    def asked(self) -> TuneAsked:
        """What is asked for."""
        ways = _WAYS[self.ways.currentText()]
        return TuneAsked(self._setup, self.minutes.value(), ways, self.items.value() or None)

    def search(self) -> None:
        """Begin, or go on with what was judged before."""
        self.notice.dismiss()
        self.found, self._stage, self._judged, self._part = None, "", 0, 0.0
        self.outcome.hide()
        self.sheet.show_sheet(None)
        waits = self._workspace.threads.busy(Lane.MODEL)
        self._finding.start(find(self.asked, self._workspace.store_path, self._dataset))
        self.busy.begin(f"{WAITING if waits else 'Reading the files'} …")
        self._enable()

    # Making

    def _lay_out(self) -> None:
        self.minutes.setRange(1, 7 * 24 * 60)
        self.minutes.setDecimals(0)
        self.minutes.setValue(_USUAL_MINUTES)
        self.minutes.setSuffix(" min")
        name(self.minutes, "How long it may take", "With more time later it goes on from where it ended.")
        self.items.setRange(0, 100_000)
        self.items.setSpecialValueText("as many as there is time for")
        name(self.items, "How many items are judged at most", "They are drawn by instruction, at random.")
        self.ways.addItems(list(_WAYS))
        name(
            self.ways,
            "The ways of asking that are tried",
            "A thought takes many times as long as all others.",
        )
        dataset = short_name(self._dataset.name) if self._dataset is not None else "no dataset"
        asked = panel(
            heading(f"{short_name(self._setup.model_path.stem)} on {dataset}"),
            hint(_WHAT),
            in_row(
                label("Time:", wrap=False), self.minutes, label("Items:", wrap=False), self.items, STRETCH
            ),
            in_row(label("Ways of asking:", wrap=False), self.ways, STRETCH),
            hint(_KEPT),
        )
        inside = QWidget()
        in_column(asked, self.notice, self.busy, self.outcome, self.sheet, STRETCH, on=inside, spacing=8)
        self.outcome.hide()
        in_column((scrolling(inside), STRETCH), self.buttons, on=self, margins=None, spacing=8)
        self.find_button.setDefault(True)
        make_room(self, *_SIZE)

    def _connect(self) -> None:
        self._finding.progress.connect(self._follow)
        self._finding.finished.connect(self._take)
        self._finding.failed.connect(self._refuse)
        self._finding.cancelled.connect(self._tell_stopped)
        self._finding.busy_changed.connect(self._follow_busy)
        self.busy.cancelled.connect(self._finding.stop)
        self.finished.connect(self._finding.drop)
        self.find_button.clicked.connect(self.search)
        self.use_button.clicked.connect(self._use)
        self.buttons.rejected.connect(self.reject)

    # What happens

    @Slot()
    def _enable(self) -> None:
        busy, labelled = self._finding.busy, self._dataset is not None and bool(self._dataset.criteria)
        for field in (self.minutes, self.items, self.ways):
            field.setEnabled(not busy)
        self.find_button.setEnabled(not busy and labelled)
        self.use_button.setVisible(self.found is not None)
        if not labelled:
            show_text(self.outcome, _NO_DATASET if self._dataset is None else _NO_LABELS)

    @Slot(object)
    def _follow(self, event: object) -> None:
        if isinstance(event, Preparing):
            self.busy.go_on(f"{event.what} …")
        elif isinstance(event, ItemJudged):
            self._judged += 1
            self._say()
        elif isinstance(event, MeasureProgress):
            self._say(f"{event.done:,} of {event.total:,} compared")
        elif isinstance(event, TuningStage):
            self._stage, self._part = event.what, (event.number - 1) / event.stages
            self._say()

    def _say(self, beside: str = "") -> None:
        judged = counted(self._judged, "item", "items")
        self.busy.go_on(f"{self._stage}: {beside or f'{judged} judged'} …", round(100 * self._part), 100)

    @Slot(bool)
    def _follow_busy(self, busy: bool) -> None:
        if not busy:
            self.busy.end()
            self._workspace.refresh_runs()
        self._enable()

    @Slot(object)
    def _take(self, found: FoundSettings) -> None:
        self.found = found
        show_text(self.outcome, f"The recipe is kept: {found.path}")
        self.sheet.show_sheet(found.sheet)
        self._enable()
        self.use_button.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _tell_stopped(self) -> None:
        show_text(self.outcome, "Stopped. What was judged is kept: “Find” goes on from there.")

    @Slot(object)
    def _refuse(self, error: EngineError) -> None:
        self.notice.show_error(error)

    @Slot()
    def _use(self) -> None:
        if self.found is not None:
            self.wanted.emit(self.found.path)
            self.accept()
