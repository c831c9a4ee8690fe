"""Commands that ask a cluster to judge the demo dataset, and what of their files counts."""

import json
import re
import subprocess
from pathlib import Path

from engine.store.run_store import RunStore
from tests.cluster.running import LocalCluster
from tests.commands import ROOT, run

ITEMS = 30
DEMO = ROOT / "examples" / "demo.tsv"


def judge_arguments(folder: Path, *more: object, items: int = ITEMS, model: object = "demo") -> list[object]:
    out = ["--out", folder / "out.tsv", "--json", folder / "out.json", "--store", folder / "runs.sqlite"]
    return ["judge", DEMO, "--model", model, "--items", items, *out, *more]


def judged(folder: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return run(*judge_arguments(folder, *more))


def over(cluster: LocalCluster) -> list[object]:
    return ["--cluster", cluster.address, *cluster.connection]


def items_in(store_path: Path) -> int:
    if not store_path.exists():
        return 0
    with RunStore(store_path) as store:
        return sum(found.judged for found in store.runs())


def what_counts(folder: Path) -> tuple[bytes, str]:
    """The submission and the JSON of a run, without when and how long, and which computers judged."""
    made = json.loads((folder / "out.json").read_bytes())
    made["run"] = {name: value for name, value in made["run"].items() if name not in {"created", "made_with"}}
    text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', json.dumps(made, ensure_ascii=False))
    return (folder / "out.tsv").read_bytes(), text
