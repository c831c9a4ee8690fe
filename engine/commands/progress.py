"""A run's events as a progress bar on stderr: items, tokens per second, time left.

Knows: events and tqdm. Does not know: how anything is judged.
"""

import sys
import time
from collections import deque
from typing import NoReturn

from tqdm import tqdm

from engine.commands.console import tell
from engine.events import ItemJudged, ModelOpened, RunEvent, RunStarted, TokensEvaluated

_BAR = "{n_fmt}/{total_fmt} items |{bar:24}| {elapsed} elapsed, {remaining} left{postfix}"
_SECONDS_ON_SCREEN, _SECONDS_IN_A_LOG = 0.2, 30.0
_RATE_SECONDS = 30.0


class RunProgress:
    """Shows each event of one run; use it in a `with` block."""

    def __init__(self) -> None:
        self._bar: tqdm[NoReturn] | None = None
        self._items = self._judged = self._unscored = 0
        self._spans: deque[tuple[float, int]] = deque()

    def __enter__(self) -> "RunProgress":
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def show(self, event: RunEvent) -> None:
        """Show one event."""
        if isinstance(event, RunStarted):
            self._greet(event)
        elif isinstance(event, ModelOpened):
            self._start(event)
        elif isinstance(event, TokensEvaluated):
            self._count(event.tokens)
        elif isinstance(event, ItemJudged) and self._bar is not None:
            self._unscored += len(event.judged.unscored)
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
        self._bar = tqdm(
            total=self._items,
            initial=self._judged,
            file=sys.stderr,
            bar_format=_BAR,
            mininterval=_SECONDS_ON_SCREEN if sys.stderr.isatty() else _SECONDS_IN_A_LOG,
        )
        self._spans.append((time.monotonic(), 0))

    def _count(self, tokens: int) -> None:
        """The rate over the last half minute, so that it follows the load of the computer."""
        if self._bar is None:
            return
        now = time.monotonic()
        self._spans.append((now, tokens))
        while len(self._spans) > 2 and now - self._spans[1][0] > _RATE_SECONDS:
            self._spans.popleft()
        began = self._spans[0][0]
        counted = sum(tokens for _, tokens in list(self._spans)[1:])
        said = f"{counted / max(now - began, 1e-9):,.0f} tokens/s"
        if self._unscored:
            said += f", {self._unscored} unscored"
        self._bar.set_postfix_str(said, refresh=False)
        self._bar.update(0)
