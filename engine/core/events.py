"""What runs and other slow work report while they last, what is known of them by that, how they are stopped,
also by Ctrl-C and termination signals. Reports are frozen records, safe to send to another thread; flags that
stop work are shared between threads.
"""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any, Generic, TypeVar

from engine.core.errors import Hint
from engine.core.formatting import duration
from engine.core.health import Health
from engine.core.items import Preference
from engine.core.judgments import JudgedItem, Judgment, Unscored

Event = TypeVar("Event")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Preparing:
    """What is done before the first item: `Checking the model file`."""

    what: str


@dataclass(frozen=True)
class TuningStage:
    """What the search for the best settings does from now on; `number` of this many `stages`."""

    what: str
    number: int
    stages: int


@dataclass(frozen=True)
class Note:
    """Something that the user should know; a hint is worded by whoever shows it."""

    said: Hint | str


@dataclass(frozen=True)
class FilesRead:
    """Dataset and model are read, and the model fits this computer."""

    model: str
    model_notice: str  # what a model made for this program has to tell its users
    notices: tuple[Hint | str, ...]  # what the user should know of dataset, model and memory


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
    """Items that are judged together. `position`, `item_id`: the one that is read, or explained."""

    first: int  # place in the dataset, from 0
    last: int
    position: int
    item_id: str
    writing: bool  # an explanation
    done: int  # of its tokens in one order, or those of all explanations of the group
    total: int  # of explanations a guess
    seconds: float  # what they took so far, and what a stop loses
    seconds_left: float | None  # until they are stored; None as long as that is not known
    run_seconds_left: float | None = None  # until the run ends

    def after(self, seconds: float) -> "GroupUnderWay":
        left = None if self.seconds_left is None else max(0.0, self.seconds_left - seconds)
        return replace(self, seconds=self.seconds + seconds, seconds_left=left)

    @property
    def items_in_words(self) -> str:
        """`the item judged now`, `the 2 items judged now`: ids may be long, and are no numbers."""
        items = self.last - self.first + 1
        return "the item judged now" if items == 1 else f"the {items:,} items judged now"

    @property
    def loss_in_words(self) -> str:
        kept = "" if self.seconds_left is None else f"; in about {duration(self.seconds_left)} it is stored"
        return f"Stopping now loses {duration(self.seconds)} of work on {self.items_in_words}{kept}."

    @property
    def ending_in_words(self) -> str:
        left = "" if self.seconds_left is None else f", in about {duration(self.seconds_left)}"
        return f"The run stops after {self.items_in_words}{left}."


@dataclass(frozen=True)
class LabelsRead:
    """A preview of what is decided of an item, by the orders that are read; `whole`: by all of them."""

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
    """One item is in the store; `judgments` as they are decided, in the order of the rubric."""

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
    run_id: int
    items: int
    judged: int
    stopped: bool  # before all items were judged, or all that its question needed
    open: int = 0  # how many answers, of those `asked` for, the items that are judged do not give
    asked: int = 0


@dataclass(frozen=True)
class MeasureProgress:
    """Slow work alongside a run: `done` of `total` items or explanations, those from before included."""

    done: int
    total: int


@dataclass(frozen=True)
class DeviceLeft:
    """A device failed in a run, which continues by the processor. `reason`: why, as a clause."""

    device: str
    reason: str

    @property
    def in_words(self) -> str:
        failed = f"{self.device} failed: {self.reason}."
        return f"{failed} The processor continues this run; all judgments are stored."


@dataclass(frozen=True)
class ClusterUnderWay:
    """Who judges a run on other computers now; about once a second."""

    workers: int  # that judge or could
    items: int  # that are handed out
    seconds_left: float | None


@dataclass(frozen=True)
class ClusterNews:
    """Something that the user should know of the workers of a run. `hint`: the next step, where any."""

    said: str
    hint: Hint | None = None


