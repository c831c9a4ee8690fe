"""The steps by which a run store came to its present form, in order; each is done once: `migrations.sql`."""

import re
import sqlite3
from pathlib import Path
from textwrap import indent

APPLICATION_ID = 0x54424B31  # "TBK1", in the header of the file
_STEP = re.compile(r"^-- \d{3}_\w+\n(?:-- .*\n)*", re.MULTILINE)  # its number and what its columns hold
_SQL = Path(__file__).resolve().with_name("migrations.sql").read_text("utf-8")
# Set in as they always were: SQLite keeps the text of a table, so a new store has the same bytes.
STEPS = tuple(indent(step, " " * 8) for step in _STEP.split(_SQL)[1:])


def upgrade(connection: sqlite3.Connection) -> int:
    """Bring a store up to the last step, all or nothing; how many steps it had gone, 0 for a new one.
    ValueError for one that a newer version has written, or that is no store.
    """
    connection.execute("BEGIN")
    try:
        version, is_new = _version(connection)
    finally:
        if connection.in_transaction:  # SQLite ends some by itself, such as on a full disk
            connection.execute("ROLLBACK")
    if version == len(STEPS):
        return version
    if is_new:  # so that it can become smaller step by step; said before there is anything in it
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    # At once for writing: two processes that open an old store must not both upgrade it.
    connection.execute("BEGIN IMMEDIATE")
    try:
        version, _ = _version(connection)
        for statements in STEPS[version:]:
            # One by one: executescript would end the transaction first.
            for statement in statements.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return version


def _version(connection: sqlite3.Connection) -> tuple[int, bool]:
    """How many steps a store has gone, and whether nothing is in it yet; ValueError as `upgrade`."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application != APPLICATION_ID and (tables or version):
        raise ValueError("it is the database of another program")
    if version > len(STEPS):
        raise ValueError(
            f"a newer Tiebreak wrote it: its version is {version}, this program knows {len(STEPS)}"
        )
    return int(version), not tables
