"""Rows of the table `run` made into runs, each value by the gate.

Knows: the columns of the table `run`, which values a run is described with. Does not know: transactions.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from engine.core.rubric import Rubric, rubric_of_names
from engine.core.run_records import (
    CHOSEN,
    CLUSTER,
    CONTINUED,
    DEVICE,
    DEVICE_LEFT,
    NOT_IN_DATASET,
    REWRITTEN,
    Archived,
    RunIdentity,
    RunKind,
    StoredRun,
    checked_name,
    checked_note,
)
from engine.core.settings import Mode, settings_of
from engine.store.row_gate import Gate

RUN_COLUMNS = (
    *("created", "key", "dataset_path", "dataset_hash", "items", "model_path", "model_name", "model_hash"),
    *("prompt_version", "criteria", "rubric", "settings", "kind", "manifest", "calibration"),
    *("name", "note", "archived", "archived_by"),
)
Row = Mapping[str, Any]
"""The values of a row by column, as SQLite gives them."""

_TEXT_SETTINGS = ("explained_with_calibration", DEVICE)
_PLACES = re.compile(r"(\d{1,12}(-\d{1,12})?(,\d{1,12}(-\d{1,12})?)*)?")
_JUDGED = "judged"  # which items a kind of computers judged


def run_of_row(run_id: int, row: Row, judged: int) -> StoredRun:
    """A run of its row. DamagedError where it holds what this program does not write."""
    gate = Gate(f"Run {run_id}")
    archived = row["archived"]
    return StoredRun(
        id=run_id,
        created=gate.time("created", row["created"]),
        identity=_identity(gate, row),
        judged=judged,
        manifest=_manifest(gate, row["manifest"]),
        calibration=None if row["calibration"] is None else gate.record("calibration", row["calibration"]),
        name=_said(gate, "name", row, checked_name),
        note=_said(gate, "note", row, checked_note),
        archived=None
        if archived is None
        else Archived(gate.time("archived", archived), gate.text("archived_by", row["archived_by"])),
    )


def _identity(gate: Gate, row: Row) -> RunIdentity:
    kind = gate.one_of(RunKind, "kind", row["kind"])
    criteria = gate.texts("criteria", gate.plain("criteria", row["criteria"]))
    return RunIdentity(
        key=gate.text("key", row["key"]),
        dataset_path=Path(gate.name("dataset_path", row["dataset_path"])),
        dataset_hash=gate.text("dataset_hash", row["dataset_hash"]),
        items=gate.count("items", row["items"], least=1),
        model_path=Path(gate.name("model_path", row["model_path"])),
        model_name=gate.text("model_name", row["model_name"]),
        model_hash=gate.text("model_hash", row["model_hash"]),
        prompt_version=gate.text("prompt_version", row["prompt_version"]),
        criteria=criteria,
        settings=_settings(gate, row["settings"], kind),
        kind=kind,
        rubric=_rubric(gate, row["rubric"], criteria),
    )


def _settings(gate: Gate, text: object, kind: RunKind) -> Mapping[str, Any]:
    """Those of a run that was judged are such as a run can be judged with again."""
    values = gate.record("settings", text)
    if kind is RunKind.JUDGED:
        gate.made("settings", values, lambda: settings_of(values))
    else:
        gate.one_of(Mode, "settings", values.get("mode"))
    gate.texts("settings", values.get("orders"))
    if not isinstance(values.get("examples"), str if kind is RunKind.JUDGED else NoneType):
        gate.refuse("settings", values, "settings that name the labelled examples")
    gate.texts("settings", values.get(CHOSEN, []))
    for name in _TEXT_SETTINGS:
        gate.text("settings", values.get(name, ""))
    return values


def _rubric(gate: Gate, text: object, criteria: tuple[str, ...]) -> Rubric | None:
    """What was asked, of just these criteria; None for the task's rubric."""
    if text is None:
        gate.made("criteria", criteria, lambda: rubric_of_names(criteria))
        return None
    values = gate.record("rubric", text)
    rubric = gate.made("rubric", values, lambda: Rubric.of_json(values))
    if rubric.names != criteria:
        gate.refuse("rubric", list(rubric.names), f"one of {', '.join(criteria)}")
    return rubric


def _manifest(gate: Gate, text: object) -> Mapping[str, Any]:
    made = gate.record("manifest", text)
    for name in (CONTINUED, REWRITTEN):
        _records(gate, made, name)
    for kind in _records(gate, made, CLUSTER):
        if not _PLACES.fullmatch(gate.text("manifest", kind.get(_JUDGED, ""))):
            gate.refuse("manifest", kind[_JUDGED], "places of items")
    gate.text("manifest", made.get(DEVICE_LEFT, ""))
    gate.texts("manifest", made.get(NOT_IN_DATASET, []))
    return made


def _records(gate: Gate, made: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    records = made.get(name, [])
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        gate.refuse("manifest", records, "a list of records")
    return records


def _said(gate: Gate, field: str, row: Row, checked: Any) -> str:
    """A name or a note, as a person may give it."""
    text = gate.text(field, row[field])
    gate.made(field, text, lambda: checked(text))
    return text
