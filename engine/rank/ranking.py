"""A ranking: candidates by what was said of their contests, all that can be known of their order, and what
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
from engine.core.item_sample import USUAL_SEED
from engine.core.value_tables import Estimate
from engine.measure.intervals import FEW
from engine.rank.contests import Contests, left_out_in_words
from engine.rank.lengths import LengthControl, length_control
from engine.rank.strengths import Strengths, strengths
from engine.rank.win_rates import WinRates, place_rate, win_rates

_MOST_CYCLES = _MOST_GROUPS = 3  # that are named
_NEARLY_ALL_TIES = 0.95


@dataclass(frozen=True, eq=False)
class Ranking:
    """`contests`: what it rests on. `strengths`: None where contests do not hold all candidates together, or
    there are fewer than FEW instructions. `lengths`: None where lengths say nothing. `places`: how often the
    response that stood as A won.
    """

    contests: Contests
    rates: WinRates
    strengths: Strengths | None
    lengths: LengthControl | None
    places: Estimate

    @property
    def order(self) -> list[str]:
        """The candidates, the best first: by strength, else by win rate."""
        if self.strengths is not None:
            return self.strengths.order
        rates = self.rates.candidates
        return sorted(rates, key=lambda name: -rates[name].rate.value)

    @property
    def caveats(self) -> list[str]:
        """What this ranking cannot say, in sentences."""
        return [*self._few(), *self._apart(), *ties_caveat(self.strengths), *self._cycles(), *self._unsaid()]

    def _few(self) -> Iterator[str]:
        known = self.contests.instructions[self.contests.known]
        instructions = len(np.unique(known))
        if instructions < FEW:
            labelled = counted(instructions, "instruction is", "instructions are")
            yield (
                f"{labelled} labelled; fewer than {FEW} say next to nothing: no candidate is called better"
                " than another."
            )
            return
        few = [name for name, rate in self.rates.candidates.items() if rate.few]
        if few:
            have = "has" if len(few) == 1 else "have"
            yield f"{_named(few)} {have} contests on fewer than {FEW} instructions: they say next to nothing."

    def _apart(self) -> Iterator[str]:
        groups = self.contests.labelled.components
        if len(groups) > 1:
            shown = "; ".join(map(_named, groups[:_MOST_GROUPS]))
            if len(groups) > _MOST_GROUPS:
                shown = f"{shown}; and {len(groups) - _MOST_GROUPS:,} more"
            yield (
                f"The candidates fall into {len(groups)} groups without a common opponent: {shown}. Nobody"
                " can say how candidates of two groups compare; strengths are left out."
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
            f"In {sure:,} of {len(cycles):,} each pair is sure, looked at alone: then no single order of the"
            " candidates is true."
            if sure
            else "None is sure: chance alone makes such circles."
        )
        run = "a circle:" if len(cycles) == 1 else f"{len(cycles):,} circles, such as"
        yield f"Win rates of pairs run in {run} {shown}. {chance}"

    def _unsaid(self) -> Iterator[str]:
        if self.contests.left_out:
            yield left_out_in_words(self.contests.left_out)
        unsaid = int(np.sum(~self.contests.known))
        if unsaid:
            items = counted(unsaid, "item has", "items have")
            yield f"{items} no label here and {'is' if unsaid == 1 else 'are'} left out."
        ends = self.places.ends
        if ends is not None and not ends[0] <= 0.5 <= ends[1]:
            yield (
                f"The response that stood as A won {percent(self.places.value)}: places decide some contests."
                " A ranking is fair only as far as each candidate stood as A as often as B."
            )


def ties_caveat(found: Strengths | None) -> list[str]:
    """A sentence where strengths say little since the model takes nearly all for ties, else none."""
    if found is None or found.equals_tie < _NEARLY_ALL_TIES:
        return []
    return [
        "Read the win rates, not what is won against the mean: nearly all contests are ties, or a candidate"
        " never loses and often ties. There the model of strengths takes equal candidates to tie nearly"
        " always."
    ]


def _named(names: Sequence[str]) -> str:
    return listed(names, shown=short_name)


def rank(
    contests: Contests,
    seed: int = USUAL_SEED,
    cancel: CancelToken | None = None,
) -> Generator[MeasureProgress, None, Ranking]:
    """The ranking of the candidates of some contests; `seed`: of the draws of the bootstrap.

    Tells how many of these are done. Raises SetupError where nothing was said of any contest; Cancelled.
    """
    known = contests.labelled
    if not len(known):
        raise SetupError(
            "No item with two candidates has a label here.",
            "Choose another criterion, or label items first.",
        )
    rates = win_rates(contests)
    enough = len(np.unique(known.instructions)) >= FEW and len(known.components) == 1
    found = (yield from strengths(known, seed, cancel=cancel)) if enough else None
    return Ranking(contests, rates, found, length_control(contests), place_rate(contests))
