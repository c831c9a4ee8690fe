"""What llama.cpp's library for GPUs is compiled with, found in the folder of an SDK."""

import sys
from pathlib import Path

import pytest
from build import gpu_part
from vulkan_tools import NoVulkan, vulkan_tools

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the compiler of this SDK is a script of the shell"
)


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An SDK as of today, and the variable that names it."""
    folder = tmp_path / "folder with spaces"
    (folder / "include" / "vulkan").mkdir(parents=True)
    write_headers(folder, "#define VK_HEADER_VERSION 309\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "glslc").write_text("#!/bin/sh\necho shaderc 2099\n", encoding="ascii")
    (folder / "bin" / "glslc").chmod(0o755)
    monkeypatch.setenv("VULKAN_SDK", str(folder))
    return folder


def write_headers(sdk: Path, text: str) -> None:
    (sdk / "include" / "vulkan" / "vulkan_core.h").write_text(text, encoding="ascii")


def test_the_versions_of_both_are_told_and_the_oldest_headers_that_do_are_enough(sdk: Path) -> None:
    assert vulkan_tools() == ["headers 309", "shaderc 2099"]
    write_headers(
        sdk, "// VK_HEADER_VERSION\n#define VK_HEADER_VERSION 239\n#define VK_HEADER_VERSION_COMPLETE 1\n"
    )
    assert vulkan_tools()[0] == "headers 239"


@pytest.mark.parametrize(
    ("text", "found"), [("#define VK_HEADER_VERSION 204\n", "are version 204;"), ("", "are of no version;")]
)
def test_headers_that_are_too_old_are_named_with_what_is_needed_and_what_to_do(
    sdk: Path, text: str, found: str
) -> None:
    write_headers(sdk, text)
    with pytest.raises(NoVulkan) as refused:
        vulkan_tools()
    said = str(refused.value)
    for part in (str(sdk / "include"), found, "239 or newer", "VULKAN_SDK", "--without-gpu", "GPU=no"):
        assert part in said


def test_without_glslc_it_says_what_to_do(sdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (sdk / "bin" / "glslc").unlink()
    monkeypatch.setenv("PATH", str(sdk))
    with pytest.raises(NoVulkan, match=r"glslc.*VULKAN_SDK.*--without-gpu"):
        vulkan_tools()


def test_without_headers_it_says_what_to_do(sdk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vulkan_tools._SYSTEM_HEADERS", ())
    monkeypatch.delenv("VULKAN_SDK")
    with pytest.raises(NoVulkan, match=r"headers.*VULKAN_SDK.*--without-gpu"):
        vulkan_tools()


@pytest.mark.skipif(sys.platform == "darwin", reason="llama.cpp has Metal there")
def test_a_bundle_goes_without_the_gpus_library_unless_it_was_asked_for_by_name(sdk: Path) -> None:
    assert gpu_part(wanted=False, refused=False) == (["headers 309", "shaderc 2099"], "")
    assert gpu_part(wanted=False, refused=True) == ([], "")
    write_headers(sdk, "#define VK_HEADER_VERSION 204\n")
    tools, said = gpu_part(wanted=False, refused=False)
    assert (tools, "USES THE CPU ONLY" in said, "version 204" in said) == ([], True, True)
    with pytest.raises(SystemExit, match="version 204"):
        gpu_part(wanted=True, refused=False)
