"""How long a worker may take for what it was given, before others are given it too.

Knows: times. Does not know: Dask, items.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """In seconds. `times`: as many times as long as a task usually takes a worker, at least `least`;
    `first`: while nothing is known of its speed. `scheduler`: without a word of it. `no_worker`: without any
    worker; `all_refuse`: with none but those that cannot judge.
    """

    times: float = 5.0
    least: float = 60.0
    first: float = 1800.0
    scheduler: float = 10.0
    no_worker: float = 600.0
    all_refuse: float = 5.0

    def limit(self, items: int, seconds_per_item: float | None) -> float:
        """For a task of so many items."""
        if seconds_per_item is None:
            return self.first
        return max(self.least, self.times * items * seconds_per_item)
