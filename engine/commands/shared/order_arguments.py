"""The arguments for the orders in which the two responses are shown.

Knows: the options, and where a margin threshold comes from. Does not know: how it is used.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from engine.commands.shared.console import tell
from engine.core.errors import SetupError
from engine.core.run_records import RunIdentity, StoredRun
from engine.core.settings import DEFAULT_MARGIN, check_margin
from engine.decisions.calibration import judge_of_run, load_calibration
from engine.decisions.second_order import KEEP, learned_from
from engine.store.opening import has_store
from engine.store.run_store import RunStore

BOTH, ONE, UNCERTAIN = "both", "one", "uncertain"


@dataclass(frozen=True)
class Orders:
    """The requested orders. `below`: the margin threshold for the second order; None to read it always.

    `learned_from`: the run that this threshold was learned from, if any.
    """

    both: bool = True
    below: float | None = None
    learned_from: StoredRun | None = None

    def check_fits(self, identity: RunIdentity) -> None:
        """SetupError if the margin threshold was learned from a run of another judge."""
        if self.learned_from is None:
            return
        run, judge = self.learned_from, judge_of_run(identity)
        before = judge_of_run(run.identity)
        for what, then, now in (
            ("model content", before.model_hash, judge.model_hash),
            ("prompts", before.prompt_version, judge.prompt_version),
            ("labelled examples", before.examples, judge.examples),
        ):
            if then != now:
                raise SetupError(
                    f"--margin-threshold-from {run.id}: that run had other {what} ({then[:12] or 'none'})"
                    f" than this one ({now[:12] or 'none'}).",
                    "Name a run of the same judge, or give a number: --margin-threshold M",
                )
        if other := [name for name, asked in judge.asked.items() if before.asked_of(name) != asked]:
            raise SetupError(
                f"--margin-threshold-from {run.id}: that run had other questions for {', '.join(other)}.",
                "Name a run of the same rubric, or give a number: --margin-threshold M",
            )


def add_orders(group: argparse._ArgumentGroup) -> None:
    """--orders, --margin-threshold and --margin-threshold-from."""
    group.add_argument(
        "--orders",
        choices=[BOTH, ONE, UNCERTAIN],
        help="show the responses in both orders (default); in one, for half the time; or in the second one"
        " only for items that are uncertain after the first",
    )
    group.add_argument(
        "--margin-threshold",
        type=float,
        metavar="M",
        help="an item is uncertain if the margin between its two likeliest labels is below M, 0 to 1"
        f" ({DEFAULT_MARGIN:g})",
    )
    group.add_argument(
        "--margin-threshold-from",
        type=int,
        metavar="RUN",
        help=f"the smallest margin threshold that keeps {KEEP:.0%}".replace("%", " %%")
        + " of this run's labels, as computed by the command orders",
    )


def orders_of(options: argparse.Namespace, criteria: Sequence[str], default: Orders | None = None) -> Orders:
    """The orders that the arguments request, else `default`; prints where a margin threshold comes from.

    SetupError if they contradict each other, or no threshold can be learned.
    """
    given = {
        "--margin-threshold": options.margin_threshold,
        "--margin-threshold-from": options.margin_threshold_from,
    }
    named = [name for name, value in given.items() if value is not None]
    if default is not None and options.orders is None and not named:
        return default
    asked = options.orders or BOTH
    if asked != UNCERTAIN:
        if named:
            raise SetupError(
                f"{named[0]} has no effect with --orders {asked}.",
                f"Add --orders {UNCERTAIN}, or remove {named[0]}.",
            )
        return Orders(asked == BOTH)
    if len(named) > 1:
        raise SetupError(
            "--margin-threshold and --margin-threshold-from both set the margin threshold.",
            "Remove one of them.",
        )
    if options.margin_threshold is not None:
        check_margin(options.margin_threshold)
        return Orders(below=options.margin_threshold)
    if options.margin_threshold_from is None:
        tell(
            f"Margin threshold: {DEFAULT_MARGIN:g}, the default. A run in both orders shows whether it suits"
            " this model: see the command orders."
        )
        return Orders(below=DEFAULT_MARGIN)
    return _learned(options, criteria)


def _learned(options: argparse.Namespace, criteria: Sequence[str]) -> Orders:
    if not has_store(options.store):
        raise SetupError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with RunStore(options.store) as store, store.reading():
        run = store.run(options.margin_threshold_from)
        calibration = load_calibration(options.calibration) if options.calibration else None
        found = learned_from(run, tuple(store.judged(run.id)), criteria, calibration)
    below = found.least_margin(KEEP)
    tell(f"Margin threshold: {below:g}, learned from {len(found.ids):,} items of run {run.id}.")
    return Orders(below=below, learned_from=run)
