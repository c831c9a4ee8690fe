"""`orders`: what reading the second order only for uncertain items keeps and saves, from a run in both
orders.

Knows: its arguments and what it prints.
"""

import argparse
from pathlib import Path
from typing import Any

from engine.calibration.learning import (
    MarginPoint,
    MarginReport,
    OrderTokens,
    groups_by_instruction,
    margin_report,
)
from engine.cli.shared.console import (
    DONE,
    add_store,
    command_parser,
    interruptible,
    print_sheet,
    printable,
    tell,
)
from engine.cli.shared.data_arguments import add_columns, items_of_run
from engine.cli.shared.judging import show_measure
from engine.cli.shared.measure_arguments import files_of_runs
from engine.core.errors import SetupError, StoreError
from engine.core.events import CancelToken
from engine.core.formatting import counted
from engine.core.tables import Sheet
from engine.data.dataset import Dataset
from engine.judging.item_prompt import order_tokens
from engine.report.orders import margin_sections
from engine.results.calibration import load_calibration
from engine.results.run_results import calibration_of_run
from engine.results.second_order import KEEP, BothOrders, learned_from
from engine.settings.identity import StoredRun
from engine.store.opening import has_store
from engine.store.run_store import RunStore
from engine.system.files import check_targets, write_json


def parser() -> argparse.ArgumentParser:
    """The arguments of `orders`."""
    arguments = command_parser(
        "orders",
        "From a run in both orders: how many of its labels stay the same if the second order is read only\n"
        "for items that are uncertain after the first, and how much that saves. Use the margin threshold\n"
        "found here with judge --orders uncertain --margin-threshold-from RUN. Human labels are not needed.",
    )
    arguments.add_argument("run", type=int, metavar="RUN", help="the id of a run in both orders")
    arguments.add_argument(
        "--keep",
        type=float,
        default=KEEP,
        metavar="SHARE",
        help="the share of each criterion's labels that must stay the same, 0 to 1 (%(default)s)",
    )
    arguments.add_argument("--dataset", type=Path, metavar="FILE", help="the run's dataset, if it was moved")
    arguments.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="also analyse the labels decided by this calibration (default: the run's own, if it has one)",
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="the same numbers as JSON")
    add_columns(arguments, "dataset")
    add_store(arguments, "runs")
    return arguments


def run(options: argparse.Namespace) -> int:
    """Measure, write and print."""
    read_from = {"--calibration": options.calibration} if options.calibration else {}
    read_from |= {"run store": options.store, **files_of_runs(options.store, [options.run])}
    check_targets({"--json": options.json}, read_from)
    if not has_store(options.store):
        raise StoreError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with interruptible() as cancel, RunStore(options.store) as store:
        with store.reading():
            run = store.run(options.run)
            given = options.calibration
            calibration = load_calibration(given) if given else calibration_of_run(run)
            judged = tuple(store.judged(run.id))
        read = learned_from(run, judged, calibration=calibration)
        if calibration is not None and (lacking := calibration.check_run(run, judged)):
            tell(printable(lacking))
        report = _report(options, run, read, cancel)
    if options.json:
        write_json(options.json, _as_json(run, report))
        print(f"Orders: {options.json}\n")
    how = "uncalibrated and calibrated" if calibration else "uncalibrated"
    title = f"{run.title}: {counted(len(read.ids), 'item', 'items')} in both orders, {how}"
    print_sheet(Sheet(title, margin_sections(report)))
    return DONE


def _report(
    options: argparse.Namespace, run: StoredRun, read: BothOrders, cancel: CancelToken
) -> MarginReport:
    """The report. Without the dataset, shared instructions and tokens are not known."""
    instructions: dict[str, str] = {}
    tokens: list[OrderTokens] | None = None
    try:
        dataset = items_of_run(options, run, options.dataset, cancel)
        instructions = dataset.groups
        tokens = _tokens(run, dataset, read, cancel)
    except SetupError as error:
        if options.dataset is not None:
            raise
        tell(f"{printable(error.problem)}\nHow many tokens would be saved is not known.")
    return margin_report(read, groups_by_instruction(read.ids, instructions), options.keep, tokens)


def _tokens(run: StoredRun, dataset: Dataset, read: BothOrders, cancel: CancelToken) -> list[OrderTokens]:
    counts = show_measure("Counting", order_tokens(run, dataset, cancel))
    return [OrderTokens(*counts[item_id]) for item_id in read.ids]


def _as_json(run: StoredRun, report: MarginReport) -> dict[str, Any]:
    return {
        "run": run.id,
        "keep": report.keep,
        "least_margin": report.least.below if report.reached else None,
        "cross_validated": report.checked and _point_json(report.checked),
        "margins": [_point_json(point) for point in report.points],
    }


def _point_json(point: MarginPoint) -> dict[str, Any]:
    return {
        "margin": point.below,
        "items": point.items,
        "second_order_read": point.read,
        "tokens_saved": point.saved,
        "equal_labels": point.equal,
        "interval": point.interval_of_equal,
        "criteria": {
            name: {"equal_labels": share, "interval": point.intervals[name]}
            for name, share in point.kept.items()
        },
        **({"calibrated": _point_json(point.calibrated)} if point.calibrated else {}),
    }
