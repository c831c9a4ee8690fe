"""A ranking: candidates by what was said of their comparisons, all that can be known of their order, and what
cannot.

Knows: which measures make a ranking. Does not know: formulas, how it is shown.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.cancel import CancelToken
from engine.core.errors import SetupError
from engine.core.events import MeasureProgress
from engine.core.formatting import counted, listed, percent, short_name
from engine.core.item_sample import DEFAULT_SEED
from engine.core.value_tables import Estimate
from engine.measure.intervals import FEW
from engine.rank.contests import PairComparisons, left_out_in_words
from engine.rank.lengths import LengthControl, length_control
from engine.rank.strengths import BradleyTerryScores, bradley_terry
from engine.rank.win_rates import WinRates, place_rate, win_rates

_MOST_CYCLES = _MOST_GROUPS = 3  # that are named
_NEARLY_ALL_TIES = 0.95


@dataclass(frozen=True, eq=False)
class Ranking:
    """`comparisons`: what it rests on. `bradley_terry`: None where comparisons do not hold all candidates
    together, or there are fewer than FEW instructions. `lengths`: None where lengths say nothing. `places`:
    how often the response that stood as A won.
    """

    comparisons: PairComparisons
    rates: WinRates
    bradley_terry: BradleyTerryScores | None
    lengths: LengthControl | None
    places: Estimate

    @property
    def order(self) -> list[str]:
        """The candidates, the best first: by Bradley-Terry score, else by win rate."""
        if self.bradley_terry is not None:
            return self.bradley_terry.order
        rates = self.rates.candidates
        return sorted(rates, key=lambda name: -rates[name].rate.value)

    @property
    def caveats(self) -> list[str]:
        """What this ranking cannot say, in sentences."""
        return [
            *self._few(),
            *self._apart(),
            *ties_caveat(self.bradley_terry),
            *self._cycles(),
            *self._unsaid(),
        ]

    def _few(self) -> Iterator[str]:
        known = self.comparisons.instructions[self.comparisons.known]
        instructions = len(np.unique(known))
        if instructions < FEW:
            labelled = counted(instructions, "instruction is", "instructions are")
            yield (f"{labelled} labelled; with fewer than {FEW} no candidate is called better than another.")
            return
        few = [name for name, rate in self.rates.candidates.items() if rate.few]
        if few:
            have = "has" if len(few) == 1 else "have"
            yield (
                f"{_named(few)} {have} comparisons on fewer than {FEW} instructions: too few for an estimate."
            )

    def _apart(self) -> Iterator[str]:
        groups = self.comparisons.labelled.components
        if len(groups) > 1:
            shown = "; ".join(map(_named, groups[:_MOST_GROUPS]))
            if len(groups) > _MOST_GROUPS:
                shown = f"{shown}; and {len(groups) - _MOST_GROUPS:,} more"
            yield (
                f"The candidates fall into {len(groups)} groups without a common opponent: {shown}."
                " Candidates of different groups cannot be compared; Bradley-Terry scores are omitted."
            )

    def _cycles(self) -> Iterator[str]:
        cycles = self.rates.cycles
        if not cycles:
            return
        shown = "; ".join(
            " over ".join(map(short_name, [*cycle, cycle[0]])) for cycle in cycles[:_MOST_CYCLES]
        )
        sure = sum(map(self.rates.is_sure, cycles))
        chance = (
            f"In {sure:,} of {len(cycles):,} each pair is significant (uncorrected): then no single order"
            " of the candidates is true."
            if sure
            else "None is significant: such cycles occur by chance."
        )
        run = "a cycle:" if len(cycles) == 1 else f"{len(cycles):,} cycles, such as"
        yield f"Win rates of pairs run in {run} {shown}. {chance}"

    def _unsaid(self) -> Iterator[str]:
        if self.comparisons.left_out:
            yield left_out_in_words(self.comparisons.left_out)
        unsaid = int(np.sum(~self.comparisons.known))
        if unsaid:
            items = counted(unsaid, "item has", "items have")
            yield f"{items} no label here and {'is' if unsaid == 1 else 'are'} omitted."
        ends = self.places.ends
        if ends is not None and not ends[0] <= 0.5 <= ends[1]:
            yield (
                f"The response in position A won {percent(self.places.value)}: positions decide some"
                " comparisons. The ranking is fair only if each candidate was A as often as B."
            )


def ties_caveat(found: BradleyTerryScores | None) -> list[str]:
    """A sentence where Bradley-Terry scores say little since the model takes nearly all for ties, else
    none.
    """
    if found is None or found.equals_tie < _NEARLY_ALL_TIES:
        return []
    return [
        "Use the win rates, not those against the mean: nearly all comparisons are ties, or a candidate"
        " never loses and often ties. In this case the Bradley-Terry model assumes that equal candidates"
        " nearly always tie."
    ]


def _named(names: Sequence[str]) -> str:
    return listed(names, shown=short_name)


def rank(
    comparisons: PairComparisons,
    seed: int = DEFAULT_SEED,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, Ranking]:
    """The ranking of the candidates of some comparisons; `seed`: of the draws of the bootstrap.

    Tells how many of these are done. Raises SetupError where nothing was said of any comparison; Cancelled.
    """
    known = comparisons.labelled
    if not len(known):
        raise SetupError(
            "No item with two candidates has a label here.",
            "Choose another criterion, or label items first.",
        )
    rates = win_rates(comparisons)
    enough = len(np.unique(known.instructions)) >= FEW and len(known.components) == 1
    found = (yield from bradley_terry(known, seed, cancel=cancel)) if enough else None
    return Ranking(comparisons, rates, found, length_control(comparisons), place_rate(comparisons))
