"""What bundles and workflows install: the locks fit the lists of requirements and one another."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from oldest_versions import constraints, lower_bounds
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.commands import ROOT

LOCKS = ROOT / "packaging" / "locks"
OF = {"build": "requirements-build.txt", "bundle": "requirements-bundle.txt", "dev": "requirements-dev.txt"}
_SUM = re.compile(r"    --hash=sha256:[0-9a-f]{64}")


def asked(path: Path) -> Iterator[Requirement]:
    """What a list of requirements asks for, and the lists that it names."""
    for line in path.read_text("utf-8").splitlines():
        words = line.partition("#")[0].strip()
        if words.startswith("-r "):
            yield from asked(path.with_name(words.removeprefix("-r ")))
        elif words:
            yield Requirement(words)


def locked(text: str) -> dict[str, dict[str, int]]:
    """The packages of a lock: their versions (more than one for some), each with its number of sums."""
    found: dict[str, dict[str, int]] = {}
    package = version = ""
    for line in text.splitlines():
        if named := re.match(r"([\w.-]+)==([^ ;]+)", line):
            package, version = named.groups()
            found.setdefault(package, {})[version] = 0
        elif _SUM.match(line):
            found[package][version] += 1
    return found


def unmet(lock: str, wanted: list[Requirement]) -> list[str]:
    """The requirements that a lock does not meet with each of its versions."""
    versions = locked(lock)
    return [
        str(one)
        for one in wanted
        if not (of_it := versions.get(canonicalize_name(one.name)))
        or not all(one.specifier.contains(version) and sums for version, sums in of_it.items())
    ]


@pytest.mark.parametrize("name", OF)
def test_a_lock_meets_every_requirement_with_sums(name: str) -> None:
    wanted = list(asked(ROOT / OF[name]))
    assert wanted
    assert not unmet((LOCKS / f"{name}.txt").read_text("utf-8"), wanted), "make lock"


@pytest.mark.parametrize("name", OF)
def test_every_version_of_a_lock_has_a_sum_and_no_lock_says_where_it_came_from(name: str) -> None:
    text = (LOCKS / f"{name}.txt").read_text("utf-8")
    assert not [package for package, versions in locked(text).items() if not all(versions.values())]
    assert "://" not in text
    assert "index-url" not in text


def test_bundles_and_tests_have_the_same_versions() -> None:
    bundle, dev = (locked((LOCKS / f"{name}.txt").read_text("utf-8")) for name in ("bundle", "dev"))
    assert not [package for package in bundle.keys() & dev.keys() if bundle[package] != dev[package]]


def test_what_a_wheel_of_ours_is_made_with_is_in_the_lock_of_the_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wanted = [Requirement(line) for line in project["build-system"]["requires"]]
    assert not unmet((LOCKS / "dev.txt").read_text("utf-8"), wanted)


# The lower bounds of the requirements: read as pip reads them, and none with a known hole


# The first version without the hole that is named; a later hole moves the bound.
WITHOUT_HOLE = {
    "jinja2": "3.1.6",  # CVE-2025-27516: out of the sandbox in which templates of model files are rendered
    "filelock": "4.2.1",  # CVE-2025-68146, CVE-2026-112909: a planted link, or file, is emptied
    "PySide6-Essentials": "6.9.1",  # CVE-2025-3512: Markdown overflows a buffer; CVE-2025-5455: data URLs
    "pyarrow": "23.0.1",  # CVE-2026-25087: memory used after it was freed
    "tqdm": "4.66.3",  # CVE-2024-34062
    "scikit-learn": "1.5.0",  # CVE-2024-5206
    "cryptography": "50",  # CVE-2026-26007, CVE-2026-39892, CVE-2026-69247
    "distributed": "2026.1.0",  # CVE-2026-23528
    "pytest": "9.0.3",  # CVE-2025-71176: a folder of /tmp that others may have made
    "torch": "2.11",  # CVE-2026-24747, CVE-2026-4538
}


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda path: path.name)
def test_no_lower_bound_has_a_known_hole(path: Path) -> None:
    found = lower_bounds(path.read_text("utf-8"))
    assert {
        package: version
        for package, version in found.items()
        if parts(version) < parts(WITHOUT_HOLE.get(package, "0"))
    } == {}


def test_lower_bounds_are_those_that_a_file_names() -> None:
    text = "# all\n-r requirements.txt\nnumpy>=2.0,<3   # numbers\nb-c.d>=1.2.3\nexact==1.0\n"
    assert lower_bounds(text) == {"numpy": "2.0", "b-c.d": "1.2.3"}


@pytest.mark.slow
def test_a_version_without_a_wheel_is_left_free_and_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")  # nothing is asked of anybody
    assert list(constraints({"llama-cpp-python": "0.3.36", "no-such-package-as-this": "1"})) == [
        "llama-cpp-python==0.3.36"
    ]
    assert "No wheel of no-such-package-as-this==1" in capsys.readouterr().err
