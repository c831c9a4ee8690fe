"""The stopping rule of a run: until when items are judged.

Knows: the rules, their words. Does not know: how a result is tested.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from engine.core.errors import SetupError
from engine.core.item_sample import DEFAULT_SEED, checked_seed

SIGNIFICANT = "significant"
"""What is written on the command line for StoppingRule(width=None)."""
LEAST_WIDTH = 0.1  # points: with all answers alike it takes 6,000 instructions


@dataclass(frozen=True)
class StoppingRule:
    """Judge in a random order of instructions, by a `seed`, until the result is clear enough.

    `width`: until the interval of each candidate's win rate is at most this wide, in percentage points; None:
    until the difference of each two candidates is significant. SetupError for impossible numbers.
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

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    @classmethod
    def of_json(cls, values: object) -> "StoppingRule | None":
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
        """`until intervals are at most 10 points wide`, for instance."""
        if self.width is None:
            return "until it is significant which candidate is better"
        return f"until intervals are at most {self.width:g} points wide"
