"""Work done by a process of its own, so that what ends that process leaves this one alive.

`run_child` waits for any command. A worker does a generator function at the top of a module: down the
standard input of this program, started once more, go the function and its arguments, then perhaps a byte that
asks to end soon, or to stop. Up the standard output come its events, at last how it ended, pickled: both ends
are this program, under the same account. Where this process ends, the other one stops.
"""

import faulthandler
import math
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from tempfile import TemporaryFile
from typing import Any, Concatenate, Generic, NoReturn, ParamSpec, Self, TypeVar

from engine.core.errors import EngineBug, EngineError, ProcessEnded, SetupError
from engine.core.events import Cancelled, CancelToken
from engine.system import paths
from engine.system.computer import kill_family, memory_of, wait_for_end
from engine.system.crash_reports import DistantTrace, log_fault
from engine.system.files import keep_to_this_process

_POLL_SECONDS = 0.05  # a process may take a hundred megabytes meanwhile
_LAST_WORDS_SECONDS = 5.0  # a process that it started may hold its pipe
_PARENT = "TIEBREAK_PARENT"  # the variable that names the process which waits
_ORPHAN = 5  # exit code
NO_WINDOW: int = getattr(subprocess, "CREATE_NO_WINDOW", 0)
"""For `creationflags`: on Windows no console flashes up."""
_ENDED_BY_OTHERS: set[int] = set()  # exit codes that no signal tells
if sys.platform == "win32":
    # access violation, a page that cannot be read, division by zero, illegal instruction, abort or a stack
    # overrun, stack overflow. Not 3: abort gave it in older libraries, but it is our own code for a fault.
    CRASHES = {0xC0000005, 0xC0000006, 0xC0000094, 0xC000001D, 0xC0000409, 0xC00000FD}
    # By the Task Manager, by Unix's number of SIGTERM, with its console, as the user logs off.
    _ENDED_BY_OTHERS = {1, 15, 0xC000013A, 0x40010004}
else:
    CRASHES = {-signal.SIGABRT, -signal.SIGBUS, -signal.SIGFPE, -signal.SIGILL, -signal.SIGSEGV}
"""Exit codes of a process that crashed."""


def code_words(code: int) -> str:
    """An exit code as users look for it: the name of a signal, a code of Windows in its usual form."""
    if code < 0 and -code in set(signal.Signals):
        return signal.Signals(-code).name
    return f"code {code:#x}" if code > 0xFFFF else f"code {code}"


def end_by_others(code: int) -> str:
    """How a process was ended from outside, as a clause; empty where it ended by itself."""
    if code in _ENDED_BY_OTHERS:
        return f"ended from outside ({code_words(code)}), by the Task Manager or another program"
    if code >= 0 or code in CRASHES:
        return ""
    why = ", most likely for lack of memory" if code_words(code) == "SIGKILL" else ""
    return f"ended from outside ({code_words(code)}){why}"


def run_child(
    command: Sequence[str],
    cancel: CancelToken,
    *,
    messages: bool = False,
    seconds: float | None = None,
    most_bytes: int | None = None,
    given: bytes = b"",
) -> tuple[int, bytes]:
    """The exit code of a child process and what it printed, with its `messages` or without; `given`: what it
    reads on its standard input. Where this process is killed, nobody ends the child: it should call
    `end_with_parent`. Raises Cancelled, TimeoutError after `seconds`, MemoryError where it is seen to hold
    more than `most_bytes`; the child has ended then, too. SetupError where it cannot be started.
    """
    child = _started(command, messages, given)
    deadline = time.monotonic() + (math.inf if seconds is None else seconds)
    try:
        while True:
            cancel.raise_if_requested()
            with suppress(subprocess.TimeoutExpired):
                printed, _ = child.communicate(timeout=_POLL_SECONDS)
                return child.returncode, printed
            if time.monotonic() > deadline:
                raise TimeoutError(f"not ended after {seconds} s")
            if most_bytes is not None and memory_of(child.pid) > most_bytes:
                raise MemoryError(f"more than {most_bytes:,} bytes")
    finally:
        if child.poll() is None:
            kill_family(child.pid)
            child.kill()  # where the system does not tell who that is
        # Also where it ended just as this was stopped: nobody has read what it printed, and its pipe is open.
        with suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=_LAST_WORDS_SECONDS)


