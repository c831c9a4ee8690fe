"""The one gate for files that are written: whole or not at all, and never into what others have planted: next
to their place, under a name that nobody can know before. What a killed process did not finish is taken away
with the next file that is written in its folder.

Also files that one process owns while it lives, by a lock of the system, and that another takes over once it
is dead. A fork must not share them: before Python 3.14 multiprocessing forks on Linux by default.
"""

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO
from weakref import WeakSet

from engine.core.errors import SetupError
from engine.system import paths

if sys.platform != "win32":
    import fcntl

_HINTS = {
    errno.ENOSPC: "The disk is full: free some space, or choose another disk.",
    errno.EDQUOT: "Your share of the disk is used up: free some space, or choose another disk.",
    errno.EFBIG: "The file is too large for this disk: choose another disk.",
    errno.EROFS: "The disk is read-only: choose another folder.",
    errno.ENAMETOOLONG: "Choose a shorter file name.",
    errno.ELOOP: "Fix the link, or choose another name.",
    errno.ENOTDIR: "Check the name and the folder.",
    errno.ENOENT: "Create the folder first, or choose another.",
}
_NO_PERMISSION = (
    "Close the file in other programs, see that neither it nor its folder is read-only, "
    "or choose another place."
)


_PRIVATE, _DEFAULT = 0o600, 0o666  # of the latter, the system keeps what the umask leaves
# Seconds between tries: a virus scanner of Windows may hold a new file, or the old one, for a moment.
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
_PART = re.compile(r"\.tiebreak-[0-9a-f]{16}\.part")
# Seconds unchanged after which a part may be nobody's: by then it has its lock, or on Windows its name.
# Of another computer the lock may not be seen here, and the clock may differ.
_LEFT, _LEFT_ON_NETWORK = 5.0, 86_400.0


def write_whole(path: Path, data: bytes, private: bool = False) -> None:
    """Put `data` at `path`, replacing what was there; a symbolic link is followed. The bytes are on disk
    before the name points at them. The file has the permissions of the old one, and its group and owner where
    we may give them; `private`: nobody else may read it. SetupError (folder missing, not a plain file,
    read-only, disk full, in use by another program), and then the old file is untouched.
    """
    with whole_file(path, private) as file:
        file.write(data)


def write_json(path: Path, value: object) -> None:
    """Write plain values as JSON in UTF-8, as `write_whole` writes; ValueError for NaN and infinities."""
    text = json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(path, text.encode("utf-8"))


