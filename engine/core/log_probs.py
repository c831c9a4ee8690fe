"""Arrays of log-probabilities: their types, and the softmax that makes scores into them.

The one module of the core that needs numpy. Knows: natural logarithms. Does not know: labels, models.
"""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


def log_softmax(values: FloatArray) -> FloatArray:
    """Natural-log probabilities along the last axis; shape kept."""
    shifted = values - values.max(axis=-1, keepdims=True)
    normalised: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return normalised
