"""Read the comparisons of the weighted judge: scores of two responses by criterion, from a JSON file.

Knows: the shape of these records. Does not know: how scores are combined, where they come from.
"""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.core.errors import InputError
from engine.core.file_kinds import FileKind
from engine.core.formatting import clipped, quoted
from engine.data.file_kinds import expecting
from engine.data.json_records import JsonNumber
from engine.data.tables import read_json_records
from engine.system.gate import sandboxed
from engine.weigh.weighted_judge import LARGEST_SCORE

_HINT = (
    'Each record needs "id", "scores_a" and "scores_b"; '
    "the last two hold one finite number for each criterion."
)


@sandboxed
def load_comparisons(path: Path, criteria: Sequence[str]) -> list[dict[str, Any]]:
    """The comparisons in a JSON list, or in the one list of an object, in the file's order.

    Each is {"id": str, "scores_a": {criterion: float}, "scores_b": {criterion: float}} with exactly the
    given criteria; other keys of the file are omitted. Raises SetupError where the file cannot be read,
    InputError with all problems: a key, criterion or id missing, a score that is not a finite number
    up to LARGEST_SCORE either way (true and false are none), an id used twice.
    """
    with expecting(path, FileKind.COMPARISONS):
        return _comparisons(path, criteria)


def _comparisons(path: Path, criteria: Sequence[str]) -> list[dict[str, Any]]:
    problems: list[str] = []
    comparisons = []
    first_records: dict[str, int] = {}
    for number, value in read_json_records(path):
        if not isinstance(value, dict):
            problems.append(f"record {number}: not an object.")
            continue
        item_id = _id_of(value)
        place = f"record {number} (id {quoted(item_id)})" if item_id else f"record {number}"
        if item_id is None:
            problems.append(f"{place}: no id, or one that is neither text nor a number.")
        elif (first := first_records.setdefault(item_id, number)) != number:
            problems.append(f"{place}: the id is already that of record {first}.")
        scores = {key: _scores(value, key, criteria, place, problems) for key in ("scores_a", "scores_b")}
        comparisons.append({"id": item_id, **scores})
    if problems:
        raise InputError(path, problems, _HINT)
    if not comparisons:
        raise InputError(path, ["has no records."], _HINT)
    return comparisons


def _id_of(record: Mapping[str, object]) -> str | None:
    item_id = record.get("id")
    return str(item_id) if isinstance(item_id, str) and item_id else None


def _scores(
    record: Mapping[str, object], key: str, criteria: Sequence[str], place: str, problems: list[str]
) -> dict[str, float]:
    """The scores of one response; what is wrong with them is added to `problems`."""
    given = record.get(key)
    if not isinstance(given, dict):
        problems.append(f"{place}: {key!r} is {'missing' if key not in record else 'not an object'}.")
        return {}
    scores = {}
    for name in criteria:
        value = given.get(name)
        number = float(value) if isinstance(value, JsonNumber) else math.nan
        if name not in given:
            problems.append(f"{place}: {key} has no score for {name!r}.")
        elif not abs(number) <= LARGEST_SCORE:
            wrong = f"beyond {LARGEST_SCORE:g}" if math.isfinite(number) else "not a finite number"
            problems.append(f"{place}: {key}, {name}: {_shown(value)} is {wrong}.")
        scores[name] = number
    return scores


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    return clipped(value if isinstance(value, JsonNumber) else json.dumps(value))
