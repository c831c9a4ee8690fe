"""Model files with a few bits of their headers turned over."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.core.errors import ModelFileError


def flipped(source: Path, target: Path, end: int, times: int, least: int = 4) -> Iterator[Path]:
    """A file with a few of the bytes from `least` to `end` changed, `times` in all, at one place."""
    chance, data = random.Random(1), source.read_bytes()
    for _ in range(times):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 2, 8))):
            place = chance.randrange(least, end)
            flip = changed[place] ^ 1 << chance.randrange(8)
            changed[place] = chance.choice((0, 255, flip))
        target.write_bytes(changed)
        yield target


def how_many_are_refused(read: Callable[[Path], object], files: Iterator[Path]) -> int:
    """By a ModelFileError; any other error is raised."""
    refused = 0
    for path in files:
        try:
            read(path)
        except ModelFileError:
            refused += 1
    return refused
