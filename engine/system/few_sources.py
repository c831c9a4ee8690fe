"""Python's memory of source lines, kept small.

With Qt's Python binding loaded, the source of each module is read when it is imported, to see whether the
binding is used there. Python keeps all these lines for tracebacks: a million lines, 90 MB, once the libraries
of the measures are imported.

Knows: linecache. Does not know: who imports what.
"""

import linecache
from typing import Any

MOST_FILES = 32


class _FewSources(dict[str, Any]):
    """The files that were read last."""

    def __setitem__(self, path: str, lines: Any) -> None:
        super().pop(path, None)
        super().__setitem__(path, lines)
        while len(self) > MOST_FILES:
            try:
                super().pop(next(iter(self)), None)
            except (RuntimeError, StopIteration):  # another thread was at it
                break


def keep_few_sources() -> None:
    """From now on keep the lines of a few files only; of others they are read again where they are shown."""
    # Python's own dictionary has no limit, and no setting for one.
    linecache.cache = _FewSources()
