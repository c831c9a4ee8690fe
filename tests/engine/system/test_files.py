"""Files appear whole or not at all, and every refusal says what to do."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.core.errors import SetupError
from engine.system.files import check_writable, whole_file, write_whole
from tests.full_disk import disk_that_holds

Refusal = Callable[[Path], None]

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX rule")
not_root = pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write to read-only places"
)
both = pytest.mark.parametrize(
    "refuse", [lambda path: write_whole(path, b"x"), check_writable], ids=["write", "check"]
)


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.is_file())


def test_a_new_file_holds_the_bytes(tmp_path: Path) -> None:
    write_whole(tmp_path / "out.tsv", b"id\r\n\0")
    assert (tmp_path / "out.tsv").read_bytes() == b"id\r\n\0"


def test_an_old_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    path.write_bytes(b"a much longer old content")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["out.tsv"]


@posix_only
def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@posix_only
def test_a_full_disk_leaves_the_old_file_and_no_part_of_the_new(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    path.write_bytes(b"old")
    with disk_that_holds(1_000), pytest.raises(SetupError, match="choose another disk"):
        write_whole(path, b"x" * 5_000)
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["out.tsv"]


def test_what_a_block_writes_appears_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "out.gguf"
    path.write_bytes(b"old")
    with whole_file(path) as part:
        part.write_bytes(b"new")
        assert part.parent == tmp_path
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert names_in(tmp_path) == ["out.gguf"]


def test_a_block_that_raises_leaves_the_old_file_and_no_part_of_the_new(tmp_path: Path) -> None:
    path = tmp_path / "out.gguf"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), whole_file(path) as part:  # noqa: PT012 - a block is what is tested
        part.write_bytes(b"new")
        raise KeyError
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["out.gguf"]


@posix_only
def test_a_disk_that_fills_within_a_block_says_so(tmp_path: Path) -> None:
    def fill() -> None:
        with whole_file(tmp_path / "out.gguf") as part, part.open("wb") as file:
            for _ in range(50):
                file.write(b"x" * 100)

    with disk_that_holds(1_000), pytest.raises(SetupError, match="choose another disk"):
        fill()
    assert names_in(tmp_path) == []


def test_checking_leaves_an_old_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    path.write_bytes(b"old")
    os.utime(path, (1, 1))
    check_writable(path)
    assert path.read_bytes() == b"old"
    assert path.stat().st_mtime == 1


def test_checking_a_new_name_leaves_nothing(tmp_path: Path) -> None:
    check_writable(tmp_path / "out.tsv")
    assert names_in(tmp_path) == []


@both
def test_a_missing_folder_is_named(tmp_path: Path, refuse: Refusal) -> None:
    with pytest.raises(SetupError, match=r"nowhere does not exist\.\nCreate the folder"):
        refuse(tmp_path / "nowhere" / "out.tsv")


@both
def test_a_folder_is_refused(tmp_path: Path, refuse: Refusal) -> None:
    with pytest.raises(SetupError, match=r"is a folder\.\nChoose a file name inside it"):
        refuse(tmp_path)


@both
def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path, refuse: Refusal) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="Create the folder first"):
        refuse(tmp_path / "file" / "out.tsv")


@both
def test_a_name_that_is_too_long_is_refused(tmp_path: Path, refuse: Refusal) -> None:
    with pytest.raises(SetupError, match="shorter file name"):
        refuse(tmp_path / ("x" * 255))


@posix_only
@both
def test_a_pipe_is_refused_and_stays(tmp_path: Path, refuse: Refusal) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SetupError, match="a device or a pipe"):
        refuse(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


@not_root
@both
def test_a_read_only_file_is_refused_and_stays(tmp_path: Path, refuse: Refusal) -> None:
    path = tmp_path / "out.tsv"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(SetupError, match="No permission to write"):
        refuse(path)
    assert path.read_bytes() == b"old"


@posix_only
@not_root
@both
def test_a_read_only_folder_is_refused(tmp_path: Path, refuse: Refusal) -> None:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o555)
    with pytest.raises(SetupError, match="nor its folder is read-only"):
        refuse(folder / "out.tsv")
