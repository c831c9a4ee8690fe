"""The last fault of the log without a word that could be of a dataset: its kind, and where it was met.

The log holds what an error said, which may be the text of an item, and the paths of files. Here only that is
passed on which can be nothing else: places in code, and names of kinds of errors that this program or its
libraries have.

Knows: how a traceback is written, the log. Does not know: who asks.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from engine.system.fault_log import LOG_NAME
from engine.system.paths import log_folder

_BEGINS = re.compile(r"^Tiebreak (\d{1,3}(?:\.\d{1,3}){1,3}(?:\.?(?:dev|rc|a|b)\d{0,3})?), (.*)$")
_FRAME = re.compile(
    r'^\s*File "([^"\n]+)", line (\d{1,5}),? in ([A-Za-z_]\w*|<module>|<lambda>|<\w+(?:comp|expr)>)$'
)
_KIND = re.compile(r"^([A-Za-z_][\w.]*)(?::.*)?$")
_FATAL = re.compile(
    r"^Fatal Python error: (Segmentation fault|Aborted|Bus error|Illegal instruction"
    r"|Floating.point exception)$"
    r"|^Windows fatal exception: (access violation|stack overflow|code 0x[0-9a-f]{1,8})$"
)
_OURS = ("engine", "gui", "main.py", "tiebreak.py")
_LIBRARIES = (
    "jinja2",
    "llama_cpp",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "PySide6",
)
_DOING = re.compile(
    r"in the window|a job of the lane (?:model|measure|files|scan|store)|work in a process of its own"
    r"|the process that reads files|the window was ended by a fault"
)
_MOST_FRAMES = 40


def last_fault() -> list[str]:
    """A line for the version, one for each place and kind, the last call last; empty where none is known."""
    for name in (LOG_NAME, f"{LOG_NAME}.1"):
        path = log_folder() / name
        try:
            lines = path.read_text("utf-8", errors="replace").splitlines()
        except OSError:  # there is none, or the system does not give it
            continue
        begins = [place for place, line in enumerate(lines) if _BEGINS.match(line)]
        if begins:
            return list(_told(lines[begins[-1] :]))
    return []


def _told(lines: list[str]) -> Iterator[str]:
    begun = _BEGINS.match(lines[0])
    assert begun is not None
    doing = begun[2] if _DOING.fullmatch(begun[2]) else "a command"
    yield f"in version {begun[1]}, {doing}"
    told = list(_places(lines[1:]))
    yield from told[-_MOST_FRAMES:]


def _places(lines: list[str]) -> Iterator[str]:
    after_a_frame = False
    for line in lines:
        if fatal := _FATAL.match(line):
            yield fatal[1] or fatal[2]
        elif frame := _FRAME.match(line):
            after_a_frame = True
            place = _in_code(frame[1])
            yield f"  {place}:{frame[2]} in {frame[3]}" if place else "  elsewhere"
        elif after_a_frame and (kind := _KIND.match(line)):
            # Further lines are of what it said.
            after_a_frame = False
            yield kind[1] if _is_a_kind(kind[1]) else "an error of another kind"


def _in_code(path: str) -> str | None:
    """A file of code by its place in this program or in a library; None for any other."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    for place in range(len(parts) - 1, -1, -1):
        inside = PurePosixPath(*parts[place:])
        whole = place == 0
        if parts[place] in _LIBRARIES:
            known = whole or parts[place - 1] in ("site-packages", "dist-packages")
        else:
            known = parts[place] in _OURS and _is_ours(inside, whole)
        if known:
            named = all(
                part.replace("_", "a").isalnum() and part.isascii() for part in inside.with_suffix("").parts
            )
            return inside.as_posix() if named and inside.suffix == ".py" else None
    name = parts[-1].removesuffix(".py") if parts else ""
    return f"{name}.py" if name in sys.stdlib_module_names else None


def _is_ours(inside: PurePosixPath, whole: bool) -> bool:
    """Whether the program has such a file; a bundle has none, and names its code by relative paths."""
    return Path(__file__).parents[2].joinpath(inside).is_file() or (getattr(sys, "frozen", False) and whole)


def _is_a_kind(name: str) -> bool:
    """Whether this names a kind of errors of Python, of its libraries or of this program."""
    module, _, last = name.rpartition(".")
    root = module.partition(".")[0]
    known = not module or root in (*_LIBRARIES, *_OURS, "tiebreak") or root in sys.stdlib_module_names
    kind = getattr(sys.modules.get(module or "builtins"), last, None)
    return known and isinstance(kind, type) and issubclass(kind, BaseException)