JudgeEvent = TokensEvaluated | GroupUnderWay | LabelsRead | Drafted
ClusterEvent = ClusterUnderWay | ClusterNews
StoredEvent = ItemJudged | HealthSeen | Resolved
RunEvent = RunStarted | ModelOpened | JudgeEvent | StoredEvent | DeviceLeft | ClusterEvent | RunEnded


@dataclass
class Reports(Generic[Event, Result]):
    """The reports of some work, one after another; `result`: what it returned, after the last of them."""

    work: Generator[Event, None, Result]
    result: Result = field(init=False)

    def __iter__(self) -> Iterator[Event]:
        self.result = yield from self.work


def followed(
    work: Generator[Event, None, Result], tell: Callable[[Event], object] = lambda _event: None
) -> Result:
    reports = Reports(work)
    for event in reports:
        tell(event)
    return reports.result


class Cancelled(Exception):
    """Raised where work stops because its CancelToken was set. Not an error: shown to nobody."""


class CancelToken:
    """A flag that any thread may set and any thread may ask; and one for work that may end what it began."""

    # Safe in a signal handler also where a second signal comes in its midst: the `set` of an Event holds a
    # lock, and would wait for itself. Ours is let go of by one call into C, which no handler interrupts.
    def __init__(self) -> None:
        self._requested = False
        self._soon = False
        self._shut = threading.Lock()
        self._shut.acquire()

    def end_soon(self) -> None:
        """Ask for the work to end where it loses nothing: what knows no such place continues."""
        self._soon = True

    @property
    def ending(self) -> bool:
        return self._soon or self._requested

    def cancel(self) -> None:
        self._requested = True
        self._open()

    @property
    def requested(self) -> bool:
        return self._requested

    def wait(self, seconds: float) -> bool:
        """Wait, on a thread with nothing else to do, until `cancel` was called; False after so long."""
        if not self._requested and self._shut.acquire(timeout=seconds):
            self._open()  # for the next one who waits
        return self._requested

    def raise_if_requested(self) -> None:
        if self._requested:
            raise Cancelled

    def _open(self) -> None:
        with suppress(RuntimeError):  # it was open
            self._shut.release()


@contextmanager
def interruptible(
    tell: Callable[[str], None],
    loss: Callable[[], str] = lambda: "",
    at_last: "signal.Handlers | Callable[[int, FrameType | None], Any]" = signal.SIG_DFL,
) -> Iterator[CancelToken]:
    """A token that Ctrl-C or a termination signal sets; a further Ctrl-C runs `at_last`. Where there is
    something to lose (`loss`, in words) the first lets work end soon, and the second stops it.
    """
    cancel = CancelToken()

    def stop(number: int, _frame: FrameType | None) -> None:
        lost = "" if cancel.ending or number != signal.SIGINT else loss()
        if lost:
            cancel.end_soon()
            text = f"{lost} Press Ctrl-C again to stop now."
        else:
            cancel.cancel()
            if number == signal.SIGINT:  # else an earlier Ctrl-C may arrive after the termination signal
                signal.signal(signal.SIGINT, at_last)
            text = "Stopping ..."
        # The signal may have come in the middle of another message, which must not be entered twice.
        with suppress(OSError, RuntimeError):
            tell(f"\n{text}")

    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform == "win32":
        numbers.append(signal.SIGBREAK)
    with _signals_noticed():
        before = {number: signal.signal(number, stop) for number in numbers}
        try:
            yield cancel
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _signals_noticed() -> Iterator[None]:
    """Start a thread that wakes when a signal comes, so that the main thread checks for signals."""
    # Python before 3.13 forgets a pending signal if the system delivers the next one to another thread.
    if sys.platform == "win32":  # there, a pending signal is never forgotten
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)

    def read_to_end() -> None:
        while os.read(reading, 4096):
            pass

    waking = threading.Thread(target=read_to_end, name="wakes at signals", daemon=True)
    waking.start()
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writing)
        waking.join()
        os.close(reading)


_RATE_SECONDS = 30.0


