#!/bin/sh
# judgy 0.1.0: its confidence interval of a success rate does not depend on how many outputs were judged.
#
# The rate that a judge reports is corrected by its true positive and true negative rate on labelled items, and the
# interval is a bootstrap. It draws the labelled items alone; the share of passes among the other outputs is taken as
# known. With a perfect judge the interval has no width at all: six passes of ten outputs give 60 % [60 %, 60 %], where
# a plain interval for six of ten is 26 % to 88 %.
#
# A judge that finds 95 % of 500 passes and 90 % of 500 failures, and passes 65 % of the outputs: 64.7 %
# [62.9 %, 66.5 %] for 40 outputs, and the same for 400 and for 4,000. By the delta method it is [47 %, 82 %] for 40 and
# [59 %, 70 %] for 400. In 150 draws of such data with 40 outputs, the 95 % interval held the true rate 21 times. The
# documentation has the bootstrap "to quantify uncertainty in the estimate", and does not say of what.
# It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check judgy==0.1.0 numpy==1.26.4
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys

import numpy as np
from judgy import estimate_success_rate

np.random.seed(1)
FINDS, CLEARS, EACH, TRUE_RATE = 0.95, 0.9, 500, 0.65


def labelled(passes, failures, found, cleared):
    verdicts = [1] * found + [0] * (passes - found) + [0] * cleared + [1] * (failures - cleared)
    return [1] * passes + [0] * failures, verdicts


def outputs(passes, of):
    return [1] * passes + [0] * (of - passes)


def by_hand(share, of):
    """The same estimate with the variance of all three shares."""
    slope = FINDS + CLEARS - 1
    rate = (share + CLEARS - 1) / slope
    variance = share * (1 - share) / of
    variance += rate**2 * FINDS * (1 - FINDS) / EACH + (1 - rate) ** 2 * CLEARS * (1 - CLEARS) / EACH
    half = 1.96 * variance**0.5 / slope
    return rate - half, rate + half


perfect = estimate_success_rate(*labelled(50, 50, 50, 50), outputs(6, 10), bootstrap_iterations=1000)
print("a perfect judge, 6 of 10:", np.round(perfect, 3))
usual = labelled(EACH, EACH, 475, 450)
widths = []
for of in (40, 400, 4000):
    made = estimate_success_rate(*usual, outputs(round(0.65 * of), of), bootstrap_iterations=4000)
    widths.append(made[2] - made[1])
    print(f"{of} outputs:", np.round(made, 3), "by hand:", np.round(by_hand(0.65, of), 3))
held = 0
for _ in range(150):
    labels = labelled(EACH, EACH, np.random.binomial(EACH, FINDS), np.random.binomial(EACH, CLEARS))
    passes = np.random.binomial(40, TRUE_RATE * FINDS + (1 - TRUE_RATE) * (1 - CLEARS))
    _, low, high = estimate_success_rate(*labels, outputs(passes, 40), bootstrap_iterations=200)
    held += low <= TRUE_RATE <= high
print(f"the 95 % interval for 40 outputs held the true rate in {held} of 150 draws")
low, high = by_hand(0.65, 40)
unchanged = perfect[2] - perfect[1] < 1e-9 and max(widths) < 1.1 * min(widths) < 0.05 < (high - low) / 5 and held < 75
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
