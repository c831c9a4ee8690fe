"""A run judged by the workers of a cluster, or responses that they write: planned and stored here, as one
computer does it: the same groups, the same store or file, the same events. Groups come back in any order;
each is stored whole, by this process alone.
"""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import islice
from queue import Empty
from typing import TYPE_CHECKING

from engine.cluster import answers
from engine.cluster.answers import ITEMS_OF_A_TASK, WrongAnswer, tasks_of, work_of
from engine.cluster.task_queue import KindRecord, Patience, TaskAnswered
from engine.cluster.worker_model import WorkerFacts, differences, facts_here, refused
from engine.core import events
from engine.core.errors import EngineBug, Hint, SetupError
from engine.core.judgments import JudgedItem, Judgment
from engine.judging.generation import GenerationPlan, ResponseFile, size_by_vocabulary
from engine.judging.plan import (
    RunPlan,
    check_context,
    check_same_format,
    continued_manifest,
    format_hash,
    session_manifest,
)
from engine.judging.run import RunWriter, missing_groups, record_plan
from engine.models.opening import open_template
from engine.prompt.template import ChatTemplate
from engine.results.decision import decide_all
from engine.settings.identity import CLUSTER, OVER_CLUSTER, RANDOM_ORDER, StoredRun
from engine.store.run_store import RunStore

if TYPE_CHECKING:
    from engine.cluster.connection import Connection, TaskDispatcher

NEAR = 0.15  # in natural-log units, between the likeliest label and the next. Why this much: docs/cluster.md.
_DECIDED_AT_ONCE = 500
_WAIT = 0.2  # seconds between two looks whether to stop


@dataclass(frozen=True)
class ClusterRun:
    """How a run is judged over a cluster. `items`: about as many a worker is given at a time."""

    connection: "Connection"
    items: int = ITEMS_OF_A_TASK
    mixed_builds: bool = False
    patience: Patience = field(default_factory=Patience)


def run_over_cluster(
    plan: RunPlan, store: RunStore, over: ClusterRun, cancel: events.CancelToken, *, fresh: bool = False
) -> Generator[events.RunEvent, None, events.RunEnded]:
    """Have workers judge what the store does not hold yet; the last event is RunEnded, which is returned too.
    The run is the one that `run_judging` would make or resume. Raises StoreError, RunBusyError,
    ModelFileError, SetupError where the scheduler is lost or no worker can judge: what came back is stored.
    """
    with store.begin(plan.identity(), fresh) as run:
        plan = record_plan(plan, store, run)
        judged = store.positions(run.id)
        groups = missing_groups(plan, judged)
        yield events.RunStarted(run.id, len(plan.dataset), len(judged))
        if groups:
            plan.model.check_unchanged()
            with open_template(plan.model.path, cancel) as (model, template):
                check_context(plan.settings, plan.model, model)
            check_same_format(run, template)
            yield events.ModelOpened(template.frame.note)
            yield from _Judging(plan, store, run, template, over).judge(groups, cancel)
        count = len(store.positions(run.id))
        ended = events.RunEnded(run.id, len(plan.dataset), count, count < len(plan.dataset))
        yield ended
    return ended


class _Judging:
    def __init__(
        self, plan: RunPlan, store: RunStore, run: StoredRun, template: ChatTemplate, over: ClusterRun
    ) -> None:
        self._plan = plan
        self._store = store
        self._run = run
        self._over = over
        self._template = format_hash(template, plan.settings)
        session = session_manifest(plan, template, {OVER_CLUSTER: True})
        manifest = continued_manifest(run.manifest, session)
        # Workers judge in the order of the file, after which what was judged in a random one is no sample.
        self._manifest = {name: value for name, value in manifest.items() if name != RANDOM_ORDER}
        self._kinds = KindRecord(run.manifest.get(CLUSTER, ()))
        self._keeper = RunWriter(plan, store, run.id)

    def judge(self, groups: Sequence[range], cancel: events.CancelToken) -> Iterator[events.RunEvent]:
        self._missing = {group.start for group in groups}  # a late worker's answer may come a second time
        self._store.describe(self._run.id, self._manifest)
        yield from self._keeper.begin()
        dispatcher = import_module("engine.cluster.connection")  # Dask is there now, and for this alone
        work, own = work_of(self._plan), facts_here(self._plan.machine)
        orders = dispatcher.TaskOrders(
            what="judge this run",
            work=work,
            template=self._template,
            tasks=tasks_of(groups, self._over.items),
            items_of=partial(answers.placed_items, self._plan),
            read=partial(answers.judged_group, rubric=work.rubric, settings=work.settings),
            refused=partial(_unfit, own, self._plan.device, self._over.mixed_builds),
            patience=self._over.patience,
        )
        with dispatcher.TaskDispatcher(self._over.connection, orders, _Either(cancel)) as hands:
            for told in _told(hands, cancel):
                if isinstance(told, TaskAnswered):
                    yield from self._kept(told)
                else:
                    yield told
        yield from self._keeper.end()
        yield from self._told_of_kinds()

    def _kept(self, answered: TaskAnswered) -> Iterator[events.RunEvent]:
        groups = [group for group in answered.groups if group[0].position in self._missing]
        # Before the items: what is killed between the two is judged again, and then said of another.
        self._kinds.add(answered.facts.kind, [item.position for group in groups for item in group])
        self._manifest = {**self._manifest, CLUSTER: self._kinds.as_json()}
        self._store.describe(self._run.id, self._manifest)
        for group in groups:
            self._missing.discard(group[0].position)
            yield events.TokensEvaluated(sum(item.tokens_read + item.tokens_generated for item in group))
            yield from self._keeper.keep(group)

    def _told_of_kinds(self) -> Iterator[events.ClusterNews]:
        """Where computers of several kinds judged: for how many labels that can matter."""
        if not (differ := differences(self._kinds.kinds)):
            return
        near, labels = _nearly_tied(self._store.judged(self._run.id), self._plan)
        yield events.ClusterNews(
            f"The computers that judged this run differ in {differ}, so the last digits of its probabilities"
            f" can differ from those of another run. {near:,} of {labels:,} labels are so close to another"
            " label that this could change them."
        )


