#!/bin/sh
# arena-rank 0.1.1, the ranking of the LMArena leaderboard: a verdict that is missing, or that it does not know, counts
# as a tie.
#
# PairDataset.from_pandas translates the column `winner` by a dictionary with model_a, model_b, tie and both_bad, and
# takes a half for anything else: None and NaN of a pair that was not judged or whose reply could not be read, "A", a
# model's name. Nothing is dropped, counted or refused.
#
# 100 pairs of which a wins 70: ratings 1074 and 926, [1036, 1111] for a. With 100 more pairs without a verdict: 1035,
# [1018, 1052], nearer to the other and half as wide, as if they had been judged. By hand, 400 log10(70 / 30) / 2 is
# 74 and 400 log10(120 / 80) / 2 is 35. With the same verdicts as "A" and "B", or as names: 1000 [1000, 1000] for both.
# So a judge that often fails makes systems look equal, and surely so. The documentation has no list of verdicts; a
# function of one's own (`outcome_map`) can refuse the others. It ends with 1 where anything of that is otherwise now.
# The file takes minutes, because JAX and much else has to be installed.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check arena-rank==0.1.1
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys
from math import log10

import numpy as np
import pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset

WON, LOST, OPEN = 70, 30, 100


def rated(name, first, second, more=()):
    """Rating and interval of system a, where `first` says that it won and `second` that the other did."""
    verdicts = [first] * WON + [second] * LOST + list(more)
    pairs = PairDataset.from_pandas(pd.DataFrame({"model_a": "a", "model_b": "b", "winner": verdicts}))
    made = BradleyTerry(len(pairs.competitors)).compute_ratings_and_cis(pairs)
    assert list(made["competitors"]) == ["a", "b"]
    of_a = [float(made[part][0]) for part in ("ratings", "rating_lower", "rating_upper")]
    print(f"{name}: {of_a[0]:.1f} [{of_a[1]:.0f}, {of_a[2]:.0f}]")
    return of_a


def by_hand(wins, losses):
    return 1000 + 200 * log10(wins / losses)


known = rated("model_a and model_b", "model_a", "model_b")
unjudged = [rated(f"and {OPEN} of {none}", "model_a", "model_b", [none] * OPEN) for none in (None, np.nan)]
others = [rated("A and B", "A", "B"), rated("the systems' names", "a", "b")]
ties = rated(f"and {OPEN} ties", "model_a", "model_b", ["tie"] * OPEN)
unchanged = (
    abs(known[0] - by_hand(WON, LOST)) < 0.5
    and abs(ties[0] - by_hand(WON + OPEN / 2, LOST + OPEN / 2)) < 0.5
    and unjudged == [ties, ties]
    and all(max(each) - min(each) < 1e-6 for each in others)
)
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
