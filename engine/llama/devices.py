"""The devices besides the processor that llama.cpp can compute with here: GPUs.

Their libraries and drivers run in this process once one is looked for. Some drivers hang or end it, so only
processes that may end do that.

Knows: ggml's registry of backends, where their libraries lie. Does not know: models, which device is good.
"""

import ctypes
import functools
import os
import sys
from typing import Any

import llama_cpp

from engine.core.settings import Device, DeviceKind
from engine.llama.library import library_folder, start_library
from engine.llama.vulkan_driver import vulkan_drivers

GPU_FOLDER = "gpu"
"""Inside the folder of llama.cpp's libraries: those of GPUs, out of sight of what loads the others."""
_VULKAN = "Vulkan"
_KINDS = {1: DeviceKind.GPU, 2: DeviceKind.INTEGRATED}  # ggml_backend_dev_type; 0 is a processor
_PROCESSOR, _ACCELERATOR = 0, 3  # the second works besides the processor, as BLAS does


def devices() -> list[Device]:
    """All that there are, in llama.cpp's order."""
    drivers = vulkan_drivers() if any(_backend(each) == _VULKAN for each in _pointers()) else {}
    return [_device(pointer, drivers) for pointer in _pointers()]


def device_pointer(wanted: Device) -> int | None:
    """Where llama.cpp keeps a device; None where there is none of this description any more.

    Of several of one description the one of this name, or else the first.
    """
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
    return Device(
        name=_text("ggml_backend_dev_name", pointer),
        description=description,
        backend=_backend(pointer),
        kind=_KINDS.get(_type(pointer), DeviceKind.OTHER),
        memory=_memory(pointer),
        driver=drivers.get(description, ""),
    )


def _backend(pointer: int) -> str:
    registry = _function("ggml_backend_dev_backend_reg", ctypes.c_void_p, ctypes.c_void_p)(pointer)
    return _text("ggml_backend_reg_name", registry)


def _type(pointer: int) -> int:
    return int(_function("ggml_backend_dev_type", ctypes.c_int, ctypes.c_void_p)(pointer))


def _memory(pointer: int) -> int:
    free, total = ctypes.c_size_t(0), ctypes.c_size_t(0)
    sizes = ctypes.POINTER(ctypes.c_size_t)
    _function("ggml_backend_dev_memory", None, ctypes.c_void_p, sizes, sizes)(
        pointer, ctypes.byref(free), ctypes.byref(total)
    )
    return int(total.value)


def _text(name: str, pointer: int) -> str:
    text: bytes | None = _function(name, ctypes.c_char_p, ctypes.c_void_p)(pointer)
    return (text or b"").decode("utf-8", "replace")


def _function(name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(_library_with(name), name)
    function.restype, function.argtypes = result, list(arguments)
    return function


@functools.cache
def _library_with(name: str) -> Any:
    """The library that gives a function of ggml out: on Windows its own one, elsewhere any that needs it."""
    if sys.platform == "win32":
        found = [ctypes.CDLL(str(library_folder() / file)) for file in ("ggml.dll", "ggml-base.dll")]
        return next(library for library in found if hasattr(library, name))
    return llama_cpp.llama_cpp._lib
