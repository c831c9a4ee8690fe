"""Faults of the program: written whole to a log file, and what may be told of the last one kept beside it.
What an error said may be the text of an item: so only places in code and names of kinds of errors are told.
While the program runs, Python keeps a file open for where each thread stood when a fault ends the process;
the next start finds it.
"""

import faulthandler
import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from engine.core import VERSION
from engine.core.errors import EngineBug, SetupError
from engine.system.files import OwnLock, own_file, write_whole
from engine.system.paths import log_folder

LAST_FAULT_NAME = "last-fault.json"
_FATAL = re.compile(
    r"^Fatal Python error: (Segmentation fault|Aborted|Bus error|Illegal instruction"
    r"|Floating.point exception)$"
    r"|^Windows fatal exception: (access violation|stack overflow|code 0x[0-9a-f]{1,8})$"
)
_FATAL_FRAME = re.compile(r'^  File "([^"\n]+)", line (\d{1,5}) in .*$')
_FUNCTION = re.compile(r"[A-Za-z_]\w*|<module>|<lambda>|<\w+(?:comp|expr)>", re.ASCII)
_OURS = ("engine", "gui", "main.py", "tiebreak.py")
_LIBRARIES = (
    *("jinja2", "llama_cpp", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sklearn"),
    "PySide6",
)
_DOING = re.compile(
    r"in the window|a job of the lane (?:model|measure|files|scan|store)|work in a process of its own"
    r"|the process that reads files|the window was ended by a fault"
)
_MOST_LINES = 40


class DistantTrace(Exception):
    """What another process had to say of an error, as its cause for the log; `trail`: what may be told."""

    def __init__(self, printed: str) -> None:
        super().__init__(printed)
        self.trail = trail_of_dump(printed)

    @classmethod
    def of(cls, error: BaseException) -> "DistantTrace":
        """The traceback of an error of this process, to be sent to another one."""
        trace = cls("".join(traceback.format_exception(error)))
        trace.trail = trail_of(error)
        return trace


def trail_of(error: BaseException) -> list[str]:
    """What may be told of an error and its causes: a line for each place and kind, the last call last."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and all(link is not one for one in chain):
        chain.append(link)
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    trail: list[str] = []
    for one in reversed(chain):
        trail += one.trail if isinstance(one, DistantTrace) else [*_places(one), _kind(one)]
    return trail[-_MOST_LINES:]


def trail_of_dump(dump: str) -> list[str]:
    """What may be told of what faulthandler writes as it ends a process, after the last fatal line."""
    trail: list[str] = []
    for line in dump.splitlines():
        if fatal := _FATAL.match(line):
            trail = [fatal[1] or fatal[2]]
        elif trail and (frame := _FATAL_FRAME.match(line)):
            place = _in_code(frame[1])
            trail.append(f"  {place}:{frame[2]}" if place else "  elsewhere")
    return trail[:1] + trail[1:][1 - _MOST_LINES :]  # of the threads the main one comes last


def keep_fault(trail: Sequence[str], doing: str) -> None:
    """Keep this as the last fault; where that cannot be written, none is kept rather than an older one."""
    path = log_folder() / LAST_FAULT_NAME
    known = doing if _DOING.fullmatch(doing) else "a command"
    lines = [f"in version {VERSION}, {known}", *trail]
    try:
        write_whole(path, json.dumps(lines, indent=1).encode("ascii"))
    except SetupError:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def last_fault() -> list[str]:
    """A line for the version, one for each place and kind; empty where none is known."""
    try:
        kept = (log_folder() / LAST_FAULT_NAME).read_bytes()
    except FileNotFoundError:
        return []
    return [str(line) for line in json.loads(kept)]


def _places(error: BaseException) -> Iterator[str]:
    for frame, line in traceback.walk_tb(error.__traceback__):
        place, function = _in_code(frame.f_code.co_filename), frame.f_code.co_name
        known = place and _FUNCTION.fullmatch(function)
        yield f"  {place}:{line} in {function}" if known else "  elsewhere"


def _kind(error: BaseException) -> str:
    """The name of its kind, if that is one of Python, of its libraries or of this program."""
    kind = type(error)
    module, name = kind.__module__, kind.__qualname__
    root = module.partition(".")[0]
    known = root in (*_LIBRARIES, *_OURS, "tiebreak") or root in sys.stdlib_module_names
    if root == "builtins":
        module, known = "", True
    if known and getattr(sys.modules.get(module or "builtins"), name, None) is kind:
        return f"{module}.{name}" if module else name
    return "an error of another kind"


def _in_code(path: str) -> str | None:
    """A file of code by its place in this program or in a library; None for any other."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    for place in range(len(parts) - 1, -1, -1):
        inside = PurePosixPath(*parts[place:])
        whole = place == 0
        if parts[place] in _LIBRARIES:
            known = whole or parts[place - 1] in ("site-packages", "dist-packages")
        else:
            # The program has such a file; a bundle has none, and names its code by relative paths.
            there = Path(__file__).parents[2].joinpath(inside).is_file()
            known = parts[place] in _OURS and (there or (getattr(sys, "frozen", False) and whole))
        if known:
            named = re.fullmatch(r"[\w/]+\.py", inside.as_posix(), re.ASCII)
            return named[0] if named else None
    name = parts[-1].removesuffix(".py") if parts else ""
    return f"{name}.py" if name in sys.stdlib_module_names else None


log = logging.getLogger(__name__)

LOG_NAME = "tiebreak.log"
_LARGEST_BYTES = 1_000_000
_OLDER_FILES = 3
_one_at_a_time = OwnLock()


def log_fault(error: BaseException, doing: str) -> Path:
    """Write an error to the log file, from any thread, if that can be; the file's path. `doing`: at what."""
    return _log(doing, doing, trail_of(error), error)


def log_dump(dump: str, doing: str) -> Path:
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


_NAME = "window-{}.fault"


class FaultWatch:
    """Until `end`, a fault that ends this process is written down. `told_in`: the log with an earlier one."""

    def __init__(self) -> None:
        self.told_in = _gather()
        self._path = log_folder() / _NAME.format(os.getpid())
        self._file: BinaryIO | None = None
        with suppress(OSError):  # a full disk: then a fault leaves no words
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = own_file(self._path)
            faulthandler.enable(self._file)

    def end(self) -> None:
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            with suppress(OSError):
                self._path.unlink()


def _gather() -> Path | None:
    """Move what processes left behind that are gone into the log; the log, if there was anything."""
    told_in = None
    for path in sorted(log_folder().glob(_NAME.format("*"))):
        with suppress(OSError):  # another process was faster, or the disk is read-only
            words = path.read_text("utf-8", errors="backslashreplace").strip()
            if words:
                told_in = log_dump(words, "the window was ended by a fault")
            # Only now: psutil takes longer to import than all else here, and mostly there is no such file.
            from engine.system.computer import is_running  # noqa: PLC0415

            number = path.stem.rpartition("-")[2]
            if words or not (number.isdecimal() and is_running(int(number))):
                path.unlink()
    return told_in
