"""What continuous integration starts, and with what of the computer's environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT

MAKE = '#!/bin/sh\necho "$@" >> "$HOME/made"\nenv > "$HOME/environment"\n'


@pytest.mark.skipif(sys.platform == "win32", reason="a shell")
def test_the_tests_are_given_path_home_and_lang_alone(tmp_path: Path) -> None:
    make = tmp_path / "make"
    make.write_text(MAKE, encoding="utf-8")
    make.chmod(0o755)
    given = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path), "ODD": "1"}
    subprocess.run([ROOT / ".ci" / "run"], env=given, cwd=tmp_path, check=True)
    made = (tmp_path / "made").read_text("utf-8").split()
    assert made == ["test", "test-models", "test-desktop", "test-oldest", "test-cluster"]
    names = {line.partition("=")[0] for line in (tmp_path / "environment").read_text("utf-8").splitlines()}
    of_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    assert names - of_the_shell == {"PATH", "HOME", "LANG"}
