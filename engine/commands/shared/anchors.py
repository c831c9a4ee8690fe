"""`judge --anchors`: which items of an earlier run are judged again, how, and what changed since.

Knows: the arguments, what of the earlier run holds where nothing else is said, when a check begins anew. Does
not know: how a run is judged, how changes are measured.
"""

import argparse
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.commands.shared.column_arguments import columns_of, rubric_of
from engine.commands.shared.console import printable, tell
from engine.commands.shared.item_arguments import seed_of
from engine.commands.shared.judging import read_again_here
from engine.commands.shared.order_arguments import Orders
from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import SetupError
from engine.core.events import MeasureProgress
from engine.core.formatting import counted
from engine.core.rubric import Rubric, rubric_for_labels
from engine.core.run_records import DEVICE, StoredRun, refuse_unasked
from engine.core.run_setup import RunSetup
from engine.core.settings import CPU
from engine.data.dataset import Dataset
from engine.data.sampling import drawn_by_instruction
from engine.decisions.read_again import results_read_again
from engine.decisions.run_dataset import dataset_of_run, load_as_judged
from engine.decisions.run_results import RunResults, load_results
from engine.judge.plan import RunPlan
from engine.measure.drift import Drift
from engine.measure.run_drift import run_drift
from engine.store.opening import is_there
from engine.store.run_store import RunStore

USUAL_ITEMS = 50


@dataclass(frozen=True)
class Anchors:
    """Some `items` of an earlier run, whose results are `then`. `gold`: where their human labels are, where
    that is another file.
    """

    then: RunResults
    items: Dataset
    gold: Dataset | None = None

    @property
    def run(self) -> StoredRun:
        """The earlier run."""
        return self.then.run

    @property
    def usual(self) -> RunSetup:
        """What judges them again as the earlier run did."""
        return replace(
            RunSetup.as_in(self.run),
            dataset_path=self.items.path,
            columns=self.items.columns,
            items=None,
            sample=None,
            ids=tuple(self.items.ids),
            device=self.run.identity.settings.get(DEVICE, CPU),
        )

    @property
    def orders(self) -> Orders:
        """In which orders the earlier run read."""
        usual = self.usual
        return Orders(usual.both_orders, usual.second_order_below)

    def criteria_of(self, rubric: Rubric) -> tuple[str, ...]:
        """What a rubric asks that the earlier run was asked, too. SetupError for nothing."""
        known = self.run.identity.criteria
        if shared := tuple(name for name in rubric.names if name in known):
            return shared
        raise SetupError(
            f"{self.run.title} was asked about {', '.join(known)}, and nothing of that is asked now"
            f" ({', '.join(rubric.names)}).",
            "Name one of its criteria with --criteria, or a rubric that has criteria of these names.",
        )

    def planned(self, plan: RunPlan, store_path: Path, named: bool) -> RunPlan:
        """A plan that judges them, with the calibration of the earlier run where it fits, and, where nobody
        `named` the run and it begins anew, with a name that says what it is.
        """
        calibration = self.then.calibration
        try:
            plan = replace(plan, calibration=calibration)
        except SetupError:
            tell(
                f"The calibration of {printable(self.run.called)} is of another judge: it decides nothing"
                " here."
            )
        if not named and self.begins_anew(plan, store_path):
            plan = replace(plan, name=f"anchors of run {self.run.id}")
        return plan

    def begins_anew(self, plan: RunPlan, store_path: Path) -> bool:
        """Whether the plan is a new run. What was judged before is what is checked, be it of the same key; so
        it goes on only with a check that began after the earlier run and was stopped.
        """
        with RunStore(store_path) as store:
            found = store.find(plan.identity().key)
        return found is None or found.id <= self.run.id or found.complete


def drift_since(
    anchors: Anchors,
    plan: RunPlan,
    store: RunStore,
    run_id: int,
    *,
    cancel: CancelToken,
    follow: Callable[[Generator[MeasureProgress, None, None]], None],
    apart: bool = False,
) -> Drift:
    """What changed from the earlier run to one that has judged its items again.

    Where any probability did, the items are read once more before, to know how far rounding moves them;
    `follow` is given that reading, by a process of its own or not (`apart`), to bring it to its end. Where
    that fails, or is stopped, it is told.
    """
    now = load_results(store, run_id)
    found = run_drift(anchors.then, now, anchors.items, anchors.gold)
    if not found.may_be_rounding:
        return found
    try:
        follow(read_again_here(plan, store.path, run_id, cancel, apart=apart))
    except (Cancelled, SetupError) as error:
        why = "It was stopped." if isinstance(error, Cancelled) else error.problem
        tell(f"How far rounding moves probabilities is not measured. {why}")
    again = (None, results_read_again(store, now))
    return run_drift(anchors.then, now, anchors.items, anchors.gold, again)


