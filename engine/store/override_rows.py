"""The rows of the run store that hold what people overrode: only added, and marked where they are undone.

Knows: the table `override`, and what an override must be. Does not know: transactions, runs, decisions.
"""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from engine.core.cell_safety import unsafe_explanation
from engine.core.errors import SetupError, StoreError
from engine.core.formatting import quoted
from engine.core.items import Preference
from engine.core.judgments import JudgmentKey, NewOverride, Override
from engine.store.row_gate import Gate

_COLUMNS = "id, item_id, criterion, preference, explanation, author, created, undone"


def add_override(db: sqlite3.Connection, run_id: int, new: NewOverride) -> Override:
    """Add one, in the caller's transaction; white space around the texts is left out.

    StoreError where the run has not judged the item; SetupError where it cannot be an override.
    """
    check_judged(db, run_id, new.item_id)
    (newest,) = db.execute("SELECT coalesce(max(id), 0) FROM override").fetchone()
    override = Override(
        id=newest + 1,
        item_id=new.item_id,
        criterion=new.criterion,
        preference=new.preference,
        explanation=_checked_explanation(new.explanation),
        author=checked_author(new.author),
        created=now(),
    )
    db.execute(
        f"INSERT INTO override (run_id, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        (
            run_id,
            override.id,
            override.item_id,
            override.criterion,
            override.preference and override.preference.value,
            override.explanation,
            override.author,
            override.created.isoformat(),
        ),
    )
    return override


def undo_newest(
    db: sqlite3.Connection, run_id: int, key: JudgmentKey, author: str | None = None
) -> Override | None:
    """Mark the newest that is not undone, in the caller's transaction; None where there is none.

    With `author` only his own are looked at.
    """
    row = db.execute(
        f"SELECT {_COLUMNS} FROM override WHERE run_id = ? AND item_id = ? AND criterion = ?"
        " AND (? IS NULL OR author = ?) AND undone IS NULL ORDER BY id DESC LIMIT 1",
        (run_id, *key, author, author),
    ).fetchone()
    if row is None:
        return None
    override, undone = _override(Gate(f"Run {run_id}"), row), now()
    db.execute("UPDATE override SET undone = ? WHERE id = ?", (undone.isoformat(), override.id))
    return replace(override, undone=undone)


def override_rows(db: sqlite3.Connection, run_id: int) -> list[Override]:
    """Those of a run, the oldest first."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM override WHERE run_id = ? ORDER BY id", (run_id,))
    gate = Gate(f"Run {run_id}")
    return [_override(gate, row) for row in rows]


def _override(gate: Gate, row: tuple[Any, ...]) -> Override:
    number, item_id, criterion, preference, explanation, author, created, undone = row
    made = partial(
        Override,
        id=gate.count("id", number),
        item_id=gate.text("item_id", item_id),
        criterion=gate.text("criterion", criterion),
        preference=None if preference is None else gate.one_of(Preference, "preference", preference),
        explanation=None if explanation is None else gate.text("explanation", explanation),
        author=gate.text("author", author),
        created=gate.time("created", created),
        undone=None if undone is None else gate.time("undone", undone),
    )
    return gate.made("override", number, made)


def _checked_explanation(explanation: str | None) -> str | None:
    text = (explanation or "").strip()
    if not text:
        return None
    if unsafe_explanation(text):
        raise SetupError(
            f"A submission cannot hold the explanation {quoted(text)}: pandas would not give it back.",
            "Use a sentence as explanation.",
        )
    return text


def check_judged(db: sqlite3.Connection, run_id: int, item_id: str) -> None:
    """Raise StoreError where the run has not judged the item."""
    judged = db.execute(
        "SELECT count(*) FROM judged_item WHERE run_id = ? AND item_id = ?", (run_id, item_id)
    )
    if judged.fetchone() == (0,):
        raise StoreError(
            f"Run {run_id} has not judged the item {item_id!r}.",
            "Choose an item that it has judged.",
        )


def checked_author(author: str) -> str:
    """A name without white space around it; SetupError where nothing is left, or more than a line."""
    name = author.strip()
    if not name or not name.isprintable():
        raise SetupError(
            f"What a person says needs his name; {author!r} is none.", "Write a name in one line."
        )
    return name


def now() -> datetime:
    """The time in UTC, in milliseconds: what one person says is told in its order."""
    time = datetime.now(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)
