"""The workers of a scheduler before a run: what they are, and how fast a model is there.

Knows: what is asked of workers. Does not know: stores, plans' forecasts, what is printed.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from engine.cluster import worker_plugin
from engine.cluster.answers import WrongAnswer, said_in
from engine.cluster.connection import Connection, brought, connect, described, only_by
from engine.cluster.facts import WorkerFacts
from engine.cluster.work import JudgeWork
from engine.core.cancel import Cancelled, CancelToken
from engine.core.errors import SetupError
from engine.core.remedies import Hint, Step
from engine.llama.speed import ModelSpeed

_TICK = 0.2
_WAIT_FOR_WORKERS = 30.0


@dataclass(frozen=True)
class Surveyed:
    """A worker. `refused`: why it cannot take part, else None; `speed`: of the model, where it was asked."""

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
    """All workers, in the order of their addresses; with `work`, the speed of its model at each.

    What is remembered of a speed is reported at once; else it is measured, which takes each worker some
    seconds. SetupError where no scheduler answers, or where it has no workers; Cancelled.
    """
    return asyncio.run(_survey(connection, refused, cancel, work))


async def _survey(
    connection: Connection,
    refused: Callable[[WorkerFacts], SetupError | None],
    cancel: CancelToken,
    work: JudgeWork | None,
) -> list[Surveyed]:
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
            return Surveyed(worker, facts, None, ModelSpeed(**said_in(await brought(future))))
    except SetupError as found:
        error = found
    except (WrongAnswer, TypeError, ValueError, OSError, TimeoutError) as found:
        error = SetupError(f"Its answer cannot be used ({found}).", "Start it again.")
    return Surveyed(worker, facts, error)
