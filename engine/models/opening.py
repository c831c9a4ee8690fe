"""From a checked file to an open session with its chat template, or to an open encoder; and the speed of a
model file on this computer, measured by a process of its own and remembered for its content.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from engine.core.events import CancelToken, MeasureProgress, Preparing
from engine.core.items import digest
from engine.llama.context import SessionShape, ThreadCount
from engine.llama.encoder import LlamaEncoder
from engine.llama.library import library_version, processor_features
from engine.llama.model import LlamaModel, Vocabulary
from engine.llama.session import LlamaSession
from engine.llama.speed import ModelSpeed, measuring_speed, speed_shape
from engine.models.checked_model import CheckedModel, checked_model, in_use
from engine.models.model_file import ModelFile
from engine.models.templates import SeenFiles, model_memory, template_of
from engine.prompt.template import ChatTemplate
from engine.settings.rows import Device, DeviceKind, MachineSettings
from engine.system.computer import default_threads
from engine.system.subprocess_worker import Worker

_OF_MEMORY = 0.85  # of a graphics card's memory for the model's file; the cache and the screen need some
_SMALL_MODEL = 16 << 20  # of so few bytes: threads would wait for each other longer than they work


def encoder_hash(checked: CheckedModel) -> str:
    """What an encoder's vectors depend on, as one digest: its file and the build of llama.cpp."""
    return digest([checked.hash, library_version()])


@contextmanager
def open_template(path: Path, cancel: CancelToken) -> Iterator[tuple[LlamaModel, ChatTemplate]]:
    """A model's vocabulary alone, and its chat format. ModelFileError, NoRoomError, Cancelled."""
    with LlamaModel(path, vocabulary_only=True, cancel=cancel) as model:
        yield model, template_of(model, Vocabulary(model), cancel)


@contextmanager
def open_encoder(
    checked: CheckedModel, machine: MachineSettings, cancel: CancelToken
) -> Iterator[LlamaEncoder]:
    """Loaded, on the processor. ModelFileError if it cannot be used or has changed, Cancelled."""
    checked.check_unchanged()
    with (
        LlamaModel(checked.path, cancel=cancel) as model,
        LlamaEncoder(model, thread_choice(machine, model), cancel) as encoder,
    ):
        yield encoder


def machine_settings(threads: int | None) -> MachineSettings:
    """How the processor works; None: its physical cores, as other programs leave them free. SetupError."""
    if threads is None:
        return MachineSettings(default_threads(), adapts=True)
    return MachineSettings(threads)


def machine_on(
    device: Device | None, threads: int | None, gpu_layers: int | None, model: ModelFile
) -> MachineSettings:
    """How the computer works with a model where a device computes, too; None: the processor alone.
    `gpu_layers`: how many are on it; None for as many as its memory holds. SetupError.
    """
    if device is None:
        return machine_settings(threads)
    if gpu_layers is None:
        # All, but of a model that is larger than a graphics card's own memory its share. llama.cpp counts
        # what makes tokens of the last layer as one more.
        room, gpu_layers = _OF_MEMORY * device.memory, model.layers + 1
        if device.kind is DeviceKind.GPU and device.memory and model.size_bytes > room:
            gpu_layers = int(model.layers * room / model.size_bytes)
    # Threads that wait for a device take little time of any core, and would seem to have none.
    return MachineSettings(threads or default_threads(), gpu_layers=gpu_layers, device=device)


def thread_choice(machine: MachineSettings, model: LlamaModel) -> int | ThreadCount:
    if not machine.adapts:
        return machine.threads
    return ThreadCount(1 if model.weight_bytes < _SMALL_MODEL else machine.threads)


@dataclass(frozen=True)
class OpenModel:
    session: LlamaSession
    template: ChatTemplate


OpenModelFactory = Callable[[], AbstractContextManager[OpenModel]]


@contextmanager
def open_session(
    checked: CheckedModel,
    machine: MachineSettings,
    shape: Callable[[LlamaModel], SessionShape],
    cancel: CancelToken,
) -> Iterator[OpenModel]:
    """A model, loaded, with a session of `shape`. ModelFileError, DeviceFailed, Cancelled."""
    checked.check_unchanged()
    with (
        LlamaModel(checked.path, machine.device, machine.gpu_layers, cancel=cancel) as model,
        LlamaSession(model, shape(model), thread_choice(machine, model), cancel) as session,
    ):
        yield OpenModel(session, template_of(model, session.vocabulary, cancel))


_VERSION = 1  # of what is measured
SpeedMeasurer = Worker[[CheckedModel, MachineSettings], MeasureProgress, ModelSpeed]


class SpeedOfFile(NamedTuple):
    hash: str
    speed: ModelSpeed


def measure_speed(
    cancel: CancelToken, checked: CheckedModel, machine: MachineSettings
) -> Generator[MeasureProgress, None, ModelSpeed]:
    """Open a model and measure it: a work for a process of its own. Raises ModelFileError, Cancelled."""
    with session_to_measure(checked, machine, cancel) as (session, threads):
        return (yield from measuring_speed(session, threads))


@contextmanager
def session_to_measure(
    checked: CheckedModel, machine: MachineSettings, cancel: CancelToken
) -> Iterator[tuple[LlamaSession, int]]:
    """A model opened to be measured, and the threads that it computes with at most: 0 where a GPU may."""
    checked.check_unchanged()
    with LlamaModel(checked.path, machine.device, machine.gpu_layers, cancel=cancel) as model:
        threads = thread_choice(machine, model)
        with LlamaSession(model, speed_shape(model.trained_context), threads, cancel) as session:
            most = threads.most if isinstance(threads, ThreadCount) else threads
            yield session, 0 if machine.device else most


def speed_of(
    model: ModelFile,
    machine: MachineSettings,
    cancel: CancelToken,
    worker: Callable[[], SpeedMeasurer],
    again: bool = False,
) -> Generator[Preparing | MeasureProgress, None, SpeedOfFile]:
    """Remembered, else or `again` measured by `worker`. ModelFileError, ProcessEnded, Cancelled."""
    yield Preparing("Checking the model file")
    checked = checked_model(model, cancel)
    known = None if again else remembered_speed(checked.hash, machine)
    if known is not None:
        return SpeedOfFile(checked.hash, known)
    with worker() as measuring, in_use(checked):
        speed = yield from measuring.do(checked, machine)
    remember_speed(checked.hash, machine, speed)
    return SpeedOfFile(checked.hash, speed)


def remember_speed(file_hash: str, machine: MachineSettings, speed: ModelSpeed) -> None:
    with model_memory() as memory:
        memory.remember("speed", _key(file_hash, machine), speed)


def remembered_speed(file_hash: str, machine: MachineSettings) -> ModelSpeed | None:
    """What was measured here of a content, with this build, this many threads and this device."""
    with model_memory() as memory:
        return memory.recall("speed", _key(file_hash, machine), ModelSpeed)


def known_hash(files: Sequence[Path]) -> str | None:
    """The SHA-256 of a model's files where it is remembered; None where they would have to be read for it."""
    try:
        with model_memory() as memory:
            return memory.hash_of(SeenFiles.now(files))
    except OSError:
        return None


def _key(file_hash: str, machine: MachineSettings) -> str:
    # Also of the processor: a home folder may be used by several computers.
    device = machine.device
    on_device = [machine.gpu_layers, device.key, device.driver] if device else [0]
    how = [machine.threads, machine.adapts, *on_device]
    return digest([_VERSION, file_hash, library_version(), processor_features(), how])
