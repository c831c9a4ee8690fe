"""Arrays of log-probabilities and of shares. SciPy is loaded with the first share, judging begins without."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Logits = npt.NDArray[np.float32]  # scores of tokens as a model computes them

ROUNDING_ON_AVERAGE, ROUNDING_AT_WORST = 0.08, 0.25
"""How far rounding alone may move probabilities (total variation distance, 0 to 1), on average and at the
worst place: what a device may be away from the processor to pass its trial, and what two runs must be beyond
to differ in more than arithmetic. Log-probabilities that differ by d at most are at most tanh(d / 2) apart:
.08 are reached by .16 and .25 by .51.
"""
# Twice what a small model gave where the processor read the same weights in their format and unpacked to F16,
# as a GPU does: .023 to .038 on average, .05 to .11 at the worst place (SmolLM2-135M-Instruct, six formats).


def log_softmax(values: FloatArray | Logits) -> FloatArray:
    """Natural-log probabilities along the last axis, computed in 64 bits; shape kept."""
    exact: FloatArray = values.astype(np.float64, copy=False)
    shifted = exact - exact.max(axis=-1, keepdims=True)
    normalised: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised


_UNSEEN = 2
"""Values next to those that were seen, wholly on one side: else a few that are equal would seem sure."""


def clopper_pearson(share: float, worth: float, tail: float = 0.025) -> tuple[float, float]:
    """Between what a share (0 to 1) lies that was found in `worth` independent values, which need not be
    whole (Korn and Graubard 1998); `tail`: how probably it lies below, and above. Source: Clopper and
    Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial (1934).
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - see above

    for_it = min(max(share, 0.0), 1.0) * worth
    against = worth - for_it
    low = float(betaincinv(for_it, against + 1, tail)) if for_it > 0 else 0.0
    high = float(betaincinv(for_it + 1, against, 1 - tail)) if against > 0 else 1.0
    return low, high


def chance_of_share(share: float, worth: float, bound: float) -> float:
    """How probable so large a share (0 to 1) of `worth` independent values is, were the true one `bound`."""
    from scipy.special import betainc  # noqa: PLC0415 - see above

    for_it = min(max(share, 0.0), 1.0) * worth
    return float(betainc(for_it, worth - for_it + 1, bound)) if for_it > 0 else 1.0


def worth_of(values: Sequence[float]) -> float:
    """Of how many independent values of 0 or 1 the mean of these (0 to 1, one or more) is as sure: as many as
    there are, if they are 0 or 1 themselves; more, if they vary less.
    """
    count, mean = len(values), math.fsum(values) / len(values)
    spread = mean * (1 - mean)
    if spread <= 0:
        return count
    seen = math.fsum((value - mean) ** 2 for value in values)
    return count * spread * (count + _UNSEEN) / (seen + _UNSEEN * spread)
