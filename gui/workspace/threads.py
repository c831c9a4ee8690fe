"""The threads on which the engine works for the window, one job at a time in each. Whoever starts a job gets
a Task, whose signals arrive on the thread of the window. The only file of the window that knows threads; it
does not know what any job does.

The two slots here that a signal of another thread meets are marked by `@Slot`. All others of the window are
plain methods: PySide queues to these and lets go of them as well, and the window is made as fast (0.74 s with
540 marks and without).
"""

import threading
import time
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass
from enum import Enum
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from PySide6.QtCore import QObject, QThread, Signal, SignalInstance, Slot

from engine.core.errors import EngineBug, EngineError
from engine.core.events import Cancelled, CancelToken, Note
from engine.system.computer import STACK_BYTES
from engine.system.crash_reports import fault_words, log_fault
from engine.system.paths import said_of_system
from engine.system.subprocess_worker import InProcessWorker, SubprocessWorker, Worker
from gui.workspace.garbage import Collector

WAITING = "Waiting for other work with a model to end"
"""What is said of a job where the worker thread of the model is busy."""
_PATIENCE = 10.0  # seconds for all worker threads to end once the window closes; llama.cpp answers in one
# The same for all but the worker thread of the model where the program ends with the window: what annotators
# said is on the disk, and what only reads may wait long for a store that another program holds.
_AT_ONCE = 1.0

Result = TypeVar("Result")


class ThreadName(Enum):
    """What may work at the same time. Jobs of one worker thread wait for each other."""

    MODEL = "model"  # whatever opens a model: it owns the session
    MEASURE = "measure"  # scores, figures, reports
    FILES = "files"  # loading, searching, sorting
    SCAN = "scan"  # looking for model files, which takes long on slow disks
    STORE = "store"  # short reads and writes of the run store


class JobControl:
    """When to stop, and how to say how far it is. `apart`: a model's work is done by a process of its own."""

    def __init__(self, cancel: CancelToken, report: Callable[[object], None], apart: bool = True) -> None:
        self.cancel = cancel
        self.report = report
        self.apart = apart

    def progress(self, event: object) -> None:
        """Report an event of an operation, but no Note: the window words what is to be known."""
        if not isinstance(event, Note):
            self.report(event)


Job = Callable[[JobControl], Result]
Asked = ParamSpec("Asked")


def job(work: Callable[Concatenate[JobControl, Asked], Result]) -> Callable[Asked, Job[Result]]:
    @wraps(work)
    def ask(*args: Asked.args, **kwargs: Asked.kwargs) -> Job[Result]:
        return lambda control: work(control, *args, **kwargs)

    return ask


@dataclass(frozen=True)
class AtWork:
    text: str
    done: int | None = None
    total: int | None = None


class _Work:
    # Nothing of Qt: whoever lets go of an object last ends it, and a worker thread must end none that lives
    # on the thread of the window.
    def __init__(self, job: Job[object], thread_name: ThreadName, apart: bool) -> None:
        self._job: Job[object] | None = job
        self._thread_name = thread_name
        self._apart = apart
        self.token = CancelToken()
        self.over = threading.Event()

    def do(self, tell: Callable[[str, object], None]) -> None:
        control = JobControl(self.token, lambda event: tell("event", event), self._apart)
        job, self._job = self._job, None  # what it holds is not needed twice
        try:
            self.token.raise_if_requested()
            result = job(control) if job else None
        except Cancelled:
            tell("cancelled", None)
        except EngineError as error:
            tell("failed", error)
        except MemoryError:
            tell("failed", EngineBug("there is not enough memory for this"))
        except BaseException as error:  # whatever it was, the window must hear of the end
            said: EngineError | None = said_of_system(error)
            if said is None:
                log_fault(error, f"a job of the thread {self._thread_name.value}")
                said = EngineBug(fault_words(error))
                said.__cause__ = error
            tell("failed", said)
        else:
            tell("finished", result)
        finally:
            self.over.set()


