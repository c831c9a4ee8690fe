"""What llama.cpp's Vulkan backend is compiled with: Vulkan's headers and glslc, the compiler of shaders."""

import os
import re
import shutil
import subprocess
from pathlib import Path

# VK_HEADER_VERSION, the third number of Vulkan's version: Debian 12's. vulkan_layer_settings.h declares what
# these headers lack. Older ones were not tried.
_OLDEST = 239
_SYSTEM_HEADERS = (Path("/usr/local/include"), Path("/usr/include"))
_VERSION = re.compile(r"^#define VK_HEADER_VERSION (\d+)", re.MULTILINE)
_HINT = (
    "Install the Vulkan SDK (https://vulkan.lunarg.com) and name its folder in the variable VULKAN_SDK, or"
    " make a bundle for the CPU only: --without-gpu (with make: GPU=no)."
)


class NoVulkan(Exception):
    """Why llama.cpp's library for GPUs cannot be compiled here, and what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason} {_HINT}")


def vulkan_tools() -> list[str]:
    """The versions of the headers and of glslc. NoVulkan where one of them cannot be used."""
    folders = [Path(sdk, "include") for sdk in _sdk()] + list(_SYSTEM_HEADERS)
    headers = next(
        (path for folder in folders if (path := folder / "vulkan" / "vulkan_core.h").is_file()), None
    )
    if headers is None:
        raise NoVulkan("For the GPU, llama.cpp is compiled with Vulkan's headers, and there are none here.")
    version = _VERSION.search(headers.read_text(encoding="utf-8"))
    if version is None or int(version[1]) < _OLDEST:
        found = f"version {version[1]}" if version else "of no version"
        raise NoVulkan(f"{headers}: Vulkan's headers are {found}; llama.cpp needs {_OLDEST} or newer.")
    # CMake looks in the same places, and in the same order.
    glslc = shutil.which(
        "glslc", path=os.pathsep.join([*(f"{sdk}/bin" for sdk in _sdk()), *os.get_exec_path()])
    )
    if glslc is None:
        raise NoVulkan("For the GPU, llama.cpp is compiled with glslc, and there is none here.")
    printed = subprocess.run([glslc, "--version"], capture_output=True, text=True, check=True).stdout
    return [f"headers {version[1]}", *printed.splitlines()]


def _sdk() -> list[str]:
    """The folder of Vulkan's SDK, where one is named."""
    named = os.environ.get("VULKAN_SDK")
    return [named] if named else []
