"""A connection to a scheduler, and what its workers are and how fast a model is there, before a run."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from distributed import CancelledError as LetGo
from distributed import Client

from engine.cluster import worker_plugin
from engine.cluster.answers import JudgeWork, WrongAnswer, said_in
from engine.cluster.certificates import ClusterAddress
from engine.cluster.dask_setup import CONNECT_SECONDS, reached, security_for
from engine.cluster.worker_model import WorkerFacts
from engine.core.codec import record_of
from engine.core.errors import Hint, SetupError, Step
from engine.core.events import Cancelled, CancelToken
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
    return SetupError(f"{address}: {how}. All judgments are stored.", Hint(Step.START_SCHEDULER))


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