def append(path: Path, data: bytes, size: int) -> None:
    """Put `data` after the first `size` bytes of a file, and wait until it is on the disk. What lay behind
    them is dropped: the rest of what was not written to its end. SetupError.
    """
    with _os_errors_as_setup_errors(path), path.open("r+b" if size else "wb") as file:
        file.truncate(size)
        file.seek(size)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def whole_file(path: Path, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` at the end of the block, like `write_whole`; its
    `name` is an absolute path for whoever can only write by name. Where the block raises, the old file is
    untouched; an OSError becomes a SetupError. The block leaves the file open.
    """
    target, old = _writable_target(path)
    with _os_errors_as_setup_errors(path):
        file = _new_part(target, private or old is not None)
        part = Path(file.name)
        try:
            with file:
                yield file
                file.flush()
                if not os.path.samestat(os.fstat(file.fileno()), part.lstat()):
                    raise SetupError(
                        f"{paths.shown(path)} was not written: another program took the place of the new"
                        " file.",
                        "Choose a folder in which nobody else writes.",
                    )
                # Before the name points at it: after a power cut there may else be a name with an empty file.
                os.fsync(file.fileno())
                if old is not None and not private:
                    _let_be_like(old, file.fileno())
                # Its lock goes before it has its name: until then it is known by its time.
                os.utime(part if sys.platform == "win32" else file.fileno())
            _patiently(lambda: part.replace(target))
            sync_folder(target.parent)
        finally:
            with suppress(OSError):  # what went wrong before it is what is to be told
                _patiently(lambda: part.unlink(missing_ok=True))


def own_file(path: Path) -> BinaryIO:
    """A new file at `path` that nobody else may read, in the place of what was there. Raises OSError."""
    # For words that must be in their place before a fault ends the process; a link is not followed.
    path.unlink(missing_ok=True)
    return _made(path, _PRIVATE)


def file_hash(path: Path) -> str:
    """SHA-256 (hex) of what is in a file, however large it is. OSError where it cannot be read."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make_folder(path: Path) -> None:
    with _os_errors_as_setup_errors(path):
        path.mkdir(parents=True, exist_ok=True)


def check_writable(path: Path) -> None:
    """Raise the SetupError that `write_whole` would raise now; leaves no trace."""
    target, _ = _writable_target(path)
    with _os_errors_as_setup_errors(path):
        file = _new_part(target, private=True)
        file.close()
        _patiently(Path(file.name).unlink)


def free_room(folder: Path) -> int | None:
    """In bytes."""
    with suppress(OSError):
        return shutil.disk_usage(folder).free
    return None


def check_targets(written: Mapping[str, Path | None], read: Mapping[str, Path]) -> None:
    """SetupError, by their names, where files cannot be written, or would overwrite what is read."""
    taken = {_identity(path): f"the {name}" for name, path in read.items()}
    for name, path in written.items():
        if path is None:
            continue
        if (other := taken.setdefault(_identity(path), f"the file of {name}")) != f"the file of {name}":
            raise SetupError(
                f"{name} {paths.shown(path)} is {other}: it would be overwritten.", "Choose another name."
            )
        check_writable(path)


def _identity(path: Path) -> Hashable:
    """What two paths have in common that lead to the same file, or name the same new one."""
    real = paths.real_path(path)
    with suppress(OSError, ValueError):
        if paths.look_at(real) is not paths.PathKind.NOTHING:
            found, name = real.stat(), ""
        else:
            found, name = real.parent.stat(), real.name
            if sys.platform in {"darwin", "win32"}:  # which do not tell names apart by the case of letters
                name = unicodedata.normalize("NFC", name).casefold()
        if found.st_ino:  # some network folders of Windows number nothing
            return found.st_dev, found.st_ino, name
    return real


def _new_part(target: Path, private: bool) -> BinaryIO:
    _clear_away(target.parent)
    # In the same folder, so that it can be renamed into place.
    part = target.with_name(f".tiebreak-{os.urandom(8).hex()}.part")
    try:
        paths.refuse_impossible(part)
    except SetupError as error:  # in a deep folder of Windows, where the file's own name is short enough
        raise SetupError(
            f"{paths.shown(target)} cannot be written: its temporary name has {len(part.name)} characters,"
            " which makes the path too long.",
            "Choose a folder with a shorter path.",
        ) from error
    file = _made(part, _PRIVATE if private else _DEFAULT)
    if sys.platform != "win32":  # where nobody can delete a file that is open
        with suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _clear_away(folder: Path) -> None:
    """Delete the parts in a folder that nobody writes any more; of no other person, and nothing else."""
    with suppress(OSError):
        with os.scandir(folder) as entries:
            parts = [entry for entry in entries if _PART.fullmatch(entry.name)]
        if not parts:
            return
        latest = time.time() - (_LEFT if paths.network_file_system(folder) is None else _LEFT_ON_NETWORK)
        for part in parts:
            with suppress(OSError):  # it is written still, or cannot be locked
                found = part.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_mtime < latest:
                    _delete_unless_written(Path(part.path), found)


def _delete_unless_written(part: Path, found: os.stat_result) -> None:
    if sys.platform == "win32":
        part.unlink()
    elif found.st_uid == os.geteuid():
        file = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()
        finally:
            os.close(file)


def _made(path: Path, mode: int) -> BinaryIO:
    """A file that was not there; "x" takes nothing that is, a link neither."""
    return open(path, "xb", opener=partial(os.open, mode=mode))


def _let_be_like(old: os.stat_result, file: int) -> None:
    if sys.platform == "win32":
        return  # the folder says there who may read its files
    for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
        with suppress(OSError):
            os.fchown(file, owner, group)
    mode = old.st_mode & 0o777
    if os.fstat(file).st_gid != old.st_gid:
        mode = mode & 0o707 | (mode & 0o007) << 3  # its new group was among the others
    with suppress(OSError):  # some disks know no permissions
        os.fchmod(file, mode)


def _patiently(do: Callable[[], object]) -> None:
    for pause in _PAUSES:
        with suppress(PermissionError):
            do()
            return
        time.sleep(pause)
    do()


def sync_folder(folder: Path) -> None:
    """Bring the names of a folder to the disk: else a power cut may bring the old file back."""
    if sys.platform == "win32":
        return  # it opens no folders
    with suppress(OSError):  # not every file system can
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _writable_target(path: Path) -> tuple[Path, os.stat_result | None]:
    """Where the bytes go, once links are followed, and the old file; SetupError where they cannot go."""
    with _os_errors_as_setup_errors(path):
        # By the name that was given: the system may refuse to follow what another person planted.
        there = paths.look_at(path)
        target = paths.real_path(path)
        if there is paths.PathKind.FOLDER:
            raise SetupError(f"{paths.shown(path)} is a folder.", "Choose a file name inside it.")
        if paths.look_at(target.parent) is not paths.PathKind.FOLDER:
            raise SetupError(f"The folder {paths.shown(target.parent)} does not exist.", _HINTS[errno.ENOENT])
        if there is paths.PathKind.OTHER:
            raise SetupError(
                f"{paths.shown(path)} is a device or a pipe, not a file.", "Choose another name."
            )
        if there is paths.PathKind.NOTHING:
            return target, None
        # Replacing asks the folder for permission, not the file: a protected file would be lost.
        with target.open("r+b") as file:
            return target, os.fstat(file.fileno())


@contextmanager
def _os_errors_as_setup_errors(path: Path) -> Iterator[None]:
    paths.refuse_impossible(path)
    try:
        yield
    except PermissionError as error:
        raise SetupError(
            f"No permission to write {paths.shown(path)}: {error.strerror}.", _NO_PERMISSION
        ) from error
    except OSError as error:
        hint = _HINTS.get(error.errno or 0, "Choose another folder or disk.")
        raise SetupError(
            f"{paths.shown(path)} could not be written: {paths.reason_of(error)}.", hint
        ) from error


_children: "WeakSet[subprocess.Popen[bytes]]" = WeakSet()
_forked: list[bool] = []


def when_forked(do: Callable[[], object]) -> None:
    """Have something done first of all in each process that is forked from this one."""
    if sys.platform != "win32":  # which has no fork
        os.register_at_fork(after_in_child=do)


def is_forked() -> bool:
    """Whether this process was forked from one that knew this module."""
    return bool(_forked)


class OwnLock:
    """A lock of a module, to be held in a `with` block; in a process that is forked meanwhile it is free."""

    def __init__(self) -> None:
        self._make()
        when_forked(self._make)

    def _make(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_error: object) -> None:
        self._lock.release()


def keep_to_this_process(child: "subprocess.Popen[bytes]") -> None:
    """Close the pipes to a process in forks of this one: else it would not see that this one ended."""
    _children.add(child)


def _leave_children() -> None:
    _forked.append(True)
    for child in _children:
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        # The thread that waited for it may hold its lock for ever, and only its parent can wait for it.
        child.returncode = 0
    _children.clear()


when_forked(_leave_children)


_LOCK = ".lock"
_ours: set[Path] = set()  # where a lock counts by process, as on NFS, our own would seem to be free
when_forked(_ours.clear)  # filelock, too, leaves its locks to the process that took them


class Claim:
    """A file that this process owns until `close`, or until it ends; it need not exist."""

    def __init__(self, path: Path) -> None:
        """Raises TimeoutError where another owns it, OSError where no lock can be made there."""
        from filelock import FileLock  # noqa: PLC0415 - a twentieth of the start of commands without

        self.path = path
        # Not by thread: what the window's thread owns, the thread of a lane may let go of.
        self._lock = FileLock(_lock_of(path), thread_local=False)
        try:
            self._lock.acquire(blocking=False)
        except NotImplementedError as error:  # a file system without locks
            raise OSError(str(error)) from error
        _ours.add(path)

    def close(self) -> None:
        """Let another process take the file over; nothing is left where there is no file."""
        if self.path in _ours:
            _ours.discard(self.path)
            there = self.path.exists()
            self._lock.release()
            with suppress(OSError):  # no name is used twice, so nobody waits for it
                if not there:
                    _lock_of(self.path).unlink(missing_ok=True)

    def remove(self) -> None:
        if self.path in _ours:
            self.path.unlink(missing_ok=True)
        self.close()


def claimed(folder: Path, before: str, after: str) -> Claim:
    """A new name `before`, eight letters or digits, `after` in a folder, owned by this process. OSError."""
    return Claim(folder / f"{before}{secrets.token_hex(4)}{after}")


def all_of(folder: Path, before: str, after: str) -> list[Path]:
    """The files of all processes, also of dead ones, in the order of their names."""
    pattern = re.compile(f"{re.escape(before)}.{{8}}{re.escape(after)}", re.DOTALL)
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        found = [entry.name for entry in entries if pattern.fullmatch(entry.name)]
    return [folder / name for name in sorted(found)]


def left_by_the_dead(folder: Path, before: str, after: str) -> Iterator[Claim]:
    """The files whose owners are dead, each claimed as it comes: to be closed or removed."""
    for path in all_of(folder, before, after):
        if path in _ours:
            continue
        with suppress(OSError):
            claim = Claim(path)
            if path.exists():  # another may just have taken it over
                yield claim
            else:
                claim.close()


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}{_LOCK}")
