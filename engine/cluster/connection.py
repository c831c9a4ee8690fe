"""The asking end of a cluster: a connection to a scheduler, what its workers are and how fast a model is
there; then a dispatcher hands tasks to workers, takes their answers, and sees who is lost or late, on a
thread of its own. Dask brings tasks to workers; who is given what is decided here, because a worker must have
the run's model open, and because it must be known who has what for how long.
"""

import asyncio
import queue
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from distributed import CancelledError as LetGo
from distributed import Client

from engine.cluster import worker_plugin
from engine.cluster.answers import ItemTask, JudgeWork, WriteWork, WrongAnswer, said_in
from engine.cluster.certificates import ClusterAddress
from engine.cluster.dask_setup import CONNECT_SECONDS, reached, security_for
from engine.cluster.task_queue import IN_HAND, AssignedTask, Ledger, Patience, TaskAnswered
from engine.cluster.worker_model import WorkerFacts
from engine.core.codec import record_of
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import Cancelled, CancelToken, ClusterEvent, ClusterNews, ClusterUnderWay
from engine.core.formatting import duration
from engine.llama.speed import ModelSpeed

_ANSWER_SECONDS = 60.0  # to say what it is: a busy computer may take long to import


@dataclass(frozen=True)
class Connection:
    address: ClusterAddress
    certificates: Path


async def connect(connection: Connection) -> Any:
    address = connection.address
    try:
        await reached(address)
    except (OSError, TimeoutError) as error:
        raise no_scheduler(address, "no scheduler answers there") from error
    try:
        return await Client(
            str(address),
            asynchronous=True,
            security=security_for(address, connection.certificates),
            timeout=CONNECT_SECONDS,
            set_as_default=False,
            heartbeat_interval="2s",
        )
    except (OSError, TimeoutError) as error:
        raise SetupError(
            f"{address}: something listens there, but does not answer as the scheduler of this cluster: it"
            " may have other certificates, or none.",
            "Check that address and certificates are those of the scheduler.",
        ) from error


def no_scheduler(address: ClusterAddress, how: str) -> SetupError:
    return SetupError(f"{address}: {how}. What came back is stored.", Hint(Step.START_SCHEDULER))


async def described(client: Any, worker: str) -> WorkerFacts:
    asking = client.run(worker_plugin.describe, workers=[worker])
    found = await asyncio.wait_for(brought(asking), _ANSWER_SECONDS)
    try:
        return record_of(said_in(found.get(worker)), WorkerFacts)
    except WrongAnswer:
        raise
    except ValueError as error:
        raise WrongAnswer(str(error)) from error


async def brought(future: Any) -> Any:
    """What a task brought. SetupError where the worker could not even begin it: tasks of ours raise nothing.
    LetGo where nobody waits for it any more, OSError and TimeoutError of the connection.
    """
    try:
        return await future
    except (LetGo, OSError, TimeoutError):
        raise
    except Exception as error:
        raise SetupError(
            f"It cannot run this task ({type(error).__name__}).",
            "Start it by Tiebreak's own command, of the same version.",
        ) from error


def only_by(worker: str, key: str) -> dict[str, Any]:
    """That a task is for one worker alone, whatever Dask thinks of it."""
    return {"workers": [worker], "allow_other_workers": False, "pure": False, "key": f"tiebreak-{key}"}


_TICK = 0.2
_WAIT_FOR_WORKERS = 30.0


@dataclass(frozen=True)
class Surveyed:
    """A worker. `refused`: why it cannot take part; `speed`: of the model, where it was asked."""

    address: str
    facts: WorkerFacts | None
    refused: SetupError | None = None
    speed: ModelSpeed | None = None


