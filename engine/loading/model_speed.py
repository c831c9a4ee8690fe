"""The speed of a model file on this computer: measured by a process of its own, remembered for its content.

Knows: what a speed depends on. Does not know: how it is measured, runs, who shows it.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from engine.core.cancel import CancelToken
from engine.core.events import MeasureProgress, Preparing
from engine.core.items import digest
from engine.core.settings import MachineSettings
from engine.gguf.judge_file import ModelFile
from engine.llama.library import library_version, processor_features
from engine.llama.model import LlamaModel
from engine.llama.session import LlamaSession
from engine.llama.speed import ModelSpeed, measuring_speed, speed_shape
from engine.loading.checked_model import CheckedModel, checked_model, in_use
from engine.loading.model_memory import SeenFiles, model_memory
from engine.loading.opening import most_threads, thread_choice
from engine.system.apart import Worker

_VERSION = 1  # of what is measured
SpeedMeasurer = Worker[[CheckedModel, MachineSettings], MeasureProgress, ModelSpeed]


class SpeedOfFile(NamedTuple):
    """The SHA-256 of a model's files, and the speed of what is in them."""

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
            yield session, 0 if machine.device else most_threads(threads)


def speed_of(
    model: ModelFile,
    machine: MachineSettings,
    cancel: CancelToken,
    worker: Callable[[], SpeedMeasurer],
    again: bool = False,
) -> Generator[Preparing | MeasureProgress, None, SpeedOfFile]:
    """The remembered speed of a file, or its speed measured now by `worker` and remembered; `again`: now.

    Raises ModelFileError, NoRoomError, ProcessEnded, Cancelled.
    """
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
    """Keep what was measured of a content, in place of what was before."""
    with model_memory() as memory:
        memory.remember_speed(_key(file_hash, machine), speed)


def remembered_speed(file_hash: str, machine: MachineSettings) -> ModelSpeed | None:
    """What was measured here of a content, with this build, this many threads and this device; else None."""
    with model_memory() as memory:
        return memory.speed(_key(file_hash, machine))


def known_hash(files: Sequence[Path]) -> str | None:
    """The SHA-256 of a model's files where it is remembered; None where they would have to be read for it."""
    try:
        with model_memory() as memory:
            return memory.hash_of(SeenFiles.now(files))
    except OSError:
        return None


def _key(file_hash: str, machine: MachineSettings) -> str:
    """Also of the processor: a home folder may be used by several computers."""
    device = machine.device
    on_device = [machine.gpu_layers, device.key, device.driver] if device else [0]
    how = [machine.threads, machine.adapts, *on_device]
    return digest([_VERSION, file_hash, library_version(), processor_features(), how])
