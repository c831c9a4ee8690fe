"""Files appear whole or not at all, and every refusal says what to do."""

import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.system import paths
from engine.system.files import check_targets, check_writable, own_file, whole_file, write_whole
from tests.commands import ROOT, start_python
from tests.full_disk import disk_that_holds
from tests.steps import refused, there

Write = Callable[[Path], None]

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX rule")
both = pytest.mark.parametrize(
    "write", [lambda path: write_whole(path, b"x"), check_writable], ids=["write", "check"]
)


A_PLAIN_USER = 65534  # nobody


@pytest.fixture
def own_folder() -> Iterator[Path]:
    """A folder of somebody who may not do everything: the test runs as one, also where root started it."""
    with tempfile.TemporaryDirectory() as folder:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        if root:
            os.chown(folder, A_PLAIN_USER, A_PLAIN_USER)
            os.seteuid(A_PLAIN_USER)
        try:
            yield Path(folder)
        finally:
            if root:
                os.seteuid(0)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir() if file.is_file())


def test_an_old_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    for data in (b"a much longer old content", b"id\r\n\0"):
        write_whole(path, data)
        assert path.read_bytes() == data
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

    def fill() -> None:
        with whole_file(path) as file:
            for _ in range(500):
                file.write(b"x" * 100)

    with disk_that_holds(1_000):
        for write in (lambda: write_whole(path, b"x" * 5_000), fill):
            refused(write, "choose another disk")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["out.tsv"]


@pytest.mark.parametrize("raises", [False, True])
def test_what_a_block_writes_appears_at_its_end_unless_that_raises(tmp_path: Path, raises: bool) -> None:
    path = tmp_path / "out.gguf"
    path.write_bytes(b"old")
    with suppress(KeyError), whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert Path(file.name).read_bytes() == b"new"
        assert path.read_bytes() == b"old"
        if raises:
            raise KeyError
    assert path.read_bytes() == (b"old" if raises else b"new")
    assert names_in(tmp_path) == ["out.gguf"]


def test_checking_leaves_an_old_file_as_it_was_and_of_a_new_name_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    path.write_bytes(b"old")
    os.utime(path, (1, 1))
    check_writable(path)
    check_writable(tmp_path / "new.tsv")
    assert (path.read_bytes(), path.stat().st_mtime) == (b"old", 1)
    assert names_in(tmp_path) == ["out.tsv"]


@both
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere/out.tsv", r"nowhere does not exist\.\nCreate the folder"),
        ("", r"is a folder\.\nChoose a file name inside it"),
        ("file/out.tsv", "Create the folder first"),
        ("x" * 256, "is not possible" if sys.platform == "win32" else "shorter file name"),
    ],
    ids=["nowhere", "folder", "in a file", "too long"],
)
def test_where_no_file_can_be_is_refused(tmp_path: Path, write: Write, name: str, said: str) -> None:
    (tmp_path / "file").touch()
    refused(lambda: write(tmp_path / name), said)
    # The longest name that there is; on Windows the part's name may be as long as the path lets it.
    write(tmp_path / ("x" * (200 - len(str(tmp_path)) if sys.platform == "win32" else 255)))


