"""Runs and measures that need a model as progress bars on stderr: what is done, the rate, the time left.

Knows: events and tqdm. Does not know: how anything is judged.
"""

import sys
import time
from collections import deque
from collections.abc import Generator
from typing import NoReturn, TypeVar

from tqdm import tqdm

from engine.commands.shared.console import printable, raw_stderr, tell
from engine.commands.shared.run_outputs import health_lines
from engine.core.events import (
    DeviceLeft,
    GroupUnderWay,
    HealthSeen,
    ItemJudged,
    JudgeEvent,
    MeasureProgress,
    ModelOpened,
    Preparing,
    RunEvent,
    RunStarted,
    TokensEvaluated,
    followed,
)
from engine.core.formatting import clipped, duration
from engine.core.health import Health

_BAR = "{n_fmt}/{total_fmt} items |{bar:24}| {elapsed} elapsed{postfix}"
_MEASURE_BAR = "{n_fmt}/{total_fmt} |{bar:24}| {elapsed} elapsed, {remaining} left"
_SECONDS_ON_SCREEN, _SECONDS_IN_A_LOG = 0.2, 30.0
_RATE_SECONDS = 30.0
_WORTH_TELLING = 2.0  # seconds of work; to lose less is better than to wait

Result = TypeVar("Result")


def show_measure(
    title: str, measure: Generator[MeasureProgress | JudgeEvent | Preparing, None, Result]
) -> Result:
    """Run a measure that needs a model to its end with a progress bar on stderr; its result."""
    bar: tqdm[NoReturn] | None = None

    def show(event: MeasureProgress | JudgeEvent | Preparing) -> None:
        nonlocal bar
        if isinstance(event, MeasureProgress):
            if bar is None:
                bar = _bar(event.total, event.done, f"{title}: {_MEASURE_BAR}")
            bar.update(event.done - bar.n)
        elif bar is not None:
            bar.update(0)  # the time goes on

    try:
        return followed(measure, show)
    finally:
        if bar is not None:
            bar.close()


def _bar(total: int, initial: int, shape: str) -> "tqdm[NoReturn]":
    return tqdm(
        total=total,
        initial=initial,
        file=raw_stderr(),
        bar_format=shape,
        mininterval=_SECONDS_ON_SCREEN if sys.stderr.isatty() else _SECONDS_IN_A_LOG,
    )


class RunProgressBar:
    """Shows each event of one run; use it in a `with` block."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None
        self._items = self._judged = self._unscored = 0
        self._spans: deque[tuple[float, int]] = deque()
        self._tokens = 0
        self._group: GroupUnderWay | None = None
        self._told = 0.0
        self._warned = False

    def __enter__(self) -> "RunProgressBar":
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def loss_of_a_stop(self) -> str:
        """What a stop would lose and when it would lose nothing; empty for hardly anything."""
        if self._group is None:
            return ""
        group = self._group.after(time.monotonic() - self._told)
        return "" if group.seconds < _WORTH_TELLING else _stops_after(group)

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        if isinstance(event, RunStarted):
            self._greet(event)
        elif isinstance(event, ModelOpened):
            self._start(event)
        elif isinstance(event, TokensEvaluated):
            self._count(event.tokens)
        elif isinstance(event, GroupUnderWay):
            self._group, self._told = event, time.monotonic()
        elif isinstance(event, HealthSeen):
            self._warn(event.health)
        elif isinstance(event, DeviceLeft):
            tell(printable(event.in_words))
        elif isinstance(event, ItemJudged):
            self._group = None
            self._unscored += len(event.judged.unscored)
            if self._bar is not None:
                self._bar.update()

    def _greet(self, event: RunStarted) -> None:
        self._items, self._judged = event.items, event.judged
        if event.judged == event.items:
            tell(f"Run {event.run_id} is complete in the store: nothing is judged again.")
        elif event.judged:
            tell(f"Run {event.run_id} goes on: {event.judged} of {event.items} items are judged already.")

    def _start(self, event: ModelOpened) -> None:
        if event.note:
            tell(event.note)
        self._bar = _bar(self._items, self._judged, _BAR)
        self._spans.append((time.monotonic(), 0))

    def _warn(self, health: Health) -> None:
        """Say it once, early: at the end the run's own report does."""
        if health.doubted and not self._warned and self._bar is not None and self._bar.n < self._items:
            self._warned = True
            self._bar.write(health_lines(health), file=sys.stderr)

    def _count(self, tokens: int) -> None:
        """The rate over the last half minute, so that it follows the load of the computer."""
        if self._bar is None:
            return
        now = time.monotonic()
        self._tokens += tokens
        self._spans.append((now, tokens))
        while len(self._spans) > 2 and now - self._spans[1][0] > _RATE_SECONDS:
            self._spans.popleft()
        began = self._spans[0][0]
        counted = sum(tokens for _, tokens in list(self._spans)[1:])
        rate = f"{self._tokens:,} tokens, {counted / max(now - began, 1e-9):,.0f}/s"
        self._bar.set_postfix_str(", ".join([*self._how_far(), rate, *self._missing()]), refresh=False)
        self._bar.update(0)

    def _how_far(self) -> list[str]:
        """The time that is left, and what is judged now, as far as they are known."""
        group = self._group
        if group is None:
            return []
        left = group.run_seconds_left
        known = [] if left is None else [f"about {duration(left)} left"]
        if group.writing:
            return [*known, "writing"]
        return [*known, f"item {clipped(printable(group.item_id))}: {group.done:,} of {group.total:,}"]

    def _missing(self) -> list[str]:
        return [f"{self._unscored} unscored"] if self._unscored else []


def _stops_after(group: GroupUnderWay) -> str:
    """That the run stops after a group, and what would be lost before."""
    return f"{group.ending_in_words} {group.loss_in_words}"
