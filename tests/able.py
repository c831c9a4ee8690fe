"""What the system of this computer can do, asked by doing it: what it lacks skips a test with a reason."""

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.commands import ROOT

_TAKES_MUCH = """
from engine.system.sandbox import limit_memory
limit_memory(1 << 30)
try:
    bytes(2 << 30)
except MemoryError:
    print("refused")
"""


@cache
def makes_links() -> bool:
    """Windows makes links for administrators, and Wine none that Python takes for one."""
    with TemporaryDirectory() as folder:
        link = Path(folder, "link")
        try:
            link.symlink_to("nothing")
        except OSError:
            return False
        return link.is_symlink()


@cache
def _limits_memory() -> bool:
    ended = subprocess.run(
        [sys.executable, "-c", _TAKES_MUCH], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=False
    )
    return ended.stdout.strip() == "refused"


@cache
def has_other_places() -> bool:
    """Whether an object has another place in the memory of each process; under Wine all have the same."""
    ask = [sys.executable, "-c", "print(id(lambda: None))"]
    return len({subprocess.run(ask, capture_output=True, check=True).stdout for _ in range(2)}) == 2


def need_limited_memory() -> None:
    """Skip this test where the system lets a process take what it said that it would not."""
    if sys.platform == "win32" and not _limits_memory():
        pytest.skip("no limit of memory holds here, as under Wine")


def longest_name(folder: Path, depth: int = 1) -> int:
    """How many letters the name of a file in a folder may have, or of each where `depth` follow one another.

    Windows counts those of the whole path, with the name that a file has while it is written.
    """
    return min(255, (215 - len(str(folder))) // depth) if sys.platform == "win32" else 255


NO_LINKS = "no links can be made here"
needs_links = pytest.mark.skipif(not makes_links(), reason=NO_LINKS)
