#!/bin/sh
# evalica 0.4.2: one candidate that won every comparison levels the Bradley-Terry scores of all others, without a
# warning. So does one that lost every comparison.
#
# Three candidates meet 30 times; b leads with 15 of 20. Seen: scores of 2.10, .86 and .55 after 8 iterations. Then a
# fourth one meets each of them ten times and wins all of it: bradley_terry gives all four the score 1e-06, with both of
# its solvers and however many iterations are allowed. One loss of the fourth brings the three back: 14.9, .91,
# .34 and .22. A ranking sorted by such scores is in the order of the names as they were met.
#
# Maximum likelihood has no finite score for a candidate that never lost, so something has to be said or regularised.
# choix 0.4.1 says it, with an error. It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check evalica==0.4.2 choix==0.4.1
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys

import choix
from evalica import Winner, bradley_terry

PAIRS = [("b", "c", 7), ("c", "b", 3), ("c", "d", 6), ("d", "c", 4), ("b", "d", 8), ("d", "b", 2)]
UNBEATEN = [("a", other, 10) for other in "bcd"]
BEATEN = [(other, "z", 10) for other in "bcd"]


def scores(wins, **options):
    xs, ys = zip(*((winner, loser) for winner, loser, times in wins for _ in range(times)))
    made = bradley_terry(list(xs), list(ys), [Winner.X] * len(xs), **options)
    print(made.iterations, {name: float(f"{value:.3g}") for name, value in made.scores.items()})
    return made.scores


def spread(made):
    return max(made) / min(made)


alone, levelled = scores(PAIRS), [scores(PAIRS + UNBEATEN), scores(PAIRS + UNBEATEN, solver="naive")]
levelled += [scores(PAIRS + UNBEATEN, limit=10_000), scores(PAIRS + BEATEN)]
once = scores([*PAIRS, *UNBEATEN, ("b", "a", 1)])
try:
    names = "abcd"
    games = [(names.index(x), names.index(y)) for x, y, times in PAIRS + UNBEATEN for _ in range(times)]
    choix.ilsr_pairwise(4, games)
    said = "nothing"
except Exception as error:
    said = type(error).__name__
print("choix:", said)
same = spread(alone) > 3 and all(spread(each) < 1.001 for each in levelled) and spread(once) > 50
sys.exit(0 if same and said != "nothing" else 1)
PYTHON
