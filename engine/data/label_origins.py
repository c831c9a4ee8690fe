"""How people came to the items whose labels a dataset holds, where it says so: as a run's CSV does.

Knows: the columns that tell it. Does not know: runs, who reads it.
"""

import json
from collections.abc import Collection, Iterator, Mapping

from engine.core.judgments import Origin
from engine.data.dataset import Dataset

ORIGINS_BY_PEOPLE, LABELS_BY_PEOPLE, IN_SAMPLE = "origins_by_people", "labels_by_people", "random_sample"
"""Columns of a run's CSV: by name, how each person came to the item, and which label he gave; whether it is
of a random sample.
"""
SAMPLED, SKIPPED = "labelled", "skipped"
"""What stands in IN_SAMPLE of an item of a random sample."""
_UNKNOWN = "unknown"


def origin_column(criterion: str) -> str:
    """The column of a dataset that tells how people came to the items that they labelled on a criterion."""
    return f"{criterion}_origin"


def origin_cell(origins: Collection[Origin | None], in_sample: str) -> str:
    """What stands in that column of an item to which people came so; `in_sample`: its cell in IN_SAMPLE."""
    return _of_several(origins, in_sample) or _UNKNOWN if origins else ""


def label_origins(dataset: Dataset, criterion: str) -> dict[str, Origin | None] | None:
    """By item, how a person came to it whose label on a criterion the dataset holds; None where that is not
    known, as of a CSV that an earlier version wrote. No mapping at all where the dataset does not say that
    its labels were given in a review.

    It is read from a column `<criterion>_origin`, else from the columns of a run's CSV. Of several people the
    one counts who came to the item by the least choice.
    """
    own = origin_column(criterion)
    if own in dataset.other_columns:
        cells = zip(dataset.ids, dataset.texts(own).to_pylist(), strict=True)
        return {item_id: _origin(text) for item_id, text in cells if text}
    if not {ORIGINS_BY_PEOPLE, LABELS_BY_PEOPLE} & {*dataset.other_columns}:
        return None
    rows = zip(dataset.ids, dataset.cells_beside(), strict=True)
    return dict(_of_csv(rows))


def skipped_items(dataset: Dataset) -> int:
    """How many items were skipped in a random sample, as far as the dataset says it."""
    texts: list[str] = dataset.texts(IN_SAMPLE).to_pylist()
    return texts.count(SKIPPED)


_LEAST_CHOICE = (Origin.RANDOM, Origin.DATASET, Origin.CHOSEN, Origin.DISAGREEMENT, Origin.DOUBT, None)


def _of_csv(rows: Iterator[tuple[str, Mapping[str, str]]]) -> Iterator[tuple[str, Origin | None]]:
    for item_id, cells in rows:
        origins = origins_in_row(cells)
        if origins:
            yield item_id, _of_several(origins.values(), cells.get(IN_SAMPLE, ""))


def origins_in_row(cells: Mapping[str, str]) -> dict[str, Origin | None]:
    """By name, how each person came to the item of a row of a run's CSV who labelled it."""
    known = _record(cells.get(ORIGINS_BY_PEOPLE, ""))
    return {name: _origin(known.get(name)) for name in {**labels_in_row(cells), **known}}


def labels_in_row(cells: Mapping[str, str]) -> dict[str, object]:
    """By name, what each person said in a row of a run's CSV."""
    return _record(cells.get(LABELS_BY_PEOPLE, ""))


def _of_several(origins: Collection[Origin | None], in_sample: str) -> Origin | None:
    return Origin.RANDOM if in_sample == SAMPLED else min(origins, key=_LEAST_CHOICE.index)


def _record(text: str) -> dict[str, object]:
    """A JSON object of a cell; nothing for anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _origin(value: object) -> Origin | None:
    return Origin(value) if isinstance(value, str) and value in [*Origin] else None
