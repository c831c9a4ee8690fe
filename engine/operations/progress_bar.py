"""A progress bar of a run, for terminals and notebooks: what is done, the rate, the time left. Does not know:
where it is shown, in whose words a hint is.
"""

import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, NoReturn, TextIO, TypeVar

from engine.core import events
from engine.core.errors import Hint
from engine.core.formatting import clipped, counted, duration, visible
from engine.core.health import Health
from engine.system.computer import Awake, KeepAwake, can_stay_awake

if TYPE_CHECKING:
    from tqdm import tqdm

_BAR = "{n_fmt}/{total_fmt} items |{bar:24}| {elapsed} elapsed{postfix}"
_SECONDS_ON_SCREEN, _SECONDS_IN_A_LOG = 0.2, 30.0
_MAY_SLEEP = "The computer may go to sleep: no program to keep it awake was found."
_WORTH_TELLING = 2.0  # seconds of work; losing less is better than waiting
Result = TypeVar("Result")


def new_bar(stream: TextIO, total: int | None, initial: int, shape: str) -> "tqdm[NoReturn]":
    """A bar on a stream, drawn often where someone sees it."""
    from tqdm import tqdm  # noqa: PLC0415 - many commands draw none

    # A notebook reports to be no terminal.
    seen = stream.isatty() or "ipykernel" in sys.modules
    seconds = _SECONDS_ON_SCREEN if seen else _SECONDS_IN_A_LOG
    return tqdm(total=total, initial=initial, file=stream, bar_format=shape, mininterval=seconds)


class RunProgressBar:
    """Shows each event of one run. `tell`: where there is no bar; `word`: words a hint."""

    def __init__(
        self, stream: Callable[[], TextIO], tell: Callable[[str], None], word: Callable[[Hint | str], str]
    ) -> None:
        self._stream, self._tell, self._word = stream, tell, word
        self._follower = events.RunFollower()
        self._bar: tqdm[NoReturn] | None = None
        self._warned = False

    def to_its_end(self, work: Generator[events.RunEvent, None, Result], keep_awake: KeepAwake) -> Result:
        if keep_awake is KeepAwake.YES and not can_stay_awake():
            self._tell(_MAY_SLEEP)

        def show(event: events.RunEvent) -> None:
            awake.refresh()
            self.show(event)

        try:
            with Awake(keep_awake) as awake:
                return events.followed(work, show)
        finally:
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

    def follow(self, event: events.RunEvent) -> None:
        """Take in an event without showing it."""
        self._follower.follow(event)

    def show(self, event: events.RunEvent) -> None:
        self.follow(event)
        match event:
            case events.RunStarted() if event.judged == event.items:
                self._tell(f"Run {event.run_id} is complete in the store: nothing is judged again.")
            case events.RunStarted() if event.judged:
                far = f"{event.judged} of {event.items} items are judged already."
                self._tell(f"Run {event.run_id} is resumed: {far}")
            case events.ModelOpened():
                if event.note:
                    self._tell(event.note)
                if (progress := self._follower.progress) is not None:
                    self._bar = new_bar(self._stream(), progress.items, progress.judged, _BAR)
            case events.TokensEvaluated() | events.ClusterUnderWay():
                progress = self._follower.progress
                if self._bar is not None and progress is not None:
                    self._bar.set_postfix_str(", ".join(self._how_far(progress)), refresh=False)
                    self._bar.update(0)
            case events.HealthSeen():
                self._warn(event.health)
            case events.Resolved():
                self._say(f"Resolved: {event.said}.")
            case events.ClusterNews():
                self._say(event.said if event.hint is None else f"{event.said} {self._word(event.hint)}")
            case events.DeviceLeft():
                self._say(event.in_words)
            case events.ItemJudged() if self._bar is not None:
                self._bar.update()

    def _warn(self, health: Health) -> None:
        """Once and early; at the end the run's own report warns."""
        now = self._follower.progress
        goes_on = now is not None and now.judged < now.items
        if health.doubted and not self._warned and self._bar is not None and goes_on:
            self._warned = True
            self._say("\n".join(health.sentences(self._word)))

    def _say(self, text: str) -> None:
        if self._bar is None:
            self._tell(visible(text))
        else:
            # To the bar's own stream: only there does tqdm clear the bar first.
            self._bar.write(visible(text), file=self._stream())

    def _how_far(self, progress: events.RunProgress) -> Iterator[str]:
        """The time left, the current item, the speed: as far as they are known."""
        cluster, group = self._follower.cluster, progress.group
        if progress.left is not None:
            yield f"about {duration(progress.left)} left"
        if cluster is not None:
            yield counted(cluster.workers, "worker", "workers")
        elif group is not None and group.writing:
            yield "writing"
        elif group is not None:
            yield f"item {clipped(visible(group.item_id))}: {group.done:,} of {group.total:,}"
        yield f"{progress.tokens:,} tokens, {progress.tokens_per_second or 0:,.0f}/s"
        if progress.unscored:
            yield f"{progress.unscored} unscored"