def _started(command: Sequence[str], messages: bool, given: bytes) -> subprocess.Popen[bytes]:
    try:
        with TemporaryFile() as asked:  # a pipe would not be written on after a time-out of `communicate`
            asked.write(given)
            asked.seek(0)
            return subprocess.Popen(
                command,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if messages else subprocess.DEVNULL,
                # Else ggml starts a debugger where it crashes, which takes seconds.
                env=paths.child_environment(**{"GGML_NO_BACKTRACE": "1", _PARENT: str(os.getpid())}),
                creationflags=NO_WINDOW,
                # Away from the terminal, whose Ctrl-C is for us alone: we then end the child.
                start_new_session=True,
            )
    except OSError as error:
        raise SetupError(
            f"A process that this program needs cannot be started: {error}.",
            "Close other programs, and make room for temporary files, then try again.",
        ) from error


def end_with_parent() -> None:
    """In a child process: end it, from now on, soon after the process that waits for it."""
    number = paths.environment(_PARENT)
    if number is None:
        return  # the user started it

    def end_after() -> NoReturn:
        # Not the parent that the system names: on Windows a launcher may be in between.
        wait_for_end(int(number))
        os._exit(_ORPHAN)

    threading.Thread(target=end_after, name="ends with parent", daemon=True).start()


_LENGTH = struct.Struct(">Q")
_PIPE_BYTES = 1 << 20  # where the system lets us choose: each filling makes both processes wait
_MOST_READ = _PIPE_BYTES
_MOST_LAST_WORDS = 4000  # bytes of what a process that ended had printed

if sys.platform == "win32":
    import msvcrt


Ended = TypeVar("Ended", bound=EngineError)


class OwnProcess:
    """This program once more, with a pipe to it and one from it."""

    def __init__(self, arguments: Sequence[str], purpose: str, **environment: str) -> None:
        """`purpose`: what the process does, as a clause. SetupError where it cannot be started."""
        # What the libraries and Python say of its end.
        self._last_words = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `_close`
        try:
            self._child = subprocess.Popen(
                [*paths.self_command(), *arguments],
                bufsize=0,
                pipesize=_PIPE_BYTES,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._last_words,
                env=paths.child_environment(**environment),
                creationflags=NO_WINDOW,
                # Away from the terminal's Ctrl-C, which is for us alone. Not in a session of its own: Linux
                # would share the processor out between both, and our niceness would count for nothing.
                process_group=0,
            )
        except OSError as error:
            self._last_words.close()
            raise SetupError(
                f"The process that {purpose} cannot be started: {error}.",
                "Close other programs, then try again.",
            ) from error
        keep_to_this_process(self._child)
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._input, self._output = self._child.stdin.fileno(), self._child.stdout.fileno()

    def _logged(self, error: Ended, doing: str) -> Ended:
        """The error that its end is, in the log with what the process printed at last as the cause."""
        size = self._last_words.seek(0, os.SEEK_END)
        self._last_words.seek(max(0, size - _MOST_LAST_WORDS))
        printed = self._last_words.read().decode("utf-8", "replace").strip()
        error.__cause__ = DistantTrace(printed) if printed else None
        log_fault(error, doing)
        return error

    def _close(self) -> None:
        for pipe in (self._child.stdin, self._child.stdout, self._last_words):
            if pipe is not None:
                pipe.close()


def take_streams() -> tuple[int, int]:
    """The pipes from and to the other process; what else is read or printed here goes nowhere."""
    streams = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        for stream in streams:
            msvcrt.setmode(stream, os.O_BINARY)
    # Not by `open`, which asks where in the file it is: not every system can say that of this one.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return streams


def failure(error: BaseException) -> tuple[str, object, object]:
    """An error as it can be sent: itself, or its words where it cannot; with its traceback for the log."""
    trace = None
    error = paths.said_of_system(error) or error
    if not isinstance(error, EngineError | Cancelled | MemoryError):
        trace = DistantTrace.of(error)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return "failed", error, trace


def send(pipe: int, message: object) -> None:
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    parts = [memoryview(data), *(buffer.raw() for buffer in buffers)]
    sizes = [len(part) for part in parts]
    head = struct.pack(f">{1 + len(sizes)}Q", len(sizes), *sizes)
    for part in (memoryview(head), *parts):
        left = part
        while left:
            left = left[os.write(pipe, left) :]


