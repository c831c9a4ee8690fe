"""The file systems of networks are known by the names that each system gives them."""

import struct
from pathlib import Path

import pytest

from engine.system import paths
from engine.system.paths import mounted_at, name_in_statfs, network_file_system, network_name

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
    assert mounted_at(MOUNTS, Path(path)) == name


@pytest.mark.parametrize("name", ["nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "fuse.rclone", "9p", "smbfs"])
def test_file_systems_of_networks_are_known_by_name(name: str) -> None:
    assert network_name(name) == name


@pytest.mark.parametrize("name", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "fuseblk", "apfs", "new", None])
def test_disks_of_this_computer_and_unknown_ones_are_none(name: str | None) -> None:
    assert network_name(name) is None


@pytest.mark.parametrize(
    ("name", "flags", "found"),
    [(b"apfs", 0x1000, None), (b"smbfs", 0, "smbfs"), (b"nfs", 0, "nfs"), (b"macfuse", 0x1000, "macfuse")],
)
def test_macos_tells_what_is_local(name: bytes, flags: int, found: str | None) -> None:
    told = struct.pack("64s4s", b"", b"")[:64] + struct.pack("II16s", flags, 0, name) + bytes(2100)
    assert name_in_statfs(told) == found


def test_what_is_not_told_counts_as_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert network_file_system(tmp_path / "not" / "yet" / "there") is None
    monkeypatch.setattr(paths, "_MOUNTS", tmp_path / "missing")
    assert network_file_system(tmp_path) is None
