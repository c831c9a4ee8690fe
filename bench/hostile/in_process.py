"""A command in this process, and folders of its own for it.

Knows: the program's entry, TIEBREAK_HOME. Does not know: what a case is about.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from engine.cli.shared.console import guarded
from main import main

_HOME = "TIEBREAK_HOME"


def command(words: Sequence[str]) -> tuple[int, str]:
    """A command of the program: its exit code, and all that it printed."""
    printed = _Printed()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = guarded(lambda: main(list(words)))
    return code, printed.getvalue()


class _Printed(StringIO):
    """Takes what is printed; on Windows a stream is asked for its name."""

    name = "<printed>"


@contextmanager
def home_in(folder: Path | str) -> Iterator[bool]:
    """The program's folders are in this one; false where the system takes no such name."""
    before = os.environ.get(_HOME)
    try:
        try:
            os.environ[_HOME] = str(folder)
        except ValueError:
            yield False
            return
        yield True
    finally:
        os.environ.pop(_HOME, None)
        if before is not None:
            os.environ[_HOME] = before
