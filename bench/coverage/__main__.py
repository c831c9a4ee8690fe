"""Draw worlds whose truth is known, and count how often each thing the program says is so.

    python -m bench.coverage [--worlds N] [--only PART] [--all] [--again TIMES]

Ends with 1 where anything misses its bar. Knows: what is tried. Does not know: how.
"""

import argparse
import sys
from collections.abc import Callable, Iterator

from bench.coverage.audits import fair_judges_pass, faults_found
from bench.coverage.calibrations import false_gain, labels_kept, nothing_is_lost, place_decides
from bench.coverage.choosing import excess_held
from bench.coverage.claims import Claim, worst
from bench.coverage.correction import calibrated_held, shares_corrected, skipped_held, strengths_corrected
from bench.coverage.drift import (
    changes_held,
    losses_found,
    nothing_changed,
    rounding_is_no_change,
    small_changes_found,
)
from bench.coverage.heads import juries_received, labels_left
from bench.coverage.health import false_alarms, found
from bench.coverage.intervals import differences_held, false_better, means_held, scores_held, shares_held
from bench.coverage.leaks import leaks_kept_out
from bench.coverage.learning import curves_held, uncertain_teach
from bench.coverage.people import annotators_held
from bench.coverage.rankings import (
    equals_told_apart,
    even_rates_held,
    extremes_held,
    rankings_beside,
    strengths_held,
)
from bench.coverage.rare import rare_harm, rare_scores_held
from bench.coverage.settings import default_is_as_good, knowing_is_found, nothing_beats
from bench.coverage.stand_ins import advantages_held, false_wins
from bench.coverage.until import guesses_are_near, intervals_always_hold, never_wrong, runs_stop_rightly
from bench.coverage.weighing import nothing_named, rates_held, weights_held

PARTS: dict[str, Callable[[int], Iterator[Claim]]] = {
    "shares": shares_held,
    "scores": scores_held,
    "rare scores": rare_scores_held,
    "means": means_held,
    "differences": differences_held,
    "better": false_better,
    "choosing": excess_held,
    "leaks": leaks_kept_out,
    "health": false_alarms,
    "ill judges": found,
    "drift": changes_held,
    "nothing changed": nothing_changed,
    "losses found": losses_found,
    "rounding": rounding_is_no_change,
    "small changes": small_changes_found,
    "people": annotators_held,
    "win rates": rates_held,
    "strengths": strengths_held,
    "extreme strengths": extremes_held,
    "told apart": equals_told_apart,
    "equal length": even_rates_held,
    "side by side": rankings_beside,
    "false wins": false_wins,
    "advantage": advantages_held,
    "nothing carried": nothing_named,
    "fitted weights": weights_held,
    "corrected shares": shares_corrected,
    "corrected strengths": strengths_corrected,
    "skipped items": skipped_held,
    "labels of the calibration": calibrated_held,
    "calibration": nothing_is_lost,
    "gain": false_gain,
    "places": place_decides,
    "orders": labels_kept,
    "heads: nothing known": labels_left,
    "heads: panels": juries_received,
    "settings: nothing known": nothing_beats,
    "settings: all as good": default_is_as_good,
    "settings: one knows": knowing_is_found,
    "learning curves": curves_held,
    "least sure first": uncertain_teach,
    "audit: planted faults": faults_found,
    "audit: fair judges": fair_judges_pass,
    "audit: rare harm": rare_harm,
    "until sure": never_wrong,
    "runs until sure": runs_stop_rightly,
    "intervals, always": intervals_always_hold,
    "what it takes": guesses_are_near,
}


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.coverage", description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000, help="of each kind (1000)")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be given again")
    parser.add_argument("--all", action="store_true", help="print each kind of world, not the worst alone")
    parser.add_argument(
        "--again",
        type=int,
        metavar="TIMES",
        help="draw the worst kind of each again, so many times as often: the worst of many is so by chance",
    )
    asked = parser.parse_args()
    claims = [claim for part in asked.only or PARTS for claim in PARTS[part](asked.worlds)]
    for claim in claims if asked.all else worst(claims):
        print(claim.line)
    broken = [claim for claim in claims if claim.is_broken]
    print(f"{len(claims)} kinds of worlds, {asked.worlds} of each; {len(broken)} miss their bar.")
    if not asked.all:
        print("\n".join(claim.line for claim in broken))
    if asked.again:
        print("\nThe worst ones, drawn again:")
        again = [claim.again(asked.again) for claim in worst(claims)]
        print("\n".join(claim.line for claim in again if claim))
        broken += [claim for claim in again if claim and claim.is_broken]
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
