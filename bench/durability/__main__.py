"""Kill the window at random moments: nothing that it had shown as stored may be missing afterwards.

    python -m bench.durability [--kills N] [--seed S] [--kind KIND ...] [--situation SITUATION ...]

A person works in the real window, which tells of each thing once it shows it as stored. It is killed, or its
disk fills, or it is closed while the store is busy. Then another window opens on the same folder, and all
must be there: in that window, and in what `runs export` writes. Without a screen unless QT_QPA_PLATFORM says
otherwise. Exit code 1 where anything is missing, or where a window neither showed a thing nor said why.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.durability.folders import begin_again_where_one_may_mount, why_no_small_disk
from bench.durability.trials import KINDS, Bench, Outcome, Situation

_SHOWN = 3  # missing things of a row that are told


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.durability", description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=25, help="of each kind in each situation (%(default)s)")
    parser.add_argument("--seed", default="1", help="of what is done and of when (%(default)s)")
    every_kind = sorted({kind for kinds in KINDS.values() for kind in kinds})
    parser.add_argument("--kind", choices=every_kind, action="append", help="this one; may be given again")
    names = [situation.name.lower() for situation in Situation]
    parser.add_argument("--situation", choices=names, action="append", help="the same")
    parser.add_argument("--jobs", type=int, default=2, help="kills at the same time (%(default)s)")
    asked = parser.parse_args()
    rows = [
        (kind, situation)
        for situation in Situation
        for kind in KINDS[situation]
        if kind in (asked.kind or every_kind) and situation.name.lower() in (asked.situation or names)
    ]
    if any(situation is Situation.FULL for _, situation in rows):
        begin_again_where_one_may_mount("bench.durability")
    with tempfile.TemporaryDirectory(prefix="durability-", ignore_cleanup_errors=True) as folder:
        began = time.monotonic()
        bench = Bench(Path(folder))
        print(
            f"{'kind':12} {'situation':18} {'kills':>5} {'shown as stored':>16} {'missing':>8} {'untold':>7}",
            flush=True,
        )
        broken = [_row(bench, asked, *row) for row in rows]
    print(f"{time.monotonic() - began:.0f} seconds")
    return 1 if any(broken) else 0


def _row(bench: Bench, asked: argparse.Namespace, kind: str, situation: Situation) -> bool:
    """Kill so often and print the row; whether anything is missing."""
    if situation is Situation.FULL and (why := why_no_small_disk()):
        print(f"{kind:12} {situation:18} skipped: {why}", flush=True)
        return False
    outcomes = list(_outcomes(bench, asked, kind, situation))
    shown = sum(outcome.shown for outcome in outcomes)
    missing = [words for outcome in outcomes for words in outcome.missing]
    silent = [words for outcome in outcomes for words in outcome.silent]
    line = f"{kind:12} {situation:18} {len(outcomes):5} {shown:16,} {len(missing):8,} {len(silent):7,}"
    print("\n  ".join([line, *missing[:_SHOWN], *silent[:_SHOWN]]), flush=True)
    return bool(missing or silent)


def _outcomes(bench: Bench, asked: argparse.Namespace, kind: str, situation: Situation) -> Iterator[Outcome]:
    def one(number: int) -> Outcome:
        place = bench.folder / f"{kind}-{situation.name.lower()}-{number}"
        return bench.try_once(kind, situation, f"{asked.seed}/{kind}/{situation}/{number}", place)

    with ThreadPoolExecutor(asked.jobs) as pool:
        yield from pool.map(one, range(asked.kills))


if __name__ == "__main__":
    sys.exit(main())
