"""Two processes of this program that talk: one starts the other, objects go through the pipes between them.

Objects are pickled; their large buffers, such as the columns of a table, go next to the pickle and are copied
nowhere. Both ends are this program, under the same account: what comes through is believed.

Knows: processes, pipes, pickles. Does not know: what is said.
"""

import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Sequence
from typing import IO, Any

from engine.core.cancel import Cancelled
from engine.core.errors import EngineError, SetupError
from engine.system.child_process import NO_WINDOW
from engine.system.forks import keep_to_this_process
from engine.system.last_fault import DistantTrace
from engine.system.paths import child_environment, self_command
from engine.system.places import said_of_system

_LENGTH = struct.Struct(">Q")
_PIPE_BYTES = 1 << 20  # where the system lets us choose: each filling makes both processes wait
_MOST_READ = _PIPE_BYTES
_MOST_LAST_WORDS = 4000  # bytes of what a process that ended had printed

if sys.platform == "win32":
    import msvcrt


def start(
    arguments: Sequence[str], last_words: IO[bytes], purpose: str, **environment: str
) -> subprocess.Popen[bytes]:
    """This program once more; what the libraries and Python say of its end goes to `last_words`.

    `purpose`: what the process does, as a clause. SetupError where it cannot be started; `last_words` is
    closed then.
    """
    try:
        child = subprocess.Popen(
            [*self_command(), *arguments],
            bufsize=0,
            pipesize=_PIPE_BYTES,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=last_words,
            env=child_environment(**environment),
            creationflags=NO_WINDOW,
            # Away from the terminal's Ctrl-C, which is for us alone. Not in a session of its own: Linux would
            # share the processor out between both, and how nice the user made us would count for nothing.
            process_group=0,
        )
    except OSError as error:
        last_words.close()
        raise SetupError(
            f"The process that {purpose} cannot be started: {error}.", "Close other programs, then try again."
        ) from error
    keep_to_this_process(child)
    return child


def trace_of(last_words: IO[bytes]) -> DistantTrace | None:
    """What a process printed at last, as the cause of the error that its end is; None for nothing."""
    size = last_words.seek(0, os.SEEK_END)
    last_words.seek(max(0, size - _MOST_LAST_WORDS))
    printed = last_words.read().decode("utf-8", "replace").strip()
    return DistantTrace(printed) if printed else None


def take_streams() -> tuple[int, int]:
    """In the process that was started: the pipes from and to the other one.

    What else is read or printed here goes nowhere.
    """
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
    error = said_of_system(error) or error
    if not isinstance(error, EngineError | Cancelled | MemoryError):
        trace = DistantTrace.of(error)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return "failed", error, trace


def send(pipe: int, message: object) -> None:
    """Send one object. OSError where nobody reads."""
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
    """The object that came in these parts."""
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
