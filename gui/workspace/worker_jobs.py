"""How jobs have work done by a process of its own, which may end without the end of the window.

Knows: which jobs need it: those that work with the weights of a model. Does not know: what they do with it.
"""

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from gui.workspace.threads import JobControl

if TYPE_CHECKING:
    from engine.core.events import CancelToken
    from engine.system.subprocess_worker import Worker

MethodQuestion = ParamSpec("MethodQuestion")
Event = TypeVar("Event")
Result = TypeVar("Result")


def worker(
    work: "Callable[Concatenate[CancelToken, MethodQuestion], Generator[Event, None, Result]]",
    control: JobControl,
) -> "Worker[MethodQuestion, Event, Result]":
    """Whoever does a work for a job: a process of its own, which is getting ready from now on.

    To be used in a `with` block. `work`: a function at the top of a module of the engine.
    """
    from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker

    return (SubprocessWorker if control.apart else InProcessWorker)(work, control.cancel)
