"""`judge --cluster`: a run judged by other computers, and its plan.

What every command that uses a cluster needs: the packages, and the options of the connection.
"""

import argparse
from collections.abc import Generator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.shared.console import DONE, table, tell
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.judging import show_counted
from engine.cluster.answers import ITEMS_OF_A_TASK, JudgeWork, work_of
from engine.cluster.certificates import default_folder, scheduler_address
from engine.cluster.cluster_run import ClusterRun, run_over_cluster
from engine.cluster.worker_model import device_of, differences, facts_here, refused
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, RunEnded, RunEvent
from engine.core.formatting import duration, listed
from engine.judging.forecast import rate_of_speed
from engine.judging.plan import RunPlan
from engine.judging.prepare import PreparedRun
from engine.models.opening import machine_settings
from engine.store.run_store import RunStore

if TYPE_CHECKING:
    from engine.cluster.connection import Surveyed

_PACKAGES = ("dask", "distributed", "cryptography")


def add_connection(group: argparse._ActionsContainer) -> None:
    """--certificates and --plain-tcp."""
    group.add_argument(
        "--certificates",
        type=Path,
        default=default_folder(),
        metavar="FOLDER",
        help="the certificates of the cluster (%(default)s)",
    )
    group.add_argument(
        "--plain-tcp",
        action="store_true",
        help="allow unencrypted tcp:// to other computers: others on the network can read the traffic, and"
        " anyone who reaches the scheduler can run programs on every worker",
    )


def need_cluster() -> None:
    """SetupError if a package is missing."""
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise SetupError(
            f"Judging with several computers needs packages that are not installed: {listed(missing)}.",
            Hint(Step.INSTALL_CLUSTER),
        )


def add_cluster(group: argparse._ArgumentGroup) -> None:
    """--cluster and its options."""
    group.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="judge with the workers of a scheduler: tls://HOST:8786, or its scheduler file (see `cluster`)",
    )
    group.add_argument(
        "--task-items",
        type=int,
        default=ITEMS_OF_A_TASK,
        metavar="N",
        help="items per task of a worker (%(default)s)",
    )
    group.add_argument(
        "--mixed-builds", action="store_true", help="also use workers with other builds of llama.cpp"
    )
    add_connection(group)


def cluster_of(options: argparse.Namespace) -> ClusterRun | None:
    """The cluster that the arguments name, if any. SetupError if they contradict each other."""
    if options.cluster is None:
        return None
    for name, value in (("--threads", options.threads), ("--device", options.device)):
        if value is not None:
            raise SetupError(
                f"{name} is for judging on this computer, --cluster for judging on others.",
                f"Set it for each worker: cluster worker ADDRESS {name} ...",
            )
    if options.task_items < 1:
        raise SetupError(f"--task-items is {options.task_items}.", "Use 1 or more.")
    need_cluster()
    address = scheduler_address(options.cluster, options.plain_tcp)
    import_module("engine.cluster.dask_setup").set_up_dask()
    connection = import_module("engine.cluster.connection").Connection(address, options.certificates)
    return ClusterRun(connection, options.task_items, options.mixed_builds)


def device_of_cluster(over: ClusterRun, cancel: CancelToken) -> str | None:
    """The GPUs of the workers; prints which workers cannot take part.

    SetupError if none can.
    """
    workers = _surveyed(over, cancel)
    used = [worker.facts for worker in workers if worker.facts is not None and worker.refused is None]
    if not used and (error := workers[0].refused):
        raise SetupError(f"Worker {workers[0].address} is not used: {error.problem}", error.hint)
    return device_of(used)


def _surveyed(over: ClusterRun, cancel: CancelToken, work: JudgeWork | None = None) -> "list[Surveyed]":
    """All workers, with the reason if one cannot judge this; with `work`, their speeds."""
    check = partial(refused, own=facts_here(machine_settings(None)), mixed_builds=over.mixed_builds)
    workers: list[Surveyed] = import_module("engine.cluster.connection").survey(
        over.connection, check, cancel, work
    )
    return workers


def judged_by_cluster(
    plan: RunPlan, store_path: Path, over: ClusterRun, cancel: CancelToken, fresh: bool
) -> Generator[RunEvent, None, RunEnded]:
    """Judge a plan with the workers; raises what `run_over_cluster` raises."""
    with RunStore(store_path) as store:
        return (yield from run_over_cluster(plan, store, over, cancel, fresh=fresh))


def show_cluster_forecast(
    made: PreparedRun, part: str, over: ClusterRun, cancel: CancelToken, *, store: Path, fresh: bool
) -> int:
    """Count what a plan will take, ask the workers for their speeds, and print both; the exit code."""
    counted = show_counted(made, part, store, fresh, cancel, here=False)
    if counted.complete:
        print(f"\nTime: {counted.time_in_words}.")
        return DONE
    plan = made.plan
    tell("Measuring the speed of the model on the workers ...")
    rows, speeds, kinds = [], [], []
    for worker in _surveyed(over, cancel, work_of(plan)):
        computer = worker.facts.computer if worker.facts else ""
        if worker.refused is not None:
            why = f"{worker.refused.problem} {OPTIONS.of(worker.refused.hint)}"
            rows.append([computer, worker.address, "-", "-", f"not used: {why}"])
            continue
        assert worker.facts is not None
        assert worker.speed is not None
        rate = rate_of_speed(worker.speed, plan.settings, len(plan.rubric.criteria))
        seconds = counted.with_rate(rate).seconds or 0.0
        speeds.append(1 / max(seconds, 1e-9))
        kinds.append(worker.facts.kind)
        rows.append([computer, worker.address, f"{worker.speed.reading:,.0f}", duration(seconds), ""])
    print(f"\n{table(('computer', 'worker', 'tokens/s read', 'alone', ''), rows, texts=(0, 1, 4))}")
    if differ := differences(kinds):
        print(f"\nThe workers differ in {differ}: the last digits of probabilities may differ.")
    if not speeds:
        raise SetupError("No worker can judge this run.", "The reasons are listed above.")
    print(f"\nTime: about {duration(1 / sum(speeds))}, if each worker keeps its measured speed.")
    return DONE
