"""What can be done with the model files of the list: speed measured, one of them converted, or audited.

Knows: the menu, the line of work under way, the question before a conversion. Does not know: how files are
found, which work a process of its own does.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QMenu, QPushButton, QWidget

from engine.core.errors import EngineError, SetupError
from engine.core.formatting import amount, counted, without_middle
from gui.models import model_jobs
from gui.models.model_jobs import AtWork, Candidate, ModelRequest, OfferedFormat, SpeedsMeasured
from gui.widgets.actions import BusyLine
from gui.widgets.fields import ComboBox
from gui.widgets.foreign_text import plain_label
from gui.widgets.labels import STRETCH, heading, hint, in_column, name
from gui.workspace.threads import WAITING, Job, LatestTask, ThreadName
from gui.workspace.workspace import Workspace

_LONGEST_NAME = 60  # characters
_LETTERS = 70  # of the average width: how wide the dialog is

Result = TypeVar("Result")


class Offered(NamedTuple):
    """The model that is chosen, None for none that can judge; all that can; the settings they work with."""

    chosen: Candidate | None
    usable: Sequence[Candidate]
    request: ModelRequest


class ModelActions(QObject):
    """The menu of the list, and the work that it starts: one at a time, which can be stopped."""

    measured = Signal(object)  # a Candidate with its speed
    ended = Signal()  # all that was to be measured is, or the work was stopped
    converted = Signal(object)  # the path of the new file
    audit_wanted = Signal()  # of the judge that the page describes

    def __init__(self, workspace: Workspace, offered: Callable[[], Offered], parent: QWidget) -> None:
        super().__init__(parent)
        self._parent, self._workspace, self._offered = parent, workspace, offered
        self.dialog: ConvertDialog | None = None
        self.line = BusyLine()
        self.menu = QMenu(parent)
        self.button = QPushButton("Measure, convert, audit")
        name(
            self.button,
            "Measure the speed of models, convert one, or audit it",
            "Measure how fast models read and write on this computer with “Compute on”;"
            " convert the chosen model; audit it as a judge of the open dataset",
        )
        self.button.setMenu(self.menu)
        self.menu.aboutToShow.connect(self._fill)
        self._working = LatestTask(workspace.threads, ThreadName.MODEL, self)
        self._working.progress.connect(self._follow)
        self._working.finished.connect(self._take)
        workspace.failures.follow(self._working)
        self._working.busy_changed.connect(self._follow_end)
        self.line.cancelled.connect(self._working.stop)
        self._asking = LatestTask(workspace.threads, ThreadName.SCAN, self)
        self._asking.finished.connect(self._ask)
        workspace.failures.follow(self._asking)

    def measure(self, candidates: Sequence[Candidate]) -> None:
        """Measure the speed of models anew."""
        self._start(model_jobs.measure(candidates, self._offered().request))

    @Slot()
    def measure_chosen(self) -> None:
        """Measure the speed of the chosen model anew."""
        chosen = self._offered().chosen
        if chosen is not None:
            self.measure([chosen])

    @Slot()
    def measure_all(self) -> None:
        """Measure the speed of all models anew."""
        self.measure(self._offered().usable)

    @Slot()
    def ask_for_format(self) -> None:
        """Ask in which format the chosen model is to be written."""
        chosen = self._offered().chosen
        if chosen is not None:
            self._asking.start(model_jobs.choices(chosen))

    def _start(self, job: Job[Result]) -> None:
        waits = self._workspace.threads.busy(ThreadName.MODEL)
        self._working.start(job)
        self.line.begin(f"{WAITING if waits else 'Loading the model'} …")

    @Slot(object)
    def _follow(self, event: object) -> None:
        if isinstance(event, AtWork):
            self.line.go_on(f"{event.text} …", event.done, event.total)
        elif isinstance(event, Candidate):
            self.measured.emit(event)

    @Slot(object)
    def _take(self, result: object) -> None:
        if isinstance(result, SpeedsMeasured):
            self._tell_speeds(result)
        elif isinstance(result, Path):
            self._workspace.note.emit(f"{without_middle(result.name, _LONGEST_NAME)} is written.")
            self.converted.emit(result)

    def _tell_speeds(self, result: SpeedsMeasured) -> None:
        disturbed = [each for each in result.measured if each.speed is not None and each.speed.disturbed]
        if result.failed:
            self._workspace.problem.emit(_together(result.failed))
        elif disturbed:
            models = counted(len(disturbed), "model was", "models were")
            self._workspace.note.emit(
                f"Other programs used the processor while {models} measured: close them, and measure again."
            )

    @Slot(bool)
    def _follow_end(self, busy: bool) -> None:
        if not busy:
            self.line.end()
            self.ended.emit()

    @Slot()
    def _fill(self) -> None:
        offered = self._offered()
        number = len(offered.usable)
        self.menu.clear()
        one = self.menu.addAction("&Measure the speed of this model")
        one.triggered.connect(self.measure_chosen)
        every = self.menu.addAction(f"Measure the speed of &all {number:,} models")
        every.triggered.connect(self.measure_all)
        every.setVisible(number > 1)
        self.menu.addSeparator()
        convert = self.menu.addAction("&Convert this model to another format…")
        convert.triggered.connect(self.ask_for_format)
        for action in (one, every, convert):
            action.setEnabled(offered.chosen is not None and not self._working.busy)
        self.menu.addSeparator()
        audit = self.menu.addAction("Add a robustness a&udit of this judge to the queue")
        audit.setToolTip("Items of the open dataset and rule-based perturbations of them, judged as a run")
        audit.triggered.connect(self.audit_wanted)
        audit.setEnabled(offered.chosen is not None and self._workspace.dataset is not None)

    @Slot(object)
    def _ask(self, choices: Sequence[OfferedFormat]) -> None:
        if not choices:
            self._workspace.problem.emit(
                SetupError(
                    "There is no format in which this model could be written: all of them are there, or the"
                    " disk has no room.",
                    "Free some space, or move the files that are there elsewhere.",
                )
            )
            return
        self.dialog = ConvertDialog(choices, self._parent)
        self.dialog.wanted.connect(self._convert)
        self.dialog.open()

    @Slot(object)
    def _convert(self, choice: OfferedFormat) -> None:
        self._start(model_jobs.convert(choice.planned))


def _together(errors: Sequence[SetupError]) -> EngineError:
    """Several errors as one, the first with its next step."""
    if len(errors) == 1:
        return errors[0]
    return SetupError("\n".join(error.problem for error in errors), errors[0].hint)


class ConvertDialog(QDialog):
    """In which format, where to, at what cost."""

    wanted = Signal(object)  # an OfferedFormat

    def __init__(self, choices: Sequence[OfferedFormat], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Convert a model")
        self._choices = choices
        source = choices[0].planned.source
        self.formats = ComboBox()
        name(self.formats, "The format to write the weights in")
        for choice in choices:
            self.formats.addItem(f"{choice.label}, about {amount(choice.planned.expected)}")
        self.formats.currentIndexChanged.connect(self._show)
        self.about = plain_label()
        self.target = plain_label()
        self.tick = QCheckBox("Convert it although it is a small quantisation already")
        self.tick.setVisible(choices[0].planned.lossy_source)
        self.tick.toggled.connect(self._show)
        in_column(
            heading("Write the model in another format"),
            plain_label(
                f"{source.name}: {source.quantisation}, {amount(source.size_bytes)}. It stays as it is."
            ),
            self.formats,
            self.about,
            self.target,
            self.tick,
            hint(
                "How fast a format is depends on the processor: measure both files, and compare their runs."
            ),
            STRETCH,
            self._buttons(),
            on=self,
            margins=None,
            spacing=10,
        )
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * _LETTERS)
        self._show()

    def _buttons(self) -> QDialogButtonBox:
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.convert = QPushButton("&Convert", default=True)
        self.convert.clicked.connect(self._agree)
        buttons.addButton(self.convert, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.rejected.connect(self.reject)
        return buttons

    @property
    def _choice(self) -> OfferedFormat:
        return self._choices[self.formats.currentIndex()]

    @Slot()
    def _show(self) -> None:
        planned = self._choice.planned
        self.about.setText(planned.cost)
        self.target.setText(f"New file: {planned.target}")
        self.convert.setEnabled(self.tick.isChecked() or not planned.lossy_source)

    @Slot()
    def _agree(self) -> None:
        self.accept()
        self.wanted.emit(self._choice)
