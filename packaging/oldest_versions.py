"""The oldest versions that a file of requirements allows, as constraints for pip.

    python packaging/oldest_versions.py requirements.txt > oldest.txt
    python -m pip install -r requirements.txt -c oldest.txt

A package whose oldest version has no wheel for this Python gets no constraint, with a message: pip would
not install that version either.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_BOUND = re.compile(r"([\w.-]+)>=([\d.]+)")
_SOURCES = {"llama-cpp-python", "rouge-score"}  # never had a wheel


def lower_bounds(requirements: str) -> dict[str, str]:
    """The least version of each package of a file's text that names one."""
    return {match[1]: match[2] for line in requirements.splitlines() if (match := _BOUND.match(line))}


def constraints(bounds: dict[str, str]) -> Iterator[str]:
    """A line for each package that can be had; what is said of the others goes to the standard error."""
    wanted = {package: f"{package}=={version}" for package, version in bounds.items()}
    wheels = [line for package, line in wanted.items() if package not in _SOURCES]
    all_there = _are_wheels(wheels)  # asked at once, which takes a moment; one by one only where one lacks
    for line in wanted.values():
        if all_there or line not in wheels or _are_wheels([line]):
            yield line
        else:
            print(f"No wheel of {line} for this Python: no constraint.", file=sys.stderr)


def _are_wheels(wanted: list[str]) -> bool:
    """Whether pip finds all of these as wheels."""
    asked = ["install", "--dry-run", "--no-deps", "--ignore-installed", "--only-binary", ":all:", *wanted]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *asked]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        for line in constraints(lower_bounds(path.read_text(encoding="utf-8"))):
            print(line)
