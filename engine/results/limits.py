"""The limits that a judge's measures are compared with, and when one of them is significantly beyond its
limit.

Knows: the uncertainty of a mean. Does not know: what is measured, in which words it is said.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.core.errors import Hint
from engine.core.health import Sign, Symptom
from engine.core.proportions import clopper_pearson, worth_of


@dataclass(frozen=True)
class Limit:
    """Beyond where a measure (0 to 1) is a sign, and beyond where it alone says that the model did not judge.

    `serious`: None for what says too little. `below`: beyond is less than the limit.
    """

    look: float
    serious: float | None = None
    below: bool = False


# Where they come from: docs/how-it-judges.md, "Does the model judge?".
LIMITS: Mapping[Sign, Limit] = {
    Sign.UNSCORED: Limit(0.1, 0.5),
    Sign.ANSWER_MASS: Limit(0.9, 0.5, below=True),
    Sign.METHOD_MASS: Limit(0.9, below=True),
    Sign.FLIPPED: Limit(0.3, 0.5),
    Sign.ONE_LABEL: Limit(0.9, 0.95),
    Sign.UNEXPLAINED: Limit(0.05),
    Sign.REPEATED: Limit(0.1),
    Sign.CUT: Limit(0.2),
    Sign.NAMELESS: Limit(0.25),
}
UNCERTAINTY = 0.008
"""The significance level: how probable it may be that chance alone exceeds a limit.

A run is looked at up to ten times until it ends, and chance makes a sign at any of these in at most 5 % of
runs that are just within a limit: simulated in `bench/coverage/health.py`.
"""


@dataclass(frozen=True)
class Mean:
    """The mean of values from 0 to 1; `worth`: of how many independent ones of 0 or 1 it is as sure."""

    value: float
    worth: float

    def is_beyond(self, limit: float, below: bool) -> bool:
        """As it was measured."""
        return self.value < limit if below else self.value > limit

    def is_significantly_beyond(self, limit: float, below: bool, uncertainty: float) -> bool:
        """Also where chance brought it nearer than it is, but for this probability."""
        low, high = clopper_pearson(self.value, self.worth, uncertainty)
        return high < limit if below else low > limit


def mean_of(values: Sequence[float]) -> Mean:
    """Of one value or more, none of which says anything of another."""
    return Mean(math.fsum(values) / len(values), worth_of(values))


def looked_for(
    sign: Sign,
    measured: Mapping[str, Mean],
    text: Callable[[Mapping[str, float]], str],
    hint: Hint,
    may_be_serious: bool = True,
) -> Iterator[Symptom]:
    """The sign, where anything that was measured is beyond its limit, with what is so significantly, or else
    with what may be so by chance; `text`: what is said of that.
    """
    limit = LIMITS[sign]
    beyond = {name: mean for name, mean in measured.items() if mean.is_beyond(limit.look, limit.below)}
    # The more is measured, the more is beyond a limit by chance (Bonferroni).
    uncertainty = UNCERTAINTY / max(len(measured), 1)
    sure = {
        name: mean
        for name, mean in beyond.items()
        if mean.is_significantly_beyond(limit.look, limit.below, uncertainty)
    }
    values = {name: mean.value for name, mean in (sure or beyond).items()}
    if values:
        serious = bool(sure) and may_be_serious and _is_serious(measured.values(), limit)
        yield Symptom(sign, values, limit.look, serious, text(values), hint, sure=bool(sure))


def _is_serious(measured: Collection[Mean], limit: Limit) -> bool:
    """Whether most criteria are that bad: one alone may be ill-suited to the data."""
    if limit.serious is None:
        return False
    # Chance alone would have to do it on most of them: so none of it is divided among them.
    bad = sum(mean.is_significantly_beyond(limit.serious, limit.below, UNCERTAINTY) for mean in measured)
    return 2 * bad > len(measured)
