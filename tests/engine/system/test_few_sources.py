"""Lines of source that Python keeps."""

import linecache
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.system.computer import MOST_FILES, keep_few_sources
from tests.commands import ROOT

LOADED = """
import linecache
from gui.app import make_application
app = make_application([])
import sklearn.metrics
kept = [entry for entry in linecache.cache.values() if len(entry) == 4]
print(len(linecache.cache), sum(len(entry[2]) for entry in kept))
"""


def test_few_files_are_kept_and_all_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linecache, "cache", {})
    keep_few_sources()
    for number in range(100):
        path = tmp_path / f"{number}.py"
        path.write_text(f"number = {number}\n", encoding="utf-8")
        assert linecache.getline(str(path), 1) == f"number = {number}\n"
    assert len(linecache.cache) == MOST_FILES
    assert linecache.getline(str(tmp_path / "0.py"), 1) == "number = 0\n"


@pytest.mark.slow
def test_the_window_keeps_no_lines_of_the_libraries_that_it_imports() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    files, lines = map(int, done.stdout.split()[-2:])
    assert files <= MOST_FILES
    assert lines < 100_000
