#!/bin/sh
# crowd-kit 1.4.2: where two votes stand against each other, MajorityVote takes the label that comes first in the
# alphabet, and then counts that against the annotator who said the other.
#
# The winner is pandas' idxmax over columns of sorted labels. Its documentation notes that equal votes always have the
# same result. With pairwise labels that is a preference: of two annotators who differ, "A" wins each time, and so the
# response shown first. `skills_`, the share of an annotator's labels that are those of the majority, follows.
#
# 40 pairs, two annotators: five times both say A, five times both B, 30 times Ann says A and Bob B. Seen: A wins 35
# of 40; skill 1.0 for Ann and .25 for Bob. With the labels "2" for A and "1" for B, B wins 35 and the skills are
# exchanged. With ties as halves both win 20, and both annotators agree with each other in 10 of 40. probas_ has the
# halves, and shows what happened. "both_bad" before "both_good" is decided so as well.
# It ends with 1 where anything of that is otherwise now.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check crowd-kit==1.4.2 pandas==2.2.3 numpy==1.26.4
"$folder/venv/bin/python" -W error - <<'PYTHON'
import sys

import pandas as pd
from crowdkit.aggregation import MajorityVote

VOTES = [("A", "A")] * 5 + [("B", "B")] * 5 + [("A", "B")] * 30
rows = [(task, who, label) for task, pair in enumerate(VOTES) for who, label in zip(("Ann", "Bob"), pair)]
votes = pd.DataFrame(rows, columns=["task", "worker", "label"])


def wins(named):
    """How many pairs A wins, and the annotators' skills, with the labels under other names."""
    made = MajorityVote().fit(votes.assign(label=votes["label"].map(named)))
    won, halves = int((made.labels_ == named["A"]).sum()), float(made.probas_[named["A"]].sum())
    skills = made.skills_.to_dict()
    print(f"A is {named['A']}, B is {named['B']}: A wins {won} of {len(VOTES)}, with halves {halves}; skills {skills}")
    return won, halves, skills["Ann"], skills["Bob"]


by_hand = sum(pair.count("A") / 2 for pair in VOTES)
as_usual, turned = wins({"A": "A", "B": "B"}), wins({"A": "2", "B": "1"})
unchanged = as_usual == (35, by_hand, 1.0, 0.25) and turned == (5, by_hand, 0.25, 1.0) and by_hand == 20
print("as seen" if unchanged else "otherwise than seen")
sys.exit(0 if unchanged else 1)
PYTHON
