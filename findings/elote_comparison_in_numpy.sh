#!/bin/sh
# elote 1.5.1: an arena whose comparison answers with NumPy's True takes each win for a loss, and ranks the worst first.
#
# LambdaArena asks a function who wins: True, False, or None for a draw. It tests the answer with `is True`, and
# whatever is neither None nor that very object is a win of the second side. `quality[a] > quality[b]` over an array or
# a column of pandas gives numpy.bool_, which equals True and is not it. So every bout is lost by whoever stands first.
#
# Four candidates, each pair five times, the better one of each pair named first: in the order of their quality with
# bool(...), in the opposite order without. An int, 1 or 0, fares as badly. With 600 bouts of random sides nothing is
# left of the order: ratings of 370 to 455 instead of 100 to 1138. There is no warning and no error; the documentation
# says True and False, and not that equal values count otherwise.
# It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check elote==1.5.1 numpy==1.26.4
"$folder/venv/bin/python" -W error - 2>"$folder/progress" <<'PYTHON' || { tail -3 "$folder/progress"; exit 1; }
import sys
from itertools import combinations

import numpy as np
from elote import LambdaArena

QUALITY = np.array([0.9, 0.7, 0.4, 0.2])
BOUTS = [pair for pair in combinations(range(len(QUALITY)), 2) for _ in range(5)]


def ranked(better):
    arena = LambdaArena(better)
    arena.tournament(BOUTS)
    rows = sorted(arena.leaderboard(), key=lambda row: -row["rating"])
    print(better(0, 1).__class__, [(row["competitor"], round(row["rating"])) for row in rows])
    return [row["competitor"] for row in rows]


assert all(QUALITY[a] > QUALITY[b] for a, b in BOUTS)
right = ranked(lambda a, b: bool(QUALITY[a] > QUALITY[b]))
turned = [ranked(lambda a, b: QUALITY[a] > QUALITY[b]), ranked(lambda a, b: int(QUALITY[a] > QUALITY[b]))]
unchanged = right == [0, 1, 2, 3] and turned == [right[::-1]] * 2
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
