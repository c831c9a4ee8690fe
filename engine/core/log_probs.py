"""Arrays of log-probabilities: their types, and the softmax that makes scores into them.

The one module of the core that needs numpy. Knows: natural logarithms. Does not know: labels, models.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Logits = npt.NDArray[np.float32]
"""Scores of tokens as a model computes them."""

ROUNDING_ON_AVERAGE, ROUNDING_AT_WORST = 0.08, 0.25
"""How far rounding alone may move probabilities (total variation distance, 0 to 1), on average and at the
worst place, where nobody measured it: what a device may be away from the processor to pass its trial, and
what two runs must be beyond to differ in more than arithmetic.

Twice what a small model gave where the processor read the same weights in their format and unpacked to F16,
as a GPU does: .023 to .038 on average, .05 to .11 at the worst place (SmolLM2-135M-Instruct, six formats). In
natural logarithms: log-probabilities that differ by at most d are at most tanh(d / 2) apart, so .08 are
reached by .16 and .25 by .51.
"""


def log_softmax(values: FloatArray | Logits) -> FloatArray:
    """Natural-log probabilities along the last axis, computed in 64 bits; shape kept."""
    exact: FloatArray = values.astype(np.float64, copy=False)
    shifted = exact - exact.max(axis=-1, keepdims=True)
    normalised: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised
