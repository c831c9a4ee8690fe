"""`judge --regression-check`: judge items of an earlier run again, and report the drift since.

Knows: the arguments, which settings come from the earlier run, when a check starts anew. Does not know: how a
run is judged, how drift is measured.
"""

import argparse
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.cli.shared.console import printable, tell
from engine.cli.shared.data_arguments import columns_of, rubric_of, seed_of
from engine.cli.shared.judging import read_again_here
from engine.cli.shared.setting_arguments import Orders
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress
from engine.core.formatting import counted
from engine.core.rubric import Rubric, rubric_for_labels
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn_by_instruction
from engine.judging.plan import RunPlan
from engine.metrics.drift import Drift
from engine.metrics.run_drift import run_drift
from engine.results.run_dataset import dataset_of_run, load_as_judged
from engine.results.run_results import RunResults, load_results, results_read_again
from engine.settings.identity import StoredRun, refuse_unasked
from engine.settings.rows import CPU
from engine.settings.run_setup import RunSetup
from engine.store.opening import has_store
from engine.store.run_store import RunStore

DEFAULT_ITEMS = 50


@dataclass(frozen=True)
class RegressionCheck:
    """Some `items` of an earlier run, whose results are `then`. `gold`: the file of their human labels, if it
    is another one.
    """

    then: RunResults
    items: Dataset
    gold: Dataset | None = None

    @property
    def run(self) -> StoredRun:
        """The earlier run."""
        return self.then.run

    @property
    def default(self) -> RunSetup:
        """The setup of the earlier run: the defaults of the check."""
        return replace(
            RunSetup.as_in(self.run),
            dataset_path=self.items.path,
            columns=self.items.columns,
            items=None,
            sample=None,
            ids=tuple(self.items.ids),
            device=self.run.identity.device or CPU,
        )

    @property
    def orders(self) -> Orders:
        """The orders of the earlier run."""
        default = self.default
        return Orders(default.both_orders, default.second_order_below)

    def criteria_of(self, rubric: Rubric) -> tuple[str, ...]:
        """The criteria of a rubric that the earlier run has, too. SetupError if there are none."""
        known = self.run.identity.criteria
        if shared := tuple(name for name in rubric.names if name in known):
            return shared
        raise SetupError(
            f"{self.run.title} has the criteria {', '.join(known)}, and none of them is requested now"
            f" ({', '.join(rubric.names)}).",
            "Name one of its criteria with --criteria, or a rubric that has criteria of these names.",
        )

    def planned(self, plan: RunPlan, store_path: Path, named: bool) -> RunPlan:
        """A plan that judges them, with the calibration of the earlier run if it fits, and with a default
        name for a new run that is not `named`.
        """
        calibration = self.then.calibration
        try:
            plan = replace(plan, calibration=calibration)
        except SetupError:
            tell(f"The calibration of {printable(self.run.called)} is of another judge: it is not used here.")
        if not named and self.begins_anew(plan, store_path):
            plan = replace(plan, name=f"regression check of run {self.run.id}")
        return plan

    def begins_anew(self, plan: RunPlan, store_path: Path) -> bool:
        """Whether the plan is a new run. The earlier run is what is checked, even with the same key; so only
        a check that started after it and was stopped is resumed.
        """
        with RunStore(store_path) as store:
            found = store.find(plan.identity().key)
        return found is None or found.id <= self.run.id or found.complete


def drift_since(
    regression: RegressionCheck,
    plan: RunPlan,
    store: RunStore,
    run_id: int,
    *,
    cancel: CancelToken,
    follow: Callable[[Generator[MeasureProgress, None, None]], None],
    apart: bool = False,
) -> Drift:
    """The drift from the earlier run to the run that judged its items again.

    If any probability changed, the items are first read once more, to measure the effect of rounding;
    `follow` runs that measurement to its end, in a process of its own or not (`apart`). If it fails or is
    stopped, this is reported.
    """
    now = load_results(store, run_id)
    found = run_drift(regression.then, now, regression.items, regression.gold)
    if not found.may_be_rounding:
        return found
    try:
        follow(read_again_here(plan, store.path, run_id, cancel, apart=apart))
    except (Cancelled, SetupError) as error:
        why = "It was stopped." if isinstance(error, Cancelled) else error.problem
        tell(f"The effect of rounding on probabilities is not measured. {why}")
    again = (None, results_read_again(store, now))
    return run_drift(regression.then, now, regression.items, regression.gold, again)


