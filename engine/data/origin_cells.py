"""How cells say which labels annotators gave to an item and how they came to it: in a run's CSV, in datasets.

Knows: the columns that tell it, what stands in them. Does not know: runs, datasets, who reads it.
"""

import json
from collections.abc import Collection, Mapping

from engine.core.judgments import Origin

ORIGINS_BY_ANNOTATORS, LABELS_BY_ANNOTATORS, IN_SAMPLE = (
    "origins_by_people",
    "labels_by_people",
    "random_sample",
)
"""Columns of a run's CSV: by name, how each annotator came to the item, and which label they gave; whether it
is of a random sample.
"""
SAMPLED, SKIPPED = "labelled", "skipped"
"""What stands in IN_SAMPLE of an item of a random sample."""
_UNKNOWN = "unknown"
_LEAST_CHOICE = (Origin.RANDOM, Origin.DATASET, Origin.CHOSEN, Origin.DISAGREEMENT, Origin.UNCERTAINTY, None)


def origin_column(criterion: str) -> str:
    """The column of a dataset that tells how annotators came to the items that they labelled on a
    criterion.
    """
    return f"{criterion}_origin"


def origin_cell(origins: Collection[Origin | None], in_sample: str) -> str:
    """What stands in that column of an item to which annotators came so; `in_sample`: its cell in
    IN_SAMPLE.
    """
    return origin_of_several(origins, in_sample) or _UNKNOWN if origins else ""


def origin_of_several(origins: Collection[Origin | None], in_sample: str) -> Origin | None:
    """Of several annotators the one counts who came to the item by the least choice; `origins`: not empty."""
    return Origin.RANDOM if in_sample == SAMPLED else min(origins, key=_LEAST_CHOICE.index)


def origins_in_row(cells: Mapping[str, str]) -> dict[str, Origin | None]:
    """By name, how each annotator came to the item of a row of a run's CSV who labelled it."""
    known = _record(cells.get(ORIGINS_BY_ANNOTATORS, ""))
    return {name: origin_in(known.get(name)) for name in {**labels_in_row(cells), **known}}


def labels_in_row(cells: Mapping[str, str]) -> dict[str, object]:
    """By name, what each annotator said in a row of a run's CSV."""
    return _record(cells.get(LABELS_BY_ANNOTATORS, ""))


def origin_in(value: object) -> Origin | None:
    """The origin that is written so; None for anything else."""
    return Origin(value) if isinstance(value, str) and value in [*Origin] else None


def _record(text: str) -> dict[str, object]:
    """A JSON object of a cell; nothing for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
