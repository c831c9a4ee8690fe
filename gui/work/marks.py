"""What a run and human labels are, by value: equal marks mean that the same would be measured.

Objects say nothing of this: what is read again is another object with the same content.

Knows: what measures depend on. Does not know: what is measured, windows.
"""

import hashlib
import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.run_records import REWRITTEN

if TYPE_CHECKING:
    from engine.core.people import EffectiveAnnotation
    from engine.core.run_records import StoredRun
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults

_ROWS_AT_ONCE = 2048  # as Python's texts the labels of a large dataset take much memory


@dataclass(frozen=True)
class RunMark:
    """A run: `stored` as the store lists it, `judged` items as it was read, `overrides` by their ids."""

    stored: Hashable
    judged: int
    overrides: "frozenset[EffectiveAnnotation]"

    def is_of(self, run: "StoredRun") -> bool:
        """True where the store lists the run as it was; human overrides is not listed there."""
        return self.stored == _stored(run)


def _stored(run: "StoredRun") -> Hashable:
    """How far a run is judged, how it is calibrated, what was written again."""
    return run.id, run.judged, json.dumps([run.calibration, run.manifest.get(REWRITTEN)], sort_keys=True)


def run_mark(results: "RunResults") -> RunMark:
    """A run as it was read."""
    overrides = frozenset(results.overrides.values())
    return RunMark(_stored(results.run), len(results.judged), overrides)


def gold_mark(gold: "Dataset | None") -> Hashable:
    """Human labels and explanations with the items that they are for; on a worker thread, for it reads all of
    them.

    `Dataset.hash` alone does not do: labels take no part in it.
    """
    if gold is None:
        return None
    found = hashlib.sha256()
    names = [f"{name}_{part}" for name in gold.rubric.names for part in ("preference", "explanation")]
    columns = [name for name in names if name in gold.table.column_names]
    labels = gold.table.select(columns)
    for start in range(0, len(gold), _ROWS_AT_ONCE):
        part = labels.slice(start, _ROWS_AT_ONCE).to_pydict()
        found.update(json.dumps(list(part.values())).encode("ascii"))
    return str(gold.path), gold.hash, tuple(columns), found.hexdigest()


def measured_mark(results: "RunResults", gold: "Dataset | None") -> Hashable:
    """What all measures of a run against human labels depend on; on a worker thread."""
    return run_mark(results), gold_mark(gold)
