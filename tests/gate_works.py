"""What the process that reads files does for tests: each as a real file might make it."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import ColumnsError
from engine.core.events import CancelToken
from engine.system.sandbox import sandboxed

if TYPE_CHECKING:
    import pyarrow as pa

_held: list[bytearray] = []


@sandboxed
def process_of(path: Path) -> tuple[int, str, str | None]:
    """The process, the current folder, the home; `path` is read by nobody."""
    return os.getpid(), str(Path.cwd() / path), os.environ.get("TIEBREAK_HOME")


@sandboxed
def take(path: Path, n_bytes: int) -> int:
    """Take so much memory, page by page."""
    return len(bytearray(os.urandom(1 << 20)) * (n_bytes >> 20)) + len(path.name)


@sandboxed
def column(path: Path, n_bytes: int) -> "pa.Table":
    """A table of so many bytes, called as a path."""
    import pyarrow as pa

    return pa.table({path.name: pa.array([b"x" * n_bytes], pa.large_binary())})


@sandboxed
def hold(path: Path, n_bytes: int) -> int:
    """Take so much memory and keep it, as a library with a cache does."""
    _held.append(bytearray(os.urandom(1 << 20)) * (n_bytes >> 20))
    return len(_held) + len(path.name)


@sandboxed
def end(path: Path, code: int) -> None:
    """End the process: by os.abort, a C library's way, for 0; else with this exit code."""
    print("read", path, file=sys.stderr, flush=True)
    if code == 0:
        os.abort()
    os._exit(code)


@sandboxed
def refuse(path: Path) -> None:
    """Raise an error that says all that errors say."""
    raise ColumnsError(path, ["one", "two"], "Do this.", foreign=True, unknown=["x"])


@sandboxed
def unsendable(path: Path) -> Callable[[], Path]:
    """What no pickle holds."""
    return lambda: path


@sandboxed
def fail(path: Path) -> float:
    """A fault of the program."""
    return 1 / len(path.name[:0])


@sandboxed
def walk(path: Path, levels: int) -> int:
    """Walk into lists within lists, in Python's own reader."""
    return len(json.loads("[" * levels + "]" * levels)) + len(path.name)


@sandboxed
def stack(path: Path) -> int:
    """The stack on which a file is read."""
    assert path
    from tests.stack import stack_bytes

    return stack_bytes()


@sandboxed
def linger(
    path: Path,
    seconds: float,
    cancel: CancelToken | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Tell the process, then last; nobody asks whether to go on."""
    assert cancel is None, path
    if progress is not None:
        progress(os.getpid())
    time.sleep(seconds)


@sandboxed
def outer(path: Path) -> tuple[int, int]:
    """What is gated calls what is gated."""
    return os.getpid(), process_of(path)[0]
