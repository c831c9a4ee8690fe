"""Write a file whole or not at all; know one again by its content.

Knows: paths, bytes and plain values. Does not know: what they mean.
"""

import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from engine.core.errors import SetupError
from engine.system.places import Found, look_at, real_path, reason_of, refuse_impossible, shown

_REMEDIES = {
    errno.ENOSPC: "The disk is full: free some space, or choose another disk.",
    errno.EDQUOT: "Your share of the disk is used up: free some space, or choose another disk.",
    errno.EFBIG: "The file is too large for this disk: choose another disk.",
    errno.EROFS: "The disk is read-only: choose another folder.",
    errno.ENAMETOOLONG: "Choose a shorter file name.",
    errno.ELOOP: "Mend the link, or choose another name.",
    errno.ENOTDIR: "Check the name and the folder.",
    errno.ENOENT: "Create the folder first, or choose another.",
}
_NO_PERMISSION = (
    "Close the file in other programs, see that neither it nor its folder is read-only, "
    "or choose another place."
)


def write_whole(path: Path, data: bytes) -> None:
    """Put `data` at `path`, replacing what was there; a symbolic link is followed.

    The bytes are on disk before the name points at them. Raises SetupError (folder missing, not a
    plain file, read-only, disk full, in use by another program), and then the old file is untouched.
    """
    with whole_file(path) as part:
        part.write_bytes(data)


def write_json(path: Path, value: object) -> None:
    """Write plain values as JSON in UTF-8, as `write_whole` writes; ValueError for NaN and infinities."""
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(path, text.encode("utf-8"))


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write a file to, which takes the place of `path` at the end of the block, like `write_whole`.

    Where the block raises, the old file is untouched and what was written is gone; an OSError is taken for
    one of writing and becomes a SetupError. The file must be closed when the block ends.
    """
    target = _writable_target(path)
    part = _part_of(target)
    with _os_errors_as_setup_errors(path):
        try:
            yield part
            with part.open("r+b") as file:
                # Before the name points at it: after a power cut there may else be a name with an empty file.
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def file_hash(path: Path) -> str:
    """SHA-256 (hex) of what is in a file, however large it is. OSError where it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are missing. Raises SetupError."""
    with _os_errors_as_setup_errors(path):
        path.mkdir(parents=True, exist_ok=True)


def check_writable(path: Path) -> None:
    """Raise the SetupError that `write_whole` would raise now; leaves no trace."""
    part = _part_of(_writable_target(path))
    with _os_errors_as_setup_errors(path):
        try:
            part.touch()
        finally:
            part.unlink(missing_ok=True)


def check_targets(written: Mapping[str, Path | None], read: Mapping[str, Path]) -> None:
    """See before long work that what will be written can be, and overwrites neither what is read nor itself.

    Both by the name that people know them by; None is not written. Raises SetupError.
    """
    taken = {real_path(path): f"the {name}" for name, path in read.items()}
    for name, path in written.items():
        if path is None:
            continue
        if (other := taken.setdefault(real_path(path), f"the file of {name}")) != f"the file of {name}":
            raise SetupError(
                f"{name} {shown(path)} is {other}: it would be overwritten.", "Choose another name."
            )
        check_writable(path)


def _part_of(target: Path) -> Path:
    # In the same folder, so that it can be renamed into place; by process, so that two do not meet.
    return target.with_name(f".{target.name}.{os.getpid()}.part")


def _writable_target(path: Path) -> Path:
    """Where the bytes go, once links are followed; SetupError where they must not or cannot go."""
    with _os_errors_as_setup_errors(path):
        target = real_path(path)
        there = look_at(target)
        if there is Found.FOLDER:
            raise SetupError(f"{shown(path)} is a folder.", "Choose a file name inside it.")
        if look_at(target.parent) is not Found.FOLDER:
            raise SetupError(f"The folder {shown(target.parent)} does not exist.", _REMEDIES[errno.ENOENT])
        if there is Found.FILE:
            # Replacing asks the folder for permission, not the file: a protected file would be lost.
            with target.open("r+b"):
                pass
        elif there is Found.OTHER:
            raise SetupError(f"{shown(path)} is a device or a pipe, not a file.", "Choose another name.")
        return target


@contextmanager
def _os_errors_as_setup_errors(path: Path) -> Iterator[None]:
    refuse_impossible(path)
    try:
        yield
    except PermissionError as error:
        raise SetupError(
            f"No permission to write {shown(path)}: {error.strerror}.", _NO_PERMISSION
        ) from error
    except OSError as error:
        remedy = _REMEDIES.get(error.errno or 0, "Choose another folder or disk.")
        raise SetupError(f"{shown(path)} could not be written: {reason_of(error)}.", remedy) from error
