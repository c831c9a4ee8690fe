"""`cluster`: certificates, the scheduler and the workers of a cluster of computers that judge together.

Knows: its arguments, what it prints. Does not know: Dask, which may not be installed.
"""

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from engine.cli.shared.cluster import add_connection, need_cluster
from engine.cli.shared.console import DONE, command_parser, interruptible, printable, tell
from engine.cli.shared.data_arguments import MODEL_WORDS, model_file
from engine.cli.shared.setting_arguments import add_device, add_settings
from engine.cluster.certificates import PORT, address_of, default_folder, make_certificates, scheduler_address
from engine.cluster.worker_model import WorkerOptions
from engine.core.errors import SetupError
from engine.models.devices import wished_device
from engine.models.opening import machine_settings
from engine.system.paths import PathKind, found_at, seen_at


def parser() -> argparse.ArgumentParser:
    """The arguments of `cluster`."""
    arguments = command_parser(
        "cluster",
        "Judge with several computers: one is the scheduler, others are workers, and `judge --cluster` uses\n"
        "them. Set-up and security: docs/cluster.md.",
    )
    actions = arguments.add_subparsers(required=True, metavar="ACTION")
    certificates = actions.add_parser(
        "certificates", help="make the certificates that all computers of the cluster use"
    )
    certificates.add_argument("folder", type=Path, nargs="?", metavar="FOLDER", help=f"({default_folder()})")
    certificates.set_defaults(action=_certificates)
    scheduler = actions.add_parser(
        "scheduler", help="start the scheduler, to which workers and `judge --cluster` connect"
    )
    scheduler.add_argument(
        "address",
        nargs="?",
        default=f"tls://0.0.0.0:{PORT}",
        metavar="ADDRESS",
        help="the address to listen on (%(default)s); 127.0.0.1 for this computer only",
    )
    scheduler.add_argument("--scheduler-file", type=Path, metavar="FILE", help="where to write the address")
    scheduler.set_defaults(action=_scheduler)
    worker = actions.add_parser("worker", help="start a worker, which judges items for the scheduler")
    worker.add_argument("address", metavar="ADDRESS", help="tls://HOST:PORT, or the scheduler file")
    worker.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="MODEL",
        help=f"{MODEL_WORDS}, or a folder of models; may be repeated. Default: all models on this computer",
    )
    add_settings(worker.add_argument_group("computer"), "threads")
    add_device(worker.add_argument_group("device"), "the processor")
    worker.set_defaults(action=_worker)
    for each in (scheduler, worker):
        add_connection(each)
    return arguments


def run(options: argparse.Namespace) -> int:
    """Run the action; the exit code."""
    need_cluster()
    action: Callable[[argparse.Namespace], int] = options.action
    return action(options)


def _certificates(options: argparse.Namespace) -> int:
    files = make_certificates(options.folder or default_folder())
    print(f"Certificates for your cluster are in {printable(str(files.folder))}")
    print("Copy this folder to each of its computers over a private channel (scp, a USB stick).")
    print("Anyone who has key.pem can run programs on all of them, and read the items.")
    return DONE


def _scheduler(options: argparse.Namespace) -> int:
    address = address_of(options.address, options.plain_tcp)
    if not address.encrypted:
        tell("Not encrypted: anyone who can reach this port can run programs on all workers.")
    _set_up()
    service = import_module("engine.cluster.service")
    service.run_scheduler(address, options.certificates, options.scheduler_file, tell)
    return DONE


def _worker(options: argparse.Namespace) -> int:
    address = scheduler_address(options.address, options.plain_tcp)
    machine_settings(options.threads)  # wrong numbers are refused at once
    with interruptible() as cancel:
        device = wished_device(options.device or "cpu", "", cancel)
    models = tuple(_models(word).absolute() for word in options.model)
    _set_up()
    service = import_module("engine.cluster.service")
    worker = WorkerOptions(models, options.threads, device, options.gpu_layers)
    service.run_worker(address, options.certificates, worker, tell)
    return DONE


def _models(word: str) -> Path:
    """A folder of models, or one file. SetupError if there is neither."""
    if seen_at(Path(word)) is PathKind.FOLDER:
        return Path(word)
    path = model_file(word)
    if found_at(path) is not PathKind.FILE:
        raise SetupError(f"{printable(word)}: there is no such file.", "Check the name.")
    return path


def _set_up() -> None:
    import_module("engine.cluster.dask_setup").set_up_dask()
