"""The run that is looked at, the one that is under way, and what they are by value: equal marks mean that the
same would be measured. Objects say nothing of this: what is read again is another object.
"""

import hashlib
import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from engine.annotations.effective import AnnotatorStep, EffectiveAnnotation
from engine.annotations.records import Annotation
from engine.core.column_map import label_columns
from engine.core.errors import SetupError
from engine.core.formatting import visible, words
from engine.core.health import NOT_LOOKED_AT, Health
from engine.core.judgments import JudgedItem
from engine.settings.identity import REWRITTEN, StoredRun

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.results.run_results import RunResults

_ROWS_AT_ONCE = 2048  # as Python's texts the labels of a large dataset take much memory


@dataclass(frozen=True)
class RunMark:
    """A run: `stored` as the store lists it, `judged` items as it was read, `overrides` by their ids."""

    stored: Hashable
    judged: int
    overrides: "frozenset[EffectiveAnnotation]"

    def is_of(self, run: "StoredRun") -> bool:
        return self.stored == _stored(run)


def _stored(run: "StoredRun") -> Hashable:
    return run.id, run.judged, json.dumps([run.calibration, run.manifest.get(REWRITTEN)], sort_keys=True)


def run_mark(results: "RunResults") -> RunMark:
    overrides = frozenset(results.overrides.values())
    return RunMark(_stored(results.run), len(results.judged), overrides)


def gold_mark(gold: "Dataset | None") -> Hashable:
    """Human labels and explanations with their items; on a worker thread, for it reads all of them."""
    if gold is None:
        return None
    found = hashlib.sha256()
    columns = [name for name in label_columns(gold.rubric.names) if name in gold.table.column_names]
    labels = gold.table.select(columns)
    for start in range(0, len(gold), _ROWS_AT_ONCE):
        part = labels.slice(start, _ROWS_AT_ONCE).to_pydict()
        found.update(json.dumps(list(part.values())).encode("ascii"))
    return str(gold.path), gold.hash, tuple(columns), found.hexdigest()


def measured_mark(results: "RunResults", gold: "Dataset | None") -> Hashable:
    """What all measures of a run against human labels depend on; on a worker thread."""
    return run_mark(results), gold_mark(gold)


@dataclass(frozen=True)
class OpenRun:
    """`dataset`: its judged items, None if they are not there, of `whole`, its file. `drafts`: what
    annotators began to write.
    """

    results: "RunResults"
    dataset: "Dataset | None"
    health: Health = NOT_LOOKED_AT
    drafts: Sequence[Annotation] = ()
    whole: "Dataset | None" = None

    @property
    def id(self) -> int:
        return self.results.run.id

    @property
    def in_words(self) -> str:
        stored = self.results.run
        said = self.results.joined_in_words or f"{stored.title} is open."
        return f"{said} {self.health.in_short}".strip()


class Opened(Protocol):
    """What is open in a window, and who looks at it."""

    run: OpenRun | None

    @property
    def gold(self) -> "Dataset | None":
        """Where the human labels are from."""

    @property
    def acts(self) -> Sequence[tuple[int, str, datetime]]:
        """What was annotated in this window, the oldest first: in which run, of which place, when."""

    @property
    def author(self) -> str:
        """Who labels."""

    def steps(self, item: JudgedItem) -> list[AnnotatorStep]:
        """What this annotator did with an item of the open run, the oldest first."""


@dataclass(frozen=True)
class UnderWay:
    run_id: int
    judged: int
    items: int


def about_run(run_id: int) -> tuple[str, int]:
    """What the notice of a run's end is about: it goes once that run is shown, or is gone."""
    return ("run", run_id)


def not_stored(error: SetupError, item_id: str, criterion: str = "") -> SetupError:
    about = f"{item_id}, {words(criterion)}" if criterion else item_id
    return SetupError(f"Item {visible(about)}: your annotation is not stored. {error.problem}", error.hint)