@dataclass(frozen=True)
class RunProgress:
    """How far a run is. None is what is not known."""

    run_id: int
    items: int
    judged: int  # items in the store
    judged_before: int  # in earlier sessions
    unscored: int = 0  # judgments of this session
    tokens: int = 0  # of this session
    tokens_per_second: float | None = None  # over the last half minute
    elapsed: float = 0.0  # seconds, as `left`
    left: float | None = None
    group: GroupUnderWay | None = None  # None between two groups


class RunFollower:
    """Is told what one run reports, and says at any time what that comes to."""

    def __init__(self, note: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.note = note  # what is done now, or what the user should know of the model
        self.health: Health | None = None
        self.cluster: ClusterUnderWay | None = None
        self.clear: list[str] = []  # what was found so far of what the run is to answer, in words
        self._clock = clock
        self._begun = clock()
        self._ended: float | None = None
        self._count: RunProgress | None = None
        self._group: tuple[float, GroupUnderWay] | None = None  # with when it was told
        self._left: tuple[float, float] | None = None  # when it was told, and the seconds
        self._spans: deque[tuple[float, int]] = deque()  # tokens, with when they were told

    @property
    def progress(self) -> RunProgress | None:
        """How far it is, or was at its end; None before its files and its model were found good."""
        if self._count is None:
            return None
        now = self._clock() if self._ended is None else self._ended
        group = self._group and self._group[1].after(now - self._group[0])
        left = self._left and max(0.0, self._left[1] - (now - self._left[0]))
        rate, elapsed = self._rate(now), now - self._begun
        return replace(self._count, tokens_per_second=rate, elapsed=elapsed, left=left, group=group)

    def follow(self, event: object) -> None:
        """Take in what the run reports; what says nothing of how far it is, is passed over."""
        now = self._clock()
        if isinstance(event, TokensEvaluated):
            self._spans.append((now, event.tokens))
            self._add(tokens=event.tokens)
        elif isinstance(event, ItemJudged):
            self._group = None
            self._add(judged=1, unscored=sum(isinstance(each, Unscored) for each in event.judgments))
        elif isinstance(event, GroupUnderWay):
            self._group = now, event
            self._tell_left(now, event.run_seconds_left)
        elif isinstance(event, ClusterUnderWay):
            self.cluster = event
            self._tell_left(now, event.seconds_left)
        elif isinstance(event, Preparing):
            self.note = f"{event.what} …"
        elif isinstance(event, RunStarted):
            self._start(event)
        elif isinstance(event, ModelOpened):
            self._spans.append((now, 0))
            self.note = event.note
        elif isinstance(event, HealthSeen):
            self.health = event.health
        elif isinstance(event, Resolved):
            self.clear.append(event.said)

    def end(self) -> None:
        self._ended = self._clock()
        self._group = self._left = None
        self.note = ""

    def _start(self, event: RunStarted) -> None:
        before = self._count or RunProgress(event.run_id, event.items, event.judged, event.judged)
        # Where a GPU failed the processor begins once more: what the GPU judged is of this session.
        self._count = replace(before, judged=event.judged)
        self._group = None

    def _add(self, judged: int = 0, unscored: int = 0, tokens: int = 0) -> None:
        if (old := self._count) is not None:
            judged, unscored, tokens = judged + old.judged, unscored + old.unscored, tokens + old.tokens
            self._count = replace(old, judged=judged, unscored=unscored, tokens=tokens)

    def _tell_left(self, now: float, seconds: float | None) -> None:
        if seconds is not None:
            self._left = now, seconds

    def _rate(self, now: float) -> float | None:
        while len(self._spans) > 2 and now - self._spans[1][0] > _RATE_SECONDS:
            self._spans.popleft()
        if len(self._spans) < 2:
            return None
        # Those of the first span were read before it was told: they lie outside.
        counted = sum(tokens for _, tokens in list(self._spans)[1:])
        return counted / max(now - self._spans[0][0], 1e-9)
