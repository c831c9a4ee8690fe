"""A model file, opened and closed.

Knows: llama_cpp's model handles. Does not know: contexts, prompts, judging.
"""

import ctypes
import os
from pathlib import Path
from typing import Any

import llama_cpp

from engine.core.cancel import CancelToken
from engine.core.errors import DeviceFailed, ModelFileError, NoRoomError, SetupError
from engine.core.remedies import Hint
from engine.core.settings import Device
from engine.llama.devices import device_pointer
from engine.llama.library import forget_errors, last_errors, special_layouts_work, start_library

_NO_MEMORY = -2  # llama_decode, llama_encode: a buffer could not be had
_ONE_DEVICE = llama_cpp.LLAMA_SPLIT_MODE_NONE


class LlamaModel:
    """An open model file. Close it, or use it in a `with` block; its users must be closed before it."""

    def __init__(
        self,
        path: Path,
        device: Device | None = None,
        gpu_layers: int = 0,
        vocabulary_only: bool = False,
        cancel: CancelToken | None = None,
    ) -> None:
        """Open a checked file; `device`: what computes with this many of its layers, None for the processor.

        ModelFileError where llama.cpp refuses it, DeviceFailed where it cannot use the device, Cancelled
        where `cancel` is set.
        """
        cancel = cancel or CancelToken()
        devices = _device_list(device)
        start_library()
        params = llama_cpp.llama_model_default_params()
        # Where none are named llama.cpp takes all that it knows; the processor is always there.
        params.devices = ctypes.addressof(devices)
        # One alone: it was tried by itself, and it is part of what a run is.
        params.split_mode = _ONE_DEVICE
        params.n_gpu_layers = gpu_layers if device else 0
        params.vocab_only = vocabulary_only
        # Weights laid out anew for this processor: faster, but with some compilers fatal.
        params.use_extra_bufts = special_layouts_work()
        # Kept in a name until the file is loaded: llama.cpp has only the pointer.
        goes_on = llama_cpp.llama_progress_callback(lambda _share, _data: not cancel.requested)
        params.progress_callback = goes_on
        forget_errors()
        self.path = path
        self.device = device
        self.pointer: Any = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
        if not self.pointer:
            cancel.raise_if_requested()
            if device is not None:
                raise DeviceFailed(device.title, f"the model cannot be loaded there: {_reason()}")
            raise ModelFileError(
                f"{path.name}: llama.cpp cannot load this model: {_reason()}.",
                "Download the file again, or choose another model.",
            )

    @property
    def trained_context(self) -> int:
        """Tokens of context that the model was trained with; also where only its vocabulary is open."""
        # llama.cpp gives 0 for a vocabulary alone, but keeps the file's header.
        loaded = int(llama_cpp.llama_model_n_ctx_train(self.pointer))
        architecture = self._header_text("general.architecture")
        return loaded or int(self._header_text(f"{architecture}.context_length") or 0)

    @property
    def weight_bytes(self) -> int:
        """The size of all tensors, in bytes; of a vocabulary alone 0."""
        return int(llama_cpp.llama_model_size(self.pointer))

    @property
    def keeps_state(self) -> bool:
        """True for recurrent and hybrid models: their memory cannot be cut back to a prefix."""
        return bool(
            llama_cpp.llama_model_is_recurrent(self.pointer) or llama_cpp.llama_model_is_hybrid(self.pointer)
        )

    @property
    def chat_template(self) -> str | None:
        """The model's own Jinja template, None where it has none."""
        text = llama_cpp.llama_model_chat_template(self.pointer, None)
        return text.decode("utf-8", "replace") if text else None

    def _header_text(self, key: str) -> str:
        """A value of the file's header, its first 63 bytes; empty where there is none."""
        room = ctypes.create_string_buffer(64)
        llama_cpp.llama_model_meta_val_str(self.pointer, key.encode(), room, len(room))
        return room.value.decode("utf-8", "replace")

    def close(self) -> None:
        """Give the memory back. May be called twice."""
        if self.pointer:
            llama_cpp.llama_model_free(self.pointer)
            self.pointer = None

    def __enter__(self) -> "LlamaModel":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()


def _device_list(device: Device | None) -> Any:
    """What llama.cpp takes for the devices of a model: pointers, and an empty one at the end."""
    if device is None:
        return (ctypes.c_void_p * 1)()
    pointer = device_pointer(device)
    if pointer is None:
        raise DeviceFailed(device.title, "it is no longer found on this computer")
    return (ctypes.c_void_p * 2)(pointer)


def _reason() -> str:
    return last_errors() or "no reason given"


def cannot_compute(model: LlamaModel, code: int, smaller: Hint) -> SetupError:
    """What to raise where llama.cpp does not compute with a model that it has loaded; `code`: its answer.

    `smaller`: what takes less memory. NoRoomError where that is wanted.
    """
    reason = _reason()
    if model.device is not None:
        return DeviceFailed(model.device.title, f"the computation fails: {reason} (code {code})")
    if code == _NO_MEMORY:
        return NoRoomError(
            f"{model.path.name}: llama.cpp has no memory left to compute with this model: {reason}"
            f" (code {code}).",
            smaller,
        )
    return ModelFileError(
        f"{model.path.name}: llama.cpp cannot compute with this model: {reason} (code {code}).",
        "It is damaged, or of a kind that this version cannot run: download the file again, or choose another"
        " model.",
    )
