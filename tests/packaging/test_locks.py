"""What bundles and workflows install: the locks fit the lists of requirements and one another."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
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


def test_the_test_sees_what_a_lock_lacks() -> None:
    of_numpy = f"numpy==2.4.6 \\\n    --hash=sha256:{'0' * 64}\n"
    wanted = [Requirement("NumPy>=2")]
    assert not unmet(of_numpy, wanted)
    assert unmet(of_numpy, [Requirement("numpy>=3")])
    assert unmet(of_numpy, [Requirement("pandas")])
    assert unmet("numpy==2.4.6\n", wanted)
    assert unmet(f"{of_numpy}numpy==1.9 ; python_full_version < '3.12' \\\n", wanted)
