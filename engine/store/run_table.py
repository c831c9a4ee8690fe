"""The tables `run` and `deleted_run`: rows added, looked for, and made into runs again by the gate."""

import json
import re
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType
from typing import Any

from engine.core.codec import LARGEST
from engine.core.errors import Hint, Step, StoreError
from engine.core.rubric import Rubric, rubric_of_names
from engine.settings import identity as runs
from engine.settings.rows import Mode, settings_of
from engine.store.row_validator import DamagedError, RowValidator
from engine.system.paths import text_of_path

_COLUMNS = (
    *("created", "key", "dataset_path", "dataset_hash", "items", "model_path", "model_name", "model_hash"),
    *("prompt_version", "criteria", "rubric", "settings", "kind", "manifest", "calibration"),
    *("name", "note", "archived", "archived_by", "review_seed"),
)
_Row = Mapping[str, Any]  # the values of a row by column, as SQLite gives them

_TEXT_SETTINGS = ("explained_with_calibration", runs.DEVICE)
_WRITTEN_PLACES = re.compile(r"(\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*)?")


def run_row(db: sqlite3.Connection, run_id: int) -> runs.StoredRun | None:
    """One run; None where there is none. DamagedError where another hand wrote it."""
    row = _row(db, f"SELECT {', '.join(_COLUMNS)} FROM run WHERE id = ?", run_id)
    if row is None:
        return None
    values = dict(zip(_COLUMNS, row, strict=True))
    validator = RowValidator(f"Run {run_id}")
    calibration, archived = values["calibration"], None
    if values["archived"] is not None:
        by = validator.text("archived_by", values["archived_by"])
        archived = runs.Archived(validator.time("archived", values["archived"]), by)
    return runs.StoredRun(
        id=run_id,
        created=validator.time("created", values["created"]),
        identity=_identity(validator, values),
        judged=judged_count(db, run_id, values["kind"] == runs.RunKind.SUBMITTED),
        manifest=_manifest(validator, values["manifest"]),
        calibration=None if calibration is None else validator.record("calibration", calibration),
        name=_said(validator, "name", values, runs.checked_name),
        note=_said(validator, "note", values, runs.checked_note),
        archived=archived,
        review_seed=validator.count("review_seed", values["review_seed"]),
    )


def has_run(db: sqlite3.Connection, run_id: int) -> bool:
    return _row(db, "SELECT 1 FROM run WHERE id = ?", run_id) is not None


def _row(db: sqlite3.Connection, statement: str, run_id: int) -> Any:
    with suppress(OverflowError):  # no run has so large a number
        return db.execute(statement, (run_id,)).fetchone()
    return None


def judged_count(db: sqlite3.Connection, run_id: int, submitted: bool = False) -> int:
    """How many items of a run are judged; of a submission those that it answers."""
    (judged,) = db.execute("SELECT count(*) FROM judged_item WHERE run_id = ?", (run_id,)).fetchone()
    if not submitted:
        return int(judged)
    unanswered = "SELECT count(DISTINCT position) FROM unscored WHERE run_id = ?"
    return int(judged) - int(db.execute(unanswered, (run_id,)).fetchone()[0])


def damaged_run(db: sqlite3.Connection, run_id: int) -> runs.DamagedRun | None:
    """What is wrong with a run; None where nothing is, or where there is none."""
    try:
        run_row(db, run_id)
    except DamagedError as error:
        return runs.DamagedRun(run_id, judged_count(db, run_id), error.problem, error.hint)
    return None


def run_ids(db: sqlite3.Connection) -> list[int]:
    return [run_id for (run_id,) in db.execute("SELECT id FROM run ORDER BY id")]


def newest_of(db: sqlite3.Connection, key: str) -> int | None:
    (run_id,) = db.execute("SELECT max(id) FROM run WHERE key = ?", (key,)).fetchone()
    return None if run_id is None else int(run_id)


def add_run(db: sqlite3.Connection, identity: runs.RunIdentity) -> int:
    """Add a run, in the caller's transaction; its number, which no run ever had, be it deleted by now."""
    (newest,) = db.execute(
        "SELECT max((SELECT coalesce(max(id), 0) FROM run), (SELECT coalesce(max(id), 0) FROM deleted_run))"
    ).fetchone()
    if newest >= LARGEST:
        raise StoreError(
            f"The run store has a run with the number {newest}, the largest possible.",
            Hint(Step.USE_OTHER_STORE),
        )
    row = {
        "id": newest + 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "dataset_path": text_of_path(identity.dataset_path),
        "model_path": text_of_path(identity.model_path),
        "criteria": as_json(identity.criteria),
        "settings": as_json(identity.settings),
        "kind": identity.kind.value,
        "rubric": as_json(identity.rubric.as_json()) if identity.rubric else None,
    }
    as_it_is = ("key", "dataset_hash", "items", "model_name", "model_hash", "prompt_version")
    row |= {name: getattr(identity, name) for name in as_it_is}
    places = ", ".join(f":{name}" for name in row)
    db.execute(f"INSERT INTO run ({', '.join(row)}) VALUES ({places})", row)
    return int(newest + 1)


