"""What all tests share: the folder of real data, where there is one, and a private home for each test."""

import logging
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.small_models import FAMILIES

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data beside the checkout (or where TIEBREAK_TEST_DATA points); skips where it is absent."""
    folder = Path(os.environ.get("TIEBREAK_TEST_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("no real data: set TIEBREAK_TEST_DATA to the folder that holds eloquent/ and human/")
    return folder


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of a small model with random weights, by its family in small_models.py."""
    folder = tmp_path_factory.mktemp("models")
    return cache(lambda family: FAMILIES[family](folder / f"{family}.gguf"))


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str, bytes], Path]:
    """Puts bytes into a file of a name; its path."""

    def save(name: str, data: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return save


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test can reach the user's real store, cache or models."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("TIEBREAK_HOME", str(home / "tiebreak"))
    return home


@pytest.fixture(autouse=True)
def no_unexpected_logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A stray warning or error log fails the test; one that expects them checks and clears them."""
    yield
    bad = [record.message for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not bad
