"""A run: one dataset judged with one model and one set of settings, from the first item to the last.

What a run keeps and tells, whoever judges it: missing groups, what is stored, how healthy it is.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from engine.core.events import (
    Cancelled,
    GroupUnderWay,
    HealthSeen,
    ItemJudged,
    ModelOpened,
    Reports,
    Resolved,
    RunEnded,
    RunEvent,
    RunStarted,
)
from engine.core.judgments import AnyJudgment, JudgedItem
from engine.judging.item_judge import ItemJudge, Placed
from engine.judging.item_reader import Judging
from engine.judging.plan import (
    Asking,
    RunPlan,
    check_same_format,
    continued_manifest,
    in_random_order,
    order_of,
    session_manifest,
)
from engine.judging.progress import Remaining
from engine.models.opening import OpenModel, OpenModelFactory
from engine.results.calibration import calibration_of
from engine.results.decision import decide_all
from engine.results.health import LEAST_ITEMS, MOST_ITEMS, HealthWatch
from engine.settings.identity import RANDOM_ORDER, StoredRun
from engine.store.run_store import RunStore

_AT_ONCE = 1000  # stored items that are passed to an inquiry together: their raw predictions are large


def adjudicated(plan: RunPlan, store: RunStore, run: StoredRun) -> RunPlan:
    """Store what a plan says of its run next to items; the plan with the calibration that the run has then.

    SetupError, with nothing stored, where that looks at lengths of responses that the run does not know.
    """
    calibration = plan.calibration
    if calibration is None and run.calibration is not None:
        calibration = calibration_of(run.calibration)
    if calibration is not None:
        with closing(store.judged(run.id)) as judged:  # it holds the store while it is read
            calibration.check_lengths(judged, run.title)
    if plan.name is not None:
        store.name(run.id, plan.name)
    if plan.note is not None:
        store.note_run(run.id, plan.note)
    if plan.calibration is not None:
        store.calibrate(run.id, plan.calibration.as_json())
    return replace(plan, calibration=calibration)


def missing_groups(plan: RunPlan, judged: set[int]) -> list[range]:
    """Groups of positions of which none is stored; a group is stored whole."""
    size, items = plan.settings.items_at_once, len(plan.dataset)
    groups = (range(start, min(start + size, items)) for start in range(0, items, size))
    # A group is stored whole, so its first item stands for all.
    return [group for group in groups if group.start not in judged]


class RunWriter:
    """Stores the groups of a run, and tells what is decided of them; the run is held meanwhile."""

    def __init__(self, plan: RunPlan, store: RunStore, run_id: int) -> None:
        self._plan = plan
        self._store = store
        self._run_id = run_id
        self._calibrations = plan.calibration.criteria if plan.calibration else {}
        self._watch = HealthWatch(plan.rubric, plan.settings.explains)

    def begin(self) -> Iterator[HealthSeen]:
        """Go on with what is stored already, also where it is in the archive: what continues is looked
        for.
        """
        self._store.restore([self._run_id])
        stored = list(islice(self._store.judged(self._run_id), MOST_ITEMS))
        for judgments in zip(*self._columns(stored), strict=True):
            self._watch.add(judgments)
        if self._watch.items >= LEAST_ITEMS:
            yield HealthSeen(self._watch.health)

    def told_again(self, asking: Asking) -> Iterator[Resolved]:
        """Tell an inquiry all that is stored."""
        if not asking.is_there:
            return
        stored = self._store.judged(self._run_id)
        while group := list(islice(stored, _AT_ONCE)):
            for event in self._decided(group):
                asking.hear(event)
        yield from asking.look()

    def keep(self, group: Sequence[JudgedItem]) -> Iterator[ItemJudged | HealthSeen]:
        """Store a group; then its items with what is decided of them, by the calibration of the plan."""
        self._store.add(self._run_id, group)
        for event in self._decided(group):
            yield event
            self._watch.add(event.judgments)
            if self._watch.is_due:
                yield HealthSeen(self._watch.health)

    def end(self) -> Iterator[HealthSeen]:
        """After the last group."""
        if not self._watch.is_due:  # else it was said
            yield HealthSeen(self._watch.health)

    def _decided(self, group: Sequence[JudgedItem]) -> Iterator[ItemJudged]:
        for item, *judgments in zip(group, *self._columns(group), strict=True):
            yield ItemJudged(item, tuple(judgments))

    def _columns(self, judged: Sequence[JudgedItem]) -> list[tuple[AnyJudgment, ...]]:
        """What is decided of items, a column for each criterion."""
        return [decide_all(judged, name, self._calibrations.get(name)) for name in self._plan.rubric.names]


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
