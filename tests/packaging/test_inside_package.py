"""The hooks by which a wheel is made: what is in it, under which names, and what it needs."""

import ast
import compileall
import os
import re
import shutil
import sys
from collections.abc import Iterator
from email.parser import Parser
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import wheels
from packaging.requirements import Requirement

from engine.core import VERSION
from tests.commands import ROOT
from tests.packaging.steps import ran, write

inside_package: Any = import_module("inside_package")

OWN = frozenset({"engine", "engine.core", "engine.core.items", "gui", "gui.app", "models"})


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the package as an installed copy has it."""
    folder = tmp_path_factory.mktemp("placed")
    inside_package.place(ROOT, folder / "tiebreak")
    return folder


@pytest.mark.parametrize(
    ("code", "becomes"),
    [
        ("from engine.core.items import Item\n", "from tiebreak.engine.core.items import Item\n"),
        ("if a:\n    from gui import app\n", "if a:\n    from tiebreak.gui import app\n"),
        ("import gui.app as x, os\n", "import tiebreak.gui.app as x, os\n"),
        ("load('engine.core')\n", "load('tiebreak.engine.core')\n"),
        ('"ü"; load("engine.core." + name)\n', '"ü"; load("tiebreak.engine.core." + name)\n'),
        ('import enginex\nname = "engine"\n', 'import enginex\nname = "engine"\n'),
        ('"engine.core is a package"; "models.sqlite"\n', '"engine.core is a package"; "models.sqlite"\n'),
        ("from . import engine\n", "from . import engine\n"),
    ],
)
def test_names_of_ours_get_their_package(code: str, becomes: str) -> None:
    assert inside_package.renamed(code, OWN) == becomes


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os\nimport gui.app\n", "line 2: import gui.app"),
        ('load("engine" ".core")\n', "line 1: write engine.core as one text"),
    ],
    ids=["needs the bare name", "in pieces"],
)
def test_a_name_that_cannot_be_changed_is_refused_with_its_line(code: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        inside_package.renamed(code, OWN)


def test_odd_breaks_within_a_line_move_nothing() -> None:
    code = 'text = "\u2028\x0c"; load("engine.core")\nfrom gui import app\n'
    changed = code.replace("engine.core", "tiebreak.engine.core").replace("from gui", "from tiebreak.gui")
    assert inside_package.renamed(code, OWN) == changed


def test_nothing_that_a_person_keeps_in_the_checkout_gets_into_a_wheel(tmp_path: Path) -> None:
    kept = ("engine/a.py", "gui/b.qss", "engine/.cache/x", "models/my.gguf", "examples/mine.html")
    write(tmp_path, **dict.fromkeys(kept, ""))
    named = {tmp_path / name for name in (*inside_package.RENAMED, *inside_package.FILES)}
    taken = set(inside_package.program_files(tmp_path)) - named
    assert taken == {tmp_path / "engine" / "a.py", tmp_path / "gui" / "b.qss"}


@pytest.mark.skipif(not shutil.which("git"), reason="no git")
def test_all_examples_are_named() -> None:
    """Of a checkout without files of one's own; elsewhere nobody knows which they are."""
    ours = ran("git", "ls-files", "examples", cwd=ROOT, check=False)
    if ours.returncode or not ours.stdout:
        pytest.skip("no git repository: which examples are the project's is not known")
    assert set(ours.stdout.split()) == {name for name in inside_package.FILES if name.startswith("examples/")}


@pytest.mark.slow
def test_each_module_is_there_once_and_compiles(placed: Path) -> None:
    package = placed / "tiebreak"
    modules = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    assert {"__init__.py", "__main__.py", "engine/core/items.py", "gui/app.py"} <= modules
    assert not [name for name in modules if name.startswith("models/demo/")]
    assert compileall.compile_dir(package, quiet=2)


@pytest.mark.slow
def test_no_name_of_a_checkout_is_left(placed: Path) -> None:
    bare = re.compile(r"(engine|gui|models|main)(\.|$)")
    for path in placed.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name and bare.match(name)], path
            if isinstance(node, ast.JoinedStr):  # a name that is put together so is found by nobody
                texts = [str(each.value) for each in node.values if isinstance(each, ast.Constant)]
                assert not [text for text in texts if re.match(r"(engine|gui|models)\.\w", text)], path


@pytest.mark.slow
def test_what_comes_with_the_program_comes_with_the_copy(placed: Path) -> None:
    for name in (
        "models/demo-judge.gguf",
        "examples/demo.tsv",
        "gui/widgets/theme.qss",
        "LICENSE",
        "py.typed",
    ):
        assert (placed / "tiebreak" / name).is_file()


