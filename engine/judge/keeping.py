"""What a run keeps and tells, whoever judges it: missing groups, what is stored, how healthy it is.

Knows: plans, stores, which items are stored together. Does not know: sessions, who judges a group.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice

from engine.core.events import HealthSeen, ItemJudged, Resolved
from engine.core.judgments import AnyJudgment, JudgedItem
from engine.core.run_records import StoredRun
from engine.decisions.calibration import calibration_of
from engine.decisions.decision import decide_all
from engine.decisions.health import LEAST_ITEMS, MOST_ITEMS, HealthWatch
from engine.judge.inquiry import Asking
from engine.judge.plan import RunPlan
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
