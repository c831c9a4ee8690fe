"""Compiled modules that come out the same, whatever Python did before."""

import marshal
import subprocess
import sys
import zipfile
from importlib.util import MAGIC_NUMBER
from pathlib import Path

from steady_library import make_steady

SOURCE = (
    "NAMES = ('one text', 'another')\n\ndef told(name='one text'):\n    return 'told', name, 2.5, NAMES\n"
)


def library(path: Path, version: int, names: list[str]) -> Path:
    """A zip of one module under several names; `version`: of the format, with references from 3 on."""
    code = marshal.dumps(compile(SOURCE, "module.py", "exec"), version)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(f"{name}.pyc", MAGIC_NUMBER + bytes(12) + code)
    return path


def test_the_same_modules_give_the_same_bytes_and_can_be_imported(tmp_path: Path) -> None:
    first = library(tmp_path / "first.zip", 2, ["alpha", "beta"])
    second = library(tmp_path / "second.zip", 4, ["beta", "alpha"])
    assert first.read_bytes() != second.read_bytes()
    for each in (first, second):
        make_steady(each)
    assert first.read_bytes() == second.read_bytes()
    told = "import sys; sys.path.insert(0, sys.argv[1]); import beta; print(beta.told())"
    command = [sys.executable, "-I", "-c", told, str(first)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed == "('told', 'one text', 2.5, ('one text', 'another'))\n"
