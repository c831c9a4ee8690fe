"""How llama.cpp is compiled for a bundle, and where its library for GPUs comes to lie."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from build_environment import (
    BuildEnvironment,
    changes_option,
    cmake_options,
    leave_amx_out,
    put_gpu_apart,
    short_temporary_folder,
)

from tests.commands import ROOT
from tests.packaging.steps import ran, write

PROCESSOR = ["libggml-base.so", "libggml-cpu-x64.so", "libllama.so", "ggml-base.dll", "libggml-metal.dylib"]


@pytest.fixture
def libraries(tmp_path: Path) -> Path:
    """The folder of a llama.cpp that computes with the processor alone."""
    folder = tmp_path / "llama_cpp" / "lib"
    write(folder, **dict.fromkeys(PROCESSOR, ""))
    return folder


@pytest.mark.skipif(sys.platform == "darwin", reason="llama.cpp has Metal there")
def test_the_gpus_library_is_compiled_unless_it_is_not_wanted() -> None:
    for_gpus = [option for option in cmake_options(gpu=True) if "VULKAN" in option]
    assert for_gpus == ["-DGGML_VULKAN=ON"]
    assert set(cmake_options(gpu=False)) < set(cmake_options(gpu=True))
    assert not any("VULKAN" in option for option in cmake_options(gpu=False))


@pytest.mark.parametrize("name", ["libggml-vulkan.so", "ggml-vulkan.dll"])
def test_the_gpus_library_gets_a_folder_of_its_own_and_all_others_stay(libraries: Path, name: str) -> None:
    (libraries / name).write_text(name, encoding="ascii")
    put_gpu_apart(libraries.parent.parent)
    assert [path.name for path in (libraries / "gpu").iterdir()] == [name]
    assert (libraries / "gpu" / name).read_text("ascii") == name
    assert sorted(path.name for path in libraries.iterdir()) == sorted([*PROCESSOR, "gpu"])


@pytest.mark.parametrize("name", ["libggml-cpu-sapphirerapids.so", "ggml-cpu-sapphirerapids.dll"])
def test_the_library_for_amx_is_left_out_and_all_others_stay(libraries: Path, name: str) -> None:
    (libraries / name).touch()
    leave_amx_out(libraries.parent.parent)
    put_gpu_apart(libraries.parent.parent)  # where there is no library for GPUs, there is no folder for it
    assert sorted(path.name for path in libraries.iterdir()) == sorted(PROCESSOR)


OLD_HEADERS = "enum VkStructureType { VK_STRUCTURE_TYPE_APPLICATION_INFO };\n"
NEW_HEADERS = OLD_HEADERS + (
    "#define VK_EXT_layer_settings 1\n"
    "#include <vector>\n"
    "namespace vk { struct LayerSettingEXT { const void * pValues; };\n"
    "struct LayerSettingsCreateInfoEXT {\n"
    "explicit LayerSettingsCreateInfoEXT(const std::vector<LayerSettingEXT> &) {} }; }"
)


@pytest.mark.skipif(sys.platform != "linux", reason="an rpath is Linux's")
@pytest.mark.skipif(not all(map(shutil.which, ("cmake", "cc", "c++", "readelf"))), reason="compiles")
@pytest.mark.parametrize("headers", [OLD_HEADERS, NEW_HEADERS], ids=["old", "new"])
def test_the_gpus_library_has_its_declarations_no_folder_of_its_builder_and_its_neighbours_one_above(
    tmp_path: Path, headers: str
) -> None:
    source, sdk = tmp_path / "the builder's own", tmp_path / "sdk"
    source.mkdir()
    (sdk / "vulkan").mkdir(parents=True)
    (sdk / "vulkan" / "vulkan_core.h").write_text(headers, encoding="ascii")
    ran(*("cc", "-shared", "-x", "c", "/dev/null"), "-o", sdk / "libvulkan.so")
    (source / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\n"
        "project(llama_cpp CXX)\n"
        f'set(Vulkan_INCLUDE_DIR "{sdk}" CACHE PATH "where the headers are")\n'
        "set(CMAKE_INSTALL_RPATH_USE_LINK_PATH TRUE)\n"
        "add_library(ggml-vulkan MODULE own.cpp)\n"
        f'target_include_directories(ggml-vulkan PRIVATE "{sdk}")\n'
        "set_target_properties(ggml-vulkan PROPERTIES BUILD_WITH_INSTALL_RPATH TRUE)\n"
        'set_target_properties(ggml-vulkan PROPERTIES INSTALL_RPATH "$ORIGIN")\n'
        f'target_link_libraries(ggml-vulkan "{sdk / "libvulkan.so"}")\n',
        encoding="ascii",
    )
    (source / "own.cpp").write_text(
        "extern const char * const place = __FILE__;\n"
        "vk::LayerSettingsCreateInfoEXT none(std::vector<vk::LayerSettingEXT>{});\n",
        encoding="ascii",
    )
    made = tmp_path / "made"
    ran("cmake", "-S", source, "-B", made, changes_option())
    ran("cmake", "--build", made)
    assert "[$ORIGIN/..]" in ran("readelf", "--dynamic", "--wide", made / "libggml-vulkan.so").stdout
    content = (made / "libggml-vulkan.so").read_bytes()
    assert b"llama-cpp-python/own.cpp" in content
    assert str(tmp_path).encode() not in content


@pytest.mark.skipif(sys.platform == "win32", reason="compiles with GCC or Clang")
@pytest.mark.skipif(not all(map(shutil.which, ("cmake", "c++"))), reason="compiles")
def test_what_computes_tokens_keeps_its_optimisation_and_what_nobody_uses_is_not_compiled(
    tmp_path: Path,
) -> None:
    vendor = tmp_path / "vendor" / "llama.cpp"
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.21)\nproject(llama_cpp CXX)\nset(CMAKE_BUILD_TYPE Release)\n"
        "set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\nset(LLAMA_BUILD_COMMON ON CACHE BOOL common FORCE)\n"
        "add_subdirectory(vendor/llama.cpp)\n",
        encoding="ascii",
    )
    for folder in ("hash", "miniaudio", "nlohmann", "sheredom", "stb"):
        write(
            vendor / "vendor" / folder,
            **{"CMakeLists.txt": f"add_library({folder} STATIC own.cpp)", "own.cpp": "#error"},
        )
    sources = ("llama-graph.cpp", "llama-vocab.cpp")
    write(vendor / "src", **{name: f"int from_{name[6:11]};" for name in sources})
    ggml = {"gguf.cpp": "int from_gguf;", "ggml.cpp": "int from_ggml;"}
    write(vendor / "ggml" / "src", **ggml, **{"CMakeLists.txt": f"add_library(ggml SHARED {' '.join(ggml)})"})
    (vendor / "CMakeLists.txt").write_text(
        "if(LLAMA_BUILD_COMMON)\n  message(FATAL_ERROR common)\nendif()\n"
        "add_subdirectory(ggml/src)\nadd_subdirectory(src)\n"
        "foreach(each hash miniaudio nlohmann sheredom stb)\n"
        "  add_subdirectory(vendor/${each})\nendforeach()\n",
        encoding="ascii",
    )
    (vendor / "src" / "CMakeLists.txt").write_text(
        f"add_library(llama SHARED {' '.join(sources)})\n", encoding="ascii"
    )
    made = tmp_path / "made"
    ran("cmake", "-S", tmp_path, "-B", made, changes_option())
    ran("cmake", "--build", made)
    commands = json.loads((made / "compile_commands.json").read_text("utf-8"))
    last = {Path(each["file"]).name: re.findall(r" -O\d", each["command"])[-1] for each in commands}
    assert last["llama-graph.cpp"] == last["ggml.cpp"] == " -O3"
    assert last["llama-vocab.cpp"] == last["gguf.cpp"] == " -O1"


def test_no_folder_decides_whether_llama_cpp_is_compiled_anew() -> None:
    decides = BuildEnvironment(["headers 239"])._compiled_with()
    assert "headers 239" in decides
    assert not [part for part in decides if str(ROOT) in part]


def test_who_waits_is_told_how_long_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("build_environment.BUILD", tmp_path)
    environment = BuildEnvironment()
    assert "A new environment" in environment.time_needed()
    environment.llama_licences.mkdir()
    environment._stamp.parent.mkdir()
    environment._stamp.write_text(environment._made_of(), encoding="utf-8")
    assert "there from before" in environment.time_needed()
    # Another compiler of shaders makes another library.
    assert "A new environment" in BuildEnvironment(["another glslc"]).time_needed()


@pytest.mark.skipif(sys.platform != "win32", reason="other systems have no limit")
def test_what_pip_unpacks_has_a_short_path() -> None:
    with short_temporary_folder() as variables:
        folder = Path(variables["TEMP"])
        assert folder.is_dir()
        # The folders of `pip wheel`, such as pip-wheel-abcdefgh, and the longest path in llama.cpp's sources.
        assert len(str(folder)) + 70 + 178 < 260
    assert not folder.exists()
