"""`cluster` and `--cluster`: computers that judge or write together. Does not know: Dask, maybe missing."""

import argparse
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.shared import console
from engine.cli.shared.arguments import MODEL_WORDS, add_device, add_settings, model_file
from engine.cli.shared.hints import OPTIONS
from engine.cli.shared.progress import show_forecast
from engine.cluster.answers import ITEMS_OF_A_TASK, JudgeWork, work_of
from engine.cluster.certificates import PORT, address_of, default_folder, make_certificates, scheduler_address
from engine.cluster.cluster_run import ClusterRun, run_over_cluster
from engine.cluster.worker_model import WorkerOptions, device_of, differences, facts_here, refused
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, RunEnded, RunEvent
from engine.core.formatting import duration, listed
from engine.judging.forecast import rate_of_speed
from engine.judging.plan import RunPlan
from engine.models.devices import wished_device
from engine.models.opening import machine_settings
from engine.operations.judge import ReadyRun
from engine.store.run_store import RunStore
from engine.system.paths import PathKind, found_at, seen_at

if TYPE_CHECKING:
    from engine.cluster.connection import Surveyed

_PACKAGES = ("dask", "distributed", "cryptography")


def add_connection(group: console.Options) -> None:
    group.add_argument(
        "--certificates",
        type=Path,
        default=default_folder(),
        metavar="FOLDER",
        help="the certificates of the cluster (%(default)s)",
    )
    group.flag(
        "--plain-tcp",
        "allow unencrypted tcp:// to other computers: others on the network can read the traffic, and"
        " anyone who reaches the scheduler can run programs on every worker",
    )


def need_cluster() -> None:
    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise SetupError(
            f"Work with several computers needs packages that are not installed: {listed(missing)}.",
            Hint(Step.INSTALL_CLUSTER),
        )


def add_cluster(group: console.Options, judges: bool = True) -> None:
    verb = "judge" if judges else "write"
    group.text(
        "--cluster",
        "ADDRESS",
        f"{verb} with the workers of a scheduler: tls://HOST:8786, or its scheduler file (see `cluster`)",
    )
    if judges:
        group.number("--task-items", "items per task of a worker (%(default)s)", default=ITEMS_OF_A_TASK)
        group.flag("--mixed-builds", "also use workers with other builds of llama.cpp")
    else:
        group.set_defaults(task_items=ITEMS_OF_A_TASK, mixed_builds=False, device=None)
    add_connection(group)


def cluster_of(options: argparse.Namespace) -> ClusterRun | None:
    if options.cluster is None:
        return None
    for name, value in (("--threads", options.threads), ("--device", options.device)):
        if value is not None:
            raise SetupError(
                f"{name} is for work on this computer, --cluster for work on others.",
                f"Set it for each worker: cluster worker ADDRESS {name} ...",
            )
    if options.task_items < 1:
        raise SetupError(f"--task-items is {options.task_items}.", "Use 1 or more.")
    need_cluster()
    address = scheduler_address(options.cluster, options.plain_tcp)
    connection = _with_dask("connection").Connection(address, options.certificates)
    return ClusterRun(connection, options.task_items, options.mixed_builds)


def device_of_cluster(over: ClusterRun, cancel: CancelToken) -> str | None:
    """The GPUs of the workers; prints which cannot take part. SetupError if none can."""
    workers = _surveyed(over, cancel)
    used = [worker.facts for worker in workers if worker.facts is not None and worker.refused is None]
    if not used and (error := workers[0].refused):
        raise SetupError(f"Worker {workers[0].address} is not used: {error.problem}", error.hint)
    return device_of(used)


def _surveyed(over: ClusterRun, cancel: CancelToken, work: JudgeWork | None = None) -> "list[Surveyed]":
    """All workers, with the reason if one cannot judge this; with `work`, their speeds."""
    check = partial(refused, own=facts_here(machine_settings(None)), mixed_builds=over.mixed_builds)
    survey = import_module("engine.cluster.connection").survey
    workers: list[Surveyed] = survey(over.connection, check, cancel, work)
    return workers


def judged_by_cluster(
    store_path: Path, over: ClusterRun, cancel: CancelToken
) -> Callable[[RunPlan, bool], Generator[RunEvent, None, RunEnded]]:
    def judged(plan: RunPlan, fresh: bool) -> Generator[RunEvent, None, RunEnded]:
        with RunStore(store_path) as store:
            return (yield from run_over_cluster(plan, store, over, cancel, fresh=fresh))

    return judged


