"""Writes the golden files anew: `python -m tests.golden.write [-k PART] [other arguments of pytest]`.

Without arguments all are written, and files that no test uses any more are deleted.
"""

import os
import sys

import pytest

from tests.golden import compared


def main(arguments: list[str]) -> int:
    """Run the golden tests, so that they write; the exit code."""
    os.environ[compared.WRITING] = "1"
    code = int(pytest.main(["-n0", "-m", "slow or not slow", str(compared.FOLDER), *arguments]))
    if code == 0 and not arguments:
        for path in (compared.FOLDER / "files").rglob("*"):
            if path.is_file() and path not in compared.checked:
                path.unlink()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
