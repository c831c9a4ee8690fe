"""A run: one dataset judged with one model and one set of settings, from the first item to the last.

Knows: the order of things, and which items are judged and stored together.
Does not know: llama.cpp's calls, SQL, windows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from engine.core.cancel import Cancelled
from engine.core.events import HealthSeen, ItemJudged, ModelOpened, RunEnded, RunEvent, RunStarted
from engine.core.judgments import CriterionCalibration, JudgedItem
from engine.core.settings import Mode
from engine.decisions.calibration import calibration_of
from engine.decisions.decision import decide_all
from engine.decisions.health import LEAST_ITEMS, MOST_ITEMS, HealthWatch
from engine.judge.item_judge import ItemJudge, Placed
from engine.judge.plan import RunPlan, check_same_format, continued_manifest, session_manifest
from engine.loading.opening import OpenModel, OpenModelFactory
from engine.store.run_store import RunStore


def run_judging(
    plan: RunPlan, store: RunStore, opener: OpenModelFactory, fresh: bool = False, resumes: int | None = None
) -> Iterator[RunEvent]:
    """Judge what the store does not hold yet; the last event is RunEnded, also where the run was stopped.

    `opener` is called only where something is left to judge; its CancelToken stops the run. Groups of
    items are fixed by their position, and stored together, so that a resumed run meets the same batches
    as an unbroken one. A run keeps the calibration that it has, unless the plan has another.
    `resumes`: the number of the run to go on with, of the identity of the plan; None for the latest
    such run, or a new one. Raises StoreError, RunBusyError, ModelFileError.
    """
    held = store.begin(plan.identity(), fresh) if resumes is None else store.hold(resumes)
    with held as run:
        if plan.calibration is not None:
            store.calibrate(run.id, plan.calibration.as_json())
        if plan.calibration is None and run.calibration is not None:
            plan = replace(plan, calibration=calibration_of(run.calibration))
        judged = store.positions(run.id)
        groups = _missing_groups(plan, judged)
        yield RunStarted(run.id, len(plan.dataset), len(judged))
        stopped = False
        try:
            if groups:
                with opener() as opened:
                    check_same_format(run, opened.template)
                    store.describe(
                        run.id, continued_manifest(run.manifest, session_manifest(plan, opened.template))
                    )
                    yield ModelOpened(opened.template.frame.note)
                    yield from _judge_groups(plan, opened, groups, store, run.id)
        except Cancelled:
            stopped = True
        yield RunEnded(run.id, len(plan.dataset), len(store.positions(run.id)), stopped)


def make_item_judge(plan: RunPlan, opened: OpenModel) -> ItemJudge:
    """What judges the items of a plan. Raises SetupError where the stem fills the context."""
    return ItemJudge(
        opened.session,
        opened.template,
        plan.rubric,
        plan.settings,
        plan.examples,
        calibration=plan.calibration,
    )


def _judge_groups(
    plan: RunPlan, opened: OpenModel, groups: Sequence[Sequence[int]], store: RunStore, run_id: int
) -> Iterator[RunEvent]:
    judge = make_item_judge(plan, opened)
    watch = HealthWatch(plan.rubric.names, plan.settings.mode is Mode.EXPLAIN)
    stored = list(islice(store.judged(run_id), MOST_ITEMS))  # of a run that goes on
    columns = [decide_all(stored, name, _calibrations(plan).get(name)) for name in plan.rubric.names]
    for judgments in zip(*columns, strict=True):
        watch.add(judgments)
    if watch.items >= LEAST_ITEMS:
        yield HealthSeen(watch.health)
    for group in groups:
        placed: list[Placed] = [(position, plan.dataset[position]) for position in group]
        results = yield from judge.judge(placed)
        store.add(run_id, results)
        yield from _decided(plan, results, watch)
    if watch.items > LEAST_ITEMS:
        yield HealthSeen(watch.health)


def _decided(
    plan: RunPlan, judged: Sequence[JudgedItem], watch: HealthWatch
) -> Iterator[ItemJudged | HealthSeen]:
    """Items with what is decided of them; the calibration of the plan is the one in force."""
    columns = [decide_all(judged, name, _calibrations(plan).get(name)) for name in plan.rubric.names]
    for item, *judgments in zip(judged, *columns, strict=True):
        yield ItemJudged(item, tuple(judgments))
        watch.add(judgments)
        if watch.items == LEAST_ITEMS:
            yield HealthSeen(watch.health)


def _calibrations(plan: RunPlan) -> Mapping[str, CriterionCalibration]:
    return plan.calibration.criteria if plan.calibration else {}


def _missing_groups(plan: RunPlan, judged: set[int]) -> list[range]:
    """Groups of positions of which none is stored; a group is stored whole."""
    size, items = plan.settings.items_at_once, len(plan.dataset)
    groups = (range(start, min(start + size, items)) for start in range(0, items, size))
    return [group for group in groups if group.start not in judged]
