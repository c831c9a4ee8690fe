"""Progress bars on stderr for runs and model measures: what is done, the rate, the time left.

Knows: events and tqdm. Does not know: how anything is judged.
"""

import sys
from collections.abc import Generator, Iterator
from typing import NoReturn, TypeVar

from tqdm import tqdm

from engine.commands.shared.console import printable, raw_stderr, tell
from engine.commands.shared.remedies import OPTIONS
from engine.commands.shared.run_outputs import health_lines
from engine.core.events import (
    ClusterNews,
    ClusterUnderWay,
    DeviceLeft,
    HealthSeen,
    ItemJudged,
    JudgeEvent,
    MeasureProgress,
    ModelOpened,
    Preparing,
    Resolved,
    RunEvent,
    RunStarted,
    TokensEvaluated,
    followed,
)
from engine.core.formatting import clipped, counted, duration
from engine.core.health import Health
from engine.core.run_follower import RunFollower, RunProgress

_BAR = "{n_fmt}/{total_fmt} items |{bar:24}| {elapsed} elapsed{postfix}"
_MEASURE_BAR = "{n_fmt}/{total_fmt} |{bar:24}| {elapsed} elapsed, {remaining} left"
_SECONDS_ON_SCREEN, _SECONDS_IN_A_LOG = 0.2, 30.0
_WORTH_TELLING = 2.0  # seconds of work; losing less is better than waiting

Result = TypeVar("Result")


def show_measure(
    title: str, measure: Generator[MeasureProgress | JudgeEvent | Preparing, None, Result]
) -> Result:
    """Run a long measure to its end with a progress bar on stderr; its result."""
    bar: tqdm[NoReturn] | None = None

    def show(event: MeasureProgress | JudgeEvent | Preparing) -> None:
        nonlocal bar
        if isinstance(event, MeasureProgress):
            if bar is None:
                bar = _bar(event.total, event.done, f"{title}: {_MEASURE_BAR}")
            bar.update(event.done - bar.n)
        elif bar is not None:
            bar.update(0)  # the elapsed time is refreshed

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
        mininterval=_SECONDS_ON_SCREEN if _is_seen() else _SECONDS_IN_A_LOG,
    )


def _is_seen() -> bool:
    """Whether someone sees stderr now: in a terminal, or in a notebook, which reports to be none."""
    return raw_stderr().isatty() or "ipykernel" in sys.modules


class RunProgressBar:
    """Shows each event of one run; use it in a `with` block."""

    def __init__(self) -> None:
        self._follower = RunFollower()
        self._bar: tqdm[NoReturn] | None = None
        self._warned = False

    def __enter__(self) -> "RunProgressBar":
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def loss_of_a_stop(self) -> str:
        """What a stop would lose, and when it would lose nothing; empty if it is little."""
        progress, cluster = self._follower.progress, self._follower.cluster
        if cluster is not None:
            judges = counted(cluster.workers, "worker judges", "workers judge")
            return f"The run stops after the items that {judges} now." if cluster.items else ""
        group = progress.group if progress is not None else None
        if group is None or group.seconds < _WORTH_TELLING:
            return ""
        return f"{group.ending_in_words} {group.loss_in_words}"

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        self._follower.follow(event)
        if isinstance(event, RunStarted):
            self._greet(event)
        elif isinstance(event, ModelOpened):
            self._start(event)
        elif isinstance(event, TokensEvaluated | ClusterUnderWay):
            self._refresh()
        elif isinstance(event, HealthSeen):
            self._warn(event.health)
        elif isinstance(event, Resolved):
            self._say(f"Resolved: {event.said}.")
        elif isinstance(event, ClusterNews):
            self._say(event.said if event.hint is None else f"{event.said} {OPTIONS.of(event.hint)}")
        elif isinstance(event, DeviceLeft):
            self._say(event.in_words)
        elif isinstance(event, ItemJudged) and self._bar is not None:
            self._bar.update()

    def _say(self, text: str) -> None:
        """Print above the bar, if there is one."""
        if self._bar is None:
            tell(printable(text))
        else:
            # To the bar's own stream: only there does tqdm clear the bar first.
            self._bar.write(printable(text), file=raw_stderr())

    def _greet(self, event: RunStarted) -> None:
        if event.judged == event.items:
            tell(f"Run {event.run_id} is complete in the store: nothing is judged again.")
        elif event.judged:
            tell(f"Run {event.run_id} is resumed: {event.judged} of {event.items} items are judged already.")

    def _start(self, event: ModelOpened) -> None:
        if event.note:
            tell(event.note)
        if (progress := self._follower.progress) is not None:
            self._bar = _bar(progress.items, progress.judged, _BAR)

    def _warn(self, health: Health) -> None:
        """Warn once, early; at the end the run's own report warns."""
        far = self._follower.progress
        goes_on = far is not None and far.judged < far.items
        if health.doubted and not self._warned and self._bar is not None and goes_on:
            self._warned = True
            self._bar.write(health_lines(health), file=raw_stderr())

    def _refresh(self) -> None:
        progress = self._follower.progress
        if self._bar is not None and progress is not None:
            self._bar.set_postfix_str(", ".join(self._how_far(progress)), refresh=False)
            self._bar.update(0)

    def _how_far(self, progress: RunProgress) -> Iterator[str]:
        """The time left, the current item, the speed: as far as they are known."""
        cluster, group = self._follower.cluster, progress.group
        if progress.left is not None:
            yield f"about {duration(progress.left)} left"
        if cluster is not None:
            yield counted(cluster.workers, "worker", "workers")
        elif group is not None and group.writing:
            yield "writing"
        elif group is not None:
            yield f"item {clipped(printable(group.item_id))}: {group.done:,} of {group.total:,}"
        yield f"{progress.tokens:,} tokens, {progress.tokens_per_second or 0:,.0f}/s"
        if progress.unscored:
            yield f"{progress.unscored} unscored"
