"""Rows of the run store made into values, and refused where another hand wrote them.

Knows: the columns of the table `run`, which kinds of values the store holds. Does not know: transactions.
"""

import json
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

from engine.core.errors import SetupError
from engine.core.rubric import Rubric
from engine.core.run_records import Archived, RunIdentity, RunKind, StoredRun


def run_of_row(run_id: int, row: tuple[Any, ...]) -> StoredRun:
    """A run of its row; ValueError or TypeError where it holds what this program does not write."""
    created, key, dataset_path, dataset_hash, items, model_path, model_name, model_hash, *rest = row
    prompt_version, criteria, rubric, settings, kind, manifest, calibration, *of_people, judged = rest
    name, note, archived, archived_by = of_people
    identity = RunIdentity(
        key=key,
        dataset_path=Path(dataset_path),
        dataset_hash=dataset_hash,
        items=items,
        model_path=Path(model_path),
        model_name=model_name,
        model_hash=model_hash,
        prompt_version=prompt_version,
        criteria=tuple(json.loads(criteria)),
        settings=_record(settings),
        kind=RunKind(kind),
        rubric=None if rubric is None else _rubric(rubric),
    )
    return StoredRun(
        id=run_id,
        created=datetime.fromisoformat(created),
        identity=identity,
        judged=judged,
        manifest=_record(manifest),
        calibration=None if calibration is None else _record(calibration),
        name=name,
        note=note,
        archived=Archived(datetime.fromisoformat(archived), archived_by) if archived else None,
    )


def _rubric(text: str) -> Rubric:
    try:
        return Rubric.of_json(_record(text))
    except (KeyError, SetupError) as error:
        raise ValueError(f"{text} is no rubric") from error


def _record(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise TypeError(f"{text} is no record")
    return value


def without_bytes(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row as it is: no column of ours holds bytes, and nobody could read them."""
    for (column, *_), value in zip(cursor.description, row, strict=True):
        if isinstance(value, bytes):
            raise sqlite3.NotSupportedError(f"there are bytes where {column} belongs, a text or a number")
    return row
