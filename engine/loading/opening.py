"""From a checked file to an open session with its chat template, or to an open encoder.

Knows: what is opened in which order, with how many threads, and closed.
Does not know: runs, what a session is asked.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from engine.core.cancel import CancelToken
from engine.core.items import digest
from engine.core.settings import MachineSettings
from engine.llama.encoder import LlamaEncoder
from engine.llama.library import LlamaModel, gpu_offload_supported, library_version
from engine.llama.session import LlamaSession, SessionShape
from engine.llama.threads import ThreadChoice
from engine.loading.checked_model import CheckedModel
from engine.loading.templates import chat_template
from engine.prompt.chat_template import ChatTemplate
from engine.system.computer import default_threads

_ALL_LAYERS = 999
_SMALL_MODEL = 16 << 20  # of so few bytes: threads would wait for each other longer than they work


def encoder_hash(checked: CheckedModel) -> str:
    """What an encoder's vectors depend on, as one digest: its file and the build of llama.cpp."""
    return digest([checked.hash, library_version()])


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


def machine_settings(threads: int | None, gpu_layers: int | None) -> MachineSettings:
    """How the computer works; None: its physical cores, and all layers on the GPU where there is one.

    Without a GPU as many of these cores as other programs leave free: threads that wait for a GPU take little
    time of any core, and would seem to have none. SetupError for impossible numbers.
    """
    if gpu_layers is None:
        gpu_layers = _ALL_LAYERS if gpu_offload_supported() else 0
    if threads is None:
        return MachineSettings(default_threads(), gpu_layers, adapts=gpu_layers == 0)
    return MachineSettings(threads, gpu_layers)


def thread_choice(machine: MachineSettings, model: LlamaModel) -> int | ThreadChoice:
    """With how many threads a session of a model computes."""
    if not machine.adapts:
        return machine.threads
    return ThreadChoice(1 if model.weight_bytes < _SMALL_MODEL else machine.threads)


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

    Raises ModelFileError where the file cannot be used or has changed, Cancelled where `cancel` is set.
    """
    checked.check_unchanged()
    with (
        LlamaModel(checked.path, machine.gpu_layers, cancel=cancel) as model,
        LlamaSession(model, shape(model), thread_choice(machine, model), cancel) as session,
    ):
        yield OpenModel(session, chat_template(model.chat_template, session.vocabulary, cancel))
