"""Where a person is in the review of a run, which run took the place of which, which one is under way.

Knows: numbers of runs, judgments by item and criterion. Does not know: what is open.
"""

from dataclasses import dataclass


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
