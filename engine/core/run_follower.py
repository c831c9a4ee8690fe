"""What is known of a run while it lasts: how far it is, how fast, until when.

Knows: what a run reports, a clock. Does not know: who shows it, how anything is judged.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.core.events import (
    ClusterUnderWay,
    GroupUnderWay,
    HealthSeen,
    ItemJudged,
    ModelOpened,
    Preparing,
    Resolved,
    RunStarted,
    TokensEvaluated,
)
from engine.core.health import Health
from engine.core.judgments import Unscored

_RATE_SECONDS = 30.0


@dataclass(frozen=True)
class RunProgress:
    """How far the run with the number `run_id` is.

    `judged`: items in the store, `judged_before` of them from earlier sessions. `unscored`: judgments of
    this session that could not be made. `tokens`: read and written in it; `tokens_per_second`: over the last
    half minute, None where nothing was read yet. `elapsed`, `left`: seconds; None where it cannot be known
    yet. `group`: the items that are judged now, None between two groups.
    """

    run_id: int
    items: int
    judged: int
    judged_before: int
    unscored: int = 0
    tokens: int = 0
    tokens_per_second: float | None = None
    elapsed: float = 0.0
    left: float | None = None
    group: GroupUnderWay | None = None


class RunFollower:
    """Is told what one run reports, and says at any time what that comes to.

    `note`: what is done now, or what the user should know of the model; empty for nothing. `health`: of all
    that is judged, once that can be said. `cluster`: who judges, where other computers do.
    `clear`: what was found so far of what the run is to answer, in words.
    """

    def __init__(self, note: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.note = note
        self.health: Health | None = None
        self.cluster: ClusterUnderWay | None = None
        self.clear: list[str] = []
        self._clock = clock
        self._begun = clock()
        self._ended: float | None = None
        self._count: RunProgress | None = None
        self._group: tuple[float, GroupUnderWay] | None = None  # with when it was told
        self._left: tuple[float, float] | None = None  # when it was told, and the seconds
        self._spans: deque[tuple[float, int]] = deque()  # tokens, with when they were told

    @property
    def progress(self) -> RunProgress | None:
        """How far the run is, or was at its end; None before its files and its model were found good."""
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
        """The run has ended, however that was: from now on nothing changes."""
        self._ended = self._clock()
        self._group = self._left = None
        self.note = ""

    def _start(self, event: RunStarted) -> None:
        before = self._count or RunProgress(event.run_id, event.items, event.judged, event.judged)
        # Where a GPU failed the processor begins once more: what the GPU judged is of this session.
        self._count = replace(before, judged=event.judged)
        self._group = None

    def _add(self, judged: int = 0, unscored: int = 0, tokens: int = 0) -> None:
        if (count := self._count) is not None:
            self._count = replace(
                count,
                judged=count.judged + judged,
                unscored=count.unscored + unscored,
                tokens=count.tokens + tokens,
            )

    def _tell_left(self, now: float, seconds: float | None) -> None:
        if seconds is not None:
            self._left = now, seconds

    def _rate(self, now: float) -> float | None:
        """Tokens per second over the last half minute, so that it follows the load of the computer."""
        while len(self._spans) > 2 and now - self._spans[1][0] > _RATE_SECONDS:
            self._spans.popleft()
        if len(self._spans) < 2:
            return None
        # Those of the first span were read before it was told: they lie outside.
        counted = sum(tokens for _, tokens in list(self._spans)[1:])
        return counted / max(now - self._spans[0][0], 1e-9)
