"""The lower bounds of the requirements: read as pip reads them, and none with a known hole."""

from pathlib import Path

import pytest
from oldest_versions import constraints, lower_bounds

from tests.commands import ROOT

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
