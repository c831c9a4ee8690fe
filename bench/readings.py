"""Whether llama.cpp still reads as it did: the demo model on ten items, beside readings that were kept.

    python -m bench.readings           # the differences; the exit code is 1 where one is too large
    python -m bench.readings --keep    # write readings.json anew, with the llama.cpp that is installed

Other instructions of a processor round otherwise, and so does another release: `CLOSE` says how far apart two
readings of the same may be. Docs: new-llama.md.
"""

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

from engine.core.events import CancelToken
from engine.core.items import PREFERENCES
from engine.data.dataset import load_dataset
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.files import file_hash, write_json
from engine.system.paths import demo_dataset, demo_model
from gui.judge.run_jobs import judge
from gui.workspace.threads import JobControl

KEPT = Path(__file__).with_suffix(".json")
ITEMS = 10
CLOSE = 0.01
"""The largest difference of a label's probability that two builds of the same arithmetic may have."""
CLOSE_LOGS, LEAST = 0.1, 1e-4
"""The same of their logarithms: most readings are so sure that small probabilities alone can show a change.

What is below `LEAST` counts as that: six decimals are kept, too few to say how much it differs.
"""

RawPredictions = Mapping[str, list[float]]
"""The probabilities of the four labels as they were read, by item, criterion and order."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Hold the readings of ten items against those that were kept."
    )
    parser.add_argument("--keep", action="store_true", help="write them anew")
    options = parser.parse_args(arguments)
    raw_predictions, here = read(), f"llama-cpp-python {version('llama-cpp-python')}"
    if options.keep:
        write_json(KEPT, {"made_with": here, "model": file_hash(demo_model()), "readings": raw_predictions})
        print(f"{len(raw_predictions)} readings of {here}: {KEPT}")
        return 0
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    if kept["model"] != file_hash(demo_model()):
        print("The demo model is another one than that of the kept readings: python -m bench.readings --keep")
        return 1
    largest, where = largest_difference(kept["readings"], raw_predictions)
    largest_log, where_log = largest_difference(kept["readings"], raw_predictions, _log)
    flips = other_labels(kept["readings"], raw_predictions)
    print(f"{here}, held against {kept['made_with']}: {len(raw_predictions)} readings")
    print(f"largest difference of a probability  {largest:.6f}  ({where}); allowed: {CLOSE}")
    print(f"largest difference of a logarithm    {largest_log:.6f}  ({where_log}); allowed: {CLOSE_LOGS}")
    print(f"readings with another first label    {len(flips)}  {', '.join(flips)}".rstrip())
    return int(largest > CLOSE or largest_log > CLOSE_LOGS)


def read() -> dict[str, list[float]]:
    return {
        name: [round(math.exp(value), 6) for value in values]
        for name, values in log_probs(demo_model()).items()
    }


def log_probs(model: Path) -> dict[str, list[float]]:
    """What a model reads, as it stands in the store."""
    setup = RunSetup(demo_dataset(), model, items=ITEMS, mode=Mode.LABELS, threads=1)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "runs.sqlite"
        judge(setup, path, load_dataset(demo_dataset()))(JobControl(CancelToken(), lambda _event: None))
        with RunStore(path) as store:
            return {
                f"{item.item_id}, {criterion}, {reading.order.value}": list(reading.log_probs)
                for item in store.judged(1)
                for criterion, raw_predictions in item.raw_predictions.items()
                for reading in raw_predictions
            }


def largest_difference(
    kept: RawPredictions, now: RawPredictions, scale: Callable[[float], float] = float
) -> tuple[float, str]:
    """The largest difference on a scale, and whose; infinite where a reading lacks or is no number."""
    if lacking := kept.keys() ^ now.keys():
        return math.inf, f"only one has {sorted(lacking)[0]}"
    for name in kept:
        if not all(map(math.isfinite, (*kept[name], *now[name]))):
            return math.inf, f"{name} has what is no number"
    return max(
        (abs(scale(before) - scale(after)), f"{name}, {label.value}")
        for name, probabilities in kept.items()
        for before, after, label in zip(probabilities, now[name], PREFERENCES, strict=True)
    )


def _log(probability: float) -> float:
    return math.log(max(probability, LEAST))


def other_labels(kept: RawPredictions, now: RawPredictions) -> list[str]:
    return [
        name
        for name, before in kept.items()
        if name in now and before.index(max(before)) != now[name].index(max(now[name]))
    ]


if __name__ == "__main__":
    sys.exit(main())
