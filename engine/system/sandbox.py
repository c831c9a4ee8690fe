"""The one gate for foreign bytes: what reads a foreign file is done by a process of its own, the reader, with
a limit of memory and a stack of known size. What a file brings down is the reader; whoever wanted the file is
told so. It is kept for the next files as long as it holds little and is wanted now and then.

It limits itself: on Linux the system refuses more address space, on Windows more committed memory of a job
object. macOS refuses RLIMIT_AS or lets it be without effect: whoever started the process must watch it.
"""

import atexit
import faulthandler
import inspect
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

from engine.core.errors import InputError, SetupError
from engine.core.events import CancelToken
from engine.core.formatting import amount
from engine.system import computer, paths
from engine.system import subprocess_worker as apart
from engine.system.files import when_forked

IS_HARD = sys.platform != "darwin"  # whether the limit holds by itself here

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
    _PROCESS_MEMORY = 0x100  # JOB_OBJECT_LIMIT_PROCESS_MEMORY

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
            ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_ulonglong * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    def limit_memory(most_bytes: int) -> None:
        """Let this process have no more than so much memory, from now on. OSError where that is refused."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        given = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
        kernel.SetInformationJobObject.argtypes = given
        kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _PROCESS_MEMORY
        limits.ProcessMemoryLimit = most_bytes
        # Never closed: the job lasts as long as this process.
        job, size = kernel.CreateJobObjectW(None, None), ctypes.sizeof(limits)
        set_up = job and kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), size)
        if not (set_up and kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess())):
            raise ctypes.WinError(ctypes.get_last_error())

elif sys.platform == "darwin":

    def limit_memory(most_bytes: int) -> None:
        """Nothing: see IS_HARD."""

else:
    import resource

    def limit_memory(most_bytes: int) -> None:
        """Let this process have no more than so much memory, from now on. OSError where that is refused."""
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


_LEAST, _MOST = 2 << 30, 16 << 30  # bytes of memory; the largest file that is read is 4 GiB
_TICK_SECONDS = 0.05  # between two looks whether a file is still wanted
_END_SECONDS = 5.0  # for a killed process to be gone
_IDLE_SECONDS = 60.0  # that a reader waits for the next file
_MOST_KEPT = 256 << 20  # bytes that a reader may hold while it waits
_ENDED_IDLE = 6  # exit code
# Each thread of a library would take address space of its own, which is limited.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def sandboxed(read: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let a function at the top of a module be done by the reader; what it raises and returns is the same.
    What it is given must be picklable, but for `cancel`, a CancelToken, and `progress`, which is told how far
    it is. `path`: the file, for errors. What is gated itself calls it where it is.
    """
    signature = inspect.signature(read)

    @wraps(read)
    def through_gate(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if _is_reader:
            return read(*args, **kwargs)
        given = dict(signature.bind(*args, **kwargs).arguments)
        cancel, progress = given.pop("cancel", None), given.pop("progress", None)
        result: Result = the_gate.read(through_gate, given, cancel, progress)
        return result

    return through_gate


class SandboxedReader:
    """Hands what is to be read to readers, from any thread."""

    def __init__(self, most_bytes: int | None = None, is_hard: bool = IS_HARD) -> None:
        """`most_bytes`: of memory, for each reader; None for half of all. If not `is_hard` it is watched."""
        self._most_bytes = most_bytes
        self._is_hard = is_hard
        self.begin_anew()

    def begin_anew(self) -> None:
        """Have no readers: those that there were belong to the process that this one is forked from."""
        self._idle: list[_Reader] = []
        self._changes = threading.Lock()

    def read(
        self,
        function: Callable[..., Any],
        given: Mapping[str, object],
        cancel: CancelToken | None = None,
        progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """What a gated function gives or raises. InputError where that takes too much memory or crashes."""
        told = progress is not None
        asked = (paths.current_folder(), paths.child_environment(**_ENVIRONMENT), function, given, told)
        while True:
            if cancel is not None:
                cancel.raise_if_requested()
            reader = self._take()
            try:
                return reader.read(asked, given.get("path"), cancel, progress)
            except _EndedIdleError:
                continue
            finally:
                self._give_back(reader)

    def close(self) -> None:
        with self._changes:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.end()

    def _take(self) -> "_Reader":
        with self._changes:
            if self._idle:
                return self._idle.pop()
            if self._most_bytes is None:
                memory = computer.available_memory()
                self._most_bytes = min(_MOST, max(_LEAST, memory.total // 2)) if memory else _LEAST
        return _Reader(self._most_bytes, self._is_hard)

    def _give_back(self, reader: "_Reader") -> None:
        with self._changes:
            if reader.is_sound and not self._idle:
                self._idle.append(reader)
                return
        reader.end()


class _EndedIdleError(Exception):
    """A reader had ended before it heard what it was asked."""


class _Reader(apart.OwnProcess):
    def __init__(self, most_bytes: int, is_hard: bool) -> None:
        self.is_sound = True
        self._most_bytes = most_bytes
        self._is_hard = is_hard
        self._took_too_much = self._is_killed = False
        self._path: object = None  # of the file, for errors
        super().__init__([paths.CHILD, "read"], "reads files", **_ENVIRONMENT)
        # So that one that ends while it waits leaves nothing behind in the list of processes.
        threading.Thread(target=self._child.wait, name="waits for a reader", daemon=True).start()
        with suppress(OSError):  # it has ended already: `read` says why
            apart.send(self._input, most_bytes)

    def read(
        self, asked: object, path: object, cancel: CancelToken | None, progress: Callable[[Any], None] | None
    ) -> Any:
        self._path = path
        self.is_sound = False  # until all that it has to say is heard
        over = threading.Event()
        watch = threading.Thread(target=self._watch, args=(cancel, over), name="watches a reader")
        if cancel is not None or not self._is_hard:
            watch.start()
        try:
            kind, value, trace = self._outcome(asked, cancel, progress)
        finally:
            over.set()
            if watch.ident is not None:
                watch.join()
        if isinstance(value, MemoryError):
            raise self._too_much() from value
        # One that was killed as it said its last word takes a moment to be gone.
        self.is_sound = not self._is_killed and self._child.poll() is None
        if kind == "failed":
            raise value from trace
        return value

    def _outcome(
        self, asked: object, cancel: CancelToken | None, progress: Callable[[Any], None] | None
    ) -> Any:
        """How it ended: the kind, the value, the trace. Raises why the process ended instead."""
        with suppress(OSError):
            apart.send(self._input, asked)
        while True:
            try:
                message = apart.receive(self._output)
            except EOFError:
                self._raise_end(cancel)
            if message[0] != "progress":
                return message
            if progress is not None:
                progress(message[1])
            if cancel is not None:
                cancel.raise_if_requested()

    def end(self) -> None:
        self._kill()
        self._close()
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(_END_SECONDS)

    def _watch(self, cancel: CancelToken | None, over: threading.Event) -> None:
        """On a thread of its own: end the process where the file is not wanted any more, or takes much."""
        while not over.wait(_TICK_SECONDS):
            if not self._is_hard:
                self._took_too_much = computer.memory_of(self._child.pid) > self._most_bytes
            if self._took_too_much or (cancel is not None and cancel.requested):
                self._kill()
                return

    def _kill(self) -> None:
        self._is_killed = True
        # On Windows the python.exe of a virtual environment only starts the real one.
        if sys.platform == "win32":
            computer.kill_family(self._child.pid)
        else:
            self._child.kill()

    def _raise_end(self, cancel: CancelToken | None) -> NoReturn:
        code = self._child.wait()
        if cancel is not None:
            cancel.raise_if_requested()
        if self._took_too_much:
            raise self._too_much()
        if code == _ENDED_IDLE:
            raise _EndedIdleError
        raise self._logged(_end(self._path, code), "the process that reads files")

    def _too_much(self) -> SetupError:
        found = f"needs more than {amount(self._most_bytes)} of memory to be read."
        return _refused(self._path, found, "Split it into several files, or remove what is not needed.")


def _end(path: object, code: int) -> SetupError:
    if how := apart.end_by_others(code):
        return SetupError(f"The process that reads files was {how}.", "Close other programs, then try again.")
    found = f"crashes the process that reads files ({apart.code_words(code)})."
    return _refused(
        path, found, "Download or export it again. If the file is valid, please report this with it."
    )


def _refused(path: object, found: str, hint: str) -> SetupError:
    if isinstance(path, Path):
        return InputError(path, [found], hint)
    return SetupError(f"The input {found}", hint)


the_gate = SandboxedReader()  # that of this process
_is_reader = False  # whether this process is one
atexit.register(the_gate.close)
when_forked(the_gate.begin_anew)


def in_child() -> int:
    """Be a reader until nobody wants one any more; the exit code."""
    global _is_reader  # noqa: PLW0603 - said once, at the start of this process
    _is_reader = True
    commands, told = apart.take_streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(2)
    wanted: queue.SimpleQueue[Sequence[bytearray]] = queue.SimpleQueue()
    with suppress(EOFError):
        limit_memory(apart.receive(commands))
        threading.Thread(target=_serve, args=(wanted, told), name="reads files", daemon=True).start()
        while True:
            wanted.put(apart.receive_parts(commands))
    os._exit(0)  # at once, whatever is being read


def _serve(wanted: "queue.SimpleQueue[Sequence[bytearray]]", told: int) -> None:
    while True:
        try:
            asked = wanted.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            os._exit(_ENDED_IDLE)
        with suppress(OSError):  # nobody hears us any more, and the other thread knows
            try:
                apart.send(told, _outcome(asked, told))
            except OSError:
                raise
            except Exception as error:  # too large to be sent, or of no kind that can be
                apart.send(told, apart.failure(error))
        if computer.own_memory() > _MOST_KEPT:
            os._exit(_ENDED_IDLE)


def _outcome(asked: Sequence[bytearray], told: int) -> tuple[str, object, object]:
    try:
        folder, environment, function, given, is_told = apart.unpacked(asked)
        paths.stand_at(folder, environment)
        if is_told:
            given["progress"] = lambda event: apart.send(told, ("progress", event))
        return "returned", function(**given), None
    except BaseException as error:  # the other process must hear of it, whatever it is
        return apart.failure(error)
