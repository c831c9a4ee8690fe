"""Archives that are the same each time, and what is said of two that are not."""

import marshal
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest
from build import made_at, plain_member, write_zip
from compare_bundles import contents, differences, main
from steady_library import make_steady

from tests.packaging.steps import ran

MADE = 1_700_000_000
FILES = {"tiebreak": "program", "_internal/b.so": "library", "_internal/a/c.txt": "text"}


def pack_tar(archive: Path, folder: Path) -> None:
    with tarfile.open(archive, "w:xz") as target:
        target.add(folder, folder.name, filter=lambda member: plain_member(member, MADE))


PACK: dict[str, Callable[[Path, Path], None]] = {"tar.xz": pack_tar, "zip": partial(write_zip, made=MADE)}


def packed(suffix: str, *folders: Path) -> list[Path]:
    archives = [folder.with_name(f"archive.{suffix}") for folder in folders]
    for archive, folder in zip(archives, folders, strict=True):
        PACK[suffix](archive, folder)
    return archives


def made_in(folder: Path, names: list[str], time: int, umask: int) -> Path:
    """A bundle whose files were put down in this order, at this time, by somebody with these habits."""
    bundle = folder / "bundle"
    for name in names:
        path = bundle / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILES[name], encoding="ascii")
        path.chmod((0o777 if name == "tiebreak" else 0o666) & ~umask)
        os.utime(path, (time, time))
    return bundle


@pytest.mark.parametrize("suffix", PACK)
def test_who_packed_it_and_when_makes_no_difference(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = made_in(tmp_path / "first", list(FILES), 1_000_000_000, 0o022)
    second = made_in(tmp_path / "second", list(reversed(FILES)), 1_500_000_000, 0o077)
    archives = packed(suffix, first, second)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    assert main([str(path) for path in archives]) == 0
    assert "Equal byte for byte" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", PACK)
def test_what_differs_is_named_by_its_path(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first = made_in(tmp_path / "first", list(FILES), MADE, 0o022)
    second = made_in(tmp_path / "second", list(FILES), MADE, 0o022)
    (second / "_internal" / "b.so").write_text("another library", encoding="ascii")
    (second / "_internal" / "a" / "c.txt").unlink()
    (second / "new.txt").touch()
    archives = packed(suffix, first, second)
    assert main([str(path) for path in archives]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "only in the first   _internal/a/c.txt",
        "another content: _internal/b.so",
        "only in the second  new.txt",
    ]


def test_an_archive_that_is_packed_in_another_way_is_not_called_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made_in(tmp_path, list(FILES), MADE, 0o022)
    write_zip(tmp_path / "one.zip", folder, MADE)
    with zipfile.ZipFile(tmp_path / "one.zip") as one, zipfile.ZipFile(tmp_path / "two.zip", "w") as two:
        for member in reversed(one.infolist()):
            two.writestr(member, one.read(member))
    assert main([str(tmp_path / "one.zip"), str(tmp_path / "two.zip")]) == 1
    assert "packed differently" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes there")
def test_of_folders_content_links_and_what_can_be_run_count(tmp_path: Path) -> None:
    first = made_in(tmp_path / "first", list(FILES), 1_000_000_000, 0o022)
    second = made_in(tmp_path / "second", list(FILES), 1_500_000_000, 0o077)
    assert not differences(contents(first), contents(second))
    for folder, target in ((first, "b.so"), (second, "a")):
        (folder / "_internal" / "link").symlink_to(target)
    (second / "_internal" / "b.so").chmod(0o755)
    found = differences(contents(first), contents(second))
    assert found == ["another mode: _internal/b.so", "another content: _internal/link"]


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_a_bundle_bears_the_time_that_is_named_or_that_of_the_commit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(MADE))
    assert made_at() == MADE
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    monkeypatch.setattr("build.ROOT", tmp_path)
    monkeypatch.setattr("build.RELEASED", "2023-11-14")
    assert made_at() == 1_699_920_000  # of a source without its history
    identity = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    time = {"GIT_COMMITTER_DATE": f"{MADE} +0000"}
    commit = ["git", *identity, "commit", "--quiet", "--allow-empty", "--message", "a state"]
    for command in (["git", "init", "--quiet"], commit):
        subprocess.run(command, cwd=tmp_path, env={**os.environ, **time}, check=True)
    assert made_at() == MADE


# Compiled modules that come out the same, whatever Python did before


SOURCE = (
    "NAMES = ('one text', 'another')\n\ndef told(name='one text'):\n    return 'told', name, 2.5, NAMES\n"
)


def library(path: Path, version: int, names: list[str]) -> Path:
    """A zip of one module under several names; `version`: of the format, with references from 3 on."""
    code = marshal.dumps(compile(SOURCE, "module.py", "exec"), version)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(f"{name}.pyc", MAGIC_NUMBER + bytes(12) + code)
    return path


def test_the_same_modules_give_the_same_bytes_and_can_be_imported(tmp_path: Path) -> None:
    first = library(tmp_path / "first.zip", 2, ["alpha", "beta"])
    second = library(tmp_path / "second.zip", 4, ["beta", "alpha"])
    assert first.read_bytes() != second.read_bytes()
    for each in (first, second):
        make_steady(each)
    assert first.read_bytes() == second.read_bytes()
    told = "import sys; sys.path.insert(0, sys.argv[1]); import beta; print(beta.told())"
    assert (
        ran(sys.executable, "-I", "-c", told, first).stdout
        == "('told', 'one text', 2.5, ('one text', 'another'))\n"
    )
