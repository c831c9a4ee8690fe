"""A cascade: what it costs beside the large model alone, and whether kills change what it gives.

    python -m bench.cascade cost LARGE [--small MODEL] [--items N]
    python -m bench.cascade kills [--kills N] [--seed S]

`cost` judges items of the demo dataset by the small model, by LARGE, and by both in turn: labels in both
orders, one thread. Half of the items stand with the small one's labels. It prints the processor time of the
commands, from their start to their end, so that loading counts.

`kills` kills one escalation again and again: while it judges, and once all is judged, as both runs are put
together. Each kill must leave a cascade that is whole or has no item. In the end the submission must have the
bytes of one that was never killed. Exit code 1 where it has not.
"""

import argparse
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from engine.results.run_results import load_results
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset

_LABELS = ("--mode", "labels", "--threads", "1")
_PATIENCE = 600.0  # seconds for anything to come about


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cascade", description=__doc__.split("\n")[0])
    parts = parser.add_subparsers(required=True)
    cost = parts.add_parser("cost")
    cost.add_argument("large", type=Path)
    cost.add_argument("--small", default="demo")
    cost.add_argument("--items", type=int, default=200)
    cost.set_defaults(of=_cost)
    kills = parts.add_parser("kills")
    kills.add_argument("--kills", type=int, default=30)
    kills.add_argument("--seed", default="1")
    kills.set_defaults(of=_kills)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cascade-", ignore_cleanup_errors=True) as folder:
        os.environ["TIEBREAK_HOME"] = str(Path(folder) / "home")
        return int(asked.of(asked, Path(folder)))


def _cost(asked: argparse.Namespace, folder: Path) -> int:
    for number, model in enumerate((asked.small, asked.large)):  # the check of a model file is made once
        _judge(folder / f"warm-{number}.sqlite", "--model", model, demo_dataset(), "--items", 1)
    items, store = ("--items", asked.items), folder / "in-turn.sqlite"
    small = _judge(store, "--model", asked.small, demo_dataset(), *items)
    large = _judge(folder / "alone.sqlite", "--model", asked.large, demo_dataset(), *items)
    below = _median_confidence(store)
    second = _judge(store, "--model", asked.large, "--escalate", 1, "--below", repr(below))
    with RunStore(store) as opened:
        share = opened.run(2).judged / opened.run(1).judged
    expected = small + share * large
    print(f"{asked.items} items, {share:.1%} reach {asked.large.name}; seconds of a processor:")
    print(f"small alone {small:.1f}, large alone {large:.1f}, cascade {small:.1f} + {second:.1f}")
    print(f"cascade / large alone: {(small + second) / large:.3f}")
    print(f"cascade / (small alone + share x large alone): {(small + second) / expected:.3f}")
    return 0


def _median_confidence(store: Path) -> float:
    """Of the label that each item is least sure of: from there on half of the items stand."""
    with RunStore(store) as opened:
        results = load_results(opened, 1)
    columns = [
        [max(results.probabilities(each) or (0.0,)) for each in own] for own in results.judgments.values()
    ]
    return float(np.quantile(np.min(columns, axis=0), 0.5, method="higher"))


def _judge(store: Path, *words: object) -> float:
    """The seconds of a processor that a command took which judges."""
    before = os.times()
    done = subprocess.run(_command(store, *words), capture_output=True, encoding="utf-8", check=False)
    if not Path(_out(store)).exists():
        raise RuntimeError(done.stderr)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _command(store: Path, *words: object) -> list[str]:
    given = ["judge", *words, *_LABELS, "--store", store, "--out", _out(store)]
    return [sys.executable, "main.py", *map(str, given)]


def _out(store: Path) -> Path:
    return store.with_suffix(".tsv")


def _kills(asked: argparse.Namespace, folder: Path) -> int:
    from tests.small_models import FAMILIES

    chance, model, store = random.Random(asked.seed), folder / "random.gguf", folder / "killed.sqlite"
    FAMILIES["chatml"](model)
    _judge(store, "--model", "demo", demo_dataset(), "--items", asked.kills)
    whole = folder / "whole.sqlite"
    shutil.copy(store, whole)
    words = ("--model", model, "--escalate", 1, "--below", 1)
    _judge(whole, *words)
    items = _judged(whole, 2)
    _out(store).unlink()
    for number in range(asked.kills):
        # The last third of the kills meets the runs as they are put together.
        wanted = min(_judged(store, 2) + 1, items) if number < asked.kills * 2 / 3 else items
        child = subprocess.Popen(
            _command(store, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + _PATIENCE
        while _judged(store, 2) < wanted and child.poll() is None and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.3))
        if number >= asked.kills * 2 / 3:
            while not _judged(store, 3) and child.poll() is None and chance.random() < 0.99:
                time.sleep(0.02)
        child.kill()
        child.wait()
        found = _judged(store, 2), _judged(store, 3)
        print(f"kill {number + 1}: {found[0]} of {items} items judged, cascade of {found[1]}", flush=True)
        if found[1] not in (0, _judged(whole, 3)):
            return 1
    _judge(store, *words)
    alike = _out(store).read_bytes() == _out(whole).read_bytes()
    print(f"{asked.kills} kills: {'the same bytes' if alike else 'OTHER BYTES'}")
    return 0 if alike else 1


def _judged(store: Path, run_id: int) -> int:
    with closing(sqlite3.connect(store)) as db:
        return int(db.execute("SELECT count(*) FROM judged_item WHERE run_id = ?", (run_id,)).fetchone()[0])


if __name__ == "__main__":
    sys.exit(main())
