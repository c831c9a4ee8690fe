"""The last fault of the log without a word that could be of a dataset: its kind, and where it was met.

The log holds what an error said, which may be the text of an item, and the paths of files. Here only that is
passed on which can be nothing else: places in code, and names of kinds of errors that this program or its
libraries have.

Knows: how a traceback is written, the log. Does not know: who asks.
"""

import builtins
import re
import sys
from collections.abc import Iterator
from pathlib import PurePath, PurePosixPath

from engine.system.fault_log import LOG_NAME
from engine.system.paths import log_folder

_BEGINS = re.compile(r"^Tiebreak (\d+(?:\.\d+)*(?:\.?(?:dev|rc|a|b)\d*)?), (.*)$")
_FRAME = re.compile(r'^\s*File "([^"\n]+)", line (\d+),? in ([A-Za-z_]\w*|<module>|<lambda>|<\w+comp>)$')
_KIND = re.compile(r"^([A-Za-z_][\w.]*)(?::.*)?$")
_FATAL = re.compile(r"^Fatal Python error: (Segmentation fault|Aborted|Bus error|Illegal instruction)$")
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
    r"in the window|a job of the lane \w+|work in a process of its own|the process that reads files"
    r"|self-test, [a-z ]{1,40}|the window was ended by a fault"
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
            yield fatal[1]
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
    parts = PurePosixPath(PurePath(path).as_posix().replace("\\", "/")).parts
    for place in range(len(parts) - 1, -1, -1):
        if parts[place] in _LIBRARIES or parts[place] in _OURS:
            inside = PurePosixPath(*parts[place:])
            named = all(
                part.replace("_", "a").isalnum() and part.isascii() for part in inside.with_suffix("").parts
            )
            return inside.as_posix() if named and inside.suffix == ".py" else None
    name = parts[-1].removesuffix(".py") if parts else ""
    return f"{name}.py" if name in sys.stdlib_module_names else None


def _is_a_kind(name: str) -> bool:
    """Whether this names a kind of errors of Python, of its libraries or of this program."""
    root, _, rest = name.partition(".")
    if rest:
        known = root in (*_LIBRARIES, *_OURS) or root in sys.stdlib_module_names
        return known and sys.modules.get(name.rpartition(".")[0]) is not None
    kind = getattr(builtins, name, None)
    return isinstance(kind, type) and issubclass(kind, BaseException)