def test_the_copy_starts_itself_and_names_itself(placed: Path, tmp_path: Path) -> None:
    """From a folder whose own modules have the names that ours have in a checkout."""
    for name in ("engine", "models", "gui", "main"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')\n")
    program = (
        "import sys; from tiebreak.engine.system.paths import program, self_command, demo_model;"
        "print(program(), *self_command()[1:], demo_model().is_file(), 'engine' in sys.modules)"
    )
    made = ran(sys.executable, "-c", program, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(placed)})
    assert made.stdout.split() == ["tiebreak", "-P", "-m", "tiebreak", "True", "False"]


@pytest.mark.slow
def test_the_copy_does_its_commands(placed: Path, tmp_path: Path) -> None:
    variables = {**os.environ, "PYTHONPATH": str(placed), "QT_QPA_PLATFORM": "offscreen"}
    judged = ran(sys.executable, "-m", "tiebreak", "selftest", cwd=tmp_path, env=variables, check=False)
    assert judged.returncode == 0, judged.stdout + judged.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZipFile]:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    ran(sys.executable, *("-m", "hatchling", "build", "--target", "wheel", "--directory"), folder, cwd=ROOT)
    (made,) = folder.glob("*.whl")
    with ZipFile(made) as opened:
        yield opened


@pytest.mark.slow
def test_a_wheel_holds_one_package_and_what_is_said_of_it(wheel: ZipFile) -> None:
    rooms = {name.split("/")[0] for name in wheel.namelist()}
    assert rooms == {"tiebreak", f"tiebreak-{VERSION}.dist-info"}


@pytest.mark.slow
def test_a_wheel_needs_what_the_files_of_requirements_list(wheel: ZipFile) -> None:
    said = Parser().parsestr(wheel.read(f"tiebreak-{VERSION}.dist-info/METADATA").decode())
    needed = {Requirement(line) for line in said.get_all("Requires-Dist", [])}
    lines = inside_package.requirements(ROOT / "requirements.txt")
    listed = {Requirement(inside_package.without_compiler(line, ROOT)) for line in lines}
    for extra, name in inside_package.EXTRAS.items():
        lines = inside_package.requirements(ROOT / name)
        listed |= {Requirement(f"{line}; extra == '{extra}'") for line in lines}
    assert needed == listed
    assert said.get_all("Provides-Extra") == list(inside_package.EXTRAS)


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-cluster.txt", "requirements-notebook.txt"]
)
def test_each_requirement_is_taken_whole(name: str) -> None:
    taken = inside_package.requirements(ROOT / name)
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert len(taken) == sum(not line.startswith(("#", "-r ")) for line in lines if line)
    assert all(re.fullmatch(r"[\w-]+>=[\d.]+,<[\d.]+", requirement) for requirement in taken)


def test_an_editable_install_is_refused_in_words() -> None:
    hook = object.__new__(inside_package.InsidePackage)
    with pytest.raises(RuntimeError, match=r"python main\.py"):
        hook.initialize("editable", {"force_include": {}})


def test_the_version_stands_in_one_place() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'path = "engine/core/__init__.py"' in project
    assert VERSION not in project


# What of a lock is asked for on each system, and what is said to lack


LOCK = (
    "colorama==0.4.6 ; sys_platform == 'win32' \\\n    --hash=sha256:00\n"
    "llama-cpp-python==0.3.36 \\\n    --hash=sha256:00\n"
    "macholib==1.16.4 ; sys_platform == 'darwin' \\\n    --hash=sha256:00\n"
    "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:00\n"
    "numpy==2.5.5 ; python_full_version >= '3.12' \\\n    --hash=sha256:00\n"
)


@pytest.mark.parametrize(
    ("system", "python", "expected"),
    [
        ("win_amd64", "3.11", ["colorama==0.4.6", "numpy==2.4.6"]),
        ("macosx_14_0_arm64", "3.13", ["macholib==1.16.4", "numpy==2.5.5"]),
    ],
)
def test_a_lock_is_read_as_that_system_reads_it(system: str, python: str, expected: list[str]) -> None:
    assert list(wheels.pinned(LOCK, system, python)) == expected


def test_what_lacks_is_named_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "_are_there", lambda wanted, *_: "gone==1" not in wanted)
    assert wheels.without_wheel(["a==1", "b==2", "gone==1", "c==3"], "win_amd64", "3.11") == ["gone==1"]
    assert wheels.without_wheel(["a==1"], "win_amd64", "3.11") == []
