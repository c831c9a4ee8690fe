"""What a bundle is said to weigh and to lack, tried with a small one of real libraries."""

import re
import shutil
import sys
from pathlib import Path

import bundle_check
import pytest
import shiboken6
from bundle_check import needs, size_report, sizes
from smoke_trial import judged_in

from tests.commands import run_here
from tests.conftest import DEMO_ITEMS
from tests.packaging.steps import ran, write

linux_only = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("readelf"), reason="looks into ELF files with readelf"
)
PACKAGE = Path(shiboken6.__file__).parent
USER = "_internal/shiboken6/Shiboken.abi3.so"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A folder with one extension module, and none of the libraries that it is linked with."""
    folder = tmp_path / "bundle"
    (folder / "_internal" / "shiboken6").mkdir(parents=True)
    shutil.copy(str(shiboken6.Shiboken.__file__), folder / "_internal" / "shiboken6")
    (folder / "tiebreak").write_text("#!/bin/sh\n", encoding="ascii")
    return folder


def own_library() -> Path:
    return next(PACKAGE.glob("libshiboken6*.so*"))


def add_libraries(bundle: Path) -> None:
    """Put all there that the module is linked with, as the system finds it."""
    for _ in range(2):
        for path in re.findall(r"=> (/\S+)", ran("ldd", bundle / USER).stdout):
            if Path(path).parent != bundle / "_internal":
                shutil.copy(path, bundle / "_internal")
        shutil.copy(own_library(), bundle / "_internal")


@linux_only
def test_what_is_lacking_is_named_with_who_needs_it_and_ends_the_check_with_1(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system, lacking, glibc = needs(bundle)
    assert lacking[own_library().name] == lacking["libstdc++.so.6"] == {USER}
    assert "libc.so.6" in system
    assert not system & lacking.keys()
    assert (2, 2) <= glibc < (3, 0)
    assert bundle_check.main([str(bundle)]) == 1
    assert f"LACKS {own_library().name}, which these are linked with: {USER}" in capsys.readouterr().out


@linux_only
def test_of_a_whole_bundle_nothing_lacks_and_it_is_said_what_it_needs(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_libraries(bundle)
    assert not needs(bundle)[1]
    assert bundle_check.main([str(bundle)]) == 0
    out = capsys.readouterr().out
    assert "LACKS" not in out
    assert "Needs glibc 2." in out
    assert "libc.so.6" in out


@linux_only
@pytest.mark.parametrize("target", ["renamed.so", "gone.so"])
def test_a_library_may_be_a_link_into_any_folder_unless_to_nothing(bundle: Path, target: str) -> None:
    shutil.copy(own_library(), bundle / "_internal" / "shiboken6" / "renamed.so")
    (bundle / "_internal" / own_library().name).symlink_to(f"shiboken6/{target}")
    assert (own_library().name in needs(bundle)[1]) is (target == "gone.so")


@linux_only
def test_files_that_are_no_libraries_need_nothing(bundle: Path) -> None:
    (bundle / USER).write_bytes(b"\x7fEL")
    assert needs(bundle) == (set(), {}, (0, 0))


@pytest.fixture
def for_gpus(bundle: Path, tmp_path: Path) -> Path:
    """A library that is linked with the finder of graphics drivers; the bundle holds all but the two."""
    add_libraries(bundle)
    library = tmp_path / "libggml-vulkan.so"
    finder = tmp_path / "libvulkan.so.1"
    compile_nothing = ("cc", "-shared", "-x", "c", "/dev/null", "-x", "none", "-Wl,--no-as-needed")
    ran(*compile_nothing, f"-Wl,-soname,{finder.name}", "-o", finder)
    ran(*compile_nothing, finder, "-o", library)
    return library


needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="compiles")


@linux_only
@needs_cc
def test_the_library_for_gpus_may_lack_the_finder_of_drivers_and_that_is_said(
    bundle: Path, for_gpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    apart = bundle / "_internal" / "llama_cpp" / "lib" / "gpu"
    apart.mkdir(parents=True)
    shutil.copy(for_gpus, apart)
    assert bundle_check.main([str(bundle)]) == 0
    always, alone = capsys.readouterr().out.splitlines()[-2:]
    assert "libvulkan" not in always
    assert alone == "Only for a GPU it needs libvulkan.so.1; it runs without."


@linux_only
@needs_cc
def test_nothing_else_may_lack_it(bundle: Path, for_gpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(for_gpus, bundle / "_internal")
    assert bundle_check.main([str(bundle)]) == 1
    assert "LACKS libvulkan.so.1, which these are linked with: _internal/libggml" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["missing"], ["bundle", "bundle"], ["file"]])
def test_wrong_arguments_exit_with_2_and_usage(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(bundle.parent)
    Path("file").touch()
    assert bundle_check.main(words) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("usage: ")
    assert not printed.out


@pytest.fixture
def weighed(tmp_path: Path) -> Path:
    """A folder whose parts weigh 12 MB, 3 MB and 5 bytes; a link in it weighs nothing."""
    folder = tmp_path / "tiebreak-1"
    weights = {
        "_internal/pyarrow/lib.so": 2_000_000,
        "_internal/pyarrow/deep/libarrow.so": 10_000_000,
        "_internal/libz.so.1": 3_000_000,
        "tiebreak": 5,
    }
    write(folder, **{name: bytes(size) for name, size in weights.items()})
    if sys.platform != "win32":  # links need rights there
        (folder / "_internal" / "pyarrow" / "link.so").symlink_to("deep/libarrow.so")
    return folder


def test_the_report_names_the_largest_first_with_what_it_is_for_and_ten_at_most(weighed: Path) -> None:
    assert sizes(weighed) == {"pyarrow": 12_000_000, "libz.so.1": 3_000_000, "tiebreak": 5}
    whole, first, second, third = size_report(weighed).splitlines()
    assert whole == "tiebreak-1: 15 MB unpacked, 3 parts. The largest:"
    assert first.split()[:4] == ["12.0", "MB", "pyarrow", "Parquet"]
    assert second.split() == ["3.0", "MB", "libz.so.1"]
    assert third.split()[2] == "tiebreak"
    for number in range(20):
        (weighed / f"small{number}").write_bytes(b".")
    lines = size_report(weighed).splitlines()
    assert "23 parts" in lines[0]
    assert len(lines) == 11


# What the trial of a bundle reads of what the program prints


def test_the_trial_reads_how_many_items_a_run_holds(demo_store: Path, tmp_path: Path) -> None:
    assert judged_in(run_here("runs", "--store", demo_store).stdout) == DEMO_ITEMS
    assert judged_in(run_here("runs", "--store", tmp_path / "none.sqlite").stdout) == 0
