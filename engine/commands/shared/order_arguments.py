"""The arguments that say in which orders of the responses items are read.

Knows: their words, and where a margin comes from. Does not know: how a margin is used.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from engine.commands.shared.console import tell
from engine.core.errors import SetupError
from engine.core.run_records import RunIdentity, StoredRun
from engine.core.settings import USUAL_MARGIN, check_margin
from engine.decisions.calibration import judge_of_run, load_calibration
from engine.decisions.second_order import KEEP, learned_from
from engine.store.opening import is_there
from engine.store.run_store import RunStore

BOTH, ONE, DOUBTFUL = "both", "one", "doubtful"


@dataclass(frozen=True)
class Orders:
    """What was asked for. `below`: read the second order only where a margin is below this, None for all.

    `learned_from`: the run that this margin was learned from, if any.
    """

    both: bool = True
    below: float | None = None
    learned_from: StoredRun | None = None

    def check_fits(self, identity: RunIdentity) -> None:
        """SetupError where the margin was learned from a run of another judge than this one."""
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
                    f"--margin-from {run.id}: that run had other {what} ({then[:12] or 'none'}) than this one"
                    f" ({now[:12] or 'none'}).",
                    "Name a run of the same judge, or give a number: --margin M",
                )
        if other := [name for name, asked in judge.asked.items() if before.asked_of(name) != asked]:
            raise SetupError(
                f"--margin-from {run.id}: that run was asked in other words on {', '.join(other)}.",
                "Name a run of the same rubric, or give a number: --margin M",
            )


def add_orders(group: argparse._ArgumentGroup) -> None:
    """Let a command choose the orders."""
    group.add_argument(
        "--orders",
        choices=[BOTH, ONE, DOUBTFUL],
        help="show the responses in both orders (default); in one, for half the time; or in the second one"
        " only where the first leaves a label in doubt",
    )
    group.add_argument(
        "--margin",
        type=float,
        metavar="M",
        help="what doubtful is: the likeliest label leads the next by less than M, 0 to 1"
        f" ({USUAL_MARGIN:g})",
    )
    group.add_argument(
        "--margin-from",
        type=int,
        metavar="RUN",
        help=f"the least margin that kept {KEEP:.0%}".replace("%", " %%")
        + " of the labels of this run, as the command orders shows it",
    )


def orders_of(options: argparse.Namespace, criteria: Sequence[str], usual: Orders | None = None) -> Orders:
    """What the arguments ask for, `usual` where they say nothing; says where a margin comes from.

    SetupError where they contradict each other, or no margin can be learned.
    """
    given = {"--margin": options.margin, "--margin-from": options.margin_from}
    named = [name for name, value in given.items() if value is not None]
    if usual is not None and options.orders is None and not named:
        return usual
    asked = options.orders or BOTH
    if asked != DOUBTFUL:
        if named:
            raise SetupError(
                f"{named[0]} is of no use with --orders {asked}.",
                f"Add --orders {DOUBTFUL}, or leave {named[0]} out.",
            )
        return Orders(asked == BOTH)
    if len(named) > 1:
        raise SetupError("--margin and --margin-from say both what the margin is.", "Leave one of them out.")
    if options.margin is not None:
        check_margin(options.margin)
        return Orders(below=options.margin)
    if options.margin_from is None:
        tell(
            f"Margin: {USUAL_MARGIN:g}, the usual one. Whether it is right for this model, a run in both"
            " orders tells: see the command orders."
        )
        return Orders(below=USUAL_MARGIN)
    return _learned(options, criteria)


def _learned(options: argparse.Namespace, criteria: Sequence[str]) -> Orders:
    if not is_there(options.store):
        raise SetupError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with RunStore(options.store) as store, store.reading():
        run = store.run(options.margin_from)
        calibration = load_calibration(options.calibration) if options.calibration else None
        found = learned_from(run, tuple(store.judged(run.id)), criteria, calibration)
    below = found.least_margin(KEEP)
    tell(f"Margin: {below:g}, learned from {len(found.ids):,} items of run {run.id}.")
    return Orders(below=below, learned_from=run)
