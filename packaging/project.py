"""The project that the scripts of this folder work on: its folder, its version."""

import runpy
from pathlib import Path

PACKAGING = Path(__file__).resolve().parent
ROOT = PACKAGING.parent
BUILD = ROOT / "build"  # for what is made on the way to dist/
_ABOUT = runpy.run_path(str(ROOT / "engine" / "core" / "__init__.py"))
VERSION: str = _ABOUT["VERSION"]
RELEASED: str = _ABOUT["RELEASED"]
