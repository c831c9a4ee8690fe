"""The project that the scripts of this folder work on: its folder, its version."""

import io
import runpy
import sys
from pathlib import Path

PACKAGING = Path(__file__).resolve().parent
ROOT = PACKAGING.parent
BUILD = ROOT / "build"  # for what is made on the way to dist/
_ABOUT = runpy.run_path(str(ROOT / "engine" / "core" / "__init__.py"))
VERSION: str = _ABOUT["VERSION"]
RELEASED: str = _ABOUT["RELEASED"]


def print_utf_8() -> None:
    """Let this process print every path, also where Windows has a smaller alphabet."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8")