class Task(QObject):
    """One job under way. Its signals come on the thread of the window, the last of them exactly once."""

    progress = Signal(object)
    finished = Signal(object)
    failed = Signal(object)  # an EngineError
    cancelled = Signal()
    ended = Signal()  # after each of the last three

    def __init__(
        self, job: Job[object], thread_name: ThreadName, must_end: bool = False, apart: bool = True
    ) -> None:
        super().__init__()
        self.thread_name = thread_name
        self.must_end = must_end
        self.begun = False  # the job has told something: it waits for no other any more
        self.done = False
        self.work = _Work(job, thread_name, apart)
        self._abandoned = False

    def cancel(self) -> None:
        self.work.token.cancel()

    def end_soon(self) -> None:
        self.work.token.end_soon()

    def abandon(self) -> None:
        self._abandoned = True
        self.work.token.cancel()

    def wait(self, seconds: float) -> None:
        self.work.over.wait(max(0.0, seconds))

    def tell(self, kind: str, value: object) -> None:
        self.begun = True
        if kind == "event":
            if not self._abandoned:
                self.progress.emit(value)
            return
        self.done = True
        if not self._abandoned:
            if kind == "cancelled":
                self.cancelled.emit()
            elif kind == "failed":
                self.failed.emit(value)
            else:
                self.finished.emit(value)
        self.ended.emit()


class _Runner(QObject):
    """Does works in their order on a thread of its own, from its first job to the end of the window."""

    wanted = Signal(object)  # a work, to be done after those that were wanted before
    told = Signal(object, str, object)  # the work, the kind of news, its value

    def __init__(self, thread_name: ThreadName) -> None:
        super().__init__()
        self.own_thread = QThread()
        self.own_thread.setObjectName(thread_name.value)
        self.own_thread.setStackSize(STACK_BYTES)
        # Its slots run on that thread from now on.
        self.moveToThread(self.own_thread)
        self.wanted.connect(self._run)
        self.own_thread.start()

    @Slot(object)
    def _run(self, work: _Work) -> None:
        work.do(partial(self.told.emit, work))


class EngineThreads(QObject):
    """All worker threads. Without `apart`, work with a model is done in this process."""

    def __init__(self, parent: QObject | None = None, apart: bool = True) -> None:
        super().__init__(parent)
        self._apart = apart
        self._runners: dict[ThreadName, _Runner] = {}
        self._tasks: dict[_Work, Task] = {}
        self._collector = Collector(self)
        self._stopped = False

    def start(
        self,
        thread_name: ThreadName,
        job: Job[Result],
        done: "Hear | None" = None,
        failed: "Hear | None" = None,
        *,
        must_end: bool = False,
    ) -> Task:
        """Do a job after those that the thread has; connect other signals at once. `must_end`: also when the
        window closes, as it writes what nothing else has.
        """
        task = Task(job, thread_name, must_end, self._apart)
        for signal, hear in ((task.finished, done), (task.failed, failed)):
            if hear is not None:
                signal.connect(hear)
        if self._stopped:
            task.abandon()
            task.done = True
            return task
        self._tasks[task.work] = task
        # A thread for each worker thread is started with its first job: the window opens without any.
        if thread_name not in self._runners:
            self._runners[thread_name] = _Runner(thread_name)
            # A bound slot: a lambda would run on the thread of the worker thread.
            self._runners[thread_name].told.connect(self._hand_on)
        self._runners[thread_name].wanted.emit(task.work)
        return task

    def busy(self, thread_name: ThreadName) -> bool:
        return any(task.thread_name is thread_name and not task.done for task in self._tasks.values())

    def stop(self, at_once: bool = False) -> bool:
        """End the threads once what must end has; False where one did not in time. `at_once`: the program
        ends now.
        """
        self._stopped = True
        deadline = time.monotonic() + _PATIENCE
        for task in self._tasks.values():
            if not task.must_end:
                task.abandon()
        for task in self._tasks.values():
            if task.must_end:
                task.wait(deadline - time.monotonic())
        for runner in self._runners.values():
            runner.own_thread.quit()
        soon = min(deadline, time.monotonic() + _AT_ONCE) if at_once else deadline
        ended = []
        for thread_name, runner in self._runners.items():
            left = (deadline if thread_name is ThreadName.MODEL else soon) - time.monotonic()
            ended.append(runner.own_thread.wait(int(1000 * max(0.0, left))))
        if all(ended):
            self._collector.close()
        return all(ended)

    @Slot(object, str, object)
    def _hand_on(self, work: _Work, kind: str, value: object) -> None:
        task = self._tasks[work]
        task.tell(kind, value)
        if task.done:
            del self._tasks[work]


