"""The lists of what Linux must have say the same."""

import re

import pytest
from bundle_contents import LIBRARIES_FOR_GPUS, SYSTEM_LIBRARIES, is_of_the_system

from gui import screen
from tests.commands import ROOT

NEEDED = {**screen.LIBRARIES, **screen.X11_LIBRARIES}
SCRIPT = (ROOT / "packaging" / "system_packages.sh").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "install-and-bundle.md").read_text(encoding="utf-8")


def test_the_page_names_each_package_of_the_system() -> None:
    _, _, about = PAGE.partition("**What Linux needs.**")
    paragraph, _, _ = about.partition("\n\n")
    named = {word.rstrip(".,") for word in paragraph.split()}
    assert named >= (SYSTEM_LIBRARIES.keys() | LIBRARIES_FOR_GPUS.keys()) - {"libc6"}


@pytest.mark.parametrize(("library", "package"), sorted(NEEDED.items()))
def test_the_window_and_the_source_ask_for_a_library_by_the_same_package(library: str, package: str) -> None:
    assert f'"{library}": "{package}"' in SCRIPT


@pytest.mark.parametrize(("library", "package"), sorted(NEEDED.items()))
def test_a_library_that_is_not_bundled_is_documented_by_its_package(library: str, package: str) -> None:
    assert not is_of_the_system(library) or library in SYSTEM_LIBRARIES[package]


def test_the_page_has_no_places_left_to_fill() -> None:
    assert not re.findall(r"@[A-Z]+@", PAGE)