def add_anchors(arguments: argparse.ArgumentParser) -> None:
    """--anchors and --gold."""
    group = arguments.add_argument_group("an earlier run, checked")
    group.add_argument(
        "--anchors",
        type=int,
        metavar="RUN",
        help=f"judge items of this run again (--items, {USUAL_ITEMS}; drawn by --seed) and say what changed:"
        " labels, probabilities, accuracy. What you do not say is as in RUN: the dataset, the model, the"
        " rubric, every setting",
    )
    group.add_argument(
        "--gold", type=Path, metavar="DATASET", help="human labels of these items, if DATASET has none"
    )


def anchors_of(options: argparse.Namespace, cancel: CancelToken) -> Anchors | None:
    """What --anchors asks for; None without it.

    SetupError where no model judged that run or it has too few items, its dataset is not there or holds
    others, or other arguments do not go with it.
    """
    if options.anchors is None:
        if options.gold is not None:
            raise SetupError(
                "--gold names the human labels of anchors.", "Add --anchors RUN, or use evaluate after judge."
            )
        return None
    _refuse_others(options)
    if not is_there(options.store):
        raise SetupError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with RunStore(options.store) as store:
        run = store.run(options.anchors)
        refuse_unasked(run, "be judged again")
        then = load_results(store, run.id)
    if run.identity.settings.get("examples") and options.examples is None:
        raise SetupError(
            f"{run.title} was shown labelled examples, whose file the store does not know.",
            "Name it: --examples FILE (and --shots, --choose, as they were)",
        )
    judged = _dataset(options, run, cancel).only(then.content_hashes)
    items = drawn_by_instruction(judged, _count(options.items, run, len(judged)), seed_of(options))
    return Anchors(then, items, _gold(options, run, items, cancel))


def _refuse_others(options: argparse.Namespace) -> None:
    others = ("sample", "sample_by", "ids", "until")
    if given := [f"--{name.replace('_', '-')}" for name in others if getattr(options, name) is not None]:
        raise SetupError(
            f"--anchors draws its items among those of RUN; {' and '.join(given)} would choose others.",
            f"Leave {given[0]} out; --items N says how many, --seed draws others.",
        )
    if options.calibration is not None:
        raise SetupError(
            "--anchors decides both runs alike: by the calibration of RUN where it fits, else as they"
            " were read.",
            "Leave --calibration out.",
        )


def _dataset(options: argparse.Namespace, run: StoredRun, cancel: CancelToken) -> Dataset:
    """The items of the earlier run."""
    path = options.dataset or run.identity.dataset_path
    if options.dataset is None and not is_there(path):
        raise SetupError(
            f"{run.title} is of {path}, which is not there.",
            f"Put it back, or name the file: judge DATASET --anchors {run.id}",
        )
    return dataset_of_run(run, path, cancel, columns_of(options, rubric_of(options)))


def _count(asked: int | None, run: StoredRun, judged: int) -> int:
    if asked is not None and asked < 1:
        raise SetupError(f"--items is {asked}.", "Use 1 or more.")
    if not judged:
        raise SetupError(f"{run.title} has judged no item yet.", "Name a run that has.")
    if asked is not None and asked > judged:
        raise SetupError(
            f"--items is {asked:,}: {run.called} judged {counted(judged, 'item', 'items')}.",
            f"Use {judged:,} or fewer.",
        )
    if asked is None and judged < USUAL_ITEMS:
        tell(f"All {judged:,} items that {printable(run.called)} judged are judged again.")
    return asked or min(USUAL_ITEMS, judged)


def _gold(options: argparse.Namespace, run: StoredRun, items: Dataset, cancel: CancelToken) -> Dataset | None:
    """The file of --gold. SetupError where it has no label of these items on a criterion of the run."""
    if options.gold is None:
        return None
    rubric = rubric_for_labels([run.identity.asked])
    gold = load_as_judged(options.gold, [run], cancel, moved=True, rubric=rubric)
    hashes = {item.id: item.content_hash for item in items}
    known = run.identity.criteria
    labelled = sum(
        any(name in known and said.label is not None for name, said in item.gold.items())
        for item in gold.same_items(hashes)
    )
    if not labelled:
        raise SetupError(
            f"{gold.name} has no human label of the {len(items):,} items that are judged again.",
            "Name a dataset with the same ids and texts, and labels of the criteria of the run.",
        )
    return gold