@both
def test_where_only_the_part_file_has_too_long_a_path_the_file_itself_is_named(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a deep folder of Windows: the name that nobody typed is of no use to anybody."""
    folder = tmp_path / ("d" * (235 - len(str(tmp_path))))
    folder.mkdir()
    monkeypatch.setattr(paths, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(paths, "_takes_long_paths", lambda: False)
    error = refused(lambda: write(folder / "out.tsv"), r"out\.tsv cannot be written: .* 31 characters")
    assert ".part" not in str(error)
    assert list(folder.iterdir()) == []


@posix_only
@both
def test_a_pipe_is_refused_and_stays(tmp_path: Path, write: Write) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(lambda: write(tmp_path / "pipe"), "a device or a pipe")
    assert (tmp_path / "pipe").is_fifo()


@both
def test_a_read_only_file_is_refused_and_stays(own_folder: Path, write: Write) -> None:
    path = own_folder / "out.tsv"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with suppress(OSError), path.open("r+b"):
        pytest.skip("here this user may write into any file")
    refused(lambda: write(path), "No permission to write")
    assert path.read_bytes() == b"old"


@posix_only
@both
def test_a_read_only_folder_is_refused(own_folder: Path, write: Write) -> None:
    (own_folder / "folder").mkdir(mode=0o555)
    refused(lambda: write(own_folder / "folder" / "out.tsv"), "nor its folder is read-only")


# Permissions


@posix_only
@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_what_is_written_again_keeps_its_permissions_or_becomes_private(
    tmp_path: Path, mode: int, private: bool
) -> None:
    path = tmp_path / "out.tsv"
    path.touch()
    path.chmod(mode)
    with whole_file(path, private) as file:
        assert mode_of(Path(file.name)) == 0o600
    assert mode_of(path) == (0o600 if private else mode)


@posix_only
@pytest.mark.parametrize(("private", "mode"), [(False, 0o640), (True, 0o600)])
def test_a_new_file_has_usual_permissions_unless_private(tmp_path: Path, private: bool, mode: int) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "out.tsv", b"new", private)
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "out.tsv") == mode


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_stay_where_they_may(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    path.touch()
    os.chown(path, 1234, 5678)
    path.chmod(0o640)
    write_whole(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid, mode_of(path)) == (1234, 5678, 0o640)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_group_that_cannot_be_kept_leaves_its_rights_to_no_other(own_folder: Path) -> None:
    path = own_folder / "out.tsv"
    path.touch()
    path.chmod(0o664)
    os.seteuid(0)
    os.chown(path, A_PLAIN_USER, 5678)
    os.setegid(4321)
    os.seteuid(A_PLAIN_USER)
    try:
        write_whole(path, b"new")
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.seteuid(A_PLAIN_USER)
    assert (path.stat().st_gid, mode_of(path)) == (4321, 0o644)


# What others have planted


@posix_only
def test_what_took_the_place_of_the_part_does_not_become_the_file(tmp_path: Path) -> None:
    path = tmp_path / "out.tsv"
    path.write_bytes(b"old")

    def write() -> None:
        with whole_file(path) as file:
            Path(file.name).unlink()
            Path(file.name).symlink_to("elsewhere")

    refused(write, "another program took the place")
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["out.tsv"]


@posix_only
def test_a_file_for_the_time_of_a_process_is_its_own(tmp_path: Path) -> None:
    victim, log = tmp_path / "victim", tmp_path / "log"
    victim.write_bytes(b"precious")
    log.symlink_to("victim")
    with own_file(log) as file:
        file.write(b"words")
    assert (victim.read_bytes(), log.read_bytes(), mode_of(log)) == (b"precious", b"words", 0o600)


# What is in the way


@posix_only
def test_a_place_that_is_held_for_a_moment_is_waited_for(own_folder: Path) -> None:
    """As a virus scanner holds it on Windows; here somebody closes the folder for a moment."""
    with whole_file(own_folder / "out.tsv") as file:
        file.write(b"new")
        own_folder.chmod(0o555)
        threading.Timer(0.1, own_folder.chmod, (0o755,)).start()
    assert (own_folder / "out.tsv").read_bytes() == b"new"
    assert names_in(own_folder) == ["out.tsv"]


# What a process that was killed left behind

WRITER = """
import sys
from pathlib import Path
from engine.system.files import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(bytes(100_000))
    file.flush()
    print(file.name, flush=True)
    sys.stdin.readline()  # not input(), which asks for a stderr
"""


def writing(path: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process that is in the middle of a file, and its part, which looks old."""
    process = start_python("-c", WRITER, path, cwd=ROOT, stdin=subprocess.PIPE)
    part = Path(there(process.stdout).readline().strip())
    os.utime(part, (1, 1))
    return process, part


@both
def test_what_a_killed_process_did_not_finish_goes_with_the_next_file(tmp_path: Path, write: Write) -> None:
    process, part = writing(tmp_path / "out.tsv")
    with process:
        write(tmp_path / "other.tsv")
        assert part.exists()  # as long as it is written
        process.kill()
    write(tmp_path / "other.tsv")
    assert not part.exists()


def test_what_is_written_still_becomes_the_file_whoever_writes_beside_it(tmp_path: Path) -> None:
    process, _ = writing(tmp_path / "out.tsv")
    with process:
        write_whole(tmp_path / "other.tsv", b"x")
        with whole_file(tmp_path / "third.tsv") as file:
            os.utime(file.name, (1, 1))
            write_whole(tmp_path / "other.tsv", b"y")
        process.communicate("\n")
    assert process.returncode == 0
    assert names_in(tmp_path) == ["other.tsv", "out.tsv", "third.tsv"]
    assert (tmp_path / "third.tsv").stat().st_mtime > time.time() - 60  # no lock, and no name yet


def test_nothing_else_is_cleared_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, odd = tmp_path / f".tiebreak-{'a' * 16}.part", tmp_path / ".tiebreak-mine.part"
    for path in (new, odd):
        path.write_bytes(b"x")
    os.utime(odd, (1, 1))
    (tmp_path / f".tiebreak-{'b' * 16}.part").mkdir()
    write_whole(tmp_path / "out.tsv", b"x")
    assert names_in(tmp_path) == [new.name, odd.name, "out.tsv"]
    hours_ago = time.time() - 20 * 3600
    os.utime(new, (hours_ago, hours_ago))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("engine.system.paths.network_file_system", lambda _folder: "nfs4")
        write_whole(tmp_path / "out.tsv", b"x")
        assert new.exists()  # another computer may write it
    write_whole(tmp_path / "out.tsv", b"x")
    assert not new.exists()
    assert (tmp_path / f".tiebreak-{'b' * 16}.part").is_dir()


@posix_only
def test_a_link_that_is_called_like_a_part_is_left_alone(tmp_path: Path) -> None:
    link = tmp_path / f".tiebreak-{'c' * 16}.part"
    link.symlink_to("precious")
    (tmp_path / "precious").write_bytes(b"x")
    os.utime(tmp_path / "precious", (1, 1))
    os.utime(link, (1, 1), follow_symlinks=False)
    write_whole(tmp_path / "out.tsv", b"x")
    assert link.is_symlink()
    assert names_in(tmp_path) == [link.name, "out.tsv", "precious"]


# What must not be written over


@pytest.mark.parametrize("name", ["out.tsv", "DATA.TSV"])
def test_the_dataset_is_known_by_another_name_or_in_other_letters(tmp_path: Path, name: str) -> None:
    (tmp_path / "data.tsv").touch()
    (tmp_path / "out.tsv").hardlink_to(tmp_path / "data.tsv")
    if not (tmp_path / name).exists():
        pytest.skip("this disk tells names apart by their letters' case")
    written, read = {"--out": tmp_path / name}, {"dataset": tmp_path / "data.tsv"}
    refused(lambda: check_targets(written, read), "is the dataset: it would be overwritten")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts of Linux")
def test_the_dataset_is_known_by_another_mount(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "one" / "data.tsv").touch()
    mount = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount --bind one other && exec "$@"', "sh"]
    if subprocess.run([*mount, "true"], cwd=tmp_path, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    check = """
from pathlib import Path
from engine.system.files import check_targets
for name in ("data.tsv", "new.tsv"):
    try:
        check_targets({"--out": Path("one", name), "--json": Path("other", name)}, {})
    except Exception as error:
        print(str(error).splitlines()[0])
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [*mount, sys.executable, "-c", check]
    said = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=True).stdout
    assert said.count(b"is the file of --out: it would be overwritten.") == 2
