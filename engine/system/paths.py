"""Where things are: the user's folders, the project's files, this program itself; and what lies at a path.
Anything may be named there: what the system answers becomes words, never a fault of the program.
"""

import ctypes
import errno
import getpass
import os
import re
import stat
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum, auto
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

import platformdirs

from engine.core.errors import Hint, SetupError
from engine.core.formatting import visible, windows_fault, without_middle

FROM_SOURCE = "python main.py"  # what the user types to start this program in a checkout
INSTALLED = "tiebreak"  # the same where pip installed it
APART = "--apart"
"""The only argument of this program where another process of it has something done by it; for no person."""
PROGRAM_ID = "TIEBREAK_PROGRAM_ID"
"""The variable that tells a process which works for another one the id of the program."""
CHILD = "--child"
"""The first argument where another process of this program has something tried by it; for no person."""
_APP = "Tiebreak"
_OWN_HOME = "TIEBREAK_HOME"
# What a bundle sets for itself when it starts; other programs would load our libraries by it.
_BUNDLE_VARIABLES = ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")
# On Windows a program has either a console or none: the bundle has one of each.
_CONSOLE_TWIN = "tiebreak-cli.exe"


def data_folder() -> Path:
    return _own_folder("data") or platformdirs.user_data_path(_APP, appauthor=False)


def default_store() -> Path:
    return data_folder() / "runs.sqlite"


def cache_folder() -> Path:
    return _own_folder("cache") or platformdirs.user_cache_path(_APP, appauthor=False)


def log_folder() -> Path:
    return _own_folder("logs") or platformdirs.user_log_path(_APP, appauthor=False)


def models_folder() -> Path:
    return _own_folder("models") or platformdirs.user_data_path(_APP, appauthor=False) / "models"


def rubrics_folder() -> Path:
    return data_folder() / "rubrics"


def recipes_folder() -> Path:
    return data_folder() / "recipes"


def _own_folder(name: str) -> Path | None:
    own_home = environment(_OWN_HOME)
    return Path(own_home).absolute() / name if own_home else None


def home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path.cwd()


def text_of_path(path: Path) -> str:
    """The path as text that any file can hold: names that are not UTF-8 (on Linux) have bytes written out."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def environment(name: str) -> str | None:
    """None where it is unset or empty."""
    return os.environ.get(name) or None


def child_environment(**changes: str) -> dict[str, str]:
    return {**os.environ, **changes}


def program_id() -> int:
    """The process id of the program that the user started, also in a process that works for it."""
    return int(environment(PROGRAM_ID) or os.getpid())


def current_folder() -> str | None:
    """Where relative paths begin; None where that folder is gone."""
    try:
        return str(Path.cwd())
    except OSError:
        return None


def stand_at(folder: str | None, variables: Mapping[str, str]) -> None:
    """Let this process find everything as one does with this current folder and environment."""
    if folder is not None and folder != current_folder():
        os.chdir(folder)
    if variables != os.environ:
        os.environ.clear()
        os.environ.update(variables)


def forget(name: str) -> None:
    """Take a variable out of this process's environment, also for the libraries in it."""
    os.environ.pop(name, None)


def set_variable(name: str, value: str) -> None:
    os.environ[name] = value


def keep_caches_together() -> None:
    """Let matplotlib keep its list of fonts in our cache folder."""
    os.environ["MPLCONFIGDIR"] = str(cache_folder() / "matplotlib")


@contextmanager
def environment_of_the_system() -> Iterator[None]:
    """While another program is started: the environment as it was before a bundle set its own libraries."""
    ours = {name: os.environ.pop(name) for name in _BUNDLE_VARIABLES if _frozen() and name in os.environ}
    before = {name: value for name in ours if (value := environment(f"{name}_ORIG"))}
    os.environ.update(before)
    try:
        yield
    finally:
        os.environ.update(ours)


def project_models_folder() -> Path:
    return _program_folder() / "models"


def demo_model() -> Path:
    return project_models_folder() / "demo-judge.gguf"


def examples_folder() -> Path:
    return _program_folder() / "examples"


def demo_dataset() -> Path:
    return examples_folder() / "demo.tsv"


def third_party_licences() -> Path | None:
    """The folder with the licences of what is in the bundle; None from source: each package has its own."""
    return _program_folder() / "licences" if _frozen() else None


def program() -> str:
    """What the user types to start this program."""
    if _frozen():
        return _executable().stem
    return INSTALLED if is_installed() else FROM_SOURCE


def is_installed() -> bool:
    """Whether pip installed this copy: the program lies in a package there."""
    return __name__.startswith(f"{INSTALLED}.")


def self_command() -> list[str]:
    if _frozen():
        return [str(_executable())]
    if is_installed():
        # -P: what lies in the current folder is not ours, whatever it is called.
        return [sys.executable, "-P", "-m", INSTALLED]
    return [sys.executable, str(_program_folder() / "main.py")]


def _frozen() -> bool:
    return bool(getattr(sys, "frozen", False))


def _executable() -> Path:
    twin = Path(sys.executable).with_name(_CONSOLE_TWIN)
    return twin if twin.is_file() else Path(sys.executable)


def _program_folder() -> Path:
    # PyInstaller unpacks what it bundles into sys._MEIPASS.
    bundle: str | None = getattr(sys, "_MEIPASS", None)
    return Path(bundle) if _frozen() and bundle else Path(__file__).resolve().parents[2]


