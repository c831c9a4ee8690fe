"""The licence texts that a bundle carries, of packages that are installed here."""

import shutil
import sysconfig
from collections import Counter
from importlib.metadata import distribution
from pathlib import Path

import pytest
from licences import collect_licences

from gui.window.help_dialogs import PACKAGES
from tests.commands import ROOT

NUMPY = ["numpy/_core/_multiarray_umath.so", "numpy.linalg", "numpy.libs/libopenblas.so"]


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    """A folder with licences as llama.cpp's build leaves it."""
    folder = tmp_path / "llama-licences"
    folder.mkdir()
    (folder / "LICENSE").write_text("llama.cpp's terms", encoding="ascii")
    return folder


def texts_of(package: str) -> list[bytes]:
    """The licence texts that came with a package, by the names that licences go by."""
    return [
        Path(str(path.locate())).read_bytes()
        for path in distribution(package).files or []
        if path.name.lower().startswith(("license", "licence", "copying", "notice"))
    ]


def test_each_text_is_there_and_none_overwrites_another(tmp_path: Path, llama: Path) -> None:
    folder = tmp_path / "licences"
    collect_licences(NUMPY, [], llama, folder)
    own = folder / f"numpy-{distribution('numpy').version}"
    copied = [path for path in own.rglob("*") if path.is_file()]
    texts = texts_of("numpy")
    assert len(texts) > 3  # of NumPy 2.0, which has the fewest
    assert not Counter(texts) - Counter(path.read_bytes() for path in copied)
    assert len({str(path).lower() for path in copied}) == len(copied)  # where case does not tell two apart


def test_every_package_that_the_window_names_keeps_all_its_texts(tmp_path: Path, llama: Path) -> None:
    folder = tmp_path / "licences"
    tops = {
        path.parts[0]
        for package in PACKAGES
        for path in distribution(package).files or []
        if path.suffix == ".py"
    }
    collect_licences(sorted(tops), [], llama, folder)
    for package in PACKAGES:
        (own,) = folder.glob(f"{distribution(package).metadata['Name']}-{distribution(package).version}")
        copied = Counter(path.read_bytes() for path in own.rglob("*") if path.is_file())
        assert copied, package
        assert not Counter(texts_of(package)) - copied, package


def test_the_entries_name_every_copied_file_once_below_licences(tmp_path: Path, llama: Path) -> None:
    folder = tmp_path / "licences"
    entries = collect_licences(NUMPY, [], llama, folder)
    inside, sources, kinds = zip(*entries, strict=True)
    assert set(kinds) == {"DATA"}
    assert {Path(path).parts[0] for path in inside} == {"licences"}
    assert len(set(inside)) == len(inside)
    assert sorted(map(Path, sources)) == sorted(path for path in folder.rglob("*") if path.is_file())
    assert [Path(path).relative_to("licences") for path in inside] == [
        Path(path).relative_to(folder) for path in sources
    ]


def test_a_package_without_a_text_keeps_its_metadata_and_that_is_said(
    tmp_path: Path, llama: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collect_licences(["rouge_score.rouge_scorer"], [], llama, tmp_path / "licences")
    package = distribution("rouge_score")
    name = f"{package.metadata['Name']}-{package.version}"
    assert [path.name for path in (tmp_path / "licences" / name).iterdir()] == ["METADATA.txt"]
    kept = (tmp_path / "licences" / name / "METADATA.txt").read_text("utf-8")
    assert "Name: rouge" in kept
    assert "Apache" in kept
    assert f"{name} comes without the text of its licence; it names: " in capsys.readouterr().out


def test_a_package_with_a_text_is_not_said_to_lack_one(
    tmp_path: Path, llama: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collect_licences(NUMPY, [], llama, tmp_path / "licences")
    assert "numpy" not in capsys.readouterr().out


def test_only_what_is_bundled_has_a_folder(tmp_path: Path, llama: Path) -> None:
    folder = tmp_path / "licences"
    collect_licences(
        [*NUMPY, "engine.core.judgments", "examples/demo.tsv", r"numpy\fft\a.pyd"], [], llama, folder
    )
    folders = {path.name.rpartition("-")[0] or path.name for path in folder.iterdir() if path.is_dir()}
    assert folders - {"common"} == {"numpy", "llama.cpp"}


def test_the_programs_own_and_those_of_llama_cpp_and_python_are_there(tmp_path: Path, llama: Path) -> None:
    folder = tmp_path / "licences"
    collect_licences([], [], llama, folder)
    assert (folder / "Tiebreak.txt").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert (folder / "llama.cpp" / "LICENSE").read_text("ascii") == "llama.cpp's terms"
    if list(Path(sysconfig.get_path("stdlib")).glob("LICENSE*")):
        assert "PYTHON SOFTWARE FOUNDATION LICENSE" in (folder / "Python.txt").read_text("utf-8")


@pytest.mark.parametrize(
    "library", ["llama_cpp/lib/gpu/libggml-vulkan.so", r"llama_cpp\lib\gpu\ggml-vulkan.dll"]
)
def test_with_the_library_for_gpus_come_the_terms_of_the_headers_in_it(
    tmp_path: Path, llama: Path, library: str
) -> None:
    folder = tmp_path / "licences"
    collect_licences([library], [], llama, folder)
    terms = (folder / "llama.cpp" / "Khronos.txt").read_text("utf-8")
    for part in (
        "Vulkan headers",
        "SPIR-V headers",
        "The Khronos Group Inc.",
        "Permission is hereby granted",
    ):
        assert part in terms


def test_without_it_they_stay_out(tmp_path: Path, llama: Path) -> None:
    folder = tmp_path / "licences"
    collect_licences(["llama_cpp/lib/libllama.so"], [], llama, folder)
    assert not (folder / "llama.cpp" / "Khronos.txt").exists()


def test_what_an_older_build_left_goes(tmp_path: Path, llama: Path) -> None:
    old = tmp_path / "licences" / "gone-1.0" / "LICENSE"
    old.parent.mkdir(parents=True)
    old.touch()
    assert not [
        path for _, path, _ in collect_licences([], [], llama, tmp_path / "licences") if "gone" in path
    ]
    assert not old.exists()


@pytest.mark.skipif(
    not (shutil.which("dpkg") and Path("/usr/share/doc/libc6/copyright").is_file()), reason="not a Debian"
)
def test_a_library_of_debian_brings_the_words_of_its_package_and_the_texts_they_refer_to(
    tmp_path: Path, llama: Path
) -> None:
    folder = tmp_path / "licences"
    library = next(Path("/usr/lib").glob("*/libc.so.6"))
    collect_licences([], [library, ROOT / "LICENSE"], llama, folder)
    assert (folder / "libc6.txt").read_bytes() == Path("/usr/share/doc/libc6/copyright").read_bytes()
    assert "Version 2.1" in (folder / "common" / "LGPL-2.1.txt").read_text("utf-8")
