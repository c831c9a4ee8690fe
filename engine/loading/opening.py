"""From a checked file to an open session with its chat template, or to an open encoder.

Knows: what is opened in which order, with how many threads, and closed.
Does not know: runs, what a session is asked.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.core.cancel import CancelToken
from engine.core.items import digest
from engine.core.settings import Device, DeviceKind, MachineSettings
from engine.gguf.judge_file import ModelFile
from engine.llama.context import SessionShape
from engine.llama.encoder import LlamaEncoder
from engine.llama.library import library_version
from engine.llama.model import LlamaModel
from engine.llama.session import LlamaSession
from engine.llama.threads import ThreadCount
from engine.llama.vocabulary import Vocabulary
from engine.loading.checked_model import CheckedModel
from engine.loading.templates import chat_template
from engine.prompt.chat_template import ChatTemplate
from engine.system.computer import default_threads

_OF_MEMORY = 0.85  # of a graphics card's memory for the model's file; the cache and the screen need some
_SMALL_MODEL = 16 << 20  # of so few bytes: threads would wait for each other longer than they work


def encoder_hash(checked: CheckedModel) -> str:
    """What an encoder's vectors depend on, as one digest: its file and the build of llama.cpp."""
    return digest([checked.hash, library_version()])


@contextmanager
def open_template(path: Path, cancel: CancelToken) -> Iterator[tuple[LlamaModel, ChatTemplate]]:
    """A model, of which no more than the vocabulary is open while the block runs, and its chat format.

    Raises ModelFileError, NoRoomError, Cancelled.
    """
    with LlamaModel(path, vocabulary_only=True, cancel=cancel) as model:
        yield model, chat_template(model.chat_template, Vocabulary(model), cancel)


@contextmanager
def open_encoder(
    checked: CheckedModel, machine: MachineSettings, cancel: CancelToken
) -> Iterator[LlamaEncoder]:
    """An encoder, loaded, on the processor.

    Raises ModelFileError where the file cannot be used or has changed, Cancelled.
    """
    checked.check_unchanged()
    with (
        LlamaModel(checked.path, cancel=cancel) as model,
        LlamaEncoder(model, thread_choice(machine, model), cancel) as encoder,
    ):
        yield encoder


def machine_settings(threads: int | None) -> MachineSettings:
    """How the processor works; None: its physical cores, as many of them as other programs leave free.

    SetupError for impossible numbers.
    """
    if threads is None:
        return MachineSettings(default_threads(), adapts=True)
    return MachineSettings(threads)


def machine_on(
    device: Device | None, threads: int | None, gpu_layers: int | None, model: ModelFile
) -> MachineSettings:
    """How the computer works with a model where a device computes, too; None: the processor alone.

    `gpu_layers`: how many layers of the model are on the device; None for as many as its memory holds.
    SetupError for impossible numbers.
    """
    if device is None:
        return machine_settings(threads)
    # Threads that wait for a device take little time of any core, and would seem to have none.
    return MachineSettings(
        threads or default_threads(),
        gpu_layers=_layers_on(device, model) if gpu_layers is None else gpu_layers,
        device=device,
    )


def _layers_on(device: Device, model: ModelFile) -> int:
    """All, but of a model that is larger than a graphics card's own memory its share."""
    room = _OF_MEMORY * device.memory
    if device.kind is not DeviceKind.GPU or not device.memory or model.size_bytes <= room:
        return model.layers + 1  # llama.cpp counts what makes tokens of the last layer as one more
    return int(model.layers * room / model.size_bytes)


def most_threads(threads: int | ThreadCount) -> int:
    """Those that a session computes with at most."""
    return threads.most if isinstance(threads, ThreadCount) else threads


def thread_choice(machine: MachineSettings, model: LlamaModel) -> int | ThreadCount:
    """With how many threads a session of a model computes."""
    if not machine.adapts:
        return machine.threads
    return ThreadCount(1 if model.weight_bytes < _SMALL_MODEL else machine.threads)


@dataclass(frozen=True)
class OpenModel:
    """A session with the chat template of its model."""

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
    """A model, loaded, with a session as large as `shape` makes it for this model.

    Raises ModelFileError where the file cannot be used or has changed, DeviceFailed where the device cannot,
    Cancelled where `cancel` is set.
    """
    checked.check_unchanged()
    with (
        LlamaModel(checked.path, machine.device, machine.gpu_layers, cancel=cancel) as model,
        LlamaSession(model, shape(model), thread_choice(machine, model), cancel) as session,
    ):
        yield OpenModel(session, chat_template(model.chat_template, session.vocabulary, cancel))
