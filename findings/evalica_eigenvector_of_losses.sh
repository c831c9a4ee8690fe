#!/bin/sh
# evalica 0.4.2: its eigenvector ranking puts the losers first.
#
# `eigen` ranks by the eigenvector of the table of wins, after Bonacich (1987): a win counts for more the stronger the
# beaten one is, s_i proportional to the sum over j of wins(i over j) s_j. The library multiplies by the transposed
# table instead, in Rust and in Python alike, so a candidate's score is the sum over those that beat it. `pagerank` of
# the same module needs that transposition, for its columns, and ranks rightly.
#
# a beat b 8 to 2 and c 9 to 1, b beat c 7 to 3. Seen: eigen gives c .79, b .56, a .25, sorted with the highest score
# first as all its rankings are; the eigenvector by hand is a .83, b .48, c .29. Exchanging winners and losers gives
# that. On the same comparisons counting, the mean win rate, Bradley-Terry, Elo and PageRank have the order a, b, c.
# The documentation says no more than that these are scores. It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check evalica==0.4.2
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys

import evalica
from evalica import Winner

WINS = {"ab": 8, "ba": 2, "ac": 9, "ca": 1, "bc": 7, "cb": 3}
GAMES = [pair for pair, times in WINS.items() for _ in range(times)]


def ranked(method, games=GAMES, **options):
    xs, ys = zip(*games)
    made = getattr(evalica, method)(list(xs), list(ys), [Winner.X] * len(games), **options).scores
    print(f"{method}:", {name: round(score, 3) for name, score in made.items()})
    return made


def by_hand():
    scores = dict.fromkeys("abc", 1.0)
    for _ in range(1000):
        sums = {x: sum(WINS[x + y] * scores[y] for y in "abc" if y != x) for x in "abc"}
        length = sum(each**2 for each in sums.values()) ** 0.5
        scores = {name: each / length for name, each in sums.items()}
    print("by hand:", {name: round(score, 3) for name, score in scores.items()})
    return scores


truth = by_hand()
turned = [ranked("eigen", solver=solver) for solver in ("pyo3", "naive")]
of_losses = ranked("eigen", [game[::-1] for game in GAMES])
others = [ranked(each) for each in ("counting", "average_win_rate", "bradley_terry", "elo", "pagerank")]
unchanged = (
    sorted(truth, key=truth.get) == ["c", "b", "a"]
    and all(list(each.index) == ["c", "b", "a"] for each in turned)
    and all(abs(of_losses[name] - truth[name]) < 1e-4 for name in "abc")
    and all(list(each.index) == ["a", "b", "c"] for each in others)
)
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
