"""What it costs that the window judges in a process of its own: time, memory; whether all is stored alike.

    python -m bench.apart [--model FILE] [--items N] [--times N]

The job of the window, once in the same process and once apart, by turns; the first of each is not counted.
Where others use the computer, processor time says more than time. The exit code is 1 where what was stored
differs.
"""

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from engine.core.events import CancelToken, ItemJudged, ModelOpened, RunStarted
from engine.data.dataset import Dataset, load_dataset
from engine.data.submission import write_submission
from engine.results.run_results import load_results, submission_of
from engine.settings.rows import Mode
from engine.settings.run_setup import RunSetup
from engine.store.run_store import RunStore
from engine.system.paths import demo_dataset, demo_model
from gui.judge.run_jobs import judge
from gui.workspace.threads import JobControl

_LOOK_SECONDS = 0.05


@dataclass
class Measured:
    """One run. `events`: seconds from the start of the job to the first event of each kind."""

    seconds: float = 0.0
    processor: float = 0.0  # seconds of processor time, of both processes
    judging: float = 0.0  # from the model's opening to the end
    events: dict[type[object], float] = field(default_factory=dict)
    here: int = 0  # the most bytes of this process, of its own alone (without what files are mapped)
    apart: int = 0
    stored: tuple[object, ...] = ()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure judging apart against judging in one process.")
    parser.add_argument("--model", type=Path, default=demo_model(), metavar="FILE")
    parser.add_argument("--dataset", type=Path, default=demo_dataset(), metavar="FILE")
    parser.add_argument("--items", type=int, default=60, help="%(default)s")
    parser.add_argument("--times", type=int, default=5, help="%(default)s")
    parser.add_argument("--threads", type=int, default=1, help="%(default)s")
    parser.add_argument("--labels", action="store_true", help="without explanations")
    options = parser.parse_args()
    mode = Mode.LABELS if options.labels else Mode.EXPLAIN
    setup = RunSetup(options.dataset, options.model, items=options.items, mode=mode, threads=options.threads)
    dataset = load_dataset(options.dataset)
    found: dict[bool, list[Measured]] = {False: [], True: []}
    for turn in range(options.times + 1):
        for apart in (False, True) if turn % 2 else (True, False):
            measured = _measured(setup, dataset, apart)
            if turn:
                found[apart].append(measured)
    _print(found, options.items)
    alike = {measured.stored for runs in found.values() for measured in runs}
    print(f"  stored alike{'':16}{'yes' if len(alike) == 1 else 'NO'}")
    return int(len(alike) != 1)


def _measured(setup: RunSetup, dataset: Dataset, apart: bool) -> Measured:
    made = Measured()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        store_path = Path(folder) / "runs.sqlite"
        over = threading.Event()
        looking = threading.Thread(target=_look_at_memory, args=(made, over))
        looking.start()
        started, worked = time.perf_counter(), _processor_seconds()

        def hear(event: object) -> None:
            made.events.setdefault(type(event), time.perf_counter() - started)

        judge(setup, store_path, dataset)(JobControl(CancelToken(), hear, apart))
        made.seconds = time.perf_counter() - started
        made.processor = _processor_seconds() - worked
        made.judging = made.seconds - made.events[ModelOpened]
        over.set()
        looking.join()
        with RunStore(store_path) as store:
            raw_predictions = [
                (item.item_id, item.raw_predictions, item.explanations) for item in store.judged(1)
            ]
            write_submission(Path(folder) / "submission.tsv", submission_of(load_results(store, 1)))
        made.stored = (repr(raw_predictions), (Path(folder) / "submission.tsv").read_bytes())
    return made


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def _look_at_memory(made: Measured, over: threading.Event) -> None:
    this = psutil.Process()
    while not over.wait(_LOOK_SECONDS):
        made.here = max(made.here, this.memory_full_info().uss)
        for child in this.children():
            try:
                made.apart = max(made.apart, child.memory_full_info().uss)
            except psutil.Error:
                continue


def _print(found: dict[bool, list[Measured]], items: int) -> None:
    here, apart = found[False], found[True]
    print(f"{items} items, {len(here)} times each by turns: here, apart, apart / here")

    def line(what: str, first: list[float], second: list[float], unit: str = "s") -> None:
        ratios = sorted(b / a for a, b in zip(first, second, strict=True))
        print(
            f"  {what:28}{statistics.median(first):9.2f} {unit}{statistics.median(second):9.2f} {unit}"
            f"{statistics.median(ratios):8.3f}   {ratios[0]:.3f} to {ratios[-1]:.3f}"
        )

    line("judging", [m.judging for m in here], [m.judging for m in apart])
    line("processor", [m.processor for m in here], [m.processor for m in apart])
    line("whole job", [m.seconds for m in here], [m.seconds for m in apart])
    for kind in (RunStarted, ModelOpened, ItemJudged):
        line(f"until {kind.__name__}", [m.events[kind] for m in here], [m.events[kind] for m in apart])
    mb = 1e6
    line("memory, both", [m.here / mb for m in here], [(m.here + m.apart) / mb for m in apart], "MB")
    print(f"  memory of the other alone   {statistics.median(m.apart / mb for m in apart):9.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
