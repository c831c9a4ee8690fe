"""The interval of a share, and how many independent values of 0 or 1 a mean is worth.

Loads SciPy when a share is first looked at, and not before: judging and the window begin without it.

Knows: numbers. Does not know: what was measured, which values belong together.
"""

import math
from collections.abc import Sequence

_UNSEEN = 2
"""Values next to those that were seen, wholly on one side: else a few that are equal would seem sure."""


def clopper_pearson(share: float, worth: float, tail: float = 0.025) -> tuple[float, float]:
    """Between what a share (0 to 1) lies that was found in `worth` independent values; `tail`: how probably
    it lies below, and above.

    Source: Clopper and Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of the
    Binomial (1934); `worth` need not be whole (Korn and Graubard 1998).
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - see above

    for_it = min(max(share, 0.0), 1.0) * worth
    against = worth - for_it
    low = float(betaincinv(for_it, against + 1, tail)) if for_it > 0 else 0.0
    high = float(betaincinv(for_it + 1, against, 1 - tail)) if against > 0 else 1.0
    return low, high


def chance_of_share(share: float, worth: float, bound: float) -> float:
    """How probable so large a share (0 to 1) of `worth` independent values is, were the true one `bound`.

    Below a tail just where the interval of that tail, as above, lies above the bound.
    """
    from scipy.special import betainc  # noqa: PLC0415 - see above

    for_it = min(max(share, 0.0), 1.0) * worth
    return float(betainc(for_it, worth - for_it + 1, bound)) if for_it > 0 else 1.0


def worth_of(values: Sequence[float]) -> float:
    """Of how many independent values of 0 or 1 the mean of these (0 to 1, one or more) is as sure.

    So many as there are, if they are 0 or 1 themselves; more, if they vary less.
    """
    count, mean = len(values), math.fsum(values) / len(values)
    spread = mean * (1 - mean)
    if spread <= 0:
        return count
    seen = math.fsum((value - mean) ** 2 for value in values)
    return count * spread * (count + _UNSEEN) / (seen + _UNSEEN * spread)
