"""The layout of the code: what a package may import, where foreign libraries are used, how large things are.

One walk over the sources reads every import, also those inside functions and those for types alone.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

MAY_IMPORT: Mapping[str, frozenset[str]] = {
    package: frozenset(allowed.split())
    for package, allowed in {
        "engine.core": "",
        "engine.system": "core",
        "engine.data": "core system",
        "engine.gguf": "core system",
        "engine.llama": "core system",
        "engine.store": "core system",
        "engine.prompt": "core llama",
        "engine.decisions": "core system data store",
        "engine.loading": "core system gguf llama prompt",
        "engine.judge": "core system data gguf llama store prompt decisions loading",
        "engine.measure": "core data llama store prompt decisions loading",
        "engine.calibrate": "core system decisions measure",
        "engine.weigh": "core data measure",
        "engine.review": "core data decisions measure weigh",
        "engine.report": "core gguf decisions measure calibrate weigh",
    }.items()
}
"""The packages of the engine, from the lowest up, and the packages of the engine that each may import."""

NETWORK = ("PySide6.QtNetwork", "ftplib", "http", "requests", "socket", "ssl", "urllib")


@dataclass(frozen=True)
class Import:
    """One imported name, `package.module.name`; `at_top`: neither inside a function nor for types alone."""

    name: str
    line: int
    at_top: bool


@cache
def sources(*rooms: str) -> tuple[Path, ...]:
    """The Python files of rooms, relative to the project."""
    return tuple(sorted(path.relative_to(ROOT) for room in rooms for path in (ROOT / room).rglob("*.py")))


@cache
def syntax(path: Path) -> ast.Module:
    """The parsed file; its path is relative to the project."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def module_name(path: Path) -> str:
    """`engine/core/items.py` as `engine.core.items`."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def package_name(path: Path) -> str:
    """The package of a file: `engine.core`; `engine` and `gui` for what lies in them directly."""
    return ".".join(path.parts[:2]) if len(path.parts) > 2 else path.parts[0]


@cache
def imports(path: Path) -> tuple[Import, ...]:
    """Every import of a file."""
    return tuple(_imports(syntax(path), at_top=True))


def _imports(node: ast.AST, at_top: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, at_top) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"line {child.lineno}: relative import"
            yield from (Import(f"{child.module}.{alias.name}", child.lineno, at_top) for alias in child.names)
        else:
            for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            inside = isinstance(child, ast.FunctionDef | ast.Lambda)
            yield from _imports(child, at_top and not for_types and not inside)


def below(name: str, *roots: str) -> bool:
    """Whether a dotted name is one of the roots or lies in one."""
    return any(name == root or name.startswith(f"{root}.") for root in roots)


def wrong_imports(path: Path) -> list[str]:
    """The imports of the program's own modules that the package of a file may not use."""
    package = package_name(path)
    wrong = []
    for one in imports(path):
        if package in MAY_IMPORT:
            allowed = [package, *(f"engine.{name}" for name in MAY_IMPORT[package])]
            if below(one.name, "engine", "gui", "main", "models", "tests") and not below(one.name, *allowed):
                wrong.append(one.name)
    return wrong


@pytest.mark.parametrize("path", sources("engine", "gui", "models"), ids=str)
def test_a_package_imports_only_what_it_may(path: Path) -> None:
    assert not wrong_imports(path)


@pytest.mark.parametrize("path", [Path("main.py"), *sources("engine", "gui", "models")], ids=str)
def test_nothing_knows_the_network(path: Path) -> None:
    assert not [one.name for one in imports(path) if below(one.name, *NETWORK)]
