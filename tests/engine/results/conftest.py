"""What the tests of results share."""

from pathlib import Path

import pytest

from tests.engine.results.laptops import Laptop, Made


@pytest.fixture
def laptop(tmp_path: Path) -> Made:
    """Makes a laptop of a name."""
    return lambda name, **more: Laptop(tmp_path / name, **more)
