"""The licence texts that a bundle carries, of packages that are installed here."""

import pathlib
import runpy
import shutil
import sysconfig
from collections import Counter
from importlib.metadata import distribution
from pathlib import Path

import pytest
from licences import OWN_TEXTS, collect_licences
from parts import Origin, Part

from gui.window.dialogs import PACKAGES
from tests.commands import ROOT

TIEBREAK = Part(Origin.TIEBREAK, "Tiebreak")


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    """A folder with licences as llama.cpp's build leaves it."""
    folder = tmp_path / "llama-licences"
    folder.mkdir()
    (folder / "LICENSE").write_text("llama.cpp's terms", encoding="ascii")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the texts go."""
    return tmp_path / "licences"


def of_package(name: str) -> Part:
    """A package that is installed here, as a part."""
    package = distribution(name)
    return Part(Origin.PACKAGE, package.metadata["Name"], package.version)


def of_llama(*files: str) -> Part:
    return Part(Origin.LLAMA, "llama.cpp", files=files)


def texts_of(package: str) -> list[bytes]:
    """The licence texts that came with a package, by the names that licences go by."""
    return [
        Path(str(path.locate())).read_bytes()
        for path in distribution(package).files or []
        if path.name.lower().startswith(("license", "licence", "copying", "notice"))
    ]


def test_each_text_is_there_and_none_overwrites_another(folder: Path, llama: Path) -> None:
    collect_licences([of_package("numpy")], llama, folder)
    own = folder / f"numpy-{distribution('numpy').version}"
    copied = [path for path in own.rglob("*") if path.is_file()]
    texts = texts_of("numpy")
    assert len(texts) > 3  # of NumPy 2.0, which has the fewest
    assert not Counter(texts) - Counter(path.read_bytes() for path in copied)
    assert len({str(path).lower() for path in copied}) == len(copied)  # where case does not tell two apart


def test_every_package_that_the_window_names_has_all_its_texts_or_one_that_the_project_keeps(
    folder: Path, llama: Path
) -> None:
    parts = [of_package(package) for package in PACKAGES]
    collect_licences(parts, llama, folder)
    for part in parts:
        own = folder / f"{part.name}-{part.version}"
        copied = Counter(path.read_bytes() for path in own.rglob("*") if path.is_file())
        is_qt = part.name.startswith("PySide6")  # whose wheels for Windows have a text for its buyers alone
        kept = folder / ("Qt.txt" if is_qt else f"{part.name}.txt")
        assert copied or kept.is_file(), part.name
        assert is_qt or not Counter(texts_of(part.name)) - copied, part.name


def test_the_entries_name_every_copied_file_once_below_licences(folder: Path, llama: Path) -> None:
    entries = collect_licences([of_package("numpy"), of_package("rouge-score")], llama, folder)
    inside, sources, kinds = zip(*entries, strict=True)
    assert set(kinds) == {"DATA"}
    assert {Path(path).parts[0] for path in inside} == {"licences"}
    assert len(set(inside)) == len(inside)
    assert sorted(map(Path, sources)) == sorted(path for path in folder.rglob("*") if path.is_file())
    assert [Path(path).relative_to("licences") for path in inside] == [
        Path(path).relative_to(folder) for path in sources
    ]


def test_a_package_without_a_text_gets_the_one_that_the_project_keeps(folder: Path, llama: Path) -> None:
    collect_licences([of_package("rouge-score")], llama, folder)
    text = (folder / "rouge_score.txt").read_text("utf-8")
    assert "The rouge_score Authors" in text
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in text


def test_qt_and_its_modules_have_one_text_between_them(folder: Path, llama: Path) -> None:
    parts = [Part(Origin.BUNDLED, "Qt"), of_package("PySide6-Essentials"), of_package("shiboken6")]
    entries = collect_licences(parts, llama, folder)
    assert sorted(Path(entry[0]).name for entry in entries) == ["Qt.txt", "Tiebreak.txt"]


def test_of_qts_wheels_for_windows_the_text_for_its_buyers_is_not_taken_for_ours(
    folder: Path, llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "PySide6_Essentials"
    bought = f"{name.lower()}-6.0.dist-info/licenses/LicenseRef-Qt-Commercial.txt"
    records = {"METADATA": f"Name: {name}\nVersion: 6.0\n", "RECORD": f"{bought},,\n"}
    (tmp_path / bought).parent.mkdir(parents=True)
    (tmp_path / bought).write_text("for buyers", encoding="ascii")
    for record, content in records.items():
        (tmp_path / bought).parents[1].joinpath(record).write_text(content, encoding="ascii")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert distribution(name).version == "6.0"
    entries = collect_licences([Part(Origin.PACKAGE, name, "6.0")], llama, folder)
    assert sorted(Path(entry[0]).name for entry in entries) == ["Qt.txt", "Tiebreak.txt"]
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in (folder / "Qt.txt").read_text("utf-8")


def test_the_script_can_be_read_where_folders_are_divided_by_backslashes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as as_there:
        as_there.setattr(pathlib, "Path", pathlib.PureWindowsPath)
        found = runpy.run_path(str(ROOT / "packaging" / "licences.py"))
    words = "see /usr/share/common-licenses/GPL-3."
    assert found["_REFERENCE"].findall(words) == ["GPL-3"]


@pytest.mark.parametrize("origin", [Origin.UNKNOWN, Origin.BUNDLED, Origin.DEBIAN])
def test_parts_without_any_text_end_the_build_with_what_to_do(
    folder: Path, llama: Path, origin: Origin
) -> None:
    parts = [Part(origin, "libnowhere.so.1", terms="MIT"), of_package("numpy")]
    with pytest.raises(SystemExit) as ended:
        collect_licences(parts, llama, folder)
    said = str(ended.value)
    assert "libnowhere.so.1  (MIT)" in said
    assert "numpy" not in said
    assert f"into {OWN_TEXTS}" in said
    assert "libnowhere.so.1.txt" in said


def test_the_programs_own_and_those_of_llama_cpp_and_python_are_there(folder: Path, llama: Path) -> None:
    collect_licences([TIEBREAK, of_llama("llama_cpp/lib/libllama.so")], llama, folder)
    assert (folder / "Tiebreak.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (folder / "llama.cpp" / "LICENSE").read_text("ascii") == "llama.cpp's terms"
    assert not (folder / "llama.cpp" / "Khronos.txt").exists()
    if list(Path(sysconfig.get_path("stdlib")).glob("LICENSE*")):
        collect_licences([Part(Origin.PYTHON, "Python")], llama, folder)
        assert "PYTHON SOFTWARE FOUNDATION LICENSE" in (folder / "Python.txt").read_text("utf-8")


@pytest.mark.parametrize("library", ["libggml-vulkan.so", "ggml-vulkan.dll"])
def test_with_the_library_for_gpus_come_the_terms_of_the_headers_in_it(
    folder: Path, llama: Path, library: str
) -> None:
    collect_licences([of_llama(f"llama_cpp/lib/gpu/{library}")], llama, folder)
    terms = (folder / "llama.cpp" / "Khronos.txt").read_text("utf-8")
    granted = "Permission is hereby granted"
    for part in ("Vulkan headers", "SPIR-V headers", "The Khronos Group Inc.", granted):
        assert part in terms


def test_what_an_older_build_left_goes(folder: Path, llama: Path) -> None:
    old = folder / "gone-1.0" / "LICENSE"
    old.parent.mkdir(parents=True)
    old.touch()
    assert not [path for _, path, _ in collect_licences([], llama, folder) if "gone" in path]
    assert not old.exists()


@pytest.mark.skipif(
    not (shutil.which("dpkg") and Path("/usr/share/doc/libc6/copyright").is_file()), reason="not a Debian"
)
def test_a_library_of_debian_brings_the_words_of_its_package_and_the_texts_they_refer_to(
    folder: Path, llama: Path
) -> None:
    collect_licences([Part(Origin.DEBIAN, "libc6")], llama, folder)
    assert (folder / "libc6.txt").read_bytes() == Path("/usr/share/doc/libc6/copyright").read_bytes()
    assert "Version 2.1" in (folder / "common" / "LGPL-2.1.txt").read_text("utf-8")
