"""What the tests of results share."""

from pathlib import Path

import pytest

from tests.engine.results.laptops import Laptop, Made


@pytest.fixture
def laptop(tmp_path: Path) -> Made:
    """Makes a laptop of a name."""
    return lambda name, **more: Laptop(tmp_path / name, **more)


@pytest.fixture
def hub(laptop: Made) -> Laptop:
    """The laptop on which it comes together."""
    return laptop("hub")


@pytest.fixture
def away(laptop: Made) -> Laptop:
    """Another one."""
    return laptop("away")
