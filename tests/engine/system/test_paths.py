"""The program's own folders, how it starts itself, and what it leaves to other programs."""

import errno
import os
import struct
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath

import pytest

import tiebreak
from engine.system import paths
from engine.system.files import check_targets, check_writable, write_whole
from engine.system.paths import (
    PathKind,
    found_at,
    is_there,
    mounted_at,
    name_in_statfs,
    network_file_system,
    network_name,
    real_path,
    said_of_system,
    seen_at,
    shown,
)
from tests import commands
from tests.steps import refused, there


def test_one_variable_moves_all_folders_and_asking_for_them_makes_none(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = (paths.data_folder(), paths.cache_folder(), paths.log_folder(), paths.models_folder())
    assert folders == tuple(private_home / "tiebreak" / name for name in ("data", "cache", "logs", "models"))
    assert not (private_home / "tiebreak").exists()
    monkeypatch.setenv("TIEBREAK_HOME", "here")
    assert paths.data_folder() == Path.cwd() / "here" / "data"


def test_without_it_the_folders_are_the_users_and_bear_our_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIEBREAK_HOME")
    folders = {paths.data_folder(), paths.cache_folder(), paths.models_folder()}
    assert len(folders) == 3
    assert all("Tiebreak" in folder.parts for folder in folders)


def test_a_child_gets_our_environment_and_the_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HOME", "")
    monkeypatch.setenv("LLAMA_CACHE", "replaced")
    child = paths.child_environment(LLAMA_CACHE="new")
    assert (child["HF_HOME"], child["LLAMA_CACHE"]) == ("", "new")
    assert paths.environment("HF_HOME") is None  # an empty variable is none


def test_from_source_it_starts_main_with_this_python_and_a_person_types_python() -> None:
    assert paths.self_command() == [sys.executable, str(commands.MAIN)]
    assert paths.program() == "python main.py"
    assert paths.demo_model().is_file()
    assert paths.demo_dataset().is_file()


@pytest.fixture
def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This process looks like a bundle's; the folder of its executable."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path / "_internal"), raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "Tiebreak.exe"))
    return tmp_path


def test_a_bundle_starts_itself_and_looks_for_its_files_in_it(frozen: Path) -> None:
    assert paths.self_command() == [str(frozen / "Tiebreak.exe")]
    assert paths.program() == "Tiebreak"
    assert paths.demo_model() == frozen / "_internal" / "models" / "demo-judge.gguf"
    assert paths.demo_dataset() == frozen / "_internal" / "examples" / "demo.tsv"


@pytest.mark.parametrize("started", ["Tiebreak.exe", "tiebreak-cli.exe"])
def test_the_twin_with_a_console_is_what_a_person_types_and_what_starts_children(
    frozen: Path, monkeypatch: pytest.MonkeyPatch, started: str
) -> None:
    twin = frozen / "tiebreak-cli.exe"
    twin.touch()
    monkeypatch.setattr(sys, "executable", str(frozen / started))
    assert (paths.self_command(), paths.program()) == ([str(twin)], "tiebreak-cli")
    monkeypatch.delattr(sys, "frozen")  # from source a twin beside Python means nothing
    assert paths.self_command()[0] == str(frozen / started)
    assert paths.program() == "python main.py"


def test_licences_of_others_lie_in_the_bundle_alone(frozen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert paths.third_party_licences() == frozen / "_internal" / "licences"
    monkeypatch.delattr(sys, "frozen")
    assert paths.third_party_licences() is None


@pytest.fixture
def as_a_bundle_sets_them(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables by which programs find libraries, as they are while a bundle runs."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/bundle/_internal")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/opt/own")
    monkeypatch.setenv("QT_PLUGIN_PATH", "/bundle/plugins")
    monkeypatch.delenv("QT_PLUGIN_PATH_ORIG", raising=False)
    monkeypatch.delenv("QML2_IMPORT_PATH", raising=False)
    return search_variables()


def search_variables() -> dict[str, str]:
    """Those variables, and what they were before."""
    return {name: value for name, value in os.environ.items() if name.startswith(("LD_", "QT_", "QML"))}


@pytest.mark.parametrize("before", ["/opt/own", "", None])
def test_other_programs_of_a_bundle_get_the_environment_of_before(
    frozen: Path, as_a_bundle_sets_them: dict[str, str], monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    if before is None:
        monkeypatch.delenv("LD_LIBRARY_PATH_ORIG")
    else:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", before)
    ours = search_variables()
    with suppress(OSError), paths.environment_of_the_system():
        assert os.environ.get("LD_LIBRARY_PATH") == (before or None)
        assert "QT_PLUGIN_PATH" not in os.environ
        raise OSError("the other program cannot be started")
    assert search_variables() == ours


def test_from_source_other_programs_get_our_environment(as_a_bundle_sets_them: dict[str, str]) -> None:
    with paths.environment_of_the_system():
        assert search_variables() == as_a_bundle_sets_them


def test_matplotlib_keeps_its_fonts_in_our_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLCONFIGDIR", "elsewhere")
    paths.keep_caches_together()
    assert Path(os.environ["MPLCONFIGDIR"]) == paths.cache_folder() / "matplotlib"
    assert not paths.cache_folder().exists()


posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")

LONG = Path("n" * 5000)


@posix_only
@pytest.mark.parametrize("below", ["", "below"])
def test_a_loop_of_links_is_named_wherever_it_is_met(tmp_path: Path, below: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    path = tmp_path / "loop" / below
    for ask in (found_at, is_there, check_writable, lambda path: check_targets({"--out": path}, {})):
        refused(partial(ask, path), r"loop.* symbolic link that leads back to itself")
    assert seen_at(path) is PathKind.NOTHING
    assert real_path(path).name == path.name


def test_what_lies_at_a_path_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found = [found_at(tmp_path / name) for name in ("file", "", "gone", "file/below")]
    assert found == [PathKind.FILE, PathKind.FOLDER, PathKind.NOTHING, PathKind.NOTHING]


@posix_only
def test_a_link_to_nothing_leads_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("gone")
    assert found_at(tmp_path / "link") is PathKind.NOTHING
    assert real_path(tmp_path / "link") == real_path(tmp_path) / "gone"


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


HALF = [] if sys.platform == "win32" else [Path("half\ud800")]  # which is a name on Windows


@pytest.mark.parametrize("path", [Path("n" * 256), LONG, Path("x\0y"), *HALF])
def test_a_name_that_no_file_can_have_is_refused_in_few_words(path: Path) -> None:
    for ask in (found_at, check_writable):
        problem = refused(partial(ask, path)).problem
        assert len(problem) < 450
        assert str(path)[:1] in problem
    assert seen_at(path) is PathKind.NOTHING
    assert real_path(path).name == path.name
    assert len(shown(LONG)) == 300  # a long path is shown without its middle
    assert shown(Path("a\x1b[2J")) == "a\\x1b[2J"


@pytest.mark.skipif(sys.platform != "win32", reason="a colon is a letter here")
@pytest.mark.parametrize("name", ["z:b.tsv", "{folder}\\z:b.tsv", "{folder}\\out:2.tsv", "z:"])
def test_a_name_with_a_colon_leads_to_no_other_drive(tmp_path: Path, name: str) -> None:
    path = Path(name.format(folder=tmp_path))
    for ask in (found_at, check_writable, lambda path: write_whole(path, b"x")):
        assert "is not possible: " in refused(partial(ask, path)).problem


def test_what_the_system_says_of_a_file_is_no_fault_of_the_program() -> None:
    error = OSError(errno.ELOOP, os.strerror(errno.ELOOP), "/data/loop")
    said = there(said_of_system(error))
    assert said.problem == f"{Path('/data/loop')} is a symbolic link that leads back to itself."
    missing = FileNotFoundError(errno.ENOENT, "No such file", "/data/gone")  # may be the program's own
    assert [said_of_system(each) for each in (missing, OSError(errno.EIO, "I/O"), ValueError())] == [None] * 3


MOUNTS = b"""\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
25 22 0:23 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw
97 22 0:48 / /home rw,relatime shared:52 - nfs4 files.example.org:/export/home rw,vers=4.2,hard,addr=10.0.0.2
98 97 254:17 / /home/ada/scratch rw,relatime - xfs /dev/vdb1 rw,attr2
101 22 0:51 / /media/Our\\040lab rw,relatime shared:60 master:3 - cifs //server/lab rw,vers=3.1.1,uid=1000
102 22 0:52 / /mnt/far rw,nosuid,nodev - fuse.sshfs ada@far:/data rw,user_id=1000,group_id=1000
103 22 8:17 / /media/stick rw,nosuid,nodev - fuseblk /dev/sdb1 rw,user_id=0,group_id=0,blksize=4096
104 22 0:55 / /mnt/over rw - ext4 /dev/vdc1 rw
105 22 0:56 / /mnt/over rw - nfs server:/v3 rw,vers=3
106 22 0:57 / /mnt/\xc3\xa9t\xc3\xa9 rw - 9p host rw,trans=virtio
a line that is none
"""


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/var/lib/runs.sqlite", "ext4"),
        ("/home/ada/runs.sqlite", "nfs4"),
        ("/home/ada/scratch/runs.sqlite", "xfs"),
        ("/homestead/runs.sqlite", "ext4"),
        ("/media/Our lab/runs.sqlite", "cifs"),
        ("/mnt/far/runs.sqlite", "fuse.sshfs"),
        ("/media/stick/runs.sqlite", "fuseblk"),
        ("/mnt/over/runs.sqlite", "nfs"),
        ("/mnt/été/runs.sqlite", "9p"),
    ],
)
def test_the_innermost_mount_holds_a_path(path: str, name: str) -> None:
    assert mounted_at(MOUNTS, PurePosixPath(path)) == name


def test_file_systems_of_networks_are_known_by_name_and_all_others_count_as_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "fuse.rclone", "9p", "smbfs"]
    assert list(map(network_name, far)) == far
    here = ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", "apfs", "new", None]
    assert not any(map(network_name, here))
    assert network_file_system(tmp_path / "not" / "yet" / "there") is None
    monkeypatch.setattr(paths, "_MOUNTS", tmp_path / "missing")
    assert network_file_system(tmp_path) is None


@pytest.mark.parametrize(
    ("name", "flags", "found"),
    [(b"apfs", 0x1000, None), (b"smbfs", 0, "smbfs"), (b"nfs", 0, "nfs"), (b"macfuse", 0x1000, "macfuse")],
)
def test_macos_tells_what_is_local(name: bytes, flags: int, found: str | None) -> None:
    told = struct.pack("64s4s", b"", b"")[:64] + struct.pack("II16s", flags, 0, name) + bytes(2100)
    assert name_in_statfs(told) == found
