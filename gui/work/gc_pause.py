"""How a job makes very many records without the window standing still.

Python's garbage collector stops all threads, the longer the more records there are: a second for those of
100,000 items. Records hold no cycles, so it has nothing to find among them.

Knows: the garbage collector. Does not know: what is made.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 200_000  # objects that the collector goes through in less than 50 ms (measured)

_under_way: set[object] = set()
"""A mark for each job inside; adding one and taking one out are each done at once, on whatever lane."""


@contextmanager
def many_records() -> Iterator[None]:
    """Keep the collector from running until the last job inside has ended, and from ever looking at what was
    made where that is very much.

    Only then: what it never looks at is never cleared away either, where it has cycles.
    """
    mark = object()
    if not _under_way:
        gc.collect(1)
    _under_way.add(mark)
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > _MANY:
            gc.freeze()
        _under_way.discard(mark)
        # Should a job begin at this very moment, the collector runs during it: a pause, nothing worse.
        if not _under_way:
            gc.enable()
