"""Rounds of work by several ways, as a table of ratios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.peers.ways import ObservedTask


@dataclass(frozen=True)
class Round:
    """What each way did with the same items. `share`: of llama.cpp's own speed that this program had."""

    items: int
    work: Mapping[str, ObservedTask]
    share: float


@dataclass(frozen=True)
class Spread:
    """A median, and between what it lies."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f})"


def spread(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values))


@dataclass(frozen=True)
class Bar:
    """How many times as fast as the best of some ways, each in its round, this program is to be."""

    title: str
    methods: tuple[str, ...]
    least: float

    def line(self, ours: str, rounds: Sequence[Round]) -> str:
        reached = spread(
            [
                min(each.work[method].seconds for method in self.methods) / each.work[ours].seconds
                for each in rounds
            ]
        )
        return _bar_line(self.title, reached, self.least)


def _bar_line(title: str, reached: Spread, least: float) -> str:
    verdict = "reached" if reached.median >= least else "NOT REACHED"
    return f"{title}: {reached}; at least {least:.2f}: {verdict}"


SHARE = 0.93


def table(ours: str, rounds: Sequence[Round], bars: Sequence[Bar]) -> list[str]:
    """A row for each way, and a line for each bar. `ours`: the way that the others are compared with."""
    items = sum(each.items for each in rounds)
    lines = [f"{'way':42}{'s an item':>10}{'read':>8}{'written':>9}   ours is as many times as fast"]
    for method in rounds[0].work:
        work = [each.work[method] for each in rounds]
        times = (
            ""
            if method == ours
            else str(spread([each.work[method].seconds / each.work[ours].seconds for each in rounds]))
        )
        lines.append(
            f"{method:42}{sum(each.seconds for each in work) / items:10.2f}"
            f"{sum(each.read for each in work) / items:8,.0f}"
            f"{sum(each.written for each in work) / items:9,.0f}   {times}".rstrip()
        )
    lines += [bar.line(ours, rounds) for bar in bars]
    return [
        *lines,
        _bar_line("share of llama.cpp's own speed", spread([each.share for each in rounds]), SHARE),
    ]
