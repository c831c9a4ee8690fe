"""On which file system a path lies: one of this computer, or one that other computers may write to as well.

What is mapped into memory is the same for all programs of one computer, and for those of two it is not.

Knows: what Linux, macOS and Windows tell of what is mounted. Does not know: what is stored there.
"""

import ctypes
import os
import re
import struct
import sys
from pathlib import Path, PurePosixPath

from engine.system.places import real_path

_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(rb"\\([0-7]{3})")
_NETWORK = frozenset(
    (
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afpfs", "ncpfs", "webdav", "davfs", "acfs"),
        *("afs", "coda", "ceph", "lustre", "beegfs", "gpfs", "glusterfs", "orangefs", "pvfs2"),
        *("9p", "virtiofs", "drvfs", "vboxsf", "vmhgfs", "prl_fs"),  # out of a virtual machine
        *("fuse", "macfuse", "osxfuse"),
    )
)

# struct statfs of macOS: f_flags and f_fstypename, with MNT_LOCAL of f_flags (sys/mount.h).
_STATFS, _STATFS_BYTES, _MNT_LOCAL = "64xI4x16s", 4096, 0x1000
_DRIVE_REMOTE = 4  # of GetDriveTypeW


def network_file_system(path: Path) -> str | None:
    """What the system calls the network file system that a path lies on, such as `nfs4` or `fuse.sshfs`.

    None for a disk of this computer, and where nobody knows. The path need not exist.
    """
    path = real_path(path)
    try:
        if sys.platform == "win32":
            return _of_windows(path)
        if sys.platform == "darwin":
            return _of_macos(path)
        return network_name(mounted_at(_MOUNTS.read_bytes(), path))
    except (OSError, AttributeError):  # AttributeError: a system that has not what is asked
        return None


def network_name(name: str | None) -> str | None:
    """The name of a file system where it is one of a network, else None."""
    # What programs show as files (FUSE) may lie anywhere; `fuseblk` alone is always a disk.
    return name if name is not None and (name in _NETWORK or name.startswith("fuse.")) else None


def mounted_at(mounts: bytes, path: Path) -> str | None:
    """The name of the file system of an absolute path, by Linux's table of mounts (`man 5 proc`, mountinfo).

    None where none of them holds it.
    """
    found, longest = None, -1
    for line in mounts.splitlines():
        before, separator, after = line.partition(b" - ")
        fields, names = before.split(b" "), after.split(b" ")
        if not separator or len(fields) < 5:
            continue
        place = PurePosixPath(os.fsdecode(_OCTAL.sub(lambda code: bytes([int(code[1], 8)]), fields[4])))
        # Of two at one place the later one covers the earlier one.
        if path.is_relative_to(place) and len(place.parts) >= longest:
            found, longest = os.fsdecode(names[0]), len(place.parts)
    return found


def name_in_statfs(told: bytes) -> str | None:
    """The name of a network file system by what `statfs` of macOS fills in; None for a local one."""
    flags, name = struct.unpack_from(_STATFS, told)
    text = name.split(b"\0")[0].decode("ascii", "replace")
    return text if not flags & _MNT_LOCAL else network_name(text)


def _of_macos(path: Path) -> str | None:
    system = ctypes.CDLL(None)
    # On Intel the plain name is that of an older, shorter form.
    ask = getattr(system, "statfs$INODE64", None) or system.statfs
    told = ctypes.create_string_buffer(_STATFS_BYTES)
    for place in (path, *path.parents):
        if ask(os.fsencode(place), told) == 0:
            return name_in_statfs(told.raw)
    return None


def _of_windows(path: Path) -> str | None:
    share = path.drive.startswith("\\\\") and not re.match(r"\\\\[?.]\\[A-Za-z]:", path.drive)
    if share or _drive_type(path.anchor) == _DRIVE_REMOTE:
        return "network drive"
    return None


def _drive_type(anchor: str) -> int:
    if sys.platform == "win32":
        return int(ctypes.windll.kernel32.GetDriveTypeW(anchor))
    return 0
