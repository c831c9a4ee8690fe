"""Names of files that every system takes, made of what users call things; and why Windows takes one not.

Knows: what Windows keeps for itself. Does not know: disks, what lies on them.
"""

import re
from pathlib import PureWindowsPath

_KEPT = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')
_DEVICES = frozenset(
    (
        *("aux", "con", "conin$", "conout$", "nul", "prn"),
        *(f"{name}{n}" for name in ("com", "lpt") for n in range(10)),
    )
)
_LONGEST = 259  # characters of UTF-16 of a path with its folders, where long ones are not switched on


def file_stem(called: str, most: int) -> str:
    """How the name of a file begins that is made of what somebody called something; maybe empty.

    At most this many bytes in UTF-8, of which the systems give a name 255. The suffix comes behind it.
    """
    stem = _KEPT.sub("-", called).encode("utf-8", "ignore")[:most].decode("utf-8", "ignore").strip(" .")
    return f"_{stem}" if _is_device(stem) else stem


def windows_fault(path: PureWindowsPath, long_paths: bool) -> str:
    """Why Windows takes an absolute path not, or for another one, as a clause; empty where it takes it.

    `long_paths`: whether it takes those of more than 259 characters.
    """
    for part in path.parts[1:]:
        if part == "..":
            continue
        if found := _KEPT.search(part):
            return f"Windows allows no {found[0][0]!r} in a name"
        if _is_device(part):
            return f"Windows reserves the name {part!r} for a device"
        if part.endswith((" ", ".")):
            end = "dot" if part.endswith(".") else "space"
            return f"the name {part!r} ends with a {end}, which Windows drops"
    length = len(str(path).encode("utf-16-le", "surrogatepass")) // 2
    if length > _LONGEST and not long_paths and not str(path).startswith("\\\\?\\"):
        return (
            f"with its folders it has {length} characters, and this Windows allows {_LONGEST} while long"
            " paths are not enabled"
        )
    return ""


def _is_device(name: str) -> bool:
    """Whether Windows, of whatever age, opens a device at a name: what comes after a dot does not count."""
    # It takes the small digits 1 to 3 for digits, too.
    first = name.partition(".")[0].rstrip(" ").casefold().translate({0xB9: "1", 0xB2: "2", 0xB3: "3"})
    return first in _DEVICES
