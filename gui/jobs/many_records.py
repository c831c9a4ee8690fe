"""How a job makes very many records without the window standing still.

Python's garbage collector stops all threads, the longer the more records there are: a second for those of
100,000 items. Records hold no cycles, so it has nothing to find among them.

Knows: the garbage collector. Does not know: what is made.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def many_records() -> Iterator[None]:
    """Keep the collector from running meanwhile, and from ever looking at what was made."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