def survey(
    connection: Connection,
    refused: Callable[[WorkerFacts], SetupError | None],
    cancel: CancelToken,
    work: JudgeWork | None = None,
) -> list[Surveyed]:
    """All workers, in the order of their addresses; with `work`, the speed of its model at each, remembered
    or measured. SetupError where no scheduler answers, or where it has no workers; Cancelled.
    """

    async def asked() -> list[Surveyed]:
        client = await connect(connection)
        asking: list[asyncio.Task[Surveyed]] = []
        try:
            workers = await _workers(client, connection, cancel)
            asking = [asyncio.create_task(_one(client, worker, refused, work)) for worker in workers]
            while asking and not all(task.done() for task in asking):
                await asyncio.wait(asking, timeout=_TICK, return_when=asyncio.ALL_COMPLETED)
                if cancel.requested:
                    raise Cancelled
            return [task.result() for task in asking]
        finally:
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            await client.close(timeout=2)

    return asyncio.run(asked())


async def _workers(client: Any, connection: Connection, cancel: CancelToken) -> list[str]:
    """The addresses of the workers that there are; waits a little for the first."""
    began = asyncio.get_running_loop().time()
    while asyncio.get_running_loop().time() - began < _WAIT_FOR_WORKERS:
        if workers := sorted(await client.nthreads()):
            return workers
        if cancel.requested:
            raise Cancelled
        await asyncio.sleep(_TICK)
    raise SetupError(f"The scheduler at {connection.address} has no workers.", Hint(Step.START_WORKERS))


async def _one(
    client: Any, worker: str, refused: Callable[[WorkerFacts], SetupError | None], work: JudgeWork | None
) -> Surveyed:
    facts: WorkerFacts | None = None
    try:
        facts = await described(client, worker)
        error = refused(facts)
        if error is None and work is not None:
            key = f"speed-{uuid4().hex}"
            future = client.submit(worker_plugin.speed, work, **only_by(worker, key))
            return Surveyed(worker, facts, None, record_of(said_in(await brought(future)), ModelSpeed))
    except SetupError as found:
        error = found
    except (WrongAnswer, TypeError, ValueError, OSError, TimeoutError) as found:
        error = SetupError(f"Its answer cannot be used ({found}).", "Start it again.")
    return Surveyed(worker, facts, error)


_SECONDS_BETWEEN_LOOKS = 0.5
_MOST_PUT_OFF = 3


DispatcherEvent = ClusterEvent | TaskAnswered | BaseException | None
"""The last of all is why it ended before its work, or None."""


@dataclass(frozen=True)
class TaskOrders:
    """`what`: is asked of workers, as they can or cannot do it."""

    what: str
    work: JudgeWork | WriteWork
    template: str
    tasks: list[ItemTask]
    items_of: Callable[[ItemTask], list[list[Any]]]  # what travels with a task
    read: Callable[[object, list[Any]], list[Any]]  # what is said of a group, checked. Raises WrongAnswer
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

    def __init__(self, connection: Connection, orders: TaskOrders, cancel: CancelToken) -> None:
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
            raise SetupError(f"No worker can {self._orders.what}. {worker}: {why.problem}", why.hint)
        if unserved > patience.no_worker:
            raise SetupError(f"No worker is left that can {self._orders.what}.", Hint(Step.START_WORKERS))

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
        key = f"do-{self._run}-{hand.task.number}-{next(self._numbers)}"
        future = client.submit(
            worker_plugin.do_task, self._orders.work.key, groups, **only_by(hand.worker, key)
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
            found = [self._orders.read(own, asked) for own, asked in zip(said, groups, strict=True)]
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
                        f"Several workers could not {self._orders.what}: {hand.task.in_words}.",
                        "Do it without a cluster to see why; what came back is stored.",
                    )
                )
            raise
        finally:
            future.release()
        # Who says that it took longer than that would be waited for as long.
        seconds = min(sum(item.seconds for group in found for item in group), loop.time() - began)
        if self._ledger.finish(hand, seconds):
            self.told.put(TaskAnswered(hand.task, found, facts))
            self._tell_how_it_stands()

    def _let_go(self, future: Any) -> None:
        """Tell the scheduler that nobody waits for a task any more; it may be gone itself."""

        async def cancel() -> None:
            with suppress(Exception):
                await future.cancel()

        letting_go = asyncio.ensure_future(cancel())
        self._letting_go.add(letting_go)
        letting_go.add_done_callback(self._letting_go.discard)
