"""Imports go one way: main -> gui -> engine, main -> engine/commands -> the rest of engine <- models."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
ROOMS = ("engine", "gui", "models")
SOURCES = sorted([ROOT / "main.py", *(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))])


def imported(path: Path) -> set[str]:
    """Every module that a file imports, also inside functions and by name."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return modules


def wrong_directions(path: Path) -> list[str]:
    """The imports of a file that its room does not allow."""
    room = path.relative_to(ROOT)
    modules = imported(path)
    forbidden: set[str] = set()
    if room.parts[0] == "engine":
        forbidden |= {"PySide6", "gui", "main", "models", "tests"}
        if room.parts[1] != "commands":
            forbidden.add("engine.commands")
        if room.parts[1] != "llama":
            forbidden.add("llama_cpp")
    if room.parts[0] == "gui":
        forbidden |= {"main", "engine.commands", "llama_cpp", "models", "tests"}
        if room.parts[1] == "pages":
            forbidden.add("gui.pages")
    if room.parts[0] == "models":
        forbidden |= {"PySide6", "main", "gui", "engine.commands", "tests"}
        if room.name != "check_export.py":
            forbidden.add("llama_cpp")
    return sorted(
        module for module in modules for root in forbidden if module == root or module.startswith(f"{root}.")
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_knows_the_network(path: Path) -> None:
    network = ("PySide6.QtNetwork", "ftplib", "http", "requests", "socket", "ssl", "urllib")
    assert not [module for module in imported(path) if module.startswith(network)]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    assert not wrong_directions(path)


def test_the_test_sees_a_wrong_direction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.engine.test_imports.ROOT", tmp_path)
    source = tmp_path / "engine" / "records.py"
    source.parent.mkdir()
    source.write_text("def f():\n    import llama_cpp\n    from engine import commands\n", encoding="utf-8")
    assert wrong_directions(source) == ["engine.commands", "llama_cpp"]


def test_packaging_does_not_shadow_the_library_of_that_name() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_judging_starts_without_what_only_measuring_needs() -> None:
    heavy = ("matplotlib", "rouge_score", "scipy", "sklearn")
    code = f"import sys, engine.commands.judge; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


WINDOW = sorted((ROOT / "gui").rglob("*.py"))


@pytest.mark.parametrize("path", WINDOW, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_one_file_of_the_window_knows_threads(path: Path) -> None:
    threads = {"PySide6.QtCore.QThread", "PySide6.QtCore.QThreadPool", "threading", "concurrent"}
    knows = {module for module in imported(path) for one in threads if module.startswith(one)}
    assert not knows or path.name == "engine_thread.py"


def test_the_window_opens_without_what_only_jobs_need() -> None:
    heavy = (
        "jinja2",
        "llama_cpp",
        "matplotlib",
        "numpy",
        "pandas",
        "pyarrow",
        "rouge_score",
        "scipy",
        "sklearn",
    )
    code = f"import sys, gui.app; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
