"""Work done by a process of its own, so that what ends that process leaves this one alive.

The work is a generator function at the top of a module. Down the standard input of this program, started once
more, goes what is to be done: the function, its arguments, then perhaps a byte that asks to end soon, or to
stop. Up the standard output come its events, at last how it ended. Where this process ends, the other one
meets the end of its input: it stops as if it had been asked to.

Knows: processes and how they end. Does not know: how objects are sent, what the work does, with which model.
"""

import faulthandler
import os
import signal
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Concatenate, Generic, NoReturn, ParamSpec, Self, TypeVar

from engine.core.cancel import CancelToken
from engine.core.errors import EngineBug, EngineError, ProcessEnded
from engine.system.child_process import CRASHES, code_words
from engine.system.fault_log import log_fault
from engine.system.paths import APART, PROGRAM_ID, program_id
from engine.system.talk import failure, receive, send, start, take_streams, trace_of

_TICK_SECONDS = 0.05  # between two looks whether the work is to stop
_PATIENCE = 30.0  # seconds for work to stop; llama.cpp answers in one
_DEFAULT_END = 1.0  # seconds that a process takes at most to end after its work; it may hold a GPU's memory
_LATEST_END = 5.0  # seconds more for one that hangs, which nobody waits for
_STOP, _END_SOON = b".", b","
_GAVE_UP = 5

MethodQuestion = ParamSpec("MethodQuestion")
Event = TypeVar("Event")
Result = TypeVar("Result")
ObservedTask = Callable[Concatenate[CancelToken, MethodQuestion], Generator[Event, None, Result]]