def receive(pipe: int) -> Any:
    """The next object. EOFError where none comes whole."""
    return unpacked(receive_parts(pipe))


def receive_parts(pipe: int) -> Sequence[bytearray]:
    """The same not unpickled: whoever unpickles it imports what it needs."""
    (count,) = _LENGTH.unpack(_read(pipe, _LENGTH.size))
    sizes = _read(pipe, count * _LENGTH.size)
    return [_read(pipe, size) for (size,) in _LENGTH.iter_unpack(sizes)]


def unpacked(parts: Sequence[bytearray]) -> Any:
    data, *buffers = parts
    return pickle.loads(data, buffers=buffers)


def _read(pipe: int, size: int) -> bytearray:
    data = bytearray(size)
    left = memoryview(data)
    while left:
        part = os.read(pipe, min(len(left), _MOST_READ))
        if not part:
            raise EOFError
        left[: len(part)] = part
        left = left[len(part) :]
    return data


_TICK_SECONDS = 0.05  # between two looks whether the work is to stop
_PATIENCE = 30.0  # seconds for work to stop; llama.cpp answers in one
_DEFAULT_END = 1.0  # seconds that a process takes at most to end after its work; it may hold a GPU's memory
_LATEST_END = 5.0  # seconds more for one that hangs, which nobody waits for
_STOP, _END_SOON = b".", b","
_GAVE_UP = 5

Arguments = ParamSpec("Arguments")
Event = TypeVar("Event")
Result = TypeVar("Result")
ObservedTask = Callable[Concatenate[CancelToken, Arguments], Generator[Event, None, Result]]


class Worker(ABC, Generic[Arguments, Event, Result]):
    @abstractmethod
    def do(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Generator[Event, None, Result]:
        """Do the work with these arguments; its events, and what it returns. Raises what the work raises."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_error: object) -> None:
        """End it."""


class InProcessWorker(Worker[Arguments, Event, Result]):
    """Does a work in this process: for whoever could bear its end."""

    def __init__(self, work: ObservedTask[Arguments, Event, Result], cancel: CancelToken) -> None:
        self._work = work
        self._cancel = cancel

    def do(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Generator[Event, None, Result]:
        return self._work(self._cancel, *args, **kwargs)

    def __exit__(self, *_error: object) -> None:
        return


class SubprocessWorker(OwnProcess, Worker[Arguments, Event, Result]):
    """Does a work in a process of its own, which starts at once. At the end of the `with` block it has ended,
    or will within seconds where it has done its work and hangs.
    """

    def __init__(self, work: ObservedTask[Arguments, Event, Result], cancel: CancelToken) -> None:
        self._cancel = cancel
        self._begun = False  # the work has its arguments
        self._done = False  # it has told how it ended
        self._over = False
        # Nobody writes to a pipe that is closed: its number may be another file's by then.
        self._pipes = threading.Lock()
        told = {"GGML_NO_BACKTRACE": "1", paths.PROGRAM_ID: str(paths.program_id())}
        super().__init__([paths.APART], "runs the model", **told)
        with suppress(OSError):  # it has ended already: `do` says why
            # At once, before the arguments are known: the other process imports meanwhile.
            send(self._input, work)
        threading.Thread(target=self._hand_on_stop, name="stops work apart", daemon=True).start()

    def do(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Generator[Event, None, Result]:
        """The same, once. Raises ProcessEnded where its process was ended before the work was done."""
        with suppress(OSError):
            send(self._input, (args, kwargs))
        while True:
            try:
                kind, value, trace = receive(self._output)
            except EOFError:
                code = self._child.wait()
                self._cancel.raise_if_requested()  # it was to stop anyhow
                error = self._logged(_end(code), "work in a process of its own")
                raise error from error.__cause__
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
            self._close()
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
        """On a thread of its own: hand on to the work that it is to stop; end it where it does not listen."""
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


def _end(code: int) -> EngineError:
    if code in CRASHES:
        return ProcessEnded(
            f"The process that runs the model crashed ({code_words(code)}).",
            "All results so far are stored. Resume it; if it crashes again, choose a smaller context or"
            " another model.",
            broke_down=True,
        )
    if how := end_by_others(code):
        return ProcessEnded(
            f"The process that runs the model was {how}.",
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
