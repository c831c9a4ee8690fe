"""A job done at once, on the thread of the test."""

from typing import TypeVar

from engine.core.cancel import CancelToken
from gui.work.lanes import Control, Job

Result = TypeVar("Result")


def done(job: Job[Result], told: list[object] | None = None) -> Result:
    """What a job returns; `told` gets its events."""
    events: list[object] = [] if told is None else told
    return job(Control(CancelToken(), events.append))
