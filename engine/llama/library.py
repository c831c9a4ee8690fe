"""llama.cpp itself: started once, its log kept, its processor features and GPUs named. GPU libraries and
drivers run in this process once a device is looked for; some hang or end it, so only processes that may end
do that. Versions of drivers are asked for by the layouts of the Vulkan 1.0 specification.
"""

import ctypes
import functools
import logging
import os
import sys
from collections import deque
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import llama_cpp

from engine.llama.layout_check import check_layout
from engine.settings.rows import Device, DeviceKind
from engine.system.files import OwnLock
from engine.system.paths import forget, set_variable

log = logging.getLogger(__name__)

# Here, because what opens a model imports this module first: before any call passes a structure.
check_layout(llama_cpp.llama_cpp._lib)

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
    """Start llama.cpp's backends, once in a process; `gpu`: those of GPUs linked in, too. Any thread."""
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
            # Left to itself ggml looks for the one that is made for this processor next to the executable and
            # in the current folder, where any file of that name would be run.
            forget("GGML_BACKEND_PATH")  # names one more library to load
            load = _function("ggml_backend_load_all_from_path", None, ctypes.c_char_p)
            load(os.fsencode(folder))
        llama_cpp.llama_backend_init()
        _started.append(True)


def library_folder() -> Path:
    return Path(llama_cpp.llama_cpp._lib._name).absolute().parent


def last_errors() -> str:
    return "; ".join(_last_errors)


def forget_errors() -> None:
    _last_errors.clear()


def library_version() -> str:
    build = llama_cpp.llama_version().decode("utf-8", "replace")
    return f"llama.cpp {build} (llama-cpp-python {llama_cpp.__version__})"


def processor_features() -> str:
    """`CPU: SSE3, AVX, AVX2`; what has another value than 1 is given with it."""
    start_library()
    text = llama_cpp.llama_print_system_info().decode("utf-8", "replace")
    parts = [part.strip() for part in text.split("|")]
    features = (part.removesuffix(" = 1") for part in parts if part and not part.endswith(" = 0"))
    return ", ".join(features).replace(" : ", ": ")


@functools.cache
def special_layouts_work() -> bool:
    """Whether weights may be laid out anew for this processor's own instructions when a model is loaded."""
    # Compiled by GCC 12 or older, llama.cpp configures the tiles of AMX with memory that was never written:
    # the process ends at the first quantised weight.
    return "AMX_INT8" not in processor_features()


_LOADERS = {"win32": "vulkan-1.dll", "darwin": "libvulkan.1.dylib"}
_CREATE_INFO = 1  # VkStructureType
_MOST_DEVICES = 32
_PROPERTIES_BYTES = 4096  # the structure takes 824


class _CreateInfo(ctypes.Structure):
    _fields_ = (
        ("s_type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("flags", ctypes.c_uint32),
        ("application", ctypes.c_void_p),
        ("layer_count", ctypes.c_uint32),
        ("layers", ctypes.c_void_p),
        ("extension_count", ctypes.c_uint32),
        ("extensions", ctypes.c_void_p),
    )


class _Properties(ctypes.Structure):
    _fields_ = (
        ("api_version", ctypes.c_uint32),
        ("driver_version", ctypes.c_uint32),
        ("vendor", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("kind", ctypes.c_int),
        ("name", ctypes.c_char * 256),
    )


def vulkan_drivers() -> dict[str, str]:
    """The driver's version of each device by its name, as eight hexadecimal digits."""
    try:
        # find_library asks other programs, such as ldconfig, which a system may lack.
        vulkan = ctypes.CDLL(_LOADERS.get(sys.platform) or find_library("vulkan") or "libvulkan.so.1")
    except OSError:
        return {}
    instance = ctypes.c_void_p()
    request = _CreateInfo(s_type=_CREATE_INFO)
    if vulkan.vkCreateInstance(ctypes.byref(request), None, ctypes.byref(instance)) != 0:
        return {}
    count = ctypes.c_uint32(_MOST_DEVICES)
    pointers = (ctypes.c_void_p * _MOST_DEVICES)()
    drivers = {}
    try:
        if vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), pointers) < 0:
            return {}
        for pointer in pointers[: count.value]:
            room = ctypes.create_string_buffer(_PROPERTIES_BYTES)
            vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(pointer), room)
            found = _Properties.from_buffer(room)
            # Not as numbers with points: makers count differently.
            drivers[found.name.decode("utf-8", "replace")] = f"{found.driver_version:08x}"
    finally:
        vulkan.vkDestroyInstance(instance, None)
    return drivers


