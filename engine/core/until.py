"""Until: a question that a run is to answer, and stop once it is answered.

Knows: what can be asked, its words. Does not know: how the answer is found.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from engine.core.errors import SetupError
from engine.core.item_sample import USUAL_SEED, checked_seed

SURE = "sure"
LEAST_WIDTH = 0.1  # points: with all answers alike it takes 6,000 instructions


@dataclass(frozen=True)
class Until:
    """Judge in a random order of instructions, by a `seed`, until it is clear what is asked.

    `width`: an interval no wider than so many points of a hundred, of each candidate's win rate; None: which
    of each two candidates is better. SetupError for numbers that cannot be.
    """

    width: float | None = None
    seed: int = USUAL_SEED

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        if self.width is not None and not LEAST_WIDTH <= self.width < 100:
            raise SetupError(
                f"The width of an interval is {self.width:g} points.",
                f"Use {LEAST_WIDTH} or more and less than 100: 10 is plus and minus 5 points.",
            )

    @classmethod
    def of_text(cls, text: str, seed: int = USUAL_SEED) -> "Until":
        """`sure`, or a width in points. SetupError for anything else."""
        if text.strip().casefold() == SURE:
            return cls(None, seed)
        with suppress(ValueError):
            width = float(text)
            if math.isfinite(width):
                return cls(width, seed)
        raise SetupError(
            f"A run cannot go on until {text!r}.",
            f"Use {SURE} (which of each two candidates is better), or a width in points, such as 10.",
        )

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: object) -> "Until | None":
        """What `as_json` gave; None for anything else."""
        if not isinstance(values, Mapping):
            return None
        width, seed = values.get("width"), values.get("seed")
        if type(seed) is not int or not (width is None or type(width) in (int, float)):
            return None
        with suppress(SetupError):
            return cls(width, seed)
        return None

    @property
    def in_words(self) -> str:
        """`until it is sure which candidate is better`, `until intervals are at most 10 points wide`."""
        if self.width is None:
            return "until it is sure which candidate is better"
        return f"until intervals are at most {self.width:g} points wide"
