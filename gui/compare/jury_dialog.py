"""The dialog that makes a jury of several systems: how they are combined, its name, the outcome.

Knows: the choices. Does not know: how a jury is made.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QLineEdit, QRadioButton, QWidget

from engine.core.formatting import counted, short_name
from gui.compare.compare_jobs import CompareRequest, JuryRequest, StoredJury, decide_together
from gui.widgets.fields import DoubleSpinBox
from gui.widgets.labels import STRETCH, as_row, heading, hint, in_row, label, name, panel
from gui.workspace.state import PageName
from gui.workspace.task_panel import TaskDialog, TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.data.dataset import Dataset

_WHAT = (
    "Their judgments of the same items are combined into one: a jury, stored as a run of its own that can"
    " be scored, reviewed, compared, ranked and exported. The runs do not change."
)
_MEAN = "All judges count equally: the mean of their log-probabilities. Needs no human labels."
_BY_LABELS = (
    "Fits the weight and the confidence of each judge to human labels, with L2 regularisation towards equal"
    " weights, so that few labels do little harm. The gain is measured by cross-validation."
)
_LENGTHS = "Annotators often prefer the longer response; the labels then depend less on the content."
_CERTAINTY = (
    "The probability assumed for a submission's labels: a submission has labels without probabilities."
)
_SIZE = (160, 42)  # characters, lines


class JuryDialog(TaskDialog):
    """`made`: the number of the run that the jury is."""

    made = Signal(int)

    def __init__(
        self,
        workspace: Workspace,
        choice: CompareRequest,
        gold: "Dataset | None",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("Make a jury", "Make the &jury", "&Open the jury", parent)
        self._workspace = workspace
        self._choice = choice
        self._gold = gold if gold is not None and gold.criteria else None
        self.kept: StoredJury | None = None
        self.called = QLineEdit(placeholderText="no name")
        self.by_labels = QRadioButton("Fit to human &labels")
        self.by_mean = QRadioButton("&Mean of all judges")
        self.lengths = QCheckBox("Use the len&gths of the responses")
        self.certainty = DoubleSpinBox()
        self.task = TaskPanel(
            workspace.threads, ThreadName.MEASURE, self, self._take, failed=self.notice, changed=self._enable
        )
        self.lay_out(self._asked(), *_SIZE)
        self.by_labels.toggled.connect(self._enable)
        self.act_button.clicked.connect(self.decide)
        self.use_button.clicked.connect(self._open)
        self._enable()

    @property
    def request(self) -> JuryRequest:
        by_labels = self.by_labels.isChecked()
        return JuryRequest(
            self._choice,
            self.called.text(),
            self._gold if by_labels else None,
            by_labels and self.lengths.isChecked(),
            self.certainty.value(),
        )

    def decide(self) -> None:
        self.kept = None
        self.begin(decide_together(self._workspace.store_path, self.request), "Combining the judges …")

    def _asked(self) -> QWidget:
        name(self.called, "Name of the jury")
        gold = self._gold
        labels = (
            f" of {short_name(gold.name)}" if gold is not None else ": choose human labels on Compare first"
        )
        self.by_labels.setText(f"Fit to human &labels{labels}".replace("&&", "&"))
        group = QButtonGroup(self)
        for button in (self.by_labels, self.by_mean):
            group.addButton(button)
        self.by_labels.setEnabled(gold is not None)
        (self.by_labels if gold is not None else self.by_mean).setChecked(True)
        name(self.lengths, "Use the lengths of the responses", _LENGTHS)
        self.certainty.setRange(0.3, 0.99)
        self.certainty.setSingleStep(0.05)
        self.certainty.setValue(0.9)
        name(self.certainty, "Confidence in a submission's labels", _CERTAINTY)
        certain = as_row(
            label("Confidence in a submission's labels:", wrap=False), self.certainty, hint(_CERTAINTY)
        )
        opened = any(run.submitted for run in self._workspace.runs if run.id in self._choice.runs)
        certain.setVisible(bool(self._choice.files) or opened)
        judges = counted(self._choice.systems, "system", "systems")
        return panel(
            heading(f"{judges} as a jury"),
            hint(_WHAT),
            in_row(label("Name:", wrap=False), (self.called, STRETCH)),
            self.by_labels,
            hint(_BY_LABELS),
            self.lengths,
            self.by_mean,
            hint(_MEAN),
            certain,
        )

    @Slot()
    def _enable(self) -> None:
        self.lengths.setEnabled(self.by_labels.isChecked())
        self.act_button.setEnabled(not self.task.busy)
        self.use_button.setVisible(self.kept is not None)

    @Slot(object)
    def _take(self, kept: StoredJury) -> None:
        self.kept = kept
        self.show_outcome(f"{kept.title} is stored as run {kept.run_id}.", kept.sheet)
        self.made.emit(kept.run_id)
        self._workspace.refresh_runs()

    @Slot()
    def _open(self) -> None:
        if self.kept is not None:
            self._workspace.open_run(self.kept.run_id)
            self._workspace.page_wanted.emit(PageName.RESULTS)
            self.accept()
