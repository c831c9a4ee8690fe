"""What the shared libraries and programs of Linux are linked with."""

import re
import subprocess
from pathlib import Path

_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
_GLIBC = re.compile(r"Name: GLIBC_(\d+)\.(\d+)")


def is_elf(path: Path) -> bool:
    """True for a library or program of Linux."""
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def needed_libraries(path: Path) -> set[str]:
    """The names of the libraries that a file is linked with, itself, not through others."""
    return set(_NEEDED.findall(_printed(path, "--dynamic")))


def needed_glibc(path: Path) -> tuple[int, int]:
    """The oldest glibc that a file runs with; (0, 0) where it needs none."""
    versions = _GLIBC.findall(_printed(path, "--version-info"))
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


def _printed(path: Path, option: str) -> str:
    command = ["readelf", "--wide", option, str(path)]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