GPU_FOLDER = "gpu"
"""Inside the folder of llama.cpp's libraries: those of GPUs, out of sight of what loads the others."""
_VULKAN = "Vulkan"
_KINDS = {1: DeviceKind.GPU, 2: DeviceKind.INTEGRATED}  # ggml_backend_dev_type; 0 is a processor
_PROCESSOR, _ACCELERATOR = 0, 3  # the second works besides the processor, as BLAS does


def devices() -> list[Device]:
    drivers = vulkan_drivers() if any(_backend(each) == _VULKAN for each in _pointers()) else {}
    return [_device(pointer, drivers) for pointer in _pointers()]


def device_pointer(wanted: Device) -> int | None:
    """Where llama.cpp keeps a device, if it does; of several alike that of its name or the first."""
    alike = [each for each in _pointers() if _device(each, {}).key == wanted.key]
    return next((each for each in alike if _text("ggml_backend_dev_name", each) == wanted.name), None) or (
        alike[0] if alike else None
    )


def _pointers() -> list[int]:
    start_library(gpu=True)
    _load_gpu_libraries()
    count = int(_function("ggml_backend_dev_count", ctypes.c_size_t)())
    get = _function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    found = [get(index) for index in range(count)]
    return [each for each in found if each and _type(each) not in (_PROCESSOR, _ACCELERATOR)]


@functools.cache
def _load_gpu_libraries() -> None:
    """Load the GPU libraries that come with llama.cpp; one whose driver is missing is passed over."""
    load = _function("ggml_backend_load", ctypes.c_void_p, ctypes.c_char_p)
    for path in sorted((library_folder() / GPU_FOLDER).glob("*ggml-*")):
        if path.suffix in (".so", ".dll", ".dylib"):
            load(os.fsencode(path))


def _device(pointer: int, drivers: dict[str, str]) -> Device:
    description = _text("ggml_backend_dev_description", pointer)
    free, total = ctypes.c_size_t(0), ctypes.c_size_t(0)
    sizes = ctypes.POINTER(ctypes.c_size_t)
    memory = _function("ggml_backend_dev_memory", None, ctypes.c_void_p, sizes, sizes)
    memory(pointer, ctypes.byref(free), ctypes.byref(total))
    return Device(
        name=_text("ggml_backend_dev_name", pointer),
        description=description,
        backend=_backend(pointer),
        kind=_KINDS.get(_type(pointer), DeviceKind.OTHER),
        memory=int(total.value),
        driver=drivers.get(description, ""),
    )


def _backend(pointer: int) -> str:
    registry = _function("ggml_backend_dev_backend_reg", ctypes.c_void_p, ctypes.c_void_p)(pointer)
    return _text("ggml_backend_reg_name", registry)


def _type(pointer: int) -> int:
    return int(_function("ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p)(pointer))


def _text(name: str, pointer: int) -> str:
    text: bytes | None = _function(name, ctypes.c_char_p, ctypes.c_void_p)(pointer)
    return (text or b"").decode("utf-8", "replace")


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_library_with(name), name)
    function.restype, function.argtypes = result, list(arguments)
    return function


@functools.cache
def _library_with(name: str) -> Any:
    """On Windows a function of ggml is in its own library, elsewhere in any that needs it."""
    if sys.platform == "win32":
        found = [ctypes.CDLL(str(library_folder() / file)) for file in ("ggml.dll", "ggml-base.dll")]
        return next(library for library in found if hasattr(library, name))
    return llama_cpp.llama_cpp._lib
