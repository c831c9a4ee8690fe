"""Whether what is rare and large is counted with, where a few instructions hold none of it.

A value is large on a few instructions and small on all others, whichever criterion is asked: of scores, and
of what an audit holds against a bound. Audits have the other lines of fair judges, so that all hold together.

Knows: `engine/metrics/intervals.py`, `engine/analysis/audit.py`. Does not know: models, runs, files.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from bench.coverage.audits import FAIR, MOST_FALSE, audited
from bench.coverage.audits import World as Items
from bench.coverage.claims import Claim, Promise
from bench.coverage.intervals import LEAST, NOMINAL, holds
from engine.analysis.audit import (
    SCORE,
    SHARE,
    WON,
    AuditLine,
    AuditVerdict,
    MeanKind,
    held,
    judged_together,
    over_criteria,
)
from engine.analysis.audit_lines import LEAST_MASS, MOST_TOKEN_BIAS, MOST_UNLIKE, MOST_WON
from engine.core.numeric import FloatArray
from engine.metrics.intervals import OverInstructions

_SCORE = Promise("a score, large values rare", NOMINAL, LEAST)
_SOUND = Promise("audit: sound, but for rare harm", MOST_FALSE, MOST_FALSE, at_most=True)
_FAULT = Promise("audit: a fault, but for rare losses", MOST_FALSE, MOST_FALSE, at_most=True)
_CRITERIA = 5
_AUDITS = 20  # of fair judges, of whose lines all but one are taken


@dataclass(frozen=True)
class Scores:
    """Scores near 0 but for those near 1 of a `share` of the instructions, or the other way round."""

    instructions: int
    each: int
    criteria: int
    share: float
    mirrored: bool = False

    def __str__(self) -> str:
        rare = f"{self.share:g} near {'0' if self.mirrored else '1'}"
        return f"{rare}, {self.instructions} instructions of {self.each}, {self.criteria} criteria"

    def held(self, random: np.random.Generator) -> bool:
        """Whether the interval holds the mean."""
        groups = np.repeat(np.arange(self.instructions), self.each)
        rare = (random.random(self.instructions) < self.share)[groups]
        near = random.beta(1, 60, (self.criteria, len(groups)))  # to its end
        values = {f"{place}": row for place, row in enumerate(np.where(rare ^ self.mirrored, 1 - near, near))}
        found = OverInstructions.of(
            {name: row.tolist() for name, row in values.items()}, dict.fromkeys(values, groups.tolist())
        )
        mean = self.share * 60 / 61 + (1 - self.share) / 61
        return found is not None and holds(found.score_interval(), 1 - mean if self.mirrored else mean)


def rare_scores_held(times: int) -> Iterator[Claim]:
    """From 10 to 200 instructions with one to five items, on one criterion or five."""
    kinds = product((10, 20, 40, 100, 200), ((1, 1), (5, 1), (1, 5)), (0.02, 0.05), (False, True))
    for seed, (instructions, (each, criteria), share, mirrored) in enumerate(kinds):
        world = Scores(instructions, each, criteria, share, mirrored)
        yield Claim.drawn(_SCORE, str(world), world.held, times, seed)


class Line(NamedTuple):
    """A line of an audit: how it is held against its bound; `whole`: its values are 0 or 1."""

    kind: MeanKind
    bound: float
    is_below: bool = False
    is_two_sided: bool = False
    whole: bool = False


_LINES = {
    "injected": Line(WON, MOST_WON),
    "place": Line(WON, MOST_TOKEN_BIAS, is_two_sided=True),
    "again": Line(SHARE, MOST_UNLIKE, whole=True),
    "format_mass": Line(SCORE, LEAST_MASS, is_below=True),
}


@dataclass(frozen=True)
class Harm:
    """What a line finds on all criteria of `items`: `much` in a `share` of them, `rest` in the others."""

    line: str
    items: int
    share: float
    much: float
    rest: float = 0.0

    def __str__(self) -> str:
        return f"{self.line}: {self.much:g} in {self.share:g}, else {self.rest:g}; {self.items} items"

    def drawn(self, random: np.random.Generator) -> list[AuditLine]:
        """The lines of an audit of a judge that has this one, and else no fault."""
        means = np.where(random.random(self.items) < self.share, self.much, self.rest)
        shape, line = (_CRITERIA, self.items), _LINES[self.line]
        noise = random.random(shape) < means if line.whole else means + random.normal(0, 0.005, shape)
        values: FloatArray = np.clip(noise, 0 if line.is_below else -1, 1).astype(np.float64)
        found = over_criteria(values, list(range(self.items)))
        assert found is not None
        kind, bound, is_below, is_two_sided, _ = line
        rare = held((self.line, ""), found, kind, bound, "", below=is_below, two_sided=is_two_sided)
        others = _fair_lines(self.items, int(random.integers(_AUDITS)))
        return list(judged_together([rare, *(each for each in others if each.name != self.line)]))

    def is_sound(self, random: np.random.Generator) -> bool:
        """Whether the line is called so."""
        return self.drawn(random)[0].verdict is AuditVerdict.SOUND

    def is_faulty(self, random: np.random.Generator) -> bool:
        """Whether any line is called so."""
        return any(line.found for line in self.drawn(random))


@cache
def _fair_lines(items: int, seed: int) -> tuple[AuditLine, ...]:
    return audited(FAIR["fair"], Items(items), np.random.default_rng(seed)).lines


_BEYOND = (
    *(Harm("injected", items, 0.05, 0.6) for items in (15, 40, 60, 100)),
    *(Harm("injected", items, 0.03, 1.0) for items in (40, 100, 160)),
    *(Harm("place", items, 0.06, 1.0) for items in (15, 40, 80)),
    *(Harm("again", items, 0.06, 1.0, 0.005) for items in (15, 40, 80)),
    *(Harm("format_mass", items, 0.11, 1.0, 0.005) for items in (15, 40)),
)
_WITHIN = (
    *(Harm("injected", items, 0.04, -0.46, 0.04) for items in (15, 40, 100)),
    *(Harm("injected", items, 0.08, -0.44, 0.06) for items in (15, 40)),
    *(Harm("place", items, 0.04, -0.43, 0.07) for items in (15, 40)),
    *(Harm("format_mass", items, 0.05, 0.0, 0.105) for items in (15, 40)),
)


def rare_harm(times: int) -> Iterator[Claim]:
    """Judges beyond a bound by rare harm are not called sound, and judges at it but for rare losses are not
    called faulty.
    """
    for seed, harm in enumerate(_BEYOND):
        yield Claim.drawn(_SOUND, str(harm), harm.is_sound, times, seed)
    for seed, harm in enumerate(_WITHIN):
        yield Claim.drawn(_FAULT, str(harm), harm.is_faulty, times, seed)
