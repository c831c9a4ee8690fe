"""Thousands of damaged models, templates, datasets, submissions and calibrations, and what becomes of them.

    python -m bench.hostile [--seed 1] [--datasets 5000] [--records 1500] [--models 2000]
                                  [--templates 300] [--structure 66] [--turns 300] [--tokenizers 140]
    python -m bench.hostile --seed 1 --only models:17      # one case again, its files kept

Counted are faults of the program (exit code 3), crashes, hangs, silent losses, and control or structure
tokens from foreign text; there must be none. Each case depends on the seed and its number alone. The files of
those that are not sound are kept under --out.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench.hostile.cases import attempt, tried

KINDS = {
    "datasets": (5000, "datasets in all formats, sound and damaged"),
    "records": (1500, "submissions, calibrations and lists of ids"),
    "models": (2000, "GGUF files, judged with where their trial finds them good"),
    "templates": (300, "chat templates, hostile ones and damaged ones"),
    "structure": (66, "pairs of a chat template and a vocabulary"),
    "turns": (300, "chat templates whose turns are plain text"),
    "tokenizers": (140, "vocabularies of all kinds of tokenizers"),
    "stores": (600, "run stores with odd values, through the commands"),
    "paths": (1200, "arguments that name files, with links and names that lead nowhere"),
    "window_memory": (60, "what the window keeps, damaged"),
    "cluster_workers": (60, "workers of a cluster that lie; needs requirements-cluster.txt"),
}


def main() -> int:
    arguments = argparse.ArgumentParser(
        prog="python -m bench.hostile",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    arguments.add_argument("--seed", type=int, default=1)
    for kind, (count, what) in KINDS.items():
        arguments.add_argument(
            f"--{kind}", type=int, default=count, metavar="N", help=f"{what} (default {count})"
        )
    arguments.add_argument(
        "--first", type=int, default=0, metavar="N", help="the number of the first case (default 0)"
    )
    arguments.add_argument("--only", metavar="KIND:NUMBER", help="try this case alone, in this process")
    arguments.add_argument("--out", type=Path, help="where what is not sound is kept (default: a new folder)")
    options = arguments.parse_args()
    folder = options.out or Path(tempfile.mkdtemp(prefix="hostile-"))
    folder.mkdir(parents=True, exist_ok=True)
    if options.only:
        return _again(options.only, options.seed, folder)
    unsound = 0
    for kind in KINDS:
        count = getattr(options, kind)
        if count:
            unsound += _tried(kind, options.seed, range(options.first, options.first + count), folder)
    print(
        f"seed {options.seed}: {unsound} cases are not sound"
        + (f"; their files: {folder}" if unsound else "")
    )
    return 1 if unsound else 0


def _tried(kind: str, seed: int, numbers: range, folder: Path) -> int:
    began = time.monotonic()

    def seen(count: int) -> None:
        if sys.stderr.isatty() or count % 500 == 0:
            seconds = time.monotonic() - began
            print(
                f"\r{kind}: {count:,} of {len(numbers):,}, {seconds:,.0f} s ",
                end="",
                file=sys.stderr,
                flush=True,
            )

    tally = tried(kind, seed, numbers, folder, seen)
    print(file=sys.stderr)
    print("\n".join(tally.lines()))
    for number, outcome in tally.unsound:
        print(f"  --seed {seed} --only {kind}:{number}: {outcome.ending}: {outcome.case}")
        print("    " + "\n    ".join(outcome.words[-600:].splitlines()))
    sys.stdout.flush()
    return len(tally.unsound)


def _again(only: str, seed: int, folder: Path) -> int:
    kind, number = only.split(":")
    own = folder / f"{kind}-{seed}-{number}"
    outcome = attempt(kind, seed, int(number), own, lambda step: print(f"... {step.words}", flush=True))
    print(f"{outcome.ending}: {outcome.case}\n{outcome.words}\nIts files: {own}")
    return 0 if outcome.sound else 1


if __name__ == "__main__":
    sys.exit(main())
