#!/bin/sh
# irrCAC 0.4.4 and krippendorff 0.9.0: "Krippendorff's alpha" of "ordinal" ratings is two measures, and they can rank
# two pairs of judges in opposite order.
#
# Krippendorff's distance of two grades is how many ratings of the data lie between them, squared; krippendorff and
# evalica 0.4.2 have it. irrCAC puts Gwet's ordinal weights into alpha: they are made of the number of grades between
# the two, whatever the data. With `weights` at their default, and with "quadratic" beside "interval", the packages
# agree. irrCAC's documentation has the formula of its weights, calls the result Krippendorff's Alpha, and no more.
#
# 16 items, grades 1 to 5, two judges each. Seen for the pairs X and Y: .724 and .654 by Krippendorff's definition, .599
# and .723 by irrCAC, all without a warning. On Krippendorff's own example of four observers the two differ by .02. A
# paper that reports an ordinal alpha should name the package. It ends with 1 where that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check irrCAC==0.4.4 krippendorff==0.9.0 evalica==0.4.2
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys
from itertools import combinations
from math import comb

import evalica
import krippendorff
import numpy as np
import pandas as pd
from irrCAC.raw import CAC

X = [[3, 2, 5, 1, 5, 2, 3, 3, 3, 2, 3, 1, 4, 1, 3, 1], [5, 2, 4, 1, 3, 2, 4, 4, 5, 1, 2, 1, 4, 2, 5, 1]]
Y = [[1, 2, 1, 5, 2, 3, 2, 1, 1, 1, 5, 4, 1, 1, 1, 5], [1, 2, 3, 5, 1, 4, 1, 2, 1, 1, 4, 2, 1, 3, 1, 5]]
GRADES = range(1, 6)


def by_hand(judges, distance):
    """One minus the mean distance of two ratings of an item over that of two ratings of the data."""
    flat = [grade for row in judges for grade in row]
    counts = [flat.count(grade) for grade in GRADES]

    def mean(pairs):
        return np.mean([distance(min(pair), max(pair), counts) for pair in pairs])

    return 1 - mean(zip(*judges)) / mean(combinations(flat, 2))


def of_krippendorff(low, high, counts):
    return (sum(counts[low - 1 : high]) - (counts[low - 1] + counts[high - 1]) / 2) ** 2


def of_gwet(low, high, _counts):
    return comb(high - low + 1, 2)


def alphas(judges):
    values, frame = np.array(judges, dtype=float), pd.DataFrame(judges).T
    by_package = {
        "krippendorff": krippendorff.alpha(values, level_of_measurement="ordinal"),
        "evalica": evalica.alpha(pd.DataFrame(values), distance="ordinal").alpha,
        "irrCAC": CAC(frame, weights="ordinal").krippendorff()["est"]["coefficient_value"],
    }
    truths = [by_hand(judges, distance) for distance in (of_krippendorff, of_krippendorff, of_gwet)]
    print({name: round(float(value), 3) for name, value in by_package.items()}, "by hand:", np.round(truths, 3))
    return np.array([*by_package.values()]), np.array(truths)


(of_x, truth_x), (of_y, truth_y) = alphas(X), alphas(Y)
unchanged = np.abs(of_x - truth_x).max() < 2e-5 and np.abs(of_y - truth_y).max() < 2e-5
unchanged = unchanged and (of_x[:2] > of_y[:2] + 0.05).all() and of_x[2] < of_y[2] - 0.1
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
