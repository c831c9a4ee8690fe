"""The wheel in an environment of its own, as `pip install .` makes it: command, window, import."""

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands import ROOT
from tests.packaging.steps import ran

pytestmark = pytest.mark.models

Run = Callable[..., subprocess.CompletedProcess[str]]
# As it is before any test has a home of its own: there pip keeps llama.cpp, which takes minutes to compile.
OUTSIDE = dict(os.environ)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment with nothing but what pip installed of the checkout."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if sys.platform == "win32" else "bin")
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet", ROOT)
    ran(programs / "python", *pip, env=OUTSIDE)
    return programs


@pytest.fixture
def run(environment: Path, tmp_path: Path) -> Run:
    """Runs one of its programs in a folder whose own modules have the names of ours in a checkout."""
    for name in ("engine", "models", "gui", "main"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')\n")

    def in_folder(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "TIEBREAK_HOME": str(tmp_path / "home")}
        command = (environment / program, *arguments)
        made = ran(*command, cwd=tmp_path, env=variables, timeout=300, check=False)
        assert made.returncode == 0, made.stdout + made.stderr
        return made

    return in_folder


def test_the_command_judges_as_the_checkout_does(run: Run, tmp_path: Path) -> None:
    demo = str(ROOT / "examples" / "demo.tsv")
    run("tiebreak", "judge", demo, "--model", "demo", "--items", "4", "--out", "installed.tsv")
    out, home = tmp_path / "checkout.tsv", {**os.environ, "TIEBREAK_HOME": str(tmp_path / "other")}
    words = ("judge", demo, "--model", "demo", "--items", "4", "--out", out)
    ran(sys.executable, ROOT / "main.py", *words, env=home)
    assert (tmp_path / "installed.tsv").read_bytes() == out.read_bytes()


def test_all_parts_work_the_window_too(run: Run) -> None:
    said = run("tiebreak", "selftest").stdout
    assert "window" in said.lower()


def test_the_import_takes_no_name_but_its_own(run: Run) -> None:
    program = "import sys, tiebreak; print(sorted({'engine', 'gui', 'models', 'main'} & set(sys.modules)))"
    assert run("python", "-c", program).stdout.strip() == "[]"


def test_a_script_judges_and_gets_frames(run: Run) -> None:
    program = (
        "import tiebreak;"
        "judge = tiebreak.Judge('demo', mode='labels', criteria=['safety']);"
        "run = judge.run(tiebreak.read(tiebreak.demo_dataset()), items=3, progress=False);"
        "print(*run.labels.shape, run.complete)"
    )
    assert run("python", "-c", program).stdout.split() == ["3", "1", "True"]


def test_nothing_of_ours_lies_at_the_top(run: Run) -> None:
    program = (
        "from importlib.metadata import files;"
        "print(*sorted({path.parts[0] for path in files('tiebreak') if path.parts[0] != '..'}))"
    )
    package, about = run("python", "-c", program).stdout.split()
    assert package == "tiebreak"
    assert about.startswith("tiebreak-")
    assert about.endswith(".dist-info")
