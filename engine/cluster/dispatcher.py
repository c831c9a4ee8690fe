"""The asking end of a cluster: hands tasks to workers, takes their answers, and sees who is lost or late, on
a thread of its own. Dask brings tasks to workers; who is given what is decided here, because a worker must
have the run's model open, and because it must be known who has what for how long.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import uuid4

from distributed import CancelledError as LetGo

from engine.cluster import worker_plugin
from engine.cluster.answers import ItemTask, JudgeWork, PlacedItem, WrongAnswer, judged_group, said_in
from engine.cluster.connection import Connection, brought, connect, described, no_scheduler, only_by
from engine.cluster.task_queue import IN_HAND, AssignedTask, Ledger, Patience, TaskAnswered
from engine.cluster.worker_model import WorkerFacts
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import CancelToken, ClusterEvent, ClusterNews, ClusterUnderWay
from engine.core.formatting import duration

_SECONDS_BETWEEN_LOOKS = 0.5
_MOST_PUT_OFF = 3


DispatcherEvent = ClusterEvent | TaskAnswered | BaseException | None
"""The last of all is why it ended before its work, or None."""


@dataclass(frozen=True)
class JudgeOrders:
    work: JudgeWork
    template: str
    tasks: list[ItemTask]
    items_of: Callable[[ItemTask], list[list[PlacedItem]]]  # what travels with a task
    refused: Callable[[WorkerFacts], SetupError | None]  # why a worker cannot take part
    patience: Patience = field(default_factory=Patience)


def _is_ending() -> bool:
    """Whether this very task is cancelled, and not what it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class TaskDispatcher:
    """Hands tasks out until all are done, `cancel` is set, or something ends it. `told`: what happens, in
    order.
    """

    def __init__(self, connection: Connection, orders: JudgeOrders, cancel: CancelToken) -> None:
        self.told: queue.SimpleQueue[DispatcherEvent] = queue.SimpleQueue()
        self._connection = connection
        self._orders = orders
        self._cancel = cancel
        self._ledger = Ledger(orders.tasks, orders.patience)
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._useless: dict[str, SetupError] = {}
        self._ready: set[str] = set()
        self._put_off: dict[str, int] = {}  # how often a worker did so, one time after the other
        self._numbers = count()
        self._letting_go: set[asyncio.Future[None]] = set()
        self._run = uuid4().hex[:12]
        self._failed: asyncio.Future[None]
        self._changed: asyncio.Event
        self._thread = threading.Thread(target=self._serve, name="cluster", daemon=True)

    def __enter__(self) -> "TaskDispatcher":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._cancel.cancel()
        self._thread.join()

    def _serve(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # whatever it is, the other thread must hear of it
            self.told.put(error)
        else:
            self.told.put(None)

    async def _main(self) -> None:
        loop = asyncio.get_running_loop()
        self._failed, self._changed = loop.create_future(), asyncio.Event()
        client = await connect(self._connection)
        try:
            await self._look_after(client)
        finally:
            for serving in self._workers.values():
                serving.cancel()
            await asyncio.gather(*self._workers.values(), return_exceptions=True)
            with suppress(OSError, TimeoutError, asyncio.CancelledError, LetGo):
                await asyncio.wait_for(client.close(timeout=2), 5)

    async def _look_after(self, client: Any) -> None:
        """Until all is done: see which workers there are, who is late, whether it shall stop."""
        loop = asyncio.get_running_loop()
        received = served = loop.time()
        ending = False
        while not self._ledger.done and not self._cancel.requested:
            now = loop.time()
            there = await self._addresses(client)
            if there is not None:
                received = now
                self._meet(client, there)
            elif now - received > self._orders.patience.scheduler:
                raise no_scheduler(self._connection.address, "the scheduler is gone")
            served = now if self._workers.keys() - self._useless.keys() else served
            self._give_up(now - served)
            if self._cancel.ending and not ending:
                ending = True
                self._ledger.stop()
            for hand in self._ledger.late():
                waited, task = duration(loop.time() - (hand.began or 0)), hand.task.in_words
                said = f"Worker {hand.worker} has not answered on {task} for {waited}: other workers"
                self.told.put(ClusterNews(f"{said} get them, and it gets no more until it answers."))
            self._tell_how_it_stands()
            self._changed.set()
            await asyncio.wait([self._failed], timeout=_SECONDS_BETWEEN_LOOKS)
            if self._failed.done():
                self._failed.result()

    def _tell_how_it_stands(self) -> None:
        ledger = self._ledger
        self.told.put(ClusterUnderWay(len(self._ready), ledger.items_in_hand, ledger.seconds_left))

    async def _addresses(self, client: Any) -> set[str] | None:
        """The workers that the scheduler knows; None where it does not answer."""
        if client.status != "running":
            return None
        try:
            return set(await asyncio.wait_for(client.nthreads(), self._orders.patience.scheduler))
        except (OSError, TimeoutError, asyncio.CancelledError, LetGo):
            if _is_ending():
                raise
            return None

    def _meet(self, client: Any, there: set[str]) -> None:
        """Begin with workers that are new; end with those that are lost."""
        for worker in self._workers.keys() - there:
            self._workers.pop(worker).cancel()
            self._useless.pop(worker, None)
            for hand in list(self._ledger.hands.pop(worker, [])):
                hand.drop()
                self._ledger.put_back(hand)
        for worker in there - self._workers.keys():
            self._workers[worker] = asyncio.create_task(
                self._guarded(worker, self._serve_worker(client, worker))
            )

    async def _guarded(self, worker: str, work: Coroutine[Any, Any, None]) -> None:
        """What goes wrong with a worker ends it for this run; what is no worker's fault ends the run."""
        try:
            await work
        except (SetupError, WrongAnswer) as error:
            if not isinstance(error, SetupError):
                error = SetupError(f"It answers with {error}.", "Start it again.")
            self._leave_out(worker, error)
        except (OSError, TimeoutError):
            self._leave_out(worker, SetupError("It does not answer.", "Start it again."))
        except asyncio.CancelledError:
            raise
        except LetGo:
            self._workers.pop(worker, None)  # the scheduler was away: if the worker is there again, anew
        except BaseException as error:
            if not self._failed.done():
                self._failed.set_exception(error)
        finally:
            self._ready.discard(worker)

    def _leave_out(self, worker: str, why: SetupError) -> None:
        self._useless[worker] = why
        self.told.put(ClusterNews(f"Worker {worker} is not used: {why.problem}", why.hint))

    def _give_up(self, unserved: float) -> None:
        """End the run where so long no worker could judge: soon where all refuse, else one may come back."""
        patience = self._orders.patience
        if self._useless and unserved > patience.all_refuse:
            worker, why = next(iter(self._useless.items()))
            raise SetupError(f"No worker can judge this run. {worker}: {why.problem}", why.hint)
        if unserved > patience.no_worker:
            raise SetupError("No worker is left that can judge this run.", Hint(Step.START_WORKERS))

    async def _serve_worker(self, client: Any, worker: str) -> None:
        facts = await described(client, worker)
        if error := self._orders.refused(facts):
            raise error
        await self._prepare(client, worker)
        self._ready.add(worker)
        slots = [asyncio.create_task(self._slot(client, worker, facts)) for _ in range(IN_HAND)]
        try:
            await asyncio.gather(*slots)
        finally:
            for slot in slots:
                slot.cancel()
            await asyncio.gather(*slots, return_exceptions=True)
            for hand in list(self._ledger.hands.pop(worker, [])):
                self._ledger.put_back(hand)

    async def _prepare(self, client: Any, worker: str) -> None:
        """Have the model opened, which may take minutes. Raises SetupError, WrongAnswer."""
        key = f"prepare-{self._run}-{next(self._numbers)}"
        future = client.submit(worker_plugin.prepare, self._orders.work, **only_by(worker, key))
        said = said_in(await brought(future))
        if not isinstance(said, dict) or said.get("template") != self._orders.template:
            raise WrongAnswer("prompts in another chat format")

    async def _slot(self, client: Any, worker: str, facts: WorkerFacts) -> None:
        while not self._ledger.done:
            hand = self._ledger.take(worker)
            if hand is None:
                self._changed.clear()
                await self._changed.wait()
                continue
            await self._hand_over(client, hand, facts)
            self._changed.set()

    async def _hand_over(self, client: Any, hand: AssignedTask, facts: WorkerFacts) -> None:
        groups = self._orders.items_of(hand.task)
        loop = asyncio.get_running_loop()
        began = loop.time()
        key = f"judge-{self._run}-{hand.task.number}-{next(self._numbers)}"
        future = client.submit(
            worker_plugin.judge, self._orders.work.key, groups, **only_by(hand.worker, key)
        )
        hand.give_up = lambda: self._let_go(future)
        self._tell_how_it_stands()
        try:
            said = said_in(await brought(future))
            put_off = said in (worker_plugin.NOT_PREPARED, worker_plugin.NOT_WANTED)
            self._put_off[hand.worker] = self._put_off.get(hand.worker, 0) + 1 if put_off else 0
            if self._put_off[hand.worker] > _MOST_PUT_OFF:
                raise WrongAnswer("nothing, repeatedly")
            if said == worker_plugin.NOT_PREPARED:
                self._ledger.put_back(hand)
                await self._prepare(client, hand.worker)
                return
            if said == worker_plugin.NOT_WANTED:
                raise asyncio.CancelledError
            if not isinstance(said, list) or len(said) != len(groups):
                raise WrongAnswer("another number of groups")
            work = self._orders.work
            judged = [
                judged_group(own, asked, work.rubric, work.settings)
                for own, asked in zip(said, groups, strict=True)
            ]
        except (asyncio.CancelledError, LetGo):
            # Taken back, or lost with its worker or the scheduler; or all of this ends.
            if _is_ending():
                raise
            if not hand.let_go:
                self._ledger.put_back(hand)
                await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            return
        except (SetupError, WrongAnswer):
            if not self._ledger.put_back(hand, fault=True):
                self._failed.set_exception(
                    SetupError(
                        f"Several workers could not judge {hand.task.in_words}.",
                        "Judge these items on this computer to see why; all judgments are stored.",
                    )
                )
            raise
        finally:
            future.release()
        # Who says that it took longer than that would be waited for as long.
        seconds = min(sum(item.seconds for group in judged for item in group), loop.time() - began)
        if self._ledger.finish(hand, seconds):
            self.told.put(TaskAnswered(judged, facts))
            self._tell_how_it_stands()

    def _let_go(self, future: Any) -> None:
        """Tell the scheduler that nobody waits for a task any more; it may be gone itself."""

        async def cancel() -> None:
            with suppress(Exception):
                await future.cancel()

        letting_go = asyncio.ensure_future(cancel())
        self._letting_go.add(letting_go)
        letting_go.add_done_callback(self._letting_go.discard)
