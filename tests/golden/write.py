"""Writes the golden files anew: `python -m tests.golden.write [-k PART] [other words for pytest]`.

Without such words all are written, and files that nothing is held against any more are deleted.
"""

import os
import sys

import pytest

from tests.golden import compared


def main(words: list[str]) -> int:
    """Run the golden tests, so that they write; the exit code."""
    os.environ[compared.WRITING] = "1"
    code = int(pytest.main(["-n0", "-m", "slow or not slow", str(compared.FOLDER), *words]))
    if code == 0 and not words:
        for path in (compared.FOLDER / "files").rglob("*"):
            if path.is_file() and path not in compared.checked:
                path.unlink()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
