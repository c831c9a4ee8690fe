"""Stores of every schema so far: read for ever, and brought to the present schema."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.golden import program
from tests.golden.compared import read
from tests.golden.conftest import INPUTS, make_store
from tests.golden.steps import OLD_STORE, OLD_STORE_FILES

OLD = {path.name.split(".")[0].removeprefix("store-"): path for path in sorted(INPUTS.glob("store-*"))}


def schema(path: Path) -> str:
    """The statements that make the tables of a store, its marks first."""
    with closing(sqlite3.connect(path)) as db:
        marks = [f"PRAGMA {name} = {db.execute(f'PRAGMA {name}').fetchone()[0]};" for name in _MARKS]
        found = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name")
        return "\n".join([*marks, *(f"{sql};" for (sql,) in found)]) + "\n"


# Drawn at random where the schema had no place for it.
_NEW_ID = re.compile(r'"store": "(?!fedcba9876543210)[0-9a-f]{16}"')
_MARKS = ("application_id", "user_version", "auto_vacuum")


def test_a_new_store_has_the_present_schema(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    program.new_store(tmp_path / "new.sqlite")
    golden("schema.sql", schema(tmp_path / "new.sqlite"))


@pytest.mark.parametrize("version", OLD)
def test_an_old_store_is_read(version: str, golden: Callable[[str, str], None]) -> None:
    store = program.default_store()
    store.parent.mkdir()
    make_store(store, read(OLD[version]))
    texts = [program.printed(line) for line in OLD_STORE]
    golden(f"stores/{version}.txt", "----\n".join(texts))
    for name in OLD_STORE_FILES:
        path = Path(name)  # no annotations where the schema had no place for them
        text = path.read_bytes().decode() if path.exists() else "not written\n"
        golden(f"stores/{version}.{name}", _NEW_ID.sub('"store": "{id}"', text))
    new = Path("new.sqlite")
    program.new_store(new)
    without_vacuum = [line for line in schema(new).splitlines() if "auto_vacuum" not in line]
    assert [line for line in schema(store).splitlines() if "auto_vacuum" not in line] == without_vacuum


def test_every_schema_before_the_present_one_has_its_store(tmp_path: Path) -> None:
    program.new_store(tmp_path / "new.sqlite")
    with closing(sqlite3.connect(tmp_path / "new.sqlite")) as db:
        (present,) = db.execute("PRAGMA user_version").fetchone()
    of_study = next(line for line in read(INPUTS / "study.sql.gz").splitlines() if "user_version" in line)
    kept = {int(version) for version in OLD} | {int(of_study.split()[-1].rstrip(";"))}
    assert kept >= set(range(1, present)), "a new schema: keep a store of the one before, as store-NN.sql"