Hear = Callable[[Any], object] | Callable[[], object]


class LatestTask(QObject):
    """Jobs of which only the last counts: a new one abandons the one before. Its signals are the newest's."""

    progress = Signal(object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()
    busy_changed = Signal(bool)

    def __init__(
        self,
        threads: EngineThreads,
        thread_name: ThreadName,
        parent: QObject | None = None,
        done: Hear | None = None,
        failed: Hear | None = None,
    ) -> None:
        """`done` is told of the result, `failed` of the EngineError."""
        super().__init__(parent)
        self._threads, self._thread_name = threads, thread_name
        self._task: Task | None = None
        for told, hear in ((self.finished, done), (self.failed, failed)):
            if hear is not None:
                told.connect(hear)

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done

    def start(self, job: Job[Result]) -> Task:
        self.drop()
        task = self._threads.start(self._thread_name, job)
        self._task = task
        task.progress.connect(self.progress)
        task.finished.connect(self.finished)
        task.failed.connect(self.failed)
        task.cancelled.connect(self.cancelled)
        task.ended.connect(self._tell_end)
        self.busy_changed.emit(True)
        return task

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def stop(self) -> None:
        if self._task is not None and self._task.begun:
            self._task.cancel()
        else:
            self.drop()

    def drop(self) -> None:
        """Abandon the newest job; nothing more is heard of it."""
        if self._task is not None and not self._task.done:
            # Its end comes later, and would be taken for that of the next one.
            self._task.ended.disconnect(self._tell_end)
            self._task.abandon()
            self._task = None
            self.busy_changed.emit(False)

    def _tell_end(self) -> None:
        # Whoever heard `finished` may have started the next job already.
        if not self.busy:
            self.busy_changed.emit(False)


class ObservedTask(Protocol):
    finished: SignalInstance
    failed: SignalInstance


class Failures(QObject):
    """The last error of each kind of work that has not succeeded since."""

    told = Signal(object)  # an EngineError
    over = Signal(object)  # the same, once what failed has succeeded

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._last: dict[Hashable, EngineError] = {}

    def follow(self, work: ObservedTask, kind: Hashable = None) -> None:
        kind = object() if kind is None else kind
        work.failed.connect(partial(self.fail, kind))
        work.finished.connect(partial(self.end, kind))

    def fail(self, kind: Hashable, error: EngineError) -> None:
        self.end(kind)
        self._last[kind] = error
        self.told.emit(error)

    def end(self, kind: Hashable, _result: object = None) -> None:
        error = self._last.pop(kind, None)
        if error is not None:
            self.over.emit(error)


Arguments = ParamSpec("Arguments")
Event = TypeVar("Event")


def worker(
    work: "Callable[Concatenate[CancelToken, Arguments], Generator[Event, None, Result]]",
    control: JobControl,
) -> "Worker[Arguments, Event, Result]":
    """Does a work for a job, in a `with` block: a process of its own, whose end is not that of the window."""
    return (SubprocessWorker if control.apart else InProcessWorker)(work, control.cancel)
