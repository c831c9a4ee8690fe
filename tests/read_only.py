"""Folders in which nothing can be written, also not by the administrator."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(*paths: Path) -> Iterator[None]:
    """Nothing can be written into these files, made in these folders, or renamed there.

    By permissions; where these do not hold (for root on Linux), by the attribute `immutable` of the file
    system. The test is skipped where there is neither.
    """
    before = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    free = [path for path in paths if os.access(path, os.W_OK)]
    try:
        for path in free:
            _set_immutable("+i", path)
        yield
    finally:
        for path in free:
            _set_immutable("-i", path, must=False)
        for path, mode in before.items():
            path.chmod(mode)


def _set_immutable(change: str, path: Path, must: bool = True) -> None:
    try:
        subprocess.run(["chattr", change, str(path)], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        if must:
            pytest.skip("here this user may write everywhere")
