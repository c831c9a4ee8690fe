"""What the script asks the system for, run where it finds no compiler and nothing that could install one."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.packaging.steps import ran, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the script asks for Debian's packages")
SCRIPT = ROOT / "packaging" / "system_packages.sh"
FOR_DESKTOPS = {"xvfb", "xdotool", "openbox", "dbus-daemon", "chromium"}
FOR_GPUS = {"glslc", "libvulkan-dev", "spirv-headers"}


def missing(folder: Path, *words: str, **variables: str) -> set[str]:
    """The packages that the script names, run with the folder's programs alone."""
    for name in ("basename", "uname", "sh"):
        if not (folder / name).exists():
            (folder / name).symlink_to(str(shutil.which(name)))
    variables["PATH"] = str(folder)
    done = ran(shutil.which("sh"), SCRIPT, *words, sys.executable, env=variables, check=False)
    assert done.returncode == 2
    assert not done.stdout
    named, _, _ = done.stderr.removeprefix("Missing: ").partition(" (Debian's names)")
    return set(named.split())


def test_running_from_source_asks_for_nothing_of_vulkan(tmp_path: Path) -> None:
    asked = missing(tmp_path)
    assert asked >= {"gcc", "g++", "cmake"}
    assert not asked & FOR_GPUS


def test_a_bundle_that_can_use_a_gpu_asks_for_its_tools_unless_it_may_go_without(tmp_path: Path) -> None:
    assert missing(tmp_path, "--with-gpu") == missing(tmp_path) | FOR_GPUS
    assert missing(tmp_path, "--with-gpu-if-possible") == missing(tmp_path)


def test_tests_on_a_desktop_ask_for_what_they_start(tmp_path: Path) -> None:
    asked = missing(tmp_path, "--with-desktop") - missing(tmp_path)
    assert asked - {"at-spi2-core"} == FOR_DESKTOPS  # known by a file, which may be there


def test_tests_on_windows_ask_for_what_wine_and_its_screen_need(tmp_path: Path) -> None:
    asked = missing(tmp_path, "--with-wine") - missing(tmp_path)
    assert asked >= {"gcc-mingw-w64-x86-64-win32", "xvfb", "xdotool"}  # others are known by files


@pytest.mark.skipif(not shutil.which("c++"), reason="compiles")
def test_vulkans_sdk_serves_in_place_of_the_packages(tmp_path: Path) -> None:
    tools, sdk = tmp_path / "tools", tmp_path / "folder with spaces"
    tools.mkdir()
    write(sdk / "include", **{"vulkan/vulkan.h": "", "spirv/unified1/spirv.h": ""})
    for folder in ("bin", "lib"):
        (sdk / folder).mkdir()
    (sdk / "bin" / "glslc").touch(mode=0o755)
    for name in ("c++", "ld", "as"):
        (tools / name).symlink_to(str(shutil.which(name)))
    ran(*("c++", "-shared", "-x", "c++", "/dev/null"), "-o", sdk / "lib" / "libvulkan.so")
    assert not missing(tools, "--with-gpu", VULKAN_SDK=str(sdk)) & FOR_GPUS
