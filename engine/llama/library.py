"""llama.cpp itself: started once, its log kept, its processor features named, a model file opened and closed.

Knows: llama_cpp's model handles. Does not know: contexts, prompts, judging.
"""

import ctypes
import functools
import logging
import os
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any

import llama_cpp

from engine.core.cancel import CancelToken
from engine.core.errors import ModelFileError, NoRoomError
from engine.core.remedies import Remedy
from engine.system.paths import forget

log = logging.getLogger(__name__)

_ERROR = 4  # ggml_log_level
_NO_MEMORY = -2  # llama_decode, llama_encode: a buffer could not be had
_last_errors: deque[str] = deque(maxlen=8)
_starting = threading.Lock()


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _keep_log(level: int, text: bytes, _user_data: object) -> None:
    line = text.decode("utf-8", "replace").strip()
    if level == _ERROR and line:
        _last_errors.append(line)
    log.debug("%s", line)


def start_library() -> None:
    """Start llama.cpp's backends, once in a process, and send its log to `logging`. From any thread."""
    with _starting:
        _start_once()


@functools.cache
def _start_once() -> None:
    llama_cpp.llama_log_set(_keep_log, ctypes.c_void_p(0))
    folder = Path(llama_cpp.__file__).resolve().parent / "lib"
    if any(folder.glob("*ggml-cpu-*")):
        _load_processor_variant(folder)
    llama_cpp.llama_backend_init()


def _load_processor_variant(folder: Path) -> None:
    """Of a portable build, load the library that is made for this computer's processor.

    Left to itself ggml looks for it beside the executable and in the current folder, where any file of that
    name would be run.
    """
    forget("GGML_BACKEND_PATH")  # names one more library to load
    # On Windows a library gives out its own functions only, elsewhere also those that it is linked with.
    library = ctypes.CDLL(str(folder / "ggml.dll")) if sys.platform == "win32" else llama_cpp.llama_cpp._lib
    load = library.ggml_backend_load_all_from_path
    load.argtypes, load.restype = [ctypes.c_char_p], None
    load(os.fsencode(folder))


def last_errors() -> str:
    """The last error lines that llama.cpp logged, joined; empty when there were none."""
    return "; ".join(_last_errors)


def forget_errors() -> None:
    """Let `last_errors` speak of what comes now alone."""
    _last_errors.clear()


def library_version() -> str:
    """The build of llama.cpp, for the manifest of a run."""
    build = llama_cpp.llama_version().decode("utf-8", "replace")
    return f"llama.cpp {build} (llama-cpp-python {llama_cpp.__version__})"


def gpu_offload_supported() -> bool:
    """True where llama.cpp was built with a GPU backend."""
    start_library()
    return bool(llama_cpp.llama_supports_gpu_offload())


def processor_features() -> str:
    """The features in use, such as `CPU: SSE3, AVX, AVX2`; empty where llama.cpp names none.

    What has another value than 1, such as the architectures of a GPU, is given with it.
    """
    start_library()
    text = llama_cpp.llama_print_system_info().decode("utf-8", "replace")
    parts = [part.strip() for part in text.split("|")]
    features = (part.removesuffix(" = 1") for part in parts if part and not part.endswith(" = 0"))
    return ", ".join(features).replace(" : ", ": ")


@functools.cache
def special_layouts_work() -> bool:
    """Whether weights may be laid out anew for this processor's own instructions when a model is loaded.

    Not where llama.cpp uses the tiles of AMX: compiled by GCC 12 or older it configures them with memory that
    was never written, and the process ends at the first quantised weight.
    """
    return "AMX_INT8" not in processor_features()


class LlamaModel:
    """An open model file. Close it, or use it in a `with` block; its users must be closed before it."""

    def __init__(
        self,
        path: Path,
        gpu_layers: int = 0,
        vocabulary_only: bool = False,
        cancel: CancelToken | None = None,
    ) -> None:
        """Open a checked file. ModelFileError where llama.cpp refuses it, Cancelled where `cancel` is set."""
        start_library()
        cancel = cancel or CancelToken()
        params = llama_cpp.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        params.vocab_only = vocabulary_only
        params.use_extra_bufts = special_layouts_work()
        goes_on = llama_cpp.llama_progress_callback(lambda _share, _data: not cancel.requested)
        params.progress_callback = goes_on
        forget_errors()
        self.path = path
        self.pointer: Any = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
        if not self.pointer:
            cancel.raise_if_requested()
            raise ModelFileError(
                f"{path.name}: llama.cpp cannot load this model: {last_errors() or 'no reason given'}.",
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


def cannot_compute(model: LlamaModel, code: int, smaller: Remedy) -> ModelFileError:
    """What to raise where llama.cpp does not compute with a model that it has loaded; `code`: its answer.

    `smaller`: what takes less memory. NoRoomError where that is wanted.
    """
    reason = last_errors() or "no reason given"
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
