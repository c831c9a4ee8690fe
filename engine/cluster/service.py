"""A scheduler or a worker, in this process, until it is asked to stop. Whoever connects and then says nothing
is shut out again: each connection takes a file of the process, and Dask waits for the first word for ever.
Neither has Dask's web pages: no port is open but those that its own computers talk by.
"""

import asyncio
import logging
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from distributed import Nanny, Scheduler, Worker
from distributed.comm.core import CommClosedError
from distributed.comm.registry import backends
from distributed.comm.tcp import TCPBackend, TCPListener, TLSBackend, TLSListener

from engine.cluster.certificates import ClusterAddress, is_this_computer
from engine.cluster.dask_setup import SILENT_SECONDS, reached, security_for, talked_to
from engine.cluster.worker_model import WorkerOptions
from engine.cluster.worker_plugin import JudgingPlugin
from engine.core.errors import SetupError
from engine.system.files import Claim, claimed, left_by_the_dead, make_folder
from engine.system.paths import cache_folder

FIRST_WORD_SECONDS = 10.0  # for a certificate to be shown, and then for the first word of Dask


class _Impatient:
    """What both kinds of listeners do: to be named before the one of Dask."""

    async def _prepare_stream(self, stream: Any, address: str) -> Any:
        try:
            preparing = super()._prepare_stream(stream, address)  # type: ignore[misc]
            return await asyncio.wait_for(preparing, FIRST_WORD_SECONDS)
        except TimeoutError:
            stream.close()
            return None

    async def on_connection(self, comm: Any, handshake_overrides: dict[str, Any] | None = None) -> None:
        try:
            greeting = super().on_connection(comm, handshake_overrides)  # type: ignore[misc]
            await asyncio.wait_for(greeting, FIRST_WORD_SECONDS)
        except TimeoutError:
            comm.abort()
            raise CommClosedError("no answer") from None


def shut_out_who_says_nothing() -> None:
    """Let all listeners that are made from now on in this process do so."""
    for name, backend, listener in (("tcp", TCPBackend, TCPListener), ("tls", TLSBackend, TLSListener)):
        impatient = type("Impatient", (_Impatient, listener), {})
        backends[name] = type("Backend", (backend,), {"_listener_class": impatient})()


_SECONDS_BETWEEN_TRIES = 2.0
_CLOSING_SECONDS = 10.0
_FOLDER = "cluster-"

Tell = Callable[[str], None]


class _NoPages:
    def start_http_server(self, *_args: Any, **_options: Any) -> None:
        """Open no further port."""


class PlainScheduler(_NoPages, Scheduler):  # type: ignore[misc]
    """Dask's scheduler without its web pages."""


class PlainWorker(_NoPages, Worker):  # type: ignore[misc]
    """Dask's worker without its web pages."""


def run_scheduler(address: ClusterAddress, certificates: Path, file: Path | None, tell: Tell) -> None:
    """Until a signal asks to stop; its address is written to `file`. SetupError if it cannot listen."""
    security = security_for(address, certificates)
    shut_out_who_says_nothing()

    async def serve(stopped: asyncio.Event) -> None:
        scheduler = PlainScheduler(
            host=address.host.strip("[]"),
            port=address.port,
            protocol=address.protocol,
            security=security,
            scheduler_file=str(file) if file else None,
            dashboard=False,
        )
        try:
            await scheduler
        except (OSError, ValueError) as error:
            raise SetupError(
                f"A scheduler cannot listen at {address}: {error}.",
                "Stop what listens there, or name another port.",
            ) from error
        tell(f"The scheduler is at {scheduler.address}")
        await stopped.wait()
        await scheduler.close()

    _until_stopped(serve)


def run_worker(address: ClusterAddress, certificates: Path, options: WorkerOptions, tell: Tell) -> None:
    """Be a worker of a scheduler, until a signal asks to stop; waits for the scheduler while it is away."""
    security = security_for(address, certificates)

    async def serve(stopped: asyncio.Event) -> None:
        told = ""
        while not stopped.is_set():
            said = f"No scheduler answers at {address}."
            try:
                await reached(address)
                said = (
                    f"What listens at {address} is not the scheduler of this cluster: perhaps it has other"
                    " certificates."
                )
                await talked_to(address, security)
                said = f"A worker for {address} could not be started: is this computer very busy?"
                async with _worker(address, security, options) as nanny:
                    tell(f"Working for {address}")
                    told = ""
                    await _first_of(stopped.wait(), nanny.finished())
                said = f"The scheduler at {address} is gone."
            except (AssertionError, OSError, TimeoutError, RuntimeError):  # a busy Dask asserts
                pass  # it is said below
            if not stopped.is_set():
                if said != told:
                    tell(f"{said} Trying again every {_SECONDS_BETWEEN_TRIES:.0f} s.")
                    told = said
                await _first_of(stopped.wait(), asyncio.sleep(_SECONDS_BETWEEN_TRIES))

    _until_stopped(serve)


@asynccontextmanager
async def _worker(address: ClusterAddress, security: Any, options: WorkerOptions) -> AsyncIterator[Any]:
    """A nanny with its worker: one that a driver or a signal ends is started again."""
    with _own_folder() as folder:
        nanny = Nanny(
            str(address),
            nthreads=1,  # of Dask: a session belongs to its thread, and llama.cpp has threads of its own
            host="127.0.0.1" if is_this_computer(address.host) else None,
            security=security,
            worker_class=PlainWorker,
            plugins=(JudgingPlugin(options),),
            local_directory=str(folder),
            memory_limit=None,  # a mapped model would count as the worker's own
            dashboard=False,
            # A process that imports all of this took over 10 s where other programs kept both cores busy.
            death_timeout=SILENT_SECONDS,
            silence_logs=logging.CRITICAL + 1,
        )
        try:
            await asyncio.wait_for(nanny, 2 * SILENT_SECONDS)
            yield nanny
        finally:
            with suppress(TimeoutError, OSError, RuntimeError):
                await asyncio.wait_for(nanny.close(), _CLOSING_SECONDS)


@contextmanager
def _own_folder() -> Iterator[Path]:
    """Where Dask keeps what it keeps of a worker; what killed workers left is cleared away first."""
    cache = cache_folder()
    make_folder(cache)
    for left in left_by_the_dead(cache, _FOLDER, ""):
        _clear_away(left)
    own = claimed(cache, _FOLDER, "")
    try:
        own.path.mkdir(0o700)
        yield own.path
    finally:
        _clear_away(own)


def _clear_away(folder: Claim) -> None:
    shutil.rmtree(folder.path, ignore_errors=True)
    folder.close()


async def _first_of(*waiting: Awaitable[Any]) -> None:
    tasks = [asyncio.ensure_future(each) for each in waiting]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _until_stopped(serve: Callable[[asyncio.Event], Awaitable[None]]) -> None:
    async def main() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        if sys.platform != "win32":
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stopped.set)
        await serve(stopped)

    asyncio.run(main())
