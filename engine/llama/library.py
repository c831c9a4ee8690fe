"""llama.cpp itself: started once, its log kept, its processor features named.

Knows: llama_cpp's libraries and log. Does not know: models, contexts, GPUs.
"""

import ctypes
import functools
import logging
import os
import sys
from collections import deque
from pathlib import Path

import llama_cpp

from engine.system.forks import OwnLock
from engine.system.paths import forget, set_variable

log = logging.getLogger(__name__)

_ERROR = 4  # ggml_log_level
_last_errors: deque[str] = deque(maxlen=8)
_starting = OwnLock()
_started: list[bool] = []
_NO_VULKAN = "GGML_DISABLE_VULKAN"  # for ggml: start none of it


# At the top of the module, because llama.cpp keeps only a pointer to it.
@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]
def _keep_log(level: int, text: bytes, _user_data: object) -> None:
    line = text.decode("utf-8", "replace").strip()
    if level == _ERROR and line:
        _last_errors.append(line)
    log.debug("%s", line)


def start_library(gpu: bool = False) -> None:
    """Start llama.cpp's backends, once in a process, and send its log to `logging`. From any thread.

    `gpu`: also those of GPUs that a build of the user's own may have linked in; what is started without them
    stays so.
    """
    with _starting:
        if _started:
            return
        llama_cpp.llama_log_set(_keep_log, ctypes.c_void_p(0))
        if gpu:
            forget(_NO_VULKAN)  # of the process that started this one
        else:
            set_variable(_NO_VULKAN, "1")
        folder = library_folder()
        # Portable builds have a library for each kind of processor; pip's build has one, which is loaded.
        if any(folder.glob("*ggml-cpu-*")):
            _load_processor_variant(folder)
        llama_cpp.llama_backend_init()
        _started.append(True)


def library_folder() -> Path:
    """Where llama.cpp's libraries lie."""
    return Path(llama_cpp.llama_cpp._lib._name).absolute().parent


def _load_processor_variant(folder: Path) -> None:
    """Of a portable build, load the library that is made for this computer's processor.

    Left to itself ggml looks for it next to the executable and in the current folder, where any file of that
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
