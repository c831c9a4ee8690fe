#!/bin/sh
# statsmodels 0.15.0: for aggregate_raters a missing rating is a label of its own, on which raters agree.
#
# aggregate_raters makes the table of counts that fleiss_kappa reads. It finds the labels with numpy.unique, and so NaN
# becomes one more column. fleiss_kappa refuses items with unequal numbers of ratings, but with that column each item
# has the same number again. Judges fail together, on the long items or after a time-out, and that counts as agreement.
#
# Three judges on eight items, of which they agree on no more than chance: kappa 0. With four more items, on which
# eleven of twelve verdicts are missing: .415, "moderate" by the usual scale, where only one rating has been added and
# no pair of ratings. A data frame does the same. The documentation says nothing of missing ratings; Krippendorff's
# alpha, which allows them, stays as it was (krippendorff 0.9.0).
# It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check statsmodels==0.15.0 krippendorff==0.9.0
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys
from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

COMPLETE = [[1, 1, 2], [2, 2, 1], [1, 2, 1], [2, 1, 2], [1, 1, 1], [2, 2, 2], [1, 2, 2], [2, 1, 1]]
NONE = [np.nan] * 3
ratings = np.array([*COMPLETE, NONE, NONE, NONE, [np.nan, np.nan, 1]])


def by_hand(rows):
    """Fleiss' kappa: the share of pairs of ratings that are equal, beside what the shares of the labels would give."""
    pairs = [pair for row in rows for pair in combinations(row, 2)]
    flat = [label for row in rows for label in row]
    equal = sum(x == y for x, y in pairs) / len(pairs)
    chance = sum((flat.count(label) / len(flat)) ** 2 for label in set(flat))
    return (equal - chance) / (1 - chance)


def read(data):
    table, labels = aggregate_raters(data)
    kappa = fleiss_kappa(table)
    print(f"{len(data)} items, labels {labels}: kappa {kappa:.3f}")
    return kappa, len(labels)


alpha = [krippendorff.alpha(rows.T, level_of_measurement="nominal") for rows in (ratings[:8], ratings)]
print(f"by hand, of the complete items: {by_hand(COMPLETE):.3f}; alpha of 8 and of 12 items:", np.round(alpha, 3))
without, filled, framed = read(ratings[:8]), read(ratings), read(pd.DataFrame(ratings))
unchanged = (
    abs(by_hand(COMPLETE)) < 1e-12
    and abs(without[0]) < 1e-12
    and abs(alpha[0] - alpha[1]) < 1e-12
    and all(abs(kappa - 0.4153) < 1e-4 and labels == 3 for kappa, labels in (filled, framed))
)
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
