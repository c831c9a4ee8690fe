"""What runs and other slow work report while they last: frozen records, safe to send to another thread.

Knows: the story of a run. Does not know: who listens.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from engine.core.formatting import duration
from engine.core.health import Health
from engine.core.items import Preference
from engine.core.judgments import JudgedItem, Judgment, Unscored
from engine.core.remedies import Hint

Event = TypeVar("Event")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Preparing:
    """What is done before the first item, in words: `Checking the model file`."""

    what: str


@dataclass(frozen=True)
class TuningStage:
    """What the search for the best settings does from now on, in words; `number` of this many `stages`."""

    what: str
    number: int
    stages: int


@dataclass(frozen=True)
class FilesRead:
    """Dataset and model are read, and the model fits this computer.

    `notices`: what the user should know of dataset, model and memory, with what to do. `model_notice`: what
    a model made for this program has to tell its users, empty for others.
    """

    model: str
    model_notice: str
    notices: tuple[Hint | str, ...]


@dataclass(frozen=True)
class RunStarted:
    """The first event of `run_judging`. `judged` of `items` were in the store already."""

    run_id: int
    items: int
    judged: int


@dataclass(frozen=True)
class ModelOpened:
    """The model is loaded. `note`: what the user should know of its chat template, or empty."""

    note: str


@dataclass(frozen=True)
class TokensEvaluated:
    """Tokens read and generated since the last event of this kind; comes within items too."""

    tokens: int


@dataclass(frozen=True)
class GroupUnderWay:
    """The items that are judged now, together: they are stored when all of them are done. Several a second.

    `first`, `last`: their places in the dataset, from 0. `position`, `item_id`: the one that is read, or of
    which an explanation is written; `writing`: which of the two. `done` of `total`: its tokens in one order,
    or those of all explanations of the group, of which the total is a guess. `seconds`: what they took so
    far, and what a stop loses; `seconds_left`: until they are stored; `run_seconds_left`: until the run ends.
    None as long as that cannot be known.
    """

    first: int
    last: int
    position: int
    item_id: str
    writing: bool
    done: int
    total: int
    seconds: float
    seconds_left: float | None
    run_seconds_left: float | None = None

    def after(self, seconds: float) -> "GroupUnderWay":
        """The same this many seconds later, as nothing was reported since."""
        left = self.seconds_left
        return replace(
            self,
            seconds=self.seconds + seconds,
            seconds_left=None if left is None else max(0.0, left - seconds),
        )

    @property
    def items_in_words(self) -> str:
        """`the item judged now`, `the 2 items judged now`: ids may be long, and are no numbers."""
        items = self.last - self.first + 1
        return "the item judged now" if items == 1 else f"the {items:,} items judged now"

    @property
    def loss_in_words(self) -> str:
        """What a stop would lose, and when it would lose nothing."""
        kept = "" if self.seconds_left is None else f"; in about {duration(self.seconds_left)} it is stored"
        return f"Stopping now loses {duration(self.seconds)} of work on {self.items_in_words}{kept}."

    @property
    def ending_in_words(self) -> str:
        """That the run stops after the group, and when that will be."""
        left = "" if self.seconds_left is None else f", in about {duration(self.seconds_left)}"
        return f"The run stops after {self.items_in_words}{left}."


@dataclass(frozen=True)
class LabelsRead:
    """What is decided of an item that is not stored yet, by the orders that are read: a preview.

    `position`: its place in the dataset. `whole`: all orders are read, so that ItemJudged will have the same.
    """

    position: int
    item_id: str
    judgments: tuple[Judgment | Unscored, ...]
    whole: bool


@dataclass(frozen=True)
class Drafted:
    """An explanation that is being written, as far as it is: of several the first that is not done."""

    item_id: str
    criterion: str
    preference: Preference
    text: str


@dataclass(frozen=True)
class ItemJudged:
    """One item is in the store; `judgments` as its raw predictions are decided, in the order of the
    rubric.
    """

    judged: JudgedItem
    judgments: tuple[Judgment | Unscored, ...]


@dataclass(frozen=True)
class HealthSeen:
    """Whether the model judges, by what was judged since RunStarted; after some items and at the end."""

    health: Health


@dataclass(frozen=True)
class Resolved:
    """A run that is judged until something is clear found a part of it: in words."""

    said: str


@dataclass(frozen=True)
class RunEnded:
    """The last event. `stopped`: whether it was asked to stop before all items were judged, or all that its
    question needed. `clear`: whether all that was asked is answered, where anything was; else no item is left
    that would answer more.
    """

    run_id: int
    items: int
    judged: int
    stopped: bool
    clear: bool = False


@dataclass(frozen=True)
class MeasureProgress:
    """Slow work alongside a run: `done` of `total`, those known from before included.

    They are what the work goes through: explanations that are measured or written again, items that are
    counted for a forecast.
    """

    done: int
    total: int


@dataclass(frozen=True)
class DeviceLeft:
    """A device failed in a run, which continues by the processor. `reason`: why, as a clause."""

    device: str
    reason: str

    @property
    def in_words(self) -> str:
        """What happened, and that nothing is lost."""
        failed = f"{self.device} failed: {self.reason}."
        return f"{failed} The processor continues this run; all judgments are stored."


@dataclass(frozen=True)
class ClusterUnderWay:
    """Who judges a run on other computers now; about once a second.

    `workers`: those that judge or could; `items`: those that are handed out. `seconds_left`: until the run
    ends, None as long as that cannot be known.
    """

    workers: int
    items: int
    seconds_left: float | None


@dataclass(frozen=True)
class ClusterNews:
    """Something that the user should know of the workers of a run. `hint`: the next step, where any."""

    said: str
    hint: Hint | None = None


JudgeEvent = TokensEvaluated | GroupUnderWay | LabelsRead | Drafted
ClusterEvent = ClusterUnderWay | ClusterNews
RunEvent = (
    RunStarted
    | ModelOpened
    | JudgeEvent
    | ItemJudged
    | Resolved
    | HealthSeen
    | DeviceLeft
    | ClusterEvent
    | RunEnded
)


class Reports(Generic[Event, Result]):
    """The reports of some work, one after another; `result`: what it returned, after the last of them."""

    result: Result

    def __init__(self, work: Generator[Event, None, Result]) -> None:
        self._work = work

    def __iter__(self) -> Iterator[Event]:
        self.result = yield from self._work


def followed(work: Generator[Event, None, Result], tell: Callable[[Event], object]) -> Result:
    """Do work to its end, handing on each of its reports; what it returns."""
    reports = Reports(work)
    for event in reports:
        tell(event)
    return reports.result