def add_regression_check(arguments: argparse.ArgumentParser) -> None:
    """--regression-check and --gold."""
    group = arguments.add_argument_group("regression check against an earlier run")
    group.add_argument(
        "--regression-check",
        type=int,
        metavar="RUN",
        help=f"judge items of this run again (--items, {DEFAULT_ITEMS}; sampled with --seed) and report the"
        " drift of labels, probabilities and accuracy. By default the dataset, the model, the rubric and all"
        " settings are those of RUN",
    )
    group.add_argument(
        "--gold", type=Path, metavar="DATASET", help="human labels of these items, if DATASET has none"
    )


def regression_check_of(options: argparse.Namespace, cancel: CancelToken) -> RegressionCheck | None:
    """The requested regression check; None without --regression-check.

    SetupError if no model judged that run, it has too few items, its dataset is missing or has other items,
    or other arguments exclude it.
    """
    if options.regression_check is None:
        if options.gold is not None:
            raise SetupError(
                "--gold names human labels for a regression check.",
                "Add --regression-check RUN, or use evaluate after judge.",
            )
        return None
    _refuse_others(options)
    if not has_store(options.store):
        raise SetupError(f"There is no run store {options.store}.", "Name the right file with --store.")
    with RunStore(options.store) as store:
        run = store.run(options.regression_check)
        refuse_unasked(run, "be judged again")
        then = load_results(store, run.id)
    if run.identity.examples and options.examples is None:
        raise SetupError(
            f"{run.title} was shown labelled examples, and the store does not have their file.",
            "Name it: --examples FILE (with the same --few-shot and --few-shot-selection)",
        )
    judged = _dataset(options, run, cancel).only(then.content_hashes)
    items = drawn_by_instruction(judged, _count(options.items, run, len(judged)), seed_of(options))
    return RegressionCheck(then, items, _gold(options, run, items, cancel))


def _refuse_others(options: argparse.Namespace) -> None:
    others = ("sample", "sample_by", "ids", "until")
    if given := [f"--{name.replace('_', '-')}" for name in others if getattr(options, name) is not None]:
        raise SetupError(
            f"--regression-check samples the items of RUN; {' and '.join(given)} would choose others.",
            f"Remove {given[0]}; --items N sets their number, --seed another sample.",
        )
    if options.calibration is not None:
        raise SetupError(
            "--regression-check decides both runs alike: by the calibration of RUN if it fits, else"
            " uncalibrated.",
            "Remove --calibration.",
        )


def _dataset(options: argparse.Namespace, run: StoredRun, cancel: CancelToken) -> Dataset:
    """The items of the earlier run."""
    path = options.dataset or run.identity.dataset_path
    if options.dataset is None and not has_store(path):
        raise SetupError(
            f"{run.title}: its dataset {path} is missing.",
            f"Put it back, or name the file: judge DATASET --regression-check {run.id}",
        )
    return dataset_of_run(run, path, cancel, columns_of(options, rubric_of(options)))


def _count(asked: int | None, run: StoredRun, judged: int) -> int:
    if asked is not None and asked < 1:
        raise SetupError(f"--items is {asked}.", "Use 1 or more.")
    if not judged:
        raise SetupError(f"{run.title} has judged no item yet.", "Name another run.")
    if asked is not None and asked > judged:
        raise SetupError(
            f"--items is {asked:,}: {run.called} judged {counted(judged, 'item', 'items')}.",
            f"Use {judged:,} or fewer.",
        )
    if asked is None and judged < DEFAULT_ITEMS:
        tell(f"All {judged:,} items that {printable(run.called)} judged are judged again.")
    return asked or min(DEFAULT_ITEMS, judged)


def _gold(options: argparse.Namespace, run: StoredRun, items: Dataset, cancel: CancelToken) -> Dataset | None:
    """The file of --gold. SetupError if it has no label of these items on a criterion of the run."""
    if options.gold is None:
        return None
    rubric = rubric_for_labels([run.identity.asked])
    gold = load_as_judged(options.gold, [run], cancel, moved=True, rubric=rubric)
    hashes = {item.id: item.content_hash for item in items}
    known = run.identity.criteria
    labelled = sum(
        any(name in known and labelled.label is not None for name, labelled in item.gold.items())
        for item in gold.same_items(hashes)
    )
    if not labelled:
        raise SetupError(
            f"{gold.name} has no human label of the {len(items):,} items that are judged again.",
            "Name a dataset with the same ids and texts, and labels of the criteria of the run.",
        )
    return gold
