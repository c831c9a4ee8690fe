"""The thresholds above which labels may stand, beside mapie's, on independent items.

    pip install mapie==1.6.0
    python -m bench.peers.mapie_oracle [--worlds N]

The p-values must be the same, and what passes mapie's fixed sequence at half of the risk must pass here. Ends
with 1 where it is otherwise. mapie is no dependency: it knows no instructions, and takes 7 seconds to import.
"""

import argparse
import sys
from importlib import import_module

import numpy as np

from engine.metrics.trust import JudgedConfidence, Promise, Trust, TrustSample

_LABELS, _JUDGED = 200, 2000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.peers.mapie_oracle", description=__doc__)
    parser.add_argument("--worlds", type=int, default=200)
    worlds = parser.parse_args().worlds
    p_values = import_module("mapie.risk_control.methods").compute_hoeffding_bentkus_p_value
    control = import_module("mapie.risk_control.fwer_control").control_fwer
    promise, furthest, one_more, fewer = Promise(0.8, 0.1), 0.0, 0, 0
    for seed in range(worlds):
        random = np.random.default_rng(seed)
        confidence = random.random(_JUDGED)
        drawn = random.choice(_JUDGED, _LABELS, replace=False)
        agreement = (random.random(_LABELS) < 0.65 + 0.3 * confidence[drawn]).astype(np.float64)
        part = TrustSample(confidence[None, drawn], agreement[None], drawn.tolist())
        ours = Trust.of(JudgedConfidence(confidence[None], list(range(_JUDGED))), part, promise)
        risks, counts, found = [], [], []
        for each in ours.thresholds:
            if each.level is not None and each.agreement is not None:
                risks.append(1 - each.agreement.value)
                counts.append(each.labels)
                found.append(each)
        theirs = p_values(np.array(risks), np.array(counts), 1 - promise.target, binary=True)[:, 0]
        for each, risk, their_p in zip(found, risks, theirs, strict=True):
            # Its ceil(n r) is one too high where rounding makes n r a little more than a whole number.
            if np.ceil(each.labels * risk) > round(each.labels * risk):
                one_more += 1
            else:
                furthest = max(furthest, abs(each.p - float(their_p)))
        passed = control(theirs, promise.risk / 2, "fixed_sequence")
        fewer += any(not found[place].passed for place in passed)
    print(f"{worlds} worlds: p-values differ by at most {furthest:.1e}; of {one_more} mapie counts one more;")
    print(f"in {fewer} something passes mapie's fixed sequence and not ours.")
    return 1 if furthest > 1e-9 or fewer else 0


if __name__ == "__main__":
    sys.exit(main())