def show_cluster_forecast(
    ready: ReadyRun, part: str, over: ClusterRun, cancel: CancelToken, store: Path
) -> None:
    counted = show_forecast(ready, part, store, cancel, here=False)
    if counted.complete:
        return
    plan = ready.plan
    console.tell("Measuring the speed of the model on the workers ...")
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
        seconds = replace(counted, rate=rate).seconds or 0.0
        # Of workers side by side the speeds add up, not the times.
        speeds.append(1 / max(seconds, 1e-9))
        kinds.append(worker.facts.kind)
        rows.append([computer, worker.address, f"{worker.speed.reading:,.0f}", duration(seconds), ""])
    print(f"\n{console.table(('computer', 'worker', 'tokens/s read', 'alone', ''), rows, texts=(0, 1, 4))}")
    if differ := differences(kinds):
        print(f"\nThe workers differ in {differ}: the last digits of probabilities may differ.")
    if not speeds:
        raise SetupError("No worker can judge this run.", "The reasons are listed above.")
    print(f"\nTime: about {duration(1 / sum(speeds))}, if each worker keeps its measured speed.")


def cluster() -> console.Parser:
    """Judge with several computers: one is the scheduler, others are workers, and `judge --cluster` and
    `generate --cluster` use them. Set-up and security: docs/cluster.md.
    """
    arguments = console.command_parser(cluster, _cluster)
    actions = arguments.add_subparsers(required=True, metavar="ACTION")
    words = "make the certificates that all computers of the cluster use"
    certificates = console.add_action(actions, "certificates", _certificates, words)
    certificates.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help=f"({default_folder()})")
    words = "start the scheduler, to which workers and those who use them connect"
    scheduler = console.add_action(actions, "scheduler", _scheduler, words)
    scheduler.add_argument(
        "address",
        nargs="?",
        default=f"tls://0.0.0.0:{PORT}",
        metavar="ADDRESS",
        help="the address to listen on (%(default)s); 127.0.0.1 for this computer only",
    )
    scheduler.file("--scheduler-file", "where to write the address")
    words = "start a worker, which judges items or writes responses for the scheduler"
    worker = console.add_action(actions, "worker", _worker, words)
    worker.add_argument("address", metavar="ADDRESS", help="tls://HOST:PORT, or the scheduler file")
    worker.repeated(
        "--model",
        "MODEL",
        f"{MODEL_WORDS}, or a folder of models; may be repeated. Default: all models on this computer",
    )
    add_settings(worker.add_argument_group("computer"), "threads")
    add_device(worker.add_argument_group("device"), "the processor")
    for each in (scheduler, worker):
        add_connection(each)
    return arguments


def _cluster(options: argparse.Namespace) -> None:
    need_cluster()
    options.action(options)


def _certificates(options: argparse.Namespace) -> None:
    files = make_certificates(options.folder or default_folder())
    print(f"Certificates for your cluster are in {console.printable(str(files.key.parent))}")
    print("Copy this folder to each of its computers over a private channel (scp, a USB stick).")
    print("Anyone who has key.pem can run programs on all of them, and read the items.")


def _scheduler(options: argparse.Namespace) -> None:
    address = address_of(options.address, options.plain_tcp)
    if not address.encrypted:
        console.tell("Not encrypted: anyone who can reach this port can run programs on all workers.")
    run_scheduler = _with_dask("service").run_scheduler
    run_scheduler(address, options.certificates, options.scheduler_file, console.tell)


def _worker(options: argparse.Namespace) -> None:
    address = scheduler_address(options.address, options.plain_tcp)
    machine_settings(options.threads)  # wrong numbers are refused at once
    with console.interruptible() as cancel:
        device = wished_device(options.device or "cpu", "", cancel)
    models = tuple(_models(word).absolute() for word in options.model)
    worker = WorkerOptions(models, options.threads, device, options.gpu_layers)
    _with_dask("service").run_worker(address, options.certificates, worker, console.tell)


def _models(word: str) -> Path:
    if seen_at(Path(word)) is PathKind.FOLDER:
        return Path(word)
    path = model_file(word)
    if found_at(path) is not PathKind.FILE:
        raise SetupError(f"{console.printable(word)}: there is no such file.", "Check the name.")
    return path


def _with_dask(module: str) -> Any:
    # By name: Dask may be missing, and takes long to import; only a cluster needs it.
    import_module("engine.cluster.dask_setup").set_up_dask()
    return import_module(f"engine.cluster.{module}")
