#!/bin/sh
# openskill 6.2.0: predict_draw does not know how often anything was drawn, and does not go with predict_win.
#
# The probability of a draw is that of a difference within a margin, and the margin comes from the number of players
# alone: 1 / 2 for two, as if two equal players drew every second game. It is neither learnt nor a parameter, unlike
# TrueSkill's draw_probability. The documentation calls the result the odds of a draw and that of predict_win the
# odds of a win; the latter add up to 1 without a draw.
#
# 200 comparisons of two systems that win in turn, none tied: win .484 and .516, draw .465. 200 comparisons that are all
# ties: win .5 and .5, draw .465. Another model of the package (Thurstone-Mosteller) gives .481 and .485. The margin is
# beta sqrt(2) z(.75), with z the normal quantile: computed with it by hand, the same. For two equals that are well
# known it goes to 1 / 2, so a judge that ties in one of 20 pairs is predicted to do so in every second.
# It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openskill==6.2.0
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys
from statistics import NormalDist

from openskill.models import PlackettLuce, ThurstoneMostellerFull

NORMAL = NormalDist()


def predicted(name, model, ranks):
    """What is predicted of two systems after 200 comparisons, whose ranks are given in turn."""
    first, second = model.rating(), model.rating()
    for number in range(200):
        [first], [second] = model.rate([[first], [second]], ranks=list(ranks[number % len(ranks)]))
    pair = [[first], [second]]
    wins, draw = model.predict_win(pair), model.predict_draw(pair)
    margin = 2**0.5 * model.beta * NORMAL.inv_cdf(0.75)
    spread = (2 * model.beta**2 + first.sigma**2 + second.sigma**2) ** 0.5
    apart = first.mu - second.mu
    by_hand = NORMAL.cdf((margin - apart) / spread) - NORMAL.cdf((-margin - apart) / spread)
    print(f"{name}: wins {wins[0]:.3f} {wins[1]:.3f}, draw {draw:.3f} ({by_hand:.3f}), sum {sum(wins) + draw:.3f}")
    return sum(wins), draw, by_hand


made = []
for model in (PlackettLuce, ThurstoneMostellerFull):
    made.append(predicted(f"{model.__name__}, no tie", model(), [(0, 1), (1, 0)]))
    made.append(predicted(f"{model.__name__}, ties only", model(), [(0, 0)]))
unchanged = all(abs(wins - 1) < 1e-9 and 0.4 < draw < 0.5 and abs(draw - hand) < 1e-6 for wins, draw, hand in made)
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
