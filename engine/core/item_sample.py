"""ItemSample: this many items of a dataset, drawn by a seed; how they, or chosen ones, are called.

Knows: plain values that can be kept. Does not know: datasets, how items are drawn.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import SetupError
from engine.core.formatting import counted, named

DEFAULT_SEED = 0
LARGEST_SEED = 2**31 - 1  # what a field of the window can hold


def checked_seed(seed: int) -> int:
    """A seed that something can be drawn by; SetupError for any other number."""
    if not 0 <= seed <= LARGEST_SEED:
        raise SetupError(f"The seed is {seed}.", f"Use 0 to {LARGEST_SEED:,}.")
    return seed


@dataclass(frozen=True)
class ItemSample:
    """`items` drawn by a `seed`: from all alike, or, by a column, as evenly over its values as can be.

    SetupError for numbers that nothing can be drawn with.
    """

    items: int
    seed: int = DEFAULT_SEED
    by: str = ""

    def __post_init__(self) -> None:
        if self.items < 1:
            raise SetupError(f"The sample size is {self.items}.", "Use 1 or more.")
        checked_seed(self.seed)

    @property
    def how(self) -> str:
        """How they are drawn: `at random, seed 0`, `evenly over subset, seed 0`."""
        return f"{f'evenly over {named(self.by)}' if self.by else 'at random'}, seed {self.seed}"

    def of(self, dataset: str) -> str:
        """What is judged, for users: `100 items of demo.tsv at random, seed 0`."""
        return f"{counted(self.items, 'item', 'items')} of {dataset} {self.how}"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: object) -> "ItemSample | None":
        """What `as_json` gave; None for anything else."""
        if not isinstance(values, Mapping):
            return None
        items, seed, by = (values.get(name) for name in ("items", "seed", "by"))
        if type(items) is not int or type(seed) is not int or not isinstance(by, str):
            return None
        with suppress(SetupError):
            return cls(items, seed, by)
        return None


def dataset_in_words(path: Path, chosen: int = 0, sample: ItemSample | None = None) -> str:
    """A dataset, or this many items that were chosen or drawn of it: `demo.tsv`, `5 chosen items of
    demo.tsv`, `100 items of demo.tsv at random, seed 0`.
    """
    if sample is not None:
        return sample.of(path.name)
    return f"{counted(chosen, 'chosen item', 'chosen items')} of {path.name}" if chosen else path.name
