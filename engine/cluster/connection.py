"""A connection to a scheduler, and questions to one of its workers.

Knows: Dask's client. Does not know: what is judged, who is given what.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import CancelledError as LetGo
from distributed import Client

from engine.cluster import worker_plugin
from engine.cluster.addresses import ClusterAddress
from engine.cluster.answers import WrongAnswer, said_in
from engine.cluster.dask_setup import CONNECT_SECONDS, reached, security_for
from engine.cluster.facts import WorkerFacts, facts_of
from engine.core.errors import SetupError
from engine.core.remedies import Hint, Step

_ANSWER_SECONDS = 60.0  # to say what it is: a busy computer may take long to import


@dataclass(frozen=True)
class Connection:
    """How a scheduler is reached."""

    address: ClusterAddress
    certificates: Path


async def connect(connection: Connection) -> Any:
    """A client of a scheduler, to be closed. SetupError where none answers."""
    address = connection.address
    try:
        await reached(address)
    except (OSError, TimeoutError) as error:
        raise no_scheduler(address, "no scheduler answers there") from error
    try:
        return await _client(connection)
    except (OSError, TimeoutError) as error:
        raise SetupError(
            f"{address}: something listens there, but does not answer as the scheduler of this cluster: it"
            " may have other certificates, or none.",
            "Check that address and certificates are those of the scheduler.",
        ) from error


def _client(connection: Connection) -> Any:
    return Client(
        str(connection.address),
        asynchronous=True,
        security=security_for(connection.address, connection.certificates),
        timeout=CONNECT_SECONDS,
        set_as_default=False,
        heartbeat_interval="2s",
    )


def no_scheduler(address: ClusterAddress, how: str) -> SetupError:
    """That a scheduler does not answer."""
    return SetupError(f"{address}: {how}. All judgments are stored.", Hint(Step.START_SCHEDULER))


async def described(client: Any, worker: str) -> WorkerFacts:
    """What a worker says of itself. Raises SetupError, WrongAnswer."""
    asking = client.run(worker_plugin.describe, workers=[worker])
    found = await asyncio.wait_for(brought(asking), _ANSWER_SECONDS)
    try:
        return facts_of(said_in(found.get(worker)))
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
