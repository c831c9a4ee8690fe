"""Faults of the program, written whole to a log file.

Knows: the log file, how a fault is said in short. Does not know: who tells the user.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from engine.core import VERSION
from engine.core.errors import EngineBug
from engine.system.forks import OwnLock
from engine.system.last_fault import keep_fault, trail_of, trail_of_dump
from engine.system.paths import log_folder

log = logging.getLogger(__name__)

LOG_NAME = "tiebreak.log"
_LARGEST_BYTES = 1_000_000
_OLDER_FILES = 3
_one_at_a_time = OwnLock()


def log_fault(error: BaseException, doing: str) -> Path:
    """Write an error with its traceback to the log file, from any thread; the file's path.

    `doing`: what the program was at, for whoever fixes it. What may be told of the fault is stored next to
    the log. Where the file cannot be written, nothing more happens: a fault is not worth a second one.
    """
    return _log(doing, doing, trail_of(error), error)


def log_dump(dump: str, doing: str) -> Path:
    """Write what faulthandler left of a process that a fault ended to the log file; see `log_fault`."""
    return _log(f"{doing}\n{dump}", doing, trail_of_dump(dump))


def _log(words: str, doing: str, trail: Sequence[str], error: BaseException | None = None) -> Path:
    path = log_folder() / LOG_NAME
    with _one_at_a_time:
        handler = _file_handler(path)
        log.addHandler(handler)
        try:
            log.error("Tiebreak %s, %s", VERSION, words, exc_info=error)
        finally:
            log.removeHandler(handler)
            handler.close()
        keep_fault(trail, doing)
    return path


def fault_words(error: BaseException) -> str:
    """What went wrong in one line or a few: the words of an EngineBug, kind and words of any other error."""
    return str(error) if isinstance(error, EngineBug) else f"{type(error).__name__}: {error}"


def _file_handler(path: Path) -> logging.Handler:
    # Only now: it takes 20 ms to import, and bugs are rare.
    from logging.handlers import RotatingFileHandler  # noqa: PLC0415

    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        # A path in the message may hold bytes that are not UTF-8.
        return RotatingFileHandler(
            path, "a", _LARGEST_BYTES, _OLDER_FILES, encoding="utf-8", errors="backslashreplace"
        )
    return logging.NullHandler()
