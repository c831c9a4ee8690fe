"""Draw worlds whose truth is known, and count how often each thing the program says is so.

    python -m bench.coverage [--worlds N] [--only PART] [--all] [--again TIMES]

Ends with 1 where anything misses its bar.
"""

import argparse
import sys
from importlib import import_module

from bench.coverage.claims import PARTS, worst

_MODULES = """
intervals calibrations health drift annotators rankings weighing correction heads settings learning audits
stopping trust beyond_chance favour juries mixes plans
"""
for _module in _MODULES.split():
    import_module(f"bench.coverage.{_module}")


def main() -> int:
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
    claims = [claim for name in asked.only or PARTS for part in PARTS[name] for claim in part(asked.worlds)]
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