def set_value(db: sqlite3.Connection, run_id: int, column: str, value: object) -> None:
    db.execute(f"UPDATE run SET {column} = ? WHERE id = ?", (value, run_id))


def no_run(db: sqlite3.Connection, run_id: int, path: Path) -> StoreError:
    row = _row(db, "SELECT deleted FROM deleted_run WHERE id = ?", run_id)
    problem = f"The run store {path} has no run {run_id}."
    if row:
        problem = f"Run {run_id} was deleted on {str(row[0])[:10]}: the run store {path} has no data of it."
    return StoreError(problem, "Choose one of its runs.")


def as_json(value: object) -> str:
    # Sorted, so that equal values are equal texts.
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _identity(validator: RowValidator, row: _Row) -> runs.RunIdentity:
    kind = validator.one_of(runs.RunKind, "kind", row["kind"])
    criteria = validator.texts("criteria", validator.plain("criteria", row["criteria"]))
    return runs.RunIdentity(
        key=validator.text("key", row["key"]),
        dataset_path=Path(validator.name("dataset_path", row["dataset_path"])),
        dataset_hash=validator.text("dataset_hash", row["dataset_hash"]),
        items=validator.count("items", row["items"], least=1),
        model_path=Path(validator.name("model_path", row["model_path"])),
        model_name=validator.text("model_name", row["model_name"]),
        model_hash=validator.text("model_hash", row["model_hash"]),
        prompt_version=validator.text("prompt_version", row["prompt_version"]),
        criteria=criteria,
        settings=_settings(validator, row["settings"], kind),
        kind=kind,
        rubric=_rubric(validator, row["rubric"], criteria),
    )


def _settings(validator: RowValidator, text: object, kind: runs.RunKind) -> Mapping[str, Any]:
    """Those of a run that was judged are such as a run can be judged with again."""
    values = validator.record("settings", text)
    if kind is runs.RunKind.JUDGED:
        validator.made("settings", values, lambda: settings_of(values))
    else:
        validator.one_of(Mode, "settings", values.get("mode"))
    validator.texts("settings", values.get("orders"))
    if not isinstance(values.get("examples"), str if kind is runs.RunKind.JUDGED else NoneType):
        validator.refuse("settings", values, "settings that name the labelled examples")
    validator.texts("settings", values.get(runs.CHOSEN, []))
    for name in _TEXT_SETTINGS:
        validator.text("settings", values.get(name, ""))
    return values


def _rubric(validator: RowValidator, text: object, criteria: tuple[str, ...]) -> Rubric | None:
    """What was asked, of just these criteria; None for the task's rubric."""
    if text is None:
        validator.made("criteria", criteria, lambda: rubric_of_names(criteria))
        return None
    values = validator.record("rubric", text)
    rubric = validator.made("rubric", values, lambda: Rubric.of_json(values))
    if rubric.names != criteria:
        validator.refuse("rubric", list(rubric.names), f"one of {', '.join(criteria)}")
    return rubric


def _manifest(validator: RowValidator, text: object) -> Mapping[str, Any]:
    made = validator.record("manifest", text)
    for name in (runs.CONTINUED, runs.REWRITTEN):
        _records(validator, made, name)
    for kind in _records(validator, made, runs.CLUSTER):
        if not _WRITTEN_PLACES.fullmatch(validator.text("manifest", kind.get(runs.PLACES, ""))):
            validator.refuse("manifest", kind[runs.PLACES], "positions of items")
    for judge in _records(validator, made, runs.JUDGES):
        validator.text("manifest", judge.get("name"))
        validator.text("manifest", judge.get("what", ""))
        validator.texts("manifest", judge.get("orders", []))
    validator.text("manifest", made.get(runs.DEVICE_LEFT, ""))
    validator.texts("manifest", made.get(runs.NOT_IN_DATASET, []))
    return made


def _records(validator: RowValidator, made: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    records = made.get(name, [])
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        validator.refuse("manifest", records, "a list of records")
    return records


def _said(validator: RowValidator, field: str, row: _Row, checked: Any) -> str:
    text = validator.text(field, row[field])
    validator.made(field, text, lambda: checked(text))
    return text


def key_with_run(run_id: int) -> str:
    """How the key of a measure begins that goes with its run."""
    return f"run {run_id}: "
