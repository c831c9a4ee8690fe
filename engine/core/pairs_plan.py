"""PairsPlan: which pairs are made out of the outputs of several candidates.

Knows: plain values. Does not know: outputs, how pairs are drawn.
"""

from dataclasses import dataclass

from engine.core.errors import SetupError
from engine.core.item_sample import DEFAULT_SEED, checked_seed


@dataclass(frozen=True)
class PairsPlan:
    """Which pairs are made: all, those with `baseline`, or `pairs` of either, drawn evenly by `seed`.

    SetupError for fewer than one pair, and a seed that nothing can be drawn by.
    """

    baseline: str | None = None
    pairs: int | None = None
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        checked_seed(self.seed)
        if self.pairs is not None and self.pairs < 1:
            raise SetupError(f"{self.pairs:,} pairs are requested.", "Request 1 or more.")

    def possible(self, candidates: int, instructions: int) -> int:
        """How many pairs there are of this many candidates that all answered this many instructions, without
        a number that is asked for.
        """
        others = candidates - 1
        met = others if self.baseline is not None else candidates * others // 2
        return met * instructions
