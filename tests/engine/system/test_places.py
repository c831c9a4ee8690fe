"""Names that no file can have, links that lead nowhere, and what may not be read: each is told in words."""

import errno
import os
import sys
from pathlib import Path

import pytest

import tiebreak
from engine.core.errors import SetupError
from engine.system.files import check_targets, check_writable
from engine.system.paths import PathKind, found_at, is_there, real_path, said_of_system, seen_at, shown
from tests import commands

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")

LONG = Path("n" * 5000)


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    """A link to itself."""
    path = tmp_path / "loop"
    path.symlink_to("loop")
    return path


def test_what_lies_at_a_path_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = [found_at(tmp_path / name) for name in ("file", "", "gone", "file/below")]
    assert found == [PathKind.FILE, PathKind.FOLDER, PathKind.NOTHING, PathKind.NOTHING]


@posix_only
def test_a_loop_of_links_is_named_wherever_it_is_met(loop: Path) -> None:
    for path in (loop, loop / "below"):
        for ask in (found_at, is_there, check_writable, lambda path: check_targets({"--out": path}, {})):
            with pytest.raises(SetupError, match=r"loop.* symbolic link that leads back to itself"):
                ask(path)
        assert seen_at(path) is PathKind.NOTHING
        assert real_path(path).name == path.name


@pytest.mark.skipif(sys.platform == "win32", reason="no folder is deleted there while a program stands in it")
def test_a_current_folder_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    done = commands.run_here("pairs", "a.json", "b.json", "--out", "c.tsv")
    assert done.returncode == 2
    assert "The current folder no longer exists" in done.stderr
    with pytest.raises(tiebreak.Refused, match="The current folder no longer exists"):
        tiebreak.Run(1, "runs.sqlite")


@posix_only
def test_a_link_to_nothing_leads_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    assert found_at(tmp_path / "link") is PathKind.NOTHING
    assert real_path(tmp_path / "link") == real_path(tmp_path) / "gone"


@pytest.mark.parametrize("path", [Path("n" * 256), LONG, Path("x\0y"), Path("half\ud800")])
def test_a_name_that_no_file_can_have_is_refused_in_few_words(path: Path) -> None:
    for ask in (found_at, check_writable):
        with pytest.raises(SetupError) as refused:
            ask(path)
        assert len(refused.value.problem) < 450
        assert str(path)[:1] in refused.value.problem
    assert seen_at(path) is PathKind.NOTHING
    assert real_path(path).name == path.name


def test_a_long_path_is_shown_without_its_middle() -> None:
    assert len(shown(LONG)) == 300
    assert shown(Path("a\x1b[2J")) == "a\\x1b[2J"


def test_what_the_system_says_of_a_file_is_no_fault_of_the_program() -> None:
    error = OSError(errno.ELOOP, os.strerror(errno.ELOOP), "/data/loop")
    said = said_of_system(error)
    assert said is not None
    assert said.problem == f"{Path('/data/loop')} is a symbolic link that leads back to itself."
    missing = FileNotFoundError(errno.ENOENT, "No such file", "/data/gone")  # may be the program's own
    assert [said_of_system(each) for each in (missing, OSError(errno.EIO, "I/O"), ValueError())] == [None] * 3
