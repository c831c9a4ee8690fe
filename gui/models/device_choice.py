"""The field "Compute on": the processor, a GPU, or whichever was faster; the button that tries GPUs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from engine.core.events import MeasureProgress, Preparing
from engine.core.formatting import visible, without_middle
from engine.settings.rows import CPU, Device
from gui.models import model_jobs
from gui.models.model_jobs import DevicesTried
from gui.models.model_table import rate
from gui.widgets.fields import ComboBox
from gui.widgets.foreign_text import one_line, plain_label
from gui.widgets.labels import STRETCH, button, in_column, in_row, name, narrow
from gui.workspace.task_panel import TaskPanel
from gui.workspace.threads import ThreadName
from gui.workspace.workspace import Workspace

if TYPE_CHECKING:
    from engine.llama.speed import DeviceFinding, DeviceTrial, ModelSpeed

NOT_TRIED = (
    "No GPU was tried with this model: the processor computes. The trial runs the model on each GPU and on"
    " the processor and reports whether they agree and which is faster. Until then no GPU driver is loaded."
)
NONE_FOUND = (
    "No GPU was found that Tiebreak can use: the processor does all the work. If the computer has one, its"
    " driver is missing, or this Tiebreak was built without GPU support; the bundles for Linux"
    " and Windows have it."
)
_WHICH = (
    "Automatic: the GPU that was faster when this model was tried with it, else the processor."
    " A run on another GPU is a new run; if a GPU fails, the processor continues its run."
)
_TRY = (
    "Looks for GPUs and tries each with the chosen model: whether its results equal"
    " the processor's, and how fast it is. A driver that crashes does no harm."
)
_CHOOSE_OTHERWISE = "The chosen device was not found: choose Automatic or the processor."
_AUTOMATIC = ""  # the data of its row
_LONGEST_NAME = 80  # characters


class DeviceChoice(QWidget):
    """Shows and takes a choice; `request` is what a RunSetup calls its device."""

    changed = Signal()
    tried = Signal()  # another device may be the fastest by now, and speeds are known

    def __init__(self, workspace: Workspace, threads_set: Callable[[], int | None]) -> None:
        super().__init__()
        self._threads_set = threads_set
        self.request: str | None = None
        self._model: Path | None = None
        self._found: tuple[Device, ...] | None = None  # None: nobody has looked for them
        self._trial: DeviceTrial | None = None
        self._doing = ""
        threads, failures = workspace.threads, workspace.failures
        self._remembering = TaskPanel(threads, ThreadName.SCAN, self, self._take_trial, failed=failures)
        model, take, follow = ThreadName.MODEL, self._take, self._follow
        self._trying = TaskPanel(threads, model, self, take, follow=follow, failed=failures)
        self.field = ComboBox()
        narrow(self.field)
        name(self.field, "Compute device", _WHICH)
        self.field.currentIndexChanged.connect(self._choose)
        self.button = button("Try the GPU", self.try_devices, "Try the GPU with this model", _TRY)
        self.line = self._trying.line
        self.outcome = plain_label(role="hint")
        self._trying.busy_changed.connect(self.outcome.setHidden)
        in_column(in_row((self.field, STRETCH), self.button), self.line, self.outcome, on=self)
        self._show()

    @property
    def known(self) -> tuple[Device, ...]:
        """The devices that were found since the start, or else those that the chosen model was tried with."""
        if self._found is not None:
            return self._found
        return tuple(finding.device for finding in self._trial.findings) if self._trial else ()

    def choose(self, request: str | None) -> None:
        self.request = CPU if request is not None and request.strip().casefold() == CPU else request
        self._show()

    def set_model(self, path: Path) -> None:
        if path != self._model:
            self._model, self._trial = path, None
            self._remembering.start(model_jobs.remembered(path))
            self._show()

    def try_devices(self) -> None:
        if self._model is not None and not self._trying.busy:
            job = model_jobs.try_devices(self._model, self._threads_set())
            self._trying.begin(job, "Looking for GPUs …")

    def _choose(self) -> None:
        self.request = self.field.currentData() or None
        self._say()
        self.changed.emit()

    def _follow(self, event: object) -> None:
        if isinstance(event, Preparing):
            self._doing = event.what
            self.line.go_on(f"{event.what} …", 0, 1)
        elif isinstance(event, MeasureProgress):
            self.line.go_on(f"{self._doing} …", event.done, event.total)

    def _take_trial(self, trial: "DeviceTrial | None") -> None:
        self._trial = trial
        self._show()

    def _take(self, tried: DevicesTried) -> None:
        self._found = tried.found
        if tried.model == self._model and tried.trial is not None:
            self._remembering.drop()
            self._trial = tried.trial
        self._show()
        self.tried.emit()

    def _show(self) -> None:
        self._fill()
        self._say()

    def _say(self) -> None:
        trial, found = self._trial, self._found
        if found == ():
            lost = self.request is not None and self.request != CPU
            text = f"{NONE_FOUND}\n{_CHOOSE_OTHERWISE}" if lost else NONE_FOUND
        elif trial is None or self._model is None:
            text = NOT_TRIED
        else:
            text = outcome(trial, self._model.stem, found)
        self.outcome.setText(text)

    def _fill(self) -> None:
        # Offer what there is; what is chosen and not there stays, and is named so.
        with QSignalBlocker(self.field):
            self.field.offer([("Automatic", _AUTOMATIC), ("Processor only (CPU)", CPU)])
            for device in self.known:
                # By what it is found again: its name, too, may be another device's after a restart.
                alone = sum(each.key == device.key for each in self.known) == 1
                self.field.add(_named(device), device.key if alone else device.name)
            self.field.setCurrentIndex(self._place())

    def _place(self) -> int:
        if self.request is None or self.request == CPU:
            return self.field.findData(self.request or _AUTOMATIC)
        for place, device in enumerate(self.known):
            if device.is_called(self.request):
                self.field.setItemData(2 + place, self.request)  # what was said stays as it was
                return 2 + place
        where = "Not looked for yet" if self._found is None else "Not found now"
        self.field.addItem(f"{where}: {one_line(without_middle(self.request, _LONGEST_NAME))}", self.request)
        return self.field.count() - 1


def _named(device: Device) -> str:
    return one_line(without_middle(device.title, _LONGEST_NAME))


def outcome(trial: "DeviceTrial", model: str, found: Sequence[Device] | None) -> str:
    """What a trial found with a model, and what Automatic takes; `found`: the devices there are now, None
    where nobody has looked for them since the start.
    """
    first = f"Tried with {one_line(without_middle(model, _LONGEST_NAME))}; speeds are tokens a second."
    findings = (f"• {_finding(finding, found)}" for finding in trial.findings)
    return "\n".join([first, f"• The processor {_speeds(trial.processor)}.", *findings, _taken(trial, found)])


def _finding(finding: "DeviceFinding", found: Sequence[Device] | None) -> str:
    name, speeds = _named(finding.device), _speeds(finding.speed) if finding.speed else ""
    gone = "" if _is_there(finding.device, found) else " Now it is not found, or has another driver."
    if finding.sound:
        return f"{name} gives the processor's results, and {speeds}.{gone}"
    reason = visible(finding.reason) or "its results differ from the processor's"
    return f"{name} cannot be used: {reason}{f' (it {speeds})' if speeds else ''}.{gone}"


def _taken(trial: "DeviceTrial", found: Sequence[Device] | None) -> str:
    best = trial.best
    if best is not None and _is_there(best, found):
        return f"Automatic takes {_named(best)}: it is the fastest."
    if best is not None:
        return "Automatic takes the processor until it is tried again."
    sound = any(finding.sound for finding in trial.findings)
    return f"Automatic takes the processor: {'it is the fastest' if sound else 'no GPU can be used'}."


def _speeds(speed: "ModelSpeed") -> str:
    return f"reads {rate(speed.reading)} and writes {rate(speed.writing_ten)}"


def _is_there(device: Device, found: Sequence[Device] | None) -> bool:
    """Whether a device is found still, with its driver; taken for granted where nobody has looked."""
    return found is None or any(map(device.is_still, found))
