"""Which task of a run is to do, in whose hands, or done; and how fast each worker is. A task may be in
several hands: where one is late or lost, others get it too, and the first answer counts. Also which kind of
computer judged which items of a run, as its manifest keeps it: compact.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.cluster.answers import ItemTask
from engine.cluster.worker_model import WorkerFacts
from engine.settings.identity import PLACES


class KindRecord:
    """The kinds of computers that judged a run, each with the places of its items, from 0."""

    def __init__(self, kept: Sequence[Mapping[str, Any]] = ()) -> None:
        """`kept`: what `as_json` gave; a record that cannot be read is begun anew."""
        self._kinds: list[dict[str, str]] = []
        self._spans: list[list[range]] = []
        for each in kept:
            self._kinds.append({name: str(fact) for name, fact in each.items() if name != PLACES})
            text = str(each.get(PLACES, ""))
            spans = []
            for part in filter(None, text.split(",")):
                first, _, last = part.partition("-")
                if first.isdecimal() and (not last or last.isdecimal()):
                    spans.append(range(int(first), int(last or first) + 1))
            self._spans.append(_joined(spans))

    @property
    def kinds(self) -> list[dict[str, str]]:
        return list(self._kinds)

    def add(self, kind: Mapping[str, str], positions: Iterable[int]) -> None:
        """These items were judged by a computer of this kind; what was said of them before is forgotten."""
        own = dict(kind)
        if own not in self._kinds:
            self._kinds.append(own)
            self._spans.append([])
        place, new = self._kinds.index(own), sorted(positions)
        for other, spans in enumerate(self._spans):
            if other != place and any(position in span for span in spans for position in new):
                self._spans[other] = _joined(_without(spans, new))
        self._spans[place] = _joined([*self._spans[place], *(range(each, each + 1) for each in new)])

    def as_json(self) -> list[dict[str, str]]:
        """The record as plain values: `{"llama_cpp": …, "processor": …, "judged": "0-15,32-47"}`."""
        places = [
            ",".join(f"{each.start}" if len(each) == 1 else f"{each.start}-{each.stop - 1}" for each in spans)
            for spans in self._spans
        ]
        return [{**kind, PLACES: judged} for kind, judged in zip(self._kinds, places, strict=True)]


def _without(spans: Sequence[range], positions: Iterable[int]) -> list[range]:
    gone = set(positions)
    left: list[range] = []
    for span in spans:
        if gone.isdisjoint(span):
            left.append(span)
        else:
            left += [range(each, each + 1) for each in span if each not in gone]
    return left


def _joined(spans: Iterable[range]) -> list[range]:
    joined: list[range] = []
    for span in sorted(spans, key=lambda each: each.start):
        if joined and span.start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(span.stop, joined[-1].stop))
        else:
            joined.append(span)
    return joined


IN_HAND = 2  # tasks of a worker at a time: while it does one, the next is there already
MOST_TRIES = 4  # faults of workers with a task, lost ones aside, after which it is the task's


@dataclass(frozen=True)
class Patience:
    """How long a worker may take until others are given its task too, in seconds."""

    times: float = 5.0  # as many times as long as a task usually takes a worker
    least: float = 60.0
    first: float = 1800.0  # while nothing is known of its speed
    scheduler: float = 10.0  # without a word of it
    no_worker: float = 600.0  # without any worker
    all_refuse: float = 5.0  # with none but those that cannot judge

    def limit(self, items: int, seconds_per_item: float | None) -> float:
        if seconds_per_item is None:
            return self.first
        return max(self.least, self.times * items * seconds_per_item)


@dataclass(frozen=True)
class TaskAnswered:
    """A task came back: what was found of its groups, in order, and by whom."""

    task: ItemTask
    groups: Sequence[Sequence[Any]]
    facts: WorkerFacts


@dataclass(eq=False)
class AssignedTask:
    task: ItemTask
    worker: str
    began: float | None = None  # when nothing was before it; None while something is
    late: bool = False
    let_go: bool = False  # nobody waits for it any more
    give_up: Callable[[], None] | None = None  # called then

    def drop(self) -> None:
        self.let_go = True
        if self.give_up is not None:
            self.give_up()


class Ledger:
    """Belongs to one thread."""

    def __init__(
        self, tasks: Sequence[ItemTask], patience: Patience, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pending = deque(tasks)
        self._left = {task.number for task in tasks}
        self._items_left = sum(task.items for task in tasks)
        self._patience = patience
        self._clock = clock
        self._faults: dict[int, int] = {}
        self._paces: dict[str, tuple[int, float]] = {}  # items that a worker did, and seconds at work
        self.hands: dict[str, list[AssignedTask]] = {}

    @property
    def done(self) -> bool:
        return not self._left

    @property
    def items_in_hand(self) -> int:
        tasks = {hand.task.number: hand.task for hands in self.hands.values() for hand in hands}
        return sum(task.items for number, task in tasks.items() if number in self._left)

    @property
    def seconds_left(self) -> float | None:
        """Until all is done, by the workers that have something in hand; None where no speed is known."""
        at_work = (self._seconds_per_item(worker) for worker, hands in self.hands.items() if hands)
        speed = sum(1 / each for each in at_work if each)
        return self._items_left / speed if speed else None

    def take(self, worker: str) -> AssignedTask | None:
        """The next task for a worker: one to do, else one that waits behind another; None for neither."""
        own = self.hands.setdefault(worker, [])
        if len(own) >= IN_HAND or (own and own[0].late):
            return None
        task = self._next({hand.task.number for hand in own}) or (None if own else self._waiting(worker))
        if task is None:
            return None
        hand = AssignedTask(task, worker, None if own else self._clock())
        own.append(hand)
        return hand

    def _next(self, held: set[int]) -> ItemTask | None:
        put_back: list[ItemTask] = []
        found = None
        while self._pending and found is None:
            task = self._pending.popleft()
            if task.number in held:
                put_back.append(task)
            elif task.number in self._left:
                found = task
        self._pending.extendleft(reversed(put_back))
        return found

    def _waiting(self, worker: str) -> ItemTask | None:
        """A task taken out of the hands of another worker, which has not begun it."""
        waiting = [hand for hands in self.hands.values() for hand in hands[1:] if hand.worker != worker]
        if not waiting:
            return None
        hand = max(waiting, key=lambda each: self._seconds_per_item(each.worker) or 0.0)
        self.release(hand)
        hand.drop()
        return hand.task

    def release(self, hand: AssignedTask) -> None:
        own = self.hands.get(hand.worker, [])
        if hand in own:
            own.remove(hand)
            if own and own[0].began is None:
                own[0].began = self._clock()

    def finish(self, hand: AssignedTask, seconds: float) -> bool:
        """A task was answered, after this many seconds at work; whether it is the first answer."""
        self.release(hand)
        items, before = self._paces.get(hand.worker, (0, 0.0))
        self._paces[hand.worker] = items + hand.task.items, before + seconds
        if hand.task.number not in self._left:
            return False
        self._left.remove(hand.task.number)
        self._items_left -= hand.task.items
        for hands in list(self.hands.values()):
            for other in [each for each in hands if each.task.number == hand.task.number]:
                self.release(other)
                other.drop()
        return True

    def put_back(self, hand: AssignedTask, fault: bool = False) -> bool:
        """A task comes back undone, by a `fault` of the worker or not; whether it may be tried again."""
        self.release(hand)
        number = hand.task.number
        if fault:
            self._faults[number] = self._faults.get(number, 0) + 1
        self._again(hand.task)
        return self._faults.get(number, 0) < MOST_TRIES

    def _again(self, task: ItemTask) -> None:
        held = any(each.task.number == task.number for hands in self.hands.values() for each in hands)
        if task.number in self._left and not held and task not in self._pending:
            self._pending.appendleft(task)

    def late(self) -> list[AssignedTask]:
        """Hands that have just become late; their tasks are given to others."""
        now, found = self._clock(), []
        for hands in self.hands.values():
            for hand in hands[:1]:
                if hand.late or hand.began is None:
                    continue
                if now - hand.began > self._patience.limit(hand.task.items, self._default(hand.worker)):
                    hand.late = True
                    found.append(hand)
        for hand in found:
            if hand.task.number in self._left:
                self._pending.appendleft(hand.task)
            for behind in self.hands[hand.worker][1:]:
                self.release(behind)
                behind.drop()
                self._again(behind.task)
        return found

    def stop(self) -> None:
        self._pending.clear()
        for hands in self.hands.values():
            for hand in hands[1:]:
                self.release(hand)
                hand.drop()
        self._left = {hand.task.number for hands in self.hands.values() for hand in hands} & self._left

    def _seconds_per_item(self, worker: str) -> float | None:
        items, seconds = self._paces.get(worker, (0, 0.0))
        return seconds / items if items and seconds > 0 else None

    def _default(self, worker: str) -> float | None:
        """A worker's own seconds for an item; while it has done none, those of the slowest, twice."""
        own = self._seconds_per_item(worker)
        if own is not None:
            return own
        others = [each for each in map(self._seconds_per_item, self._paces) if each]
        return 2 * max(others) if others else None
