"""A regression check: items of an earlier run are judged again by its settings, and what changed since is
measured. Does not know: how a run is judged, how drift is measured.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

from engine.core.errors import Given, Hint, SetupError
from engine.core.events import Cancelled, CancelToken, MeasureProgress, Note
from engine.core.formatting import counted
from engine.core.rubric import rubric_for_labels
from engine.data.dataset import Dataset
from engine.data.label_origins import drawn_by_instruction
from engine.judging.plan import RunPlan
from engine.judging.work import read_again
from engine.metrics.drift import Drift
from engine.metrics.run_drift import run_drift
from engine.models.checked_model import in_use
from engine.operations.earlier_run import EarlierRun, earlier_run
from engine.operations.judge_request import JudgeRequest
from engine.results.run_dataset import load_as_judged
from engine.results.run_results import load_results, results_read_again
from engine.settings.identity import StoredRun
from engine.store.run_store import RunStore
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

DEFAULT_ITEMS = 50


@dataclass(frozen=True)
class RegressionCheck(EarlierRun):
    """`gold`: labels of the items, if in another file."""

    gold: Dataset | None = None


def planned(
    check: RegressionCheck, plan: RunPlan, request: JudgeRequest
) -> Generator[Note, None, tuple[RunPlan, bool]]:
    """The plan with the calibration of the earlier run if it fits, and a default name; whether it is new."""
    try:
        plan = replace(plan, calibration=check.then.calibration)
    except SetupError:
        yield Note(f"The calibration of {check.run.called} is of another judge: it is not used here.")
    with RunStore(request.store) as store:
        found = store.find(plan.identity().key)
    # The earlier run is what is checked, even with the same key: so only a check that started after it and
    # was stopped is resumed.
    anew = found is None or found.id <= check.run.id or found.complete
    if request.name is None and anew:
        plan = replace(plan, name=f"regression check of run {check.run.id}")
    return plan, anew


def drift_since(
    check: RegressionCheck, plan: RunPlan, store_path: Path, run_id: int, cancel: CancelToken, *, apart: bool
) -> Generator[MeasureProgress | Note, None, Drift]:
    """The drift from the earlier run to the run that judged its items again. If any probability changed, the
    items are first read once more in another batch shape, to measure the effect of rounding.
    """
    with RunStore(store_path) as store:
        now = load_results(store, run_id)
    found = run_drift(check.then, now, check.items, check.gold)
    if not found.may_be_rounding:
        return found
    try:
        # A GPU driver may crash the process that uses it.
        worker = (SubprocessWorker if apart or plan.machine.device else InProcessWorker)(read_again, cancel)
        with worker, in_use(plan.model):
            yield from worker.do(plan, store_path, run_id)
    except (Cancelled, SetupError) as error:
        why = "It was stopped." if isinstance(error, Cancelled) else error.problem
        yield Note(f"The effect of rounding on probabilities is not measured. {why}")
    with RunStore(store_path) as store:
        again = (None, results_read_again(store, now))
    return run_drift(check.then, now, check.items, check.gold, again)


def regression_check_of(
    request: JudgeRequest, cancel: CancelToken
) -> Generator[Note, None, RegressionCheck | None]:
    """The requested check. SetupError for a run of no model, too few items, a dataset gone or other."""
    if request.regression_check is None:
        return None
    then, judged = earlier_run(request, "regression_check", request.regression_check, cancel)
    run = then.run
    if run.identity.examples and request.examples is None:
        same = (Given("few_shot"), " and ", Given("few_shot_selection"))
        raise SetupError(
            f"{run.title} was shown labelled examples, and the store does not have their file.",
            Hint("Name it: ", Given("examples"), " (with the same ", *same, ")"),
        )
    if request.items is not None and request.items > len(judged):
        found = f"{run.called} judged {counted(len(judged), 'item', 'items')}."
        raise SetupError(
            Hint(Given("items"), f" is {request.items:,}: {found}"), f"Use {len(judged):,} or fewer."
        )
    if request.items is None and len(judged) < DEFAULT_ITEMS:
        yield Note(f"All {len(judged):,} items that {run.called} judged are judged again.")
    count = request.items or min(DEFAULT_ITEMS, len(judged))
    items = drawn_by_instruction(judged, count, request.seed)
    gold = None if request.gold is None else _gold(request.gold, run, items, cancel)
    return RegressionCheck(then, items, gold)


def _gold(path: Path, run: StoredRun, items: Dataset, cancel: CancelToken) -> Dataset:
    """A file of human labels. SetupError if it has no label of these items on a criterion of the run."""
    gold = load_as_judged(path, [run], cancel, moved=True, rubric=rubric_for_labels([run.identity.asked]))
    hashes = {item.id: item.content_hash for item in items}
    given = [each for item in gold.same_items(hashes) for each in item.gold.items()]
    if not any(name in run.identity.criteria and each.label is not None for name, each in given):
        raise SetupError(
            f"{gold.name} has no human label of the {len(items):,} items that are judged again.",
            "Name a dataset with the same ids and texts, and labels of the criteria of the run.",
        )
    return gold
