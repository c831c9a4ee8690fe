r"""A cluster with a sound worker and one that lies in one way, each a process of its own.

What is held:

- A run is judged to its end with exit code 0, and its files are those that one computer makes: what the lying
  worker was given is done by the other one.
- Nobody waits for the lying worker: the run takes a minute more than that of one computer at most.
- A worker whose answer is not one that was asked for is named, and that it is not used.
- The plan of a run, for which workers tell how fast they are, ends with exit code 0.

Where the packages of a cluster are not installed, no case is tried.
"""

import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from bench.hostile.cases import LIMIT, Attempt, Ending, Outcome, Step
from tests.cluster.asking import judge_arguments, over, what_counts
from tests.cluster.running import LocalCluster, wait_for
from tests.commands import run

_ITEMS = 16
_ALL_THE_SAME = ("groups in another order", "not wanted, for ever", "not prepared, for ever")
"""Lies that are no answer, or a true one: whoever says them need not be named."""


def try_case(attempt: Attempt) -> Outcome:
    if not (find_spec("distributed") and find_spec("cryptography")):
        return Outcome(Ending.REFUSED, "none", "the packages of a cluster are not installed")
    lies = import_module("bench.hostile.lying_worker").LIES
    lie = list(lies)[attempt.number % len(lies)]
    return tried(lie, asks_for_speed=lies[lie][0] == "speed", folder=attempt.folder, step=attempt.step)


def tried(lie: str, asks_for_speed: bool, folder: Path, step: Callable[[Step], None]) -> Outcome:
    """What becomes of a run, or of its plan, beside a worker with this lie."""
    step(Step(f"{lie}: judging alone", processes=True))
    alone, taken = _alone(folder.parent / "alone")
    with LocalCluster(folder) as cluster:
        step(Step(f"{lie}: starting a cluster", processes=True))
        cluster.scheduler()
        cluster.worker()
        liar = cluster.start_module("bench.hostile.lying_worker", cluster.address, lie)
        wait_for(lambda: "Working for" in liar.said(), liar)
        step(Step(f"{lie}: judging", processes=True))
        began = time.monotonic()
        arguments = [*judge_arguments(folder, items=_ITEMS), *over(cluster), "--task-items", 1]
        done = run(*arguments, *(["--plan"] if asks_for_speed else []))
        seconds = time.monotonic() - began
    shown = f"exit code {done.returncode} after {seconds:.0f} s\n{done.stderr[-3000:]}"
    if done.returncode != 0:
        return Outcome(Ending.FAULT, lie, shown)
    if asks_for_speed:
        return Outcome(Ending.TAKEN, lie, shown)
    if what_counts(folder) != what_counts(alone):
        return Outcome(Ending.LOSS, lie, f"other files than those of one computer: {shown}")
    if seconds > taken + 3 * LIMIT:
        return Outcome(Ending.HANG, lie, shown)
    if "is not used" not in done.stderr and lie not in _ALL_THE_SAME:
        return Outcome(Ending.LET_IN, lie, f"nobody says that the worker is not used: {shown}")
    return Outcome(Ending.TAKEN, lie, shown)


def _alone(folder: Path) -> tuple[Path, float]:
    """The folder of the run of one computer, and how long that took; made once."""
    kept = folder / "seconds"
    if not kept.exists():
        folder.mkdir(exist_ok=True)
        began = time.monotonic()
        done = run(*judge_arguments(folder, "--threads", 1, items=_ITEMS))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        kept.write_text(str(time.monotonic() - began))
    return folder, float(kept.read_text())
