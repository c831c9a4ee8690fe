"""Where a bundle is tried: here without the checkout in sight, without a network, in a bare Debian."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bundle_contents import SYSTEM_LIBRARIES

# No account has this number, so that whatever belongs to it afterwards was written by the program.
STRANGER = 54321
IS_ROOT = sys.platform != "win32" and os.geteuid() == 0
_X11 = Path("/tmp/.X11-unix")  # where the X server listens
_NO_PROGRAMS = "/nonexistent"
# What a program may expect of a desktop beside libraries: fonts, and the names of keys.
_DESKTOP_DATA = ("fonts-dejavu-core", "xkb-data")
_ENTER_BARE_ROOT = """
root=$1; user=$2; here=$3; shift 3
its_path=$PATH; PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc "$root/proc"
if [ -d {x11} ]; then mkdir -p "$root{x11}"; mount --bind {x11} "$root{x11}"; fi
exec chroot --userspec="$user:$user" "$root" /usr/bin/env --chdir="$here" PATH="$its_path" "$@"
"""


@dataclass(frozen=True)
class Place:
    """A place to start programs in. Paths are as the program sees them, but for what `outside` gives."""

    name: str
    base: Path
    root: Path = Path("/")
    prefix: tuple[str, ...] = ()

    def outside(self, inside: Path) -> Path:
        """A path of the place as this script sees it."""
        return self.root / inside.relative_to("/") if self.root != Path("/") else inside

    def command(self, words: list[str], here: Path) -> list[str]:
        """How to start a program of the place with `here` as its current folder."""
        if self.root == Path("/"):
            return [*self.prefix, *words]
        return [*self.prefix, str(self.root), str(STRANGER), str(here), *words]

    def environment(self, home: Path, **changes: str) -> dict[str, str]:
        """All variables that a program gets: none of a Python, and folders of its own."""
        temporary = str(self.base / "tmp")
        if sys.platform == "win32":
            # The system gives the user's folders by the account, not by variables.
            kept = {
                name: os.environ[name]
                for name in ("SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC")
                if name in os.environ
            }
            folders = {
                "TIEBREAK_HOME": str(home),
                "USERPROFILE": str(home),
                "TEMP": temporary,
                "TMP": temporary,
            }
            return {**kept, **folders, "PATH": str(Path(os.environ["SYSTEMROOT"], "System32")), **changes}
        return {"HOME": str(home), "TMPDIR": temporary, "PATH": _NO_PROGRAMS, **changes}

    def of_stranger(self) -> set[str]:
        """All that belongs to the program's user outside the place's own folder, as this script sees it."""
        # Disks of their own, which -xdev would pass by.
        places = [path for path in (self.root, self.root / "dev" / "shm", self.root / "run") if path.is_dir()]
        base = self.outside(self.base)
        options = ["-xdev", "-uid", str(STRANGER), "-not", "-path", f"{base}/*", "-not", "-path", "/proc/*"]
        command = ["find", *map(str, places), *options]
        # Files come and go while it looks, so that its exit code says nothing.
        return set(subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines())

    def give(self, folder: Path) -> None:
        """Let the program's user write in a folder (a path of the place)."""
        self.outside(folder).mkdir(parents=True, exist_ok=True)
        if IS_ROOT:
            os.chown(self.outside(folder), STRANGER, STRANGER)


@contextmanager
def this_computer(offline: bool) -> Iterator[Place]:
    """This computer, as a user without rights where that is possible; `offline`: with no network."""
    with tempfile.TemporaryDirectory(prefix="tiebreak-smoke-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        prefix = [*(_without_network() if offline else ()), *(_as_stranger() if IS_ROOT else ())]
        yield Place(
            "without a network" if offline else "this computer", Path(folder).resolve(), prefix=tuple(prefix)
        )


def network_can_be_left() -> bool:
    """True where a process may have a network of its own, with nothing in it."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return False
    return (
        subprocess.run([*_without_network(), _tool("true")], capture_output=True, check=False).returncode == 0
    )


@contextmanager
def bare_debian(root: Path) -> Iterator[Place]:
    """A Debian with the documented libraries alone, made in `root` where it is missing. For root."""
    _make_bare(root)
    base = Path("/trial")
    shutil.rmtree(root / base.name, ignore_errors=True)
    (root / base.name).mkdir()
    prefix = (
        _tool("unshare"),
        "--mount",
        "--net",
        _tool("sh"),
        "-euc",
        _ENTER_BARE_ROOT.format(x11=_X11),
        "enter",
    )
    yield Place("a bare Debian", base, root, prefix)


def _make_bare(root: Path) -> None:
    """Let debootstrap make it, unless it was made to its end, of the same packages."""
    packages = ",".join([*SYSTEM_LIBRARIES, *_DESKTOP_DATA])
    stamp = root / "made-of"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == packages:
        return
    if root.exists() and any(root.iterdir()):
        sys.exit(f"{root} is not a bare Debian of these packages. Remove it, or name another folder.")
    print(f"Making a bare Debian in {root}: some minutes.", flush=True)
    command = [_tool("debootstrap"), "--variant=minbase", f"--include={packages}", "bookworm", str(root)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    stamp.write_text(packages, encoding="utf-8")


def _without_network() -> list[str]:
    who = [] if IS_ROOT else ["--map-current-user"]
    return [_tool("unshare"), *who, "--net"]


def _as_stranger() -> list[str]:
    return [_tool("setpriv"), f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        sys.exit(f"{name} is needed for this, and is not installed.")
    return found
