"""Arrays of log-probabilities: their types, and the softmax that makes scores into them.

The one module of the core that needs numpy. Knows: natural logarithms. Does not know: labels, models.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
"""Scores of tokens as a model computes them."""


def log_softmax(values: FloatArray | Logits) -> FloatArray:
    """Natural-log probabilities along the last axis, computed in 64 bits; shape kept."""
    exact: FloatArray = values.astype(np.float64, copy=False)
    shifted = exact - exact.max(axis=-1, keepdims=True)
    normalised: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised
