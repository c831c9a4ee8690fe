"""What Dask calls on a worker: a plugin that owns the model, and the tasks that ask it. Each answers with
bytes of JSON, whatever happens.
"""

import asyncio
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker
from distributed.core import Status

from engine.cluster.answers import JudgeWork, WriteWork, answer, item_json, refusal
from engine.cluster.dask_setup import be_quiet
from engine.cluster.worker_model import ModelOnWorker, WorkerFacts, WorkerOptions, facts_here
from engine.core.errors import SetupError
from engine.core.events import Cancelled, CancelToken
from engine.core.judgments import JudgedItem
from engine.judging.generation import RawResponse
from engine.models.opening import machine_settings

PLUGIN = "tiebreak"
NOT_PREPARED = "not prepared"
NOT_WANTED = "not wanted"
_PATIENCE = 5.0  # seconds for a model to be closed


class JudgingPlugin(WorkerPlugin):  # type: ignore[misc]
    """Makes a worker one of Tiebreak. It travels to the worker's process before it is set up."""

    name = PLUGIN

    def __init__(self, options: WorkerOptions) -> None:
        self.options = options
        self.facts: WorkerFacts
        self.model: ModelOnWorker

    def setup(self, worker: Worker) -> None:
        be_quiet()
        options = self.options
        self.facts = facts_here(replace(machine_settings(options.threads), device=options.device))
        self._cancel = CancelToken()
        self.model = ModelOnWorker(options, self._cancel)
        self._worker = worker

    async def teardown(self, worker: Worker) -> None:
        """Called by Dask at the end: stops what is judged, and closes the model on its own thread."""
        self._cancel.cancel()
        with suppress(RuntimeError, TimeoutError):  # the thread is gone, or busy
            closing = worker.executors["default"].submit(self.model.close)
            await asyncio.wait_for(asyncio.wrap_future(closing), _PATIENCE)


def describe(dask_worker: Worker) -> bytes:
    """What this worker is; asked alongside its tasks, of which one may take long."""
    return _answered(lambda plugin: asdict(plugin.facts), dask_worker)


def prepare(work: JudgeWork | WriteWork) -> bytes:
    return _answered(lambda plugin: {"template": plugin.model.prepare(work)})


def speed(work: JudgeWork) -> bytes:
    return _answered(lambda plugin: asdict(plugin.model.speed(work)))


def do_task(key: str, groups: Sequence[Sequence[Any]]) -> bytes:
    def done(plugin: JudgingPlugin) -> Any:
        if not plugin.model.knows(key):
            return NOT_PREPARED
        found = plugin.model.do(groups, _wanted())
        return NOT_WANTED if found is None else [list(map(_said, group)) for group in found]

    return _answered(done)


def _said(found: JudgedItem | RawResponse) -> Any:
    return item_json(found) if isinstance(found, JudgedItem) else found


def _wanted() -> Callable[[], bool]:
    """Whether somebody still waits for the task that is done now: else the scheduler has let go of it."""
    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing" and worker.status in _AT_WORK

    return wanted


_AT_WORK = (Status.running, Status.paused)


def _answered(do: Callable[[JudgingPlugin], Any], worker: Worker | None = None) -> bytes:
    """What is done here, as an answer. Nothing is raised: Dask would log it, with the texts."""
    plugin = (worker or get_worker()).plugins.get(PLUGIN)
    if not isinstance(plugin, JudgingPlugin):
        return refusal(
            SetupError(
                "It is a plain Dask worker, not one of Tiebreak's.", "Start it by Tiebreak's own command."
            )
        )
    try:
        return answer(do(plugin))
    except SetupError as error:
        return refusal(error)
    except Cancelled:
        return answer(NOT_WANTED)
    except Exception as error:  # a fault, which the asking computer tells
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {last.name}, line {last.lineno}"
        return refusal(SetupError(f"A bug in Tiebreak on this worker: {where}.", "Report it."))
