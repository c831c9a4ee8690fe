"""A run: one dataset judged with one model and one set of settings, from the first item to the last.

Knows: the order of things, and which items are judged and stored together.
Does not know: llama.cpp's calls, SQL, windows.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from engine.core.cancel import Cancelled
from engine.core.events import (
    GroupUnderWay,
    HealthSeen,
    ItemJudged,
    ModelOpened,
    Reports,
    RunEnded,
    RunEvent,
    RunStarted,
)
from engine.core.judgments import CriterionCalibration, JudgedItem
from engine.core.run_records import StoredRun
from engine.core.settings import Mode
from engine.decisions.calibration import calibration_of
from engine.decisions.decision import decide_all
from engine.decisions.health import LEAST_ITEMS, MOST_ITEMS, HealthWatch
from engine.judge.item_judge import ItemJudge, Judging, Placed
from engine.judge.pace import Remaining
from engine.judge.plan import RunPlan, check_same_format, continued_manifest, session_manifest
from engine.loading.opening import OpenModel, OpenModelFactory
from engine.store.run_store import RunStore

Result = TypeVar("Result")


def run_judging(
    plan: RunPlan,
    store: RunStore,
    opener: OpenModelFactory,
    fresh: bool = False,
    *,
    resumes: int | None = None,
    ending: Callable[[], bool] = lambda: False,
) -> Iterator[RunEvent]:
    """Judge what the store does not hold yet; the last event is RunEnded, also where the run was stopped.

    `opener` is called only where something is left to judge; its CancelToken stops the run. `ending`: asked
    after each group whether the run is to stop there. Groups of items are fixed by their position, and
    stored together, so that a resumed run meets the same batches as an unbroken one. A run keeps the
    calibration, name and note that it has, unless the plan has others.
    `resumes`: the number of the run to go on with, of the identity of the plan; None for the latest
    such run, or a new one. Raises StoreError, RunBusyError, ModelFileError.
    """
    held = store.begin(plan.identity(), fresh) if resumes is None else store.hold(resumes)
    with held as run:
        plan = _settled(plan, store, run)
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
                    stopped = yield from _judge_groups(plan, opened, groups, _Kept(store, run.id, ending))
        except Cancelled:
            stopped = True
        yield RunEnded(run.id, len(plan.dataset), len(store.positions(run.id)), stopped)


def _settled(plan: RunPlan, store: RunStore, run: StoredRun) -> RunPlan:
    """Store what a plan says of its run beside items; the plan with the calibration that the run has then."""
    if plan.name is not None:
        store.name(run.id, plan.name)
    if plan.note is not None:
        store.note_run(run.id, plan.note)
    if plan.calibration is not None:
        store.calibrate(run.id, plan.calibration.as_json())
    elif run.calibration is not None:
        return replace(plan, calibration=calibration_of(run.calibration))
    return plan


def make_item_judge(plan: RunPlan, opened: OpenModel) -> ItemJudge:
    """What judges the items of a plan. Raises SetupError where the stem fills the context."""
    return ItemJudge(
        opened.session,
        opened.template,
        plan.rubric,
        plan.settings,
        plan.examples,
        calibration=plan.calibration,
        series=plan.dataset.series,
    )


@dataclass(frozen=True)
class _Kept:
    """Where the groups of a run are kept; `ending`: whether it is to stop after the next."""

    store: RunStore
    run_id: int
    ending: Callable[[], bool]


def _judge_groups(
    plan: RunPlan, opened: OpenModel, groups: Sequence[Sequence[int]], kept: _Kept
) -> Generator[RunEvent, None, bool]:
    """Judge and store groups; whether it was asked to stop before the last."""
    kept.store.restore([kept.run_id])  # from the archive: what goes on is looked for among the others
    judge = make_item_judge(plan, opened)
    remaining = _remaining(plan, judge, groups)
    watch = HealthWatch(plan.rubric.names, plan.settings.mode is Mode.EXPLAIN)
    stored = list(islice(kept.store.judged(kept.run_id), MOST_ITEMS))  # of a run that goes on
    columns = [decide_all(stored, name, _calibrations(plan).get(name)) for name in plan.rubric.names]
    for judgments in zip(*columns, strict=True):
        watch.add(judgments)
    if watch.items >= LEAST_ITEMS:
        yield HealthSeen(watch.health)
    stopped = False
    for number, group in enumerate(groups):
        if kept.ending():
            stopped = True
            break
        placed: list[Placed] = [(position, plan.dataset[position]) for position in group]
        left = remaining.after(number, judge.pace)
        results = yield from _until_the_end(judge.judge(placed), left)
        kept.store.add(kept.run_id, results)
        yield from _decided(plan, results, watch)
    if watch.items > LEAST_ITEMS:
        yield HealthSeen(watch.health)
    return stopped


def _remaining(plan: RunPlan, judge: ItemJudge, groups: Sequence[Sequence[int]]) -> Remaining:
    letters = plan.dataset.letters[[position for group in groups for position in group]]
    return Remaining(letters, list(map(len, groups)), judge.tokens_without_letters, judge.texts)


def _until_the_end(judging: Judging[Result], left: float | None) -> Judging[Result]:
    """The same work, telling how long the run takes whose later groups take `left` seconds."""
    reports = Reports(judging)
    for event in reports:
        if isinstance(event, GroupUnderWay) and left is not None and event.seconds_left is not None:
            yield replace(event, run_seconds_left=event.seconds_left + left)
        else:
            yield event
    return reports.result


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