class Worker(ABC, Generic[MethodQuestion, Event, Result]):
    """Does a work, in a `with` block."""

    @abstractmethod
    def do(
        self, *args: MethodQuestion.args, **kwargs: MethodQuestion.kwargs
    ) -> Generator[Event, None, Result]:
        """Do the work with these arguments; its events, and what it returns. Raises what the work raises."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_error: object) -> None:
        """End it."""


class InProcessWorker(Worker[MethodQuestion, Event, Result]):
    """Does a work in this process: for whoever could bear its end."""

    def __init__(self, work: ObservedTask[MethodQuestion, Event, Result], cancel: CancelToken) -> None:
        self._work = work
        self._cancel = cancel

    def do(
        self, *args: MethodQuestion.args, **kwargs: MethodQuestion.kwargs
    ) -> Generator[Event, None, Result]:
        """See Worker."""
        return self._work(self._cancel, *args, **kwargs)

    def __exit__(self, *_error: object) -> None:
        return


class SubprocessWorker(Worker[MethodQuestion, Event, Result]):
    """Does a work in a process of its own, which starts at once and imports what the work needs.

    At the end of the `with` block that process has ended, or will have within seconds where it has done its
    work and hangs.
    """

    def __init__(self, work: ObservedTask[MethodQuestion, Event, Result], cancel: CancelToken) -> None:
        self._cancel = cancel
        self._begun = False  # the work has its arguments
        self._done = False  # it has told how it ended
        self._over = False
        # Nobody writes to a pipe that is closed: its number may be another file's by then.
        self._pipes = threading.Lock()
        self._last_words = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        told = {"GGML_NO_BACKTRACE": "1", PROGRAM_ID: str(program_id())}
        self._child = start([APART], self._last_words, "runs the model", **told)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._input, self._output = self._child.stdin.fileno(), self._child.stdout.fileno()
        with suppress(OSError):  # it has ended already: `do` says why
            # At once, before the arguments are known: the other process imports meanwhile.
            send(self._input, work)
        threading.Thread(target=self._hand_on_stop, name="stops work apart", daemon=True).start()

    def do(
        self, *args: MethodQuestion.args, **kwargs: MethodQuestion.kwargs
    ) -> Generator[Event, None, Result]:
        """The same, once. Raises ProcessEnded where its process was ended before the work was done."""
        with suppress(OSError):
            send(self._input, (args, kwargs))
        while True:
            try:
                kind, value, trace = receive(self._output)
            except EOFError:
                self._raise_end()
            if kind == "begun":
                self._begun = True
            elif kind == "event":
                yield value
            else:
                self._done = True
                if kind == "returned":
                    result: Result = value
                    return result
                raise value from trace

    def __exit__(self, *_error: object) -> None:
        with self._pipes:
            self._over = True
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
        self._last_words.close()
        if self._done and not self._ends_within(_DEFAULT_END):
            # Not a daemon: this program may end meanwhile, but not without that process.
            threading.Thread(target=self._end_it, args=(_LATEST_END,), name="ends work apart").start()
        elif not self._done:
            self._end_it(0)

    def _ends_within(self, seconds: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(seconds)
        return self._child.poll() is not None

    def _end_it(self, patience: float) -> None:
        if not self._ends_within(patience):
            self._child.kill()
            self._ends_within(_PATIENCE)  # not for ever: a driver may hold it

    def _hand_on_stop(self) -> None:
        """On a thread of its own: ask the work to stop once we are asked; end it where it does not listen."""
        asked = False
        while not self._cancel.wait(_TICK_SECONDS):
            if self._over:
                return
            if self._cancel.ending and self._begun and not asked:
                asked = True
                self._tell(_END_SOON)
        if self._begun:
            self._tell(_STOP)
            with suppress(subprocess.TimeoutExpired):
                self._child.wait(_PATIENCE)
        # Before it has begun, nothing is lost; where it has ended, nothing happens.
        self._child.kill()

    def _tell(self, request: bytes) -> None:
        with self._pipes, suppress(OSError):
            if not self._over:
                os.write(self._input, request)

    def _raise_end(self) -> NoReturn:
        """Raise why the process is no more. Cancelled where it was to stop anyhow."""
        code = self._child.wait()
        self._cancel.raise_if_requested()
        error = _end(code)
        error.__cause__ = trace_of(self._last_words)
        log_fault(error, "work in a process of its own")
        raise error


def _end(code: int) -> EngineError:
    """What is said of a process that ended with this exit code before its work was done."""
    if code in CRASHES:
        return ProcessEnded(
            f"The process that runs the model crashed ({code_words(code)}).",
            "All results so far are stored. Resume it; if it crashes again, choose a smaller context or"
            " another model.",
            broke_down=True,
        )
    if code < 0:
        reason = ", most likely for lack of memory" if code_words(code) == "SIGKILL" else ""
        return ProcessEnded(
            f"The process that runs the model was ended from outside ({code_words(code)}){reason}.",
            "All results so far are stored. Close other programs, then resume it.",
        )
    return EngineBug(f"the process that runs the model ended with {code_words(code)} before it was done")


def serve() -> int:
    """Be the other process: do the work that comes down the standard input; the exit code."""
    commands, told = take_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(2)
    try:
        work = receive(commands)
        args, kwargs = receive(commands)
    except EOFError:
        return 0  # the work is not wanted any more
    except Exception as error:
        send(told, failure(error))
        return 0
    cancel = CancelToken()
    threading.Thread(target=_listen, args=(commands, cancel), daemon=True).start()
    with suppress(OSError):  # nobody hears us any more, and `_listen` knows
        send(told, ("begun", None, None))
    try:
        _work(work(cancel, *args, **kwargs), told)
    finally:
        cancel.cancel()
    return 0


def _work(going: Generator[object, None, object], told: int) -> None:
    """Do the work to its end and send all that comes of it, as long as somebody hears it."""
    outcome: tuple[str, object, object] | None = None
    while outcome is None:
        try:
            event = next(going)
        except StopIteration as end:
            outcome = ("returned", end.value, None)
        except BaseException as error:  # the other process must hear of it, whatever it is
            outcome = failure(error)
        else:
            with suppress(OSError):
                send(told, ("event", event, None))
    with suppress(OSError):
        send(told, outcome)


def _listen(commands: int, cancel: CancelToken) -> None:
    """End or stop the work once that is requested, or nobody is left to request anything."""
    while True:
        received = os.read(commands, 1)
        if received == _END_SOON:
            cancel.end_soon()
            continue
        cancel.cancel()
        if not received:
            break
    time.sleep(_PATIENCE)
    os._exit(_GAVE_UP)  # all that counts is stored
