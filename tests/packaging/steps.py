"""Steps that tests of packaging share."""

import subprocess
from pathlib import Path
from typing import Any


def ran(*command: object, check: bool = True, **how: Any) -> subprocess.CompletedProcess[str]:
    """A program run to its end, with what it printed; `how`: as `subprocess.run` takes it."""
    words = list(map(str, command))
    return subprocess.run(words, capture_output=True, encoding="utf-8", check=check, **how)


def write(folder: Path, **files: bytes | str) -> None:
    """Files below a folder, by their paths there."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
