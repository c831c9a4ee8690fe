"""Jobs on model files and devices: which there are, whether they fit, how fast they are, what a run uses.

No library of a GPU is loaded, not even by a child process, before the user has asked for it.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import DeviceFailed, ProcessEnded, SetupError, StoreError
from engine.core.events import MeasureProgress, Preparing, followed
from engine.settings.identity import StoredRun
from engine.settings.rows import CPU, Device, KvType, default_context
from engine.settings.run_setup import RunSetup
from engine.system.computer import Memory, available_memory
from engine.system.paths import demo_model, real_path
from gui.workspace.threads import AtWork, JobControl, job, worker

if TYPE_CHECKING:
    from engine.judging.plan import RunPlan
    from engine.llama.speed import DeviceTrial, ModelSpeed
    from engine.models.finder import FoundModel, Stamp
    from engine.models.memory import Fit, MemoryEstimate
    from engine.models.model_file import ModelFile
    from engine.results.health import RunMass

PROCESSOR = "the processor"


@dataclass(frozen=True)
class DevicesTried:
    model: Path
    found: tuple[Device, ...]
    trial: "DeviceTrial | None"  # what came of them with the model; None where there was none to try


@dataclass(frozen=True)
class Computing:
    """What computes a run."""

    device: str = ""  # its title, empty for the processor alone
    remark: str = ""  # why it is not the device that the user may expect, in a sentence, or empty
    failed: bool = False  # one failed in it

    @property
    def on(self) -> str:
        return self.device or PROCESSOR


@job
def remembered(_control: JobControl, path: Path) -> "DeviceTrial | None":
    """What was found with a model file on this computer; None where it was not tried, or is no model."""
    from engine.models.devices import remembered_trial
    from engine.models.model_file import read_model_file
    from engine.models.opening import known_hash

    try:
        file_hash = known_hash(read_model_file(path).files)
    except SetupError:
        return None  # the list of models says what is wrong with it
    return remembered_trial(file_hash) if file_hash else None


@job
def try_devices(control: JobControl, path: Path, threads: int | None) -> DevicesTried:
    """Look for devices and try all of them with a model file, each in a process of its own. Reports Preparing
    and MeasureProgress. SetupError where looking breaks down, ModelFileError.
    """
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


def computing(setup: RunSetup, plan: "RunPlan", run: "StoredRun | None") -> Computing:
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


DEMO_SOURCE = "Tiebreak"


@dataclass(frozen=True)
class ModelRequest:
    """What memory and speed of a model depend on; None for the defaults of each model and this computer."""

    context: int | None  # in tokens
    kv_type: KvType
    threads: int | None = None
    device: str | None = None  # as in RunSetup, like the next
    gpu_layers: int | None = None
    devices: tuple[Device, ...] = ()  # those that are known to be there
    store: Path | None = None  # the runs whose answer mass is shown, None for none

    @classmethod
    def of(cls, setup: RunSetup, devices: tuple[Device, ...] = ()) -> "ModelRequest":
        return cls(setup.context, setup.kv_type, setup.threads, setup.device, setup.gpu_layers, devices)


@dataclass(frozen=True)
class Candidate:
    """A file to choose from; None for what is not known."""

    found: "FoundModel"
    is_demo: bool
    context: int = 0
    estimate: "MemoryEstimate | None" = None  # None where it cannot judge, like the next
    fit: "Fit | None" = None
    memory: "Memory | None" = None  # of this computer
    hash: str = ""  # empty where it is not remembered
    speed: "ModelSpeed | None" = None  # measured here, with the threads that are set and what would compute
    speed_on: str = ""  # the title of the device, empty for the processor
    run: "RunMass | None" = None  # what its newest run gave

    @property
    def path(self) -> Path:
        return self.found.path

    @property
    def files(self) -> tuple[Path, ...]:
        """All its files: the parts, where the model is split."""
        return self.found.model.files if self.found.model else (self.found.path,)

    @property
    def name(self) -> str:
        return self.found.name

    @property
    def usable(self) -> bool:
        return self.found.model is not None


@job
def find(
    control: JobControl,
    files: Sequence[Path],
    folders: Sequence[Path],
    request: ModelRequest,
    growing: Collection[Path] = (),
) -> int:
    """Tell the Stamps of all that is looked at, then a Candidate for the demo model, each of the files, each
    model in the default folders and these, but for those of which a file is `growing`; how many there are.
    """
    from engine.models.finder import default_folders, find_models

    control.report(list_files(files, folders)(control))
    memory = available_memory()
    seen: dict[Path, Candidate] = {}
    demo, here = replace(_described(demo_model()), source=DEMO_SOURCE), map(_described, files)
    for found in chain([demo], here, find_models([*default_folders(), *folders])):
        control.cancel.raise_if_requested()
        target = real_path(found.path)
        if target not in seen:
            candidate = _candidate(found, request, memory)
            if not set(candidate.files).intersection(growing):
                seen[target] = candidate
                control.report(candidate)
    for candidate in _with_runs(list(seen.values()), request):
        control.report(candidate)
    return len(seen)


@dataclass(frozen=True)
class Stamps:
    """The model files that there are, each with what changes when it is written to."""

    files: "Mapping[Path, Stamp]"
    seconds: float = 0.0  # that the listing took


@job
def list_files(_control: JobControl, files: Sequence[Path], folders: Sequence[Path]) -> Stamps:
    """Which model files there are in the default folders and these, without a look into any."""
    from engine.models.finder import default_folders, stamps

    begun = time.monotonic()
    return Stamps(stamps([*default_folders(), *folders], files), time.monotonic() - begun)


@job
def fits(_control: JobControl, candidates: Sequence[Candidate], request: ModelRequest) -> list[Candidate]:
    memory = available_memory()
    return [replace(_candidate(each.found, request, memory), run=each.run) for each in candidates]


def _described(path: Path) -> "FoundModel":
    from engine.models.finder import found_model

    return found_model(path, path.parent.name or str(path.parent))


def _candidate(found: "FoundModel", request: ModelRequest, memory: "Memory | None") -> Candidate:
    from engine.models.memory import memory_fit, memory_needed
    from engine.models.opening import known_hash

    is_demo = real_path(found.path) == real_path(demo_model())
    if found.model is None:
        return Candidate(found, is_demo)
    context = request.context or default_context(found.model.trained_context)
    estimate = memory_needed(found.model, context, kv_type=request.kv_type)
    file_hash = known_hash(found.model.files) or ""
    return Candidate(
        found=found,
        is_demo=is_demo,
        context=context,
        estimate=estimate,
        fit=memory_fit(estimate, memory),
        memory=memory,
        hash=file_hash,
        **_speed(found.model, file_hash, request),
    )


def _speed(model: "ModelFile", file_hash: str, request: ModelRequest) -> dict[str, Any]:
    """What is remembered of its speed with what would compute, as fields of a Candidate; looks for no GPU."""
    if not file_hash:
        return {}  # and llama.cpp need not be loaded
    from engine.models.devices import remembered_trial
    from engine.models.opening import machine_on, remembered_speed

    device: Device | None = None
    if request.device != CPU:
        trial = remembered_trial(file_hash)
        tried = tuple(finding.device for finding in trial.findings) if trial else ()
        if request.device is None:
            device = trial.best if trial else None
        else:  # as it is now, or as it was when it was tried
            known = (each for each in (*request.devices, *tried) if each.is_called(request.device))
            if (device := next(known, None)) is None:
                return {}
    speed = remembered_speed(file_hash, machine_on(device, request.threads, request.gpu_layers, model))
    return {"speed": speed, "speed_on": device.title if device and speed else ""}


def _with_runs(candidates: Sequence[Candidate], request: ModelRequest) -> Iterator[Candidate]:
    """Those of which the store holds a run, with what their newest one gave."""
    from engine.results.health import newest_masses

    hashes = {candidate.hash for candidate in candidates} - {""}
    if request.store is None or not hashes:
        return
    try:
        runs = newest_masses(request.store, hashes)
    except StoreError:
        return  # whoever works with the runs themselves says it
    for candidate in candidates:
        if candidate.hash in runs:
            yield replace(candidate, run=runs[candidate.hash])


@job
def can_reason(_control: JobControl, path: Path) -> bool | None:
    """Whether the chat template of a model has a reasoning part; None where the file is no model."""
    # Nothing is rendered: the plan has the last word.
    from engine.models.model_file import template_source
    from engine.prompt.reply_starts import may_reason

    try:
        return may_reason(template_source(path))
    except SetupError:
        return None  # the list of models says what is wrong with it


@dataclass(frozen=True)
class SpeedsMeasured:
    measured: tuple[Candidate, ...]  # with their speeds
    failed: tuple[SetupError, ...]  # why others have none


@job
def measure(control: JobControl, candidates: Sequence[Candidate], request: ModelRequest) -> SpeedsMeasured:
    """Measure the speed of models anew, one after another, with what would compute: the chosen device, else
    the one that a trial proposes, else the processor. Tells AtWork, and each Candidate with its speed.
    """
    measured, failed = [], []
    for number, candidate in enumerate(candidates, start=1):
        which = f" ({number:,} of {len(candidates):,})" if len(candidates) > 1 else ""
        title = f"Measuring {candidate.name}{which}"
        control.report(AtWork(f"{title} …"))
        try:
            measured.append(_measured(candidate, request, control, title))
        except SetupError as error:
            failed.append(error)
        else:
            control.report(measured[-1])
    return SpeedsMeasured(tuple(measured), tuple(failed))


def _measured(candidate: Candidate, request: ModelRequest, control: JobControl, title: str) -> Candidate:
    from engine.models.checked_model import checked_model
    from engine.models.devices import wished_device
    from engine.models.opening import machine_on, measure_speed, speed_of

    model = candidate.found.model
    assert model is not None
    _tell(control, title, Preparing("Checking the model file"))
    device = wished_device(request.device, checked_model(model, control.cancel).hash, control.cancel)
    machine = machine_on(device, request.threads, request.gpu_layers, model)
    start = partial(worker, measure_speed, control)
    measuring = speed_of(model, machine, control.cancel, start, again=True)
    with blamed(device):
        file_hash, speed = followed(measuring, partial(_tell, control, title))
    return replace(candidate, hash=file_hash, speed=speed, speed_on=device.title if device else "")


def _tell(control: JobControl, title: str, event: Preparing | MeasureProgress) -> None:
    if isinstance(event, MeasureProgress):
        control.report(AtWork(f"{title} …", event.done, event.total))
    else:
        control.report(AtWork(f"{title}: {event.what[:1].lower()}{event.what[1:]} …"))
