"""A job done at once, on the thread of the test."""

from typing import TypeVar

from engine.core.events import CancelToken
from gui.workspace.threads import Job, JobControl

Result = TypeVar("Result")


def done(job: Job[Result], received: list[object] | None = None, apart: bool = False) -> Result:
    """What a job returns; `received` gets its events. `apart`: by a process of its own, where it works so."""
    events: list[object] = [] if received is None else received
    return job(JobControl(CancelToken(), events.append, apart))