def account_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


_LONGEST = 300  # characters of a path that are shown: one of 5,000 would push away what is said of it
_CHECK_NAME = "Check the name and the folder."
_CHOOSE_FILE = "Choose the file itself."
_REASONS = {
    errno.ENOENT: ("does not exist", _CHECK_NAME),
    errno.ENOTDIR: ("is inside a folder that is a file", _CHECK_NAME),
    errno.ELOOP: ("is a symbolic link that leads back to itself", f"{_CHOOSE_FILE[:-1]}, or fix the link."),
    errno.ENAMETOOLONG: ("has a longer name than the system takes", "Choose a shorter name."),
}
# What a disk or another person can bring about at any moment, and no fault of the program can.
_OF_THE_SYSTEM = frozenset(
    (*_REASONS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ESTALE)
) - {errno.ENOENT}


class PathKind(Enum):
    """What lies at a path, once links are followed."""

    NOTHING = auto()
    FILE = auto()
    FOLDER = auto()
    OTHER = auto()  # a device, a pipe


def found_at(path: Path) -> PathKind:
    """What lies at a path that the user named. SetupError where the system does not let us see."""
    with reading(path):
        return look_at(path)


def look_at(path: Path) -> PathKind:
    """The same for those who have words of their own for an OSError."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return PathKind.NOTHING
    if stat.S_ISREG(mode):
        return PathKind.FILE
    return PathKind.FOLDER if stat.S_ISDIR(mode) else PathKind.OTHER


def is_there(path: Path) -> bool:
    """Whether anything lies at a path. SetupError where the system does not let us see."""
    return found_at(path) is not PathKind.NOTHING


def seen_at(path: Path) -> PathKind:
    """What can be seen at a path: nothing, too, where the system does not let us see."""
    try:
        return found_at(path)
    except SetupError:
        return PathKind.NOTHING


def real_path(path: Path) -> Path:
    """Where a path leads once links are followed, as an absolute one; as far as it can be followed."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return Path(os.path.abspath(path))  # noqa: PTH100 - `absolute` would keep `..`


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """While a file or a folder is read: what the system says against it becomes a SetupError."""
    refuse_impossible(path)
    try:
        yield
    except OSError as error:
        raise cannot_read(path, error) from error


def cannot_read(path: Path, error: OSError) -> SetupError:
    if isinstance(error, PermissionError):
        return SetupError(f"No permission to read {shown(path)}.", "Change its permissions, or copy it.")
    if error.errno in _REASONS:
        reason, hint = _REASONS[error.errno]
        return SetupError(f"{shown(path)} {reason}.", hint)
    return SetupError(
        f"{shown(path)} could not be read: {error.strerror or error}.", "Check the disk, or copy the file."
    )


def reason_of(error: OSError) -> str:
    reason, _ = _REASONS.get(error.errno or 0, ("", ""))
    return f"it {reason}" if reason else error.strerror or str(error)


def shown(path: Path) -> str:
    """A path for users: whole where it could be one, else without its middle."""
    return visible(without_middle(str(path), _LONGEST))


def said_of_system(error: BaseException) -> SetupError | None:
    """What the system said where nobody asked the gate; None for what may be a fault of the program."""
    if isinstance(error, FileNotFoundError) and error.filename is None and current_folder() is None:
        return SetupError(
            "The current folder no longer exists: it was deleted or moved.",
            "Change to an existing folder, or use absolute paths.",
        )
    if not isinstance(error, OSError) or error.filename is None or error.errno not in _OF_THE_SYSTEM:
        return None
    return cannot_read(Path(os.fsdecode(error.filename)), error)


def refuse_impossible(path: Path) -> None:
    """SetupError for a name that no file can have on this system."""
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise SetupError(
            f"{shown(path)!r} has a character that no file name can have.", Hint("Choose another name.")
        )
    if sys.platform == "win32":
        # As text: to Python 3.11 the file `z:b` in a folder is the file `b` on the drive Z:.
        whole = PureWindowsPath(str(path))
        if not whole.drive:
            whole = PureWindowsPath(os.path.join(current_folder() or "", path))  # noqa: PTH118
        if fault := windows_fault(whole, _takes_long_paths()):
            # Windows would open a device, a second stream of another file, or say that a folder is not there.
            raise SetupError(
                f"{shown(path)} is not possible: {fault}.", Hint("Choose another name or folder.")
            )


def _takes_long_paths() -> bool:
    if sys.platform == "win32":
        with suppress(AttributeError):  # before Windows 10 of 2016
            return bool(ctypes.windll.ntdll.RtlAreLongPathsEnabled() & 0xFF)
        return False
    return True


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
    """`nfs4`, `fuse.sshfs`; None for a disk of this computer, and where nobody knows."""
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
    # What programs show as files (FUSE) may lie anywhere; `fuseblk` alone is always a disk.
    return name if name is not None and (name in _NETWORK or name.startswith("fuse.")) else None


def mounted_at(mounts: bytes, path: PurePath) -> str | None:
    """The file system of an absolute path, by Linux's table of mounts (`man 5 proc`, mountinfo)."""
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
    if sys.platform == "win32":
        share = share or ctypes.windll.kernel32.GetDriveTypeW(path.anchor) == _DRIVE_REMOTE
    return "network drive" if share else None
