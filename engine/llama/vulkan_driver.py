"""The versions of the drivers by which Vulkan's devices are driven: ggml does not tell them.

Layouts are those of the Vulkan 1.0 specification: VkApplicationInfo, VkInstanceCreateInfo, and the beginning
of VkPhysicalDeviceProperties.

Knows: Vulkan's loader. Does not know: llama.cpp.
"""

import ctypes
import sys
from ctypes.util import find_library

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
    """The driver's version of each device by its name, as eight hexadecimal digits: makers count differently.

    Empty where there is no Vulkan.
    """
    try:
        # find_library asks other programs, such as ldconfig, which a system may lack.
        vulkan = ctypes.CDLL(_LOADERS.get(sys.platform) or find_library("vulkan") or "libvulkan.so.1")
    except OSError:
        return {}
    instance = ctypes.c_void_p()
    request = _CreateInfo(s_type=_CREATE_INFO)
    if vulkan.vkCreateInstance(ctypes.byref(request), None, ctypes.byref(instance)) != 0:
        return {}
    try:
        return _drivers(vulkan, instance)
    finally:
        vulkan.vkDestroyInstance(instance, None)


def _drivers(vulkan: ctypes.CDLL, instance: ctypes.c_void_p) -> dict[str, str]:
    count = ctypes.c_uint32(_MOST_DEVICES)
    pointers = (ctypes.c_void_p * _MOST_DEVICES)()
    if vulkan.vkEnumeratePhysicalDevices(instance, ctypes.byref(count), pointers) < 0:
        return {}
    drivers = {}
    for pointer in pointers[: count.value]:
        room = ctypes.create_string_buffer(_PROPERTIES_BYTES)
        vulkan.vkGetPhysicalDeviceProperties(ctypes.c_void_p(pointer), room)
        found = _Properties.from_buffer(room)
        drivers[found.name.decode("utf-8", "replace")] = f"{found.driver_version:08x}"
    return drivers
