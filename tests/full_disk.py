"""A disk without room, as far as this process is concerned."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def disk_that_holds(size: int) -> Iterator[None]:
    """Files longer than `size` bytes cannot be written: the system's own limit, not a stand-in for one."""
    if sys.platform == "win32":
        pytest.skip("no limit of the size of files here")
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
