"""A run: one dataset judged with one model and one set of settings, from the first item to the last.

Knows: the order of things, and which items are judged and stored together.
Does not know: llama.cpp's calls, SQL, windows.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from engine.core.cancel import Cancelled
from engine.core.events import GroupUnderWay, ModelOpened, Reports, RunEnded, RunEvent, RunStarted
from engine.core.run_records import RANDOM_ORDER
from engine.judge.inquiry import Asking, in_random_order, order_of
from engine.judge.item_judge import ItemJudge, Placed
from engine.judge.item_reader import Judging
from engine.judge.keeping import RunWriter, adjudicated, missing_groups
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
    `resumes`: the number of the run to resume, of the identity of the plan; None for the latest
    such run, or a new one. With an inquiry instructions are judged in a random order, also by later sessions,
    and the run ends once it is answered. Raises StoreError, RunBusyError, ModelFileError, SetupError.
    """
    held = store.begin(plan.identity(), fresh) if resumes is None else store.hold(resumes)
    with held as run:
        plan = adjudicated(plan, store, run)
        judged = store.positions(run.id)
        groups = missing_groups(plan, judged)
        order = order_of(run, plan.question_plan, len(judged))
        if order is not None:
            groups = in_random_order(groups, plan.dataset, order["seed"])
        yield RunStarted(run.id, len(plan.dataset), len(judged))
        keeper = RunWriter(plan, store, run.id)
        asking = Asking(plan.question_plan, plan.rubric.names)
        yield from keeper.told_again(asking)
        stopped = False
        try:
            if groups and not asking.is_answered:
                with opener() as opened:
                    check_same_format(run, opened.template)
                    manifest = continued_manifest(run.manifest, session_manifest(plan, opened.template))
                    drawn = {} if order is None else {RANDOM_ORDER: order}
                    store.describe(run.id, {**manifest, **drawn})
                    yield ModelOpened(opened.template.frame.note)
                    stopped = yield from _judge_groups(
                        plan, opened, groups, keeper, asking=asking, ending=ending
                    )
        except Cancelled:
            stopped = True
        count = len(store.positions(run.id))
        yield RunEnded(run.id, len(plan.dataset), count, stopped, asking.is_answered)


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


def _judge_groups(
    plan: RunPlan,
    opened: OpenModel,
    groups: Sequence[Sequence[int]],
    keeper: RunWriter,
    *,
    asking: Asking,
    ending: Callable[[], bool],
) -> Generator[RunEvent, None, bool]:
    """Judge and store groups that are wanted; whether it was asked to stop before the last."""
    judge = make_item_judge(plan, opened)
    remaining = _remaining(plan, judge, groups)
    yield from keeper.begin()
    stopped = False
    for number, group in enumerate(groups):
        if not asking.wants(plan.dataset.ids[position] for position in group):
            continue
        if ending():
            stopped = True
            break
        placed: list[Placed] = [(position, plan.dataset[position]) for position in group]
        left = remaining.after(number, judge.time_estimate)
        results = yield from _until_the_end(judge.judge(placed), left)
        for event in keeper.keep(results):
            asking.hear(event)
            yield event
        yield from asking.look()
    yield from keeper.end()
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
