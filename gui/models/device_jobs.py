"""Jobs on what computes beside the processor: what is remembered of it, all devices tried, what a run uses.

Nothing here has a library of a GPU loaded, not even by a child process, before the user has asked for it.

Knows: what looks for devices, and what only remembers them. Does not know: windows, how devices are tried.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import DeviceFailed, ProcessEnded, SetupError
from engine.core.events import DeviceLeft, Preparing, followed
from engine.settings.rows import Device
from engine.settings.run_setup import RunSetup
from gui.workspace.threads import Job, JobControl
from gui.workspace.worker_jobs import worker

if TYPE_CHECKING:
    from engine.judging.plan import RunPlan
    from engine.llama.speed import DeviceTrial
    from engine.settings.identity import StoredRun

PROCESSOR = "the processor"


@dataclass(frozen=True)
class DevicesTried:
    """All devices that were found, and what came of them with the model; None where there was none to try."""

    model: Path
    found: tuple[Device, ...]
    trial: "DeviceTrial | None"


@dataclass(frozen=True)
class Computing:
    """What computes a run. `device`: its title, empty for the processor alone. `remark`: why it is not the
    device that the user may expect, in a sentence, or empty. `failed`: a device failed in this run.
    """

    device: str = ""
    remark: str = ""
    failed: bool = False

    @property
    def on(self) -> str:
        """What computes, for display."""
        return self.device or PROCESSOR

    @classmethod
    def after(cls, left: DeviceLeft) -> "Computing":
        """What computes once a device has failed."""
        return cls(remark=left.in_words, failed=True)


def remembered(path: Path) -> "Job[DeviceTrial | None]":
    """What was found with a model file on this computer; None where it was not tried, or is no model."""

    def work(_control: JobControl) -> "DeviceTrial | None":
        from engine.models.devices import remembered_trial
        from engine.models.model_file import read_model_file
        from engine.models.opening import known_hash

        try:
            file_hash = known_hash(read_model_file(path).files)
        except SetupError:
            return None  # the list of models says what is wrong with it
        return remembered_trial(file_hash) if file_hash else None

    return work


def try_devices(path: Path, threads: int | None) -> Job[DevicesTried]:
    """Look for devices and try all of them with a model file, each in a process of its own.

    Reports Preparing and MeasureProgress. SetupError where looking breaks down, ModelFileError.
    """

    def work(control: JobControl) -> DevicesTried:
        control.report(Preparing("Looking for GPUs"))
        from engine.models.devices import found_devices, try_device, trying_devices
        from engine.models.model_file import read_model_file

        model = read_model_file(path)
        found = found_devices(control.cancel)
        if not found:
            return DevicesTried(path, (), None)
        start = partial(worker, try_device, control)
        trying = trying_devices(model, threads, control.cancel, start, found)
        return DevicesTried(path, tuple(found), followed(trying, control.report))

    return work


def computing(setup: RunSetup, plan: "RunPlan", run: "StoredRun | None") -> Computing:
    """What computes the run of a plan, which goes on with `run` where that is there."""
    if run is not None and run.device_left:
        return Computing(remark=run.device_left_in_words)
    if plan.machine.device is not None:
        return Computing(plan.machine.device.title)
    from engine.models.devices import lost_device

    automatic = setup.device is None and plan.began_on is None
    return Computing(remark=lost_device(plan.model.hash, None) if automatic else "")


@contextmanager
def blamed(device: Device | None) -> Iterator[None]:
    """Work that a device takes part in: where its process breaks down, DeviceFailed says so."""
    try:
        yield
    except ProcessEnded as error:
        if device is None or not error.broke_down:
            raise
        raise DeviceFailed(device.title, error.as_clause) from error
