"""llama-cpp-python without a compiler: what it is put together of, for which computers, and who gets it."""

import base64
import csv
import hashlib
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from oldest_versions import lower_bounds
from packaging.requirements import Requirement
from ready_llama import backend

from tests.commands import ROOT

inside_package: Any = import_module("inside_package")
PARTS = (ROOT / "packaging" / "ready_llama" / "parts.txt").read_text("utf-8")
TEXT = "llama-cpp-python>=0.3.36,<0.3.37"


def wheel(path: Path, **files: str) -> Path:
    with ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


@pytest.fixture
def made(tmp_path: Path) -> Path:
    about, theirs = "llama_cpp_python-1.2.dist-info", "llama_cpp_py_sync-3.dist-info"
    binding = wheel(
        tmp_path / "llama_cpp_python-1.2-py3-none-any.whl",
        **{"llama_cpp/__init__.py": "", f"{about}/METADATA": "Name: llama_cpp_python\n"},
        **{f"{about}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n", f"{about}/RECORD": "old,,\n"},
    )
    libraries = wheel(
        tmp_path / "llama_cpp_py_sync-3-py3-none-win_amd64.whl",
        **{"llama_cpp_py_sync/llama.dll": "compiled", "llama_cpp_py_sync/llama.py": "not taken"},
        **{"llama_cpp_py_sync/THIRD_PARTY_NOTICES.txt": "of others", f"{theirs}/RECORD": "theirs,,\n"},
        **{f"{theirs}/licenses/LICENSE": "terms", f"{theirs}/METADATA": "not taken"},
    )
    (tmp_path / "out").mkdir()
    return backend.joined(binding, libraries, "win_amd64", tmp_path / "out")


def test_the_wheel_holds_the_python_part_the_libraries_and_their_terms(made: Path) -> None:
    assert made.name == "llama_cpp_python-1.2-py3-none-win_amd64.whl"
    with ZipFile(made) as joined:
        held = {name: joined.read(name).decode() for name in joined.namelist()}
    about = "llama_cpp_python-1.2.dist-info"
    kept = {"llama_cpp/__init__.py", f"{about}/METADATA", f"{about}/WHEEL", f"{about}/RECORD"}
    added = {"llama.dll": "compiled", "LICENSE": "terms", "THIRD_PARTY_NOTICES.txt": "of others"}
    assert held.keys() == kept | {f"llama_cpp/lib/{name}" for name in added}
    assert {name: held[f"llama_cpp/lib/{name}"] for name in added} == added
    assert held[f"{about}/WHEEL"] == "Wheel-Version: 1.0\nTag: py3-none-win_amd64\n"


def test_its_record_has_the_sum_of_every_file(made: Path) -> None:
    with ZipFile(made) as joined:
        record = "llama_cpp_python-1.2.dist-info/RECORD"
        rows = {
            name: (digest, size) for name, digest, size in csv.reader(joined.read(record).decode().split())
        }
        assert rows.pop(record) == ("", "")
        for name in set(joined.namelist()) - {record}:
            content = joined.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert rows.pop(name) == (f"sha256={digest}", str(len(content)))
    assert not rows


def test_it_is_made_of_the_source_that_bundles_are_made_of() -> None:
    wanted = r'^llama-cpp-python==(\S+) --config-settings="wheel.cmake=false" \\\n\s+--hash=(\S+)$'
    found = re.search(wanted, PARTS, re.M)
    assert found
    version, digest = found.groups()
    assert version == lower_bounds((ROOT / "requirements.txt").read_text("utf-8"))["llama-cpp-python"]
    lock = (ROOT / "packaging" / "locks" / "bundle.txt").read_text("utf-8")
    assert f"llama-cpp-python=={version} \\\n    --hash={digest}\n" in lock


def test_each_part_has_a_sum_and_each_platform_its_libraries() -> None:
    assert len(re.findall(r"^[\w-]+==", PARTS, re.M)) == 2
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}\b", PARTS)) == 1 + len(backend.PLATFORMS)
    assert set(backend.PLATFORMS.values()) == inside_package.READY_FOR


@pytest.mark.skipif(sys.platform in backend.PLATFORMS, reason="there it makes a wheel")
def test_elsewhere_it_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"requirements\.txt"):
        backend.build_wheel(str(tmp_path / "never made"))


@pytest.mark.parametrize(
    ("tags", "ready"),
    [
        (["win_amd64"], True),
        (["macosx_15_0_arm64", "macosx_14_0_arm64", "macosx_13_0_arm64"], True),
        (["macosx_13_0_arm64", "macosx_12_0_arm64"], False),
        (["macosx_15_0_x86_64", "macosx_14_0_x86_64"], False),
        (["win_arm64"], False),
        (["manylinux_2_39_x86_64", "linux_x86_64"], False),
    ],
    ids=["Windows", "Apple silicon", "an old macOS", "a Mac with Intel", "Windows on ARM", "Linux"],
)
def test_who_installs_gets_it_where_it_runs(
    tags: list[str], ready: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    monkeypatch.setattr(inside_package, "platform_tags", lambda: iter(tags))
    taken = Requirement(inside_package.without_compiler(TEXT, ROOT))
    assert taken.name == "llama-cpp-python"
    assert taken.url == ((ROOT / "packaging" / "ready_llama").as_uri() if ready else None)
    assert inside_package.without_compiler("numpy>=2.0,<3", ROOT) == "numpy>=2.0,<3"
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_VULKAN=ON")
    assert inside_package.without_compiler(TEXT, ROOT) == TEXT


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere no path is too long")
def test_pip_unpacks_below_a_short_folder() -> None:
    with backend._temporary_folder() as folder:
        assert len(folder) <= 259 - 178 - 70