def write_over_cluster(
    over: ClusterRun, cancel: events.CancelToken, plan: GenerationPlan, file: ResponseFile
) -> Generator[events.MeasureProgress | events.ClusterUnderWay | events.Note, None, None]:
    """Have workers write the groups that a file lacks. Raises as `run_over_cluster`; Cancelled."""
    model, sizes, own = plan.model, size_by_vocabulary(plan, cancel), facts_here(plan.machine)
    model.check_unchanged()
    dispatcher = import_module("engine.cluster.connection")
    orders = dispatcher.TaskOrders(
        what="write these responses",
        work=answers.WriteWork(model.name, model.hash, model.size_bytes, plan.settings, sizes.shape),
        template="",  # prompts are sent as tokens
        tasks=tasks_of(file.missing(sizes.groups), over.items),
        items_of=lambda task: [list(sizes.asked[group.start : group.stop]) for group in task.groups],
        read=partial(answers.written_group, settings=plan.settings),
        refused=partial(_unfit, own, None, None),
        patience=over.patience,
    )
    kinds = []
    yield file.progress
    with dispatcher.TaskDispatcher(over.connection, orders, _Either(cancel)) as hands:
        for told in _told(hands, cancel):
            if isinstance(told, TaskAnswered):
                kinds.append(told.facts.kind)
                for group, written in zip(told.task.groups, told.groups, strict=True):
                    file.add(group, written, sizes.closing)
                yield file.progress
            elif isinstance(told, events.ClusterNews):
                yield events.Note(Hint(f"{told.said} ", *(told.hint.parts if told.hint else ())))
            else:
                yield told
    if len(file.lines) < len(plan.prompts):
        raise events.Cancelled
    if differ := differences(kinds):
        yield events.Note(f"The computers differ in {differ}: another one may write other responses.")


def _unfit(
    own: WorkerFacts, device: str | None, mixed_builds: bool | None, worker: WorkerFacts
) -> SetupError | None:
    if error := refused(worker, own, mixed_builds):
        return error
    if (worker.device or None) != device:
        has, wanted = worker.device or "the processor", device or "the processor"
        return SetupError(
            f"{worker.computer} computes with {has}, this run with {wanted}.",
            "Start it with the same device.",
        )
    return None


def _told(
    hands: "TaskDispatcher", cancel: events.CancelToken
) -> Iterator[TaskAnswered | events.ClusterEvent]:
    while True:
        try:
            told = hands.told.get(timeout=_WAIT)
        except Empty:
            continue
        if isinstance(told, TaskAnswered | events.ClusterUnderWay | events.ClusterNews):
            yield told
        elif told is None or cancel.requested:
            return
        else:
            raise _as_known(told)


class _Either(events.CancelToken):
    """Set by itself, as hands do it at their end, or by another token, which it leaves as it is."""

    def __init__(self, other: events.CancelToken) -> None:
        super().__init__()
        self._other = other

    @property
    def ending(self) -> bool:
        return super().ending or self._other.ending

    @property
    def requested(self) -> bool:
        return super().requested or self._other.requested


def _as_known(error: BaseException) -> BaseException:
    if isinstance(error, SetupError):
        return error
    if isinstance(error, WrongAnswer):
        return SetupError(f"A worker answered with {error}.", "Check that it runs the same program.")
    made = EngineBug(f"the connection to the cluster failed: {error!r}")
    made.__cause__ = error
    return made


def _nearly_tied(judged: Iterable[JudgedItem], plan: RunPlan) -> tuple[int, int]:
    """How many labels are decided by less than NEAR, and how many there are."""
    near = labels = 0
    calibrations = plan.calibration.criteria if plan.calibration else {}
    waiting = iter(judged)
    while items := list(islice(waiting, _DECIDED_AT_ONCE)):
        for name in plan.rubric.names:
            for judgment in decide_all(items, name, calibrations.get(name)):
                if isinstance(judgment, Judgment):
                    labels += 1
                    near += margin(judgment) < NEAR
    return near, labels


def margin(judgment: Judgment) -> float:
    """By how much the decided label's log-probability is above the next one's."""
    second, first = sorted(judgment.probabilities)[-2:]
    return math.inf if second <= 0 else math.log(first / second)
