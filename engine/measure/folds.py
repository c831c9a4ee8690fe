"""Cross-validation folds that keep all items with the same instruction together.

Knows: groups, scikit-learn's splitter. Does not know: labels, models, what is fitted.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from engine.core.log_probs import IntArray

Fold = tuple[IntArray, IntArray]

FOLDS = 10
LEAST_GROUPS = 2
_SEED = 0  # the same items make the same folds


def group_numbers(groups: Sequence[Hashable]) -> IntArray:
    """A number for each group, in order of first appearance, shape (items,)."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(group, len(numbers)) for group in groups], dtype=np.int64)


def grouped_folds(groups: Sequence[Hashable], folds: int = FOLDS) -> list[Fold]:
    """Train and test indices of at most `folds` folds; no group is on both sides. Each item is tested once.

    Fewer groups than `folds` make as many folds as groups. ValueError for fewer than LEAST_GROUPS groups.
    """
    numbers = group_numbers(groups)
    different = len(set(numbers.tolist()))
    if different < LEAST_GROUPS:
        raise ValueError(f"{different} different instructions: cross-validation needs {LEAST_GROUPS} or more")
    # What judging prints has groups and no folds, and scikit-learn takes a second to load.
    from sklearn.model_selection import GroupKFold  # noqa: PLC0415

    splitter = GroupKFold(n_splits=min(folds, different), shuffle=True, random_state=_SEED)
    return [(train, test) for train, test in splitter.split(numbers, groups=numbers)]
