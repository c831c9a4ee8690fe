"""Whether each package of a lock comes as a wheel for each system and Python: what pip would take there.

    python packaging/wheels.py packaging/locks/bundle.txt

Of what has none pip has a compiler make one; those in _SOURCES never had one, anywhere. It asks the package
index, and needs what requirements-dev.txt names.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

_SOURCES = {"llama-cpp-python", "rouge-score"}
_PYTHONS = ("3.11", "3.12", "3.13")
# What pip calls a system, and what markers in locks are about there.
_SYSTEMS = {
    "win_amd64": {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"},
    "macosx_14_0_arm64": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
    "macosx_14_0_x86_64": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"},
}


def pinned(lock: str, system: str, python: str) -> Iterator[str]:
    """What of a lock's text is installed on a system with a Python, sources left out: `numpy==2.5.5`."""
    # The last release of each is new enough for whatever a marker asks.
    there = {**_SYSTEMS[system], "python_version": python, "python_full_version": f"{python}.99"}
    for line in re.findall(r"^([\w.-]+==[^\\\n]+)", lock, re.MULTILINE):
        wanted = Requirement(line)
        if wanted.name not in _SOURCES and (wanted.marker is None or wanted.marker.evaluate(there)):
            yield f"{wanted.name}{wanted.specifier}"


def without_wheel(wanted: list[str], system: str, python: str) -> list[str]:
    """Those of some pins that have no wheel."""
    if not wanted or _are_there(wanted, system, python):
        return []
    if len(wanted) == 1:
        return wanted
    half = len(wanted) // 2
    return [
        *without_wheel(wanted[:half], system, python),
        *without_wheel(wanted[half:], system, python),
    ]


def main(arguments: list[str]) -> int:
    """Check and print; the exit code is 1 if a wheel is missing."""
    parser = argparse.ArgumentParser(
        description="Check for which systems and Pythons a lock's packages have wheels."
    )
    parser.add_argument("lock", nargs="+", type=Path, help="a file of packaging/locks/")
    lacking = False
    for path in parser.parse_args(arguments).lock:
        lock = path.read_text(encoding="utf-8")
        for system in _SYSTEMS:
            for python in _PYTHONS:
                wanted = list(pinned(lock, system, python))
                missing = without_wheel(wanted, system, python)
                lacking |= bool(missing)
                said = f"none of {', '.join(missing)}" if missing else "all are there"
                print(f"{path.name}, {system}, Python {python}: {len(wanted)} wheels, {said}", flush=True)
    return int(lacking)


def _are_there(wanted: list[str], system: str, python: str) -> bool:
    with tempfile.TemporaryDirectory() as nowhere:
        asked = ["install", "--dry-run", "--no-deps", "--ignore-installed", "--only-binary", ":all:"]
        there = ["--target", nowhere, "--platform", system, "--python-version", f"{python}.99"]
        command = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--quiet",
            *asked,
            *there,
            *wanted,
        ]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
