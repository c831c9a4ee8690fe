"""The run that is looked at, the one that is under way, and what is said of runs.

Knows: a run with its items, numbers of runs. Does not know: what is open, how runs are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.core.errors import SetupError
from engine.core.formatting import visible, words
from engine.core.health import NOT_LOOKED_AT, Health
from engine.core.judgments import Draft, JudgedItem
from engine.core.people import AnnotatorStep

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults


@dataclass(frozen=True)
class OpenRun:
    """A run that is looked at.

    `dataset`: the items that it judged, None where they are not there. `health`: of its judge. `drafts`: what
    annotators began to write of it, as it was read.
    """

    results: "RunResults"
    dataset: "Dataset | None"
    health: Health = NOT_LOOKED_AT
    drafts: Sequence[Draft] = ()

    @property
    def id(self) -> int:
        """Its number in the store."""
        return self.results.run.id

    @property
    def in_words(self) -> str:
        """What is said of it when it is opened."""
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
    def author(self) -> str:
        """Who labels."""

    def steps(self, item: JudgedItem) -> list[AnnotatorStep]:
        """What this annotator did with an item of the open run, the oldest first."""


@dataclass(frozen=True)
class UnderWay:
    """A run that this window judges now: `judged` of its `items` are in the store."""

    run_id: int
    judged: int
    items: int


def about_run(run_id: int) -> tuple[str, int]:
    """What the notice of a run's end is about: it goes once that run is shown, or is gone."""
    return ("run", run_id)


def not_stored(error: SetupError, item_id: str, criterion: str = "") -> SetupError:
    """An error by which the decision of the user was lost, with what it was about."""
    about = f"{item_id}, {words(criterion)}" if criterion else item_id
    return SetupError(f"Item {visible(about)}: your annotation is not stored. {error.problem}", error.hint)
