"""A folder with all inputs and a home in which the store of the study lies; each test has its own copy."""

import re
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.golden import program
from tests.golden.compared import FOLDER, check, read, tidy

INPUTS = FOLDER / "inputs"
_BELOW_A_FOLDER = re.compile(r"\{(?:home|study|project)\}[\w.\\-]+")


@pytest.fixture(autouse=True)
def private_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """As for all tests; commands are given in the folder `study`, for lines of a fixed width."""
    home, folder = tmp_path / "home", tmp_path / "study"
    home.mkdir()
    folder.mkdir()
    for name, value in {"HOME": home, "USERPROFILE": home, "TIEBREAK_HOME": home, "COLUMNS": 1000}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TZ", "UTC")  # runs are listed by the time of this place
    _take_time_zone()
    yield home
    monkeypatch.undo()
    _take_time_zone()


def _take_time_zone() -> None:
    if sys.platform != "win32":  # which has no variable for it
        time.tzset()


@pytest.fixture
def study(private_home: Path, filled: Path) -> Path:
    """The folder where commands are given, with the inputs, the home with the store of the study."""
    folder = Path.cwd()
    shutil.copytree(filled, folder, dirs_exist_ok=True)
    store = program.default_store()
    store.parent.mkdir(parents=True)
    (folder / "study.sqlite").rename(store)
    return folder


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs as files, the store of the study among them."""
    folder = tmp_path_factory.mktemp("filled")
    for path in INPUTS.iterdir():
        if not path.name.endswith(".sql.gz"):
            (folder / path.name.removesuffix(".gz")).write_bytes(read(path).encode())
    make_store(folder / "study.sqlite", read(INPUTS / "study.sql.gz"))
    shutil.copy(program.DEMO_MODEL, folder / "demo-judge.gguf")
    return folder


def make_store(path: Path, statements: str) -> None:
    """A store out of the SQL of a dump."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(statements)


@pytest.fixture
def golden(private_home: Path) -> Callable[[str, str], None]:
    """Holds a text against a golden file, by its name."""
    named = {
        str(program.DEMO_MODEL): "{demo}",
        str(private_home): "{home}",
        str(Path.cwd()): "{study}",
        str(FOLDER.parent.parent): "{project}",
        program.VERSION: "{version}",
    }
    named |= {path.replace("\\", "\\\\"): name for path, name in named.items()}  # as JSON has them
    return lambda name, got: check(name, with_slashes(tidy(got, named)))


def with_slashes(text: str) -> str:
    """A text with the paths below its named folders as they are written outside Windows."""
    return _BELOW_A_FOLDER.sub(lambda found: re.sub(r"\\+", "/", found[0]), text)
