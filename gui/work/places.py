"""The run that is looked at, where a person is in its review, which one it replaced, which is under way.

Knows: a run with its items, numbers of runs. Does not know: what is open, how runs are read.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.core.errors import EngineError, SetupError
from engine.core.formatting import visible, words
from engine.core.health import NOT_LOOKED_AT, Health
from engine.core.run_records import what_is_joined

if TYPE_CHECKING:
    from engine.data.dataset import Dataset
    from engine.decisions.run_results import RunResults


@dataclass(frozen=True)
class OpenRun:
    """A run that is looked at.

    `dataset`: the items that it judged, None where they are not there. `health`: of its judge.
    """

    results: "RunResults"
    dataset: "Dataset | None"
    health: Health = NOT_LOOKED_AT

    @property
    def id(self) -> int:
        """Its number in the store."""
        return self.results.run.id

    def in_words(self, how: str = "") -> str:
        """What is said of it when it is shown; `how` its judging has just ended, where it has."""
        stored = self.results.run
        if how:
            said = f"{stored.title} {how} and is shown."
        else:
            said = what_is_joined(stored) if stored.submitted else f"{stored.title} is open."
        return f"{said} {self.health.in_short}".strip()


@dataclass(frozen=True)
class Place:
    """A judgment of a run that a person looks at on the page Review."""

    run_id: int
    item_id: str
    criterion: str


@dataclass(frozen=True)
class Replaced:
    """The run `run_id` has just ended (`how`: in words) and is shown in the place of the run `before`.

    `before`: None where no other was looked at, else `called` so. `place`: where a person was in its review.
    """

    run_id: int
    how: str
    before: int | None = None
    place: Place | None = None
    called: str = ""


@dataclass(frozen=True)
class UnderWay:
    """A run that this window judges now: `judged` of its `items` are in the store."""

    run_id: int
    judged: int
    items: int


def not_stored(error: EngineError, item_id: str, criterion: str = "") -> EngineError:
    """An error by which the decision of a person was lost, with what it was about."""
    place = f"{item_id}, {words(criterion)}" if criterion else item_id
    lost = f"Item {visible(place)}: what you decided is not stored."
    return SetupError(f"{lost} {error.problem}", error.remedy) if isinstance(error, SetupError) else error
