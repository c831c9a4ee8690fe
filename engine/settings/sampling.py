"""Which items and pairs are judged: drawn by a seed, until something is clear, of all candidates."""

import math
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from engine.core.errors import SetupError
from engine.core.formatting import counted, named

DEFAULT_SEED = 0
LARGEST_SEED = 2**31 - 1  # what a field of the window can hold


def checked_seed(seed: int) -> int:
    if not 0 <= seed <= LARGEST_SEED:
        raise SetupError(f"The seed is {seed}.", f"Use 0 to {LARGEST_SEED:,}.")
    return seed


def hidden_place(item_id: str, seed: int) -> float:
    """Where an item lies between 0 and 1 when a share of a run's items is drawn whose judgments are hidden
    until they are labelled: those below the share. It does not depend on the order of the random sample.
    """
    drawn = sha256(f"hidden\0{seed}\0{item_id}".encode()).digest()
    return int.from_bytes(drawn[:6]) / 2**48


@dataclass(frozen=True)
class ItemSample:
    """`items` drawn by a `seed`, from all alike or evenly over a column. SetupError if impossible."""

    items: int
    seed: int = DEFAULT_SEED
    by: str = ""

    def __post_init__(self) -> None:
        if self.items < 1:
            raise SetupError(f"The sample size is {self.items}.", "Use 1 or more.")
        checked_seed(self.seed)

    @property
    def how(self) -> str:
        """`at random, seed 0`, `evenly over subset, seed 0`."""
        return f"{f'evenly over {named(self.by)}' if self.by else 'at random'}, seed {self.seed}"

    def of(self, dataset: str) -> str:
        return f"{counted(self.items, 'item', 'items')} of {dataset} {self.how}"


def dataset_in_words(path: Path, chosen: int = 0, sample: ItemSample | None = None) -> str:
    """`demo.tsv`, `5 chosen items of demo.tsv`, `100 items of demo.tsv at random, seed 0`."""
    if sample is not None:
        return sample.of(path.name)
    return f"{counted(chosen, 'chosen item', 'chosen items')} of {path.name}" if chosen else path.name


SIGNIFICANT = "significant"  # what is written on the command line for StoppingRule(width=None)
LEAST_WIDTH = 0.1  # points: with all answers alike it takes 6,000 instructions


@dataclass(frozen=True)
class StoppingRule:
    """Judge in a random order of instructions, by a `seed`, until the interval of each candidate's win rate
    is at most `width` percentage points wide; None: until the difference of each two candidates is
    significant. SetupError for impossible numbers.
    """

    width: float | None = None
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        if self.width is not None and not LEAST_WIDTH <= self.width < 100:
            raise SetupError(
                f"The width of an interval is {self.width:g} points.",
                f"Use {LEAST_WIDTH} or more and less than 100: 10 is plus and minus 5 points.",
            )

    @classmethod
    def of_text(cls, text: str, seed: int = DEFAULT_SEED) -> "StoppingRule":
        """`significant`, or a width in points. SetupError for anything else."""
        if text.strip().casefold() == SIGNIFICANT:
            return cls(None, seed)
        with suppress(ValueError):
            width = float(text)
            if math.isfinite(width):
                return cls(width, seed)
        raise SetupError(
            f"{text!r} is no stopping rule of a run.",
            f"Use {SIGNIFICANT} (for which of each two candidates is better), or an interval width in points,"
            " such as 10.",
        )

    @property
    def in_words(self) -> str:
        if self.width is None:
            return "until it is significant which candidate is better"
        return f"until intervals are at most {self.width:g} points wide"


@dataclass(frozen=True)
class PairsPlan:
    """Which pairs are made: all, those with `baseline`, or `pairs` drawn evenly by `seed`. SetupError."""

    baseline: str | None = None
    pairs: int | None = None
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        if self.pairs is not None and self.pairs < 1:
            raise SetupError(f"{self.pairs:,} pairs are requested.", "Request 1 or more.")

    def possible(self, candidates: int, instructions: int) -> int:
        """How many pairs there are of this many candidates that all answered this many instructions."""
        others = candidates - 1
        met = others if self.baseline is not None else candidates * others // 2
        return met * instructions
